"""Policy numbers: printed in each insurer's own style, unique per insurer (contract S10)."""

from core import clock
from core.store.scope import ScopedSession


def next_number(session: ScopedSession, segment: str, series: str) -> str:
    """The insurer's next number, counted in this transaction and written in its `series` pattern."""
    today = clock.today()
    return series.format(
        n=session.count_up(f"policy {segment}"),
        year=today.year,
        yy=f"{today.year % 100:02d}",
        month=f"{today.month:02d}",
    )


def key(number: str) -> str:
    """A policy number as it is compared: without case and spaces."""
    return "".join(number.upper().split())
