"""Terms of cover per day: policies in force, terms ended and terms renewed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.sales import day_totals
from core.services.sales.filter import SalesFilter
from core.services.windows import EARLIEST, Span, Window
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import lagos_day
from core.store.schema.sales import UNUSUAL
from core.store.schema.tables import DayTotal, Policy, Product, Renewal

_ends, _cancelled, _declined = col(Policy.expiration_at), col(Policy.cancelled_at), col(Policy.declined_at)
_stopped = sa.case((_cancelled.is_(None), _declined), (_declined < _cancelled, _declined), else_=_cancelled)
_lapse, _return = col(Renewal.previous_expiration_at), col(Renewal.start_at)
_active = col(Policy.activated).is_(True)
_renewable = sa.select(col(Product.id)).where(col(Product.renewable).is_(True))


class DailyTerms(NamedTuple):
    """One day: policies in force at its end, terms of renewable products that ended on it, and those renewed."""

    in_force: int
    ended: int
    renewed: int


def compute_by_day(
    session: ScopedSession, window: Window, criteria: SalesFilter, sold: Mapping[date, int]
) -> dict[date, DailyTerms]:
    """Return the terms of every day of a window; `sold` is the number of policies sold per day.

    A policy is in force from its sale until it expires, is cancelled or declined; never while it awaits its
    insurer, nor between two terms when it was renewed late (contract S11). A term counts as renewed on the day it
    ended, whenever the renewal was bought; terms cancelled before their end and future terms do not count.
    """
    if day_totals.can_answer(session.scope, criteria):
        return _read_day_totals(session, window)
    ended, renewed, change = (
        _count_ended(session, window.span, criteria),
        _count_renewed(session, window.span, criteria),
        Counter(sold),
    )
    for query, sign in _build_change_queries(window.span, criteria):
        for day, number in session.execute(query):
            change[day] += sign * number
    in_force, terms_by_day = _count_in_force_at_start(session, window.span, criteria), {}
    for day in window.days:
        in_force += change[day] - ended[day, True] - ended[day, False]
        over = day <= clock.today()
        terms = ended[day, True] + renewed[day] if over else 0
        terms_by_day[day] = DailyTerms(in_force, terms, renewed[day] if over else 0)
    return terms_by_day


def count_ended_by_day(session: ScopedSession, window: Window, criteria: SalesFilter) -> dict[date, tuple[int, int]]:
    """Return the terms of renewable products that ended on each day of a window, and those of them renewed."""
    if day_totals.can_answer(session.scope, criteria):
        return {day: (terms.ended, terms.renewed) for day, terms in _read_day_totals(session, window).items()}
    lapsed, renewed = _count_ended(session, window.span, criteria), _count_renewed(session, window.span, criteria)
    today = clock.today()
    return {day: (lapsed[day, True] + renewed[day], renewed[day]) for day in window.days if day <= today}


def _read_day_totals(session: ScopedSession, window: Window) -> dict[date, DailyTerms]:
    before, in_force_sum = Window(EARLIEST, window.start), sa.func.sum(col(DayTotal.in_force_change))
    in_force = int(
        session.execute(sa.select(in_force_sum).where(*day_totals.build_conditions(session.scope, before))).scalar()
        or 0
    )
    sums = (in_force_sum, sa.func.sum(col(DayTotal.terms_ended)), sa.func.sum(col(DayTotal.terms_renewed)))
    query = sa.select(col(DayTotal.day), *sums).where(*day_totals.build_conditions(session.scope, window))
    lines = {day: tuple(map(int, rest)) for day, *rest in session.execute(query.group_by(col(DayTotal.day)))}
    terms_by_day, today = {}, clock.today()
    for day in window.days:
        change, ended, renewed = lines.get(day, (0, 0, 0))
        in_force += change
        terms_by_day[day] = (
            DailyTerms(in_force, ended + renewed, renewed) if day <= today else DailyTerms(in_force, 0, 0)
        )
    return terms_by_day


def _count_in_force_at_start(session: ScopedSession, span: Span, criteria: SalesFilter) -> int:
    start, conditions = span.start, build_policy_conditions(criteria)
    sold = [*conditions, col(Policy.created_at) < start]
    stopped = sa.or_(~_active, _cancelled < start, _declined < start)
    # Most policies are ordinary: counting all and subtracting the few exceptions reads the fewest rows.
    unexpired = sa.select(sa.func.count()).where(*sold, _ends >= start)
    never_ending = sa.select(sa.func.count()).where(*sold, _ends.is_(None), sa.not_(sa.func.coalesce(stopped, False)))
    lapsed = sa.select(sa.func.count()).where(*_build_renewal_conditions(criteria), _lapse < start, _return >= start)
    counted = (
        (unexpired, 1),
        (unexpired.where(sa.text(UNUSUAL), stopped), -1),
        (never_ending, 1),
        (lapsed, -1),
    )
    return sum(sign * int(session.execute(query).scalar_one()) for query, sign in counted)


def _count_ended(session: ScopedSession, span: Span, criteria: SalesFilter) -> Counter[tuple[date, bool]]:
    """Count terms that ran to their end, by day and by whether the product is renewable."""
    day, renewable = lagos_day(_ends), col(Policy.product_id).in_(_renewable)
    unbroken = (sa.or_(instant.is_(None), instant >= _ends) for instant in (_cancelled, _declined))
    query = sa.select(day, renewable, sa.func.count()).where(
        *build_policy_conditions(criteria), _active, *span.on(_ends), *unbroken
    )
    return Counter({(day, bool(can)): number for day, can, number in session.execute(query.group_by(day, renewable))})


def _count_renewed(session: ScopedSession, span: Span, criteria: SalesFilter) -> Counter[date]:
    """Count ended terms that have a renewal, by the day they ended."""
    query = _count_by_day(
        _lapse, *_build_renewal_conditions(criteria), *span.on(_lapse), col(Renewal.product_id).in_(_renewable)
    )
    return Counter(dict(iter(session.execute(query))))


def _build_change_queries(span: Span, criteria: SalesFilter) -> Iterator[tuple[AnySelect, int]]:
    """Yield queries of the other daily changes: never activated (-1), ended early (-1), lapsed (-1), resumed (+1)."""
    unusual, created = sa.text(UNUSUAL), col(Policy.created_at)
    yield _count_by_day(created, *build_policy_conditions(criteria), unusual, ~_active, *span.on(created)), -1
    early = sa.or_(_ends.is_(None), _stopped < _ends)
    yield _count_by_day(_stopped, *build_policy_conditions(criteria), unusual, _active, *span.on(_stopped), early), -1
    yield _count_by_day(_lapse, *_build_renewal_conditions(criteria), _return > _lapse, *span.on(_lapse)), -1
    yield _count_by_day(_return, *_build_renewal_conditions(criteria), _return > _lapse, *span.on(_return)), 1


def _count_by_day(instant: object, *conditions: Any) -> AnySelect:
    day = lagos_day(instant)
    return sa.select(day, sa.func.count()).where(*conditions).group_by(day)


def build_policy_conditions(criteria: SalesFilter) -> list[Any]:
    """Return the conditions on the policies of a filter, ignoring the time of sale."""
    not_deleted = col(Policy.deleted_at).is_(None)
    if criteria.of_catalogue:
        return [*criteria.product_conditions(Policy), not_deleted]
    return [*criteria.anytime().conditions(Policy), not_deleted]


def _build_renewal_conditions(criteria: SalesFilter) -> list[Any]:
    is_effective = [col(Renewal.status).is_(True), col(Renewal.deleted_at).is_(None)]
    if criteria.of_catalogue:
        return [*criteria.product_conditions(Renewal), *is_effective]
    return [
        col(Renewal.policy_id).in_(sa.select(col(Policy.id)).where(*build_policy_conditions(criteria))),
        *is_effective,
    ]
