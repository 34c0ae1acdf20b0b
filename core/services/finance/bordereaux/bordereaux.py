"""Bordereaux: frozen when they are issued, listed with their files, followed to the insurer's answer (contract F5)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.errors import InvalidInput, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.finance import agreements, parties
from core.services.finance.bordereaux import claim_rows, columns, premium_rows
from core.services.finance.bordereaux.columns import ReportRow
from core.services.finance.parties import Party
from core.services.finance.statements import reading as statement_reading
from core.services.lists.spreadsheets import hash_chunks
from core.services.lists.windows import Window, find_first_month
from core.services.people.staff import Person, join_names
from core.states.finance import BORDEREAU_TRANSITIONS, WITH_INSURER, BordereauState
from core.store.access import AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.statements import BORDEREAU_KINDS
from core.store.schema.tables import Agreement, Bordereau, BordereauLine, Claim, Movement, Provider

KIND_NAMES: Final = {"premium": "Premium", "claims": "Claims"}
_SERIES: Final = {"premium": "BP", "claims": "BC"}


@dataclass(frozen=True, kw_only=True, slots=True)
class BordereauRow:
    """One bordereau with its people; totals in kobo by the names of the columns."""

    id: UUID
    provider_id: UUID
    kind: str
    number: str
    month: date
    state: str
    party: str
    rows: int
    totals: dict[str, int]
    sha256: str
    facts: dict[str, Any]
    note: str | None
    issuer: str
    issued_at: datetime
    sender: str | None
    sent_at: datetime | None
    answerer: str | None
    answered_at: datetime | None

    @property
    def main_minor(self) -> int:
        """The sum by which it is listed: gross premium, or what claims have incurred."""
        return self.totals[columns.MAIN[self.kind]]


class Reported(NamedTuple):
    """A bordereau that holds some of a policy."""

    id: UUID
    number: str
    month: date
    state: str


def number_of(kind: str, number: int) -> str:
    """Return the number as it is printed, such as BP-0007."""
    return f"{_SERIES[kind]}-{number:04d}"


def list_bordereaux(session: ScopedSession, *, month: date | None = None) -> list[BordereauRow]:
    """List bordereaux, of a month or all, by insurer and kind."""
    query = _query().order_by(col(Bordereau.month).desc(), col(Provider.company_name), col(Bordereau.kind).desc())
    if month is not None:
        query = query.where(col(Bordereau.month) == month)
    return [_build(row) for row in session.execute(query)]


def get_bordereau(session: ScopedSession, bordereau_id: UUID) -> BordereauRow:
    """Return one bordereau; NotFound for one that does not exist, or in test mode, where there are none."""
    found = session.execute(_query().where(col(Bordereau.id) == bordereau_id)).one_or_none()
    if found is None or session.scope.is_live is False:
        raise NotFound("There is no such bordereau")
    return _build(found)


def list_of_policy(session: ScopedSession, movement_ids: Sequence[UUID]) -> list[Reported]:
    """List the premium bordereaux that report some movements, oldest first."""
    query = (
        sa.select(Bordereau)
        .join(BordereauLine, col(BordereauLine.bordereau_id) == col(Bordereau.id))
        .where(col(BordereauLine.subject_id).in_(movement_ids), col(BordereauLine.kind) == "premium")
        .order_by(col(Bordereau.month))
    )
    found = {row.id: row for row in session.execute(query).scalars()}
    return [Reported(row.id, number_of(row.kind, row.number), row.month, row.state) for row in found.values()]


def count_reported(session: ScopedSession, movement_ids: Sequence[UUID]) -> int:
    """Return how many of some movements a premium bordereau reports."""
    is_one = col(BordereauLine.subject_id).in_(movement_ids)
    return session.count_rows(BordereauLine, is_one, col(BordereauLine.kind) == "premium")


def batches_of(session: ScopedSession, bordereau_id: UUID) -> Iterator[list[list[str]]]:
    """Yield the printed cells of a bordereau in their order, some thousand rows at a time."""
    printed = (col(BordereauLine.position), col(BordereauLine.cells))
    owned = col(BordereauLine.bordereau_id) == bordereau_id
    for rows in statement_reading.read_lines(session, BordereauLine, printed, owned):
        yield [row.cells for row in rows]


def csv_of(session: ScopedSession, row: Bordereau | BordereauRow) -> Iterator[bytes]:
    """Yield the CSV of a bordereau, whose hash it carries."""
    yield from columns.csv_chunks(row.kind, batches_of(session, row.id), rows=row.rows, totals=row.totals)


def facts_of(row: BordereauRow) -> list[tuple[str, Any]]:
    """Return the selection of a bordereau, its control figures and its hash, as labels and values."""
    return [
        ("Bordereau", f"{KIND_NAMES[row.kind]} {row.number}"),
        ("Insurer", row.party),
        ("Agreement", row.facts["about"]["agreement_number"] or "None on file"),
        ("Month", f"{row.month:%B %Y}"),
        ("Date basis", row.facts["basis"]),
        ("Rows", row.rows),
        *((name.replace("_", " ").capitalize(), float(money.to_naira(minor))) for name, minor in row.totals.items()),
        ("SHA-256 of the CSV", row.sha256),
    ]


def _query() -> AnySelect:
    query: AnySelect = sa.select(Bordereau, col(Provider.company_name).label("party")).join(
        Provider, col(Provider.id) == col(Bordereau.provider_id)
    )
    people = {"issuer": Bordereau.issued_by, "sender": Bordereau.sent_by, "answerer": Bordereau.answered_by}
    return join_names(query, **people)


def _build(found: Any) -> BordereauRow:
    row: Bordereau = found.Bordereau
    return build_row(BordereauRow, row, found, number=number_of(row.kind, row.number))


KINDS: Final = BORDEREAU_KINDS
_ROWS: Final[Mapping[str, Any]] = {"premium": premium_rows, "claims": claim_rows}
_BASIS: Final = {
    "premium": "The moment a movement is recorded, as days in Africa/Lagos; what came late has its own date",
    "claims": "As it stood at the end of the month in Africa/Lagos: open claims, and those closed in the month",
}
_ACTIONS: Final[Mapping[BordereauState, str]] = {
    BordereauState.SENT: "bordereau sent",
    BordereauState.ACKNOWLEDGED: "bordereau acknowledged",
    BordereauState.QUERIED: "bordereau queried",
}
_SHORTEST_NOTE: Final = 5


def issue(session: ScopedSession, provider_id: UUID, kind: str, month: date, *, by: Person) -> UUID:
    """Freeze the bordereau of a month that is over, and return its id; months follow each other without a gap.

    StateForbids says that the month is not over yet, is reported already, or that another one comes first.
    """
    require_finance(by)
    _require_due(session, provider_id, kind, month)
    facts, batches = _read_rows(session, provider_id, kind, month)
    return freeze(session, provider_id, kind, month, batches, facts=facts, by=by).id


def freeze(
    session: ScopedSession,
    provider_id: UUID,
    kind: str,
    month: date,
    batches: Iterable[Sequence[ReportRow]],
    *,
    facts: dict[str, Any],
    by: Person,
) -> Bordereau:
    """Write a bordereau with its rows and the next number of its insurer and kind."""
    bordereau_id, rows = ids.new(), 0
    totals = dict.fromkeys(columns.SUMMED[kind], 0)
    # One batch is hashed as it is here; several are read again, so that a long month is never held whole.
    kept: Sequence[list[str]] = ()
    for number, batch in enumerate(batches):
        lines = [_line_of(bordereau_id, kind, position, row) for position, row in enumerate(batch, rows + 1)]
        session.insert_batch(BordereauLine, lines)
        rows += len(lines)
        for name in totals:
            totals[name] += sum(row.amounts[name] for row in batch)
        kept = () if number else [line["cells"] for line in lines]
    made = Bordereau.to_insert(
        id=bordereau_id,
        provider_id=provider_id,
        kind=kind,
        number=session.next_in_transaction(f"bordereau {kind} {provider_id}"),
        month=month,
        rows=rows,
        totals=totals,
        sha256="",
        facts=facts,
        issued_by=by.id,
        issued_at=clock.now(),
    )
    printed = batches_of(session, made.id) if rows > len(kept) else [kept]
    made.sha256 = hash_chunks(columns.csv_chunks(kind, printed, rows=rows, totals=totals))
    session.insert(made)
    _audit(session, made, "bordereau issued", by=by, rows=rows, sha256=made.sha256)
    return made


def move(session: ScopedSession, bordereau_id: UUID, to: str, *, by: Person, note: str = "") -> None:
    """Move a bordereau on: sent, acknowledged or queried; StateForbids for a step that there is not."""
    require_finance(by)
    row = session.lock(Bordereau, bordereau_id, "bordereau")
    step = BORDEREAU_TRANSITIONS.get(row.state, to)
    if step.needs_note and len(note.strip()) < _SHORTEST_NOTE:
        raise InvalidInput.for_field("note", "must say what the insurer said, in at least five characters")
    take(session, row, step.to, by=by, **({"note": note.strip()} if note else {}))


def take(session: ScopedSession, row: Bordereau, to: BordereauState, *, by: Person, **noted: str) -> None:
    """Take a step of a bordereau that nothing stands against."""
    stamp = "sent" if to == BordereauState.SENT else "answered"
    values = {"state": to, f"{stamp}_by": by.id, f"{stamp}_at": clock.now(), **noted}
    session.update_columns(Bordereau.to_insert(id=row.id, **values), *values)
    _audit(session, row, _ACTIONS[to], by=by, **noted)


def find_due_month(session: ScopedSession, provider_id: UUID, kind: str) -> date | None:
    """Return the month that the next bordereau is of; None while there is nothing to report."""
    last = sa.select(sa.func.max(col(Bordereau.month))).where(
        col(Bordereau.provider_id) == provider_id, col(Bordereau.kind) == kind
    )
    if found := session.execute(last).scalar():
        return clock.add_months(found, 1)
    entity: Any = Movement if kind == "premium" else Claim
    return find_first_month(session, col(entity.created_at), col(entity.provider_id) == provider_id)


def load_last_months(session: ScopedSession) -> Mapping[tuple[UUID, str], date]:
    """Return the month of the newest bordereau of each insurer and kind."""
    keys = (col(Bordereau.provider_id), col(Bordereau.kind))
    query = sa.select(*keys, sa.func.max(col(Bordereau.month))).group_by(*keys)
    return {(provider_id, kind): month for provider_id, kind, month in session.execute(query)}


def count_draft(session: ScopedSession, provider_id: UUID, kind: str, month: date) -> tuple[int, int]:
    """Return the rows that a bordereau would have now, and the sum of its main column in kobo."""
    rows, minor = _ROWS[kind].count(session, provider_id, Window.of_month(month))
    return rows, minor


def list_first_rows(session: ScopedSession, provider_id: UUID, kind: str, month: date) -> list[list[str]]:
    """Return the printed cells of the first rows, some hundreds, that a bordereau would have now."""
    _, batches = _read_rows(session, provider_id, kind, month)
    return [row.cells(kind) for row in next(batches, [])]


def _read_rows(
    session: ScopedSession, provider_id: UUID, kind: str, month: date
) -> tuple[dict[str, Any], Iterator[list[ReportRow]]]:
    """Return what is frozen with a bordereau besides its rows, and these in batches."""
    window, party = Window.of_month(month), Party("provider", provider_id)
    terms = agreements.get_in_force(session, party, window.last)
    facts = build_facts(parties.get_name(session, party), terms, kind, window)
    return facts, _ROWS[kind].stream(session, provider_id, window, facts["about"])


def require_finance(by: Person) -> None:
    """NotAllowed for whoever is not of finance."""
    by.require_role("finance", otherwise="Only finance works on bordereaux")


def hash_of(session: ScopedSession, row: Bordereau) -> str:
    """Return the SHA-256 of the CSV of a bordereau."""
    return hash_chunks(csv_of(session, row))


def _require_due(session: ScopedSession, provider_id: UUID, kind: str, month: date) -> None:
    if session.scope.is_live is not True:
        raise StateForbids("Bordereaux are made of live records only")
    if kind not in KINDS:
        raise NotFound(f"A bordereau is of {' or '.join(KINDS)}")
    if month.day != 1 or not Window.of_month(month).is_over:
        raise StateForbids(f"{month:%B %Y} is not over yet: a bordereau is issued of a whole month")
    due = find_due_month(session, provider_id, kind)
    if due is None:
        raise StateForbids("There is nothing to report to this insurer yet")
    if due > month:
        raise StateForbids(f"{month:%B %Y} is reported already, or lies before the first row")
    if due != month:
        raise StateForbids(f"{due:%B %Y} comes first: months are reported one after the other")


def _line_of(bordereau_id: UUID, kind: str, position: int, row: ReportRow) -> dict[str, Any]:
    """Return a row of the report as a row of the store."""
    return {
        "bordereau_id": bordereau_id,
        "position": position,
        "kind": kind,
        "subject_id": row.subject_id,
        "amount_minor": row.amounts[columns.MAIN[kind]],
        "cells": row.cells(kind),
    }


def build_facts(name: str, terms: Agreement | None, kind: str, window: Window) -> dict[str, Any]:
    """Return the cells of every row and the words that are frozen with a bordereau."""
    about = {
        "coverholder": "Coverdesk",
        "agreement_number": terms.number if terms else "",
        "class": (terms.class_of_business or "") if terms else "",
        **({"period_start": str(window.start), "period_end": str(window.last)} if kind == "premium" else {}),
    }
    return {"party": name, "about": about, "basis": _BASIS[kind]}


def _audit(session: ScopedSession, row: Bordereau, action: str, *, by: Person, **more: Any) -> None:
    """Write an act on a bordereau into the audit log."""
    number = number_of(row.kind, row.number)
    about = {"number": number, "party": row.facts["party"], "month": f"{row.month:%Y-%m}", **more}
    audit.note(session, "bordereau", row.id, action, actor=by.actor, **about)


DRAFT = "Draft"
_USUAL_DAY = 10


@dataclass(frozen=True, kw_only=True, slots=True)
class BordereauSummary:
    """One bordereau of a month; a draft has no number, and its rows change until it is issued."""

    provider_id: UUID
    party: str
    kind: str
    month: date
    state: str
    rows: int
    main_minor: int
    due_on: date
    bordereau_id: UUID | None = None
    number: str | None = None

    @property
    def key(self) -> str:
        """Key in the page address: of the bordereau, or of the insurer and kind if there is none yet."""
        return str(self.bordereau_id) if self.bordereau_id else f"{self.kind}.{self.provider_id}.{self.month:%Y-%m}"

    @property
    def kind_label(self) -> str:
        """The kind as people read it."""
        return KIND_NAMES[self.kind]

    @property
    def is_overdue(self) -> bool:
        """True when it had to be with the insurer by now, and is not."""
        return self.state not in WITH_INSURER and clock.today() > self.due_on


class Overdue(NamedTuple):
    """An insurer that waits for a bordereau: its first month, since which day, and whether it is issued already."""

    party: str
    kind: str
    month: date
    due_on: date
    is_issued: bool

    @property
    def missing(self) -> str:
        """The step that it lacks, in words."""
        return "issued, and has to be sent" if self.is_issued else "has to be issued and sent"


def list_month(session: ScopedSession, month: date) -> list[BordereauSummary]:
    """List the bordereaux of a month, and a draft for each that is still to come."""
    issued = {(row.provider_id, row.kind): row for row in list_bordereaux(session, month=month)}
    found = []
    for provider_id, name in parties.list_insurers(session):
        for kind in KINDS:
            due_on = _due_on(session, provider_id, month)
            if row := issued.get((provider_id, kind)):
                found.append(build_row(BordereauSummary, row, due_on=due_on, bordereau_id=row.id))
            elif (due := find_due_month(session, provider_id, kind)) and due <= month:
                rows, minor = count_draft(session, provider_id, kind, month)
                about: dict[str, Any] = {"provider_id": provider_id, "party": name, "kind": kind, "month": month}
                found.append(BordereauSummary(**about, state=DRAFT, rows=rows, main_minor=minor, due_on=due_on))
    return found


def list_unsent(session: ScopedSession, month: date) -> list[BordereauRow]:
    """List the bordereaux of a month that are issued and have to be sent."""
    return [row for row in list_bordereaux(session, month=month) if row.state not in WITH_INSURER]


def list_due(session: ScopedSession, month: date) -> list[tuple[UUID, str, str]]:
    """List the insurers and kinds whose next bordereau is of this month: id, name and kind."""
    return [(provider_id, name, kind) for provider_id, name, kind, due in list_due_months(session) if due == month]


def list_due_months(session: ScopedSession) -> list[tuple[UUID, str, str, date]]:
    """List the insurers and kinds that have something to report: id, name, kind, and the month of the next one."""
    each = ((*key, kind) for key in parties.list_insurers(session) for kind in KINDS)
    return [
        (provider_id, name, kind, due)
        for provider_id, name, kind in each
        if (due := find_due_month(session, provider_id, kind)) is not None
    ]


def list_overdue(session: ScopedSession) -> list[Overdue]:
    """List what insurers should have by now: issued and not sent, or not issued at all; one line for each kind."""
    issued = (row for row in list_bordereaux(session) if row.state not in WITH_INSURER)
    unsent = {(row.provider_id, row.kind): row.month for row in issued}
    found = []
    for provider_id, name in parties.list_insurers(session):
        for kind in KINDS:
            # Issued ones lie before the next that is to be issued.
            month = unsent.get((provider_id, kind)) or find_due_month(session, provider_id, kind)
            due = _due_on(session, provider_id, month) if month else None
            if month and due and clock.today() > due:
                found.append(Overdue(name, kind, month, due, (provider_id, kind) in unsent))
    return found


def _due_on(session: ScopedSession, provider_id: UUID, month: date) -> date:
    """The day of the next month by which an insurer has to have a bordereau."""
    after = clock.add_months(month, 1)
    terms = agreements.get_in_force(session, Party("provider", provider_id), after)
    return after.replace(day=terms.bordereau_due_day if terms else _USUAL_DAY)
