"""Claims on a device; what is kept has the names that the record of a gadget claim has on the wire."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from core.covers import fields
from core.covers.claims.line import ClaimLine, Finding, compare
from core.covers.claims.request import LossRequest, Paper

_DAMAGE: Final = ("front_image", "back_image")
_INCIDENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Cracked screen": _DAMAGE,
    "Liquid damage": _DAMAGE,
    "Accidental damage": _DAMAGE,
    "Theft": ("police_report", "payment_receipt"),
}


class GadgetClaimRequest(LossRequest):
    """A claim on a policy of a device."""

    incident_type: Annotated[str, fields.one_of(*_INCIDENTS)] = Field(examples=["Cracked screen"])
    device_serial_number: fields.Text | None = Field(default=None, examples=["SN-2026-0001"])
    cost_of_repair: fields.PositiveNaira | None = Field(default=None, examples=["60000.00"])
    front_image: Paper = None
    back_image: Paper = None
    side_image: Paper = None
    repair_receipt: Paper = None
    payment_receipt: Paper = None


def _same_device(said: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    return compare("The insured device", said.get("device_serial_number"), insured.get("device_serial_number"))


GADGET: Final = ClaimLine(
    route="gadget",
    title="Gadget",
    request=GadgetClaimRequest,
    column="gadget_claim_meta",
    covers={("insurer-b", "buy-gadget"): frozenset(_INCIDENTS)},
    incidents=_INCIDENTS,
    amount="cost_of_repair",
    same_thing=_same_device,
    stored_names={
        "incident_date": "date",
        "incident_time": "time",
        "incident_place": "address",
        "incident_description": "description",
    },
)
