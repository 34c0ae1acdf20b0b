"""The submission of a claim of any line of cover: its table, its documents, its amount (contract C16)."""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any, Final

from core import clock
from core.covers.claims import lines
from core.covers.claims.line import ClaimLine
from core.covers.claims.lines import GADGET
from core.covers.claims.request import DEATH
from core.services.claims.intake import requirements
from core.store.schema.tables import Claim

META_COLUMNS: Final = ("credit_life_claim_meta", "gadget_claim_meta", "vehicle_claim_meta", "claim_meta")
LOAN_AMOUNTS: Final = ("loan_amount", "pending_repayment_amount")


def get_line(claim: Claim) -> ClaimLine | None:
    """Return the line of a claim; None for credit life."""
    if claim.credit_life_claim_meta is not None:
        return None
    return lines.get_line(claim.claim_type) or (GADGET if claim.gadget_claim_meta is not None else None)


def get_column(claim: Claim) -> str:
    """Return the column that holds what was submitted."""
    line = get_line(claim)
    usual = line.column if line else META_COLUMNS[0]
    return next((column for column in META_COLUMNS if getattr(claim, column) is not None), usual)


def get_meta(claim: Claim) -> Mapping[str, Any]:
    """Return what was submitted; empty for a claim without anything."""
    return getattr(claim, get_column(claim)) or {}


def set_meta(claim: Claim, changed: Mapping[str, Any]) -> None:
    """Replace some of what was submitted."""
    setattr(claim, get_column(claim), {**get_meta(claim), **changed})


def get_loss_day(claim: Any) -> date:
    """Return the day of the loss, or of the lodging while that is unknown."""
    if claim.incident_date:
        return date.fromisoformat(claim.incident_date[:10])
    return clock.to_lagos_day(claim.created_at)


def set_incident_date(claim: Claim, day: str) -> None:
    """Set the day of the incident, also where the line keeps it among what was submitted."""
    claim.incident_date = day
    if line := get_line(claim):
        set_meta(claim, {line.stored_names.get("incident_date", "incident_date"): day})


def list_document_names(claim: Claim) -> Sequence[str]:
    """Return the names of the documents that this claim can have, in the order of the form.

    The signed discharge form is one of them once there was an offer (contract C17).
    """
    line = get_line(claim)
    signed = [requirements.SIGNED_DISCHARGE] if claim.offer_amount_minor else []
    if line is not None:
        return (*line.documents, *signed)
    is_death = get_meta(claim).get("incident_type") == DEATH
    return (*requirements.DOCUMENTS, *([requirements.DEATH_CERTIFICATE] if is_death else []), *signed)


def list_required_documents(claim: Claim) -> tuple[str, ...]:
    """Return the documents that the claim requires before it can be approved (contract C2, C16)."""
    line, meta = get_line(claim), get_meta(claim)
    if line is not None:
        return line.list_required_of(meta)
    if not meta:
        return ()
    needed = requirements.list_required_documents(meta["incident_type"], accidental=meta["accidental"] == "true")
    return (*needed, *([requirements.DEATH_CERTIFICATE] if meta["incident_type"] == DEATH else []))


def list_present_documents(claim: Claim) -> list[str]:
    """Return the names of the papers that the claim has."""
    meta = get_meta(claim)
    return [name for name in list_document_names(claim) if meta.get(name)]


def list_missing_documents(claim: Claim) -> tuple[str, ...]:
    """Return the required documents that the claim lacks: the papers that are owed."""
    meta = get_meta(claim)
    return tuple(name for name in list_required_documents(claim) if not meta.get(name))


def list_amounts(claim: Claim) -> Mapping[str, str | None]:
    """Return the submitted amounts that can be corrected, in naira, by name."""
    line, meta = get_line(claim), get_meta(claim)
    return {name: meta.get(name) for name in ((line.amount,) if line else LOAN_AMOUNTS)}
