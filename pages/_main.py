"""The UI entry script: requires a sign-in and shows each person the menu of their roles.

It must be inside pages/: with the script beside that folder, Streamlit would run a page without this check.
"""

import streamlit as st

from core.errors import StoreUnavailable
from core.ui.frame import demonstration, frame, navigation, page_links, unavailable
from core.ui.lists import saved_views
from core.ui.sign_in import gate

st.set_page_config(page_title="Coverdesk", page_icon=frame.ICON, layout="wide", initial_sidebar_state=256)
with unavailable.explain_refusals():
    try:
        person = None if gate.has_ticket() else frame.current()
    except StoreUnavailable:
        navigation.keep_address()
        raise
    page = navigation.page_for(person, saved_views.start_queries(person)) if person else None
    demonstration.banner()
    frame.name_tab(page.title.partition(" (")[0] if page else "Sign in")
    if page is None:
        navigation.take_away()
        page_links.forget_typed()
        gate.draw(frame.LOGO)
    else:
        with navigation.measure_run(page.url_path):
            page.run()
