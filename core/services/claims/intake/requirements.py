"""Required documents, decline reasons and fraud flags of claims (contract C2, C3)."""

from collections.abc import Mapping
from typing import Final
from uuid import UUID

from core.covers.claims.lines import INCIDENTS, MEDICAL_REPORT, Incident
from core.services.lists import records
from core.states.claims import ClaimStatus

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


def list_required_documents(incident_type: str, *, accidental: bool) -> tuple[str, ...]:
    """Return the required documents for an incident, in the order of the form."""
    incident = INCIDENTS.get(incident_type, Incident(None))
    required = {*ALWAYS_REQUIRED, *incident.documents, *(REQUIRED_AFTER_ACCIDENT if accidental else ())}
    return tuple(name for name in DOCUMENTS if name in required)
