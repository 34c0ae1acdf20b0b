"""The claim of the specification: its fields and types as they go over the wire."""

from typing import Any

from typing_extensions import TypedDict

from core.services.shapes import PolicyRecord, Times


class StatusTime(TypedDict):
    """One status of a claim and when it was reached, as people in Lagos read it."""

    name: str
    time_stamp: str


class CommentRecord(TypedDict):
    """What an officer wrote on a claim for the claimant."""

    id: str
    text: str
    created_at: str


class CreditLifeClaimMeta(TypedDict):
    """What was submitted with a credit life claim; documents are addresses."""

    loan_offer_letter: str | None
    employment_termination_letter: str | None
    police_report: str | None
    medical_report: str | None
    loan_amount: str
    pending_repayment_amount: str
    incident_type: str
    loan_offer_date: str
    loan_repayment_date: str
    accidental: str


class ClaimantRecord(TypedDict):
    """The customer inside a claim."""

    id: str
    first_name: str
    last_name: str
    email: str
    phone_number: str | None


class ClaimProviderRecord(TypedDict):
    """The insurer inside a claim."""

    id: str
    company_name: str


class ClaimProductRecord(TypedDict):
    """The product inside a claim."""

    id: str
    route_name: str
    name: str


class ClaimRecord(Times):
    """A claim; `version` is what a change has to name (contract C7)."""

    id: str
    app_mode: str
    is_live: bool
    claim_description: str
    claim_owner: str
    claim_owner_first_name: str
    claim_owner_last_name: str
    claim_owner_email: str
    claim_owner_phone_number: str | None
    decline_reason: str
    claim_type: str
    claim_status: str
    claim_amount: str
    estimate_amount: str
    repair_estimate: str
    offer_amount: str
    betterment_deduction_amount: str
    excess_deduction_amount: str
    incident_date: str | None
    claim_invoice_url: str | None
    offer_form_url: str | None
    vehicle_claim_meta: dict[str, Any] | None
    gadget_claim_meta: dict[str, Any] | None
    credit_life_claim_meta: CreditLifeClaimMeta | None
    status_time_line: list[StatusTime]
    product_id: str
    customer_id: str
    distributor_id: str
    provider_id: str
    policy_id: str
    inspection_id: str | None
    claim_id: str
    version: int
    customer: ClaimantRecord
    provider: ClaimProviderRecord
    product: ClaimProductRecord
    policy: PolicyRecord
    inspection: dict[str, Any] | None
    comments: list[CommentRecord]
