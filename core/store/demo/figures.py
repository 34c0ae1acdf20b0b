"""The daybook of a chunk: its sales, renewals and refunds, summed before they are added to their days."""

from collections import defaultdict
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from core.store import daybook
from core.store.demo.rows import Values
from core.store.scope import ScopedSession
from core.store.tables_figures import MEASURES

_LAGOS = timedelta(hours=1)
_PLACE = {name: place for place, name in enumerate(MEASURES)}
_NOTHING = [0] * len(MEASURES)


class Figures:
    """Sums of one chunk by day, product, distributor and instalment."""

    def __init__(self) -> None:
        self.sums: defaultdict[tuple[Any, ...], list[int]] = defaultdict(_NOTHING.copy)

    def add(self, at: datetime, purchase: Values, **measures: int) -> None:
        """Count something that happened to a purchase at an instant."""
        # Lagos is an hour ahead all year; this runs for every row, where a time zone's lookup would be felt.
        day = (at + _LAGOS).date()
        frequency = purchase["premium_frequency"] or daybook.ONCE
        sums = self.sums[purchase["is_live"], day, purchase["product_id"], purchase["distributor_id"], frequency]
        for name, value in measures.items():
            sums[_PLACE[name]] += value


def pour_figures(session: ScopedSession, figures: Figures) -> None:
    """Add the sums to the daybook, in the session's transaction."""
    lines = [
        {
            "is_live": is_live,
            "grain": "day",
            "day": day,
            "product_id": UUID(product_id),
            "distributor_id": UUID(distributor_id),
            "premium_frequency": frequency,
            **dict(zip(MEASURES, sums, strict=True)),
        }
        for (is_live, day, product_id, distributor_id, frequency), sums in figures.sums.items()
    ]
    daybook.add(session.connection(), lines)
