"""Dashboard: sales figures compared with the previous period, and their breakdown."""

import streamlit as st

from core import clock
from core.services.sales.figures import Summary
from core.ui.kit import figure_cache, frame, periods, url_state, words
from core.ui.kit.figure_cache import Standing
from core.ui.sales import dashboard_cards, money_table, sales_filters, tiles
from core.ui.sales.sales_filters import Asked

DEFAULT = "30d"
PERIODS = [name for name in periods.NAMES if name != periods.ALL]
PURCHASES = "sales/purchases.py"


def header(summary: Summary, at: Standing) -> None:
    as_of = f" Figures as of **{clock.format_lagos(at.as_of, '%H:%M:%S')}**, later sales follow." if at.as_of else ""
    st.caption(
        f":material/calendar_month: **{periods.in_words(summary.window)}**, compared with"
        f" {periods.compared_in_words(summary.compared)}. Days are those of Lagos.{as_of}"
    )


def filters(asked: Asked) -> None:
    sales_filters.draw_period(asked, offer=PERIODS, default=DEFAULT)
    with st.grid(4, min_column_width=125, gap="xsmall"):
        sales_filters.draw_members(asked, names, "provider", "category", "product", "distributor")


def sum_of_parts(asked: Asked, summary: Summary) -> None:
    """Draw the premium as the sum of its parts, the refunds, and the link to the purchases."""
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
                **money_table.balance(taken.gross, taken.given_back, taken.adjusted),
            }
        )
        st.page_link(
            "finance/movements.py",
            label="Show these movements",
            icon=":material/swap_vert:",
            help="Purchases, renewals, refunds and adjustments, with every filter kept.",
            query_params=asked.link,
        )
        st.page_link(
            PURCHASES,
            label="Show these purchases",
            icon=":material/arrow_forward:",
            icon_position="right",
            disabled=not taken.sold,
            help=f"{words.count(taken.sold)} purchases, {words.naira(taken.sold_minor)}, with every filter kept.",
            query_params=asked.link,
        )


def nothing_sold(asked: Asked) -> None:
    if asked.narrowed:
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


person = frame.require("operations", "finance")
frame.page_header(
    "Dashboard", "How sales go, against the period before, and which insurer, product or distributor moved."
)
at = figure_cache.standing()
names = figure_cache.names(at)
asked = sales_filters.read(names, default=DEFAULT, offer=PERIODS)
window = asked.window or periods.window_of(DEFAULT, clock.today())
filters(asked)
cut = dashboard_cards.read_cut(window)
with st.skeleton(height=600):
    wanted = asked.selection.wanted
    summary = figure_cache.summary(at, window, periods.compared(asked.period, window), wanted)
    parts = figure_cache.breakdown(at, window, wanted)
    lines = figure_cache.over_time(at, window, wanted, grain=cut.grain, split=cut.split)
header(summary, at)
tiles.draw(summary)
sum_of_parts(asked, summary)
if summary.current.totals.written:
    dashboard_cards.draw_premium(asked, cut, window, lines)
    with st.grid(2, min_column_width=380, gap="small"):
        dashboard_cards.draw_commissions(asked, cut, summary)
        dashboard_cards.draw_new_against_renewal(asked, cut, summary)
    dashboard_cards.draw_shares(asked, parts)
else:
    nothing_sold(asked)
