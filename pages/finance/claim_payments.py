"""Claims to pay: payments that supervisors have handed to finance."""

from collections.abc import Sequence

import streamlit as st

from core.services.claims.paying import hand_overs
from core.services.claims.paying.hand_overs import HandOver
from core.store.access import reading
from core.ui.claims_money import finance_payments, payment_file
from core.ui.finance.finance_writes import ROLE
from core.ui.frame import frame
from core.ui.kit import dialogs, words

MOST = 50


def line(row: HandOver) -> None:
    with st.container(border=True, horizontal=True, vertical_alignment="center", gap="small"):
        with st.container(gap=None, width="stretch"):
            st.markdown(
                f"**{words.naira(row.amount_minor)}** to **{words.plain(row.payee.name)}**,"
                f" {words.plain(finance_payments.describe_account(row))}"
            )
            st.caption(
                f"{words.plain(row.reference)} · {words.plain(row.claim_type)} · {words.plain(row.provider)} · approved"
                f" by {words.plain(row.approved_name)} · handed over by {words.plain(row.by)}, {words.moment(row.at)}"
            )
            if row.note:
                st.text(row.note)
        dialogs.button(
            "Pay", finance_payments.paying(row), key=f"pay {row.id.hex} {row.version}", icon=":material/payments:"
        )


def together(found: Sequence[HandOver]) -> None:
    """Offer one transfer for each insurer of whom several claims wait."""
    waiting: dict[str, list[HandOver]] = {}
    for row in found:
        waiting.setdefault(row.provider, []).append(row)
    several = {name: rows for name, rows in sorted(waiting.items()) if len(rows) > 1}
    with st.container(horizontal=True, gap="xsmall"):
        for name, rows in several.items():
            dialogs.button(
                f"One transfer for {len(rows)} claims of {words.plain(name)}",
                finance_payments.paying_together(rows),
                key=f"together {name}",
                icon=":material/account_tree:",
            )


def draw() -> None:
    frame.require(ROLE)
    frame.page_header(
        "Claims to pay",
        "Payments of claims that a supervisor has approved for finance. Who approved, set the payee or handed it over"
        " does not pay it.",
    )
    dialogs.run(ROLE)
    payment_file.draw()
    with st.skeleton(height=300), reading(frame.scope()) as session:
        found = hand_overs.list_open(session)
    if not found:
        st.info("No payment of a claim waits for finance.", icon=":material/task_alt:")
        return
    due = words.naira(sum(row.amount_minor for row in found))
    st.markdown(f"**{words.count(len(found))}** {'payment' if len(found) == 1 else 'payments'} · {due}")
    together(found)
    for row in found[:MOST]:
        line(row)
    if len(found) > MOST:
        st.caption(f"The oldest {MOST} are shown; the others follow as these are paid.")
