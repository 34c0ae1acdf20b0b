"""Charts as ECharts options: bars and lines in the colours of the active theme, with a text alternative.

A bar can stand for something: `targets` of a chart names it by series and place, and `draw` passes it to `on_click`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

import streamlit as st

from core.ui.kit import colours

NAIRA: Final = "₦%,.2f"
COUNT: Final = "%,d"
BAR_HEIGHT: Final = 34
# Patterns that tell series apart where there are more of them than colours.
DECALS: Final[tuple[dict[str, Any] | None, ...]] = (
    None,
    {"symbol": "rect", "dashArrayX": [1, 0], "dashArrayY": [2, 5], "rotation": -0.785},
    {"symbol": "rect", "dashArrayX": [[2, 4], [0, 0]], "dashArrayY": [2, 3]},
    {"symbol": "circle", "dashArrayX": [[6, 6], [0, 6, 6, 0]], "dashArrayY": [6, 0], "symbolSize": 0.6},
    {"symbol": "rect", "dashArrayX": [1, 0], "dashArrayY": [2, 5]},
    {"symbol": "rect", "dashArrayX": [1, 0], "dashArrayY": [2, 5], "rotation": 1.571},
    {"symbol": "triangle", "dashArrayX": [[7, 7], [0, 7, 7, 0]], "dashArrayY": [7, 0]},
    {"symbol": "rect", "dashArrayX": [1, 0], "dashArrayY": [2, 5], "rotation": 0.785},
)
_PATTERN: Final = "rgba(255, 255, 255, 0.55)"
# Series and place.
Bar = tuple[int, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """An ECharts option with its text alternative for screen readers, its height in pixels and its `targets`."""

    option: Mapping[str, Any]
    alt: str
    height: int
    targets: Sequence[Sequence[Any]] = ()


def draw(chart: Chart, *, key: str, on_click: Callable[[Any], None] | None = None) -> None:
    """Draw a chart; `on_click` is called with the target of the clicked bar."""
    if on_click is None:
        st.echarts_chart(chart.option, height=chart.height, key=key, alt=chart.alt)
        return

    def on_select() -> None:
        if bar := _get_clicked_bar(key):
            series, place = bar
            on_click(chart.targets[series][place])

    option = {**chart.option, "series": [_make_clickable(series) for series in chart.option["series"]]}
    st.echarts_chart(option, height=chart.height, key=key, alt=chart.alt, on_select=on_select)


def bars(
    name: str, values: Sequence[float | Mapping[str, Any] | None], colour: str, *, pattern: int = 0, **more: object
) -> dict[str, Any]:
    """Return a series of bars; `pattern` is an index of `DECALS`."""
    style: dict[str, Any] = {"color": colour}
    if decal := DECALS[pattern]:
        style["decal"] = {"color": _PATTERN, **decal}
    return {"type": "bar", "name": name, "data": list(values), "itemStyle": style, **more}


def line(name: str, values: Sequence[object], colour: str, *, dash: str = "solid", **more: object) -> dict[str, Any]:
    """Return a series that is a line; `values` are numbers, or pairs of a place and a number."""
    return {
        "type": "line",
        "name": name,
        "data": list(values),
        "symbol": "circle",
        "symbolSize": 6,
        "itemStyle": {"color": colour},
        "lineStyle": {"color": colour, "width": 2.5, "type": dash},
        **more,
    }


def label_bars(position: str) -> dict[str, Any]:
    """Return the label setting of bars whose values bring their own text (`labelled`)."""
    return {"show": True, "position": position, "color": colours.text()}


def labelled(value: float, text: str, tooltip: str | None = None) -> dict[str, Any]:
    """Return a value with the text beside its bar, and its tooltip as HTML."""
    return {"value": value, "label": {"formatter": text}} | ({"tooltip": {"formatter": tooltip}} if tooltip else {})


def unfinished(value: float) -> dict[str, Any]:
    """Return the value of a bar whose days are not over: pale, in a dashed frame."""
    style = {"opacity": 0.5, "borderType": "dashed", "borderColor": colours.text(), "borderWidth": 1}
    return {"value": value, "itemStyle": style}


def build_option(
    series: Sequence[Mapping[str, Any]],
    *,
    across: Sequence[Mapping[str, Any]],
    up: Sequence[Mapping[str, Any]],
    tooltip: Mapping[str, Any],
    legend: Sequence[str] = (),
) -> dict[str, Any]:
    """Return the option of series on their axes; `legend` names the series that it lists."""
    return {
        # Drawn at once: people compare the figures, and wait for them.
        "animation": False,
        "tooltip": {"confine": True, **tooltip},
        "legend": {
            "show": bool(legend),
            "data": list(legend),
            "left": 0,
            "top": 0,
            "itemWidth": 14,
            "itemHeight": 10,
            "textStyle": {"color": colours.text()},
        },
        "grid": {"left": 2, "right": 8, "bottom": 2, "containLabel": True},
        "xAxis": list(across),
        "yAxis": list(up),
        "series": list(series),
    }


def over_axis(values: str) -> dict[str, Any]:
    """Return the tooltip of all series at one place of the axis; `values` is their number format."""
    return {"trigger": "axis", "axisPointer": {"type": "shadow"}, "valueFormatter": values}


def category_axis(labels: Sequence[str], *, label: Mapping[str, Any] | None = None, **more: object) -> dict[str, Any]:
    """Return an axis of labels without lines of its own; `label` are settings of the labels."""
    plain = {"axisTick": {"show": False}, "splitLine": {"show": False}}
    texts = {"color": colours.text(), **(label or {})}
    return {"type": "category", "data": list(labels), "axisLabel": texts, **plain, **more}


def named_axis(names: Sequence[str], labels: Sequence[str], *, most_labels: int) -> list[dict[str, Any]]:
    """Return two axes in one place: the series stand on the first, whose names the tooltip shows; the second is seen.

    At most about `most_labels` of the labels are drawn.
    """
    step = max(1, -(-len(labels) // most_labels))
    seen = category_axis(labels, position="bottom", label={"interval": step - 1})
    return [category_axis(names, show=False), seen]


def marked_axis(marks: Sequence[int], labels: Sequence[str]) -> list[dict[str, Any]]:
    """Return two axes in one place: the numbers from the first to the last of evenly spaced marks, and their labels."""
    step = marks[1] - marks[0]
    numbers = {"type": "value", "min": marks[0], "max": marks[-1], "interval": step, "axisLabel": {"show": False}}
    named = category_axis(labels, label={"interval": 0}, boundaryGap=False, position="left", axisLine={"show": False})
    return [numbers, named]


def hidden_axis(most: float) -> dict[str, Any]:
    """Return a number axis from nothing to `most` that is not drawn, for bars that say their numbers."""
    return {"type": "value", "show": False, "min": 0, "max": most or 1}


def _make_clickable(series: Mapping[str, Any]) -> dict[str, Any]:
    # What was clicked is told below the chart: a bar that stayed marked would look chosen after that is closed.
    return {**series, "selectedMode": "single", "select": {"disabled": True}, "cursor": "pointer"}


def _get_clicked_bar(key: str) -> Bar | None:
    marker = f"{key} selected"
    groups = st.session_state[key].selection.selected
    now = frozenset((group["series_index"], place) for group in groups for place in group["data_indices"])
    before: frozenset[Bar] = st.session_state.get(marker, frozenset())
    st.session_state[marker] = now
    return find_clicked(before, now)


def find_clicked(before: frozenset[Bar], now: frozenset[Bar]) -> Bar | None:
    """Return the bar just clicked: the one that was added to the selection, or else taken from it."""
    return next(iter(now - before or before - now), None)
