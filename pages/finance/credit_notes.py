"""Credit notes: what goes back to customers, how far it came, and how long it waits."""

import streamlit as st

from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.credit_notes.filter import CreditNoteFilter
from core.services.finance.credit_notes.reading import CreditNoteRow
from core.services.lists.dimensions import load_choices
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import url_state, words
from core.ui.lists import export_panel, filter_bar, filter_chips, tables
from core.ui.lists.tables import Table
from pages.finance._shared import ROLE

CREDIT_NOTES: Table[CreditNoteRow] = tables.of(
    credit_note_reading.CREDIT_NOTES, opens="finance/credit_note.py", narrow=("number", "provider", "state", "back")
)


def nothing(criteria: CreditNoteFilter) -> None:
    if criteria != CreditNoteFilter():
        st.info("No credit note matches.", icon=":material/filter_alt_off:")
        st.button("Show all credit notes", type="primary", on_click=url_state.reset)
    else:
        st.info("No credit note yet: the first comes with a cancelled policy.", icon=":material/undo:")


def draw() -> None:
    frame.require(ROLE)
    frame.page_header(
        "Credit notes", "Refunds of terms that ended early: approved by one or two people, paid by another."
    )
    with reading(frame.scope()) as session:
        names = load_choices(session)
    criteria = filter_bar.read(CreditNoteFilter, names.names)
    filter_chips.draw(criteria, names.names)
    with st.skeleton(height=300), reading(frame.scope()) as session:
        total, minor = credit_note_reading.count(session, criteria)
        paging, order = CREDIT_NOTES.paging(url_state.page()), CREDIT_NOTES.order
        rows = credit_note_reading.list_notes(session, criteria, paging, order=order)
    if not total:
        nothing(criteria)
        return
    number = tables.page_of(CREDIT_NOTES, total)
    if number is None:
        return
    export_panel.offer(
        "credit-notes",
        criteria.address(),
        rows=total,
        sum_minor=minor,
        line=f"{CREDIT_NOTES.count_text(total)} · {words.naira(minor)}",
        table=CREDIT_NOTES,
    )
    tables.draw(CREDIT_NOTES, rows, number=number, total=total)
