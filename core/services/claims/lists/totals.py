"""Numbers and sums of the queue, from the roll-up of claims as far as it tells them apart (contract C9)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import date, datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.claims.lists import filter as claim_filter
from core.services.claims.lists.filter import NOBODY, VIEWS, ClaimFilter, Deadline, Stage, View, build_conditions
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import reserves as claim_reserves
from core.services.lists.filters.fields import Condition
from core.services.people.staff import Person
from core.states.claims import CLOSED, DECIDED, ClaimStatus
from core.store.access import Scope, ScopedSession
from core.store.expressions import sum_of
from core.store.schema import rollups
from core.store.schema.tables import Claim, ClaimPayment, ClaimReserve, ClaimTotal

_TOLD_APART: Final = frozenset({"view", "stage", "statuses", "assigned"})
_LOOKED_UP: Final[frozenset[Stage]] = frozenset({"referred", "lapsed"})
_DEADLINES: Final[tuple[Deadline, ...]] = ("near", "overdue")
_line_status, _officer = col(ClaimTotal.claim_status), col(ClaimTotal.assigned_to)
_is_open_line = _line_status.not_in(sorted(DECIDED))
_STAGE_LINES: Final[Mapping[Stage, Condition]] = {
    "open": _is_open_line,
    "unsettled": _line_status.not_in(sorted(CLOSED)),
    "to_pay": _line_status == ClaimStatus.OFFER_ACCEPTED,
    "waiting": sa.and_(_is_open_line, col(ClaimTotal.clock_day) == rollups.NOT_RUNNING),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueCounts:
    """Number of claims per view, how many of `near` are overdue, and the latest change of any claim."""

    views: Mapping[View, int]
    overdue: int
    changed_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueTotal:
    """Totals of a filter: numbers of claims and payments, and what is claimed, offered, paid and outstanding in kobo.

    Money that came back is a payment of its own.
    """

    count: int = 0
    claimed_minor: int = 0
    offered_minor: int = 0
    paid_minor: int = 0
    payments: int = 0
    outstanding_minor: int = 0

    @property
    def incurred_minor(self) -> int:
        """Paid plus outstanding reserve, in kobo."""
        return self.paid_minor + self.outstanding_minor

    def __add__(self, other: "QueueTotal") -> "QueueTotal":
        return QueueTotal(**{each.name: getattr(self, each.name) + getattr(other, each.name) for each in fields(self)})


def get_totals(session: ScopedSession, criteria: ClaimFilter) -> QueueTotal:
    """Return the whole of a selection, whatever page of it is shown."""
    total, rest = QueueTotal(), _build_rest(session.scope, criteria)
    if _is_in_rollup(session.scope, criteria):
        sums = (sa.func.sum(col(getattr(ClaimTotal, name))) for name in rollups.CLAIM_MEASURES)
        lines = sa.select(*sums).where(*_build_mode(session.scope), *_build_line_conditions(criteria))
        total = _build_total(session.execute(lines).one())
    return total if rest is None else total + _sum_claims(session, rest)


def count_views(session: ScopedSession, person: Person) -> QueueCounts:
    """Count the claims of every view for this person."""
    counted_filters: Any = {
        view: ClaimFilter(view=view, assigned=person.id if view == "mine" else None) for view in VIEWS
    }
    counted_filters |= {"overdue": ClaimFilter(stage="overdue")}
    counts = [
        _count_lines(criteria).label(name)
        for name, criteria in counted_filters.items()
        if _is_in_rollup(session.scope, criteria)
    ]
    lines = sa.select(*counts, sa.literal(0).label("none")).where(*_build_mode(session.scope))
    rests = {name: _build_rest(session.scope, criteria) for name, criteria in counted_filters.items()}
    number = sa.select(sa.func.count()).select_from(Claim)
    claims = [number.where(*rest).scalar_subquery().label(name) for name, rest in rests.items() if rest is not None]
    latest = sa.select(col(Claim.updated_at)).where(col(Claim.deleted_at).is_(None))
    latest = latest.order_by(col(Claim.updated_at).desc()).limit(1)
    rows = session.execute(sa.select(*claims, latest.scalar_subquery().label("changed_at"))).one()._asdict()
    changed_at = rows.pop("changed_at")
    found = Counter(rows) + Counter(session.execute(lines).one()._asdict() if counts else {})
    numbers = {name: int(found[name]) for name in (*VIEWS, "overdue")}
    return QueueCounts(views={view: numbers[view] for view in VIEWS}, overdue=numbers["overdue"], changed_at=changed_at)


def _is_in_rollup(scope: Scope, criteria: ClaimFilter) -> bool:
    used = {name for name, _, _ in criteria.in_use()}
    return scope.distributor_id is None and used <= _TOLD_APART and _LOOKED_UP.isdisjoint(_list_stages(criteria))


def _list_stages(criteria: ClaimFilter) -> set[Stage]:
    in_view = VIEWS[criteria.view] if criteria.view else None
    return {stage for stage in (in_view, criteria.stage) if stage}


def _build_rest(scope: Scope, criteria: ClaimFilter) -> list[Condition] | None:
    """Return the conditions of the claims that no line counts; None if every one is counted.

    Lines hold whole days of clocks: on the day in which a deadline falls, the claims themselves are looked at.
    """
    if not _is_in_rollup(scope, criteria):
        return build_conditions(criteria)
    day = _get_split_day(criteria)
    return None if day is None else [*build_conditions(criteria), col(Claim.clock_from) >= clock.midnight(day)]


def _get_split_day(criteria: ClaimFilter) -> date | None:
    stages = _list_stages(criteria)
    deadlines = (claim_filter.compute_latest_start(stage).date() for stage in _DEADLINES if stage in stages)
    return min(deadlines, default=None)


def _build_mode(scope: Scope) -> list[Condition]:
    return [] if scope.is_live is None else [col(ClaimTotal.is_live).is_(scope.is_live)]


def _build_line_conditions(criteria: ClaimFilter) -> list[Condition]:
    conditions = [_STAGE_LINES[stage] for stage in _list_stages(criteria) if stage in _STAGE_LINES]
    if criteria.statuses:
        conditions.append(_line_status.in_(criteria.statuses))
    if criteria.view == "unassigned":
        conditions.append(sa.or_(_officer == rollups.NOBODY, claim_filter.build_left_condition(_officer)))
    elif criteria.assigned:
        conditions.append(_officer == (rollups.NOBODY if criteria.assigned == NOBODY else criteria.assigned))
    day = _get_split_day(criteria)
    return conditions if day is None else [*conditions, col(ClaimTotal.clock_day) < day]


def _count_lines(criteria: ClaimFilter) -> Any:
    conditions = sa.and_(sa.true(), *_build_line_conditions(criteria))
    return sum_of(sa.case((conditions, col(ClaimTotal.claims)), else_=0))


def _sum_claims(session: ScopedSession, conditions: Sequence[Condition]) -> QueueTotal:
    # Matched once: what a search goes through is the most of its cost.
    matching = sa.select(col(Claim.id), col(Claim.claim_amount_minor), col(Claim.offer_amount_minor))
    claims = matching.where(*conditions).cte("matching").prefix_with("MATERIALIZED")
    paid = (sa.func.sum(claim_payments.AMOUNT), sa.func.count(claim_payments.AMOUNT))
    sums = (
        sa.select(sa.func.count(), sa.func.sum(claims.c.claim_amount_minor), sa.func.sum(claims.c.offer_amount_minor)),
        sa.select(*paid).where(col(ClaimPayment.claim_id).in_(sa.select(claims.c.id))),
        sa.select(sa.func.sum(claim_reserves.CHANGE)).where(col(ClaimReserve.claim_id).in_(sa.select(claims.c.id))),
    )
    parts = [query.subquery() for query in sums]
    joined = parts[0].join(parts[1], sa.true()).join(parts[2], sa.true())
    columns = (column for part in parts for column in part.c)
    return _build_total(session.execute(sa.select(*columns).select_from(joined)).one())


def _build_total(sums: Any) -> QueueTotal:
    names = (each.name for each in fields(QueueTotal))
    return QueueTotal(**{name: int(value or 0) for name, value in zip(names, sums, strict=True)})
