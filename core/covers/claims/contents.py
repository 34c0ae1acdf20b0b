"""Claims on the contents of an office, a home or a shop."""

from collections.abc import Mapping
from typing import Annotated, Any, Final

from pydantic import Field

from core.covers import fields
from core.covers.claims.line import ClaimLine, Finding, compare
from core.covers.claims.request import LossRequest, Paper

_INCIDENTS: Final[Mapping[str, tuple[str, ...]]] = {
    "Fire": ("fire_report", "damage_image", "inventory"),
    "Burglary": ("police_report", "inventory", "receipts"),
    "Flood": ("damage_image", "inventory"),
    "Storm": ("damage_image", "inventory"),
    "Accidental damage": ("damage_image", "receipts"),
}
_STOCK: Final = frozenset(_INCIDENTS) - {"Accidental damage"}


class ContentsClaimRequest(LossRequest):
    """A claim on the contents of an office, a home or a shop."""

    incident_type: Annotated[str, fields.one_of(*_INCIDENTS)] = Field(examples=["Burglary"])
    things_lost: fields.LongText | None = Field(default=None, examples=["Two laptops and a printer"])
    amount_claimed: fields.PositiveNaira | None = Field(default=None, examples=["450000.00"])
    fire_report: Paper = None
    damage_image: Paper = None
    inventory: Paper = None
    receipts: Paper = None


def _same_place(said: Mapping[str, Any], insured: Mapping[str, Any]) -> Finding:
    # People write one address in many ways: a difference is for the officer to judge.
    return compare("The insured place", said.get("incident_place"), insured.get("address"), differs=None)


CONTENTS: Final = ClaimLine(
    route="contents",
    title="Contents",
    request=ContentsClaimRequest,
    column="claim_meta",
    covers={
        ("insurer-b", "buy-office-content-cover"): frozenset(_INCIDENTS),
        ("insurer-b", "buy-home-content-cover"): frozenset(_INCIDENTS),
        ("insurer-b", "buy-shop-content-cover"): _STOCK,
    },
    incidents=_INCIDENTS,
    same_thing=_same_place,
)
