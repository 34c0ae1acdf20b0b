"""The state of each month in the books, by its last step (contract F7)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import StateForbids
from core.states.finance import SHUT, MonthState
from core.store.access import ScopedSession
from core.store.schema.tables import MonthStep, Staff


@dataclass(frozen=True, kw_only=True, slots=True)
class Step:
    """One step of a month with the person who made it."""

    month: date
    position: int
    state: MonthState
    by: UUID
    person: str
    at: datetime
    note: str | None
    sha256: str | None
    facts: dict[str, Any]


def list_steps(session: ScopedSession, month: date | None = None) -> Sequence[Step]:
    """List the steps of a month, or of all, oldest first."""
    query = (
        sa.select(MonthStep, col(Staff.name))
        .join(Staff, col(Staff.id) == col(MonthStep.by))
        .where(*([col(MonthStep.month) == month] if month else []))
        .order_by(col(MonthStep.month), col(MonthStep.position))
    )
    names = ("month", "position", "by", "at", "note", "sha256", "facts")
    return [
        Step(**{name: getattr(row, name) for name in names}, state=MonthState(row.state), person=person)
        for row, person in session.execute(query)
    ]


def state_of(session: ScopedSession, month: date) -> MonthState:
    """Return the state of a month; one that nobody has begun to close is open."""
    steps = list_steps(session, month)
    return steps[-1].state if steps else MonthState.OPEN


def refuse_shut(session: ScopedSession, month: date) -> None:
    """StateForbids for a month that is closed: its papers stay as they are, and what was wrong is adjusted."""
    if state_of(session, month) in SHUT:
        raise StateForbids(f"{month:%B %Y} is closed: correct it by an adjustment, or have two people reopen it")
