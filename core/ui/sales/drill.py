"""The offer below a chart after a click on a segment: its purchases and renewals, or the page filtered by it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

import streamlit as st

from core import clock
from core.services.dimensions import Choices, Dimension
from core.services.finance import movements
from core.services.sales.breakdowns import Grain
from core.services.sales.filter import SalesFilter
from core.services.sales.totals import SalesTotals
from core.services.windows import Window
from core.ui.frame import frame, page_links
from core.ui.kit import figure_cache, url_state, words
from core.ui.kit.figure_cache import StoreState
from core.ui.lists import periods
from core.ui.sales.charts import Clicked
from core.ui.sales.sales_filters import Asked

PURCHASES, RENEWALS = "sales/purchases.py", "sales/renewals.py"
MOVEMENTS = "finance/movements.py"
# The chart whose bars are commissions: behind them is every movement, not only what was sold.
COMMISSIONS = "commissions"
_DRILL = "drill"


@dataclass(frozen=True, kw_only=True, slots=True)
class Drill:
    """A clicked segment: the chart, a member of a dimension and the days of a bucket, and the URL it was clicked at."""

    chart: str
    dimension: Dimension | None
    member: str | None
    days: Window | None
    address: Mapping[str, object]


def remember(chart: str, dimension: Dimension | None, clicked: Clicked | None, grain: Grain, window: Window) -> None:
    """Store a click for the next drawing of its chart; a second one on the same bar, or on no bar, closes the offer."""
    before = st.session_state.pop(_DRILL, None)
    if clicked is None:
        return
    days = days_of_bucket(clicked.bucket, grain, window) if clicked.bucket else None
    member = clicked.member if dimension else None
    drill = Drill(chart=chart, dimension=dimension, member=member, days=days, address=url_state.all_parameters())
    if drill != before:
        st.session_state[_DRILL] = drill


def days_of_bucket(day: date, grain: Grain, window: Window) -> Window:
    """Return the days of a bucket that lie within the window."""
    after = {"day": clock.add_days(day, 1), "week": clock.add_days(day, 7), "month": clock.add_months(day, 1)}[grain]
    return Window(max(day, window.start), min(after, window.end)) if day < window.end else Window(day, after)


def offer(chart: str, asked: Asked[SalesFilter], at: StoreState, names: Choices) -> None:
    """Draw the offer below the chart that was clicked, unless the page shows something else by now."""
    drill: Drill | None = st.session_state.get(_DRILL)
    if drill is None or drill.chart != chart or drill.address != url_state.all_parameters():
        return
    selection = _narrow(asked.criteria, drill, names)
    totals = figure_cache.totals(at, selection)
    amount = _describe_commission(totals) if chart == COMMISSIONS else words.naira(totals.premium_minor)
    with st.container(border=True, gap="xsmall", key=f"drill_{chart}"):
        st.markdown(f"**{words.plain(_name(drill, names))}** · {words.plain(amount)}")
        with st.container(horizontal=True, gap="small", vertical_alignment="center"):
            if chart == COMMISSIONS:
                _link_to_movements(selection, movements.count(totals))
            else:
                link_to_sales(selection, totals.sold, totals.renewed)
            st.button("Filter by this", icon=":material/filter_alt:", on_click=_filter_by, args=(drill, selection))
            st.button("Close", type="tertiary", on_click=st.session_state.pop, args=(_DRILL, None))


def link_to_sales(selection: SalesFilter, purchases: int, renewals: int) -> None:
    """Draw the links to the purchases and renewals of a selection, with their numbers."""
    query = _query(selection)
    for path, number, noun in ((PURCHASES, purchases, "purchase"), (RENEWALS, renewals, "renewal")):
        those = f"this {noun}" if number == 1 else f"these {words.count(number)} {noun}s"
        # Renewals that failed wrote no premium.
        status = {"status": ["true"]} if path == RENEWALS else {}
        page_links.link(
            path,
            label=f"See {those}" if number else f"No {noun}s",
            icon=":material/arrow_forward:",
            icon_position="right",
            disabled=not number,
            query_params={**query, **status},
        )


def _describe_commission(totals: SalesTotals) -> str:
    whole = totals.mca_minor + totals.distributor_minor
    parts = f"platform {words.naira(totals.mca_minor)}, distributors {words.naira(totals.distributor_minor)}"
    return f"commission {words.naira(whole)}: {parts}"


def _link_to_movements(selection: SalesFilter, number: int) -> None:
    page_links.link(
        MOVEMENTS,
        label=f"See {'this movement' if number == 1 else f'these {words.count(number)} movements'} with their shares"
        if number
        else "No movements",
        icon=":material/arrow_forward:",
        icon_position="right",
        disabled=not number,
        query_params=_query(selection),
    )


def _query(selection: SalesFilter) -> dict[str, list[str]]:
    return {**selection.address(), **{name: [value] for name, value in frame.mode_query().items()}}


def _narrow(selection: SalesFilter, drill: Drill, names: Choices) -> SalesFilter:
    if drill.days:
        selection = replace(selection, created=drill.days.span)
    if drill.dimension and drill.member:
        member = next(key for key in names.names[drill.dimension] if str(key) == drill.member)
        chosen: dict[str, Any] = {f"{drill.dimension}_ids": (member,)}
        selection = replace(selection, **chosen)
    return selection


def _name(drill: Drill, names: Choices) -> str:
    parts = []
    if drill.dimension and drill.member:
        parts.append(next(name for key, name in names.names[drill.dimension].items() if str(key) == drill.member))
    if drill.days:
        parts.append(periods.describe_period(drill.days))
    return ", ".join(parts)


def _filter_by(drill: Drill, selection: SalesFilter) -> None:
    parameters: dict[str, list[str]] = {}
    if drill.dimension and drill.member:
        parameters[drill.dimension] = [drill.member]
    if drill.days:
        parameters |= {"period": [], **selection.FIELDS["created"].write(selection.created)}
    url_state.change(parameters)
