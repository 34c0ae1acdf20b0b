"""Webhooks: the endpoints of every distributor in this mode, one endpoint, and one delivery to it."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any
from uuid import UUID

import streamlit as st

from core import clock
from core.covers import request as requests
from core.dispatch import webhooks as webhook_dispatch
from core.errors import CoverdeskError, InvalidInput
from core.services.catalogue import distributors
from core.services.events.catalogue import EVENT_TYPES, OLDER_NAMES
from core.services.events.webhooks import endpoints, log
from core.services.events.webhooks.endpoints import Endpoint, EndpointChange, EndpointRequest, NewSecret, ReplayRequest
from core.services.events.webhooks.log import Delivery, Try
from core.services.lists.dimensions import load_choices
from core.services.people.accounts import as_admin
from core.services.people.staff import Person
from core.store.access import Owner, ScopedSession, read_in, reading, store
from core.ui.frame import frame, page_links
from core.ui.kit import actions, facts, url_state, words
from core.ui.kit.actions import Action, Choice, Day, Field, Several, Text, Tick, Values
from core.ui.lists import columns, tables
from core.ui.lists.tables import Table
from pages.admin._shared import action, log_link

STATES: Mapping[str, str] = {
    "unverified": "Not verified",
    "active": "Active",
    "failing": "Failing",
    "disabled": "Disabled",
}
DELIVERY_STATES: Mapping[str, str] = {
    "queued": "Waiting",
    "held": "Held",
    "sent": "Accepted",
    "dead": "Given up",
    "withdrawn": "Withdrawn",
}


@dataclass(frozen=True, slots=True)
class EndpointRow:
    """An endpoint with the name of its distributor."""

    id: UUID
    distributor: str
    endpoint: Endpoint

    @property
    def state(self) -> str:
        """Its state as screens call it."""
        return STATES[self.endpoint.state]

    @property
    def name(self) -> str:
        """Display name: its description, or its address."""
        return self.endpoint.description or self.endpoint.url


ENDPOINTS: Table[EndpointRow] = Table(
    name="endpoints",
    noun=("endpoint", "endpoints"),
    opens="admin/webhooks.py#webhook",
    narrow=("name", "distributor", "state"),
    columns={
        "name": columns.text("Endpoint", lambda row: row.name, 240),
        "distributor": columns.text("Distributor", lambda row: row.distributor, 160),
        "state": columns.state("State", lambda row: row.state),
        "events": columns.text("Events", lambda row: ", ".join(row.endpoint.events), 200),
        "held": columns.number("Held", lambda row: row.endpoint.held),
        "success": columns.moment("Last success", lambda row: row.endpoint.last_success_at),
        "failure": columns.moment("Last failure", lambda row: row.endpoint.last_failure_at),
    },
    unsorted="As registered",
)


def _next_try(row: Delivery) -> datetime | None:
    return row.next_try_at if row.state == "queued" else None


DELIVERIES: Table[Delivery] = Table(
    name="deliveries",
    noun=("delivery", "deliveries"),
    opens="admin/webhooks.py#delivery",
    narrow=("type", "state", "created"),
    columns={
        "type": columns.text("Event", lambda row: row.event_type, 190),
        "state": columns.state("State", lambda row: DELIVERY_STATES[row.state]),
        "status": columns.text("Answer", lambda row: str(row.status) if row.status else None, 70),
        "attempts": columns.number("Tries", lambda row: row.attempts),
        "created": columns.moment("Queued", lambda row: row.created_at),
        "next": columns.moment("Next try", _next_try),
        "error": columns.text("Last error", lambda row: row.last_error, 240),
    },
)
_SECRET, PING = "webhook.secret", "webhook.ping"
_FORMATS = {"standard": "Standard Webhooks", "classic": "Classic, for receivers of older interfaces"}


def list_fields(
    *, url: str = "", events: Sequence[str] = ("*",), description: str = "", form: str = "standard", header: str = ""
) -> list[Field]:
    patterns = list_patterns(events)
    return [
        Text("url", "Address, beginning with https://", longest=2000, value=url),
        Several("events", "Events", options=patterns, placeholder="Choose types", value=list(events)),
        Text("description", "What it is for (optional)", longest=200, value=description),
        Choice("format", "Form", options=_FORMATS, value=form, is_live=True),
        Text(
            "signature_header",
            "Header of the signature",
            longest=64,
            value=header or "x-signature",
            when=lambda typed: typed["format"] == "classic",
        ),
    ]


def _read_typed(typed: Values) -> dict[str, Any]:
    """Return what an endpoint is asked for: a header is given with the classic form alone."""
    return {name: value for name, value in typed.items() if name != "signature_header" or value}


def list_patterns(known: Sequence[str]) -> dict[str, str]:
    """Return everything, all of each object, every type, its older name, and the patterns that an endpoint has."""
    kinds = dict.fromkeys(f"{each.object}.*" for each in EVENT_TYPES)
    patterns = dict.fromkeys(("*", *kinds, *known, *(each.name for each in EVENT_TYPES), *OLDER_NAMES))
    older = {name: f"{name}: {type_} in the classic form" for name, type_ in OLDER_NAMES.items()}
    return {**{each: each for each in patterns}, **older, "*": "Everything (*)"}


def keep_secret(secret: str, endpoint_id: UUID | None = None) -> None:
    st.session_state[_SECRET] = secret, endpoint_id


def outcome() -> None:
    """Show the answer to a ping, or a new secret, once."""
    secret, endpoint_id = st.session_state.pop(_SECRET, (None, None))
    if secret:
        with st.container(border=True):
            st.markdown(":material/key: **Copy this secret now: it is shown once.**")
            st.code(secret, language=None, wrap_lines=True)
            if endpoint_id:
                page_links.link_to("admin/webhooks.py#webhook", "Open it to ping", "network_ping", id=str(endpoint_id))
    if pinged := st.session_state.pop(PING, None):
        last = pinged.tries[-1]
        if last.error is None:
            st.success(
                f"The receiver answered {last.status} in {last.milliseconds} ms.", icon=":material/check_circle:"
            )
        else:
            st.error(f"{words.plain(last.error)}.", icon=":material/error:")
        if last.answer:
            st.code(last.answer, language=None, wrap_lines=True)


def registering(sellers: Mapping[str, str], chosen: str | None, *, is_live: bool) -> Action:
    """Return the dialog that registers an endpoint; its receiver needs the secret before it is pinged."""

    def register(session: ScopedSession, typed: Values, by: Person) -> NewSecret:
        given = _read_typed(typed)
        distributor = given.pop("distributor")
        if not distributor:
            raise InvalidInput.for_field("distributor", "choose a distributor")
        request: EndpointRequest = requests.validate(EndpointRequest, given)
        owner = Owner(distributor_id=UUID(distributor), is_live=is_live)
        return endpoints.register(session, request, owner, actor=as_admin(by))

    return action(
        title="Register an endpoint",
        icon="webhook",
        says=f"Events of one distributor, {'live' if is_live else 'test'} records, are sent to it.",
        fields=[Choice("distributor", "Distributor", options=sellers, value=chosen), *list_fields()],
        confirm="Register",
        work=register,
        done="The endpoint is registered. Give its receiver the secret, then ping it: the first answer activates it.",
        then=lambda made: keep_secret(made.secret, made.endpoint.id),
    )


def draw() -> None:
    frame.require("admin")
    with reading(frame.scope()) as session:
        names = load_choices(session).names["distributor"]
        listed = endpoints.list_endpoints(session)
    labels = {str(key): name for key, name in sorted(names.items(), key=lambda each: each[1].lower())}
    chosen = url_state.one_of("distributor", labels)
    with frame.header_with_buttons("Webhooks", "Where events are sent as they happen, and whether they arrive."):
        if labels:
            register = registering(labels, chosen, is_live=frame.mode())
            register.button("Register an endpoint", icon="add", type="primary")
    if listed or chosen:
        with st.container(horizontal=True, vertical_alignment="bottom", gap="small"):
            url_state.choice(
                "distributor", "Distributor", labels, chosen=chosen, anything="Any distributor", labelled=False
            )
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
        tables.draw(ENDPOINTS, tables.cut_page(ENDPOINTS, rows, number), number=number, total=len(rows))
        st.caption(f"States: {', '.join(STATES.values())}. A disabled endpoint's events are held.")
    elif chosen:
        st.info("It has no endpoint in this mode. Register one above.", icon=":material/webhook:")
    elif not names:
        page_links.link_to("admin/partners.py", "Add the distributor of the first endpoint", "add_business")
    else:
        st.info(
            "No distributor has an endpoint in this mode: register the first, or let a distributor do so by the API.",
            icon=":material/webhook:",
        )


_DAYS = 7
# A delivery that is tried soon is looked at as often.
_SOON, _LOOKS_EVERY = timedelta(minutes=1), "2s"


def changing(of: Endpoint) -> Action:
    """Return the dialog that changes an endpoint."""

    def change(session: ScopedSession, typed: Values, by: Person) -> None:
        request: EndpointChange = requests.validate(EndpointChange, _read_typed(typed))
        endpoints.change(session, of.id, request, actor=as_admin(by))

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
        work=lambda session, _, by: endpoints.rotate_secret(session, of.id, actor=as_admin(by)),
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
        work=lambda session, typed, by: (
            endpoints.enable(session, of.id, **typed, actor=as_admin(by)),
            typed["send_held"],
        ),
        done=lambda made: (
            f"The endpoint is enabled; {words.counted(made[0], 'held event', 'held events')}"
            f" {'sent' if made[1] else 'withdrawn'}."
        ),
    )


def deleting(of: Endpoint) -> Action:
    """Return the dialog that deletes an endpoint."""
    return action(
        title="Delete the endpoint",
        icon="delete",
        says="It gets no more events, and what waits for it is withdrawn. The feed keeps every event.",
        confirm="Delete it",
        work=lambda session, _, by: endpoints.delete(session, of.id, actor=as_admin(by)),
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
        work=lambda session, typed, by: log.replay(session, of.id, _read_replay(typed), actor=as_admin(by)),
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
        count = read_in(frame.scope(), log.count_replay, of.id, _read_replay(typed))
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
            # The classic form has one signature, of the newest secret.
            if of.format == "standard" and of.old_secret_until and of.old_secret_until > clock.now():
                facts.line("The old secret signs until", words.moment(of.old_secret_until))


def deliveries(of: Endpoint) -> None:
    st.subheader("Deliveries of the last 90 days", anchor=False)
    state = url_state.one_of("state", DELIVERY_STATES)
    with st.container(width=220):
        url_state.choice("state", "State", DELIVERY_STATES, chosen=state, anything="Any state", labelled=False)
    page = read_in(frame.scope(), log.list_deliveries, of.id, DELIVERIES.paging(url_state.page()), state=state)
    number = tables.page_of(DELIVERIES, page.total_count)
    if number is None:
        return
    st.markdown(DELIVERIES.count_text(page.total_count))
    if page.items:
        tables.draw(DELIVERIES, page.items, number=number, total=page.total_count)
    elif state:
        st.info(f"No delivery is in the state {DELIVERY_STATES[state]}.", icon=":material/filter_alt_off:")
    else:
        st.info("Nothing was delivered to it yet.", icon=":material/outbox:")


def draw_webhook() -> None:
    frame.require("admin")
    tables.back_link("endpoints", "admin/webhooks.py", "Back to the webhooks")
    endpoint = page_links.load_record("endpoint", endpoints.get_endpoint)
    with reading(frame.scope()) as session:
        distributor = load_choices(session).names["distributor"][endpoint.distributor_id]
        is_resting = endpoint.distributor_id not in {each.id for each in distributors.list_active(session)}
    with frame.header_with_buttons(
        f"{words.plain(endpoint.description or 'Endpoint')} {words.badge(STATES[endpoint.state])}",
        f"Where events of {words.plain(distributor)} are sent.",
        tab=f"{distributor} · Endpoint",
    ):
        buttons(endpoint)
    if is_resting:
        st.warning(
            f"{words.plain(distributor)} is switched off: its endpoints rest, and what waits is sent once it is"
            " switched on again.",
            icon=":material/pause_circle:",
        )
    actions.run()
    outcome()
    about(endpoint, distributor)
    deliveries(endpoint)
    st.caption(f"Endpoint {endpoint.id}")


def sending_again(of: Delivery) -> Action:
    """Return the dialog that sends one delivery again."""
    return action(
        title="Send it again",
        icon="replay",
        says="It is sent under the same id: a receiver that keeps ids takes it once.",
        work=lambda session, _, by: log.redeliver(session, of.id, actor=as_admin(by)),
        done="The delivery is queued again.",
    )


def is_soon(of: Delivery) -> bool:
    """Return True for a delivery that waits, and is tried within the next minute."""
    return of.state == "queued" and (of.next_try_at is None or of.next_try_at < clock.now() + _SOON)


def follow_delivery(shown: Delivery) -> None:
    """Draw the page anew once the delivery was tried, or waits for longer."""
    frame.require("admin")
    with reading(frame.scope()) as session:
        now = log.get_delivery(session, shown.id).delivery
    if (now.state, now.attempts) != (shown.state, shown.attempts) or not is_soon(now):
        st.rerun()


def draw_tries(tries: Sequence[Try]) -> None:
    st.subheader("Tries", anchor=False)
    if not tries:
        st.caption("It was not tried yet.")
    for each in tries:
        with st.container(border=True):
            answered = words.plain(each.error) if each.error else f"The receiver answered {each.status}"
            st.markdown(
                f"**Try {each.attempt}** · {words.moment(each.started_at)} · {each.milliseconds} ms · {answered}"
            )
            if each.answer:
                st.code(each.answer, language=None, wrap_lines=True)


def describe(of: Delivery) -> dict[str, str]:
    """Return the facts of a delivery, by their labels."""
    next_try = of.next_try_at if of.state == "queued" else None
    known = {
        "Queued": words.moment(of.created_at),
        "Tries": words.count(of.attempts),
        "Accepted": of.delivered_at and words.moment(of.delivered_at),
        "Next try": next_try and words.moment(next_try),
        "Last error": of.last_error,
        "Replayed": "Yes" if of.is_replay else None,
    }
    return {label: value for label, value in known.items() if value}


def indent(body: bytes) -> str:
    """Return a body of JSON with a line for each member, anything else as it is."""
    try:
        return json.dumps(json.loads(body), indent=2, ensure_ascii=False)
    except ValueError:
        return body.decode(errors="replace")


def draw_delivery() -> None:
    frame.require("admin")
    tables.back_link("deliveries", "admin/webhooks.py", "Back to the deliveries")
    detail = page_links.load_record("delivery", log.get_delivery)
    of = detail.delivery
    with frame.header_with_buttons(
        f"{words.plain(of.event_type)} {words.badge(DELIVERY_STATES[of.state])}",
        f"Event {of.event_id}, for one endpoint.",
        tab=f"{of.event_type} · Delivery",
    ):
        sending_again(of).button("Send it again", icon="replay")
        page_links.link_to("admin/webhooks.py#webhook", "Its endpoint", "webhook", id=str(of.endpoint_id))
    actions.run()
    if is_soon(of):
        st.fragment(follow_delivery, run_every=_LOOKS_EVERY)(of)
    with st.container(border=True):
        facts.grid(describe(of), columns=3)
    draw_tries(detail.tries)
    st.subheader("Body", anchor=False)
    st.caption("With a line for each member; it is sent, and signed, without them.")
    st.code(indent(detail.body), language="json", wrap_lines=True)
