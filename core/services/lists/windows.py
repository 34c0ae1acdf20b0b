"""Spans of instants and windows of whole days in Lagos, both half-open, and the window that one is compared with."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any

import sqlalchemy as sa

from core import clock
from core.errors import InvalidInput
from core.store.access import ScopedSession

# No sale lies outside these days; they replace an open side.
EARLIEST, LATEST = date(2000, 1, 1), date(2200, 1, 1)


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open interval of instants, `start` included and `end` excluded; None leaves a side open."""

    start: datetime | None = None
    end: datetime | None = None

    @property
    def ends(self) -> tuple[datetime | None, datetime | None]:
        """Start and end."""
        return self.start, self.end

    def on(self, column: Any) -> list[sa.ColumnElement[bool]]:
        """Return the conditions that `column` lies within the span."""
        conditions = []
        if self.start is not None:
            conditions.append(column >= self.start)
        if self.end is not None:
            conditions.append(column < self.end)
        return conditions

    def within(self, other: "Span") -> "Span":
        """Return the intersection of two spans."""
        starts = [at for at in (self.start, other.start) if at is not None]
        ends = [at for at in (self.end, other.end) if at is not None]
        return Span(max(starts, default=None), min(ends, default=None))

    def __bool__(self) -> bool:
        return self.start is not None or self.end is not None


@dataclass(frozen=True, slots=True)
class Window:
    """Lagos days from `start` up to but not including `end`."""

    start: date
    end: date

    @classmethod
    def from_days(cls, first: date, last: date) -> "Window":
        """Return the window from `first` to `last`, both included."""
        return cls(first, last + timedelta(days=1))

    @classmethod
    def of_month(cls, month: date) -> "Window":
        """Return the window of the month that begins on a day."""
        return cls(month, clock.add_months(month, 1))

    @classmethod
    def from_span(cls, span: Span) -> "Window | None":
        """Return the window that a span covers exactly, None unless it starts and ends at Lagos midnights."""
        start = clock.to_lagos_day(span.start) if span.start else EARLIEST
        end = clock.to_lagos_day(span.end) if span.end else LATEST
        is_whole_days = all(
            at is None or at == clock.lagos_midnight(clock.to_lagos_day(at)) for at in (span.start, span.end)
        )
        return cls(start, end) if is_whole_days else None

    @property
    def last(self) -> date:
        """The last day included."""
        return self.end - timedelta(days=1)

    @property
    def is_over(self) -> bool:
        """True once its last day has ended."""
        return clock.lagos_midnight(self.end) <= clock.now()

    @property
    def length(self) -> int:
        """Number of days."""
        return (self.end - self.start).days

    @property
    def previous(self) -> "Window":
        """The window of the same length immediately before."""
        return Window(self.start - (self.end - self.start), self.start)

    @property
    def span(self) -> Span:
        """The window as a span of instants."""
        return Span(clock.lagos_midnight(self.start), clock.lagos_midnight(self.end))

    @property
    def whole_months(self) -> "Window | None":
        """The whole calendar months inside the window, None when there are none."""
        first, last = self.start.replace(day=1), self.end.replace(day=1)
        start = first if first == self.start else clock.add_months(first, 1)
        return Window(start, last) if start < last else None

    @property
    def days(self) -> Iterator[date]:
        """Iterate over every day of the window."""
        return (self.start + timedelta(days=n) for n in range(self.length))


def parse_month(text: str, field: str = "month") -> date:
    """Return the first day of a month given as YYYY-MM; InvalidInput for anything else."""
    if not re.fullmatch(r"20\d\d-(0[1-9]|1[0-2])", text):
        raise InvalidInput.for_field(field, "must be a month as YYYY-MM")
    return date.fromisoformat(f"{text}-01")


def find_first_month(session: ScopedSession, moment: Any, *conditions: Any) -> date | None:
    """Return the month of the earliest instant of a column; None where no row meets the conditions."""
    first = session.execute(sa.select(sa.func.min(moment)).where(*conditions)).scalar()
    return clock.to_lagos_day(first).replace(day=1) if first else None


def open_days(first: date | None, last: date | None) -> Span:
    """Return the span of Lagos days, both included; None leaves a side open."""
    return Span(
        clock.lagos_midnight(first) if first else None,
        clock.lagos_midnight(last + timedelta(days=1)) if last else None,
    )


def open_dates(first: date | None, last: date | None) -> Span:
    """Like `open_days`, for values dated by day alone (terms, incidents), stored as midnight UTC (contract S8)."""
    return Span(
        clock.midnight(first) if first else None,
        clock.midnight(last + timedelta(days=1)) if last else None,
    )


_NAMED_DAYS = {"today": 1, "7d": 7, "30d": 30}
_NAMED_MONTHS = {"6m": 6, "1y": 12}


def named_window(period: str, today: date) -> Window:
    """Return the date range of a named period, including today; only `last-month` ends before today."""
    tomorrow, first = clock.add_days(today, 1), today.replace(day=1)
    if period in _NAMED_DAYS:
        return Window(clock.add_days(tomorrow, -_NAMED_DAYS[period]), tomorrow)
    if period in _NAMED_MONTHS:
        return Window(clock.add_months(tomorrow, -_NAMED_MONTHS[period]), tomorrow)
    if period == "last-month":
        return Window(clock.add_months(first, -1), first)
    return Window(first, tomorrow)


_MOST_MONTHS = 120


@dataclass(frozen=True, slots=True)
class Comparison:
    """Days to compare with; with `until`, the last of them counts up to that instant only."""

    window: Window
    until: datetime | None = None

    @property
    def span(self) -> Span:
        """The instants that count."""
        return Span(self.window.span.start, self.until or self.window.span.end)


def find_comparison(window: Window, *, rolling: bool = False) -> Comparison:
    """Return the window before this one that is comparable with it.

    Today until now is compared with yesterday until the same minute, whole months with as many months before, the
    first days of a month with the same days of the month before. Any other window, and a `rolling` one (so many days
    that end today), is compared with as many days just before it.
    """
    before = None if rolling else _months_before(window) or _same_days(window)
    return _as_far(window, before or window.previous)


def year_before(window: Window) -> Comparison:
    """The same days of the year before; today until now with that day until the same minute."""
    return _as_far(window, Window(clock.add_months(window.start, -12), clock.add_months(window.end, -12)))


def _as_far(window: Window, before: Window) -> Comparison:
    """Compare today with as much of another day as has passed of today."""
    today = clock.today()
    if window != Window.from_days(today, today):
        return Comparison(before)
    so_far = clock.now().replace(second=0, microsecond=0) - clock.lagos_midnight(today)
    return Comparison(before, clock.lagos_midnight(before.last) + so_far)


def _months_before(window: Window) -> Window | None:
    """As many months before a window of whole months; of one month alone when it is a month of the calendar."""
    fewest = 1 if window.start.day == 1 else 2
    months = (n for n in range(fewest, _MOST_MONTHS + 1) if clock.add_months(window.end, -n) == window.start)
    number = next(months, None)
    return None if number is None else Window(clock.add_months(window.end, -2 * number), window.start)


def _same_days(window: Window) -> Window | None:
    """The same days of the month before, for the first days of a month; a shorter month ends them."""
    if window.start.day != 1 or window.last.replace(day=1) != window.start:
        return None
    start = clock.add_months(window.start, -1)
    return Window(start, min(start + timedelta(days=window.length), window.start))
