"""Charts as Plotly figures: bars and lines in the colours of the active theme, with a text alternative.

The figures of a chart are a table of pandas, of which its series, its axes and its download are made.

A figure is a plain dict of `data` and `layout`. A bar can stand for something: `targets` of a chart names it by series
and place, and `draw` passes it to `on_click`, so no id goes to the browser.

What a browser would measure or draw twice is given: ranges, marks, margins and the modes that Streamlit would set after
the first drawing. `datarevision` says that a figure with other data is another chart, so nothing is compared either.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any, Final

import pandas as pd
import streamlit as st

from core import money
from core.services.lists.spreadsheets import escape_formula
from core.services.sales.breakdowns import Grain
from core.ui.frame import page_links
from core.ui.kit import url_state, words

SERIES_COUNT: Final = 8
_LIGHT, _DARK = "light", "dark"
_FAINT: Final = {_LIGHT: "#839192", _DARK: "#71858A"}


def series_colours() -> list[str]:
    """Return the colours of the series, in order."""
    return list(st.get_option(f"theme.{_theme()}.chartCategoricalColors"))


def text_colour() -> str:
    """Return the colour of texts."""
    return str(st.get_option(f"theme.{_theme()}.textColor"))


def faint_colour() -> str:
    """Return the grey of what stands behind: the year before, the sum of the remaining series."""
    return _FAINT[_theme()]


def surface() -> str:
    """Return the colour of the page."""
    return str(st.get_option(f"theme.{_theme()}.backgroundColor"))


def grid() -> str:
    """Return the colour of the lines behind a chart."""
    return str(st.get_option(f"theme.{_theme()}.dataframeBorderColor"))


def pale(colour: str) -> str:
    """Return a colour mixed half and half with that of the page."""
    pairs = zip(_channels(colour), _channels(surface()), strict=True)
    return "#" + "".join(f"{(one + other) // 2:02X}" for one, other in pairs)


def font() -> str:
    """Return the fonts of texts, by name."""
    return str(st.get_option("theme.font"))


def _channels(colour: str) -> tuple[int, ...]:
    return tuple(bytes.fromhex(colour.removeprefix("#")))


def _theme() -> str:
    return _DARK if st.context.theme.type == _DARK else _LIGHT


# What the pointer shows of a bar, and of the lines at one place: the name of the place is a heading above these.
NAIRA_OF_BAR: Final = "<b>%{fullData.name} ₦%{y:,.2f}</b><br>%{x}<extra></extra>"
NAIRA: Final = "₦%{y:,.2f}"
COUNT: Final = "%{y:,d}"
BAR_HEIGHT: Final = 34
# Patterns that tell series apart where there are more of them than colours.
PATTERNS: Final = ("", "/", "x", ".", "-", "|", "+", "\\")
_CONFIG: Final = {"displayModeBar": False}
# Two bars that are clicked within half a second would be a double click, which forgets what the second one selected.
_CLICKED_CONFIG: Final = {**_CONFIG, "doubleClickDelay": 0}
_CLEAR: Final = "rgba(0,0,0,0)"
_FONT_SIZE: Final = 12
# Of a character of that size, on average and a little more; a text that is measured would be drawn twice.
_CHARACTER: Final = 6.4
_LONGEST_LINE: Final = 18
_LABEL_HEIGHT: Final = 26
_OVER_TIME_HEIGHT: Final = 320
_LINE_HEIGHT: Final = 15
_LEGEND_HEIGHT: Final = 30
_ABOVE: Final = 1.03
# For the longest label of an axis of amounts: "₦2.5bn".
AMOUNT_ROOM: Final = 44
# A unified hover box takes the text of a mark at exactly its place in place of the name of the bucket. Where there are
# few buckets a place is wide, and the mark would be seen beside its bar.
_BESIDE, _MANY = 0.05, 20
# Series and place.
Bar = tuple[int, int]
BELOW: Final = "charts_below"
_wait_for_rest = st.components.v2.component(
    "coverdesk_charts_rest", js=(page_links.BROWSER / "charts_rest.js").read_text()
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Chart:
    """A figure, the table that it draws, its text alternative for screen readers and its `targets`.

    The table has a row for each place and a column for each series, all of them where the figure adds some up; the
    name of its index heads the first column. Amounts are kobo and `is_money`; other numbers are counts.
    """

    figure: Mapping[str, Any]
    table: pd.DataFrame
    alt: str
    is_money: bool = True
    targets: Sequence[Sequence[Any]] = ()


def draw(chart: Chart, *, key: str, on_click: Callable[[Any], None] | None = None) -> None:
    """Draw a chart; `on_click` is called with the target of the clicked bar."""
    _leave_out_templates()
    if on_click is None:
        st.plotly_chart(chart.figure, theme=None, key=key, config=_CONFIG, alt=chart.alt)
        return

    def on_select() -> None:
        if bar := _get_clicked_bar(key):
            series, place = bar
            on_click(chart.targets[series][place])

    layout = {**chart.figure["layout"], "clickmode": "event+select"}
    st.plotly_chart(
        {"data": [_make_clickable(series) for series in chart.figure["data"]], "layout": layout},
        theme=None,
        key=key,
        config=_CLICKED_CONFIG,
        alt=chart.alt,
        on_select=on_select,
        selection_mode="points",
    )


def draw_below(work: Callable[[], None], *, height: int) -> None:
    """Draw charts below others: when the page is opened, once those rest, in a fragment of their own.

    Until then its place is held, `height` pixels high. Later runs draw them at once, so that what has not changed stays
    as it is. A click in them runs them alone, unless it changes the address or closes an offer above.
    """
    seen = url_state.all_parameters()

    def below() -> None:
        if url_state.all_parameters() != seen:
            st.rerun()
        rests = bool(st.session_state.get(BELOW, {}).get("rests"))
        _wait_for_rest(key=BELOW, data={"rests": rests}, default={"rests": False}, on_rests_change=lambda: None)
        if rests:
            work()
        else:
            st.skeleton(height=height)

    st.fragment(below, key=BELOW)()


def _leave_out_templates() -> None:
    """Take away the template that the framework gives each figure.

    It would travel with the figure, and two templates are never equal for the library, so the figure would be drawn
    again when the framework has found its width.
    """
    # Imported when a chart is drawn: few processes draw one.
    from plotly import io  # noqa: PLC0415

    io.templates.default = None


def draw_head(
    title: str,
    chart: Chart,
    *,
    file_name: str,
    about: str = "",
    explanation: str | None = None,
    choices: Callable[[], None] | None = None,
) -> None:
    """Draw the head of a chart's card: title, a line about it, its choices, and its figures as a CSV file."""
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center", gap="small"):
        # A line about it takes two where the button beside it needs the room; choices go below it.
        with st.container(gap=None, width="content" if choices else "stretch"):
            st.markdown(f"**{title}**", help=explanation)
            if about:
                st.caption(about)
        with st.container(horizontal=True, width="content", gap="small", vertical_alignment="center"):
            if choices:
                choices()
            st.download_button(
                "CSV",
                data=lambda: write_csv(chart),
                file_name=f"{file_name}.csv",
                mime="text/csv",
                key=f"figures {file_name}",
                help=f"{title}: these figures as a file.",
                type="tertiary",
                icon=":material/download:",
                on_click="ignore",
            )


def write_csv(chart: Chart) -> bytes:
    """Return the table of a chart as CSV: amounts in naira with two places, names never run as formulas."""
    shown = chart.table.map(_write_naira if chart.is_money else str)
    shown.columns = [escape_formula(str(name)) for name in shown.columns]
    shown.index = pd.Index([escape_formula(str(name)) for name in shown.index], name=chart.table.index.name)
    text: str = shown.to_csv(lineterminator="\r\n")
    return text.encode()


def _write_naira(minor: int) -> str:
    return f"{money.to_naira(int(minor)):.2f}"


def list_scripts() -> list[str]:
    """Return the addresses of the scripts that draw charts in a browser, below the root; they are large."""
    root = Path(st.__file__).parent / "static"
    return [f"static/{path.relative_to(root / 'static')}" for path in root.glob("static/js/PlotlyChart.*.js")]


def plain(name: str) -> str:
    """Escape a name for a figure, which would interpret tags in texts."""
    return name.replace("&", "&amp;").replace("<", "&lt;")


def bars(
    name: str, values: Sequence[float], colour: str, *, pattern: int = 0, unfinished: bool = False, **more: object
) -> dict[str, Any]:
    """Return a series of bars, the last of them pale if it is `unfinished`; `pattern` is an index of `PATTERNS`."""
    whole = len(values) - unfinished
    marker: dict[str, Any] = {
        "color": [*[colour] * whole, pale(colour)] if unfinished else colour,
        "line": {"width": 0},
    }
    if shape := PATTERNS[pattern]:
        look = {"fillmode": "overlay", "fgcolor": surface(), "fgopacity": 0.55, "size": 7}
        marker["pattern"] = {"shape": shape, **look}
    return {
        "type": "bar",
        "name": plain(name),
        "y": list(values),
        "marker": marker,
        "hovertemplate": NAIRA_OF_BAR,
        **more,
    }


def rows(name: str, values: Sequence[float], texts: Sequence[str], hover: Sequence[str], colour: str) -> dict[str, Any]:
    """Return a series of horizontal bars, each with a text at its end and one for the pointer."""
    return {
        "type": "bar",
        "orientation": "h",
        "name": plain(name),
        "x": list(values),
        "text": list(texts),
        "textposition": "outside",
        "textangle": 0,
        "constraintext": "none",
        "cliponaxis": False,
        "hovertext": list(hover),
        "hovertemplate": "%{hovertext}<extra></extra>",
        "marker": {"color": colour, "line": {"width": 0}},
    }


def line(name: str, values: Sequence[float], colour: str, *, dash: str = "solid", **more: object) -> dict[str, Any]:
    """Return a series that is a line; `dash` is solid, dot or dash."""
    return {
        "type": "scatter",
        "name": plain(name),
        "y": list(values),
        "mode": "lines",
        "line": {"color": colour, "width": 2.5, "dash": dash},
        "hovertemplate": NAIRA,
        **more,
    }


def build_figure(
    series: Sequence[Mapping[str, Any]],
    *,
    height: int,
    across: Mapping[str, Any],
    up: Mapping[str, Any],
    legend: bool = False,
    left: int = 0,
    right: int = 0,
    **layout: object,
) -> dict[str, Any]:
    """Return a figure of series on their axes: their values stand at the places of an axis of names, in its order.

    `left` is the room for the labels of the vertical axis in pixels, `right` that for what stands beyond the other one.
    """
    below = _LABEL_HEIGHT + _LINE_HEIGHT * any("<br>" in text for text in across.get("ticktext", ()))
    places = {name: axis["categoryarray"] for name, axis in (("x", across), ("y", up)) if "categoryarray" in axis}
    return {
        "data": [{**places, **each} for each in series],
        "layout": {
            "datarevision": 1,
            # Said, as it would end when the framework gives the width that was found, and the figure be drawn again.
            "autosize": True,
            "height": height,
            "margin": {"l": left + 6, "r": right + 8, "t": 2, "b": below + _LEGEND_HEIGHT * legend, "pad": 4},
            "paper_bgcolor": _CLEAR,
            "plot_bgcolor": _CLEAR,
            "font": {"family": font(), "size": _FONT_SIZE, "color": text_colour()},
            "showlegend": legend,
            "legend": _place_legend(below),
            # With all bars of a place in one box, a click would be taken for one of the first series.
            "hovermode": "closest",
            "hoverlabel": _style_hover(),
            "dragmode": "pan",
            "clickmode": "event",
            "xaxis": across,
            "yaxis": up,
            **layout,
        },
    }


def _place_legend(below: int) -> dict[str, Any]:
    """Put it at the foot, so that the bars begin at the top.

    However many rows it takes, `below` pixels for the labels of the axis are above it, made by a title without words.
    """
    return {
        "title": {"text": "\u00a0", "side": "top", "font": {"size": round(below * 0.7)}},
        "orientation": "h",
        "x": 0,
        "yref": "container",
        "y": 0,
        "yanchor": "bottom",
        # All its rows, also where a telephone has one column of them: half a chart would be scrolled in itself.
        "maxheight": 0.9,
        "traceorder": "normal",
    }


def _style_hover() -> dict[str, Any]:
    return {
        "bgcolor": surface(),
        "bordercolor": faint_colour(),
        "font": {"family": font(), "color": text_colour()},
        "align": "left",
        "namelength": -1,
    }


def build_ranked(series: Mapping[str, Any], names: Sequence[str]) -> dict[str, Any]:
    """Return the figure of horizontal bars beside their names, the first on top."""
    folded = [_fold(name) for name in names]
    up = category_axis(names) | {
        "range": [len(names) - 0.5, -0.5],
        "tickvals": list(range(len(names))),
        "ticktext": ["<br>".join(map(plain, lines)) for lines in folded],
    }
    return build_figure(
        [series],
        height=len(names) * BAR_HEIGHT + 30,
        across=hidden_axis(max(series["x"], default=0)),
        up=up,
        left=_measure(line for lines in folded for line in lines),
        # The text of the longest bar stands beyond the axis, whatever the width of the screen.
        right=_measure(series["text"]),
        bargap=0.35,
    )


def _measure(lines: Iterable[str]) -> int:
    """Return the room for the longest of some lines, in pixels."""
    return round(max(map(len, lines), default=0) * _CHARACTER)


def _fold(name: str) -> Sequence[str]:
    """Return a name in one line, or a long one in two of about equal length: bars keep their room on a telephone."""
    parts = name.split(" ")
    if len(name) <= _LONGEST_LINE or len(parts) == 1:
        return [name]
    halves = ([" ".join(parts[:place]), " ".join(parts[place:])] for place in range(1, len(parts)))
    return min(halves, key=lambda lines: max(map(len, lines)))


# The part of its place that no bar takes, and the widest bar as a part of the chart: one day alone is no wall.
_GAP, _WIDEST = 0.25, 0.12


def build_over_time(
    series: Sequence[Mapping[str, Any]],
    when: Sequence[date],
    grain: Grain,
    *,
    names: Sequence[str],
    up: Mapping[str, Any],
    most_labels: int,
    height: int = _OVER_TIME_HEIGHT,
    **layout: Any,
) -> dict[str, Any]:
    """Return the figure of series over time buckets; `names` are the buckets as the pointer tells them."""
    labels = [f"{day:%b %Y}" if grain == "month" else f"{day.day} {day:%b}" for day in when]
    return build_figure(
        series,
        height=height,
        across=category_axis(names, labels=labels, most_labels=most_labels),
        up=up,
        left=AMOUNT_ROOM,
        legend=True,
        bargap=max(_GAP, 1 - len(when) * _WIDEST),
        **layout,
    )


def name_bucket(day: date, grain: Grain) -> str:
    """Return a bucket in words: "Sun 1 Nov 2026", "Week of 2 Nov 2026", "November 2026"."""
    if grain == "month":
        return f"{day:%B %Y}"
    return f"Week of {words.day(day)}" if grain == "week" else f"{day:%a} {words.day(day)}"


def category_axis(
    names: Sequence[str], *, labels: Sequence[str] = (), most_labels: int = 0, seen: Sequence[int] | None = None
) -> dict[str, Any]:
    """Return an axis of places with names, which the pointer shows.

    Labels are seen at the places `seen`, or at about `most_labels` of all.
    """
    labels = labels or names
    step = max(1, -(-len(labels) // (most_labels or len(labels) or 1)))
    places = range(0, len(labels), step) if seen is None else seen
    beside = _BESIDE * min(1, len(names) / _MANY)
    return {
        "type": "category",
        "categoryorder": "array",
        "categoryarray": [plain(name) for name in names],
        "range": [-0.5, len(names) - 0.5],
        "tickvals": [place + beside for place in places],
        "ticktext": [plain(labels[place]) for place in places],
        "tickangle": 0,
        "showgrid": False,
        "zeroline": False,
        "fixedrange": True,
    }


def amount_axis(most_minor: int, least_minor: int = 0) -> dict[str, Any]:
    """Return an axis of kobo, drawn as naira, with about five marks in the units of the page: ₦500k, ₦2.5m.

    It ends a little beyond the highest and the lowest bar, as room beyond them would be room for nothing.
    """
    step = _round_step(most_minor - least_minor)
    most_minor = max(most_minor, step)
    marks = range(step * -(-least_minor // step), most_minor + 1, step)
    axis = number_axis([mark / 100 for mark in marks], most_minor / 100, [mark_of(mark) for mark in marks])
    return axis | {"range": [least_minor / 100 * _ABOVE, axis["range"][1]]}


def count_axis(most: int) -> dict[str, Any]:
    """Return an axis of whole numbers from nothing to `most`, with about five marks."""
    step = max(1, -(-most // 5))
    return number_axis(range(0, max(most, step) + 1, step), max(most, step))


def number_axis(marks: Sequence[float], most: float, labels: Sequence[str] = ()) -> dict[str, Any]:
    """Return an axis of numbers from the first of the marks to a little above the highest number."""
    return {
        "range": [marks[0], most * _ABOVE],
        "tickvals": list(marks),
        "ticktext": list(labels or [f"{mark:,.0f}" for mark in marks]),
        "gridcolor": grid(),
        "zerolinecolor": faint_colour(),
        "fixedrange": True,
    }


def hidden_axis(most: float) -> dict[str, Any]:
    """Return a number axis from nothing to `most` that is not drawn, for bars that say their numbers."""
    return {"visible": False, "range": [0, most or 1], "fixedrange": True}


def _round_step(most_minor: int) -> int:
    """Return a step of 1, 2 or 5 times a power of ten kobo that makes about five marks."""
    rough = max(most_minor // 5, 100)
    power: int = 10 ** (len(str(rough)) - 1)
    return next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough)


def mark_of(minor: int) -> str:
    """Return kobo as the mark of an axis: "₦500k", "₦2.5m"."""
    return re.sub(r"\.0+(?=[a-z])", "", words.short_naira(minor))


def _make_clickable(series: Mapping[str, Any]) -> dict[str, Any]:
    # What was clicked is told below the chart: a bar that stayed marked would look chosen after that is closed.
    same = {"marker": {"opacity": 1}, "textfont": {"color": text_colour()}}
    return {**series, "selected": same, "unselected": same}


def _get_clicked_bar(key: str) -> Bar | None:
    marker = f"{key} selected"
    points = st.session_state[key].selection.points
    now = frozenset((point["curve_number"], point["point_index"]) for point in points)
    before: frozenset[Bar] = st.session_state.get(marker, frozenset())
    st.session_state[marker] = now
    return find_clicked(before, now)


def find_clicked(before: frozenset[Bar], now: frozenset[Bar]) -> Bar | None:
    """Return the bar just clicked: the one that was added to the selection, or else taken from it."""
    return next(iter(now - before or before - now), None)
