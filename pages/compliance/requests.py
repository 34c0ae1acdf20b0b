"""Requests of people about their data: the register, by the days left."""

import streamlit as st

from core.services.compliance import requests
from core.ui.compliance import request_actions
from core.ui.compliance.desk import ROLE, read
from core.ui.compliance.tables import REQUESTS
from core.ui.frame import frame
from core.ui.kit import actions, words
from core.ui.lists import held_rows, tables


def draw() -> None:
    frame.require(ROLE)
    with frame.header_with_buttons(
        "Data requests", "What people ask about their data, over all distributors; the next due is first."
    ):
        request_actions.registering().button("Register a request", icon="contact_mail", type="primary")
    actions.run()
    rows = read(requests.list_requests)
    if not rows:
        st.info("Nobody has asked yet. A request that arrives by letter, e-mail or phone is registered here.")
        return
    late = sum((row.days_left or 0) < 0 for row in rows)
    open_ = sum(row.is_open for row in rows)
    st.markdown(f"{REQUESTS.count_text(len(rows))} · {words.count(open_)} open · {words.count(late)} late")
    number = tables.page_of(REQUESTS, len(rows))
    if number is not None:
        tables.draw(REQUESTS, held_rows.page_of(REQUESTS, rows, number), number=number, total=len(rows))
