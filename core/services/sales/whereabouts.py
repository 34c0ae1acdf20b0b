"""Where a page of purchases lies, and how many there are in all: told by the daybook, so that rows are not counted.

What the daybook cannot tell is counted in the rows: filters by other things than the catalogue, and the hours by
which a span of UTC days is off the days of Lagos.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import date, datetime, timedelta
from typing import NamedTuple

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services import filters
from core.services.filters import SalesFilter, Span
from core.services.paging import Paging
from core.services.sales.sale_conditions import conditions_of, matching
from core.services.windows import EARLIEST, LATEST, Window
from core.store.prepared import Prepared, PreparedByShape
from core.store.scope import AnySelect, ScopedSession
from core.store.tables import DaybookLine

_HALF_A_DAY = timedelta(hours=12)
# So many days are read sooner than the months between and the days around them.
_FEW_DAYS = 100


class Place(NamedTuple):
    """How many there are, the stretch of time that holds the page, and how many of the stretch come before it."""

    total: int
    span: Span
    offset: int


class _Stretch(NamedTuple):
    """How many were sold from a day on, for a day or for a month; or in some hours beside those."""

    sold: int
    since: date
    grain: str = ""
    hours: Span | None = None

    @property
    def days(self) -> Window:
        """Its days: most stretches are only counted, so that they are not told before somebody asks."""
        until = clock.add_months(self.since, 1) if self.grain == "month" else clock.add_days(self.since, 1)
        return Window(self.since, until)

    @property
    def span(self) -> Span:
        """Its instants."""
        return self.hours or self.days.span


def place(session: ScopedSession, wanted: SalesFilter, paging: Paging) -> Place:
    """The place of a page in the purchases of a filter, newest first."""
    if not wanted.of_catalogue:
        return Place(_counted(session, wanted), wanted.created, paging.offset)
    stretches = list(_stretches(session, wanted))
    total = sum(stretch.sold for stretch in stretches)
    first, offset = _reached(stretches, paging.offset)
    last, _ = _reached(stretches, min(paging.offset + paging.limit, total) - 1)
    if first is None or last is None:
        return Place(total, wanted.created, paging.offset)
    if first.grain == "month" and offset:
        first, offset = _reached(_lines(session, wanted, "day", first.days), offset)
    end = first.span.end if first else None
    return Place(total, Span(last.span.start, end), offset)


def _reached(stretches: Sequence[_Stretch], offset: int) -> tuple[_Stretch | None, int]:
    """The stretch that holds the row after so many, and how many of its own come before it; none past the end."""
    for stretch in stretches:
        if offset < stretch.sold:
            return stretch, offset
        offset -= stretch.sold
    return None, offset


def _stretches(session: ScopedSession, wanted: SalesFilter) -> list[_Stretch]:
    """All that a filter matches, newest first: days and months of the daybook, put right at both ends."""
    start, end = wanted.created.start, wanted.created.end
    window = Window(_nearest(start) if start else EARLIEST, _nearest(end) if end else LATEST)
    if window.length <= 0:
        return [_Stretch(_counted(session, wanted), window.start, hours=wanted.created)]
    found = [line for grain, days in _parts(window, wanted) for line in _lines(session, wanted, grain, days)]
    first, last = clock.lagos_midnight(window.start), clock.lagos_midnight(window.end)
    if end and end != last:
        _put_right(session, wanted, found, 0, Span(*sorted((end, last))), beyond=end > last)
    if start and start != first:
        _put_right(session, wanted, found, len(found), Span(*sorted((start, first))), beyond=start < first)
    return found


def _nearest(instant: datetime) -> date:
    """The Lagos day whose start is nearest."""
    return clock.lagos_day(instant + _HALF_A_DAY)


def _parts(window: Window, wanted: SalesFilter) -> Iterator[tuple[str, Window]]:
    """The lines to read, newest first; the days at an end that may have to be put right are never in a month."""
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


def _lines(session: ScopedSession, wanted: SalesFilter, grain: str, days: Window) -> list[_Stretch]:
    anytime = replace(wanted, created=Span())
    values = {**filters.marked(anytime).values, "grain": grain, "first": days.start, "after": days.end}
    rows = lines_of(anytime).rows(session, **values)
    return [_Stretch(int(sold), day, grain) for day, sold in rows]


def lines_of(wanted: SalesFilter) -> Prepared:
    """The statement of the daybook's lines; filters that differ in their values alone share one."""
    asked = filters.marked(wanted)
    return _LINES.of(asked.shape, asked.wanted)


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


def _put_right(
    session: ScopedSession, wanted: SalesFilter, found: list[_Stretch], place: int, edge: Span, *, beyond: bool
) -> None:
    """Count the rows between the end of a span and the nearest midnight: in, or out of their day's line."""
    number = _counted(session, replace(wanted, created=edge))
    if beyond:
        found.insert(place, _Stretch(number, EARLIEST, hours=edge))
    elif number:
        at = 0 if place == 0 else -1
        found[at] = found[at]._replace(sold=found[at].sold - number)


def _counted(session: ScopedSession, wanted: SalesFilter) -> int:
    asked = filters.marked(wanted)
    return int(_COUNTS.of(asked.shape, asked.wanted).one(session, **asked.values)[0])


def _of_count(wanted: SalesFilter) -> AnySelect:
    return matching(sa.select(sa.func.count()), wanted, conditions_of(wanted))


_LINES, _COUNTS = PreparedByShape(_of_lines), PreparedByShape(_of_count)
