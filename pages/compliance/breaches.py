"""The register of breaches of personal data."""

import streamlit as st

from core.services.compliance import breaches
from core.ui.compliance import register_actions
from core.ui.compliance.desk import ROLE, read
from core.ui.compliance.tables import BREACHES
from core.ui.frame import frame
from core.ui.kit import actions
from core.ui.lists import held_rows, tables


def draw() -> None:
    frame.require(ROLE)
    with frame.header_with_buttons(
        "Breaches", "What happened to personal data, the risk to people, and who was told in time."
    ):
        register_actions.registering_breach().button("Register a breach", icon="gpp_bad", type="primary")
    actions.run()
    rows = read(breaches.list_breaches)
    if not rows:
        st.info("No breach is known. One that is suspected is registered too: the clock runs from when it was known.")
        return
    number = tables.page_of(BREACHES, len(rows))
    if number is not None:
        tables.draw(BREACHES, held_rows.page_of(BREACHES, rows, number), number=number, total=len(rows))
