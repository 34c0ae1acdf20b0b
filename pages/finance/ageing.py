"""Ageing: what is payable and receivable with each party, and to customers, by how long it waits."""

import streamlit as st

from core.services.finance import ageing
from core.services.finance.ageing import Aged
from core.store.access import reading
from core.ui.finance.ageing_table import PAYABLE, RECEIVABLE
from core.ui.finance.finance_writes import ROLE
from core.ui.frame import frame
from core.ui.lists import tables
from core.ui.lists.tables import Table


def draw(title: str, table: Table[Aged], rows: list[Aged]) -> None:
    st.subheader(title, anchor=False)
    if rows:
        tables.draw_short(table, [*rows, Aged(party="Total", kind="", minors=ageing.total(rows))])
    else:
        st.caption("Nothing is due.")


frame.require(ROLE)
frame.page_header("Ageing", "What the platform owes and is owed, by the days since the month or the refund it is of.")
if not frame.mode():
    st.info("The books are of live records: switch to Live in the menu.", icon=":material/science:")
    st.stop()
with st.skeleton(height=300), reading(frame.scope()) as session:
    found = ageing.list_aged(session)
draw("Payable by the platform", PAYABLE, [row for row in found if row.total_minor > 0])
draw("Receivable, or carried", RECEIVABLE, [row for row in found if row.total_minor <= 0])
with st.container(horizontal=True, gap="xsmall"):
    for format_ in ("xlsx", "csv"):
        st.link_button(f"Ageing {format_.upper()}", f"/ageing.{format_}", icon=":material/download:")
st.caption("What is on no sent statement yet is not due. A part that is negative lowers what is owed.")
