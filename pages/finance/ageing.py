"""Ageing: what is payable and receivable with each party, and to customers, by how long it waits."""

import streamlit as st

from core.services.finance import ageing
from core.services.finance.ageing import BUCKETS, Aged
from core.store.access import reading
from core.ui.finance.finance_writes import ROLE
from core.ui.frame import frame
from core.ui.kit import words


def cells(name: str, kind: str, minors: tuple[int, ...]) -> dict[str, str]:
    amounts = zip((*BUCKETS, "Total"), (*minors, sum(minors)), strict=True)
    return {
        "Party": words.plain(name),
        "Kind": kind.title(),
        **{label: words.naira(minor) if minor else "–" for label, minor in amounts},
    }


def table(title: str, rows: list[Aged]) -> None:
    st.subheader(title, anchor=False)
    if not rows:
        st.caption("Nothing is due.")
        return
    shown = [cells(row.party, row.kind, row.minors) for row in rows]
    st.table([*shown, cells("Total", "", ageing.total(rows))], border="horizontal")


frame.require(ROLE)
frame.page_header("Ageing", "What the platform owes and is owed, by the days since the month or the refund it is of.")
if not frame.mode():
    st.info("The books are of live records: switch to Live in the menu.", icon=":material/science:")
    st.stop()
with st.skeleton(height=300), reading(frame.scope()) as session:
    found = ageing.list_aged(session)
table("Payable by the platform", [row for row in found if row.total_minor > 0])
table("Receivable, or carried", [row for row in found if row.total_minor <= 0])
with st.container(horizontal=True, gap="xsmall"):
    for format_ in ("xlsx", "csv"):
        st.link_button(f"Ageing {format_.upper()}", f"/ageing.{format_}", icon=":material/download:")
st.caption("What is on no sent statement yet is not due. A part that is negative lowers what is owed.")
