"""Location of a page of the API's purchases and the total count, from the daily roll-up instead of counting rows.

Rows are counted only where the roll-up cannot answer: filters by anything but the catalogue, and the hours by which a
span differs from Lagos days.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.lists.filters.declaration import parameterise
from core.services.lists.paging import Paging
from core.services.lists.windows import EARLIEST, LATEST, Span, Window
from core.services.sales.filter import SalesFilter, apply_criteria
from core.store.access import AnySelect, PendingRows, Query, QueryCache, ScopedSession
from core.store.schema.tables import DaybookLine

# An empty span, for a page past the end.
_EMPTY_SPAN = Span(clock.lagos_midnight(EARLIEST), clock.lagos_midnight(EARLIEST))
_HALF_A_DAY = timedelta(hours=12)
# Up to this many days, reading day lines is faster than month lines plus the days around them.
_MAX_DAY_LINES = 100


@dataclass(frozen=True, slots=True)
class PageLocation:
    """Location of a page: the time span that holds it, the rows to skip in that span, and the total count."""

    span: Span
    offset: int
    count: Callable[[], int]

    @property
    def total(self) -> int:
        """Total number of purchases; reads the pending result."""
        return self.count()


class _Stretch(NamedTuple):
    """Number of purchases sold in a day, a month, or a span of hours."""

    sold: int
    first_day: date
    grain: str = ""
    hours: Span | None = None

    @property
    def days(self) -> Window:
        """Its days, computed on demand because most stretches are only counted."""
        until = clock.add_months(self.first_day, 1) if self.grain == "month" else clock.add_days(self.first_day, 1)
        return Window(self.first_day, until)

    @property
    def span(self) -> Span:
        """Its span of instants."""
        return self.hours or self.days.span


def locate_page(session: ScopedSession, criteria: SalesFilter, paging: Paging) -> PageLocation:
    """Locate a page in the purchases of a filter, newest first.

    When the location needs no count, the total stays a pending query that can be sent together with the query of
    the page.
    """
    if not criteria.of_catalogue:
        pending = _submit_count(session, criteria)
        return PageLocation(criteria.created, paging.offset, lambda: int(pending.one[0]))
    load_stretches = _submit_stretches(session, criteria)
    if criteria == type(criteria)() and not paging.offset:
        return PageLocation(criteria.created, 0, lambda: _sum_sold(load_stretches()))
    stretches = load_stretches()
    total = _sum_sold(stretches)
    first, offset = _find_stretch(stretches, paging.offset)
    last, _ = _find_stretch(stretches, min(paging.offset + paging.limit, total) - 1)
    if first is None or last is None:
        return PageLocation(_EMPTY_SPAN, 0, lambda: total)
    if first.grain == "month" and offset:
        first, offset = _find_stretch(_read_lines(_submit_lines(session, criteria, "day", first.days), "day"), offset)
    end = first.span.end if first else None
    return PageLocation(criteria.created.within(Span(last.span.start, end)), offset, lambda: total)


def _sum_sold(stretches: Sequence[_Stretch]) -> int:
    return sum(stretch.sold for stretch in stretches)


def _find_stretch(stretches: Sequence[_Stretch], offset: int) -> tuple[_Stretch | None, int]:
    """Return the stretch that holds the row at an offset and the offset within it; None past the end."""
    for stretch in stretches:
        if offset < stretch.sold:
            return stretch, offset
        offset -= stretch.sold
    return None, offset


def _submit_stretches(session: ScopedSession, criteria: SalesFilter) -> Callable[[], list[_Stretch]]:
    """Submit the queries for a filter; the callable returned reads their stretches, newest first.

    Day and month lines of the roll-up, corrected at both ends of the span.
    """
    start, end = criteria.created.start, criteria.created.end
    window = Window(_get_nearest_day(start) if start else EARLIEST, _get_nearest_day(end) if end else LATEST)
    if window.length <= 0:
        pending = _submit_count(session, criteria)
        return lambda: [_Stretch(int(pending.one[0]), window.start, hours=criteria.created)]
    pending_lines = [
        (_submit_lines(session, criteria, grain, days), grain) for grain, days in _split_window(window, criteria)
    ]
    first, last = clock.lagos_midnight(window.start), clock.lagos_midnight(window.end)
    late = _EdgeCorrection(session, criteria, (end, last), is_outside_days=end > last) if end and end != last else None
    early = (
        _EdgeCorrection(session, criteria, (start, first), is_outside_days=start < first)
        if start and start != first
        else None
    )

    def load_stretches() -> list[_Stretch]:
        found = [stretch for page_rows, grain in pending_lines for stretch in _read_lines(page_rows, grain)]
        if late:
            late.apply_to(found, 0)
        if early:
            early.apply_to(found, len(found))
        return found

    return load_stretches


def _get_nearest_day(instant: datetime) -> date:
    """Return the Lagos day whose midnight is nearest."""
    return clock.to_lagos_day(instant + _HALF_A_DAY)


def _split_window(window: Window, criteria: SalesFilter) -> Iterator[tuple[str, Window]]:
    """Yield the roll-up lines to read, newest first; a day that may need correction is never part of a month."""
    start, end = (int(side is not None) for side in (criteria.created.start, criteria.created.end))
    inside = Window(clock.add_days(window.start, start), clock.add_days(window.end, -end))
    months = inside.whole_months if window.length > _MAX_DAY_LINES else None
    if months is None:
        yield "day", window
        return
    after, before = Window(months.end, window.end), Window(window.start, months.start)
    for grain, days in (("day", after), ("month", months), ("day", before)):
        if days.length:
            yield grain, days


def _submit_lines(session: ScopedSession, criteria: SalesFilter, grain: str, days: Window) -> PendingRows:
    anytime = criteria.anytime()
    values = {**parameterise(anytime).values, "grain": grain, "first": days.start, "after": days.end}
    return get_lines_query(anytime).submit(session, **values)


def _read_lines(pending: PendingRows, grain: str) -> list[_Stretch]:
    return [_Stretch(int(sold), day, grain) for day, sold in pending.rows]


def get_lines_query(criteria: SalesFilter) -> Query:
    """Return the compiled query of the roll-up lines; filters that differ in their values only share one."""
    parameterised = parameterise(criteria)
    return _LINE_QUERIES.get(parameterised.key, parameterised.criteria)


def _build_lines_query(criteria: SalesFilter) -> AnySelect:
    day = col(DaybookLine.day)
    return (
        sa.select(day, sa.cast(sa.func.sum(col(DaybookLine.sold)), sa.BigInteger))
        .where(
            col(DaybookLine.grain) == sa.bindparam("grain", type_=sa.String()),
            day >= sa.bindparam("first", type_=sa.Date()),
            day < sa.bindparam("after", type_=sa.Date()),
            *criteria.product_conditions(DaybookLine),
        )
        .group_by(day)
        .order_by(day.desc())
    )


class _EdgeCorrection:
    """Correction for the rows between an end of the span and the nearest Lagos midnight."""

    def __init__(
        self, session: ScopedSession, criteria: SalesFilter, ends: tuple[datetime, datetime], *, is_outside_days: bool
    ) -> None:
        self._hours, self._is_outside_days = Span(*sorted(ends)), is_outside_days
        self._pending = _submit_count(session, replace(criteria, created=self._hours))

    def apply_to(self, stretches: list[_Stretch], position: int) -> None:
        """Add the rows as a stretch of their own, or subtract them from their day's line."""
        number = int(self._pending.one[0])
        if self._is_outside_days:
            stretches.insert(position, _Stretch(number, EARLIEST, hours=self._hours))
        elif number:
            at = 0 if position == 0 else -1
            stretches[at] = stretches[at]._replace(sold=stretches[at].sold - number)


def _submit_count(session: ScopedSession, criteria: SalesFilter) -> PendingRows:
    parameterised = parameterise(criteria)
    return _COUNT_QUERIES.get(parameterised.key, parameterised.criteria).submit(session, **parameterised.values)


_LINE_QUERIES = QueryCache(_build_lines_query)
_COUNT_QUERIES = QueryCache(lambda criteria: apply_criteria(sa.select(sa.func.count()), criteria))
