"""Breakdowns of the claims figures: turnaround, age, decline reasons, types and officers."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.claims.lists import search as claim_search
from core.services.claims.reports.figures import DECIDED_AT, IS_DECIDED, KEPT, Decision, within
from core.services.claims.review import officers as claim_officers
from core.services.windows import Window
from core.store.access.scope import ScopedSession
from core.store.expressions import lagos_day
from core.store.schema.tables import Claim, ClaimEvent

_DAY_MS: Final = 86_400_000
_AGEING: Final = (7, 14, 30, 60)
_TURNAROUND: Final = (2, 7, 14, 30, 60)


@dataclass(frozen=True, kw_only=True, slots=True)
class Days:
    """A range of whole days, both ends included; `last` is None for an open end."""

    first: int
    last: int | None

    @property
    def label(self) -> str:
        """Display text: "0–7", "over 60"."""
        return f"over {self.first - 1}" if self.last is None else f"{self.first}–{self.last}"

    def holds(self, days: int) -> bool:
        """Return True when a number of days lies in the range."""
        return days >= self.first and (self.last is None or days <= self.last)


def classes(edges: Sequence[int]) -> list[Days]:
    """Build the ranges that end at these days, and an open one above."""
    starts = (0, *(edge + 1 for edge in edges))
    return [Days(first=first, last=last) for first, last in zip(starts, (*edges, None), strict=True)]


@dataclass(frozen=True, kw_only=True, slots=True)
class Aged:
    """Number of open claims in an age range, with their first and last day of lodging; no first day for the oldest."""

    days: Days
    number: int
    first: date | None
    last: date


@dataclass(frozen=True, kw_only=True, slots=True)
class Took:
    """Number of claims paid within a range of days, by calendar time and by time net of pauses for the claimant."""

    days: Days
    calendar: int
    net: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OfType:
    """Number of claims of a type approved and declined."""

    claim_type: str
    approved: int
    declined: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """Workload of one officer: decided claims, their median net time in ms, open and overdue claims."""

    officer: UUID | None
    name: str
    decided: int
    half_net: int | None
    open: int
    overdue: int


def ageing(session: ScopedSession) -> list[Aged]:
    """Count open claims by age: whole Lagos days since the day of lodging."""
    day, today = lagos_day(col(Claim.created_at)), clock.today()
    rows = session.execute(sa.select(day, sa.func.count()).where(~IS_DECIDED, KEPT).group_by(day)).all()
    found = []
    for days in classes(_AGEING):
        number = sum(count for lodged_on, count in rows if days.holds(max(0, (today - lodged_on).days)))
        first = None if days.last is None else clock.add_days(today, -days.last)
        found.append(Aged(days=days, number=number, first=first, last=clock.add_days(today, -days.first)))
    return found


def turnaround(decisions: Sequence[Decision]) -> list[Took]:
    """Count paid claims by turnaround."""
    calendar = Counter(decision.calendar // _DAY_MS for decision in decisions if not decision.declined)
    net = Counter(decision.net // _DAY_MS for decision in decisions if not decision.declined)
    return [Took(days=days, calendar=_held(days, calendar), net=_held(days, net)) for days in classes(_TURNAROUND)]


def _held(days: Days, numbers: Mapping[int, int]) -> int:
    return sum(number for whole, number in numbers.items() if days.holds(whole))


def reasons(session: ScopedSession, window: Window) -> list[tuple[str, int]]:
    """Count the declines of a window by reason, the most frequent first."""
    reason, number = col(Claim.decline_reason), sa.func.count()
    query = sa.select(reason, number).where(*_declined(window)).group_by(reason).order_by(number.desc(), reason)
    return [(row[0], row[1]) for row in session.execute(query)]


def by_type(session: ScopedSession, window: Window) -> list[OfType]:
    """Count approvals of a window that still stand, and declines, by claim type."""
    kind = col(Claim.claim_type)
    given = (
        sa.select(kind, sa.func.count(sa.distinct(col(Claim.id))))
        .join(ClaimEvent, col(ClaimEvent.claim_id) == col(Claim.id))
        .where(col(ClaimEvent.status) == "Approved", col(Claim.approved_by).is_not(None), KEPT)
        .where(*window.span.on(col(ClaimEvent.created_at)))
    )
    refused = sa.select(kind, sa.func.count()).where(*_declined(window))
    approved, declined = (
        {row[0]: row[1] for row in session.execute(query.group_by(kind))} for query in (given, refused)
    )
    return [
        OfType(claim_type=name, approved=approved.get(name, 0), declined=declined.get(name, 0))
        for name in sorted({*approved, *declined})
    ]


def _declined(window: Window) -> list[sa.ColumnElement[bool]]:
    return [col(Claim.claim_status) == "Declined", KEPT, *window.span.on(DECIDED_AT)]


def officers(session: ScopedSession, decisions: Sequence[Decision]) -> list[Work]:
    """List the workload of every officer with an open or decided claim, most open claims first."""
    times: dict[object, list[int]] = {}
    for decision in decisions:
        times.setdefault(decision.officer, []).append(decision.net)
    took = {UUID(str(key)) if key else None: found for key, found in times.items()}
    holder = col(Claim.assigned_to)
    late = sa.func.sum(sa.case((claim_search.in_stage("overdue"), 1), else_=0))
    held = sa.select(holder, sa.func.count(), late).where(~IS_DECIDED, KEPT).group_by(holder)
    has = {row[0]: (row[1], int(row[2])) for row in session.execute(held)}
    names = claim_officers.names(session, {*took, *has})
    found = [
        Work(
            officer=key,
            name=names.get(key, "Nobody") if key else "Nobody",
            decided=len(took.get(key, ())),
            half_net=within(sorted(took.get(key, ())), 50),
            open=has.get(key, (0, 0))[0],
            overdue=has.get(key, (0, 0))[1],
        )
        for key in {*took, *has}
    ]
    return sorted(found, key=lambda work: (-work.open, -work.decided, work.name))
