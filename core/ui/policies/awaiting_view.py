"""The list of policies awaiting their insurer: its filters and its table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import streamlit as st

from core import clock, ids
from core.errors import FieldFault, InvalidInput
from core.services.insurers import resending
from core.services.insurers.awaiting import InsurerHealth, OpenSubmission, Order, QueueView
from core.ui.kit import url_state
from core.ui.lists import columns, tables
from core.ui.lists.columns import Column
from core.ui.lists.tables import Table
from core.ui.policies import insurer_health, resends

PAGE = "policies/awaiting.py"
_PROVIDER, _STATE = "provider", "state"
STATES: Mapping[QueueView, str] = {
    "queued": "Queued",
    "deciding": "Deciding",
    "failing": "Trying again",
    "dead": "Set aside",
}
ORDERS: Mapping[Order, str] = {
    "oldest": "Longest waiting first",
    "newest": "Newest first",
    "next": "Next try first",
    "next-back": "Next try last",
    "tries-back": "Most tries first",
    "tries": "Fewest tries first",
}


@dataclass(frozen=True, slots=True)
class Asked:
    """The parsed query parameters of the screen."""

    provider_id: UUID | None
    state: QueueView | None

    @property
    def is_filtered(self) -> bool:
        """Return True if any filter is in use."""
        return self.provider_id is not None or self.state is not None


def read(insurers: Sequence[InsurerHealth]) -> Asked:
    """Read the filters from the URL; show invalid query parameters and stop the page."""
    given, state = (st.query_params.get(name) for name in (_PROVIDER, _STATE))
    faults = []
    provider_id = _id(given)
    if given is not None and provider_id not in {insurer.id for insurer in insurers}:
        faults.append(FieldFault(_PROVIDER, "must be the id of an insurer"))
    if state is not None and state not in STATES:
        faults.append(FieldFault(_STATE, f"must be one of {', '.join(STATES)}"))
    if faults:
        url_state.way_back(faults)
    return Asked(provider_id, next((known for known in STATES if known == state), None))


def _id(given: str | None) -> UUID | None:
    try:
        return ids.parse(given) if given else None
    except InvalidInput:
        return None


def filters(asked: Asked, insurers: Sequence[InsurerHealth]) -> None:
    """Draw the filters and the reset button."""
    names = {str(insurer.id): insurer.name for insurer in insurers}
    with st.container(horizontal=True, vertical_alignment="bottom", gap="xsmall"):
        url_state.choice(_PROVIDER, "Insurer", names, chosen=asked.provider_id and str(asked.provider_id))
        url_state.choice(_STATE, "State", STATES, chosen=asked.state)
        url_state.reset_button(shown=asked.is_filtered)


def follow_retry() -> None:
    """Resend the policy whose button was just clicked."""
    if policy_id := tables.get_clicked_row(WAITING):
        resends.one(policy_id)


def bulk(picked: Sequence[OpenSubmission]) -> None:
    """Draw what can be done with the ticked policies at once."""
    ids_ = [row.id for row in picked]
    number = f" ({len(picked)})" if len(picked) > 1 else ""
    with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
        st.button(
            f"Send again{number}",
            key="awaiting.resend",
            icon=":material/send:",
            disabled=not any(row.retryable for row in picked),
            on_click=resends.act_on_selected,
            args=(ids_, resending.resend, "first in the queue", WAITING),
        )
        st.button(
            f"Reported by bordereau{number}",
            key="awaiting.reported",
            icon=":material/task:",
            disabled=not picked,
            help="The insurer was told of these active policies another way.",
            on_click=resends.act_on_selected,
            args=(ids_, resending.record_reported, "noted as reported", WAITING),
        )
        if not picked:
            st.caption("Tick policies to act on several at once.", width="content")


def _target(row: OpenSubmission) -> str:
    """Return how far a policy is from its target: "4 days over", "20 h left"."""
    if row.is_overdue:
        return f"{insurer_health.age(row.due_at)} over"
    now = clock.now()
    # As long as the age of what lies as far back as the target lies ahead.
    return f"{insurer_health.age(now - (row.due_at - now))} left"


WAITING: Table[OpenSubmission] = Table(
    name="awaiting",
    noun=("policy", "policies"),
    opens="policies/policy.py",
    act="Retry",
    may_act=lambda row: row.retryable,
    home=(PAGE, "Back to awaiting insurer"),
    narrow=("holder", "state", "age", "insurer"),
    orders={str(order): title for order, title in ORDERS.items()},
    columns={
        "state": columns.state("State", lambda row: row.situation),
        "age": columns.text(
            "Waiting", lambda row: insurer_health.age(row.created_at), sorts=("oldest", "newest"), right=True
        ),
        "target": Column(
            "Target",
            _target,
            is_right=True,
            says="A connected insurer is to answer within a day; any other one is to be told within seven.",
            colour=lambda row: "red" if row.is_overdue else "gray",
        ),
        "holder": columns.text("Customer", lambda row: row.holder, 125),
        "insurer": columns.text("Insurer", lambda row: row.provider, 165),
        "said": columns.text("Last word", lambda row: row.last_error, 260),
        "attempts": columns.number("Tries", lambda row: row.attempts, sorts=("tries", "tries-back")),
        "next": columns.moment("Next try", lambda row: row.next_try_at, sorts=("next", "next-back")),
        "cover": columns.state("Cover", lambda row: row.stage),
        "product": columns.text("Product", lambda row: row.product, 160, usual=False),
        "distributor": columns.text("Distributor", lambda row: row.distributor, 130, usual=False),
        "number": columns.text("Policy number", lambda row: row.policy_number, 165, usual=False),
        "since": columns.moment("Since", lambda row: row.created_at, usual=False, sorts=("oldest", "newest")),
    },
)
