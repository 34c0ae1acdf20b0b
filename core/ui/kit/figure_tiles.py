"""Small tiles, each one figure with its change, a spark line and what it counts.

A custom component (`browser/figure_tiles.js`) with a payload of plain values:

    alt:   name of the whole for screen readers
    first: number of the tiles that are seen at once; the others stand under More
    tiles: label, value, badge and tone (good, bad, plain) of the change, from, compared, trend (numbers), help (pairs)
"""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any, Final

import streamlit as st

from core import money
from core.services.sales.figures import Metric, Value, compute_change
from core.ui.frame import page_links
from core.ui.kit import words

# Above this a percentage only says that the earlier value was close to zero.
_BEYOND_SENSE: Final = 10
# A change from fewer than this is told by the earlier figure alone.
_FEW: Final = 10

_mount = st.components.v2.component(
    "coverdesk_figure_tiles",
    html='<div class="root"></div>',
    css=(page_links.BROWSER / "figure_tiles.css").read_text(),
    js=(page_links.BROWSER / "figure_tiles.js").read_text(),
)


def draw(tiles: Sequence[Mapping[str, Any]], *, first: int, alt: str, key: str) -> None:
    """Draw the tiles in rows of six, four, three or two, as the width allows."""
    _mount(key=key, data={"alt": alt, "first": first, "tiles": [dict(tile) for tile in tiles]})


def tile(
    metric: Metric[Any], now: Value, then: Value, *, rests_on: int, compared: str = "", trend: Sequence[Value] = ()
) -> dict[str, Any]:
    """Return the tile of a metric; its help says what it counts, leaves out and is dated by.

    `compared` names what the earlier value is of, "" for no comparison; `rests_on` is the number of records behind
    that value.
    """
    badge, tone = find_badge(metric, now, then, rests_on) if compared else (None, "plain")
    before = format_value(metric, then)
    definition = {"Counts": metric.counts, "Leaves out": metric.leaves_out, "Timed by": metric.basis}
    plotted = [_plotted(metric, value) for value in trend if value is not None]
    return {
        "label": metric.label,
        "value": format_value(metric, now),
        "badge": badge,
        "tone": tone,
        "from": ("nothing before" if before == "–" else f"from {before}") if compared else None,
        "compared": f"{before}, {compared}" if compared else "",
        # A flat line at zero adds nothing to the figure.
        "trend": plotted if any(plotted) else [],
        "help": [*definition.items(), *([("Compared with", f"{compared}.")] if compared else [])],
    }


def plain_tile(label: str, value: str, says: str) -> dict[str, Any]:
    """Return the tile of a figure that is compared with nothing; `says` is what it counts."""
    bare: dict[str, Any] = {"badge": None, "tone": "plain", "from": None, "compared": "", "trend": []}
    return {"label": label, "value": value, "help": [("Counts", says)], **bare}


def find_badge(metric: Metric[Any], now: Value, then: Value, rests_on: int) -> tuple[str | None, str]:
    """Return the change as text and whether it is good; none where a percentage of so little would mean nothing."""
    change = compute_change(metric.unit, now, then)
    is_little = (then if metric.unit == "count" else rests_on) or 0
    if change is None or (metric.unit != "share" and (is_little < _FEW or change >= _BEYOND_SENSE)):
        return None, "plain"
    if not change:
        return "unchanged", "plain"
    is_good = {"more": change > 0, "less": change < 0, "neither": None}[metric.better]
    tone = "plain" if is_good is None else "good" if is_good else "bad"
    return f"{'▲' if change > 0 else '▼'} {_format_change(metric, abs(change))}", tone


def format_value(metric: Metric[Any], value: Value) -> str:
    """Format a value; a dash for None."""
    if value is None:
        return "–"
    if metric.unit == "naira":
        return words.naira(int(value))
    if metric.unit == "time":
        return words.duration(int(value))
    return words.count(int(value)) if metric.unit == "count" else words.percent(Decimal(value))


def _format_change(metric: Metric[Any], change: Decimal) -> str:
    # A change that one decimal would show as none gets as many as show it.
    decimals = next((places for places in range(1, 5) if round(change * 100, places)), 5)
    return f"{change * 100:,.{decimals}f} {'points' if metric.unit == 'share' else '%'}"


def _plotted(metric: Metric[Any], value: int | Decimal) -> float:
    if metric.unit == "naira":
        return float(money.to_naira(int(value)))
    return float(value) * (100 if metric.unit == "share" else 1)
