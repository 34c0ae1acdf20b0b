"""An admin's changes to endpoints, each confirmed in a dialog; a ping and a secret are shown once."""

from collections.abc import Sequence
from datetime import date, timedelta
from uuid import UUID

import streamlit as st

from core import clock
from core.covers import request as requests
from core.dispatch import webhooks as webhook_dispatch
from core.errors import CoverdeskError
from core.services.events.catalogue import EVENT_TYPES, OLDER_NAMES
from core.services.people.staff import Person
from core.services.webhooks import desk, log
from core.services.webhooks.endpoints import Endpoint, NewSecret
from core.services.webhooks.log import Delivery
from core.services.webhooks.requests import EndpointChange, EndpointRequest, ReplayRequest
from core.store.access import ScopedSession, reading, store
from core.ui.admin.desk import action
from core.ui.frame import frame, page_links
from core.ui.kit import actions, words
from core.ui.kit.actions import Action, Choice, Day, Field, Several, Text, Tick, Values

_FORMATS = {"standard": "Standard Webhooks", "classic": "Classic, for receivers of older interfaces"}
_SECRET, _PING = "webhook.secret", "webhook.ping"
_DAYS = 7


def _ask(
    *, url: str = "", events: Sequence[str] = ("*",), description: str = "", form: str = "standard", header: str = ""
) -> list[Field]:
    patterns = _list_patterns(events)
    return [
        Text("url", "Address, beginning with https://", longest=2000, value=url),
        Several("events", "Events", options=patterns, placeholder="Choose types", value=list(events)),
        Text("description", "What it is for (optional)", longest=200, value=description),
        Choice("format", "Form", options=_FORMATS, value=form),
        Text("signature_header", "Header of the classic signature", longest=64, value=header or "x-signature"),
    ]


def _list_patterns(known: Sequence[str]) -> dict[str, str]:
    """Return everything, all of each object, every type, its older name, and the patterns that an endpoint has."""
    kinds = dict.fromkeys(f"{each.object}.*" for each in EVENT_TYPES)
    patterns = dict.fromkeys(("*", *kinds, *known, *(each.name for each in EVENT_TYPES), *OLDER_NAMES))
    older = {name: f"{name}: {type_} in the classic form" for name, type_ in OLDER_NAMES.items()}
    return {**{each: each for each in patterns}, **older, "*": "Everything (*)"}


def registering(distributor_id: UUID, name: str, *, is_live: bool) -> Action:
    """Return the dialog that registers an endpoint; its receiver needs the secret before it is pinged."""

    def register(session: ScopedSession, typed: Values, by: Person) -> NewSecret:
        request: EndpointRequest = requests.validate(EndpointRequest, dict(typed))
        return desk.register(session, request, distributor_id=distributor_id, is_live=is_live, by=by)

    return action(
        title="Register an endpoint",
        icon="webhook",
        says=f"Events of **{words.plain(name)}**, {'live' if is_live else 'test'} records, are sent to it.",
        fields=_ask(),
        confirm="Register",
        work=register,
        done="The endpoint is registered. Give its receiver the secret, then ping it: the first answer activates it.",
        then=lambda made: _keep_secret(made.secret, made.endpoint.id),
    )


def _keep_secret(secret: str, endpoint_id: UUID | None = None) -> None:
    st.session_state[_SECRET] = secret, endpoint_id


def changing(of: Endpoint) -> Action:
    """Return the dialog that changes an endpoint."""

    def change(session: ScopedSession, typed: Values, by: Person) -> None:
        request: EndpointChange = requests.validate(EndpointChange, dict(typed))
        desk.change(session, of.id, request, by=by)

    return action(
        title="Change the endpoint",
        icon="edit",
        says="Another address gets no events until a ping to it was answered.",
        fields=_ask(
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
        then=lambda made: _keep_secret(made.secret),
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
        done=lambda made: _say_enabled(*made),
    )


def _say_enabled(count: int, is_sent: bool) -> str:  # noqa: FBT001 - the two results of the work
    held = "event" if count == 1 else "events"
    return f"The endpoint is enabled; {words.count(count)} held {held} {'sent' if is_sent else 'withdrawn'}."


def deleting(of: Endpoint) -> Action:
    """Return the dialog that deletes an endpoint."""
    return action(
        title="Delete the endpoint",
        icon="delete",
        says="It gets nothing more; what waits for it is withdrawn. The feed keeps every event.",
        confirm="Delete it",
        work=lambda session, _, by: desk.delete(session, of.id, by=by),
        done="The endpoint is deleted.",
    )


def replaying(of: Endpoint) -> Action:
    """Return the dialog that counts the events of a span, and sends them when it is confirmed."""
    return action(
        title="Replay events",
        icon="replay",
        says="Events of these days are sent again, under their old ids: a receiver that keeps ids takes each once.",
        fields=[
            Day("from", "From the day", value=clock.add_days(clock.today(), -_DAYS), is_live=True),
            Day("to", "To the end of the day", value=clock.today(), is_live=True),
            Several(
                "events", "Events", options=_list_patterns(of.events), placeholder="All that it wants", is_live=True
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


def sending_again(of: Delivery) -> Action:
    """Return the dialog that sends one delivery again."""
    return action(
        title="Send it again",
        icon="replay",
        says="It is sent under the same id: a receiver that keeps ids takes it once.",
        work=lambda session, _, by: desk.redeliver(session, of.id, by=by),
        done="The delivery is queued again.",
    )


def ping(endpoint_id: UUID) -> None:
    """Ping an endpoint, as the callback of a button."""
    frame.require("admin")
    try:
        st.session_state[_PING] = webhook_dispatch.ping_now(store(), frame.scope(), endpoint_id)
    except CoverdeskError as error:
        actions.refuse("", str(error))


def outcome() -> None:
    """Show the answer to a ping, or a new secret, once."""
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
