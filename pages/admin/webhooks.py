"""Webhooks: the endpoints of every distributor in this mode, their state, and what is held for them."""

import streamlit as st

from core.services.webhooks import desk, endpoints
from core.store.access import reading
from core.ui.frame import frame
from core.ui.kit import actions, url_state
from core.ui.lists import held_rows, tables
from core.ui.webhooks import endpoint_actions, endpoint_tables
from core.ui.webhooks.endpoint_tables import ENDPOINTS, EndpointRow


def draw() -> None:
    frame.require("admin")
    frame.page_header("Webhooks", "Who is told of events as they happen, and whether deliveries arrive.")
    with reading(frame.scope()) as session:
        names = desk.list_names(session)
        listed = endpoints.list_endpoints(session)
    labels = {str(key): name for key, name in sorted(names.items(), key=lambda each: each[1].lower())}
    chosen = url_state.one_of("distributor", labels)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        url_state.choice("distributor", "Distributor", labels, chosen=chosen)
        for key, name in names.items():
            if str(key) == chosen:
                endpoint_actions.registering(key, name, is_live=frame.mode()).button("Register an endpoint", icon="add")
        url_state.reset_button(shown=chosen is not None)
    actions.run()
    endpoint_actions.outcome()
    rows = [
        EndpointRow(each.id, names[each.distributor_id], each)
        for each in listed
        if chosen in (None, str(each.distributor_id))
    ]
    number = tables.page_of(ENDPOINTS, len(rows))
    if number is None:
        return
    st.markdown(ENDPOINTS.count_text(len(rows)))
    if rows:
        tables.draw(ENDPOINTS, held_rows.page_of(ENDPOINTS, rows, number), number=number, total=len(rows))
        st.caption(f"States: {', '.join(endpoint_tables.STATES.values())}. A disabled endpoint's events are held.")
    elif chosen:
        st.info("It has no endpoint in this mode. Register one above.", icon=":material/webhook:")
    else:
        st.info(
            "No distributor has an endpoint in this mode. Choose one to register its first, or let it do so by the"
            " API.",
            icon=":material/webhook:",
        )
