"""A selection of claims as an address carries it.

`view` is one of the desk's views, `status`, `type`, `reason` (of a decline) and `distributor` (an id) may be repeated,
`assigned` is the id of an officer, `nobody`, or `me` for who reads it, `from` and `to` are the Lagos days of lodging,
`incident_from` and `incident_to` those of the incident, `decided_from` and `decided_to` those of the decision. `q` is a
claim's id, a policy number, or any part of the claimant's name, e-mail or phone; `first_name`, `last_name`, `phone`,
`email`, `owner`, `amount`, `offer` and `estimate` are the search of the API (contract P6).
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Final, Literal
from uuid import UUID

from core import ids
from core.errors import InvalidInput
from core.services.address_reader import Address, AddressReader, written
from core.services.claims.intake.requirements import CLAIM_STATUSES, DECLINE_REASONS
from core.services.claims.lists.search import NOBODY, ClaimFilter, Stage, Unassigned
from core.services.windows import open_dates, open_days

View = Literal["mine", "unassigned", "referred", "near", "waiting", "open", "all"]
VIEWS: Final[Mapping[View, Stage | None]] = {
    "mine": "unsettled",
    "unassigned": "open",
    "referred": "referred",
    "near": "near",
    "waiting": "waiting",
    "open": "open",
    "all": None,
}
NAMES = (
    *("view", "status", "type", "reason", "assigned", "from", "to", "incident_from", "incident_to"),
    *("decided_from", "decided_to", "q", "first_name", "last_name", "phone", "email", "owner"),
    *("amount", "offer", "estimate", "distributor"),
)
ME = "me"


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimSelection:
    """Which claims; nothing chosen means all of them. `assigned` is whose claims the view `mine` shows."""

    view: View | None = None
    status: tuple[str, ...] = ()
    type: tuple[str, ...] = ()
    reason: tuple[str, ...] = ()
    assigned: UUID | Unassigned | None = None
    first: date | None = None
    last: date | None = None
    incident_first: date | None = None
    incident_last: date | None = None
    decided_first: date | None = None
    decided_last: date | None = None
    q: str = ""
    first_name: str | None = None
    last_name: str | None = None
    phone: str | None = None
    email: str | None = None
    owner: str | None = None
    amount: Decimal | None = None
    offer: Decimal | None = None
    estimate: Decimal | None = None
    distributor: tuple[UUID, ...] = ()

    @classmethod
    def read(cls, address: Address, *, me: UUID | None = None) -> "ClaimSelection":
        """The selection of an address; InvalidInput names every value that cannot be meant."""
        reader = AddressReader(address)
        first, last = reader.days("from", "to")
        incident_first, incident_last = reader.days("incident_from", "incident_to")
        decided_first, decided_last = reader.days("decided_from", "decided_to")
        view: View | None = reader.word("view", VIEWS)  # type: ignore[assignment]
        assigned = reader.text("assigned", what="officer") or (ME if view == "mine" else None)
        found = cls(
            view=view,
            status=reader.words("status", CLAIM_STATUSES),
            type=reader.texts("type"),
            reason=reader.words("reason", DECLINE_REASONS),
            assigned=reader.part(lambda _: _officer(assigned, me), None),
            first=first,
            last=last,
            incident_first=incident_first,
            incident_last=incident_last,
            decided_first=decided_first,
            decided_last=decided_last,
            q=reader.text("q") or "",
            first_name=reader.text("first_name", what="name"),
            last_name=reader.text("last_name", what="name"),
            phone=reader.text("phone", what="number"),
            email=reader.text("email", what="address"),
            owner=reader.text("owner"),
            amount=reader.naira("amount"),
            offer=reader.naira("offer"),
            estimate=reader.naira("estimate"),
            distributor=reader.ids("distributor"),
        )
        return reader.read(found)

    def address(self) -> dict[str, list[str]]:
        """The parameters that say this selection again, in a fixed order; empty ones are left out."""
        return written(
            view=self.view,
            status=self.status,
            type=self.type,
            reason=self.reason,
            assigned=self.assigned,
            from_=self.first,
            to=self.last,
            incident_from=self.incident_first,
            incident_to=self.incident_last,
            decided_from=self.decided_first,
            decided_to=self.decided_last,
            q=self.q,
            first_name=self.first_name,
            last_name=self.last_name,
            phone=self.phone,
            email=self.email,
            owner=self.owner,
            amount=_text(self.amount),
            offer=_text(self.offer),
            estimate=_text(self.estimate),
            distributor=self.distributor,
        )

    @property
    def wanted(self) -> ClaimFilter:
        """What the services are asked for."""
        return ClaimFilter(
            statuses=self.status,
            claim_types=self.type,
            decline_reasons=self.reason,
            assigned_to=NOBODY if self.view == "unassigned" else self.assigned,
            stage=VIEWS[self.view] if self.view else None,
            created=open_days(self.first, self.last),
            incident=open_dates(self.incident_first, self.incident_last),
            decided=open_days(self.decided_first, self.decided_last),
            search=self.q or None,
            first_name=self.first_name,
            last_name=self.last_name,
            phone_number=self.phone,
            customer_email=self.email,
            claim_owner=self.owner,
            claim_amount=self.amount,
            offer_amount=self.offer,
            repair_estimate=self.estimate,
            distributor_ids=self.distributor,
        )


def _text(amount: Decimal | None) -> str | None:
    return None if amount is None else f"{amount:f}"


def _officer(given: str | None, me: UUID | None) -> UUID | Unassigned | None:
    if given is None or given == NOBODY:
        return NOBODY if given else None
    if given != ME:
        return ids.parse(given, "assigned")
    if me is None:
        raise InvalidInput.for_field("assigned", "must be an officer's id here, as nobody reads this")
    return me
