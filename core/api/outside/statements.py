"""The files of a statement for signed-in people of finance."""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from core import ids
from core.errors import CoverdeskError, NotAllowed, NotFound, Unauthorized
from core.services.finance.statements import files as statement_files
from core.services.finance.statements import pdf as statement_pdf
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.reading import StatementRow
from core.services.people import sign_in, staff
from core.store.access import Scope, reading

PATH = "/statements/{statement}.{format}"
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
            yield statement_pdf.render(row.paper, batches)
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


def download(request: Request) -> Response:
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


routes = [Route(PATH, download, methods=["GET"])]
