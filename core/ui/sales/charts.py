"""The charts of the sales screens: values in naira, with ids on the bars so that a click can filter the page."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import plotly.graph_objects as go

from core import clock
from core.services.sales.breakdowns import Grain, MonthPair, Series, Slice, get_bucket_start
from core.ui.kit import colours, words

MOST_SERIES = len(colours.SERIES) - 1
_PATTERNS = ("", "/", "x", ".", "-", "|", "+", "\\")
_BAR = 34
_BESIDE = 0.05  # of a bucket
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


@dataclass(frozen=True, slots=True)
class Chart:
    """A figure with its text alternative for screen readers."""

    figure: go.Figure
    alt: str


def over_time(when: Sequence[date], lines: Sequence[Series], grain: Grain, *, what: str, ticks: int = 10) -> Chart:
    """Return stacked bars, one colour per series; the smallest series are added up into one.

    A member keeps its colour across periods, and its pattern where there are more members than colours.
    """
    totals = [sum(column) for column in zip(*(line.amounts_minor for line in lines), strict=True)]
    names = bucket_names(when, grain, totals)
    figure = across_time(when, grain, ticks, names=names)
    for rank, line in enumerate(_folded(lines)):
        figure.add_bar(
            x=names,
            y=[minor / 100 for minor in line.amounts_minor],
            name=plain(line.name),
            customdata=[[str(line.id) if line.id else "", str(day)] for day in when],
            marker={"line": {"width": 0}, **_looks(line, rank)},
            hovertemplate="₦%{y:,.2f}",
        )
    _label_naira(figure, max(totals, default=0))
    figure.update_layout(barmode="stack", bargap=0.25)
    return Chart(figure, _told(f"{what} by {grain}", [(line.name, line.total_minor) for line in lines]))


def lines_over_time(when: Sequence[date], lines: Sequence[Series], grain: Grain, *, what: str) -> Chart:
    """Return one line per series, distinguished by dashes as well as by colour.

    A bucket under way is a ring apart: a line to it would dive.
    """
    names = bucket_names(when, grain, [sum(column) for column in zip(*(li.amounts_minor for li in lines), strict=True)])
    figure = across_time(when, grain, ticks=5, names=names)
    whole = len(when) - is_under_way(when, grain)
    for colour, dash, line in zip(colours.SERIES, ("solid", "dot", "dash"), lines, strict=False):
        amounts = [minor / 100 for minor in line.amounts_minor]
        figure.add_scatter(
            x=names[:whole],
            y=amounts[:whole],
            name=plain(line.name),
            mode="lines+markers" if len(when) < 70 else "lines",
            line={"color": colour, "width": 2.5, "dash": dash},
            marker={"size": 6},
            hovertemplate="₦%{y:,.2f}",
        )
        figure.add_scatter(
            x=names[whole:],
            y=amounts[whole:],
            name=plain(line.name),
            mode="markers",
            marker={"color": colour, "size": 8, "symbol": "circle-open"},
            showlegend=False,
            hovertemplate="₦%{y:,.2f} so far",
        )
    _label_naira(figure, max((max(line.amounts_minor, default=0) for line in lines), default=0))
    return Chart(figure, _told(f"{what} by {grain}", [(line.name, line.total_minor) for line in lines]))


def year_on_year(pairs: Sequence[MonthPair]) -> Chart:
    """Return the premium of each month beside that of the same month a year before."""
    when = [pair.month for pair in pairs]
    names = [f"{pair.month:%B}" for pair in pairs]
    figure = across_time(when, "month", ticks=12, names=names)
    figure.update_xaxes(ticktext=[f"{month:%b}" for month in when])
    latest, former = colours.SERIES[0], colours.FAINT
    sides = (
        ("A year before", former, [pair.before_minor for pair in pairs], [clock.add_months(m, -12) for m in when]),
        ("Last 12 months", latest, [pair.now_minor for pair in pairs], when),
    )
    for name, colour, amounts, months in sides:
        figure.add_bar(
            x=names,
            y=[minor / 100 for minor in amounts],
            name=name,
            customdata=[["", str(month), f"{month:%b %Y}"] for month in months],
            marker={"color": colour, "line": {"width": 0}},
            hovertemplate="%{customdata[2]}: ₦%{y:,.2f}<extra></extra>",
        )
    _label_naira(figure, max((max(pair.now_minor, pair.before_minor) for pair in pairs), default=0))
    figure.update_layout(barmode="group", bargap=0.3, bargroupgap=0.05, height=260)
    parts = [(f"{pair.month:%b %Y}", pair.now_minor, pair.before_minor) for pair in pairs]
    told = "; ".join(f"{name} {words.naira(now)}, a year before {words.naira(before)}" for name, now, before in parts)
    return Chart(figure, f"Premium by month, year on year. {told}.")


def ranked_bars(slices: Sequence[Slice], *, whole: int, what: str) -> Chart:
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


def across_time(when: Sequence[date], grain: Grain, ticks: int, *, names: Sequence[str] | None = None) -> go.Figure:
    """Return an empty figure over time buckets; `names` are their x values, by default their first days.

    A bucket under way stands in a dashed frame.
    """
    figure = base()
    values = names or [str(day) for day in when]
    labels = [f"{day:%b %Y}" if grain == "month" else f"{day.day} {day:%b}" for day in when]
    step = max(1, -(-len(when) // ticks))
    figure.update_xaxes(type="category", tickangle=0, showgrid=False)
    # Beside the middle of its bucket: over a bucket that a tick names, the pointer would show the tick's text.
    marks = [place + _BESIDE for place in range(0, len(values), step)]
    figure.update_xaxes(tickvals=marks, ticktext=labels[::step])
    # A category that no bar has is unknown to the axis, and a mark would stand elsewhere.
    figure.update_xaxes(categoryorder="array", categoryarray=list(values))
    figure.update_yaxes(rangemode="tozero", nticks=6)
    figure.update_layout(hovermode="x unified", height=320)
    if is_under_way(when, grain) and len(when) > 1:
        figure.add_shape(
            type="rect",
            xref="x",
            yref="paper",
            x0=len(when) - 1.5,
            x1=len(when) - 0.5,
            y0=0,
            y1=1,
            line={"color": colours.FAINT, "width": 1, "dash": "dash"},
        )
    return figure


def bucket_names(when: Sequence[date], grain: Grain, totals_minor: Sequence[int]) -> list[str]:
    """Return the name of each bucket with its total, as the pointer shows it."""
    totals = [*totals_minor, *[0] * (len(when) - len(totals_minor))]
    under_way = when[-1] if is_under_way(when, grain) else None
    return [
        f"{_bucket_name(day, grain)} · {words.naira(total)} in all{' so far' if day == under_way else ''}"
        for day, total in zip(when, totals, strict=True)
    ]


def _bucket_name(day: date, grain: Grain) -> str:
    if grain == "month":
        return f"{day:%B %Y}"
    return f"Week of {words.day(day)}" if grain == "week" else f"{day:%a} {words.day(day)}"


def is_under_way(when: Sequence[date], grain: Grain) -> bool:
    """Return True if the last bucket holds today, so that more may come."""
    return bool(when) and get_bucket_start(clock.today(), grain) == when[-1]


def _label_naira(figure: go.Figure, most_minor: int) -> None:
    """Label the vertical axis in the units of the page: ₦500k, ₦2.5m."""
    step = _round_step(most_minor)
    marks = range(0, most_minor + step, step)
    figure.update_yaxes(tickvals=[mark / 100 for mark in marks], ticktext=[_mark(mark) for mark in marks])


def _round_step(most_minor: int) -> int:
    """Return a step of 1, 2 or 5 times a power of ten kobo that makes about five marks."""
    rough = max(most_minor // 5, 100)
    power: int = 10 ** (len(str(rough)) - 1)
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


def _mark(minor: int) -> str:
    short = words.short_naira(minor)
    return re.sub(r"\.0+(?=[a-z])", "", short)


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
            "hoverlabel": {"font": {"color": colours.TEXT}},
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


def _short(name: str, most: int = 32) -> str:
    return plain(name if len(name) <= most else f"{name[: most - 1].rstrip()}…")


def plain(name: str) -> str:
    """Escape a name for a chart, which would interpret tags in texts."""
    return name.replace("&", "&amp;").replace("<", "&lt;")


def _told(what: str, parts: Sequence[tuple[str, int]]) -> str:
    largest = "; ".join(f"{name} {words.naira(minor)}" for name, minor in parts[:5])
    return f"{what}. Largest: {largest}." if parts else f"{what}: nothing."


@dataclass(frozen=True, slots=True)
class Clicked:
    """Meaning of a click on a chart: the member's id and the first day of the bucket, where the bar has them."""

    member: str | None
    bucket: date | None


def get_clicked(event: Any) -> Clicked | None:  # noqa: ANN401 an event of Streamlit's
    """Return what was clicked; None when a click deselected it or the bar stands for nothing in particular."""
    points = event.selection.points if event else []
    data = points[0].get("customdata") if points else None
    member, bucket = [*(data if isinstance(data, list | tuple) else [data]), None][:2]
    day = date.fromisoformat(bucket) if isinstance(bucket, str) and _DAY.fullmatch(bucket) else None
    return Clicked(str(member) if member else None, day) if member or day else None
