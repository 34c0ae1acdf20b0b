"""The charts of the sales screens: values in naira, with ids on the bars so that a click can filter the page."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import plotly.graph_objects as go

from core.services.sales.breakdowns import Grain, Series, Slice
from core.ui.kit import colours, words

MOST_SERIES = len(colours.SERIES) - 1
_PATTERNS = ("", "/", "x", ".", "-", "|", "+", "\\")
_BAR = 34


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure with its text alternative for screen readers."""

    figure: go.Figure
    alt: str


def over_time(when: Sequence[date], lines: Sequence[Series], grain: Grain, *, what: str, ticks: int = 10) -> Chart:
    """Return stacked bars, one colour per series; the smallest series are added up into one.

    A member keeps its colour across periods, and its pattern where there are more members than colours.
    """
    figure = across_time(when, grain, ticks)
    for rank, line in enumerate(_folded(lines)):
        figure.add_bar(
            x=[str(day) for day in when],
            y=[minor / 100 for minor in line.amounts_minor],
            name=plain(line.name),
            customdata=[str(line.id) if line.id else "" for _ in when],
            marker={"line": {"width": 0}, **_looks(line, rank)},
            hovertemplate="₦%{y:,.2f}",
        )
    figure.update_layout(barmode="stack", bargap=0.25)
    return Chart(figure, _told(f"{what} by {grain}", [(line.name, line.total_minor) for line in lines]))


def lines_over_time(when: Sequence[date], lines: Sequence[Series], grain: Grain, *, what: str) -> Chart:
    """Return one line per series, distinguished by dashes as well as by colour."""
    figure = across_time(when, grain, ticks=5)
    for colour, dash, line in zip(colours.SERIES, ("solid", "dot", "dash"), lines, strict=False):
        figure.add_scatter(
            x=[str(day) for day in when],
            y=[minor / 100 for minor in line.amounts_minor],
            name=plain(line.name),
            mode="lines+markers" if len(when) < 70 else "lines",
            line={"color": colour, "width": 2.5, "dash": dash},
            marker={"size": 6},
            hovertemplate="₦%{y:,.2f}",
        )
    return Chart(figure, _told(f"{what} by {grain}", [(line.name, line.total_minor) for line in lines]))


def ranked(slices: Sequence[Slice], *, whole: int, what: str) -> Chart:
    """Return horizontal bars, the largest on top, each labelled with its share of the `whole` (kobo)."""
    rows = list(reversed(slices))
    figure = base()
    figure.add_bar(
        orientation="h",
        y=[_short(part.name) for part in rows],
        x=[part.totals.premium_minor / 100 for part in rows],
        customdata=[[str(part.id) if part.id else "", plain(part.name), part.totals.written] for part in rows],
        text=[f"{words.short_naira(part.totals.premium_minor)} · {_percent(part, whole)}" for part in rows],
        textposition="outside",
        cliponaxis=False,
        textfont={"color": colours.TEXT},
        marker={"color": colours.SERIES[0], "line": {"width": 0}},
        hovertemplate="%{customdata[1]}<br>₦%{x:,.2f}<br>%{customdata[2]:,} policies<extra></extra>",
    )
    largest = max((part.totals.premium_minor for part in slices), default=0) / 100
    # Leaves room for the label beside the longest bar.
    figure.update_xaxes(visible=False, range=[0, largest * 1.75 or 1])
    figure.update_yaxes(automargin=True, ticklabelstandoff=8)
    figure.update_layout(height=len(slices) * _BAR + 30, bargap=0.35, hovermode="closest", showlegend=False)
    return Chart(figure, _told(what, [(part.name, part.totals.premium_minor) for part in slices]))


def across_time(when: Sequence[date], grain: Grain, ticks: int) -> go.Figure:
    """Return an empty figure over time buckets, with a naira axis."""
    figure = base()
    pattern = {"day": "%d %b", "week": "Week of %d %b", "month": "%b %Y"}[grain]
    labels = [f"{day:{pattern}}" for day in when]
    step = max(1, -(-len(when) // ticks))
    figure.update_xaxes(
        type="category",
        tickvals=[str(day) for day in when[::step]],
        ticktext=[label.removeprefix("Week of ") for label in labels[::step]],
        tickangle=0,
        showgrid=False,
    )
    figure.update_yaxes(tickprefix="₦", exponentformat="B", rangemode="tozero", nticks=6)
    figure.update_layout(hovermode="x unified", height=320)
    return figure


def base() -> go.Figure:
    """Return an empty figure in the colours of the active theme."""
    axis = {"tickfont": {"color": colours.TEXT}, "fixedrange": True}
    return go.Figure(
        layout={
            "margin": {"l": 4, "r": 4, "t": 4, "b": 4},
            "legend": {
                "orientation": "h",
                "y": 1.02,
                "yanchor": "bottom",
                "x": 0,
                "traceorder": "normal",
                "font": {"color": colours.TEXT},
            },
            "dragmode": False,
            "xaxis": axis,
            "yaxis": axis,
        }
    )


def _looks(line: Series, rank: int) -> dict[str, Any]:
    """Return the colour and pattern of a member by its rank; grey for the sum of the remaining ones."""
    if rank >= MOST_SERIES and line.position is None:
        return {"color": colours.FAINT}
    turn, colour = divmod(rank if line.position is None else line.position, len(colours.SERIES))
    pattern = {"shape": _PATTERNS[turn % len(_PATTERNS)], "solidity": 0.25}
    return {"color": colours.SERIES[colour], "pattern": pattern}


def _folded(lines: Sequence[Series]) -> list[Series]:
    if len(lines) <= MOST_SERIES + 1:
        return list(lines)
    kept, rest = lines[:MOST_SERIES], lines[MOST_SERIES:]
    others = [sum(column) for column in zip(*(line.amounts_minor for line in rest), strict=True)]
    return [*kept, Series(None, f"{len(rest)} others", others)]


def _percent(part: Slice, whole: int) -> str:
    share = part.totals.premium_minor / (whole or 1)
    return words.percent(share, 0 if share >= 0.1 else 1)


def _short(name: str, most: int = 26) -> str:
    return plain(name if len(name) <= most else f"{name[: most - 1].rstrip()}…")


def plain(name: str) -> str:
    """Escape a name for a chart, which would interpret tags in texts."""
    return name.replace("&", "&amp;").replace("<", "&lt;")


def _told(what: str, parts: Sequence[tuple[str, int]]) -> str:
    largest = "; ".join(f"{name} {words.naira(minor)}" for name, minor in parts[:5])
    return f"{what}. Largest: {largest}." if parts else f"{what}: nothing."


def clicked(event: Any) -> str | None:  # noqa: ANN401 an event of Streamlit's
    """Return the id, or the first day of the time bucket, of the clicked bar; None when a click deselected it."""
    points = event.selection.points if event else []
    if not points:
        return None
    data = points[0].get("customdata", "")
    return str(data[0] if isinstance(data, list | tuple) else data) or None
