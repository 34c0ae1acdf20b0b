"""The cards of the dashboard: one chart each; a click offers the sales behind a segment."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import streamlit as st

from core.services.dimensions import DIMENSIONS, Choices, Dimension
from core.services.sales import breakdowns
from core.services.sales.breakdowns import Amount, Breakdown, Cohort, Grain, Series, Slice
from core.services.sales.figures import Summary
from core.services.sales.filter import SalesFilter
from core.services.windows import Window
from core.ui.kit import charts, figure_cache, url_state, words
from core.ui.kit.charts import Chart
from core.ui.kit.figure_cache import StoreState
from core.ui.lists import columns, tables
from core.ui.sales import charts as sales_charts
from core.ui.sales import drill
from core.ui.sales.charts import Clicked
from core.ui.sales.sales_filters import LABELS, Asked

GRAINS: dict[Grain, str] = {"day": "Day", "week": "Week", "month": "Month"}
_YEAR = "year"
_OF_PERIOD = ("period", "from", "to")
_LONGEST_BY_DAY, _LONGEST_BY_WEEK, _MOST_BARS = 62, 190, 400


Earning = Literal["share"] | Dimension
EARNINGS: dict[Earning, str] = {"share": "Platform and distributors", **LABELS}


@dataclass(frozen=True, slots=True)
class Cut:
    """Breakdown of the charts over time: the time bucket, and what premium and commissions are stacked by."""

    grain: Grain
    split: Dimension
    earned: Earning


def read_cut(window: Window) -> Cut:
    """Return the breakdown given in the URL; by default a bucket that suits the length of the window."""
    usual: Grain = (
        "day" if window.length <= _LONGEST_BY_DAY else "week" if window.length <= _LONGEST_BY_WEEK else "month"
    )
    grain, split = st.query_params.get("by", usual), st.query_params.get("split", "provider")
    # More bars are unreadable and slow down drawing the page.
    offered = [known for known in GRAINS if len(breakdowns.list_buckets(window, known)) <= _MOST_BARS]
    earned = st.query_params.get("earned", "share")
    return Cut(
        next((known for known in offered if known == grain), usual),
        next((known for known in DIMENSIONS if known == split), "provider"),
        next((known for known in EARNINGS if known == earned), "share"),
    )


@dataclass(frozen=True, slots=True)
class Page:
    """Inputs of every card: the filters, the window, the breakdown over time, and the scope of the figures."""

    asked: Asked[SalesFilter]
    window: Window
    cut: Cut
    at: StoreState
    names: Choices


def draw_premium(page: Page) -> None:
    """Draw premium over time, stacked, below the choices of bucket and dimension."""
    cut = page.cut
    chart = sales_charts.over_time(
        breakdowns.list_buckets(page.window, cut.grain),
        _load_lines(page, breakdowns.PREMIUM, cut.split),
        cut.grain,
        what=f"Gross written premium stacked by {LABELS[cut.split].lower()}",
    )

    def choices() -> None:
        _choice("by", "By", GRAINS, cut.grain)
        _choice("split", "Stacked by", LABELS, cut.split)

    with st.container(border=True, gap="xsmall"):
        charts.draw_head(
            "Gross written premium over time",
            chart,
            file_name=_name_file(f"premium by {cut.split}", page.window),
            explanation=f"Click a bar for the sales of one {LABELS[cut.split].lower()}.",
            choices=choices,
        )
        _draw("premium", chart, page, cut.split)


def draw_commissions(page: Page, summary: Summary) -> None:
    """Draw the commissions over time, stacked by who earns them or by a dimension of their sales."""
    cut = page.cut
    split = None if cut.earned == "share" else cut.earned
    if split:
        lines = _load_lines(page, breakdowns.COMMISSION, split)
    else:
        lines = [
            _bucketed(summary, cut, "Platform", lambda takings: takings.mca_minor),
            _bucketed(summary, cut, "Distributors", lambda takings: takings.distributor_minor),
        ]
    chart = sales_charts.over_time(
        breakdowns.list_buckets(page.window, cut.grain),
        lines,
        cut.grain,
        what=f"Commissions stacked by {EARNINGS[cut.earned].lower()}",
    )

    def choices() -> None:
        _choice("by", "By", GRAINS, cut.grain, key="by_too")
        _choice("earned", "Stacked by", EARNINGS, cut.earned)

    with st.container(border=True, gap="xsmall"):
        charts.draw_head(
            "Commissions over time",
            chart,
            file_name=_name_file(f"commissions by {cut.earned}", page.window),
            explanation="Of the platform and the distributors, less refunds. Click a bar for its movements.",
            choices=choices,
        )
        _draw(drill.COMMISSIONS, chart, page, split)


def _load_lines(page: Page, amount: Amount, split: Dimension) -> list[Series]:
    return figure_cache.over_time(
        page.at, page.window, page.asked.criteria, amount=amount, grain=page.cut.grain, split=split
    )


def draw_new_against_renewal(page: Page, summary: Summary) -> None:
    """Draw premium of new policies and of renewals."""
    lines = [
        _bucketed(summary, page.cut, "New", lambda takings: takings.sold_minor),
        _bucketed(summary, page.cut, "Renewal", lambda takings: takings.renewed_minor),
    ]
    when = breakdowns.list_buckets(summary.window, page.cut.grain)
    chart = sales_charts.over_time(when, lines, page.cut.grain, what="Premium of new policies and renewals", ticks=5)
    with st.container(border=True, height="stretch"):
        _draw_head("New against renewal", "By premium. Click a bar for its sales.", chart, page.window)
        _draw("mix", chart, page, None)


def draw_shares(page: Page, parts: Breakdown) -> None:
    """Draw the shares of insurers and categories, and the top distributors and products."""
    cards: list[tuple[str, str, Dimension, list[Slice]]] = [
        ("Share by insurer", "Of the premium.", "provider", parts.list_shares("provider")),
        ("Share by category", "Of the premium.", "category", parts.list_shares("category")),
        ("Top distributors", "By premium.", "distributor", parts.get_top_members("distributor")),
        ("Top products", "By premium.", "product", parts.get_top_members("product")),
    ]
    with st.grid(2, min_column_width=380, gap="small"):
        for title, about, dimension, slices in cards:
            chart = sales_charts.ranked_bars(slices, whole=parts.premium_minor, what=title)
            with st.container(border=True, height="stretch"):
                _draw_head(title, f"{about} Click a bar for its sales.", chart, page.window)
                _draw(title, chart, page, dimension)


def draw_instalments(page: Page, parts: Breakdown) -> None:
    """Draw the premium by how often the customer pays it."""
    chart = sales_charts.ranked_bars(parts.list_instalments(), whole=parts.premium_minor, what="Instalments")
    with st.container(border=True, height="stretch"):
        _draw_head("Instalments", "Premium by how often the customer pays it.", chart, page.window)
        charts.draw(chart, key=_key_of("instalments", page))


def draw_year_on_year(page: Page) -> None:
    """Draw the premium of the last 12 months beside that of the 12 before, whatever the period."""
    chart = sales_charts.year_on_year(figure_cache.year_on_year(page.at, page.asked.criteria))
    with st.container(border=True, height="stretch"):
        _draw_head("Year on year", "Premium by month, whatever the period above; the other filters apply.", chart, None)
        _draw(_YEAR, chart, page, None, "month")


def draw_cohorts(page: Page) -> None:
    """Draw the renewal cohorts: the terms that ended in each month and how many of them were renewed."""
    with st.container(border=True, height="stretch"):
        _title("Renewal cohorts", "Terms that ended in each month, and how many were renewed since.")
        cohorts = figure_cache.cohorts(page.at, page.asked.criteria)
        tables.draw_short(COHORTS, cohorts)
        st.caption("A term can be renewed for some weeks after its end, so the latest months still rise.")


COHORTS: tables.Table[Cohort] = tables.Table(
    name="renewal_cohorts",
    noun=("month", "renewal cohorts, one row a month"),
    key=lambda row: str(row.month),
    columns={
        "month": columns.text("Ended in", lambda row: f"{row.month:%B %Y}"),
        "ended": columns.number("Terms", lambda row: row.ended),
        "renewed": columns.number("Renewed", lambda row: row.renewed),
        "rate": columns.text("Rate", lambda row: None if row.rate is None else words.percent(row.rate), right=True),
    },
)


def _bucketed(summary: Summary, cut: Cut, name: str, of: Callable[[Any], int]) -> Series:
    return breakdowns.build_bucket_series(summary.window, summary.days, cut.grain, of, name)


def _title(title: str, about: str) -> None:
    with st.container(gap=None, width="content"):
        st.markdown(f"**{title}**")
        st.caption(about)


def _draw_head(title: str, about: str, chart: Chart, window: Window | None) -> None:
    charts.draw_head(title, chart, file_name=_name_file(title, window), about=about)


def _name_file(of: str, window: Window | None) -> str:
    """Return the name of a chart's file, with the days of its figures: "premium-by-provider-2026-11-01-2026-11-20"."""
    days = f" {window.start} {window.last}" if window else ""
    return f"{of}{days}".lower().replace(" ", "-")


def _choice(name: str, label: str, options: Mapping[Any, str], value: str, *, key: str | None = None) -> None:
    key = key or name
    st.session_state[key] = value
    st.segmented_control(
        label,
        list(options),
        key=key,
        required=True,
        format_func=lambda option: options[option],
        label_visibility="collapsed",
        on_change=lambda: url_state.change({name: [st.session_state[key]]}),
    )


def _draw(name: str, chart: Chart, page: Page, dimension: Dimension | None, grain: Grain | None = None) -> None:
    """Draw a chart whose bars are clickable, and below it the offer for the clicked one."""

    def on_click(clicked: Clicked | None) -> None:
        drill.remember(name, dimension, clicked, grain or page.cut.grain, page.window)

    charts.draw(chart, key=_key_of(name, page), on_click=on_click)
    drill.offer(name, page.asked, page.at, page.names)


def _key_of(name: str, page: Page) -> str:
    # The key changes with the selection, so that a click is forgotten once the page shows something else; a chart that
    # does not depend on the period keeps its key, and is not drawn anew.
    without = _OF_PERIOD if name == _YEAR else ()
    return f"{name} {sorted(item for item in page.asked.link.items() if item[0] not in without)}"
