"""Policy numbers: one counter per insurer, formatted by its series pattern (contract S10)."""

import re

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.store.access import ScopedSession
from core.store.policy_numbers import Series, format_number
from core.store.schema.tables import NumberCounter

_MAX_AHEAD = 1_000_000


def next_number(session: ScopedSession, series: Series) -> str:
    """A number of the insurer that no other policy has, in the style of its series."""
    return format_number(series.pattern, session.next_number(series.counter), clock.today())


def upcoming(session: ScopedSession, series: Series) -> str:
    """The number that would be drawn next; another policy may still get it."""
    query = sa.select(col(NumberCounter.last)).where(col(NumberCounter.series) == series.counter)
    last = session.execute(query).scalar_one_or_none() or 0
    return format_number(series.pattern, last + 1, clock.today())


def skip_number(session: ScopedSession, series: Series, number: str) -> None:
    """Count past a number that an insurer gave itself, so that we never print it for another policy.

    A number in another format, or too far ahead, changes nothing.
    """
    match = re.fullmatch(_build_pattern(series.pattern), number, re.IGNORECASE)
    if match is None:
        return
    value = int(match["n"])
    session.insert_if_absent(NumberCounter(series=series.counter, last=0))
    session.execute(
        sa.update(NumberCounter)
        .where(
            col(NumberCounter.series) == series.counter,
            col(NumberCounter.last).between(value - _MAX_AHEAD, value - 1),
        )
        .values(last=value)
        .execution_options(synchronize_session=False)
    )


def _build_pattern(pattern: str) -> str:
    """The style of a series as a regular expression that finds the counted part."""
    return re.sub(
        r"\\\{(\w+)(?::\w+)?\\\}", lambda m: r"(?P<n>\d{1,15})" if m[1] == "n" else r"\d+", re.escape(pattern)
    )
