"""The documents, the amount and the claimant submitted with a claim of the demonstration."""

import json
from random import Random
from typing import Any

from core import money, seal
from core.covers.claims.request import CLAIMANT_FIELDS, DEATH
from core.covers.request_parts import build_name_key
from core.demo.bulk_rows import Rows, Values
from core.demo.claims.claims import DEVICE, Loss
from core.demo.claims.specimens import Specimens

_SHARED, _FEW, _FIRST = 9, 3, 3_077_192_040
_KIN = ("Adaeze", "Bisi", "Chidi", "Halima", "Tunde")
_BANKS = (("Lagoon Bank", "901"), ("Savannah Trust Bank", "902"), ("Unity Hill Microfinance", "903"))


def build_meta(loss: Loss, dice: Random, specimens: Specimens, rows: Rows) -> dict[str, Any]:
    """Return the columns of what was submitted with a claim, and its sealed account."""
    line = loss.line
    if line is None:
        return {"credit_life_claim_meta": json.dumps(_loan(loss, specimens, rows))}
    account = _account(dice)
    submitted = _device if loss.kind == DEVICE else _other
    meta = submitted(loss, dice, specimens, rows)
    return {
        line.column: json.dumps({**meta, "account_number": seal.mask(account)}),
        "sealed": seal.seal({f"{line.column}.account_number": account}),
        "account_key": seal.keyed_hash("payout account", account),
    }


def _account(dice: Random) -> str:
    """An account to be paid; some claims name the same one, as an officer should see."""
    number = dice.getrandbits(33) % 10_000_000_000
    return f"{number if number % _SHARED else _FIRST + number % _FEW:010d}"


def _loan(loss: Loss, specimens: Specimens, rows: Rows) -> dict[str, Any]:
    body, owner = loss.sale.variant.body, loss.sale.owner
    sent = {"loan_offer_letter", *loss.papers}
    papers = ("loan_offer_letter", "police_report", "medical_report", "employment_termination_letter")
    certificate = {name: specimens.link(rows, owner, name) for name in sent & {"death_certificate"}}
    return {
        **{name: specimens.link(rows, owner, name) if name in sent else None for name in papers},
        **certificate,
        "loan_amount": body["loan_amount"],
        "pending_repayment_amount": money.to_wire(loss.owed_minor),
        "incident_type": loss.incident,
        "loan_offer_date": loss.sale.says["starts"],
        "loan_repayment_date": loss.sale.says["ends"],
        "accidental": str(loss.accidental).lower(),
    }


def build_claimant(loss: Loss) -> Values:
    """Return who claims: the customer, or after a death the next of kin."""
    says = loss.sale.says
    if loss.incident == DEATH:
        dice = Random(f"claimant {loss.id}")  # noqa: S311 - invented data
        role, first_name = ("Next of kin", dice.choice(_KIN))
    else:
        role, first_name = "Owner", says["first_name"]
    return {
        "claim_owner": role,
        "claim_owner_first_name": first_name,
        "claim_owner_last_name": says["last_name"],
        "claim_owner_name_key": build_name_key(first_name, says["last_name"]),
        "claim_owner_email": says["email"],
        "claim_owner_phone_number": says["phone"],
    }


def _other(loss: Loss, dice: Random, specimens: Specimens, rows: Rows) -> dict[str, Any]:
    """Return what was submitted with a claim of any other line, in the fields of its request."""
    line, says = loss.line, loss.sale.says
    assert line is not None  # noqa: S101 - the caller asks for lines
    bank, code = dice.choice(_BANKS)
    name = f"{says['first_name']} {says['last_name']}"
    told = {
        "policy_number": loss.sale.policy_number,
        "incident_type": loss.incident,
        "incident_date": str(loss.happened_on),
        "incident_time": f"{dice.randint(6, 22):02d}:{dice.randint(0, 59):02d}",
        "incident_place": says["address"],
        "incident_description": f"{loss.incident}, as told by {says['first_name']} on the phone",
        "claimant_relation": "Wife" if loss.incident == DEATH else None,
        "bank_name": bank,
        "bank_code": code,
        "account_name": name,
        **dict.fromkeys(("driver_name", "traveller_name", "injured_person"), name),
        "registration_number": says.get("plate"),
        line.amount: money.to_wire(loss.owed_minor),
        **{paper: specimens.link(rows, loss.sale.owner, _specimen(paper)) for paper in loss.papers},
    }
    asked = (line.stored_names.get(field, field) for field in line.request.model_fields if field not in CLAIMANT_FIELDS)
    return {field: told.get(field) for field in asked}


def _specimen(paper: str) -> str:
    """Return the specimen that stands for a document."""
    return "device_picture" if paper.endswith("image") else paper


def _device(loss: Loss, dice: Random, specimens: Specimens, rows: Rows) -> dict[str, Any]:
    says, owner = loss.sale.says, loss.sale.owner
    bank, code = dice.choice(_BANKS)
    pictures = {
        name: specimens.link(rows, owner, "device_picture") for name in ("front_image", "back_image", "side_image")
    }
    return {
        **pictures,
        "date": str(loss.happened_on),
        "time": f"{dice.randint(6, 22):02d}:{dice.randint(0, 59):02d}",
        "address": says["address"],
        "bank_name": bank,
        "bank_code": code,
        "account_name": f"{says['first_name']} {says['last_name']}",
        "description": f"{loss.incident} of the insured device",
        "incident_type": loss.incident,
        "police_report": specimens.link(rows, owner, "police_report") if loss.incident == "Theft" else None,
        "policy_number": loss.sale.policy_number,
        "cost_of_repair": money.to_wire(loss.owed_minor),
        "repair_receipt": None,
        "payment_receipt": specimens.link(rows, owner, "payment_receipt"),
    }
