"""Comparison windows: months with months, the current day with the same part of the day before."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from core import clock
from core.services.lists.windows import Span, Window

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
