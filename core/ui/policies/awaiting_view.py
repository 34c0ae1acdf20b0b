"""What waits for insurers on a screen: its filters, and its table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import streamlit as st
from streamlit.column_config import ButtonColumn

from core import ids
from core.errors import FieldFault, InvalidInput
from core.services.insurers.awaiting import InsurerHealth, Order, Waiting, Wanted
from core.ui import address, tables
from core.ui.policies import insurer_health, resends
from core.ui.tables import Column, Table

PAGE = "policies/awaiting.py"
_NAME = "awaiting"
_PROVIDER, _STATE = "provider", "state"
STATES: Mapping[Wanted, str] = {
    "queued": "Queued",
    "deciding": "Deciding",
    "failing": "Trying again",
    "dead": "Set aside",
}
ORDERS: Mapping[Order, str] = {
    "oldest": "Longest waiting first",
    "newest": "Newest first",
    "next": "Next try first",
}
_RETRY = "awaiting_retry"


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for."""

    provider_id: UUID | None
    state: Wanted | None

    @property
    def narrowed(self) -> bool:
        """True when any filter is in use."""
        return self.provider_id is not None or self.state is not None


def read(insurers: Sequence[InsurerHealth]) -> Asked:
    """What the address asks for; when that cannot be meant, say why, offer the way back, and end the page."""
    given, state = (st.query_params.get(name) for name in (_PROVIDER, _STATE))
    faults = []
    provider_id = _id(given)
    if given is not None and provider_id not in {insurer.id for insurer in insurers}:
        faults.append(FieldFault(_PROVIDER, "must be the id of an insurer"))
    if state is not None and state not in STATES:
        faults.append(FieldFault(_STATE, f"must be one of {', '.join(STATES)}"))
    if faults:
        address.way_back(faults)
    return Asked(provider_id, next((known for known in STATES if known == state), None))


def _id(given: str | None) -> UUID | None:
    try:
        return ids.parse(given) if given else None
    except InvalidInput:
        return None


def filters(asked: Asked, insurers: Sequence[InsurerHealth]) -> None:
    """The filters, and the way back to everything."""
    names = {str(insurer.id): insurer.name for insurer in insurers}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        address.choice(_PROVIDER, "Insurer", names, chosen=asked.provider_id and str(asked.provider_id))
        address.choice(_STATE, "State", STATES, chosen=asked.state)
        address.reset_button(shown=asked.narrowed)


def follow_retry() -> None:
    """Send again the policy whose button was just clicked; the rows are those that were on the screen then."""
    click, shown = st.session_state.get(_RETRY), st.session_state.get(f"{_NAME}_shown", [])
    if click and click["row"] < len(shown):
        resends.one(shown[click["row"]])


def back_link() -> None:
    """The way back to what waits, for who opened a policy from there."""
    if _NAME + "_address" in st.session_state:
        tables.back_link(_NAME, PAGE, "Back to awaiting insurer")


def table() -> Table[Waiting]:
    """The table of what waits; a row opens its policy."""
    retry = ButtonColumn("", key=_RETRY, type="tertiary", width=65)
    return Table(
        name=_NAME,
        noun=("policy", "policies"),
        opens="policies/policy.py",
        orders={str(order): words for order, words in ORDERS.items()},
        columns={
            "retry": Column("Retry", lambda row: "Retry" if row.retryable else None, retry),
            "state": tables.text("State", lambda row: row.situation, 105),
            "age": tables.text("Waiting", lambda row: insurer_health.age(row.created_at), 70),
            "holder": tables.text("Customer", lambda row: row.holder, 125),
            "insurer": tables.text("Insurer", lambda row: row.provider, 165),
            "said": tables.text("Last word", lambda row: row.last_error, 330),
            "attempts": tables.number("Tries", lambda row: row.attempts, 55),
            "next": tables.moment("Next try", lambda row: row.next_try_at),
            "cover": tables.text("Cover", lambda row: row.stage, 80),
            "product": tables.text("Product", lambda row: row.product, 160),
            "distributor": tables.text("Distributor", lambda row: row.distributor, 130),
            "number": tables.text("Policy number", lambda row: row.policy_number, 165),
            "since": tables.moment("Since", lambda row: row.created_at, usual=False),
        },
    )
