"""Shared by the screens of webhooks: the tables, the fields of an endpoint, and what became of its secret and pings."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import streamlit as st

from core.services.events.catalogue import EVENT_TYPES, OLDER_NAMES
from core.services.events.webhooks.endpoints import Endpoint
from core.services.events.webhooks.log import Delivery
from core.ui.frame import frame, page_links
from core.ui.kit import words
from core.ui.kit.actions import Choice, Field, Several, Text
from core.ui.lists import columns, held_rows
from core.ui.lists.tables import Table

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


ENDPOINTS: Table[EndpointRow] = held_rows.sortable(
    Table(
        name="endpoints",
        noun=("endpoint", "endpoints"),
        opens="admin/webhook.py",
        narrow=("name", "distributor", "state", "held"),
        columns={
            "name": columns.text("Endpoint", lambda row: row.name, 240),
            "distributor": columns.text("Distributor", lambda row: row.distributor, 160),
            "state": columns.state("State", lambda row: row.state),
            "events": columns.text("Events", lambda row: ", ".join(row.endpoint.events), 200),
            "held": columns.number("Held", lambda row: row.endpoint.held),
            "success": columns.moment("Last success", lambda row: row.endpoint.last_success_at),
            "failure": columns.moment("Last failure", lambda row: row.endpoint.last_failure_at),
        },
    ),
    usual="As registered",
)


def _next_try(row: Delivery) -> datetime | None:
    return row.next_try_at if row.state == "queued" else None


DELIVERIES: Table[Delivery] = Table(
    name="deliveries",
    noun=("delivery", "deliveries"),
    opens="admin/delivery.py",
    narrow=("type", "state", "attempts", "created"),
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
        Choice("format", "Form", options=_FORMATS, value=form),
        Text("signature_header", "Header of the classic signature", longest=64, value=header or "x-signature"),
    ]


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
                query = {"id": str(endpoint_id), **frame.mode_query()}
                page_links.link(
                    "admin/webhook.py", label="Open it to ping", icon=":material/network_ping:", query_params=query
                )
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
