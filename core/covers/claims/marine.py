"""Claims on imported cargo."""

from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Final

from pydantic import Field

from core import clock
from core.covers import fields
from core.covers.claims.line import ClaimLine, Finding
from core.covers.claims.request import LossRequest, Paper

_PAPERS: Final = ("bill_of_lading", "commercial_invoice")
_INCIDENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Damage in transit": ("survey_report", "damage_image"),
    "Short delivery": ("packing_list", "carrier_report"),
    "Total loss": ("carrier_report",),
    "Theft": ("police_report", "packing_list"),
    "General average": ("carrier_report",),
}


class MarineClaimRequest(LossRequest):
    """A claim on a cargo."""

    incident_type: Annotated[str, fields.one_of(*_INCIDENTS)] = Field(examples=["Damage in transit"])
    vessel: fields.Text | None = Field(default=None, examples=["MV Niger Delta"])
    amount_claimed: fields.PositiveNaira | None = Field(default=None, examples=["1250000.00"])
    bill_of_lading: Paper = None
    commercial_invoice: Paper = None
    packing_list: Paper = None
    survey_report: Paper = None
    carrier_report: Paper = None
    damage_image: Paper = None


def _after_sailing(said: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    happened, sailed = said.get("incident_date"), insured.get("shipping_date")
    if not happened or not sailed:
        return Finding("After the sailing", None, "the day is not known")
    sailed_on = clock.format_day(date.fromisoformat(sailed[:10]))
    return Finding("After the sailing", happened[:10] >= sailed[:10], f"sailed on {sailed_on}")


MARINE: Final = ClaimLine(
    route="marine",
    title="Marine",
    request=MarineClaimRequest,
    column="claim_meta",
    covers={("insurer-e", "buy-marine-import-cover"): frozenset(_INCIDENTS)},
    incidents=_INCIDENTS,
    always=_PAPERS,
    same_thing=_after_sailing,
)
