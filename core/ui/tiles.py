"""The tiles of the dashboard: a metric, how it moved, the days behind it, and what it means."""

from decimal import Decimal
from typing import Any

import streamlit as st

from core import money
from core.services.figures import Summary
from core.services.metrics import METRICS, REFUNDS, Metric, Value
from core.ui import periods, words

# Beyond this a percentage says only that there was next to nothing before.
_BEYOND_SENSE = 10


def draw(summary: Summary) -> None:
    """All tiles; the help of each says what it counts, leaves out and is timed by."""
    with st.grid(3, min_column_width=240, gap="xsmall", row_height=180):
        for metric in (*METRICS, REFUNDS):
            _tile(metric, summary)


def _tile(metric: Metric, summary: Summary) -> None:
    before = shown(metric, summary.previous(metric))
    days = [_plotted(metric, value) for value in summary.trend(metric)]
    st.metric(
        metric.label,
        shown(metric, summary.value(metric)),
        _change(metric, summary.change(metric)),
        delta_color="inverse" if metric.better == "less" else "normal",
        delta_description=f"from {before}" if before != "–" else "nothing to compare with",
        help=f"{metric.definition}\n\n**Compared with** {periods.in_words(summary.window.previous)}",
        border=True,
        height="stretch",
        chart_data=days if len(days) > 1 else None,
        chart_type="area",
    )


def shown(metric: Metric, value: Value) -> str:
    """A value as people read it; a dash for none."""
    if value is None:
        return "–"
    if metric.unit == "naira":
        return words.naira(int(value))
    return words.count(int(value)) if metric.unit == "count" else words.percent(Decimal(value))


def _change(metric: Metric, change: Decimal | None) -> Any:
    """How a value moved, in percent or in points; a plain 0, which has no direction, when it did not."""
    if change is None or round(change, 3) == 0:
        return None if change is None else 0
    if metric.unit != "share" and change >= _BEYOND_SENSE:
        return f"over {_BEYOND_SENSE * 100:,} %"
    unit = "points" if metric.unit == "share" else "%"
    return f"{change * 100:+,.1f} {unit}"


def _plotted(metric: Metric, value: int | Decimal) -> float:
    if metric.unit == "naira":
        return float(money.to_naira(int(value)))
    return float(value) * (100 if metric.unit == "share" else 1)
