"""Personal accident claims: death, disability and medical expenses after an accident."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from core.covers import fields
from core.covers.claims.line import ClaimLine, Finding, compare
from core.covers.claims.request import DEATH, LossRequest, Paper

_INCIDENTS: Final[Mapping[str, tuple[str, ...]]] = {
    DEATH: ("death_certificate", "police_report", "medical_report", "claimant_identity"),
    "Permanent disability": ("medical_report", "police_report"),
    "Temporary disability": ("medical_report",),
    "Medical expenses": ("medical_report", "medical_bills"),
}


class PersonalAccidentClaimRequest(LossRequest):
    """A claim on a personal accident policy."""

    incident_type: Annotated[str, fields.one_of(*_INCIDENTS)] = Field(examples=["Medical expenses"])
    injured_person: fields.Name | None = Field(default=None, examples=["Tunde Balogun"])
    hospital: fields.Text | None = Field(default=None, examples=["Lagos Island General Hospital"])
    amount_claimed: fields.PositiveNaira | None = Field(default=None, examples=["35000.00"])
    medical_report: Paper = None
    medical_bills: Paper = None
    death_certificate: Paper = None
    claimant_identity: Paper = None


def _same_person(said: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    name = f"{insured.get('first_name', '')} {insured.get('last_name', '')}".strip()
    return compare("The insured person", said.get("injured_person"), name)


PERSONAL_ACCIDENT: Final = ClaimLine(
    route="personal-accident",
    title="Personal accident",
    request=PersonalAccidentClaimRequest,
    column="claim_meta",
    covers={
        ("insurer-f", "buy-personal-accident"): frozenset(_INCIDENTS),
        ("insurer-g", "buy-personal-accident"): frozenset(_INCIDENTS),
    },
    incidents=_INCIDENTS,
    same_thing=_same_person,
)
