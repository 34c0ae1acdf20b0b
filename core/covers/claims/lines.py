"""The lines of claims: what a claim on each cover is lodged with, and the line of each endpoint (contract C2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import Annotated, Any, Final

from pydantic import Field

from core import clock
from core.covers import fields, request_parts, vehicles
from core.covers.claims.line import DEATH, ClaimLine, Endpoint, Finding, LossRequest, Paper, compare
from core.covers.credit_life import CREDIT_LIFE

_CONTENTS_INCIDENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Fire": ("fire_report", "damage_image", "inventory"),
    "Burglary": ("police_report", "inventory", "receipts"),
    "Flood": ("damage_image", "inventory"),
    "Storm": ("damage_image", "inventory"),
    "Accidental damage": ("damage_image", "receipts"),
}
_STOCK: Final = frozenset(_CONTENTS_INCIDENTS) - {"Accidental damage"}


class ContentsClaimRequest(LossRequest):
    """A claim on the contents of an office, a home or a shop."""

    incident_type: Annotated[str, fields.one_of(*_CONTENTS_INCIDENTS)] = Field(examples=["Burglary"])
    things_lost: fields.LongText | None = Field(default=None, examples=["Two laptops and a printer"])
    amount_claimed: fields.PositiveNaira | None = Field(default=None, examples=["450000.00"])
    fire_report: Paper = None
    damage_image: Paper = None
    inventory: Paper = None
    receipts: Paper = None


def _same_place(claimed: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    # People write one address in many ways: a difference is for the officer to judge.
    return compare("The insured place", claimed.get("incident_place"), insured.get("address"), differs=None)


CONTENTS: Final = ClaimLine(
    route="contents",
    title="Contents",
    request=ContentsClaimRequest,
    column="claim_meta",
    covers={
        ("insurer-b", "buy-office-content-cover"): frozenset(_CONTENTS_INCIDENTS),
        ("insurer-b", "buy-home-content-cover"): frozenset(_CONTENTS_INCIDENTS),
        ("insurer-b", "buy-shop-content-cover"): _STOCK,
    },
    incidents=_CONTENTS_INCIDENTS,
    same_thing=_same_place,
)


MEDICAL_REPORT: Final = "medical_report"


@dataclass(frozen=True, slots=True)
class Incident:
    """A type of incident: the benefit that covers it, None when none does, and its required documents."""

    benefit: str | None
    documents: tuple[str, ...] = ()


INCIDENTS: Final[Mapping[str, Incident]] = {
    "Death": Incident("death", (MEDICAL_REPORT,)),
    "Permanent disability": Incident("permanent_disability", (MEDICAL_REPORT,)),
    "Temporary disability": Incident("temporary_disability", (MEDICAL_REPORT,)),
    "Critical illness": Incident(None, (MEDICAL_REPORT,)),
    "Loss of job": Incident("loss_of_job", ("employment_termination_letter",)),
    "Burglary": Incident(None),
}


_DAMAGE: Final = ("front_image", "back_image")
_GADGET_INCIDENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Cracked screen": _DAMAGE,
    "Liquid damage": _DAMAGE,
    "Accidental damage": _DAMAGE,
    "Theft": ("police_report", "payment_receipt"),
}


class GadgetClaimRequest(LossRequest):
    """A claim on a policy of a device."""

    incident_type: Annotated[str, fields.one_of(*_GADGET_INCIDENTS)] = Field(examples=["Cracked screen"])
    device_serial_number: Annotated[fields.Text | None, fields.Insured("Loss", is_number=True)] = Field(
        default=None, examples=["SN-2026-0001"]
    )
    cost_of_repair: fields.PositiveNaira | None = Field(default=None, examples=["60000.00"])
    front_image: Paper = None
    back_image: Paper = None
    side_image: Paper = None
    repair_receipt: Paper = None
    payment_receipt: Paper = None


def _same_device(claimed: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    return GADGET.compare_numbers("The insured device", claimed, insured)


GADGET: Final = ClaimLine(
    route="gadget",
    title="Gadget",
    request=GadgetClaimRequest,
    column="gadget_claim_meta",
    covers={("insurer-b", "buy-gadget"): frozenset(_GADGET_INCIDENTS)},
    incidents=_GADGET_INCIDENTS,
    amount="cost_of_repair",
    same_thing=_same_device,
    stored_names={
        "incident_date": "date",
        "incident_time": "time",
        "incident_place": "address",
        "incident_description": "description",
    },
)


_PAPERS: Final = ("bill_of_lading", "commercial_invoice")
_MARINE_INCIDENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Damage in transit": ("survey_report", "damage_image"),
    "Short delivery": ("packing_list", "carrier_report"),
    "Total loss": ("carrier_report",),
    "Theft": ("police_report", "packing_list"),
    "General average": ("carrier_report",),
}


class MarineClaimRequest(LossRequest):
    """A claim on a cargo."""

    incident_type: Annotated[str, fields.one_of(*_MARINE_INCIDENTS)] = Field(examples=["Damage in transit"])
    vessel: fields.Text | None = Field(default=None, examples=["MV Niger Delta"])
    amount_claimed: fields.PositiveNaira | None = Field(default=None, examples=["1250000.00"])
    bill_of_lading: Paper = None
    commercial_invoice: Paper = None
    packing_list: Paper = None
    survey_report: Paper = None
    carrier_report: Paper = None
    damage_image: Paper = None


def _after_sailing(claimed: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    happened, sailed = claimed.get("incident_date"), insured.get("shipping_date")
    if not happened or not sailed:
        return Finding("After the sailing", None, "the day is not known")
    sailed_on = clock.format_day(date.fromisoformat(sailed[:10]))
    return Finding("After the sailing", happened[:10] >= sailed[:10], f"sailed on {sailed_on}")


MARINE: Final = ClaimLine(
    route="marine",
    title="Marine",
    request=MarineClaimRequest,
    column="claim_meta",
    covers={("insurer-e", "buy-marine-import-cover"): frozenset(_MARINE_INCIDENTS)},
    incidents=_MARINE_INCIDENTS,
    always=_PAPERS,
    same_thing=_after_sailing,
)


DAMAGE_OF_OTHERS: Final = "Third party property damage"
TO_OTHERS: Final[Mapping[str, tuple[str, ...]]] = {
    "Third party injury": ("police_report", "driving_licence", "third_party_demand", "medical_report"),
    DAMAGE_OF_OTHERS: ("police_report", "driving_licence", "third_party_demand"),
}
_OWN: Final[Mapping[str, tuple[str, ...]]] = {
    "Collision": ("police_report", "driving_licence", "damage_image", "repair_quote"),
    "Theft": ("police_report", "vehicle_licence"),
    "Fire": ("police_report", "vehicle_licence", "damage_image"),
    "Flood": ("damage_image", "repair_quote"),
    "Windscreen": ("damage_image", "repair_quote"),
}
_MOTOR_INCIDENTS: Final = {**_OWN, **TO_OTHERS}


class MotorClaimRequest(LossRequest):
    """A claim on a motor policy."""

    incident_type: Annotated[str, fields.one_of(*_MOTOR_INCIDENTS)] = Field(examples=["Collision"])
    registration_number: vehicles.RegistrationNumber | None = Field(
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


def _same_vehicle(claimed: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    return MOTOR.compare_numbers("The insured vehicle", claimed, insured)


MOTOR: Final = ClaimLine(
    route="motor",
    title="Motor",
    request=MotorClaimRequest,
    column="vehicle_claim_meta",
    covers={
        ("insurer-a", "buy-comprehensive"): frozenset(_MOTOR_INCIDENTS),
        ("insurer-a", "buy-thirdparty"): frozenset(TO_OTHERS),
        ("insurer-b", "buy-comprehensive-auto"): frozenset(_MOTOR_INCIDENTS),
        ("insurer-b", "buy-third-party-auto"): frozenset(TO_OTHERS),
        ("insurer-d", "buy-mini-comprehensive"): frozenset({*TO_OTHERS, "Collision", "Theft", "Fire"}),
    },
    incidents=_MOTOR_INCIDENTS,
    amount="cost_of_repair",
    same_thing=_same_vehicle,
)


_ACCIDENT_INCIDENTS: Final[Mapping[str, tuple[str, ...]]] = {
    DEATH: ("death_certificate", "police_report", "medical_report", "claimant_identity"),
    "Permanent disability": ("medical_report", "police_report"),
    "Temporary disability": ("medical_report",),
    "Medical expenses": ("medical_report", "medical_bills"),
}


class PersonalAccidentClaimRequest(LossRequest):
    """A claim on a personal accident policy."""

    incident_type: Annotated[str, fields.one_of(*_ACCIDENT_INCIDENTS)] = Field(examples=["Medical expenses"])
    injured_person: fields.Name | None = Field(default=None, examples=["Tunde Balogun"])
    hospital: fields.Text | None = Field(default=None, examples=["Lagos Island General Hospital"])
    amount_claimed: fields.PositiveNaira | None = Field(default=None, examples=["35000.00"])
    medical_report: Paper = None
    medical_bills: Paper = None
    death_certificate: Paper = None
    claimant_identity: Paper = None


def _same_person(claimed: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    name = f"{insured.get('first_name', '')} {insured.get('last_name', '')}".strip()
    return compare("The insured person", claimed.get("injured_person"), name)


PERSONAL_ACCIDENT: Final = ClaimLine(
    route="personal-accident",
    title="Personal accident",
    request=PersonalAccidentClaimRequest,
    column="claim_meta",
    covers={
        ("insurer-f", "buy-personal-accident"): frozenset(_ACCIDENT_INCIDENTS),
        ("insurer-g", "buy-personal-accident"): frozenset(_ACCIDENT_INCIDENTS),
    },
    incidents=_ACCIDENT_INCIDENTS,
    same_thing=_same_person,
    is_inspected=False,
)


_TRAVEL_INCIDENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Medical emergency": ("medical_report", "medical_bills"),
    "Trip cancellation": ("cancellation_proof", "receipts"),
    "Travel delay": ("carrier_report",),
    "Baggage loss": ("carrier_report", "receipts"),
    "Passport loss": ("police_report",),
    DEATH: ("death_certificate", "medical_report"),
}


class TravelClaimRequest(LossRequest):
    """A claim on a travel policy."""

    incident_type: Annotated[str, fields.one_of(*_TRAVEL_INCIDENTS)] = Field(examples=["Baggage loss"])
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


def _same_traveller(claimed: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    name = f"{insured.get('first_name', '')} {insured.get('last_name', '')}".strip()
    # The other passengers of a policy are counted, not named.
    is_group = int(insured.get("num_of_passengers") or 1) > 1
    return compare("The insured traveller", claimed.get("traveller_name"), name, differs=None if is_group else False)


TRAVEL: Final = ClaimLine(
    route="travel",
    title="Travel",
    request=TravelClaimRequest,
    column="claim_meta",
    covers={("", "buy-travel"): frozenset(_TRAVEL_INCIDENTS)},
    incidents=_TRAVEL_INCIDENTS,
    always=("travel_ticket",),
    same_thing=_same_traveller,
    is_inspected=False,
)


# Papers of the damage itself: those of the thing or the person, as a proof of purchase or a licence, come with each
# loss, and the report of one event may be about several.
PAPERS_OF_DAMAGE: Final = frozenset(
    {
        *(*_DAMAGE, "side_image", "damage_image"),
        *("repair_quote", "repair_receipt", "third_party_demand", "medical_bills"),
    }
)

LINES: Final = (MOTOR, TRAVEL, CONTENTS, GADGET, PERSONAL_ACCIDENT, MARINE)
_BY_TITLE: Final = {line.title: line for line in LINES}
_BY_ENDPOINT: Final = {endpoint: line for line in LINES for endpoint in line.covers}


def get_line(claim_type: str) -> ClaimLine | None:
    """Return the line of a claim's type; None for credit life, whose claims the specification lays down."""
    return _BY_TITLE.get(claim_type)


def get_line_of(endpoint: Endpoint) -> ClaimLine | None:
    """Return the line of the claims on a product, by its prefix and route name."""
    return _BY_ENDPOINT.get(endpoint)


def list_incidents(endpoint: Endpoint) -> tuple[str, ...]:
    """Return the incidents that a claim on a product can be about; none where nothing can be claimed."""
    line = get_line_of(endpoint)
    if line is not None:
        return tuple(incident for incident in line.incidents if incident in line.covers[endpoint])
    return tuple(INCIDENTS) if endpoint == (CREDIT_LIFE.prefix, CREDIT_LIFE.route) else ()


def get_line_by_request(model: type[LossRequest]) -> ClaimLine:
    """Return the line that a request belongs to."""
    return next(line for line in LINES if line.request is model)


def list_endpoints() -> tuple[Endpoint, ...]:
    """Return every endpoint whose policies can have a claim of a line."""
    return tuple(_BY_ENDPOINT)
