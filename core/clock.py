"""The only source of time: UTC internally, Africa/Lagos on screens; tests freeze it here."""

import calendar
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from functools import lru_cache
from time import time_ns
from zoneinfo import ZoneInfo

LAGOS = ZoneInfo("Africa/Lagos")
_frozen: list[datetime] = []


def now() -> datetime:
    """Return the current UTC instant, truncated to the milliseconds of the API (contract P9)."""
    if _frozen:
        instant = _frozen[-1]
        return instant.replace(microsecond=instant.microsecond // 1000 * 1000)
    # A third of the time of `replace`, and a sold loan asks a dozen times. A float holds milliseconds exactly enough:
    # they are rounded to whole microseconds.
    return datetime.fromtimestamp(milliseconds() / 1000, UTC)


def milliseconds() -> int:
    """Return `now` as milliseconds since 1970: a sale takes a dozen ids, which need no more of the instant."""
    return int(_frozen[-1].timestamp() * 1000) if _frozen else time_ns() // 1_000_000


def today() -> date:
    """Return the current calendar day in Lagos."""
    return to_lagos_day(now())


@contextmanager
def freeze(at: datetime) -> Iterator[None]:
    """Freeze the clock at a UTC instant; for tests and the demonstration portfolio."""
    _frozen.append(at.astimezone(UTC))
    try:
        yield
    finally:
        _frozen.pop()


@lru_cache(8_192)
def to_lagos_day(instant: datetime) -> date:
    """Return the calendar day of an instant in Lagos; midnight UTC, where terms start, is on the same day there."""
    return instant.astimezone(LAGOS).date()


def midnight(day: date) -> datetime:
    """Return midnight UTC of a day: where policy terms start and end (contract S8)."""
    return datetime.combine(day, time(), UTC)


def latest_start() -> datetime:
    """Return the latest start of cover that has come: now, or midnight UTC of the present day in Lagos if it is later.

    Days begin in Lagos an hour before midnight UTC, where terms start (contract S8).
    """
    return max(now(), midnight(today()))


def lagos_midnight(day: date) -> datetime:
    """Return the UTC instant at which a day starts in Lagos: the bounds of all reporting periods."""
    return datetime.combine(day, time(), LAGOS).astimezone(UTC)


def add_months(day: date, months: int) -> date:
    """Return the same day `months` later, or the last day of the month if that day does not exist."""
    month = day.month - 1 + months
    year, month = day.year + month // 12, month % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def add_days(day: date, days: int) -> date:
    """Return the day `days` later."""
    return day + timedelta(days=days)


def to_wire(instant: datetime | None) -> str | None:
    """Format an instant for the API: ISO 8601 UTC with milliseconds and Z (contract P9)."""
    if instant is None:
        return None
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def format_day(day: date) -> str:
    """Format a day for people: "1 Nov 2026"."""
    return f"{day.day} {day:%b %Y}"


def format_lagos(instant: datetime | None, pattern: str = "%-d %b %Y, %H:%M") -> str:
    """Format an instant in Lagos time for people; empty for None."""
    return instant.astimezone(LAGOS).strftime(pattern) if instant else ""
