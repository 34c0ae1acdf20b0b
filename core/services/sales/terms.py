"""Terms of cover per day: policies in force, terms ended and terms renewed."""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import replace
from datetime import date
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services import filters
from core.services.filters import SalesFilter, Span
from core.services.sales import day_totals
from core.services.windows import EARLIEST, Window
from core.store.access.scope import AnySelect, ScopedSession
from core.store.expressions import lagos_day
from core.store.schema.sales import UNUSUAL
from core.store.schema.tables import DayTotal, Policy, Product, Renewal

_ends, _cancelled, _declined = col(Policy.expiration_at), col(Policy.cancelled_at), col(Policy.declined_at)
_stopped = sa.case((_cancelled.is_(None), _declined), (_declined < _cancelled, _declined), else_=_cancelled)
_lapse, _return = col(Renewal.previous_expiration_at), col(Renewal.start_at)
_active = col(Policy.activated).is_(True)
_renewable = sa.select(col(Product.id)).where(col(Product.renewable).is_(True))


class Terms(NamedTuple):
    """One day: policies in force at its end, terms of renewable products that ended on it, and those renewed."""

    in_force: int
    ended: int
    renewed: int


def by_day(session: ScopedSession, window: Window, wanted: SalesFilter, sold: Mapping[date, int]) -> dict[date, Terms]:
    """Return the terms of every day of a window; `sold` is the number of policies sold per day.

    A policy is in force from its sale until it expires, is cancelled or declined; never while it awaits its
    insurer, nor between two terms when it was renewed late (contract S11). A term counts as renewed on the day it
    ended, whenever the renewal was bought; terms cancelled before their end and future terms do not count.
    """
    if day_totals.tell(session.scope, wanted):
        return _in_totals(session, window)
    ended, renewed, change = _ended(session, window.span, wanted), _renewed(session, window.span, wanted), Counter(sold)
    for query, sign in _changes(window.span, wanted):
        for day, number in session.execute(query):
            change[day] += sign * number
    in_force, found = _held_at_start(session, window.span, wanted), {}
    for day in window.days:
        in_force += change[day] - ended[day, True] - ended[day, False]
        over = day <= clock.today()
        terms = ended[day, True] + renewed[day] if over else 0
        found[day] = Terms(in_force, terms, renewed[day] if over else 0)
    return found


def _in_totals(session: ScopedSession, window: Window) -> dict[date, Terms]:
    before, held = Window(EARLIEST, window.start), sa.func.sum(col(DayTotal.in_force_change))
    in_force = int(session.execute(sa.select(held).where(*day_totals.of(session.scope, before))).scalar() or 0)
    sums = (held, sa.func.sum(col(DayTotal.terms_ended)), sa.func.sum(col(DayTotal.terms_renewed)))
    query = sa.select(col(DayTotal.day), *sums).where(*day_totals.of(session.scope, window))
    lines = {day: tuple(map(int, rest)) for day, *rest in session.execute(query.group_by(col(DayTotal.day)))}
    found, today = {}, clock.today()
    for day in window.days:
        change, ended, renewed = lines.get(day, (0, 0, 0))
        in_force += change
        found[day] = Terms(in_force, ended + renewed, renewed) if day <= today else Terms(in_force, 0, 0)
    return found


def _held_at_start(session: ScopedSession, span: Span, wanted: SalesFilter) -> int:
    start, known = span.start, policies(wanted)
    sold = [*known, col(Policy.created_at) < start]
    stopped = sa.or_(~_active, _cancelled < start, _declined < start)
    # Most policies are ordinary: counting all and subtracting the few exceptions reads the fewest rows.
    unexpired = sa.select(sa.func.count()).where(*sold, _ends >= start)
    never_ending = sa.select(sa.func.count()).where(*sold, _ends.is_(None), sa.not_(sa.func.coalesce(stopped, False)))
    lapsed = sa.select(sa.func.count()).where(*_renewals(wanted), _lapse < start, _return >= start)
    counted = (
        (unexpired, 1),
        (unexpired.where(sa.text(UNUSUAL), stopped), -1),
        (never_ending, 1),
        (lapsed, -1),
    )
    return sum(sign * int(session.execute(query).scalar_one()) for query, sign in counted)


def _ended(session: ScopedSession, span: Span, wanted: SalesFilter) -> Counter[tuple[date, bool]]:
    """Count terms that ran to their end, by day and by whether the product is renewable."""
    day, renewable = lagos_day(_ends), col(Policy.product_id).in_(_renewable)
    unbroken = (sa.or_(instant.is_(None), instant >= _ends) for instant in (_cancelled, _declined))
    query = sa.select(day, renewable, sa.func.count()).where(*policies(wanted), _active, *span.on(_ends), *unbroken)
    return Counter({(day, bool(can)): number for day, can, number in session.execute(query.group_by(day, renewable))})


def _renewed(session: ScopedSession, span: Span, wanted: SalesFilter) -> Counter[date]:
    """Count ended terms that have a renewal, by the day they ended."""
    query = _count_by_day(_lapse, *_renewals(wanted), *span.on(_lapse), col(Renewal.product_id).in_(_renewable))
    return Counter(dict(iter(session.execute(query))))


def _changes(span: Span, wanted: SalesFilter) -> Iterator[tuple[AnySelect, int]]:
    """Yield queries of the other daily changes: never activated (-1), ended early (-1), lapsed (-1), resumed (+1)."""
    unusual, created = sa.text(UNUSUAL), col(Policy.created_at)
    yield _count_by_day(created, *policies(wanted), unusual, ~_active, *span.on(created)), -1
    early = sa.or_(_ends.is_(None), _stopped < _ends)
    yield _count_by_day(_stopped, *policies(wanted), unusual, _active, *span.on(_stopped), early), -1
    yield _count_by_day(_lapse, *_renewals(wanted), _return > _lapse, *span.on(_lapse)), -1
    yield _count_by_day(_return, *_renewals(wanted), _return > _lapse, *span.on(_return)), 1


def _count_by_day(instant: Any, *conditions: Any) -> AnySelect:
    day = lagos_day(instant)
    return sa.select(day, sa.func.count()).where(*conditions).group_by(day)


def policies(wanted: SalesFilter) -> list[Any]:
    """Return the conditions on the policies of a filter, ignoring the time of sale."""
    kept, anytime = col(Policy.deleted_at).is_(None), replace(wanted, created=Span())
    if wanted.of_catalogue:
        return [*filters.on_catalogue(anytime, Policy), kept]
    return [*filters.on_record(anytime, Policy), *filters.on_policy(anytime), kept]


def _renewals(wanted: SalesFilter) -> list[Any]:
    took_effect = [col(Renewal.status).is_(True), col(Renewal.deleted_at).is_(None)]
    if wanted.of_catalogue:
        return [*filters.on_catalogue(wanted, Renewal), *took_effect]
    return [col(Renewal.policy_id).in_(sa.select(col(Policy.id)).where(*policies(wanted))), *took_effect]
