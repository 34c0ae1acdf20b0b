"""The books of a chunk: sales, renewals, refunds and ends of cover, summed before they are added to what is kept."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID

from core.demo.bulk_rows import Values
from core.store.access import ScopedSession
from core.store.rollups import daily_rollup, day_totals
from core.store.rollups.day_totals import Entry
from core.store.schema.rollups import MEASURES

_LAGOS = timedelta(hours=1)
_PLACE = {name: place for place, name in enumerate(MEASURES)}
Sums = defaultdict[tuple[Any, ...], list[int]]


def _nothing() -> list[int]:
    return [0] * len(MEASURES)


class Figures:
    """Sums of one chunk by day, mode, product, distributor and instalment; of cover by day, mode and product."""

    def __init__(self) -> None:
        self.days: Sums = defaultdict(_nothing)
        self.cover: defaultdict[tuple[Any, ...], Counter[str]] = defaultdict(Counter)

    def add(self, at: datetime, purchase: Values, **measures: int) -> None:
        """Count something that happened to a purchase at an instant."""
        # Lagos is an hour ahead all year; this runs for every row, where a time zone's lookup would be felt.
        day = (at + _LAGOS).date()
        frequency = purchase["premium_frequency"] or daily_rollup.ONCE
        sums = self.days[day, purchase["is_live"], purchase["product_id"], purchase["distributor_id"], frequency]
        for name, value in measures.items():
            sums[_PLACE[name]] += value

    def follow(self, entries: Iterable[Entry], *, is_live: bool) -> None:
        """Count what a policy or a renewal does to cover."""
        for day, measures, product_id in entries:
            sums = self.cover[day, is_live, product_id]
            for name, number in measures.items():
                sums[name] += number


def pour_figures(session: ScopedSession, figures: Figures) -> None:
    """Add the sums to the daybook and to the totals of days, in the session's transaction."""
    months: Sums = defaultdict(_nothing)
    totals: Sums = defaultdict(_nothing)
    for (day, *keys), sums in figures.days.items():
        for whole in (months[day.replace(day=1), *keys], totals[day, keys[0]]):
            whole[:] = map(sum, zip(whole, sums, strict=True))
    daily_rollup.add(session.connection(), [*_lines("day", figures.days), *_lines("month", months)])
    day_totals.add(session.connection(), [*_totals(totals), *_cover(figures)])


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


def _totals(sums: Sums) -> Iterator[dict[str, Any]]:
    for (day, is_live), measured in sums.items():
        yield {"day": day, "is_live": is_live, **dict(zip(MEASURES, measured, strict=True))}


def _cover(figures: Figures) -> Iterator[dict[str, Any]]:
    for (day, is_live, product_id), measured in figures.cover.items():
        yield {"day": day, "is_live": is_live, "product_id": product_id and UUID(product_id), **measured}
