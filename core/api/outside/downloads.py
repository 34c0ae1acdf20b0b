"""Exports, papers and what the search finds, for a signed-in person beside the screens (contract A1, A4).

Reports and templates of loan books also for the lender's key.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import date, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final
from uuid import UUID

import orjson
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from core import clock, ids
from core.api.outside import signing_in
from core.api.outside.signing_in import require_person
from core.desk import export_runs, finder
from core.desk.export_runs import ExportOrder
from core.errors import CoverdeskError, InvalidInput, NotAllowed, NotFound, StoreUnavailable, Unauthorized
from core.services.compliance import figures, pack
from core.services.finance import ageing, journal, tax
from core.services.finance.bordereaux import bordereaux
from core.services.finance.bordereaux import columns as bordereau_columns
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.payments import payouts
from core.services.finance.reconciling import reconciliations
from core.services.finance.statements import files as statement_files
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.reading import StatementRow
from core.services.lists import spreadsheets
from core.services.lists.exports import Tally
from core.services.lists.spreadsheets import Column
from core.services.people import sign_in, staff
from core.services.people.staff import Person
from core.services.selling.loan_books import books, records
from core.store.access import Scope, reading, reading_replica, transact

PATH = "/exports/{kind}.{format}"
_NO_STORE = {"Cache-Control": "no-store"}


def download(request: Request) -> Response:
    """The rows of a selection as a file, for people whose role may see that list."""
    if request.method != "GET":
        return PlainTextResponse("", 405, _NO_STORE | {"Allow": "GET"})
    try:
        order = _order(request)
        export_runs.check_order(order)
    except CoverdeskError as error:
        retry_headers = {"Retry-After": str(error.retry_after)} if isinstance(error, StoreUnavailable) else {}
        return PlainTextResponse(str(error), error.status, _NO_STORE | retry_headers)
    return StreamingResponse(
        export_runs.stream(order, Tally()),
        media_type=order.format.media_type,
        headers={"Content-Disposition": f'attachment; filename="{order.file_name}"', **_NO_STORE},
    )


def _order(request: Request) -> ExportOrder:
    query, path = request.query_params, request.path_params
    address = {name: query.getlist(name) for name in query}
    return export_runs.create_order(path["kind"], path["format"], address, by=signing_in.require_person(request))


STATEMENT_PATH = "/statements/{statement}.{format}"
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_PIECE = 1 << 18


def stream(scope: Scope, row: StatementRow, format_: str) -> Iterator[bytes]:
    """Yield one file of a statement; the CSV is the bytes that its hash is of."""
    with reading(scope) as session:
        batches = statement_reading.batches_of(session, row.id)
        if format_ == "csv":
            yield from statement_files.csv_chunks(row.paper, batches)
        elif format_ == "pdf":
            yield statement_files.render(row.paper, batches)
        else:
            yield from _workbook(row, statement_files.csv_chunks(row.paper, batches))


def _workbook(row: StatementRow, chunks: Iterator[bytes]) -> Iterator[bytes]:
    with TemporaryDirectory(prefix="coverdesk-statement-") as folder:
        path = Path(folder, "statement.xlsx")
        path.touch(mode=0o600)
        statement_files.write_workbook(path, row.paper, chunks)
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece


def file_name(row: StatementRow, format_: str) -> str:
    """Return the name of a file: the number and the month."""
    return f"{row.paper.number}-{row.paper.month:%Y-%m}.{format_}"


def answer(scope: Scope, statement_id: UUID, format_: str) -> Response:
    """Return the file as a download; NotFound for a statement that the scope does not see, or another format."""
    if format_ not in MEDIA_TYPES:
        raise NotFound(f"A statement is made as {', '.join(MEDIA_TYPES)}")
    with reading(scope) as session:
        row = statement_reading.get_statement(session, statement_id)
    headers = {
        "Content-Disposition": f'attachment; filename="{file_name(row, format_)}"',
        "Cache-Control": "no-store",
    }
    return StreamingResponse(stream(scope, row, format_), media_type=MEDIA_TYPES[format_], headers=headers)


def download_statement(request: Request) -> Response:
    """Send a file of a statement to somebody of finance."""
    try:
        with reading(Scope.system()) as session:
            person = staff.get_by_token(session, request.cookies.get(sign_in.COOKIE))
        if person is None:
            raise Unauthorized("Please sign in first")
        # A link on somebody else's page must not make a file of an account.
        if not person.has_role("finance") or request.headers.get("sec-fetch-site", "none") not in {
            "same-origin",
            "none",
        }:
            raise NotAllowed
        statement_id = ids.parse(request.path_params["statement"], "statement")
        return answer(Scope.staff(is_live=True), statement_id, request.path_params["format"])
    except CoverdeskError as error:
        return PlainTextResponse(str(error), error.status, {"Cache-Control": "no-store"})


_LIVE: Final = Scope.staff(is_live=True)
Work = Callable[[Request, Person], tuple[str, bytes]]


def serve(request: Request, *, work: Work) -> Response:
    """Answer with the file that `work` makes as name and content, for people of finance only."""
    try:
        person = signing_in.require_person(request)
        if not person.has_role("finance"):
            raise NotAllowed
        name, content = work(request, person)
    except CoverdeskError as error:
        return PlainTextResponse(str(error), error.status, _NO_STORE)
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **_NO_STORE}
    return Response(content, media_type=MEDIA_TYPES[name.rpartition(".")[2]], headers=headers)


def file_of(
    chunks: Iterator[bytes],
    format_: str,
    columns: Sequence[Column],
    *,
    title: str,
    facts: list[tuple[str, Any]],
    created_at: datetime | None = None,
) -> bytes:
    """Return CSV lines as they are, or as a workbook with the facts on a second sheet."""
    if format_ == "csv":
        return b"".join(chunks)
    if format_ != "xlsx":
        raise NotFound("This is made as csv or xlsx")
    with TemporaryDirectory(prefix="coverdesk-finance-") as folder:
        path = Path(folder, "file.xlsx")
        path.touch(mode=0o600)
        for _ in spreadsheets.write_workbook(
            path, chunks, columns, title=title, facts=lambda: facts, created_at=created_at
        ):
            pass
        return path.read_bytes()


def parse_month(text: str) -> date:
    """Return the first day of a month given as YYYY-MM; InvalidInput for anything else."""
    if not re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", text):
        raise InvalidInput.for_field("month", "must be a month as YYYY-MM")
    return date.fromisoformat(f"{text}-01")


def _bank_file(request: Request, person: Person) -> tuple[str, bytes]:
    batch_id = ids.parse(request.path_params["batch"], "payout")
    # A writing transaction: that somebody opened the file is noted.
    return transact(_LIVE, partial(payouts.open_bank_file, batch_id=batch_id, by=person))


def _taxes(request: Request, _: Person) -> tuple[str, bytes]:
    kind, month, format_ = (request.path_params[name] for name in ("kind", "month", "format"))
    if kind not in tax.KINDS:
        raise NotFound(f"A schedule is of {' or '.join(tax.KINDS)}")
    wanted = parse_month(month)
    with reading(_LIVE) as session:
        lines = tax.list_lines(session, kind, wanted)
    content = file_of(
        tax.csv_chunks(lines),
        format_,
        tax.COLUMNS,
        title=tax.KINDS[kind],
        facts=tax.facts_of(kind, wanted, lines),
    )
    return f"{kind}-{month}.{format_}", content


def _bordereau(request: Request, _: Person) -> tuple[str, bytes]:
    bordereau_id, format_ = ids.parse(request.path_params["bordereau"], "bordereau"), request.path_params["format"]
    with reading(_LIVE) as session:
        row = bordereaux.get_bordereau(session, bordereau_id)
        content = file_of(
            bordereaux.csv_of(session, row),
            format_,
            bordereau_columns.OF[row.kind],
            title=f"{bordereaux.KIND_NAMES[row.kind]} bordereau",
            facts=bordereaux.facts_of(row),
            created_at=row.issued_at,
        )
    return f"{row.number}-{row.month:%Y-%m}.{format_}", content


def _reconciliation(request: Request, _: Person) -> tuple[str, bytes]:
    found, format_ = ids.parse(request.path_params["reconciliation"], "reconciliation"), request.path_params["format"]
    with reading(_LIVE) as session:
        row = reconciliations.get_reconciliation(session, found)
        rows = reconciliations.list_differences(session, found)
    facts = [("Party", row.party), ("Month", f"{row.month:%B %Y}"), ("Their file", row.file_name)]
    chunks = reconciliations.csv_chunks(rows, tolerated_minor=row.tolerated_minor)
    content = file_of(chunks, format_, reconciliations.COLUMNS, title="Differences", facts=facts)
    return f"differences-{row.month:%Y-%m}.{format_}", content


def _ageing(request: Request, _: Person) -> tuple[str, bytes]:
    format_, today = request.path_params["format"], clock.today()
    with reading(_LIVE) as session:
        rows = ageing.list_aged(session)
    facts = [("As of", f"{today}, by days since the end of the month, or since the refund"), ("Parties", len(rows))]
    content = file_of(ageing.csv_chunks(rows), format_, ageing.COLUMNS, title="Ageing", facts=facts)
    return f"ageing-{today}.{format_}", content


def _credit_note(request: Request, _: Person) -> tuple[str, bytes]:
    note_id, copy = ids.parse(request.path_params["note"], "credit note"), request.path_params["copy"]
    if copy not in credit_note_reading.COPIES:
        raise NotFound(f"A credit note has a copy for the {' and one for the '.join(credit_note_reading.COPIES)}")
    with reading(Scope.system()) as session:
        note = credit_note_reading.get_note(session, note_id)
    return f"{note.number}-{copy}.pdf", credit_note_reading.render(note, copy)


def _journal(request: Request, _: Person) -> tuple[str, bytes]:
    month, format_ = parse_month(request.path_params["month"]), request.path_params.get("format", "")
    with reading(_LIVE) as session:
        hashes = [step.sha256 for step in journal.list_steps(session, month) if step.sha256]
        content = journal.print_journal(session, month, format_, sha256=hashes[-1] if hashes else None)
    return f"journal-{month:%Y-%m}{f'-{format_}' if format_ else ''}.csv", content


def download_pack(request: Request) -> Response:
    """Everything that is held of the person of a request, as a ZIP; the log keeps who took it."""

    def make(by: Person) -> Response:
        request_id = ids.parse(request.path_params["request_id"], "request")
        made = transact(Scope.system(), lambda session: pack.make(session, request_id, by=by))
        return _file(made.content, "application/zip", made.file_name)

    return _answer(request, make)


def download_year(request: Request) -> Response:
    """The figures of a year as CSV."""

    def make(by: Person) -> Response:
        year = int(request.path_params["year"])
        content = transact(Scope.system(), lambda session: figures.write_file(session, year, by=by))
        return _file(content, "text/csv; charset=utf-8", f"privacy-figures-{year}.csv")

    return _answer(request, make)


def _answer(request: Request, make: Callable[[Person], Response]) -> Response:
    try:
        return make(signing_in.require_person(request))
    except CoverdeskError as error:
        return PlainTextResponse(str(error), error.status, _NO_STORE)


def _file(content: bytes, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **_NO_STORE}
    return Response(content, media_type=media_type, headers=headers)


FIND_PATH: Final = "/desk/find"
_FOUND_HEADERS = {"Cache-Control": "no-store", "Content-Type": "application/json"}


def find(request: Request) -> Response:
    """The records that the text `q` finds in the mode given by `mode`, as JSON."""
    try:
        person = signing_in.require_person(request)
        text = request.query_params.get("q", "")
        is_live = request.query_params.get("mode") != "test"
        with reading_replica(Scope.staff(is_live=is_live)) as session:
            found = finder.find_records(session, text, person)
    except CoverdeskError as error:
        again = {"Retry-After": str(error.retry_after)} if isinstance(error, StoreUnavailable) else {}
        return Response(orjson.dumps({"error": str(error)}), error.status, _FOUND_HEADERS | again)
    return Response(orjson.dumps({"found": [asdict(hit) for hit in found]}), headers=_FOUND_HEADERS)


def answer_report(scope: Scope, book_id: UUID, format_: str, *, actor: str) -> Response:
    """Return the report as a download, which is noted; NotFound for a book out of the scope, or another format."""
    if format_ not in records.FORMATS:
        raise NotFound(f"A report is made as {', '.join(records.FORMATS)}")
    book = transact(scope, lambda session: records.record_taken(session, book_id, format_, actor=actor))
    name = f"loan-book-{book.month:%Y-%m}-{str(book.id)[-6:]}.{format_}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **_NO_STORE}
    return StreamingResponse(_stream(scope, book_id, format_), media_type=records.FORMATS[format_], headers=headers)


def _stream(scope: Scope, book_id: UUID, format_: str) -> Iterator[bytes]:
    with reading(scope) as session:
        book = books.get(session, book_id)
        session.expunge(book)
        if format_ == "csv":
            yield from records.csv_chunks(session, book)
            return
        with TemporaryDirectory(prefix="coverdesk-loan-book-") as folder:
            path = Path(folder, "report.xlsx")
            path.touch(mode=0o600)
            records.write_workbook(session, book, path)
            with path.open("rb") as file:
                while piece := file.read(_PIECE):
                    yield piece


def answer_template(kind: str) -> Response:
    """Return the template of a kind of book as a download."""
    if kind not in books.KINDS:
        raise NotFound(f"There are books of {', '.join(books.KINDS)}")
    headers = {"Content-Disposition": f'attachment; filename="loan-book-{kind}.xlsx"', **_NO_STORE}
    return Response(records.build_template(kind), media_type=records.FORMATS["xlsx"], headers=headers)


def download_report(request: Request) -> Response:
    """A report for a person of the desk, in the mode that the address names."""
    try:
        person, scope = _require(request), Scope.staff(is_live=request.query_params.get("mode") != "test")
        book_id, format_ = ids.parse(request.path_params["book"]), request.path_params["format"]
        return answer_report(scope, book_id, format_, actor=person.actor)
    except CoverdeskError as error:
        return PlainTextResponse(str(error), error.status, _NO_STORE)


def download_template(request: Request) -> Response:
    """The template for a person of the desk."""
    try:
        _require(request)
        return answer_template(request.path_params["kind"])
    except CoverdeskError as error:
        return PlainTextResponse(str(error), error.status, _NO_STORE)


def _require(request: Request) -> Person:
    person = require_person(request)
    if not person.has_role("operations", "supervisor"):
        raise NotAllowed("Your role does not see loan books")
    return person


routes = [
    Route(PATH, download, methods=["GET"]),
    Route(FIND_PATH, find, methods=["GET"]),
    Route(STATEMENT_PATH, download_statement, methods=["GET"]),
    Route("/ageing.{format}", partial(serve, work=_ageing), methods=["GET"]),
    Route("/credit-notes/{note}/{copy}.pdf", partial(serve, work=_credit_note), methods=["GET"]),
    Route("/closes/{month}/journal.csv", partial(serve, work=_journal), methods=["GET"]),
    Route("/closes/{month}/journal-{format}.csv", partial(serve, work=_journal), methods=["GET"]),
    Route("/reconciliations/{reconciliation}.{format}", partial(serve, work=_reconciliation), methods=["GET"]),
    Route("/bordereaux/{bordereau}.{format}", partial(serve, work=_bordereau), methods=["GET"]),
    Route("/payouts/{batch}.csv", partial(serve, work=_bank_file), methods=["GET"]),
    Route("/taxes/{kind}/{month}.{format}", partial(serve, work=_taxes), methods=["GET"]),
    Route("/data-requests/{request_id}.zip", download_pack, methods=["GET"]),
    Route("/privacy-figures/{year:int}.csv", download_year, methods=["GET"]),
    Route("/loan-books/template-{kind}.xlsx", download_template, methods=["GET"]),
    Route("/loan-books/{book}.{format}", download_report, methods=["GET"]),
]
