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
from core.services.claims.reports.figures import DECIDED_AT, IS_DECIDED, NOT_DELETED, Decision, percentile
from core.services.claims.review import officers as claim_officers
from core.services.lists.windows import Window
from core.states.claims import ClaimStatus
from core.store.access import ScopedSession
from core.store.expressions import lagos_day
from core.store.schema.tables import Claim, ClaimEvent

_DAY_MS: Final = 86_400_000
_AGE_EDGES: Final = (7, 14, 30, 60)
_TURNAROUND_EDGES: Final = (2, 7, 14, 30, 60)


@dataclass(frozen=True, kw_only=True, slots=True)
class DayRange:
    """A range of whole days, both ends included; `last` is None for an open end."""

    first: int
    last: int | None

    @property
    def label(self) -> str:
        """Display text: "0–7", "over 60"."""
        return f"over {self.first - 1}" if self.last is None else f"{self.first}–{self.last}"

    def contains(self, days: int) -> bool:
        """Return True when a number of days lies in the range."""
        return days >= self.first and (self.last is None or days <= self.last)


def build_day_ranges(edges: Sequence[int]) -> list[DayRange]:
    """Build the ranges that end at these days, and an open one above."""
    starts = (0, *(edge + 1 for edge in edges))
    return [DayRange(first=first, last=last) for first, last in zip(starts, (*edges, None), strict=True)]


@dataclass(frozen=True, kw_only=True, slots=True)
class AgeBucket:
    """Number of open claims in an age range, with their first and last day of lodging; no first day for the oldest."""

    days: DayRange
    number: int
    first: date | None
    last: date


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnaroundBucket:
    """Number of claims paid within a range of days, by calendar time and by time net of pauses for the claimant."""

    days: DayRange
    calendar: int
    net: int


@dataclass(frozen=True, kw_only=True, slots=True)
class TypeDecisions:
    """Number of claims of a type approved and declined."""

    claim_type: str
    approved: int
    declined: int


@dataclass(frozen=True, kw_only=True, slots=True)
class OfficerWorkload:
    """Workload of one officer: decided claims, their median net time in ms, open and overdue claims."""

    officer: UUID | None
    name: str
    decided: int
    median_net_ms: int | None
    open: int
    overdue: int


def count_by_age(session: ScopedSession) -> list[AgeBucket]:
    """Count open claims by age: whole Lagos days since the day of lodging."""
    day, today = lagos_day(col(Claim.created_at)), clock.today()
    rows = session.execute(sa.select(day, sa.func.count()).where(~IS_DECIDED, NOT_DELETED).group_by(day)).all()
    buckets = []
    for days in build_day_ranges(_AGE_EDGES):
        number = sum(count for lodged_on, count in rows if days.contains(max(0, (today - lodged_on).days)))
        first = None if days.last is None else clock.add_days(today, -days.last)
        buckets.append(AgeBucket(days=days, number=number, first=first, last=clock.add_days(today, -days.first)))
    return buckets


def count_by_turnaround(decisions: Sequence[Decision]) -> list[TurnaroundBucket]:
    """Count paid claims by turnaround."""
    calendar_counts = Counter(decision.calendar_ms // _DAY_MS for decision in decisions if not decision.declined)
    net_counts = Counter(decision.net_ms // _DAY_MS for decision in decisions if not decision.declined)
    return [
        TurnaroundBucket(days=days, calendar=_count_within(days, calendar_counts), net=_count_within(days, net_counts))
        for days in build_day_ranges(_TURNAROUND_EDGES)
    ]


def _count_within(days: DayRange, numbers: Mapping[int, int]) -> int:
    return sum(number for whole, number in numbers.items() if days.contains(whole))


def count_decline_reasons(session: ScopedSession, window: Window) -> list[tuple[str, int]]:
    """Count the declines of a window by reason, the most frequent first."""
    reason, number = col(Claim.decline_reason), sa.func.count()
    query = (
        sa.select(reason, number)
        .where(*_build_declined_conditions(window))
        .group_by(reason)
        .order_by(number.desc(), reason)
    )
    return [(row[0], row[1]) for row in session.execute(query)]


def count_by_type(session: ScopedSession, window: Window) -> list[TypeDecisions]:
    """Count approvals of a window that still stand, and declines, by claim type."""
    kind = col(Claim.claim_type)
    approvals_query = (
        sa.select(kind, sa.func.count(sa.distinct(col(Claim.id))))
        .join(ClaimEvent, col(ClaimEvent.claim_id) == col(Claim.id))
        .where(col(ClaimEvent.status) == ClaimStatus.APPROVED, col(Claim.approved_by).is_not(None), NOT_DELETED)
        .where(*window.span.on(col(ClaimEvent.created_at)))
    )
    declines_query = sa.select(kind, sa.func.count()).where(*_build_declined_conditions(window))
    approved, declined = (
        {row[0]: row[1] for row in session.execute(query.group_by(kind))} for query in (approvals_query, declines_query)
    )
    return [
        TypeDecisions(claim_type=name, approved=approved.get(name, 0), declined=declined.get(name, 0))
        for name in sorted({*approved, *declined})
    ]


def _build_declined_conditions(window: Window) -> list[sa.ColumnElement[bool]]:
    return [col(Claim.claim_status) == ClaimStatus.DECLINED, NOT_DELETED, *window.span.on(DECIDED_AT)]


def list_workloads(session: ScopedSession, decisions: Sequence[Decision]) -> list[OfficerWorkload]:
    """List the workload of every officer with an open or decided claim, most open claims first."""
    times: dict[object, list[int]] = {}
    for decision in decisions:
        times.setdefault(decision.officer, []).append(decision.net_ms)
    net_times = {UUID(str(key)) if key else None: found for key, found in times.items()}
    holder = col(Claim.assigned_to)
    late = sa.func.sum(sa.case((claim_search.build_stage_condition("overdue"), 1), else_=0))
    open_query = sa.select(holder, sa.func.count(), late).where(~IS_DECIDED, NOT_DELETED).group_by(holder)
    open_counts = {row[0]: (row[1], int(row[2])) for row in session.execute(open_query)}
    names = claim_officers.get_names(session, {*net_times, *open_counts})
    found = [
        OfficerWorkload(
            officer=key,
            name=names.get(key, "Nobody") if key else "Nobody",
            decided=len(net_times.get(key, ())),
            median_net_ms=percentile(sorted(net_times.get(key, ())), 50),
            open=open_counts.get(key, (0, 0))[0],
            overdue=open_counts.get(key, (0, 0))[1],
        )
        for key in {*net_times, *open_counts}
    ]
    return sorted(found, key=lambda work: (-work.open, -work.decided, work.name))
