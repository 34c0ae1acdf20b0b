"""Files of loan books: the report and the template, for the lender's key and for signed-in people of the desk."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from core import ids
from core.api.outside.signing_in import require_person
from core.errors import CoverdeskError, NotAllowed, NotFound
from core.services.people.staff import Person
from core.services.selling.loan_books import books, report
from core.store.access import Scope, reading, transact

_PIECE = 1 << 18
_NO_STORE = {"Cache-Control": "no-store"}


def answer_report(scope: Scope, book_id: UUID, format_: str, *, actor: str) -> Response:
    """Return the report as a download, which is noted; NotFound for a book out of the scope, or another format."""
    if format_ not in report.FORMATS:
        raise NotFound(f"A report is made as {', '.join(report.FORMATS)}")
    book = transact(scope, lambda session: report.record_taken(session, book_id, format_, actor=actor))
    name = f"loan-book-{book.month:%Y-%m}-{str(book.id)[-6:]}.{format_}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **_NO_STORE}
    return StreamingResponse(_stream(scope, book_id, format_), media_type=report.FORMATS[format_], headers=headers)


def _stream(scope: Scope, book_id: UUID, format_: str) -> Iterator[bytes]:
    with reading(scope) as session:
        book = books.get(session, book_id)
        session.expunge(book)
        if format_ == "csv":
            yield from report.csv_chunks(session, book)
            return
        with TemporaryDirectory(prefix="coverdesk-loan-book-") as folder:
            path = Path(folder, "report.xlsx")
            path.touch(mode=0o600)
            report.write_workbook(session, book, path)
            with path.open("rb") as file:
                while piece := file.read(_PIECE):
                    yield piece


def answer_template(kind: str) -> Response:
    """Return the template of a kind of book as a download."""
    if kind not in books.KINDS:
        raise NotFound(f"There are books of {', '.join(books.KINDS)}")
    headers = {"Content-Disposition": f'attachment; filename="loan-book-{kind}.xlsx"', **_NO_STORE}
    return Response(report.build_template(kind), media_type=report.FORMATS["xlsx"], headers=headers)


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
    Route("/loan-books/template-{kind}.xlsx", download_template, methods=["GET"]),
    Route("/loan-books/{book}.{format}", download_report, methods=["GET"]),
]
