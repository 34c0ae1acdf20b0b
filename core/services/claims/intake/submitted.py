"""The submission of a claim: its table, its amount, and the documents that its line requires (contract C2, C16)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers.claims import lines
from core.covers.claims.line import DEATH, ClaimLine
from core.covers.claims.lines import GADGET, INCIDENTS, MEDICAL_REPORT, Incident
from core.services.files import links as file_links
from core.services.lists import records
from core.states.claims import ClaimStatus
from core.store.access import ScopedSession
from core.store.operations import blob_storage
from core.store.schema.tables import Claim, UploadedFile

CLAIM_STATUSES: Final = tuple(ClaimStatus)
CREDIT_LIFE: Final = "Credit life"
EARLY_LOSS_DAYS: Final = 30

ALWAYS_REQUIRED: Final = ("loan_offer_letter",)
REQUIRED_AFTER_ACCIDENT: Final = ("police_report",)
DOCUMENTS: Final = (*ALWAYS_REQUIRED, *REQUIRED_AFTER_ACCIDENT, MEDICAL_REPORT, "employment_termination_letter")
# Asked for after a death before it is approved; the API of credit life does not ask for it at lodging.
DEATH_CERTIFICATE: Final = "death_certificate"
# What the claimant signs to accept an offer: evidence of the acceptance.
SIGNED_DISCHARGE: Final = "signed_discharge"
# Begins the field of a letter of ours in the file of a claim.
LETTER: Final = "letter_"

DECLINE_REASONS: Final = (
    "not covered",
    "outside period",
    "premium unpaid",
    "waiting period",
    "exclusion",
    "documents missing",
    "duplicate",
    "misrepresentation",
    "below excess",
    "limit exhausted",
    "claimant withdrew",
    "other",
)
NOT_DECLINED: Final = "None"

FLAG_DESCRIPTIONS: Final[Mapping[str, str]] = {
    "policy_expired": "The policy had expired when the claim came in",
    "policy_cancelled": "The policy had been cancelled or declined when the claim came in",
    "benefit_not_bought": "The policy does not hold the benefit that answers for this incident",
    "outside_cover": "The incident lies outside the dates of the cover",
    "outside_loan": "The incident lies outside the dates of the loan",
    "early_loss": f"The incident lies within {EARLY_LOSS_DAYS} days of the start of the cover",
    "early_claim": "The claim came in soon after the cover was bought",
    "future_incident": "The incident lies in the future",
    "loan_differs": "The loan amount is not the one that was insured",
    "duplicate": "Another claim on this policy names the same incident and date",
    "same_file": "A document was sent with another claim before",
    "same_account": "Another claim asks for payment to the same account",
}


def format_reference(claim_id: UUID) -> str:
    """A claim as people name it."""
    return records.claim_reference(claim_id)


def list_required_of_incident(incident_type: str, *, accidental: bool) -> tuple[str, ...]:
    """Return the required documents for an incident, in the order of the form."""
    incident = INCIDENTS.get(incident_type, Incident(None))
    required = {*ALWAYS_REQUIRED, *incident.documents, *(REQUIRED_AFTER_ACCIDENT if accidental else ())}
    return tuple(name for name in DOCUMENTS if name in required)


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


def is_inspected(claim: Claim) -> bool:
    """Return True if somebody looks at what was lost or damaged: never for credit life."""
    line = get_line(claim)
    return line is not None and line.is_inspected


def list_document_names(claim: Claim) -> Sequence[str]:
    """Return the names of the documents that this claim can have, in the order of the form.

    The signed discharge form is one of them once there was an offer (contract C17).
    """
    line = get_line(claim)
    signed = [SIGNED_DISCHARGE] if claim.offer_amount_minor else []
    if line is not None:
        return (*line.documents, *signed)
    is_death = get_meta(claim).get("incident_type") == DEATH
    return (*DOCUMENTS, *([DEATH_CERTIFICATE] if is_death else []), *signed)


def list_required_documents(claim: Claim) -> tuple[str, ...]:
    """Return the documents that the claim requires before it can be approved (contract C2, C16)."""
    line, meta = get_line(claim), get_meta(claim)
    if line is not None:
        return line.list_required_of(meta)
    # Of a claim that was erased its figures are left.
    if "incident_type" not in meta:
        return ()
    needed = list_required_of_incident(meta["incident_type"], accidental=meta["accidental"] == "true")
    return (*needed, *([DEATH_CERTIFICATE] if meta["incident_type"] == DEATH else []))


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


_DESK_DOCUMENTS: Final = ("claim_invoice_url", "offer_form_url")


@dataclass(frozen=True, kw_only=True, slots=True)
class Version:
    """An earlier file of a document, which another one has replaced."""

    code: str
    file_name: str
    at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Document:
    """One document of a claim: whether it is required, and its file, if any.

    `code` is that of a stored file that can be opened; `link` is the URL as submitted.
    """

    name: str
    is_required: bool
    link: str | None = None
    code: str | None = None
    file_name: str | None = None
    content_type: str | None = None
    size: int | None = None
    versions: tuple[Version, ...] = ()

    @property
    def is_medical(self) -> bool:
        """True when opening it requires a reason (contract A3)."""
        return self.name == MEDICAL_REPORT

    @property
    def is_missing(self) -> bool:
        """True when it is required and was not received."""
        return self.is_required and self.link is None


def list_documents(session: ScopedSession, claim: Claim) -> list[Document]:
    """List every document that a claim has or requires, in the order of the form."""
    links, needed = get_document_links(claim), list_required_documents(claim)
    codes = {name: file_links.parse_stored_code(link) for name, link in links.items()}
    files, versions = _files(session, codes.values()), _load_versions(session, claim.id, codes)
    return [
        Document(
            name=name,
            is_required=name in needed,
            link=link,
            versions=tuple(versions.get(name, ())),
            **files.get(codes[name], {}),
        )
        for name, link in links.items()
        if link or name in needed
    ]


def get_document_links(claim: Claim) -> Mapping[str, str | None]:
    """Return the URL of every possible document by name, None where it is absent; includes those added by the desk."""
    meta = get_meta(claim)
    of_claim = {name: getattr(claim, name) for name in _DESK_DOCUMENTS}
    return {**{name: meta.get(name) or None for name in list_document_names(claim)}, **of_claim}


def _load_versions(session: ScopedSession, claim_id: UUID, codes: Mapping[str, str]) -> Mapping[str, list[Version]]:
    """Load the files that were replaced, newest first, by document."""
    query = sa.select(UploadedFile).where(col(UploadedFile.claim_id) == claim_id, col(UploadedFile.field).is_not(None))
    found: dict[str, list[Version]] = {}
    for row in session.execute(query.order_by(col(UploadedFile.created_at).desc(), col(UploadedFile.code))).scalars():
        if codes.get(row.field) != row.code and blob_storage.path_of(row.code).is_file():
            found.setdefault(row.field, []).append(Version(code=row.code, file_name=row.file_name, at=row.created_at))
    return found


def _files(session: ScopedSession, codes: Collection[str]) -> Mapping[str, dict[str, Any]]:
    """Load the stored files of these codes; files missing from the disk are left out."""
    columns = (col(getattr(UploadedFile, name)) for name in ("code", "file_name", "content_type", "size"))
    rows = session.execute(sa.select(*columns).where(col(UploadedFile.code).in_(codes)))
    return {row.code: row._asdict() for row in rows if blob_storage.path_of(row.code).is_file()}
