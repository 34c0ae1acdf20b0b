"""Loan books over the API, which a lender uploads, follows, confirms and gives up (contract B7), and statements."""

from collections.abc import Callable
from typing import Annotated, Any, Literal
from uuid import UUID

from fastapi import APIRouter, Query, Request, Response
from pydantic import Field

from core.api.http import forms, openapi, posts
from core.api.http.auth import Signed
from core.api.http.envelope import page_response, success
from core.api.http.forms import Form
from core.api.http.posts import StrictRoute, answer_once, answer_once_async
from core.api.http.queries import Id, PageQuery, QueryString
from core.api.http.reads import ReadRoute
from core.api.outside import downloads
from core.covers import fields
from core.covers import request as requests
from core.covers.fields import one_of
from core.errors import InvalidInput
from core.services.catalogue.keys import Caller
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.reading import StatementRecord
from core.services.selling.loan_books import books, records
from core.services.selling.loan_books.books import Expected, LoanBookRequest, Uploader
from core.services.selling.loan_books.records import LoanBookRecord, LoanBookRowRecord
from core.store.access import ScopedSession, read_in, reading

router = APIRouter(route_class=StrictRoute, prefix="/loan-books", tags=["Loan books"])
_LISTED, _ONE, _ROWS = "Loan books retrieved", "Loan book retrieved", "Rows retrieved"
_UPLOADED, _CONFIRMED, _CANCELLED = "Loan book uploaded", "Loan book confirmed", "Loan book cancelled"


class UploadedBookRequest(LoanBookRequest):
    """A loan book: what is said of it, and its file."""

    file: str = Field(
        examples=["november.csv"],
        description="The file: CSV in UTF-8, or XLSX, up to 25 MiB and 100,000 rows; the template has its columns.",
        json_schema_extra={"format": "binary"},
    )


class ExpectedRequest(requests.Request):
    """The preview as it was seen."""

    rows: Annotated[int, Field(ge=0)] = Field(examples=[9872], description="`preview.valid`.")
    premium: fields.Naira = Field(examples=[5410332])
    preview_hash: Annotated[str, Field(min_length=64, max_length=64)] = Field(examples=["0" * 64])


class ConfirmRequest(requests.Request):
    """The confirmation of a loan book."""

    accept: Literal["valid", "all_or_nothing"] = Field(
        examples=["valid"], description="`valid` carries out the valid rows, `all_or_nothing` wants every row valid."
    )
    expected: ExpectedRequest = Field(examples=[{"rows": 9872, "premium": 5410332, "preview_hash": "0" * 64}])


LoanBookPage = openapi.build_page("LoanBookPage", "A page of loan books.", loan_books=LoanBookRecord)
OneLoanBook = openapi.build_one("OneLoanBook", "One loan book.", loan_book=LoanBookRecord)
LoanBookRowPage = openapi.build_page("LoanBookRowPage", "A page of rows.", rows=LoanBookRowRecord)


class RowQuery(PageQuery):
    """Query parameters of rows."""

    outcome: Annotated[str, one_of(*records.OUTCOMES)] | None = None


class ReportQuery(QueryString):
    """Query parameters of a report."""

    format: Annotated[str, one_of(*records.FORMATS)] = Field(examples=["csv"])


class TemplateQuery(QueryString):
    """Query parameters of the template."""

    kind: Annotated[str, one_of(*books.KINDS)] = "additions"


@router.post(
    "",
    status_code=202,
    summary="Upload a loan book",
    responses=openapi.answers(OneLoanBook, _UPLOADED, status=202, posted=True),
    openapi_extra=openapi.form_body(UploadedBookRequest, ["file"]),
)
async def upload_loan_book(request: Request, caller: Signed) -> Response:
    """Keep a file of loans, which is read in the background: ask for it again until it is `validated` or `refused`."""
    form = await forms.read(request, files=1, largest_file=books.MAX_BYTES)
    return await forms.run_with_form(form, lambda: _uploaded(request, caller, form))


def _uploaded(request: Request, caller: Caller, form: Form) -> Response:
    sent = form.read_files()
    request.state.raw = form.idempotency_content(sent)
    if "file" not in sent:
        # What is wrong besides is told first.
        posts.validate(request, UploadedBookRequest, {**form.texts, "file": "x"})
        raise InvalidInput.for_field("file", "is required, as a file with a name")
    posts.validate(request, UploadedBookRequest, form.values(sent))
    uploader, file = Uploader(owner=caller, actor=caller.actor), sent["file"]

    def upload(session: ScopedSession) -> dict[str, Any]:
        book = books.upload(session, dict(form.texts), file.file_name, file.content, uploader)
        return {"loan_book": records.build(book)}

    return answer_once(request, caller, upload, _UPLOADED)


@router.get("", responses=openapi.answers(LoanBookPage, _LISTED), summary="List loan books")
def list_loan_books(caller: Signed, query: Annotated[PageQuery, Query()]) -> Response:
    """Your loan books, newest first."""
    page = read_in(caller.scope, records.list_records, query.paging())
    return page_response("loan_books", page, _LISTED)


@router.get(
    "/template.xlsx",
    summary="Template of a loan book",
    response_class=Response,
    responses=openapi.file_answers(OneLoanBook, "The template, without an envelope.", [records.FORMATS["xlsx"]]),
)
def get_loan_book_template(caller: Signed, query: Annotated[TemplateQuery, Query()]) -> Response:
    """A workbook to fill in, with a sheet that explains its columns."""
    return downloads.answer_template(query.kind)


@router.get("/{loan_book_id}", responses=openapi.answers(OneLoanBook, _ONE, found=True), summary="One loan book")
def get_loan_book(caller: Signed, loan_book_id: Id) -> Response:
    """One loan book: how far it is, and its preview once it was read."""
    with reading(caller.scope) as session:
        return success({"loan_book": records.build(books.get(session, loan_book_id))}, _ONE)


@router.get(
    "/{loan_book_id}/rows", responses=openapi.answers(LoanBookRowPage, _ROWS, found=True), summary="Rows of a loan book"
)
def list_loan_book_rows(caller: Signed, loan_book_id: Id, query: Annotated[RowQuery, Query()]) -> Response:
    """The rows in the order of the file; of a snapshot also the policies that it does not have, as `missing`."""
    page = read_in(caller.scope, records.list_rows, loan_book_id, query.paging(), query.outcome)
    return page_response("rows", page, _ROWS)


@router.get(
    "/{loan_book_id}/report",
    summary="Report of a loan book",
    response_class=Response,
    responses=openapi.file_answers(OneLoanBook, "The report, without an envelope.", records.FORMATS.values()),
)
def get_loan_book_report(caller: Signed, loan_book_id: Id, query: Annotated[ReportQuery, Query()]) -> Response:
    """Your own columns in their order, with outcome, policy number, premium, code and reason of each row."""
    return downloads.answer_report(caller.scope, loan_book_id, query.format, actor=caller.actor)


@router.post(
    "/{loan_book_id}/confirm",
    status_code=202,
    summary="Confirm a loan book",
    responses=openapi.answers(OneLoanBook, _CONFIRMED, status=202, found=True, posted=True, guarded=True),
    openapi_extra=openapi.body_example(ConfirmRequest),
)
async def confirm_loan_book(request: Request, caller: Signed, loan_book_id: Id, body: ConfirmRequest) -> Response:
    """Carry out what you uploaded, up to the premium of a month that your agreement allows; a test key always may."""
    seen = Expected(rows=body.expected.rows, premium=body.expected.premium, preview_hash=body.expected.preview_hash)
    return await _change(
        request,
        caller,
        loan_book_id,
        lambda session: books.confirm_by_key(
            session, loan_book_id, accept=body.accept, expected=seen, actor=caller.actor
        ),
        _CONFIRMED,
    )


@router.post(
    "/{loan_book_id}/cancel",
    status_code=202,
    summary="Cancel a loan book",
    responses=openapi.answers(OneLoanBook, _CANCELLED, status=202, found=True, posted=True),
    openapi_extra=openapi.WITH_KEY,
)
async def cancel_loan_book(request: Request, caller: Signed, loan_book_id: Id) -> Response:
    """Give up a loan book that is not being carried out; what was sold of a paused one stays sold."""
    return await _change(
        request,
        caller,
        loan_book_id,
        lambda session: books.cancel(session, loan_book_id, actor=caller.actor),
        _CANCELLED,
    )


async def _change(
    request: Request, caller: Caller, book_id: UUID, act: Callable[[ScopedSession], None], text: str
) -> Response:
    def change(session: ScopedSession) -> dict[str, Any]:
        act(session)
        return {"loan_book": records.build(books.get(session, book_id))}

    return await answer_once_async(request, caller, change, text)


# Statements: a distributor reads its own, and their files.

statements_router = APIRouter(route_class=ReadRoute, prefix="/statements", tags=["Statements"])
_STATEMENTS, _STATEMENT = "Statements retrieved", "Statement retrieved"
StatementPage = openapi.build_page("StatementPage", "A page of statements.", statements=StatementRecord)
OneStatement = openapi.build_one("OneStatement", "One statement.", statement=StatementRecord)


class FileQuery(QueryString):
    """Query parameters of a statement's file."""

    format: Annotated[str, one_of(*downloads.MEDIA_TYPES)] = Field(examples=["csv"])


@statements_router.get("", responses=openapi.answers(StatementPage, _STATEMENTS), summary="List statements")
def list_statements(caller: Signed, query: Annotated[PageQuery, Query()]) -> Response:
    """Every statement that was sent to you, the newest month first; a test key has none."""
    page = read_in(caller.scope, statement_reading.list_records, query.paging())
    return page_response("statements", page, _STATEMENTS)


@statements_router.get(
    "/{statement_id}", responses=openapi.answers(OneStatement, _STATEMENT, found=True), summary="One statement"
)
def get_statement(caller: Signed, statement_id: Id) -> Response:
    """One statement with its balances and the hash of its CSV."""
    with reading(caller.scope) as session:
        return success({"statement": statement_reading.get_record(session, statement_id)}, _STATEMENT)


@statements_router.get(
    "/{statement_id}/file",
    summary="File of a statement",
    response_class=Response,
    responses=openapi.file_answers(
        OneStatement,
        "The file, without an envelope; `sha256` of the record is that of the CSV.",
        downloads.MEDIA_TYPES.values(),
    ),
)
def get_statement_file(caller: Signed, statement_id: Id, query: Annotated[FileQuery, Query()]) -> Response:
    """All lines of a statement as CSV, XLSX or PDF."""
    return downloads.answer(caller.scope, statement_id, query.format)
