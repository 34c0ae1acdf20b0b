"""Stretches of days in Lagos, half-open: every figure says which one it counts."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, timedelta

from core import clock
from core.services.filters import Span

# Nothing is sold before or after; a side that is left open ends here.
EARLIEST, LATEST = date(2000, 1, 1), date(2200, 1, 1)


@dataclass(frozen=True, slots=True)
class Window:
    """Lagos days from `start` up to but not including `end`."""

    start: date
    end: date

    @classmethod
    def of_days(cls, first: date, last: date) -> "Window":
        """The window of two days that both count."""
        return cls(first, last + timedelta(days=1))

    @classmethod
    def within(cls, span: Span) -> "Window | None":
        """The window that a span of instants covers exactly; none when it does not start and end with days."""
        start = clock.lagos_day(span.start) if span.start else EARLIEST
        end = clock.lagos_day(span.end) if span.end else LATEST
        whole = all(at is None or at == clock.lagos_midnight(clock.lagos_day(at)) for at in (span.start, span.end))
        return cls(start, end) if whole else None

    @property
    def last(self) -> date:
        """The last day that counts."""
        return self.end - timedelta(days=1)

    @property
    def length(self) -> int:
        """How many days count."""
        return (self.end - self.start).days

    @property
    def previous(self) -> "Window":
        """The window of the same length just before this one."""
        return Window(self.start - (self.end - self.start), self.start)

    @property
    def span(self) -> Span:
        """The instants of the window."""
        return Span(clock.lagos_midnight(self.start), clock.lagos_midnight(self.end))

    @property
    def whole_months(self) -> "Window | None":
        """The calendar months that lie wholly inside; none when there is not one."""
        first, last = self.start.replace(day=1), self.end.replace(day=1)
        start = first if first == self.start else clock.add_months(first, 1)
        return Window(start, last) if start < last else None

    @property
    def days(self) -> Iterator[date]:
        """Every day of the window, the empty ones too."""
        return (self.start + timedelta(days=n) for n in range(self.length))


def open_days(first: date | None, last: date | None) -> Span:
    """The instants of Lagos days that both count; none leaves a side open."""
    return Span(
        clock.lagos_midnight(first) if first else None,
        clock.lagos_midnight(last + timedelta(days=1)) if last else None,
    )


def open_dates(first: date | None, last: date | None) -> Span:
    """The same for what is dated by days alone, as terms and incidents are: it lies at midnight UTC (contract S8)."""
    return Span(
        clock.midnight(first) if first else None,
        clock.midnight(last + timedelta(days=1)) if last else None,
    )
