"""Payments: what is due with each party, the payments, and the payouts that two people make."""

from dataclasses import replace

import streamlit as st

from core.services.finance import tax_schedules
from core.services.finance.payments import balances, batches
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments.allocation import Balance
from core.services.finance.statements import overview as statement_overview
from core.states.payments import PaymentState
from core.store.access import reading
from core.ui.finance import payment_actions
from core.ui.finance.finance_writes import ROLE
from core.ui.finance.months import choose_month
from core.ui.finance.payment_tables import DUE, PAYMENTS, PAYOUTS, TAXES
from core.ui.frame import frame
from core.ui.kit import dialogs, url_state, words
from core.ui.lists import held_rows, tables

VIEWS = {"due": "Due", "payments": "Payments", "payouts": "Payouts", "taxes": "Taxes"}


def due() -> None:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = [(each, batches.hindrance_of(session, each)) for each in balances.list_balances(session)]
    payable = [balance for balance, why in rows if why is None]
    if payable:
        dialogs.button(
            f"Prepare a payout of {words.naira(sum(each.amount_minor for each in payable))}",
            payment_actions.preparing(payable),
            is_primary=True,
            icon=":material/payments:",
        )
    if not rows:
        st.info("Nothing is due: every statement that was sent is settled.", icon=":material/task_alt:")
        return
    totals([balance for balance, _ in rows])
    number = tables.page_of(DUE, len(rows))
    if number is not None:
        tables.draw(DUE, held_rows.page_of(DUE, rows, number), number=number, total=len(rows))


def totals(found: list[Balance]) -> None:
    owed = sum(each.amount_minor for each in found if each.amount_minor > 0)
    owing = -sum(each.amount_minor for each in found if each.amount_minor < 0)
    owes = f"owed by the platform **{words.naira(owed)}** · owed to it **{words.naira(owing)}**"
    st.markdown(f"{DUE.count_text(len(found))} · {owes}")


def payments() -> None:
    states = {state.value: state.value for state in PaymentState}
    state = url_state.one_of("state", states)
    st.session_state["state"] = state
    st.pills(
        "State",
        list(states),
        key="state",
        label_visibility="collapsed",
        on_change=lambda: url_state.change({"state": [st.session_state["state"]] if st.session_state["state"] else []}),
    )
    with st.skeleton(height=300), reading(frame.scope()) as session:
        total, minor = payment_reading.count_payments(session, state=state)
        order = PAYMENTS.order_among(payment_reading.ORDERS)
        rows = payment_reading.list_payments(session, PAYMENTS.paging(url_state.page()), state=state, order=order)
    st.markdown(f"{PAYMENTS.count_text(total)} · paid out less received {words.naira(minor)}")
    number = tables.page_of(PAYMENTS, total) if total else None
    if number is not None:
        tables.draw(PAYMENTS, rows, number=number, total=total)


def payouts() -> None:
    with st.skeleton(height=300), reading(frame.scope()) as session:
        rows = payment_reading.list_batches(session)
    st.markdown(PAYOUTS.count_text(len(rows)))
    number = tables.page_of(PAYOUTS, len(rows)) if rows else None
    if number is not None:
        tables.draw(PAYOUTS, held_rows.page_of(PAYOUTS, rows, number), number=number, total=len(rows))


def taxes() -> None:
    with reading(frame.scope()) as session:
        month = choose_month(statement_overview.list_months(session))
        found = {kind: tax_schedules.list_lines(session, kind, month) for kind in tax_schedules.KINDS}
    for kind, lines in found.items():
        st.subheader(tax_schedules.KINDS[kind], anchor=False)
        if not lines:
            st.caption(f"None on the statements of {month:%B %Y}.")
            continue
        tables.draw_short(replace(TAXES, name=f"{TAXES.name}_{kind}"), lines)
        st.markdown(f"**{words.naira(sum(line.tax_minor for line in lines))}** · {words.plain(lines[0].source)}")
        with st.container(horizontal=True, gap="xsmall"):
            for format_ in ("xlsx", "csv"):
                url = f"/taxes/{kind}/{month:%Y-%m}.{format_}"
                st.link_button(f"{tax_schedules.KINDS[kind]} {format_.upper()}", url, icon=":material/download:")
    st.caption(
        "From the statements that are not void. Premium is exempt; a schedule may be filed once all are approved."
    )


def draw() -> None:
    frame.require(ROLE)
    frame.page_header(
        "Payments",
        "What is due with each party: prepared by one person, approved by another, and settled on statements.",
    )
    if not frame.mode():
        st.info("Payments are made of live records: switch to Live in the menu.", icon=":material/science:")
        return
    view = url_state.choose_view(VIEWS)
    dialogs.run(ROLE)
    {"due": due, "payments": payments, "payouts": payouts, "taxes": taxes}[view]()
