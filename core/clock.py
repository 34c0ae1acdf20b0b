"""The only source of time: UTC inside, Africa/Lagos on screens; tests freeze it here."""

import calendar
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

LAGOS = ZoneInfo("Africa/Lagos")
_frozen: list[datetime] = []


def now() -> datetime:
    """The current UTC instant, to the millisecond that the wire shows (contract P9)."""
    instant = _frozen[-1] if _frozen else datetime.now(UTC)
    return instant.replace(microsecond=instant.microsecond // 1000 * 1000)


def today() -> date:
    """The current calendar day in Lagos, where the business is."""
    return lagos_day(now())


@contextmanager
def frozen(at: datetime) -> Iterator[None]:
    """Hold the clock at a UTC instant; for tests and for the demonstration portfolio."""
    _frozen.append(at.astimezone(UTC))
    try:
        yield
    finally:
        _frozen.pop()


def lagos_day(instant: datetime) -> date:
    """The calendar day of an instant in Lagos; midnight UTC, where terms start, lies in the same day there."""
    return instant.astimezone(LAGOS).date()


def midnight(day: date) -> datetime:
    """Midnight UTC of a day: where policy terms start and end (contract S8)."""
    return datetime.combine(day, time(), UTC)


def lagos_midnight(day: date) -> datetime:
    """The UTC instant at which a Lagos day starts: the edge of every figure's window."""
    return datetime.combine(day, time(), LAGOS).astimezone(UTC)


def add_months(day: date, months: int) -> date:
    """The same day `months` later, or the month's last day where that day does not exist."""
    month = day.month - 1 + months
    year, month = day.year + month // 12, month % 12 + 1
    return date(year, month, min(day.day, calendar.monthrange(year, month)[1]))


def add_days(day: date, days: int) -> date:
    """The day `days` later."""
    return day + timedelta(days=days)


def wire(instant: datetime | None) -> str | None:
    """ISO 8601 UTC with milliseconds and Z, as the API sends it (contract P9)."""
    if instant is None:
        return None
    return instant.astimezone(UTC).isoformat(timespec="milliseconds").removesuffix("+00:00") + "Z"


def in_lagos(instant: datetime | None, pattern: str = "%d %b %Y, %H:%M") -> str:
    """An instant as people in Lagos read it; empty for none."""
    return instant.astimezone(LAGOS).strftime(pattern) if instant else ""
