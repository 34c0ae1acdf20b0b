"""Policy numbers: an insurer's format, the next of a series, and the key to compare by (contract S10)."""

import re
from datetime import date
from typing import Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.store.access import ScopedSession
from core.store.schema.tables import NumberCounter

TEST: Final = "TEST/"
_MAX_AHEAD: Final = 1_000_000


class Series(NamedTuple):
    """A series of policy numbers: its counter and print pattern; test records have a series of their own."""

    counter: str
    pattern: str


def series(segment: str, pattern: str, *, is_live: bool) -> Series:
    """The series of an insurer in one mode: a test number says so and never uses up a live one."""
    counter = f"policy {segment}"
    return Series(counter, pattern) if is_live else Series(f"{counter} test", f"{TEST}{pattern}")


def format_number(pattern: str, number: int, on: date) -> str:
    """Format a number of a series: "ACC/AR/{month}/{yy}/HQ/{n}" -> "ACC/AR/11/26/HQ/5300"."""
    return pattern.format(n=number, year=on.year, yy=f"{on.year % 100:02d}", month=f"{on.month:02d}")


def take(session: ScopedSession, series: Series, count: int = 1) -> list[str]:
    """Take the next numbers of a series, which no other policy has."""
    first, today = session.next_number(series.counter, count), clock.today()
    return [format_number(series.pattern, number, today) for number in range(first, first + count)]


def get_upcoming(session: ScopedSession, series: Series) -> str:
    """The number that would be drawn next; another policy may still get it."""
    query = sa.select(col(NumberCounter.last)).where(col(NumberCounter.series) == series.counter)
    last = session.execute(query).scalar_one_or_none() or 0
    return format_number(series.pattern, last + 1, clock.today())


def skip(session: ScopedSession, series: Series, number: str) -> None:
    """Count past a number that an insurer gave itself, so that we never print it for another policy.

    A number in another format, or too far ahead, changes nothing.
    """
    match = re.fullmatch(_build_pattern(series.pattern), number, re.IGNORECASE)
    if match is None:
        return
    value = int(match["n"])
    session.insert_if_absent(NumberCounter(series=series.counter, last=0))
    is_behind = col(NumberCounter.last).between(value - _MAX_AHEAD, value - 1)
    session.change(NumberCounter, col(NumberCounter.series) == series.counter, is_behind, last=value)


def _build_pattern(pattern: str) -> str:
    """The style of a series as a regular expression that finds the counted part."""
    return re.sub(
        r"\\\{(\w+)(?::\w+)?\\\}", lambda m: r"(?P<n>\d{1,15})" if m[1] == "n" else r"\d+", re.escape(pattern)
    )


def credit_note_series(provider_id: UUID, *, is_live: bool) -> str:
    """Return the series in which an insurer's credit notes are numbered, without gaps."""
    return f"credit note {provider_id} {'live' if is_live else 'test'}"


def key(number: str) -> str:
    """Normalise a policy number for comparison: upper case without spaces."""
    return "".join(number.upper().split())
