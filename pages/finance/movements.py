"""Movements: all the money there is, one signed row each, and what of it is not placed yet."""

from collections.abc import Sequence

import streamlit as st

from core.services.finance import adjustments, movements
from core.services.finance.adjustments import Proposal
from core.services.finance.movements import MovementFilter, MovementRow, Unplaced
from core.services.lists.dimensions import load_choices
from core.services.sales.totals import SalesTotals
from core.store.access import reading
from core.ui.frame import frame, page_links
from core.ui.kit import url_state, words
from core.ui.lists import export_panel, periods, saved_views, tables
from core.ui.lists.tables import Table
from core.ui.sales import money_table, sales_filters
from core.ui.sales.sales_filters import Selection


def draw_waiting(proposals: Sequence[Proposal]) -> None:
    """Draw the proposals that wait for a second person, each with the way to its movement."""
    if not proposals:
        return
    number = len(proposals)
    with st.expander(f"Adjustments that wait for a second person: {number}", icon=":material/pending_actions:"):
        for proposal in proposals:
            page_links.link(
                "finance/movement.py",
                label=f"{words.naira(proposal.parts.total_minor)} by {words.plain(proposal.proposer)},"
                f" {words.moment(proposal.proposed_at)}",
                icon=":material/edit_note:",
                query_params={"id": str(proposal.corrects_id), **frame.mode_query()},
            )


MOVEMENTS: Table[MovementRow] = tables.of(
    movements.MOVEMENTS, opens="finance/movement.py", narrow=("policy", "kind", "when", "total")
)


def toolbar(found: Selection[MovementFilter], total: SalesTotals, open_premium: Unplaced) -> None:
    days = periods.describe_period(found.window) if found.window else "All time"
    premium = words.plain(words.naira(total.net.total_minor))
    missing = words.plain(words.naira(open_premium.total_minor))
    unplaced_now = f" · :orange[{missing} unplaced now]" if open_premium.policies else ""

    def sums() -> None:
        footer(total)
        not_placed(open_premium)

    export_panel.offer(
        "movements",
        found.criteria.address(),
        rows=movements.count(total),
        sum_minor=total.net.total_minor,
        line=f"{MOVEMENTS.count_text(movements.count(total))} · {premium} net · {days}{unplaced_now}",
        table=MOVEMENTS,
        sums=sums,
    )


def footer(total: SalesTotals) -> None:
    """Draw the total of the whole selection: gross, given back, adjusted and net, each with its shares."""
    net = total.net
    tables.footer(
        {
            "Movements": words.count(movements.count(total)),
            "Gross written premium": words.naira(total.premium_minor),
            "Given back": words.naira(-total.refunded_minor),
            "Adjusted": words.naira(total.adjusted_minor),
            "Net premium": words.naira(net.total_minor),
        }
    )
    money_table.draw(
        {
            "Purchases": total.purchases,
            "Renewals": total.renewals,
            **money_table.balance(total.gross, total.refunds_split, total.adjusted),
        }
    )


def not_placed(found: Unplaced) -> None:
    """Draw the premium whose insurer has not taken the policy yet, whatever days are chosen above."""
    if not found.policies:
        return
    with st.container(border=True, gap="xsmall", key="unplaced"):
        st.markdown(
            f":material/hourglass_top: **Unplaced premium {words.naira(found.total_minor)}**: written, while the"
            f" insurer has not taken the policy yet ({words.count(found.policies)})."
        )
        with st.grid(3, min_column_width=150, gap="small"):
            for label, number, minor in (
                ("0 to 7 days", found.fresh, found.fresh_minor),
                ("8 to 14 days", found.waiting, found.waiting_minor),
                ("Over 14 days", found.late, found.late_minor),
            ):
                with st.container(gap=None):
                    st.caption(f"{label} · {words.count(number)}")
                    st.markdown(f"**{words.naira(minor)}**")
        st.caption("As of now, for all days; the other filters above apply.")


def nothing(found: Selection[MovementFilter]) -> None:
    if found.is_changed:
        st.info("No movement matches this selection.", icon=":material/filter_alt_off:")
        st.button("Show all movements", type="primary", on_click=url_state.reset)
    else:
        st.info(
            "No money has moved in this mode yet: the first sale appears here at once. Look at the other mode with the"
            " switch in the menu.",
            icon=":material/rocket_launch:",
        )


def draw() -> None:
    person = frame.require("operations", "finance")
    frame.page_header(
        "Movements",
        "Every purchase, renewal, refund and adjustment, with its sign and its three shares.",
    )
    with reading(frame.scope()) as session:
        names = load_choices(session)
    found = sales_filters.read(MovementFilter, names, usual=periods.ALL)
    sales_filters.draw(found, names, beside=lambda: saved_views.draw("finance/movements.py", person))
    with st.skeleton(height=300), reading(frame.scope()) as session:
        paging = MOVEMENTS.paging(url_state.page())
        total = movements.compute_totals(session, found.criteria)
        rows = movements.list_rows(session, found.criteria, names, order=MOVEMENTS.order, paging=paging)
        open_premium = movements.compute_unplaced(session, found.criteria.of_every_kind)
        waiting = adjustments.list_open(session)
    draw_waiting(waiting)
    toolbar(found, total, open_premium)
    if not movements.count(total):
        nothing(found)
        return
    number = tables.page_of(MOVEMENTS, movements.count(total))
    if number is None:
        return
    tables.draw(MOVEMENTS, rows, number=number, total=movements.count(total))
