"""Webhooks: the endpoints of every distributor in this mode, their state, and what is held for them."""

from uuid import UUID

import streamlit as st

from core.covers import request as requests
from core.services.events.webhooks import desk, endpoints
from core.services.events.webhooks.endpoints import NewSecret
from core.services.events.webhooks.requests import EndpointRequest
from core.services.people.staff import Person
from core.store.access import ScopedSession, reading
from core.ui.frame import frame
from core.ui.kit import actions, url_state, words
from core.ui.kit.actions import Action, Values
from core.ui.lists import held_rows, tables
from pages.admin._shared import action
from pages.admin._webhooks import ENDPOINTS, STATES, EndpointRow, keep_secret, list_fields, outcome


def registering(distributor_id: UUID, name: str, *, is_live: bool) -> Action:
    """Return the dialog that registers an endpoint; its receiver needs the secret before it is pinged."""

    def register(session: ScopedSession, typed: Values, by: Person) -> NewSecret:
        request: EndpointRequest = requests.validate(EndpointRequest, dict(typed))
        return desk.register(session, request, distributor_id=distributor_id, is_live=is_live, by=by)

    return action(
        title="Register an endpoint",
        icon="webhook",
        says=f"Events of **{words.plain(name)}**, {'live' if is_live else 'test'} records, are sent to it.",
        fields=list_fields(),
        confirm="Register",
        work=register,
        done="The endpoint is registered. Give its receiver the secret, then ping it: the first answer activates it.",
        then=lambda made: keep_secret(made.secret, made.endpoint.id),
    )


def draw() -> None:
    frame.require("admin")
    frame.page_header("Webhooks", "Where events are sent as they happen, and whether they arrive.")
    with reading(frame.scope()) as session:
        names = desk.list_names(session)
        listed = endpoints.list_endpoints(session)
    labels = {str(key): name for key, name in sorted(names.items(), key=lambda each: each[1].lower())}
    chosen = url_state.one_of("distributor", labels)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        url_state.choice(
            "distributor", "Distributor", labels, chosen=chosen, anything="Any distributor", labelled=False
        )
        for key, name in names.items():
            if str(key) == chosen:
                registering(key, name, is_live=frame.mode()).button("Register an endpoint", icon="add")
        url_state.reset_button(shown=chosen is not None)
    actions.run()
    outcome()
    rows = [
        EndpointRow(each.id, names[each.distributor_id], each)
        for each in listed
        if chosen in (None, str(each.distributor_id))
    ]
    number = tables.page_of(ENDPOINTS, len(rows))
    if number is None:
        return
    if rows:
        st.markdown(ENDPOINTS.count_text(len(rows)))
        tables.draw(ENDPOINTS, held_rows.page_of(ENDPOINTS, rows, number), number=number, total=len(rows))
        st.caption(f"States: {', '.join(STATES.values())}. A disabled endpoint's events are held.")
    elif chosen:
        st.info("It has no endpoint in this mode. Register one above.", icon=":material/webhook:")
    else:
        st.info(
            "No distributor has an endpoint in this mode. Choose one to register its first, or let it do so by the"
            " API.",
            icon=":material/webhook:",
        )
