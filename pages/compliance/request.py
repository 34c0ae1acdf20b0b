"""One request about personal data: identity, records, pack, erasure and outcome."""

import streamlit as st

from core.services.compliance import erasures, requests
from core.services.compliance.request_forms import KINDS
from core.ui.compliance import request_cards
from core.ui.compliance.desk import ROLE, history, read, record
from core.ui.compliance.tables import ERASURES, STATES
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.lists import tables


def draw() -> None:
    frame.require(ROLE)
    tables.back_link("data_requests", "compliance/requests.py", "Back to the requests")
    row = record(requests.get_request, "request")
    frame.page_header(
        f"{row.number} {words.badge(STATES[row.state])}",
        f"{KINDS[row.kind]}: what a person asks about their data at every distributor and in both modes.",
        tab=f"{row.number} · Data request",
    )
    actions.run()
    request_cards.buttons(row)
    with st.grid(2, min_column_width=320, gap="small"):
        request_cards.person(row)
        request_cards.days(row)
    request_cards.pack(row)
    request_cards.records(row)
    if found := read(lambda session: erasures.list_of_request(session, row.id)):
        st.subheader("Erasures", anchor=False)
        tables.draw_short(ERASURES, found)
    history(f"data_request {row.id}")
