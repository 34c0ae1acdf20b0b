"""The figures on claims for a window and what it is compared with: the facts behind every metric of claim_metrics."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col
from sqlmodel.sql.sqltypes import UTCDateTime

from core import clock
from core.services.claims.reports.metrics import ClaimFacts
from core.services.claims.workflow.clock import STATUTORY_PERIOD
from core.services.lists import windows
from core.services.lists.windows import EARLIEST, Comparison, Span, Window
from core.services.sales.breakdowns import Grain, get_bucket_start, list_buckets
from core.services.sales.figures import sum_claims_paid_by_day
from core.services.sales.filter import SalesFilter
from core.states.claims import DECIDED, ClaimStatus
from core.store.access import ScopedSession
from core.store.expressions import lagos_day, milliseconds_between
from core.store.schema.tables import Claim, ClaimEvent, ClaimOverride, ClaimReserve

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
        overridden=_count_overridden(session, span),
        reserved_minor=_sum_reserve_changes(session, span),
        outstanding_minor=_sum_reserve_changes(session, Span(end=span.end)),
    )


def _sum_reserve_changes(session: ScopedSession, span: Span) -> int:
    """Return in kobo by how much the reserves rose or fell."""
    query = sa.select(sa.func.sum(col(ClaimReserve.change_minor)))
    query = query.join(Claim, col(Claim.id) == col(ClaimReserve.claim_id))
    return int(session.execute(query.where(NOT_DELETED, *span.on(col(ClaimReserve.created_at)))).scalar_one() or 0)


def _count_overridden(session: ScopedSession, span: Span) -> int:
    """Return the number of claims that were approved against a check."""
    query = sa.select(sa.func.count(sa.distinct(col(ClaimOverride.claim_id))))
    return int(session.execute(query.where(*span.on(col(ClaimOverride.created_at)))).scalar_one())


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
    """Count accepted and rejected offers."""
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
