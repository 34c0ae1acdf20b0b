"""Policy numbers: the insurer's format, and the key by which they are compared (contract S10); credit note numbers."""

from datetime import date
from typing import NamedTuple
from uuid import UUID

TEST = "TEST/"


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


def credit_note_series(provider_id: UUID, *, is_live: bool) -> str:
    """Return the series in which an insurer's credit notes are numbered, without gaps."""
    return f"credit note {provider_id} {'live' if is_live else 'test'}"


def key(number: str) -> str:
    """Normalise a policy number for comparison: upper case without spaces."""
    return "".join(number.upper().split())
