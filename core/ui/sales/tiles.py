"""Tiles: a metric with its change, its daily values and an explanation."""

from decimal import Decimal
from typing import Any

import streamlit as st

from core import clock, money
from core.services.comparisons import Comparison
from core.services.sales.figures import METRICS, MONEY_METRICS, Metric, PeriodFacts, Summary, Value, compute_change
from core.ui.kit import figure_tiles, words
from core.ui.lists import periods

_COLOURS: Any = {"more": "normal", "less": "inverse", "neither": "off"}
# Above this a percentage only says that the earlier value was close to zero.
_BEYOND_SENSE = 10
# A change from fewer than this is told by the earlier figure alone.
_FEW = 10


def draw(summary: Summary, *, is_compared: bool = True) -> None:
    """Draw the tiles, those of the money under More; the help of each says what it counts and is dated by."""
    tiles = [_payload(metric, summary, is_compared=is_compared) for metric in (*METRICS, *MONEY_METRICS)]
    figure_tiles.draw(tiles, first=len(METRICS), alt="Figures of the period", key="figures")


def _payload(metric: Metric[PeriodFacts], summary: Summary, *, is_compared: bool) -> dict[str, Any]:
    # A day under way would make every line dive at its end.
    is_under_way = summary.window.last >= clock.today() and len(summary.days) > 1
    trend = [_plotted(metric, value) for value in summary.trend(metric)][: -1 if is_under_way else None]
    compared = periods.describe_comparison(summary.compared)
    badge, tone = _badge(metric, summary) if is_compared else (None, "plain")
    before = format_value(metric, summary.previous(metric))
    definition = {"Counts": metric.counts, "Leaves out": metric.leaves_out, "Timed by": metric.basis}
    return {
        "label": metric.label,
        "value": format_value(metric, summary.value(metric)),
        "badge": badge,
        "tone": tone,
        "from": ("nothing before" if before == "–" else f"from {before}") if is_compared else None,
        "compared": f"{before}, {compared}" if is_compared else "",
        # A flat line at zero adds nothing to the figure.
        "trend": trend if any(trend) else [],
        "help": [*definition.items(), *([("Compared with", f"{compared}.")] if is_compared else [])],
    }


def _badge(metric: Metric[PeriodFacts], summary: Summary) -> tuple[str | None, str]:
    """Return the change as text and whether it is good; none where a percentage of so little would mean nothing."""
    now, then = summary.value(metric), summary.previous(metric)
    change = compute_change(metric.unit, now, then)
    is_little = (then if metric.unit == "count" else summary.before.totals.written) or 0
    if change is None or (metric.unit != "share" and (is_little < _FEW or change >= _BEYOND_SENSE)):
        return None, "plain"
    if not change:
        return "unchanged", "plain"
    is_good = {"more": change > 0, "less": change < 0, "neither": None}[metric.better]
    tone = "plain" if is_good is None else "good" if is_good else "bad"
    return f"{'▲' if change > 0 else '▼'} {_format_change(metric, abs(change)).removeprefix('+')}", tone


def tile(metric: Metric[Any], *, now: Value, then: Value, compared: Comparison | None) -> None:
    """Draw one figure with its change and its comparison period, if any."""
    before = format_value(metric, then)
    with_what = f"\n\n**Compared with** {periods.describe_comparison(compared)}" if compared else ""
    st.metric(
        metric.label,
        format_value(metric, now),
        _change(metric, compute_change(metric.unit, now, then)) if compared else None,
        delta_color=_COLOURS[metric.better],
        # The days stand in the help and above the tiles: a tile has no room for them.
        delta_description=("nothing before" if before == "–" else f"from {before}") if compared else None,
        help=f"{metric.definition}{with_what}",
        border=True,
        height="stretch",
    )


def format_value(metric: Metric[Any], value: Value) -> str:
    """Format a value; a dash for None."""
    if value is None:
        return "–"
    if metric.unit == "naira":
        return words.naira(int(value))
    if metric.unit == "time":
        return words.duration(int(value))
    return words.count(int(value)) if metric.unit == "count" else words.percent(Decimal(value))


def _change(metric: Metric[Any], change: Decimal | None) -> str | int | None:
    """Return the change of a value in percent or points; a plain 0, which has no direction, if there is none."""
    if not change:
        return None if change is None else 0
    if metric.unit != "share" and change >= _BEYOND_SENSE:
        return None
    return _format_change(metric, change)


def _format_change(metric: Metric[Any], change: Decimal) -> str:
    # A change that one decimal would show as none gets as many as show it.
    decimals = next((places for places in range(1, 5) if round(change * 100, places)), 5)
    return f"{change * 100:+,.{decimals}f} {'points' if metric.unit == 'share' else '%'}"


def _plotted(metric: Metric[Any], value: int | Decimal) -> float:
    if metric.unit == "naira":
        return float(money.to_naira(int(value)))
    return float(value) * (100 if metric.unit == "share" else 1)
