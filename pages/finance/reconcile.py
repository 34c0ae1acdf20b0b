"""Reconcile: the file of an insurer or the bank against our records of a month."""

import streamlit as st

from core.services.finance.reconciling import reading as reconciliation_reading
from core.services.finance.statements import overview as statement_overview
from core.store.access import reading
from core.ui.finance.finance_writes import ROLE
from core.ui.finance.reconciling import form
from core.ui.finance.reconciling.tables import RECONCILIATIONS
from core.ui.frame import frame, page_links
from core.ui.lists import held_rows, tables


def draw() -> None:
    frame.require(ROLE)
    frame.page_header(
        "Reconcile", "What an insurer or the bank says of a month, against our records: every difference has an owner."
    )
    if not frame.mode():
        st.info("Live records only are reconciled: switch to Live in the menu.", icon=":material/science:")
        return
    with reading(frame.scope()) as session:
        months = statement_overview.list_months(session)
    made = st.session_state.pop(f"{form.PLACE}.made", None)
    if made:
        st.success("The file was compared: every difference is kept.", icon=":material/check_circle:")
        page_links.link(
            "finance/reconciliation.py",
            label="Open the result",
            icon=":material/balance:",
            query_params={"id": made, **frame.mode_query()},
        )
    form.draw(months)
    with reading(frame.scope()) as session:
        rows = reconciliation_reading.list_reconciliations(session)
    if not rows:
        st.info(
            "No file was reconciled yet: begin with the account of your largest insurer.", icon=":material/balance:"
        )
        return
    st.markdown(RECONCILIATIONS.count_text(len(rows)))
    number = tables.page_of(RECONCILIATIONS, len(rows))
    if number is not None:
        tables.draw(RECONCILIATIONS, held_rows.page_of(RECONCILIATIONS, rows, number), number=number, total=len(rows))
