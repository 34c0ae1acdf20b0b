"""The claims metrics, defined, and their figures by time, age, reason, type and officer, with those compared with."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col
from sqlmodel.sql.sqltypes import UTCDateTime

from core import clock
from core.services.claims.lists import filter as claim_filter
from core.services.claims.workflow.clock import STATUTORY_PERIOD
from core.services.lists import windows
from core.services.lists.windows import EARLIEST, Comparison, Span, Window
from core.services.people import staff
from core.services.sales.breakdowns import Grain, get_bucket_start, list_buckets
from core.services.sales.figures import Metric, average, share, sum_claims_paid_by_day
from core.services.sales.filter import SalesFilter
from core.states.claims import DECIDED, ClaimStatus
from core.store.access import ScopedSession
from core.store.expressions import lagos_day, milliseconds_between
from core.store.schema.tables import Claim, ClaimEvent, ClaimOverride, ClaimReserve


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimFacts:
    """Facts of a period that the claims metrics are computed from; amounts in kobo, times in milliseconds.

    A claim counts as decided when it stands Paid, Settled or Declined, at the instant of that decision. The times
    are the median and the 90th percentile of the claims that were paid (or viewed).
    """

    lodged: int = 0
    paid: int = 0
    declined: int = 0
    in_time: int = 0
    paid_minor: int = 0
    median_ms: int | None = None
    p90_ms: int | None = None
    median_net_ms: int | None = None
    p90_net_ms: int | None = None
    median_viewed_ms: int | None = None
    median_decided_ms: int | None = None
    accepted: int = 0
    rejected: int = 0
    overridden: int = 0
    reserved_minor: int = 0
    outstanding_minor: int = 0

    @property
    def decided(self) -> int:
        """Number of claims with a decision that stands."""
        return self.paid + self.declined


_PAID = "The instant a claim was marked Paid, as days in Lagos; the claims that still stand Paid or Settled."
_REVERSED = "decisions that an appeal or a reopening took back"
_NET = "Days that waited for the claimant are taken off: an offer was out, or something was asked."
# Those that are asked every day come first.
FIRST_METRICS: Final = 8
CLAIM_METRICS: tuple[Metric[ClaimFacts], ...] = (
    Metric(
        key="lodged",
        label="Claims lodged",
        unit="count",
        counts="claims that came in, by whatever door.",
        leaves_out="deleted records; the other mode.",
        basis="The instant of lodging, as days in Lagos.",
        better="neither",
        compute=lambda facts: facts.lodged,
    ),
    Metric(
        key="decided",
        label="Decided",
        unit="count",
        counts="claims that were paid or declined.",
        leaves_out=f"{_REVERSED}; approvals that are not paid yet.",
        basis="The instant of the decision, as days in Lagos.",
        compute=lambda facts: facts.decided,
    ),
    Metric(
        key="paid_amount",
        label=ClaimStatus.PAID,
        unit="naira",
        counts="every payment on a claim, whatever became of it; the same as in the dashboard's claims to premium.",
        leaves_out="offers that are not paid yet, costs of handling.",
        basis="The day of each payment, in Lagos.",
        better="neither",
        compute=lambda facts: facts.paid_minor,
    ),
    Metric(
        key="outstanding",
        label="Outstanding",
        unit="naira",
        counts="the reserves of claims: what is expected to be paid still.",
        leaves_out="exposure of claims that have no reserve yet.",
        basis="The end of the period, by the changes of reserves until then.",
        better="neither",
        compute=lambda facts: facts.outstanding_minor,
    ),
    Metric(
        key="turnaround_half",
        label="Lodged to paid, median",
        unit="time",
        counts="the time within which half of the paid claims were paid, by the calendar.",
        leaves_out="declined claims.",
        basis=_PAID,
        better="less",
        compute=lambda facts: facts.median_ms,
    ),
    Metric(
        key="turnaround_most",
        label="Lodged to paid, 9 in 10",
        unit="time",
        counts="the time within which nine in ten of the paid claims were paid, by the calendar (the 90th percentile).",
        leaves_out="declined claims.",
        basis=_PAID,
        better="less",
        compute=lambda facts: facts.p90_ms,
    ),
    Metric(
        key="in_time",
        label="Decided within 60 days",
        unit="share",
        counts=f"claims paid or declined within the statutory 60 days, of all decided. {_NET}",
        leaves_out=f"{_REVERSED}; open claims, even overdue ones.",
        basis="The instant of the decision, as days in Lagos.",
        compute=lambda facts: share(facts.in_time, facts.decided),
    ),
    Metric(
        key="decline_rate",
        label="Decline rate",
        unit="share",
        counts="declined claims, of all that were paid or declined.",
        leaves_out=f"{_REVERSED}.",
        basis="The instant of the decision, as days in Lagos.",
        better="less",
        compute=lambda facts: share(facts.declined, facts.decided),
    ),
    Metric(
        key="incurred",
        label="Incurred",
        unit="naira",
        counts="what was paid, and by how much the reserves of claims rose or fell.",
        leaves_out="costs of handling.",
        basis="The day of each payment and of each change of a reserve, in Lagos.",
        better="neither",
        compute=lambda facts: facts.paid_minor + facts.reserved_minor,
    ),
    Metric(
        key="severity",
        label="Average paid claim",
        unit="naira",
        counts="what was paid divided by the number of claims that stand paid: the severity.",
        leaves_out="offers that are not paid yet, costs of handling.",
        basis="The day of each payment, and the day a claim was last marked Paid, in Lagos.",
        better="neither",
        compute=lambda facts: average(facts.paid_minor, facts.paid),
    ),
    Metric(
        key="net_half",
        label="Our own time, median",
        unit="time",
        counts=f"the time within which half of the paid claims were paid. {_NET}",
        leaves_out="declined claims.",
        basis=_PAID,
        better="less",
        compute=lambda facts: facts.median_net_ms,
    ),
    Metric(
        key="net_most",
        label="Our own time, 9 in 10",
        unit="time",
        counts=f"the time within which nine in ten of the paid claims were paid. {_NET}",
        leaves_out="declined claims.",
        basis=_PAID,
        better="less",
        compute=lambda facts: facts.p90_net_ms,
    ),
    Metric(
        key="acknowledged",
        label="Lodged to viewed, median",
        unit="time",
        counts="the time within which half of the claims were opened by an officer, by the calendar.",
        leaves_out="claims that nobody has opened yet, or that were moved without being opened.",
        basis="The instant a claim was first viewed, as days in Lagos.",
        better="less",
        compute=lambda facts: facts.median_viewed_ms,
    ),
    Metric(
        key="first_decided",
        label="Lodged to decided, median",
        unit="time",
        counts="the time within which half of the claims were first approved or declined, by the calendar.",
        leaves_out="claims without a decision, and every decision after the first.",
        basis="The instant a claim was first Approved or Declined, as days in Lagos.",
        better="less",
        compute=lambda facts: facts.median_decided_ms,
    ),
    Metric(
        key="acceptance",
        label="Offers accepted",
        unit="share",
        counts="offers that claimants accepted, of those that they answered; each answer counts.",
        leaves_out="offers that are out.",
        basis="The instant of the answer, as days in Lagos.",
        compute=lambda facts: share(facts.accepted, facts.accepted + facts.rejected),
    ),
    Metric(
        key="overridden",
        label="Approved against a check",
        unit="count",
        counts="claims that were approved although a check of their cover was failed or unknown, with a reason.",
        leaves_out="approvals whose checks were all met.",
        basis="The instant of the approval, as days in Lagos; also where it was taken back later.",
        better="less",
        compute=lambda facts: facts.overridden,
    ),
)
OPEN_NOW: Metric[int] = Metric(
    key="open",
    label="Open now",
    unit="count",
    counts="claims that are neither paid nor declined.",
    leaves_out="deleted records; the other mode.",
    basis="This moment, whatever the period.",
    better="less",
    compute=lambda number: number,
)


NOT_DELETED: Final = col(Claim.deleted_at).is_(None)
IS_DECIDED: Final = col(Claim.claim_status).in_(sorted(DECIDED))
DECIDED_AT: Final = col(Claim.clock_stopped_at)
_DAY_MS: Final = 86_400_000
# A Lagos midnight before every record, so that day differences are never negative.
_EPOCH_DAY: Final = EARLIEST.toordinal()
_EPOCH: Final = clock.lagos_midnight(EARLIEST)
_ALLOWED_MS: Final = int(STATUTORY_PERIOD.total_seconds() * 1000)


class Decision(NamedTuple):
    """One decided claim, as plain numbers because there are thousands.

    The day is a Lagos day as a `date` ordinal; the times from lodging to the decision are in milliseconds, by
    calendar and net of pauses for the claimant; `officer` is the id as stored.
    """

    day_ordinal: int
    declined: int
    officer: object
    calendar_ms: int
    net_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimSummary:
    """Claim figures of a window and of its comparison window; `decisions` are those of the window."""

    window: Window
    compared: Comparison
    current: ClaimFacts
    previous: ClaimFacts
    lodged: Mapping[date, int]
    decisions: Sequence[Decision]

    def count_by_bucket(self, grain: Grain) -> tuple[list[date], list[int], list[int]]:
        """Return the buckets of the window, and the numbers lodged and decided in each."""
        when = list_buckets(self.window, grain)
        lodged: Counter[date] = Counter()
        for day in self.window.days:
            lodged[get_bucket_start(day, grain)] += self.lodged.get(day, 0)
        decided: Counter[date] = Counter()
        for day_number, number in Counter(decision.day_ordinal for decision in self.decisions).items():
            decided[get_bucket_start(date.fromordinal(day_number), grain)] += number
        return when, [lodged[day] for day in when], [decided[day] for day in when]


def build_summary(session: ScopedSession, window: Window, *, compared: Comparison | None = None) -> ClaimSummary:
    """Every figure of a window and of what it is compared with; one narrow statement reads the decisions of each."""
    compared = compared or windows.find_comparison(window)
    lodged, decisions = _lodged(session, window.span), _decisions(session, window.span)
    before, decided = _lodged(session, compared.span), _decisions(session, compared.span)
    return ClaimSummary(
        window=window,
        compared=compared,
        current=_facts(session, window.span, lodged, decisions),
        previous=_facts(session, compared.span, before, decided),
        lodged=lodged,
        decisions=decisions,
    )


def _facts(session: ScopedSession, span: Span, lodged: Mapping[date, int], decisions: Sequence[Decision]) -> ClaimFacts:
    paid = [decision for decision in decisions if not decision.declined]
    calendar, net = sorted(each.calendar_ms for each in paid), sorted(each.net_ms for each in paid)
    answers = _load_answers(session, span)
    overridden = sa.select(sa.func.count(sa.distinct(col(ClaimOverride.claim_id))))
    return ClaimFacts(
        lodged=sum(lodged.values()),
        paid=len(paid),
        declined=len(decisions) - len(paid),
        in_time=sum(decision.net_ms <= _ALLOWED_MS for decision in decisions),
        paid_minor=sum(sum_claims_paid_by_day(session, span, SalesFilter()).values()),
        median_ms=percentile(calendar, 50),
        p90_ms=percentile(calendar, 90),
        median_net_ms=percentile(net, 50),
        p90_net_ms=percentile(net, 90),
        median_viewed_ms=percentile(_load_delays(session, span, ClaimStatus.VIEWED), 50),
        median_decided_ms=percentile(_load_delays(session, span, ClaimStatus.APPROVED, ClaimStatus.DECLINED), 50),
        accepted=answers.get(ClaimStatus.OFFER_ACCEPTED, 0),
        rejected=answers.get(ClaimStatus.OFFER_REJECTED, 0),
        overridden=int(session.execute(overridden.where(*span.on(col(ClaimOverride.created_at)))).scalar_one()),
        reserved_minor=_sum_reserve_changes(session, span),
        outstanding_minor=_sum_reserve_changes(session, Span(end=span.end)),
    )


def _sum_reserve_changes(session: ScopedSession, span: Span) -> int:
    """Return in kobo by how much the reserves rose or fell."""
    query = sa.select(sa.func.sum(col(ClaimReserve.change_minor)))
    query = query.join(Claim, col(Claim.id) == col(ClaimReserve.claim_id))
    return int(session.execute(query.where(NOT_DELETED, *span.on(col(ClaimReserve.created_at)))).scalar_one() or 0)


def percentile(values: Sequence[int], percent: int) -> int | None:
    """Return the percentile of sorted values (nearest rank), None when there are none."""
    return values[-(-len(values) * percent // 100) - 1] if values else None


def _decisions(session: ScopedSession, span: Span) -> list[Decision]:
    query = sa.select(
        day_number(DECIDED_AT),
        sa.case((col(Claim.claim_status) == ClaimStatus.DECLINED, 1), else_=0),
        # Ids stay text: converting thousands of them to UUID takes longer than the rest of the query.
        sa.type_coerce(col(Claim.assigned_to), sa.String),
        milliseconds_between(col(Claim.created_at), DECIDED_AT),
        milliseconds_between(col(Claim.clock_from), DECIDED_AT),
    )
    rows = session.execute(query.where(IS_DECIDED, NOT_DELETED, *span.on(DECIDED_AT)))
    return [Decision._make(row) for row in rows]


def day_number(instant: Any) -> sa.ColumnElement[int]:
    """Return the Lagos day of an instant as an SQL expression of its `date` ordinal."""
    since = milliseconds_between(sa.literal(_EPOCH, UTCDateTime), instant)
    return sa.type_coerce(since // _DAY_MS + _EPOCH_DAY, sa.BigInteger)


def _lodged(session: ScopedSession, span: Span) -> dict[date, int]:
    day, at = lagos_day(col(Claim.created_at)), col(Claim.created_at)
    query = sa.select(day, sa.func.count()).where(NOT_DELETED, *span.on(at)).group_by(day)
    return {row[0]: row[1] for row in session.execute(query)}


def _load_answers(session: ScopedSession, span: Span) -> dict[str, int]:
    at, status = col(ClaimEvent.created_at), col(ClaimEvent.status)
    deleted = sa.select(col(Claim.id)).where(~NOT_DELETED)
    query = sa.select(status, sa.func.count()).where(
        status.in_((ClaimStatus.OFFER_ACCEPTED, ClaimStatus.OFFER_REJECTED))
    )
    rows = session.execute(query.where(col(ClaimEvent.claim_id).not_in(deleted), *span.on(at)).group_by(status))
    return {row[0]: row[1] for row in rows}


def _load_delays(session: ScopedSession, span: Span, *statuses: ClaimStatus) -> list[int]:
    """List the time from lodging until each claim first came to one of these statuses, in ms, shortest first."""
    at, earlier = col(ClaimEvent.created_at), orm.aliased(ClaimEvent)
    came_before = sa.exists().where(
        col(earlier.claim_id) == col(ClaimEvent.claim_id),
        col(earlier.status).in_(statuses),
        sa.tuple_(col(earlier.created_at), col(earlier.id)) < sa.tuple_(at, col(ClaimEvent.id)),
    )
    waited = milliseconds_between(col(Claim.created_at), at)
    query = sa.select(waited).select_from(ClaimEvent).join(Claim, col(Claim.id) == col(ClaimEvent.claim_id))
    query = query.where(col(ClaimEvent.status).in_(statuses), NOT_DELETED, *span.on(at), ~came_before)
    return sorted(session.execute(query).scalars())


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
    query = sa.select(reason, number).where(*_build_declined_conditions(window)).group_by(reason)
    query = query.order_by(number.desc(), reason)
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
    late = sa.func.sum(sa.case((claim_filter.build_stage_condition("overdue"), 1), else_=0))
    open_query = sa.select(holder, sa.func.count(), late).where(~IS_DECIDED, NOT_DELETED).group_by(holder)
    open_counts = {row[0]: (row[1], int(row[2])) for row in session.execute(open_query)}
    names = staff.get_names(session, {*net_times, *open_counts})
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
