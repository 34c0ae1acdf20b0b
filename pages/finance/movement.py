"""One movement: its money, the sale behind it, and its corrections."""

import streamlit as st

from core.services.dimensions import load_choices
from core.services.finance import adjustments, movements
from core.services.finance.movements import MovementRow
from core.store.access import reading
from core.ui.finance import adjustment_actions, adjustment_cards
from core.ui.finance.finance_writes import ROLE
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import dialogs, facts, words
from core.ui.lists import tables


def amounts(row: MovementRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Money**")
        facts.line("Premium", words.naira(row.total_minor))
        facts.line("Insurer's share", words.naira(row.provider_share_minor))
        facts.line("Platform commission", words.naira(row.mca_profit_minor))
        facts.line("Distributor commission", words.naira(row.distributor_profit_minor))


def sale(row: MovementRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Sale**")
        facts.line("Policy", row.policy_number or "Not given yet")
        facts.line("Customer", row.customer)
        facts.line("Product", row.product)
        facts.line("Insurer", row.provider)
        facts.line("Distributor", row.distributor)
        page_links.link(
            "sales/purchase.py",
            label="Open the purchase",
            icon=":material/receipt:",
            query_params={"id": str(row.purchase_id), **frame.mode_query()},
        )


def draw() -> None:
    person = frame.require("operations", "finance")
    tables.back_link("movements", "finance/movements.py", "Back to the movements")
    row = record_pages.load(
        "movement", lambda session, id_: movements.get_movement(session, id_, load_choices(session)), is_of_mode=True
    )
    with frame.header_with_buttons(
        f"{row.kind_name} of {words.moment(row.created_at)}",
        "One movement of money. It never changes; what is wrong is corrected by another one.",
        tab=f"{row.kind_name} {row.policy_number or ''} · Movement",
    ):
        if person.has_role(ROLE) and row.kind != "adjustment":
            dialogs.button("Propose an adjustment", adjustment_actions.proposing(row), icon=":material/edit_note:")
    dialogs.run(ROLE)
    with st.grid(2, min_column_width=320, gap="small"):
        amounts(row)
        sale(row)
    with reading(frame.scope()) as session:
        proposals = adjustments.list_of_movement(session, row.id)
    if proposals:
        st.subheader("Adjustments", anchor=False)
        adjustment_cards.draw(proposals, person)
    st.caption(f"Movement {row.id} · policy {row.policy_id}")
