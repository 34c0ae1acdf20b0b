"""Travel claims: illness, baggage, delay and cancellation."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from core.covers import fields, request_parts
from core.covers.claims.line import ClaimLine, Finding, compare
from core.covers.claims.request import DEATH, LossRequest, Paper

_INCIDENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Medical emergency": ("medical_report", "medical_bills"),
    "Trip cancellation": ("cancellation_proof", "receipts"),
    "Travel delay": ("carrier_report",),
    "Baggage loss": ("carrier_report", "receipts"),
    "Passport loss": ("police_report",),
    DEATH: ("death_certificate", "medical_report"),
}


class TravelClaimRequest(LossRequest):
    """A claim on a travel policy."""

    incident_type: Annotated[str, fields.one_of(*_INCIDENTS)] = Field(examples=["Baggage loss"])
    traveller_name: fields.Name | None = Field(default=None, examples=["Amaka Eze"])
    incident_country: request_parts.Country | None = Field(default=None, examples=["France"])
    amount_claimed: fields.PositiveNaira | None = Field(default=None, examples=["95000.00"])
    travel_ticket: Paper = None
    medical_report: Paper = None
    medical_bills: Paper = None
    carrier_report: Paper = None
    cancellation_proof: Paper = None
    receipts: Paper = None
    death_certificate: Paper = None


def _same_traveller(said: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    name = f"{insured.get('first_name', '')} {insured.get('last_name', '')}".strip()
    # The other passengers of a policy are counted, not named.
    is_group = int(insured.get("num_of_passengers") or 1) > 1
    return compare("The insured traveller", said.get("traveller_name"), name, differs=None if is_group else False)


TRAVEL: Final = ClaimLine(
    route="travel",
    title="Travel",
    request=TravelClaimRequest,
    column="claim_meta",
    covers={("", "buy-travel"): frozenset(_INCIDENTS)},
    incidents=_INCIDENTS,
    always=("travel_ticket",),
    same_thing=_same_traveller,
)
