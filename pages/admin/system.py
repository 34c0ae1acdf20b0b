"""System: health, running release, settings, and the integrity check of the store."""

from datetime import datetime

import streamlit as st

from core import clock
from core.services.admin import readiness, system
from core.settings import settings
from core.store.access import Scope, reading
from core.ui.admin import automation_card, system_cards
from core.ui.finance import finance_alerts
from core.ui.frame import frame
from core.ui.kit import actions, words


@st.cache_data(ttl="15s", max_entries=4, show_spinner=False)
def looked(_of_store: str) -> tuple[datetime, system.SystemFacts, str | None]:
    """Return the time of the check, the state of the installation, and its readiness fault; cached for 15 seconds."""
    with reading(Scope.system()) as session:
        found = system.get_system_facts(session)
    try:
        fault = readiness.find_fault()
    except readiness.UNANSWERED:
        fault = "the store takes no writes"
    return clock.now(), found, fault


def draw() -> None:
    frame.require("admin")
    frame.page_header(
        "System", "Whether everything is healthy, what runs here, and whether every rule holds in the store."
    )
    actions.run()
    at, found, fault = looked(settings().database_url)
    with st.container(horizontal=True, horizontal_alignment="distribute", vertical_alignment="center"):
        with st.container(width="content"):
            system_cards.glance(found, fault)
        st.button("Refresh", icon=":material/refresh:", type="tertiary", on_click=looked.clear)
    finance_alerts.overdue_bordereaux()
    finance_alerts.expiring_licences()
    st.caption(f"As of {words.moment(at)}. Live and test records together.")
    with st.grid(2, min_column_width=340, gap="small"):
        system_cards.database(found.store)
        system_cards.files(found.files)
        system_cards.queue(found.queue)
        system_cards.outbox(found.outbox, found.endpoints, found.mail)
        system_cards.release(found)
    automation_card.draw()
    system_cards.check()
    system_cards.settings_in_force(system.list_settings())
