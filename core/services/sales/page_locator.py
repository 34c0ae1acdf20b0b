"""Location of a page of purchases and the total count, from the daily roll-up instead of counting rows.

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
from core.services import filters
from core.services.filters import SalesFilter, Span
from core.services.paging import Paging
from core.services.sales.conditions import conditions_of, matching
from core.services.windows import EARLIEST, LATEST, Window
from core.store.access.compiled_query import CompiledQueries, CompiledQuery, PendingRows
from core.store.access.scope import AnySelect, ScopedSession
from core.store.schema.tables import DaybookLine

_EVERYTHING = SalesFilter()
# An empty span, for a page past the end.
_NEVER = Span(clock.lagos_midnight(EARLIEST), clock.lagos_midnight(EARLIEST))
_HALF_A_DAY = timedelta(hours=12)
# Up to this many days, reading day lines is faster than month lines plus the days around them.
_FEW_DAYS = 100


@dataclass(frozen=True, slots=True)
class Place:
    """Location of a page: the time span that holds it, the rows to skip in that span, and the total count."""

    span: Span
    offset: int
    counted: Callable[[], int]

    @property
    def total(self) -> int:
        """Total number of purchases; reads the pending result."""
        return self.counted()


class _Stretch(NamedTuple):
    """Number of purchases sold in a day, a month, or a span of hours."""

    sold: int
    since: date
    grain: str = ""
    hours: Span | None = None

    @property
    def days(self) -> Window:
        """Its days, computed on demand because most stretches are only counted."""
        until = clock.add_months(self.since, 1) if self.grain == "month" else clock.add_days(self.since, 1)
        return Window(self.since, until)

    @property
    def span(self) -> Span:
        """Its span of instants."""
        return self.hours or self.days.span


def place(session: ScopedSession, wanted: SalesFilter, paging: Paging) -> Place:
    """Locate a page in the purchases of a filter, newest first.

    When the location needs no count, the total stays a pending query that can be sent together with the query of
    the page.
    """
    if not wanted.of_catalogue:
        asked = _asked_count(session, wanted)
        return Place(wanted.created, paging.offset, lambda: int(asked.one[0]))
    told = _told(session, wanted)
    if wanted == _EVERYTHING and not paging.offset:
        return Place(wanted.created, 0, lambda: _sold(told()))
    stretches = told()
    total = _sold(stretches)
    first, offset = _reached(stretches, paging.offset)
    last, _ = _reached(stretches, min(paging.offset + paging.limit, total) - 1)
    if first is None or last is None:
        return Place(_NEVER, 0, lambda: total)
    if first.grain == "month" and offset:
        first, offset = _reached(_lines(_asked_lines(session, wanted, "day", first.days), "day"), offset)
    end = first.span.end if first else None
    return Place(wanted.created.within(Span(last.span.start, end)), offset, lambda: total)


def _sold(stretches: Sequence[_Stretch]) -> int:
    return sum(stretch.sold for stretch in stretches)


def _reached(stretches: Sequence[_Stretch], offset: int) -> tuple[_Stretch | None, int]:
    """Return the stretch that holds the row at an offset and the offset within it; None past the end."""
    for stretch in stretches:
        if offset < stretch.sold:
            return stretch, offset
        offset -= stretch.sold
    return None, offset


def _told(session: ScopedSession, wanted: SalesFilter) -> Callable[[], list[_Stretch]]:
    """Submit the queries for a filter; the callable returned reads their stretches, newest first.

    Day and month lines of the roll-up, corrected at both ends of the span.
    """
    start, end = wanted.created.start, wanted.created.end
    window = Window(_nearest(start) if start else EARLIEST, _nearest(end) if end else LATEST)
    if window.length <= 0:
        asked = _asked_count(session, wanted)
        return lambda: [_Stretch(int(asked.one[0]), window.start, hours=wanted.created)]
    lines = [(_asked_lines(session, wanted, grain, days), grain) for grain, days in _parts(window, wanted)]
    first, last = clock.lagos_midnight(window.start), clock.lagos_midnight(window.end)
    late = _Edge(session, wanted, (end, last), beyond=end > last) if end and end != last else None
    early = _Edge(session, wanted, (start, first), beyond=start < first) if start and start != first else None

    def told() -> list[_Stretch]:
        found = [stretch for asked, grain in lines for stretch in _lines(asked, grain)]
        if late:
            late.put_right(found, 0)
        if early:
            early.put_right(found, len(found))
        return found

    return told


def _nearest(instant: datetime) -> date:
    """Return the Lagos day whose midnight is nearest."""
    return clock.lagos_day(instant + _HALF_A_DAY)


def _parts(window: Window, wanted: SalesFilter) -> Iterator[tuple[str, Window]]:
    """Yield the roll-up lines to read, newest first; a day that may need correction is never part of a month."""
    start, end = (int(side is not None) for side in (wanted.created.start, wanted.created.end))
    inside = Window(clock.add_days(window.start, start), clock.add_days(window.end, -end))
    months = inside.whole_months if window.length > _FEW_DAYS else None
    if months is None:
        yield "day", window
        return
    after, before = Window(months.end, window.end), Window(window.start, months.start)
    for grain, days in (("day", after), ("month", months), ("day", before)):
        if days.length:
            yield grain, days


def _asked_lines(session: ScopedSession, wanted: SalesFilter, grain: str, days: Window) -> PendingRows:
    anytime = replace(wanted, created=Span())
    values = {**filters.marked(anytime).values, "grain": grain, "first": days.start, "after": days.end}
    return lines_of(anytime).submit(session, **values)


def _lines(asked: PendingRows, grain: str) -> list[_Stretch]:
    return [_Stretch(int(sold), day, grain) for day, sold in asked.rows]


def lines_of(wanted: SalesFilter) -> CompiledQuery:
    """Return the compiled query of the roll-up lines; filters that differ in their values only share one."""
    asked = filters.marked(wanted)
    return _LINES.get(asked.shape, asked.wanted)


def _of_lines(wanted: SalesFilter) -> AnySelect:
    day = col(DaybookLine.day)
    return (
        sa.select(day, sa.cast(sa.func.sum(col(DaybookLine.sold)), sa.BigInteger))
        .where(
            col(DaybookLine.grain) == sa.bindparam("grain", type_=sa.String()),
            day >= sa.bindparam("first", type_=sa.Date()),
            day < sa.bindparam("after", type_=sa.Date()),
            *filters.on_catalogue(wanted, DaybookLine),
        )
        .group_by(day)
        .order_by(day.desc())
    )


class _Edge:
    """Correction for the rows between an end of the span and the nearest Lagos midnight."""

    def __init__(
        self, session: ScopedSession, wanted: SalesFilter, ends: tuple[datetime, datetime], *, beyond: bool
    ) -> None:
        self._hours, self._beyond = Span(*sorted(ends)), beyond
        self._asked = _asked_count(session, replace(wanted, created=self._hours))

    def put_right(self, found: list[_Stretch], place: int) -> None:
        """Add the rows as a stretch of their own, or subtract them from their day's line."""
        number = int(self._asked.one[0])
        if self._beyond:
            found.insert(place, _Stretch(number, EARLIEST, hours=self._hours))
        elif number:
            at = 0 if place == 0 else -1
            found[at] = found[at]._replace(sold=found[at].sold - number)


def _asked_count(session: ScopedSession, wanted: SalesFilter) -> PendingRows:
    asked = filters.marked(wanted)
    return _COUNTS.get(asked.shape, asked.wanted).submit(session, **asked.values)


def _of_count(wanted: SalesFilter) -> AnySelect:
    return matching(sa.select(sa.func.count()), wanted, conditions_of(wanted))


_LINES, _COUNTS = CompiledQueries(_of_lines), CompiledQueries(_of_count)
