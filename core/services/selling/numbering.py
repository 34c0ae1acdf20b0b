"""Policy numbers: counted per insurer and printed in its own style (contract S10)."""

import re

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.store.numbers import key, printed
from core.store.scope import ScopedSession
from core.store.tables import NumberCounter

__all__ = ["key", "next_number", "pass_over"]
_FARTHEST = 1_000_000


def next_number(session: ScopedSession, segment: str, series: str) -> str:
    """A number of the insurer that no other policy has, written in its `series` pattern."""
    return printed(series, session.draw(_counter(segment)), clock.today())


def pass_over(session: ScopedSession, segment: str, series: str, number: str) -> None:
    """Count past a number that an insurer gave itself, so that we never print it for another policy.

    A number in another style, or one that we would not reach, changes nothing.
    """
    counted = re.fullmatch(_pattern(series), number, re.IGNORECASE)
    if counted is None:
        return
    reached, counter = int(counted["n"]), _counter(segment)
    session.insert_once(NumberCounter(series=counter, last=0))
    session.execute(
        sa.update(NumberCounter)
        .where(
            col(NumberCounter.series) == counter,
            col(NumberCounter.last).between(reached - _FARTHEST, reached - 1),
        )
        .values(last=reached)
        .execution_options(synchronize_session=False)
    )


def _counter(segment: str) -> str:
    return f"policy {segment}"


def _pattern(series: str) -> str:
    """The series as a regular expression that finds the counted part."""
    return re.sub(r"\\\{(\w+)(?::\w+)?\\\}", lambda m: r"(?P<n>\d{1,15})" if m[1] == "n" else r"\d+", re.escape(series))
