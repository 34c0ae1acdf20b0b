"""Exports, papers and what the search finds, for a signed-in person beside the screens (contract A1, A4).

Reports and templates of loan books also for the lender's key.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from datetime import datetime
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
from core.api.outside.signing_in import require_person
from core.desk import export_runs, finder
from core.desk.export_runs import ExportOrder
from core.errors import CoverdeskError, NotAllowed, NotFound, StoreUnavailable
from core.services.compliance import filings, pack, return_figures
from core.services.finance import ageing, journal, tax
from core.services.finance.bordereaux import bordereaux
from core.services.finance.bordereaux import columns as bordereau_columns
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.payments import payouts
from core.services.finance.reconciling import reconciliations
from core.services.finance.statements import files as statement_files
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.reading import StatementRow
from core.services.lists import spreadsheets, windows
from core.services.lists.exports import Tally
from core.services.lists.spreadsheets import SheetColumn
from core.services.people.staff import Person
from core.services.selling.loan_books import books, records
from core.store.access import Scope, read_in, reading, reading_replica, transact

PATH = "/exports/{kind}.{format}"
_NO_STORE = {"Cache-Control": "no-store"}
_LIVE: Final = Scope.staff(is_live=True)
_PIECE = 1 << 18
MEDIA_TYPES = {
    "csv": "text/csv; charset=utf-8",
    "pdf": "application/pdf",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_TYPES: Final = {**MEDIA_TYPES, "zip": "application/zip"}
Work = Callable[[Request, Person], Response]


def serve(request: Request, *, work: Work, roles: Sequence[str] = (), says: str | None = None) -> Response:
    """Answer with what `work` makes for a signed-in person who has one of the roles; `says` is why nobody else may."""
    try:
        person = require_person(request)
        if roles and not person.has_role(*roles):
            raise NotAllowed(says)
        return work(request, person)
    except CoverdeskError as error:
        return PlainTextResponse(str(error), error.status, _NO_STORE | _retry(error))


def _retry(error: CoverdeskError) -> dict[str, str]:
    return {"Retry-After": str(error.retry_after)} if isinstance(error, StoreUnavailable) else {}


def _named(name: str) -> dict[str, str]:
    return {"Content-Disposition": f'attachment; filename="{name}"', **_NO_STORE}


def _file(name: str, content: bytes) -> Response:
    return Response(content, media_type=_TYPES[name.rpartition(".")[2]], headers=_named(name))


def _workbook(write: Callable[[Path], None]) -> Iterator[bytes]:
    """Yield a workbook that is written to a path of this process's account alone, and is gone afterwards."""
    with TemporaryDirectory(prefix="coverdesk-workbook-") as folder:
        path = Path(folder, "file.xlsx")
        path.touch(mode=0o600)
        write(path)
        with path.open("rb") as file:
            while piece := file.read(_PIECE):
                yield piece


def download(request: Request) -> Response:
    """The rows of a selection as a file, for people whose role may see that list."""
    if request.method != "GET":
        return PlainTextResponse("", 405, _NO_STORE | {"Allow": "GET"})
    return serve(request, work=_export)


def _export(request: Request, person: Person) -> Response:
    order = _order(request, person)
    export_runs.check_order(order)
    return StreamingResponse(
        export_runs.stream(order, Tally()), media_type=order.format.media_type, headers=_named(order.file_name)
    )


def _order(request: Request, person: Person) -> ExportOrder:
    query, path = request.query_params, request.path_params
    address = {name: query.getlist(name) for name in query}
    return export_runs.create_order(path["kind"], path["format"], address, by=person)


def answer(scope: Scope, statement_id: UUID, format_: str) -> Response:
    """Return the file as a download; NotFound for a statement that the scope does not see, or another format."""
    if format_ not in MEDIA_TYPES:
        raise NotFound(f"A statement is made as {', '.join(MEDIA_TYPES)}")
    row = read_in(scope, statement_reading.get_statement, statement_id)
    name = f"{row.paper.number}-{row.paper.month:%Y-%m}.{format_}"
    return StreamingResponse(stream(scope, row, format_), media_type=MEDIA_TYPES[format_], headers=_named(name))


def stream(scope: Scope, row: StatementRow, format_: str) -> Iterator[bytes]:
    """Yield one file of a statement; the CSV is the bytes that its hash is of."""
    with reading(scope) as session:
        batches = statement_reading.batches_of(session, row.id)
        if format_ == "csv":
            yield from statement_files.csv_chunks(row.paper, batches)
        elif format_ == "pdf":
            yield statement_files.render(row.paper, batches)
        else:
            chunks = statement_files.csv_chunks(row.paper, batches)
            yield from _workbook(lambda path: statement_files.write_workbook(path, row.paper, chunks))


def _statement(request: Request, _: Person) -> Response:
    return answer(_LIVE, ids.parse(request.path_params["statement"], "statement"), request.path_params["format"])


def file_of(
    chunks: Iterator[bytes],
    format_: str,
    columns: Sequence[SheetColumn],
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

    def write(path: Path) -> None:
        for _ in spreadsheets.write_workbook(
            path, chunks, columns, title=title, facts=lambda: facts, created_at=created_at
        ):
            pass

    return b"".join(_workbook(write))


def _bank_file(request: Request, person: Person) -> Response:
    batch_id = ids.parse(request.path_params["batch"], "payout")
    # A writing transaction: that somebody opened the file is noted.
    return _file(*transact(_LIVE, partial(payouts.open_bank_file, batch_id=batch_id, by=person)))


def _taxes(request: Request, _: Person) -> Response:
    kind, month, format_ = (request.path_params[name] for name in ("kind", "month", "format"))
    if kind not in tax.KINDS:
        raise NotFound(f"A schedule is of {' or '.join(tax.KINDS)}")
    wanted = windows.parse_month(month)
    lines = read_in(_LIVE, tax.list_lines, kind, wanted)
    content = file_of(
        tax.csv_chunks(lines), format_, tax.COLUMNS, title=tax.KINDS[kind], facts=tax.facts_of(kind, wanted, lines)
    )
    return _file(f"{kind}-{month}.{format_}", content)


def _bordereau(request: Request, _: Person) -> Response:
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
    return _file(f"{row.number}-{row.month:%Y-%m}.{format_}", content)


def _reconciliation(request: Request, _: Person) -> Response:
    found, format_ = ids.parse(request.path_params["reconciliation"], "reconciliation"), request.path_params["format"]
    with reading(_LIVE) as session:
        row = reconciliations.get_reconciliation(session, found)
        rows = reconciliations.list_differences(session, found)
    facts = [("Party", row.party), ("Month", f"{row.month:%B %Y}"), ("Their file", row.file_name)]
    chunks = reconciliations.csv_chunks(rows, tolerated_minor=row.tolerated_minor)
    content = file_of(chunks, format_, reconciliations.COLUMNS, title="Differences", facts=facts)
    return _file(f"differences-{row.month:%Y-%m}.{format_}", content)


def _ageing(request: Request, _: Person) -> Response:
    format_, today = request.path_params["format"], clock.today()
    rows = read_in(_LIVE, ageing.list_aged)
    facts = [("As of", f"{today}, by days since the end of the month, or since the refund"), ("Parties", len(rows))]
    content = file_of(ageing.csv_chunks(rows), format_, ageing.COLUMNS, title="Ageing", facts=facts)
    return _file(f"ageing-{today}.{format_}", content)


def _credit_note(request: Request, _: Person) -> Response:
    note_id, copy = ids.parse(request.path_params["note"], "credit note"), request.path_params["copy"]
    if copy not in credit_note_reading.COPIES:
        raise NotFound(f"A credit note has a copy for the {' and one for the '.join(credit_note_reading.COPIES)}")
    note = read_in(Scope.system(), credit_note_reading.get_note, note_id)
    return _file(f"{note.number}-{copy}.pdf", credit_note_reading.render(note, copy))


def _journal(request: Request, _: Person) -> Response:
    month, format_ = windows.parse_month(request.path_params["month"]), request.path_params.get("format", "")
    with reading(_LIVE) as session:
        hashes = [step.sha256 for step in journal.list_steps(session, month) if step.sha256]
        content = journal.print_journal(session, month, format_, sha256=hashes[-1] if hashes else None)
    return _file(f"journal-{month:%Y-%m}{f'-{format_}' if format_ else ''}.csv", content)


def _pack(request: Request, person: Person) -> Response:
    """Everything that is held of the person of a request, as a ZIP; the log keeps who took it."""
    request_id = ids.parse(request.path_params["request_id"], "request")
    made = transact(Scope.system(), lambda session: pack.make(session, request_id, by=person))
    return _file(made.file_name, made.content)


def _year(request: Request, person: Person) -> Response:
    """The figures of a year as CSV."""
    year = int(request.path_params["year"])
    content = transact(Scope.system(), lambda session: return_figures.write_file(session, year, by=person))
    return _file(f"privacy-figures-{year}.csv", content)


def _return(request: Request, person: Person) -> Response:
    """The figures of a return as CSV; the log keeps who took them."""
    kind, day = request.path_params["kind"], request.path_params["day"]
    content = transact(Scope.system(), lambda session: filings.write_figures(session, f"{kind} {day}", by=person))
    return _file(f"return-{kind}-{day}.csv", content)


FIND_PATH: Final = "/desk/find"
_FOUND_HEADERS = {"Cache-Control": "no-store", "Content-Type": "application/json"}


def find(request: Request) -> Response:
    """The records that the text `q` finds in the mode given by `mode`, as JSON."""
    try:
        person = require_person(request)
        text = request.query_params.get("q", "")
        is_live = request.query_params.get("mode") != "test"
        with reading_replica(Scope.staff(is_live=is_live)) as session:
            found = finder.find_records(session, text, person)
    except CoverdeskError as error:
        return Response(orjson.dumps({"error": str(error)}), error.status, _FOUND_HEADERS | _retry(error))
    return Response(orjson.dumps({"found": [asdict(hit) for hit in found]}), headers=_FOUND_HEADERS)


def answer_report(scope: Scope, book_id: UUID, format_: str, *, actor: str) -> Response:
    """Return the report as a download, which is noted; NotFound for a book out of the scope, or another format."""
    if format_ not in records.FORMATS:
        raise NotFound(f"A report is made as {', '.join(records.FORMATS)}")
    book = transact(scope, lambda session: records.record_taken(session, book_id, format_, actor=actor))
    name = f"loan-book-{book.month:%Y-%m}-{str(book.id)[-6:]}.{format_}"
    content = _stream_report(scope, book_id, format_)
    return StreamingResponse(content, media_type=records.FORMATS[format_], headers=_named(name))


def _stream_report(scope: Scope, book_id: UUID, format_: str) -> Iterator[bytes]:
    with reading(scope) as session:
        book = books.get(session, book_id)
        session.expunge(book)
        if format_ == "csv":
            yield from records.csv_chunks(session, book)
        else:
            yield from _workbook(lambda path: records.write_workbook(session, book, path))


def answer_template(kind: str) -> Response:
    """Return the template of a kind of book as a download."""
    if kind not in books.KINDS:
        raise NotFound(f"There are books of {', '.join(books.KINDS)}")
    return _file(f"loan-book-{kind}.xlsx", records.build_template(kind))


def _report(request: Request, person: Person) -> Response:
    """A report for a person of the desk, in the mode that the address names."""
    scope = Scope.staff(is_live=request.query_params.get("mode") != "test")
    book_id, format_ = ids.parse(request.path_params["book"]), request.path_params["format"]
    return answer_report(scope, book_id, format_, actor=person.actor)


def _template(request: Request, _: Person) -> Response:
    return answer_template(request.path_params["kind"])


def _get(path: str, work: Work, *roles: str, says: str | None = None) -> Route:
    return Route(path, partial(serve, work=work, roles=roles, says=says), methods=["GET"])


_get_loans = partial(_get, says="Your role does not see loan books")
routes = [
    Route(PATH, download, methods=["GET"]),
    Route(FIND_PATH, find, methods=["GET"]),
    _get("/statements/{statement}.{format}", _statement, "finance"),
    _get("/ageing.{format}", _ageing, "finance"),
    _get("/credit-notes/{note}/{copy}.pdf", _credit_note, "finance"),
    _get("/closes/{month}/journal.csv", _journal, "finance"),
    _get("/closes/{month}/journal-{format}.csv", _journal, "finance"),
    _get("/reconciliations/{reconciliation}.{format}", _reconciliation, "finance"),
    _get("/bordereaux/{bordereau}.{format}", _bordereau, "finance"),
    _get("/payouts/{batch}.csv", _bank_file, "finance"),
    _get("/taxes/{kind}/{month}.{format}", _taxes, "finance"),
    _get("/data-requests/{request_id}.zip", _pack),
    _get("/privacy-figures/{year:int}.csv", _year),
    _get("/returns/{kind}/{day}.csv", _return),
    _get_loans("/loan-books/template-{kind}.xlsx", _template, "operations", "supervisor"),
    _get_loans("/loan-books/{book}.{format}", _report, "operations", "supervisor"),
]
