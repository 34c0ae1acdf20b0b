"""The filters of claims, in the queue, the API and exports (contract P4, P6, C9)."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any, Final, Literal, Self, get_args
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.covers.claims.lines import LINES
from core.errors import InvalidInput
from core.services.claims.intake.requirements import CLAIM_STATUSES, CREDIT_LIFE, DECLINE_REASONS
from core.services.claims.lists import search as claim_search
from core.services.claims.lists.search import Stage
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import (
    Address,
    Condition,
    Days,
    Member,
    Naira,
    Text,
    Texts,
    Word,
    Words,
    members_of,
)
from core.services.lists.windows import Span
from core.store.schema.tables import Claim, Customer

View = Literal["mine", "unassigned", "referred", "lapsed", "to_pay", "near", "waiting", "open", "all"]
VIEWS: Final[Mapping[View, Stage | None]] = {
    "mine": "unsettled",
    "unassigned": "open",
    "referred": "referred",
    "lapsed": "lapsed",
    "to_pay": "to_pay",
    "near": "near",
    "waiting": "waiting",
    "open": "open",
    "all": None,
}
# Views of one officer's claims or of nobody's: whose they are is no choice there.
ASSIGNED_VIEWS: Final = ("mine", "unassigned")
NOBODY: Final = "nobody"
_ME: Final = "me"
_TYPES: Final = {title: title for title in (CREDIT_LIFE, *(line.title for line in LINES))}


def _is_in_view(_: Any, view: View) -> Condition:
    stage = VIEWS[view]
    in_stage = claim_search.build_stage_condition(stage) if stage else sa.true()
    return sa.and_(in_stage, col(Claim.assigned_to).is_(None)) if view == "unassigned" else in_stage


def _is_in_stage(_: Any, stage: Stage) -> Condition:
    return claim_search.build_stage_condition(stage)


def _is_assigned(_: Any, officer: UUID | str) -> Condition:
    return col(Claim.assigned_to).is_(None) if officer == NOBODY else col(Claim.assigned_to) == officer


def _person(name: str, label: str, on_claim: Any, on_customer: Any, **more: Any) -> Any:
    column = claim_search.build_person_condition(on_claim, on_customer)
    return Text(
        label=label,
        column=column,
        address=name,
        help="The claimant's or the customer's, in full.",
        place="more",
        **{"api": name, "what": "name", **more},
    )


def _amount(name: str, label: str, screen: str, column: str) -> Naira:
    api = column.removesuffix("_minor")
    exactly = "In naira, exactly."
    return Naira(label=label, screen=screen, column=column, address=name, api=api, help=exactly, place="more")


class ClaimFilter(Filter, on=(Claim,)):
    """Filter of the list of claims; amounts in naira.

    `assigned` is an officer, `nobody`, or in an address `me` for who reads it, whose claims the view `mine` shows.
    """

    view: View | None = of(
        Word(
            label="View",
            column=_is_in_view,
            address="view",
            options=dict.fromkeys(VIEWS, ""),
            help=f"A view of the queue: {', '.join(VIEWS)}.",
            place="none",
        )
    )
    search: str | None = of(
        Text(
            label="Find",
            column=claim_search.build_search_condition,
            address="q",
            help="A claim's id or reference, a payment reference, or a part of a policy number, plate, phone or name.",
            placeholder="Number, name, phone, e-mail or reference",
            searches=True,
            place="search",
        )
    )
    statuses: tuple[str, ...] = of(
        Words(
            label="Status",
            column="claim_status",
            address="status",
            api="status",
            options={str(status): str(status) for status in CLAIM_STATUSES},
            help="A status; repeat it for any of several.",
            anything="Any status",
        )
    )
    claim_types: tuple[str, ...] = of(
        Texts(
            label="Type",
            column=claim_search.build_type_condition,
            address="type",
            api="claim_type",
            options=_TYPES,
            help="A type of claim; repeat it for any of several.",
            anything="Any type",
        )
    )
    assigned: UUID | str | None = of(
        Member(
            label="Assigned to",
            names="staff",
            column=_is_assigned,
            address="assigned",
            also=(NOBODY,),
            help="E-mail or id of an officer, or nobody.",
            what="officer",
            anything="Anybody",
        )
    )
    created: Span = of(
        Days(column="created_at", address="from to", api="start_date end_date", screen="Lodged", place="more")
    )
    incident: Span = of(
        Days(
            label="Incident",
            column=claim_search.build_incident_condition,
            dated=True,
            address="incident_from incident_to",
            api="incident_start_date incident_end_date",
            help="the incident",
            place="more",
        )
    )
    decided: Span = of(
        Days(
            label="Decided",
            column=claim_search.build_decision_condition,
            address="decided_from decided_to",
            help="the decision",
            place="more",
        )
    )
    decline_reasons: tuple[str, ...] = of(
        Words(
            label="Decline reason",
            column="decline_reason",
            address="reason",
            options={reason: reason.capitalize() for reason in DECLINE_REASONS},
            help="Why it was declined; may be repeated.",
            anything="Any reason",
            place="more",
        )
    )
    distributor_ids: Ids = of(members_of("distributor", anything="Any distributor", place="more"))
    first_name: str | None = of(_person("first_name", "First name", Claim.claim_owner_first_name, Customer.first_name))
    last_name: str | None = of(_person("last_name", "Last name", Claim.claim_owner_last_name, Customer.last_name))
    phone_number: str | None = of(
        _person(
            *("phone", "Phone", Claim.claim_owner_phone_number, Customer.phone_number),
            api="phone_number",
            what="number",
            may_begin_with_plus=True,
        )
    )
    customer_email: str | None = of(
        Text(
            label="E-mail",
            column=claim_search.build_email_condition,
            normalise=str.lower,
            address="email",
            api="customer_email",
            help="The customer's, in full.",
            what="address",
            place="more",
        )
    )
    claim_owner: str | None = of(
        Text(
            label="Owner",
            column=claim_search.build_owner_condition,
            address="owner",
            api="claim_owner",
            help="Any part of the owner's role or name.",
            screen="Claim owner",
            place="more",
        )
    )
    claim_amount: Decimal | None = of(_amount("amount", "Amount claimed", "Claimed, ₦", "claim_amount_minor"))
    offer_amount: Decimal | None = of(_amount("offer", "Offer", "Offered, ₦", "offer_amount_minor"))
    repair_estimate: Decimal | None = of(
        _amount("estimate", "Repair estimate", "Repair estimate, ₦", "repair_estimate_minor")
    )
    stage: Stage | None = of(Word(column=_is_in_stage, options=dict.fromkeys(get_args(Stage), "")))
    customer_id: UUID | None = of(Member(column="customer_id", api="customer_id"))
    policy_id: UUID | None = of(Member(column="policy_id"))

    @classmethod
    def read(cls, address: Address, *, me: UUID | None = None) -> Self:
        """Like `Filter.read`; `me` is the officer who reads."""
        view = [text.strip().casefold() for text in address.get("view", ())]
        assigned = [text for text in address.get("assigned", ()) if text.strip()] or ([_ME] if view == ["mine"] else [])
        if view == ["unassigned"]:
            assigned = []
        if [text.strip() for text in assigned] == [_ME]:
            if me is None:
                raise InvalidInput.for_field("assigned", "must be an officer's id here, as nobody reads this")
            assigned = [str(me)]
        return super().read({**address, "assigned": assigned})


def build_conditions(criteria: ClaimFilter) -> list[Condition]:
    """Return the conditions of a filter on claims."""
    return [col(Claim.deleted_at).is_(None), *criteria.conditions(Claim)]
