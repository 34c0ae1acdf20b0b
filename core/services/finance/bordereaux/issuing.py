"""Bordereaux: frozen when they are issued, month after month, and followed to the insurer's answer (contract F5)."""

import hashlib
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import NotAllowed, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.finance import agreements, parties
from core.services.finance.bordereaux import claim_rows, columns, premium_rows
from core.services.finance.bordereaux import reading as bordereau_reading
from core.services.finance.bordereaux.columns import ReportRow
from core.services.finance.parties import Party
from core.services.lists.windows import Window
from core.services.people.staff import Person
from core.states.finance import BORDEREAU_TRANSITIONS, BordereauState
from core.store.access import ScopedSession
from core.store.schema.statements import BORDEREAU_KINDS
from core.store.schema.tables import Agreement, Bordereau, BordereauLine

KINDS: Final = BORDEREAU_KINDS
_ROWS: Final[Mapping[str, Any]] = {"premium": premium_rows, "claims": claim_rows}
_BASIS: Final = {
    "premium": "The moment a movement is recorded, as days in Africa/Lagos; what came late has its own date",
    "claims": "As it stood at the end of the month in Africa/Lagos: open claims, and those closed in the month",
}
ACTIONS: Final[Mapping[BordereauState, str]] = {
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
    bordereau_id, rows = ids.new(), 0
    totals = dict.fromkeys(columns.SUMMED[kind], 0)
    for batch in batches:
        lines = [line_of(bordereau_id, kind, position, row) for position, row in enumerate(batch, rows + 1)]
        session.insert_batch(BordereauLine, lines)
        rows += len(lines)
        for name in totals:
            totals[name] += sum(row.amounts[name] for row in batch)
    bordereau = Bordereau(
        id=bordereau_id,
        provider_id=provider_id,
        kind=kind,
        number=take_number(session, provider_id, kind),
        month=month,
        rows=rows,
        totals=totals,
        sha256="",
        facts=facts,
        issued_by=by.id,
        issued_at=clock.now(),
    )
    bordereau.sha256 = hash_of(session, bordereau)
    session.insert(bordereau)
    audit_bordereau(session, bordereau, "bordereau issued", by=by, rows=bordereau.rows, sha256=bordereau.sha256)
    return bordereau_id


def move(session: ScopedSession, bordereau_id: UUID, to: str, *, by: Person, note: str = "") -> None:
    """Move a bordereau on: sent, acknowledged or queried; StateForbids for a step that there is not."""
    require_finance(by)
    query = sa.select(Bordereau).where(col(Bordereau.id) == bordereau_id).with_for_update()
    row: Bordereau | None = session.execute(query).scalar_one_or_none()
    if row is None:
        raise NotFound("There is no such bordereau")
    step = BORDEREAU_TRANSITIONS.get(row.state, to)
    if step.needs_note and len(note.strip()) < _SHORTEST_NOTE:
        raise StateForbids("Say what the insurer said, in at least five characters")
    stamp = "sent" if to == BordereauState.SENT else "answered"
    values = {"state": to, f"{stamp}_by": by.id, f"{stamp}_at": clock.now(), **({"note": note.strip()} if note else {})}
    change = sa.update(Bordereau).where(col(Bordereau.id) == row.id).values(**values)
    session.execute(change.execution_options(synchronize_session=False))
    audit_bordereau(session, row, ACTIONS[BordereauState(to)], by=by, **({"note": note.strip()} if note else {}))


def find_due_month(session: ScopedSession, provider_id: UUID, kind: str) -> date | None:
    """Return the month that the next bordereau is of; None while there is nothing to report."""
    last = sa.select(sa.func.max(col(Bordereau.month))).where(
        col(Bordereau.provider_id) == provider_id, col(Bordereau.kind) == kind
    )
    if found := session.execute(last).scalar():
        return clock.add_months(found, 1)
    first: date | None = _ROWS[kind].first_month(session, provider_id)
    return first


def load_last_months(session: ScopedSession) -> Mapping[tuple[UUID, str], date]:
    """Return the month of the newest bordereau of each insurer and kind."""
    keys = (col(Bordereau.provider_id), col(Bordereau.kind))
    query = sa.select(*keys, sa.func.max(col(Bordereau.month))).group_by(*keys)
    return {(provider_id, kind): month for provider_id, kind, month in session.execute(query)}


def take_number(session: ScopedSession, provider_id: UUID, kind: str) -> int:
    """Return the number of an insurer's next bordereau of a kind."""
    return session.next_in_transaction(f"bordereau {kind} {provider_id}")


def count_draft(session: ScopedSession, provider_id: UUID, kind: str, month: date) -> tuple[int, int]:
    """Return the rows that a bordereau would have now, and the sum of its main column in kobo."""
    window = Window(month, clock.add_months(month, 1))
    rows, minor = _ROWS[kind].count(session, provider_id, window)
    return rows, minor


def list_first_rows(session: ScopedSession, provider_id: UUID, kind: str, month: date) -> list[list[str]]:
    """Return the printed cells of the first rows, some hundreds, that a bordereau would have now."""
    _, batches = _read_rows(session, provider_id, kind, month)
    return [row.cells(kind) for row in next(batches, [])]


def _read_rows(
    session: ScopedSession, provider_id: UUID, kind: str, month: date
) -> tuple[dict[str, Any], Iterator[list[ReportRow]]]:
    """Return what is frozen with a bordereau besides its rows, and these in batches."""
    window, party = Window(month, clock.add_months(month, 1)), Party("provider", provider_id)
    terms = agreements.get_in_force(session, party, window.last)
    facts = build_facts(parties.get_name(session, party), terms, kind, window)
    return facts, _ROWS[kind].stream(session, provider_id, window, facts["about"])


def require_finance(by: Person) -> None:
    """NotAllowed for whoever is not of finance."""
    if not by.has_role("finance"):
        raise NotAllowed("Only finance works on bordereaux")


def hash_of(session: ScopedSession, row: Bordereau) -> str:
    """Return the SHA-256 of the CSV of a bordereau."""
    digest = hashlib.sha256()
    for chunk in bordereau_reading.csv_of(session, row):
        digest.update(chunk)
    return digest.hexdigest()


def _require_due(session: ScopedSession, provider_id: UUID, kind: str, month: date) -> None:
    if session.scope.is_live is not True:
        raise StateForbids("Bordereaux are made of live records only")
    if kind not in KINDS:
        raise NotFound(f"A bordereau is of {' or '.join(KINDS)}")
    if month.day != 1 or clock.lagos_midnight(clock.add_months(month, 1)) > clock.now():
        raise StateForbids(f"{month:%B %Y} is not over yet: a bordereau is issued of a whole month")
    due = find_due_month(session, provider_id, kind)
    if due is None:
        raise StateForbids("There is nothing to report to this insurer yet")
    if due > month:
        raise StateForbids(f"{month:%B %Y} is reported already, or lies before the first row")
    if due != month:
        raise StateForbids(f"{due:%B %Y} comes first: months are reported one after the other")


def line_of(bordereau_id: UUID, kind: str, position: int, row: ReportRow) -> dict[str, Any]:
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


def audit_bordereau(session: ScopedSession, row: Bordereau, action: str, *, by: Person, **more: Any) -> None:
    """Write an act on a bordereau into the audit log."""
    number = bordereau_reading.number_of(row.kind, row.number)
    after = {"number": number, "party": row.facts["party"], "month": f"{row.month:%Y-%m}", **more}
    audit.write(session, actor=by.actor, action=action, subject=audit.subject_of("bordereau", row.id), after=after)
