"""Motor claims: own damage and theft, and what was done to third parties."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from core.covers import fields
from core.covers.claims.line import ClaimLine, Finding, compare
from core.covers.claims.request import LossRequest, Paper

_TO_OTHERS: Final[Mapping[str, tuple[str, ...]]] = {
    "Third party injury": ("police_report", "driving_licence", "third_party_demand", "medical_report"),
    "Third party property damage": ("police_report", "driving_licence", "third_party_demand"),
}
_OWN: Final[Mapping[str, tuple[str, ...]]] = {
    "Collision": ("police_report", "driving_licence", "damage_image", "repair_quote"),
    "Theft": ("police_report", "vehicle_licence"),
    "Fire": ("police_report", "vehicle_licence", "damage_image"),
    "Flood": ("damage_image", "repair_quote"),
    "Windscreen": ("damage_image", "repair_quote"),
}
_INCIDENTS: Final = {**_OWN, **_TO_OTHERS}


class MotorClaimRequest(LossRequest):
    """A claim on a motor policy."""

    incident_type: Annotated[str, fields.one_of(*_INCIDENTS)] = Field(examples=["Collision"])
    registration_number: fields.RegistrationNumber | None = Field(
        default=None, examples=["KJA-482CD"], description="Of the vehicle that was concerned."
    )
    driver_name: fields.Name | None = Field(default=None, examples=["Amaka Eze"])
    third_party_name: fields.Name | None = None
    third_party_phone_number: fields.Phone | None = None
    third_party_registration_number: fields.RegistrationNumber | None = None
    cost_of_repair: fields.PositiveNaira | None = Field(default=None, examples=["180000.00"])
    driving_licence: Paper = None
    vehicle_licence: Paper = None
    damage_image: Paper = None
    repair_quote: Paper = None
    third_party_demand: Paper = None
    medical_report: Paper = None


def _same_vehicle(said: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    plate = insured.get("registration_number") or insured.get("vehicle_registration_number")
    return compare("The insured vehicle", said.get("registration_number"), plate)


MOTOR: Final = ClaimLine(
    route="motor",
    title="Motor",
    request=MotorClaimRequest,
    column="vehicle_claim_meta",
    covers={
        ("insurer-a", "buy-comprehensive"): frozenset(_INCIDENTS),
        ("insurer-a", "buy-thirdparty"): frozenset(_TO_OTHERS),
        ("insurer-b", "buy-comprehensive-auto"): frozenset(_INCIDENTS),
        ("insurer-b", "buy-third-party-auto"): frozenset(_TO_OTHERS),
        ("insurer-d", "buy-mini-comprehensive"): frozenset({*_TO_OTHERS, "Collision", "Theft", "Fire"}),
    },
    incidents=_INCIDENTS,
    amount="cost_of_repair",
    same_thing=_same_vehicle,
)
