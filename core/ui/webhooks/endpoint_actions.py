"""An admin's changes to endpoints, each confirmed in a dialog; a ping and a secret are shown once."""

from collections.abc import Callable, Sequence
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import streamlit as st

from core import clock
from core.covers import request as requests
from core.dispatch import webhooks as webhook_dispatch
from core.errors import CoverdeskError
from core.services.events.catalogue import EVENT_TYPES, OLDER_NAMES
from core.services.webhooks import desk, log
from core.services.webhooks.endpoints import Endpoint
from core.services.webhooks.log import Delivery
from core.services.webhooks.requests import EndpointChange, EndpointRequest, ReplayRequest
from core.store.access import reading, store
from core.ui.admin import admin_writes
from core.ui.frame import frame, page_links
from core.ui.kit import dialogs, words
from core.ui.kit.dialogs import Decision

_FIELDS = ("url", "description", "format", "signature_header")
_FORMATS = {"standard": "Standard Webhooks", "classic": "Classic, for receivers of older interfaces"}
_SECRET, _PING = "webhook.secret", "webhook.ping"
_DAYS = 7


def get_typed() -> dict[str, Any]:
    """Return what was typed of an endpoint, as a request says it."""
    return {**dialogs.get_values(*_FIELDS), "events": dialogs.chosen("events")}


def _ask(known: Sequence[str] = ()) -> None:
    dialogs.field("url", "Address, beginning with https://", longest=2000)
    dialogs.several("events", "Events", _list_patterns(known), placeholder="Choose types")
    dialogs.field("description", "What it is for (optional)", longest=200)
    dialogs.choice("format", "Form", _FORMATS)
    dialogs.field("signature_header", "Header of the classic signature", longest=64)


def _list_patterns(known: Sequence[str]) -> dict[str, str]:
    """Return everything, all of each object, every type, its older name, and the patterns that an endpoint has."""
    kinds = dict.fromkeys(f"{each.object}.*" for each in EVENT_TYPES)
    patterns = dict.fromkeys(("*", *kinds, *known, *(each.name for each in EVENT_TYPES), *OLDER_NAMES))
    older = {name: f"{name}: {type_} in the classic form" for name, type_ in OLDER_NAMES.items()}
    return {**{each: each for each in patterns}, **older, "*": "Everything (*)"}


def registering(distributor_id: UUID, name: str, *, is_live: bool) -> Decision:
    """Return the dialog that registers an endpoint; its receiver needs the secret before it is pinged."""

    def act() -> str:
        request: EndpointRequest = requests.validate(EndpointRequest, get_typed())
        made = admin_writes.write(
            lambda session, by: desk.register(session, request, distributor_id=distributor_id, is_live=is_live, by=by)
        )
        st.session_state[_SECRET] = (made.secret, made.endpoint.id)
        return "The endpoint is registered. Give its receiver the secret, then ping it: the first answer activates it."

    return Decision(
        title="Register an endpoint",
        icon="webhook",
        says=f"Events of **{words.plain(name)}**, {'live' if is_live else 'test'} records, are sent to it.",
        asks=_ask,
        given={"url": "", "events": ["*"], "description": "", "format": "standard", "signature_header": "x-signature"},
        confirm="Register",
        act=act,
    )


def changing(of: Endpoint) -> Decision:
    """Return the dialog that changes an endpoint."""

    def act() -> str:
        request: EndpointChange = requests.validate(EndpointChange, get_typed())
        admin_writes.write(lambda session, by: desk.change(session, of.id, request, by=by))
        return "The endpoint is saved."

    return Decision(
        title="Change the endpoint",
        icon="edit",
        says="Another address gets no events until a ping to it was answered.",
        asks=lambda: _ask(of.events),
        given={
            "url": of.url,
            "events": list(of.events),
            "description": of.description,
            "format": of.format,
            "signature_header": of.signature_header,
        },
        confirm="Save",
        act=act,
    )


def rotating(of: Endpoint) -> Decision:
    """Return the dialog that gives an endpoint another secret."""

    def act() -> str:
        made = admin_writes.write(lambda session, by: desk.rotate_secret(session, of.id, by=by))
        st.session_state[_SECRET] = (made.secret, None)
        return "The new secret signs from now on, those of the last 24 hours beside it."

    says = (
        "Deliveries carry both signatures for 24 hours, in which the receiver changes over."
        if of.format == "standard"
        else "The classic form has one signature: **the old secret ends at once**; give the receiver the new one now."
    )
    return Decision(title="Rotate the secret", icon="key", says=says, confirm="Rotate the secret", act=act)


def enabling(of: Endpoint) -> Decision:
    """Return the dialog that enables an endpoint and sends what was held."""

    def act() -> str:
        count = admin_writes.write(lambda session, by: desk.enable(session, of.id, send_held=send_held(), by=by))
        noun = "event" if count == 1 else "events"
        return f"The endpoint is enabled; {words.count(count)} held {noun} {'sent' if send_held() else 'withdrawn'}."

    def send_held() -> bool:
        return bool(st.session_state.get(f"{dialogs.FIELD}held", True))

    def ask() -> None:
        st.checkbox(f"Send the {words.count(of.held)} that were held", value=True, key=f"{dialogs.FIELD}held")

    says = "It takes new events again, at once."
    return Decision(title="Enable the endpoint", icon="toggle_on", says=says, asks=ask, confirm="Enable", act=act)


def deleting(of: Endpoint) -> Decision:
    """Return the dialog that deletes an endpoint."""

    def act() -> str:
        admin_writes.write(lambda session, by: desk.delete(session, of.id, by=by))
        return "The endpoint is deleted."

    says = "It gets nothing more; what waits for it is withdrawn. The feed keeps every event."
    return Decision(title="Delete the endpoint", icon="delete", says=says, confirm="Delete it", act=act)


def replaying(of: Endpoint) -> Decision:
    """Return the dialog that counts the events of a span, and sends them when it is confirmed."""

    def asked() -> ReplayRequest:
        patterns = dialogs.chosen("events")
        only_failed = bool(st.session_state.get(f"{dialogs.FIELD}only_failed"))
        chosen = {"events": patterns} if patterns else {}
        request: ReplayRequest = requests.validate(ReplayRequest, {**_span(), **chosen, "only_failed": only_failed})
        return request

    def act() -> str:
        request = asked()
        count = admin_writes.write(lambda session, by: desk.replay(session, of.id, request, by=by))
        return f"{words.count(count)} events are queued again."

    def ask() -> None:
        dialogs.day("from", "From the day", is_live=True)
        dialogs.day("to", "To the end of the day", is_live=True)
        wanted = "All that it wants"
        dialogs.several("events", "Events", _list_patterns(of.events), placeholder=wanted, is_live=True)
        st.checkbox("Only those that never got a 2xx", key=f"{dialogs.FIELD}only_failed")
        _show_count(of, asked)

    given: dict[str, date | list[str]] = {
        "from": clock.add_days(clock.today(), -_DAYS),
        "to": clock.today(),
        "events": [],
    }
    says = "Events of these days are sent again, under their old ids: a receiver that keeps ids takes each once."
    return Decision(
        title="Replay events", icon="replay", says=says, asks=ask, given=given, confirm="Send them again", act=act
    )


def _span() -> dict[str, str | None]:
    """Return the instants between which the chosen days of Lagos lie; a day that is missing is left out."""
    days = {name: date.fromisoformat(day) for name, day in dialogs.get_values("from", "to").items() if day}
    end = timedelta(days=1, milliseconds=-1)
    return {
        name: clock.to_wire(clock.lagos_midnight(day) + (end if name == "to" else timedelta()))
        for name, day in days.items()
    }


def _show_count(of: Endpoint, asked: Callable[[], ReplayRequest]) -> None:
    try:
        request = asked()
        with reading(frame.scope()) as session:
            count = log.count_replay(session, of.id, request)
    except CoverdeskError as error:
        st.caption(f"{words.plain(str(error))}.")
    else:
        st.info(f"**{words.count(count)}** events of these days would be sent now.", icon=":material/functions:")


def sending_again(of: Delivery) -> Decision:
    """Return the dialog that sends one delivery again."""

    def act() -> str:
        admin_writes.write(lambda session, by: desk.redeliver(session, of.id, by=by))
        return "The delivery is queued again."

    says = "It is sent under the same id: a receiver that keeps ids takes it once."
    return Decision(title="Send it again", icon="replay", says=says, confirm="Send it again", act=act)


def ping(endpoint_id: UUID) -> None:
    """Ping an endpoint, as the callback of a button."""
    frame.require("admin")
    try:
        st.session_state[_PING] = webhook_dispatch.ping_now(store(), frame.scope(), endpoint_id)
    except CoverdeskError as error:
        admin_writes.refuse(error)


def outcome() -> None:
    """Show the answer to a ping, or a new secret, once."""
    admin_writes.outcome()
    secret, endpoint_id = st.session_state.pop(_SECRET, (None, None))
    if secret:
        with st.container(border=True):
            st.markdown(":material/key: **Copy this secret now: it is shown once.**")
            st.code(secret, language=None, wrap_lines=True)
            if endpoint_id:
                query = {"id": str(endpoint_id), **frame.mode_query()}
                page_links.link(
                    "admin/webhook.py", label="Open it to ping", icon=":material/network_ping:", query_params=query
                )
    if pinged := st.session_state.pop(_PING, None):
        last = pinged.tries[-1]
        if last.error is None:
            st.success(
                f"The receiver answered {last.status} in {last.milliseconds} ms.", icon=":material/check_circle:"
            )
        else:
            st.error(f"{words.plain(last.error)}.", icon=":material/error:")
        if last.answer:
            st.code(last.answer, language=None, wrap_lines=True)
