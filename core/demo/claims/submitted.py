"""Documents submitted with a claim of the demonstration, which are specimens, its amount and its claimant."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

from core import money, seal
from core.covers.claims.line import CLAIMANT_FIELDS, DEATH
from core.covers.request_parts import build_name_key
from core.demo.bulk_rows import Rows, Values, stamp
from core.demo.claims.claims import DEVICE, Loss
from core.demo.random_source import code
from core.settings import ROOT, settings
from core.store.operations import blob_storage
from core.store.schema.claims import UploadedFile

_FOLDER = ROOT / "data" / "demonstration" / "specimens"
_ANY = _FOLDER / "document.pdf"
# Each waits for the disk twice.
_AT_ONCE = 8
_TYPES = {".pdf": "application/pdf", ".jpg": "image/jpeg"}


class Specimens:
    """The uploads that claims link to; a specimen is put on the disk once its owner needs it."""

    def __init__(self, dice: Random, began: datetime) -> None:
        self.dice, self.began = dice, began
        self._links: dict[tuple[str, bool, str], str] = {}
        self._needed: list[tuple[str, bytes]] = []

    def link(self, rows: Rows, owner: Values, name: str) -> str:
        """The address of an owner's specimen, as an upload's answer gives it (contract L4)."""
        key = (owner["distributor_id"], owner["is_live"], name)
        if key not in self._links:
            self._links[key] = self._upload(rows, owner, name)
        return self._links[key]

    def put(self) -> None:
        """Put on the disk what has been needed since the last call; rows that name it come after it."""
        with ThreadPoolExecutor(_AT_ONCE) as disk:
            list(disk.map(lambda each: blob_storage.put(*each), self._needed))
        self._needed.clear()

    def _upload(self, rows: Rows, owner: Values, name: str) -> str:
        file_name, content = _load(name)
        kept_as = code(self.dice, self.began)
        self._needed.append((kept_as, content))
        row = {
            "code": kept_as,
            "file_name": file_name,
            "content_type": _TYPES[Path(file_name).suffix],
            "size": len(content),
            "sha256": hashlib.sha256(content).hexdigest(),
            "sent_sha256": f"{self.dice.getrandbits(256):064x}",
            "created_at": stamp(self.began),
        }
        rows.add(UploadedFile, {**owner, **row})
        return f"{settings().base_url}/v1/files/{kept_as}"


@cache
def _load(name: str) -> tuple[str, bytes]:
    """Return the file name and the content of a document; one without a specimen of its own is any document."""
    path = next((path for path in _FOLDER.iterdir() if path.stem == name), _ANY)
    return f"{name}{path.suffix}", path.read_bytes()


_SHARED, _FEW, _FIRST = 9, 3, 3_077_192_040
# Who claims after a death: first name, and what they are to the person who died.
_RELATIVES = (("Adaeze", "Daughter"), ("Bisi", "Wife"), ("Chidi", "Son"), ("Halima", "Wife"), ("Tunde", "Son"))
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
        "account_key": seal.build_account_key(account),
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
    """Return who claims: the customer, or after a death the next of kin with a mailbox and a phone of their own."""
    says, relative = loss.sale.says, _find_relative(loss)
    first_name, last_name = _claimant(loss), says["last_name"]
    email, phone = says["email"], says["phone"]
    if relative:
        _, host = email.split("@")
        letters = "".join(letter for letter in f"{first_name}{last_name}".lower() if letter.isalpha())
        email, phone = f"{letters}{phone[-7:]}@{host}", f"{phone[:-7]}{10_000_000 - int(phone[-7:]):07d}"
    return {
        "claim_owner": "Next of kin" if relative else "Owner",
        "claim_owner_first_name": first_name,
        "claim_owner_last_name": last_name,
        "claim_owner_name_key": build_name_key(first_name, last_name),
        "claim_owner_email": email,
        "claim_owner_phone_number": phone,
    }


def name_claimant(loss: Loss) -> str:
    """Return the whole name of who claims."""
    return f"{_claimant(loss)} {loss.sale.says['last_name']}"


def _claimant(loss: Loss) -> str:
    relative = _find_relative(loss)
    return relative[0] if relative else str(loss.sale.says["first_name"])


def _find_relative(loss: Loss) -> tuple[str, str] | None:
    """Return the next of kin of who died, who bears another name; None while everybody lives."""
    if loss.incident != DEATH:
        return None
    dice = Random(f"claimant {loss.id}")  # noqa: S311 - invented data
    return dice.choice([each for each in _RELATIVES if each[0] != loss.sale.says["first_name"]])


def _other(loss: Loss, dice: Random, specimens: Specimens, rows: Rows) -> dict[str, Any]:
    """Return what was submitted with a claim of any other line, in the fields of its request."""
    line, says, relative = loss.line, loss.sale.says, _find_relative(loss)
    assert line is not None  # noqa: S101 - the caller asks for lines
    bank, code = dice.choice(_BANKS)
    name = f"{says['first_name']} {says['last_name']}"
    papers = {paper: "device_picture" if paper.endswith("image") else paper for paper in loss.papers}
    answers = {
        "policy_number": loss.sale.policy_number,
        "incident_type": loss.incident,
        "incident_date": str(loss.happened_on),
        "incident_time": f"{dice.randint(6, 22):02d}:{dice.randint(0, 59):02d}",
        "incident_place": says["address"],
        "incident_description": f"{loss.incident}, as told by {_claimant(loss)} on the phone",
        "claimant_relation": relative[1] if relative else None,
        "bank_name": bank,
        "bank_code": code,
        "account_name": name_claimant(loss),
        **dict.fromkeys(("driver_name", "traveller_name", "injured_person"), name),
        "registration_number": says.get("plate"),
        line.amount: money.to_wire(loss.owed_minor),
        **{paper: specimens.link(rows, loss.sale.owner, specimen) for paper, specimen in papers.items()},
    }
    names = (line.stored_names.get(field, field) for field in line.request.model_fields if field not in CLAIMANT_FIELDS)
    return {field: answers.get(field) for field in names}


def _device(loss: Loss, dice: Random, specimens: Specimens, rows: Rows) -> dict[str, Any]:
    says, owner = loss.sale.says, loss.sale.owner
    bank, code = dice.choice(_BANKS)
    return {
        **{side: specimens.link(rows, owner, "device_picture") for side in ("front_image", "back_image", "side_image")},
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
