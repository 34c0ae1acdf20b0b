"""The daybook of a chunk: its sales, renewals and refunds, summed before they are added to days and months."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from core.store import daybook
from core.store.demo.rows import Values
from core.store.scope import ScopedSession
from core.store.tables_figures import MEASURES

_LAGOS = timedelta(hours=1)
_PLACE = {name: place for place, name in enumerate(MEASURES)}
Sums = defaultdict[tuple[Any, ...], list[int]]


def _nothing() -> list[int]:
    return [0] * len(MEASURES)


class Figures:
    """Sums of one chunk by day, mode, product, distributor and instalment."""

    def __init__(self) -> None:
        self.days: Sums = defaultdict(_nothing)

    def add(self, at: datetime, purchase: Values, **measures: int) -> None:
        """Count something that happened to a purchase at an instant."""
        # Lagos is an hour ahead all year; this runs for every row, where a time zone's lookup would be felt.
        day = (at + _LAGOS).date()
        frequency = purchase["premium_frequency"] or daybook.ONCE
        sums = self.days[day, purchase["is_live"], purchase["product_id"], purchase["distributor_id"], frequency]
        for name, value in measures.items():
            sums[_PLACE[name]] += value


def pour_figures(session: ScopedSession, figures: Figures) -> None:
    """Add the sums to the daybook, in the session's transaction."""
    months: Sums = defaultdict(_nothing)
    for (day, *keys), sums in figures.days.items():
        month = months[day.replace(day=1), *keys]
        month[:] = map(sum, zip(month, sums, strict=True))
    daybook.add(session.connection(), [*_lines("day", figures.days), *_lines("month", months)])


def _lines(grain: str, sums: Sums) -> Iterator[dict[str, Any]]:
    for (day, is_live, product_id, distributor_id, frequency), measured in sums.items():
        yield {
            "is_live": is_live,
            "grain": grain,
            "day": day,
            "product_id": UUID(product_id),
            "distributor_id": UUID(distributor_id),
            "premium_frequency": frequency,
            **dict(zip(MEASURES, measured, strict=True)),
        }
