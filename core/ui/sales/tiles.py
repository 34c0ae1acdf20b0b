"""The tiles of the dashboard: a metric with its change, its daily values and an explanation."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import streamlit as st

from core import money
from core.services.comparisons import Comparison
from core.services.sales.figures import Summary
from core.services.sales.metrics import METRICS, MONEY_METRICS, Metric, PeriodFacts, Value, compute_change
from core.ui.kit import periods, words

_COLOURS: Any = {"more": "normal", "less": "inverse", "neither": "off"}
# Above this a percentage only says that the earlier value was close to zero.
_BEYOND_SENSE = 10


def draw(summary: Summary) -> None:
    """Draw all tiles; the help of each says what it counts, leaves out and is dated by."""
    with st.grid(3, min_column_width=240, gap="xsmall", row_height=180):
        for metric in (*METRICS, *MONEY_METRICS):
            _tile(metric, summary)


def _tile(metric: Metric[PeriodFacts], summary: Summary) -> None:
    days = [_plotted(metric, value) for value in summary.trend(metric)]
    tile(
        metric,
        now=summary.value(metric),
        then=summary.previous(metric),
        compared=summary.compared,
        # A flat line at zero adds nothing to the figure.
        days=days if len(days) > 1 and any(days) else None,
    )


def tile(
    metric: Metric[Any], *, now: Value, then: Value, compared: Comparison | None, days: Sequence[float] | None = None
) -> None:
    """Draw one figure with its change and its comparison period, if any."""
    before = shown(metric, then)
    with_what = f"\n\n**Compared with** {periods.compared_in_words(compared)}" if compared else ""
    st.metric(
        metric.label,
        shown(metric, now),
        _change(metric, compute_change(metric.unit, now, then)) if compared else None,
        delta_color=_COLOURS[metric.better],
        delta_description=_described(before, compared) if compared else None,
        help=f"{metric.definition}{with_what}",
        border=True,
        height="stretch",
        chart_data=days,
        chart_type="area",
    )


def _described(before: str, compared: Comparison) -> str:
    days = periods.compared_in_words(compared)
    return f"from {before}, {days}" if before != "–" else f"nothing to compare with, {days}"


def shown(metric: Metric[Any], value: Value) -> str:
    """Format a value; a dash for None."""
    if value is None:
        return "–"
    if metric.unit == "naira":
        return words.naira(int(value))
    if metric.unit == "time":
        return words.duration(int(value))
    return words.count(int(value)) if metric.unit == "count" else words.percent(Decimal(value))


def _change(metric: Metric[Any], change: Decimal | None) -> Any:
    """Return the change of a value in percent or points; a plain 0, which has no direction, if there is none."""
    if change is None or round(change, 3) == 0:
        return None if change is None else 0
    if metric.unit != "share" and change >= _BEYOND_SENSE:
        return f"over {_BEYOND_SENSE * 100:,} %"
    unit = "points" if metric.unit == "share" else "%"
    return f"{change * 100:+,.1f} {unit}"


def _plotted(metric: Metric[Any], value: int | Decimal) -> float:
    if metric.unit == "naira":
        return float(money.to_naira(int(value)))
    return float(value) * (100 if metric.unit == "share" else 1)
