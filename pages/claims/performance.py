"""Performance: time to settlement, age of open claims, decline reasons, and decisions by officer."""

import streamlit as st

from core import clock
from core.services.claims.reports import breakdowns as claim_breakdowns
from core.services.claims.reports import figures as claim_figures
from core.services.claims.reports import loss_ratios
from core.services.dimensions import load_choices
from core.services.sales.filter import SalesFilter
from core.store.access import reading
from core.ui.claims import performance_cards
from core.ui.claims_money import loss_table
from core.ui.frame import frame, page_links
from core.ui.lists import periods
from core.ui.sales import sales_filters

DEFAULT = "6m"
PERIODS = [name for name in periods.NAMES if name != periods.ALL]


def draw() -> None:
    frame.require("claims", "supervisor")
    performance_cards.follow()
    frame.page_header(
        "Performance", "How fast claims are settled, how old the open ones are, and why and by whom they are decided."
    )
    with reading(frame.scope()) as session:
        choices = load_choices(session)
    asked = sales_filters.read(SalesFilter, choices, usual=DEFAULT, offer=PERIODS)
    window = asked.window or periods.window_of(DEFAULT, clock.today())
    sales_filters.draw_period(asked, offer=PERIODS)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        summary = claim_figures.build_summary(session, window, compared=periods.comparison_of(asked.period, window))
    st.caption(
        f":material/calendar_month: **{periods.describe_period(window)}**, compared with"
        f" {periods.describe_comparison(summary.compared)}."
        " Days are those of Lagos."
    )
    # The tiles are drawn before the figures of the charts are queried.
    performance_cards.draw_tiles(summary)
    with st.skeleton(height=400), reading(frame.scope()) as session:
        aged = claim_breakdowns.count_by_age(session)
        reasons = claim_breakdowns.count_decline_reasons(session, window)
        types = claim_breakdowns.count_by_type(session, window)
        officers = claim_breakdowns.list_workloads(session, summary.decisions)
    if not (summary.current.lodged or summary.current.decided or officers):
        st.info(
            "No claim was lodged or decided in this period, and none is open. Choose a longer one above, lodge a claim"
            " on a caller's behalf, or look at the other mode with the switch in the menu.",
            icon=":material/inbox:",
        )
        page_links.link("claims/lodge.py", label="Lodge a claim", icon=":material/note_add:")
        return
    performance_cards.draw_over_time(summary)
    with st.grid(2, min_column_width=380, gap="small"):
        performance_cards.draw_turnaround(claim_breakdowns.count_by_turnaround(summary.decisions))
        performance_cards.draw_ageing(aged)
        performance_cards.draw_reasons(reasons, window)
        performance_cards.draw_types(types)
    performance_cards.draw_officers(officers)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        losses = loss_ratios.build_table(session, window)
    loss_table.draw(losses, choices, window)
