"""The tables of endpoints and of their deliveries."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from core.services.webhooks.endpoints import Endpoint
from core.services.webhooks.log import Delivery
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
