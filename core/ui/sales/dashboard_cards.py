"""The cards of the dashboard: one chart each; a click filters the page to the clicked member or period."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import streamlit as st

from core import clock
from core.services.dimensions import DIMENSIONS, Dimension
from core.services.sales import breakdowns
from core.services.sales.breakdowns import Breakdown, Grain, Series, Slice
from core.services.sales.figures import Summary
from core.services.windows import Window
from core.ui.kit import url_state
from core.ui.sales import charts, sales_filters
from core.ui.sales.charts import Chart
from core.ui.sales.sales_filters import LABELS, Asked

GRAINS: dict[Grain, str] = {"day": "Day", "week": "Week", "month": "Month"}
_CONFIG = {"displayModeBar": False, "responsive": True}
_LONGEST_BY_DAY, _LONGEST_BY_WEEK, _MOST_BARS = 62, 190, 400


@dataclass(frozen=True, slots=True)
class Cut:
    """Breakdown of the charts over time: the time bucket and the dimension."""

    grain: Grain
    split: Dimension


def read_cut(window: Window) -> Cut:
    """Return the breakdown given in the URL; by default a bucket that suits the length of the window."""
    usual: Grain = (
        "day" if window.length <= _LONGEST_BY_DAY else "week" if window.length <= _LONGEST_BY_WEEK else "month"
    )
    grain, split = st.query_params.get("by", usual), st.query_params.get("split", "provider")
    # More bars are unreadable and slow down drawing the page.
    offered = [known for known in GRAINS if len(breakdowns.list_buckets(window, known)) <= _MOST_BARS]
    return Cut(
        next((known for known in offered if known == grain), usual),
        next((known for known in DIMENSIONS if known == split), "provider"),
    )


def draw_premium(asked: Asked, cut: Cut, window: Window, lines: Sequence[Series]) -> None:
    """Draw premium over time, stacked, below the choices of bucket and dimension."""
    with st.container(border=True):
        with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
            _title(
                "Gross written premium over time", f"Click a bar to narrow the page to one {LABELS[cut.split].lower()}."
            )
            with st.container(horizontal=True, width="content", gap="small"):
                _choice("by", "By", GRAINS, cut.grain)
                _choice("split", "Stacked by", LABELS, cut.split)
        chart = charts.over_time(
            breakdowns.list_buckets(window, cut.grain),
            lines,
            cut.grain,
            what=f"Gross written premium stacked by {cut.split}",
        )
        _draw("premium", chart, asked, lambda key: sales_filters.toggle(cut.split, key))


def draw_commissions(asked: Asked, cut: Cut, summary: Summary) -> None:
    """Draw the platform's and the distributors' commission over time."""
    with st.container(border=True, height="stretch"):
        _title("Commissions over time", "What the platform and the distributors earned, less what refunds took back.")
        lines = [
            _bucketed(summary, cut, "Platform", lambda takings: takings.mca_minor),
            _bucketed(summary, cut, "Distributors", lambda takings: takings.distributor_minor),
        ]
        when = breakdowns.list_buckets(summary.window, cut.grain)
        _draw("commissions", charts.lines_over_time(when, lines, cut.grain, what="Commissions"), asked)


def draw_new_against_renewal(asked: Asked, cut: Cut, summary: Summary) -> None:
    """Draw premium of new policies and of renewals; a click filters the page to the days of the bar."""
    with st.container(border=True, height="stretch"):
        _title("New against renewal", "By premium. Click a bar to see its days alone.")
        lines = [
            _bucketed(summary, cut, "New", lambda takings: takings.sold_minor),
            _bucketed(summary, cut, "Renewal", lambda takings: takings.renewed_minor),
        ]
        when = breakdowns.list_buckets(summary.window, cut.grain)
        chart = charts.over_time(when, lines, cut.grain, what="Premium of new policies and renewals", ticks=5)
        for bars in chart.figure.data:
            bars.customdata = [str(day) for day in when]
        _draw("mix", chart, asked, lambda day: _to_bucket(date.fromisoformat(day), cut.grain, summary.window))


def draw_shares(asked: Asked, parts: Breakdown) -> None:
    """Draw the shares of insurers and categories, the top distributors and products, and the instalments."""
    cards: list[tuple[str, str, Dimension, list[Slice]]] = [
        ("Share by insurer", "Of the premium.", "provider", parts.list_shares("provider")),
        ("Share by category", "Of the premium.", "category", parts.list_shares("category")),
        ("Top distributors", "By premium.", "distributor", parts.get_top_members("distributor")),
        ("Top products", "By premium.", "product", parts.get_top_members("product")),
    ]
    with st.grid(2, min_column_width=380, gap="small"):
        for title, about, dimension, slices in cards:
            with st.container(border=True, height="stretch"):
                _title(title, f"{about} Click a bar to narrow the page.")
                chart = charts.ranked(slices, whole=parts.premium_minor, what=title)
                _draw(title, chart, asked, _toggling(dimension))
    with st.container(border=True):
        _title("Instalments", "Premium by how often the customer pays it.")
        _draw(
            "Instalments", charts.ranked(parts.list_instalments(), whole=parts.premium_minor, what="Instalments"), asked
        )


def _toggling(dimension: Dimension) -> Callable[[str], None]:
    return lambda key: sales_filters.toggle(dimension, key)


def _bucketed(summary: Summary, cut: Cut, name: str, of: Callable[[Any], int]) -> Series:
    return breakdowns.build_bucket_series(summary.window, summary.days, cut.grain, of, name)


def _to_bucket(day: date, grain: Grain, window: Window) -> None:
    after = {"day": clock.add_days(day, 1), "week": clock.add_days(day, 7), "month": clock.add_months(day, 1)}[grain]
    sales_filters.narrow_to_days(Window(max(day, window.start), min(after, window.end)))


def _title(title: str, about: str) -> None:
    with st.container(gap=None, width="content"):
        st.markdown(f"**{title}**")
        st.caption(about)


def _choice(name: str, label: str, options: dict[Any, str] | Any, value: str) -> None:
    st.session_state[name] = value
    st.segmented_control(
        label,
        list(options),
        key=name,
        required=True,
        format_func=lambda key: options[key],
        label_visibility="collapsed",
        on_change=lambda: url_state.change({name: [st.session_state[name]]}),
    )


def _draw(name: str, chart: Chart, asked: Asked, narrow: Callable[[str], None] | None = None) -> None:
    # The key changes with the selection, so that a click is forgotten once the page shows something else.
    key = f"{name} {sorted(asked.link.items())}"
    if narrow is None:
        st.plotly_chart(chart.figure, key=key, config=_CONFIG, alt=chart.alt)
        return

    def on_click() -> None:
        if found := charts.clicked(st.session_state[key]):
            narrow(found)

    st.plotly_chart(chart.figure, key=key, config=_CONFIG, alt=chart.alt, on_select=on_click, selection_mode="points")
