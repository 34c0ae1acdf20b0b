"""One endpoint: its state, secret, ping, replay, and what was delivered to it."""

from datetime import date, timedelta
from uuid import UUID

import streamlit as st

from core import clock
from core.covers import request as requests
from core.dispatch import webhooks as webhook_dispatch
from core.errors import CoverdeskError
from core.services.events.webhooks import desk, endpoints, log
from core.services.events.webhooks.endpoints import Endpoint
from core.services.events.webhooks.requests import EndpointChange, ReplayRequest
from core.services.people.staff import Person
from core.store.access import ScopedSession, reading, store
from core.ui.frame import frame, record_pages
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Day, Several, Tick, Values
from core.ui.lists import tables
from pages.admin._shared import action, log_link
from pages.admin._webhooks import (
    DELIVERIES,
    DELIVERY_STATES,
    PING,
    STATES,
    keep_secret,
    list_fields,
    list_patterns,
    outcome,
)

_DAYS = 7


def changing(of: Endpoint) -> Action:
    """Return the dialog that changes an endpoint."""

    def change(session: ScopedSession, typed: Values, by: Person) -> None:
        request: EndpointChange = requests.validate(EndpointChange, dict(typed))
        desk.change(session, of.id, request, by=by)

    return action(
        title="Change the endpoint",
        icon="edit",
        says="Another address gets no events until a ping to it was answered.",
        fields=list_fields(
            url=of.url, events=of.events, description=of.description, form=of.format, header=of.signature_header
        ),
        confirm="Save",
        work=change,
        done="The endpoint is saved.",
    )


def rotating(of: Endpoint) -> Action:
    """Return the dialog that gives an endpoint another secret."""
    return action(
        title="Rotate the secret",
        icon="key",
        says="Deliveries carry both signatures for 24 hours, in which the receiver changes over."
        if of.format == "standard"
        else "The classic form has one signature: **the old secret ends at once**; give the receiver the new one now.",
        work=lambda session, _, by: desk.rotate_secret(session, of.id, by=by),
        done="The new secret signs from now on, those of the last 24 hours beside it.",
        then=lambda made: keep_secret(made.secret),
    )


def enabling(of: Endpoint) -> Action:
    """Return the dialog that enables an endpoint and sends what was held."""
    return action(
        title="Enable the endpoint",
        icon="toggle_on",
        says="It takes new events again, at once.",
        fields=[Tick("send_held", f"Send the {words.count(of.held)} that were held", value=True)],
        confirm="Enable",
        work=lambda session, typed, by: (desk.enable(session, of.id, **typed, by=by), typed["send_held"]),
        done=lambda made: _describe_enabled(*made),
    )


def _describe_enabled(count: int, is_sent: bool) -> str:  # noqa: FBT001 - the two results of the work
    held = "event" if count == 1 else "events"
    return f"The endpoint is enabled; {words.count(count)} held {held} {'sent' if is_sent else 'withdrawn'}."


def deleting(of: Endpoint) -> Action:
    """Return the dialog that deletes an endpoint."""
    return action(
        title="Delete the endpoint",
        icon="delete",
        says="It gets no more events, and what waits for it is withdrawn. The feed keeps every event.",
        confirm="Delete it",
        work=lambda session, _, by: desk.delete(session, of.id, by=by),
        done="The endpoint is deleted.",
    )


def replaying(of: Endpoint) -> Action:
    """Return the dialog that counts the events of a span, and sends them when it is confirmed."""
    return action(
        title="Replay events",
        icon="replay",
        says="Events of these days are sent again with their old ids, so that a receiver can skip those it has.",
        fields=[
            Day("from", "From the day", value=clock.add_days(clock.today(), -_DAYS), is_live=True),
            Day("to", "To the end of the day", value=clock.today(), is_live=True),
            Several(
                "events", "Events", options=list_patterns(of.events), placeholder="All that it wants", is_live=True
            ),
            Tick("only_failed", "Only those that never got a 2xx", is_live=True),
            lambda typed: _show_count(of, typed),
        ],
        confirm="Send them again",
        work=lambda session, typed, by: desk.replay(session, of.id, _read_replay(typed), by=by),
        done=lambda count: f"{words.count(count)} events are queued again.",
    )


def _read_replay(typed: Values) -> ReplayRequest:
    """Return what is asked for: the instants between which the chosen days of Lagos lie, and what of them."""
    days = {name: date.fromisoformat(typed[name]) for name in ("from", "to") if typed[name]}
    end = timedelta(days=1, milliseconds=-1)
    span = {
        name: clock.to_wire(clock.lagos_midnight(day) + (end if name == "to" else timedelta()))
        for name, day in days.items()
    }
    events = {"events": typed["events"]} if typed["events"] else {}
    request: ReplayRequest = requests.validate(ReplayRequest, {**span, **events, "only_failed": typed["only_failed"]})
    return request


def _show_count(of: Endpoint, typed: Values) -> None:
    try:
        with reading(frame.scope()) as session:
            count = log.count_replay(session, of.id, _read_replay(typed))
    except CoverdeskError as error:
        st.caption(f"{words.plain(str(error))}.")
    else:
        st.info(f"**{words.count(count)}** events of these days would be sent now.", icon=":material/functions:")


def ping(endpoint_id: UUID) -> None:
    """Ping an endpoint, as the callback of a button."""
    frame.require("admin")
    try:
        st.session_state[PING] = webhook_dispatch.ping_now(store(), frame.scope(), endpoint_id)
    except CoverdeskError as error:
        actions.refuse("", str(error))


def buttons(of: Endpoint) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        st.button("Ping", icon=":material/network_ping:", type="primary", on_click=ping, args=(of.id,))
        if of.state == "disabled":
            enabling(of).button("Enable")
        replaying(of).button("Replay")
        changing(of).button("Change")
        rotating(of).button("Rotate the secret")
        deleting(of).button("Delete")
        log_link("endpoint", of.id)


def about(of: Endpoint, distributor: str) -> None:
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(border=True, height="stretch"):
            facts.line("Distributor", distributor)
            facts.line("Address", of.url)
            facts.line("Events", ", ".join(of.events))
            classic = f"Classic, signed in {of.signature_header}"
            facts.line("Form", "Standard Webhooks" if of.format == "standard" else classic)
        with st.container(border=True, height="stretch"):
            facts.line("Last success", words.moment(of.last_success_at) if of.last_success_at else "Never")
            facts.line("Last failure", words.moment(of.last_failure_at) if of.last_failure_at else "Never")
            if of.last_error:
                facts.line("Last error", of.last_error)
            if of.failing_since:
                facts.line("Failing since", words.moment(of.failing_since))
            if of.disabled_at:
                facts.line("Disabled since", words.moment(of.disabled_at))
            facts.line("Held for it", words.count(of.held))
            if of.old_secret_until:
                facts.line("The old secret signs until", words.moment(of.old_secret_until))


def deliveries(of: Endpoint) -> None:
    st.subheader("Deliveries of the last 90 days", anchor=False)
    state = url_state.one_of("state", DELIVERY_STATES)
    with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
        url_state.choice("state", "State", DELIVERY_STATES, chosen=state)
    with reading(frame.scope()) as session:
        page = log.list_deliveries(session, of.id, DELIVERIES.paging(url_state.page()), state=state)
    number = tables.page_of(DELIVERIES, page.total_count)
    if number is None:
        return
    st.markdown(DELIVERIES.count_text(page.total_count))
    if page.items:
        tables.draw(DELIVERIES, page.items, number=number, total=page.total_count)
    else:
        st.info("Nothing was delivered to it yet.", icon=":material/outbox:")


def draw() -> None:
    frame.require("admin")
    tables.back_link("endpoints", "admin/webhooks.py", "All endpoints")
    endpoint = record_pages.load("endpoint", endpoints.get_endpoint)
    with reading(frame.scope()) as session:
        distributor = desk.list_names(session)[endpoint.distributor_id]
    frame.page_header(
        f"{words.plain(endpoint.description or 'Endpoint')} {words.badge(STATES[endpoint.state])}",
        "Where events of this distributor are sent.",
        tab=f"{distributor} · Endpoint",
    )
    buttons(endpoint)
    actions.run()
    outcome()
    about(endpoint, distributor)
    deliveries(endpoint)
    st.caption(f"Endpoint {endpoint.id}")
