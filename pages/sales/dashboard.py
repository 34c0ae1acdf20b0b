"""Dashboard: sales figures compared with the previous period, and their breakdown."""

from collections.abc import Callable

import streamlit as st

from core import clock
from core.services.comparisons import Comparison
from core.services.dimensions import Choices
from core.services.people.staff import Person
from core.services.sales.figures import Summary
from core.services.sales.filter import SalesFilter
from core.services.windows import Window
from core.ui.frame import frame, page_links
from core.ui.kit import actions, figure_cache, url_state, words
from core.ui.kit.figure_cache import StoreState
from core.ui.lists import periods
from core.ui.sales import (
    dashboard_cards,
    drill,
    money_table,
    movers,
    sales_filters,
    stuck_strip,
    targets_card,
    tiles,
)
from core.ui.sales.dashboard_cards import Page
from core.ui.sales.sales_filters import Asked

DEFAULT = "30d"
PERIODS = [name for name in periods.NAMES if name != periods.ALL]
AGAINST = "against"


def header(window: Window, compared: Comparison, at: StoreState, against: str) -> None:
    as_of = f" Figures as of **{clock.format_lagos(at.as_of, '%H:%M:%S')}**, later sales follow." if at.as_of else ""
    before = "" if against == periods.NOTHING else f", compared with {periods.describe_comparison(compared)}"
    st.caption(
        f":material/calendar_month: **{periods.describe_period(window)}**{before}. Days are those of Lagos.{as_of}",
        width="content",
    )


def filters(asked: Asked[SalesFilter], against: str, about: Callable[[], None], names: Choices) -> None:
    """Draw the filters, and `about` the period in the same row: the figures begin higher."""

    def beside() -> None:
        comparison(against)
        about()

    sales_filters.draw_period(asked, offer=PERIODS, also_changed=against != periods.PREVIOUS)
    sales_filters.chips(asked, names, beside=beside)


def comparison(against: str) -> None:
    """Draw the choice of what the figures are compared with."""
    st.session_state[AGAINST] = against
    st.selectbox(
        "Compared with",
        list(periods.AGAINST),
        key=AGAINST,
        label_visibility="collapsed",
        width=270,
        format_func=lambda name: f"Compared with: {periods.AGAINST[name].lower()}",
        on_change=_against_changed,
    )


def _against_changed() -> None:
    chosen = st.session_state[AGAINST]
    url_state.change({AGAINST: [] if chosen == periods.PREVIOUS else [chosen]})


def sum_of_parts(asked: Asked[SalesFilter], summary: Summary) -> None:
    """Draw the premium as the sum of its parts, the refunds, and the links to the purchases and renewals."""
    taken = summary.current.totals
    with st.container(border=True, gap="xsmall"):
        st.markdown(
            f"Gross written premium **{words.naira(taken.premium_minor)}** = purchases"
            f" **{words.naira(taken.sold_minor)}** ({words.count(taken.sold)}) + renewals"
            f" **{words.naira(taken.renewed_minor)}** ({words.count(taken.renewed)})"
        )
        money_table.draw(
            {
                "Purchases": taken.purchases,
                "Renewals": taken.renewals,
                **money_table.balance(taken.gross, taken.refunds_split, taken.adjusted),
            }
        )
        with st.container(horizontal=True, gap="small"):
            drill.link_to_sales(asked.criteria, taken.sold, taken.renewed)
            page_links.link(
                "finance/movements.py",
                label="Show these movements",
                icon=":material/swap_vert:",
                help="Purchases, renewals, refunds and adjustments, with every filter kept.",
                query_params=asked.link,
            )


def nothing_sold(asked: Asked[SalesFilter], person: Person) -> None:
    if asked.is_filtered:
        st.info("Nothing was sold in this selection.", icon=":material/filter_alt_off:")
        st.button("Start again without filters", on_click=url_state.reset, type="primary")
    else:
        first = ", or record a first sale under Buy" if person.has_role("operations") else ""
        st.info(
            "Nothing was sold in this period yet. Choose a longer one above, look at the other mode with the switch"
            f" in the menu{first}.",
            icon=":material/rocket_launch:",
        )
        if asked.period != "1y":
            st.button("Show the last year", on_click=url_state.change, args=({"period": ["1y"]},), type="primary")


def draw_money(page: Page, summary: Summary) -> None:
    """Draw what the premium of the selection is made of, and whose it is."""
    parts = figure_cache.breakdown(page.at, page.window, page.asked.criteria)
    sum_of_parts(page.asked, summary)
    dashboard_cards.draw_commissions(page, summary)
    with st.grid(2, min_column_width=380, gap="small"):
        dashboard_cards.draw_new_against_renewal(page, summary)
        dashboard_cards.draw_instalments(page, parts)
    dashboard_cards.draw_shares(page, parts)


def draw_years(page: Page) -> None:
    with st.grid(2, min_column_width=380, gap="small"):
        dashboard_cards.draw_year_on_year(page)
        dashboard_cards.draw_cohorts(page)


def draw() -> None:
    person = frame.require("operations", "finance")
    frame.page_header(
        "Dashboard", "How sales go, against the period before, and which insurer, product or distributor moved."
    )
    actions.run()
    at = figure_cache.standing()
    names = figure_cache.names(at)
    asked = sales_filters.read(SalesFilter, names, usual=DEFAULT, offer=PERIODS)
    against = url_state.one_of(AGAINST, periods.AGAINST) or periods.PREVIOUS
    window = asked.window or periods.window_of(DEFAULT, clock.today())
    compared = periods.comparison_of(asked.period, window, against)
    filters(asked, against, lambda: header(window, compared, at, against), names)
    cut = dashboard_cards.read_cut(window)
    wanted = asked.criteria
    with st.skeleton(height=240):
        summary = figure_cache.summary(at, window, compared, wanted)
    tiles.draw(summary, is_compared=against != periods.NOTHING)
    page = Page(asked, window, cut, at, names)
    if summary.current.totals.written:
        # Computed where its place is held; the cards below find it in the cache.
        with st.skeleton(height=400):
            figure_cache.breakdown(at, window, wanted)
        dashboard_cards.draw_premium(page)
    else:
        nothing_sold(asked, person)
    stuck_strip.draw(figure_cache.stuck(at, int(clock.now().timestamp()) // 60), person)
    if against != periods.NOTHING and (summary.current.totals.written or summary.before.totals.written):
        movers.draw(
            figure_cache.breakdown(at, window, wanted), figure_cache.get_comparison(at, compared, wanted), compared
        )
    if summary.current.totals.written:
        draw_money(page, summary)
    draw_years(page)
    if at.is_live:
        targets_card.draw(at, names, person)
