"""Files of finance for signed-in people: bank files of payouts, schedules of taxes, bordereaux."""

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from core import clock, ids
from core.api.outside import desk_session
from core.api.outside.statements import MEDIA_TYPES
from core.errors import CoverdeskError, InvalidInput, NotAllowed, NotFound
from core.services.finance import ageing, journal, months, tax_schedules
from core.services.finance.bordereaux import columns as bordereau_columns
from core.services.finance.bordereaux import reading as bordereau_reading
from core.services.finance.credit_notes import pdf as credit_note_pdf
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.payments import batches
from core.services.finance.reconciling import reading as reconciliation_reading
from core.services.people.staff import Person
from core.services.spreadsheets import workbooks
from core.services.spreadsheets.columns import Column
from core.store.access import Scope, reading, transact

_LIVE: Final = Scope.staff(is_live=True)
_NO_STORE: Final = {"Cache-Control": "no-store"}
Work = Callable[[Request, Person], tuple[str, bytes]]


def serve(request: Request, *, work: Work) -> Response:
    """Answer with the file that `work` makes as name and content, for people of finance only."""
    try:
        person = desk_session.require_person(request)
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
        for _ in workbooks.write_workbook(
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
    return transact(_LIVE, partial(batches.open_bank_file, batch_id=batch_id, by=person))


def _taxes(request: Request, _: Person) -> tuple[str, bytes]:
    kind, month, format_ = (request.path_params[name] for name in ("kind", "month", "format"))
    if kind not in tax_schedules.KINDS:
        raise NotFound(f"A schedule is of {' or '.join(tax_schedules.KINDS)}")
    wanted = parse_month(month)
    with reading(_LIVE) as session:
        lines = tax_schedules.list_lines(session, kind, wanted)
    content = file_of(
        tax_schedules.csv_chunks(lines),
        format_,
        tax_schedules.COLUMNS,
        title=tax_schedules.KINDS[kind],
        facts=tax_schedules.facts_of(kind, wanted, lines),
    )
    return f"{kind}-{month}.{format_}", content


def _bordereau(request: Request, _: Person) -> tuple[str, bytes]:
    bordereau_id, format_ = ids.parse(request.path_params["bordereau"], "bordereau"), request.path_params["format"]
    with reading(_LIVE) as session:
        row = bordereau_reading.get_bordereau(session, bordereau_id)
        content = file_of(
            bordereau_reading.csv_of(session, row),
            format_,
            bordereau_columns.OF[row.kind],
            title=f"{bordereau_reading.KIND_NAMES[row.kind]} bordereau",
            facts=bordereau_reading.facts_of(row),
            created_at=row.issued_at,
        )
    return f"{row.number}-{row.month:%Y-%m}.{format_}", content


def _reconciliation(request: Request, _: Person) -> tuple[str, bytes]:
    found, format_ = ids.parse(request.path_params["reconciliation"], "reconciliation"), request.path_params["format"]
    with reading(_LIVE) as session:
        row = reconciliation_reading.get_reconciliation(session, found)
        rows = reconciliation_reading.list_differences(session, found)
    facts = [("Party", row.party), ("Month", f"{row.month:%B %Y}"), ("Their file", row.file_name)]
    chunks = reconciliation_reading.csv_chunks(rows, tolerated_minor=row.tolerated_minor)
    content = file_of(chunks, format_, reconciliation_reading.COLUMNS, title="Differences", facts=facts)
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
    if copy not in credit_note_pdf.COPIES:
        raise NotFound(f"A credit note has a copy for the {' and one for the '.join(credit_note_pdf.COPIES)}")
    with reading(Scope.system()) as session:
        note = credit_note_reading.get_note(session, note_id)
    return f"{note.number}-{copy}.pdf", credit_note_pdf.render(note, copy)


def _journal(request: Request, _: Person) -> tuple[str, bytes]:
    month, format_ = parse_month(request.path_params["month"]), request.path_params.get("format", "")
    with reading(_LIVE) as session:
        steps = months.list_steps(session, month)
        hashes = [step.sha256 for step in steps if step.sha256]
        content = journal.print_journal(session, month, format_, sha256=hashes[-1] if hashes else None)
    return f"journal-{month:%Y-%m}{f'-{format_}' if format_ else ''}.csv", content


routes = [
    Route("/ageing.{format}", partial(serve, work=_ageing), methods=["GET"]),
    Route("/credit-notes/{note}/{copy}.pdf", partial(serve, work=_credit_note), methods=["GET"]),
    Route("/closes/{month}/journal.csv", partial(serve, work=_journal), methods=["GET"]),
    Route("/closes/{month}/journal-{format}.csv", partial(serve, work=_journal), methods=["GET"]),
    Route("/reconciliations/{reconciliation}.{format}", partial(serve, work=_reconciliation), methods=["GET"]),
    Route("/bordereaux/{bordereau}.{format}", partial(serve, work=_bordereau), methods=["GET"]),
    Route("/payouts/{batch}.csv", partial(serve, work=_bank_file), methods=["GET"]),
    Route("/taxes/{kind}/{month}.{format}", partial(serve, work=_taxes), methods=["GET"]),
]
