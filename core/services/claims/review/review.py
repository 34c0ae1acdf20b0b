"""One claim as its officer reviews it: facts, checks, documents, amounts, allowed transitions and timeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import seal
from core.covers.cover import Price
from core.services.audit import log as audit
from core.services.audit.log import AuditEvent
from core.services.claims.intake import submitted
from core.services.claims.intake.submitted import Document
from core.services.claims.lists import records as claim_records
from core.services.claims.review import officers as claim_officers
from core.services.claims.review import related
from core.services.claims.review.coverage_checks import CoverageCheck
from core.services.claims.review.related import ClaimLine, Duplicate
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow import judgement as claim_judgement
from core.services.claims.workflow import letters as claim_letters
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import reserves as claim_reserves
from core.services.claims.workflow import tasks as claim_tasks
from core.services.claims.workflow import transitions as claim_transitions
from core.services.claims.workflow.clock import Clock
from core.services.claims.workflow.judgement import Judgement, Link, Override
from core.services.claims.workflow.letters import KeptLetter
from core.services.claims.workflow.limits import Limits, RelatedApprovals
from core.services.claims.workflow.payments import Payee, Payment
from core.services.claims.workflow.reserves import ReserveChange
from core.services.claims.workflow.tasks import Referral, Task
from core.services.people import staff
from core.services.people.staff import Person, join_names
from core.states.claims import DECIDED, ClaimTransition
from core.store.access import AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import (
    Claim,
    ClaimComment,
    ClaimEvent,
    ClaimQuestion,
    Distributor,
    Policy,
    Product,
    Provider,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusStep:
    """A status, when it was reached, by whom, and the note; `by` is None for the lodging."""

    status: str
    at: datetime
    by: str | None
    note: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """A comment, or a question that the claimant has to answer."""

    id: UUID
    at: datetime
    by: str | None
    text: str
    for_claimant: bool
    is_question: bool = False
    answered_at: datetime | None = None
    closed_at: datetime | None = None
    due_on: date | None = None
    answer: str | None = None

    @property
    def is_open(self) -> bool:
        """True while the claimant's answer is outstanding and the clock therefore stopped."""
        return self.is_question and self.answered_at is None and self.closed_at is None


def list_status_steps(session: ScopedSession, claim_id: UUID) -> list[StatusStep]:
    """List every status of a claim, oldest first."""
    at, status, note = col(ClaimEvent.created_at), col(ClaimEvent.status), col(ClaimEvent.note)
    query = _with_author(ClaimEvent, claim_id, at.label("at"), status, note).order_by(at, col(ClaimEvent.id))
    return [StatusStep(**row._mapping) for row in session.execute(query)]


def list_messages(session: ScopedSession, claim_id: UUID) -> list[Message]:
    """List the comments and questions of a claim, newest first; a question replaces the comment that carried it."""
    question, comment = ClaimQuestion, ClaimComment
    question_query = _with_author(
        question,
        claim_id,
        *(col(question.id), col(question.asked_at).label("at"), col(question.text), col(question.due_on)),
        *(col(question.answered_at), col(question.closed_at), col(question.answer)),
    )
    comment_query = _with_author(
        comment,
        claim_id,
        *(col(comment.id), col(comment.created_at).label("at"), col(comment.text), col(comment.for_claimant)),
    )
    questions_asked = [
        Message(**row._mapping, for_claimant=True, is_question=True) for row in session.execute(question_query)
    ]
    question_ids = {message.id for message in questions_asked}
    comments = [Message(**row._mapping) for row in session.execute(comment_query) if row.id not in question_ids]
    return sorted([*questions_asked, *comments], key=lambda message: (message.at, message.id), reverse=True)


def list_events(session: ScopedSession, claim_id: UUID) -> list[AuditEvent]:
    """List the audit events of a claim, oldest first."""
    return [
        AuditEvent(at=entry.created_at, actor=entry.actor, action=entry.action, facts=entry.after or {})
        for entry in audit.list_history(session, audit.subject_of("claim", claim_id))
    ]


def _with_author(table: Any, claim_id: UUID, *columns: Any) -> AnySelect:
    return join_names(sa.select(*columns).where(col(table.claim_id) == claim_id), by=table.staff_id)


_PERSONAL_FIELDS: Final = ("bvn", "nin")


@dataclass(frozen=True, kw_only=True, slots=True)
class Amounts:
    """The amounts of a claim in kobo, and what is owed by the records in naira; none where they do not say.

    `limits` are what the claim can come to at most, and what was paid of it.
    """

    owed: Decimal | None
    limits: Limits
    claimed_minor: int
    estimate_minor: int
    approved_minor: int
    excess_minor: int
    betterment_minor: int
    offer_minor: int


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimReview:
    """Everything that the review of one claim shows; personal numbers are masked to their last four (contract A3).

    `hidden` maps the names of revealable values among `facts` to their paths; `personal` are those of the policy.
    `backdated_minor` is the most that a supervisor approves of a cover bought after the loss, None of any other.
    """

    id: UUID
    reference: str
    distributor_id: UUID
    is_live: bool
    version: int
    claim_type: str
    status: str
    description: str
    decline_reason: str
    lodged_at: datetime
    owner: str
    owner_role: str
    owner_email: str
    owner_phone: str | None
    distributor: str
    provider: str
    product: str
    policy_id: UUID
    policy_number: str | None
    customer_id: UUID
    incident_on: str | None
    meta_column: str
    submitted_amounts: Mapping[str, str | None]
    facts: Mapping[str, Any]
    hidden: Mapping[str, str]
    personal: Mapping[str, str]
    assigned_to: UUID | None
    assigned_name: str | None
    approved_name: str | None
    payment_reference: str | None
    payments: Sequence[Payment]
    payees: Sequence[Payee]
    reserves: Sequence[ReserveChange]
    clock: Clock
    checks: Sequence[CoverageCheck]
    duplicates: Sequence[Duplicate]
    approval_fault: str | None
    links: Sequence[Link]
    related: RelatedApprovals | None
    backdated_minor: int | None
    overrides: Sequence[Override]
    referral: Referral | None
    fraud_flags: Sequence[str]
    documents: Sequence[Document]
    tasks: Sequence[Task]
    letters: Sequence[KeptLetter]
    letters_possible: Mapping[str, str | None]
    document_names: Sequence[str]
    amounts: Amounts
    offer: Price
    transitions_allowed: Sequence[ClaimTransition]
    status_steps: Sequence[StatusStep]
    messages: Sequence[Message]
    related_claims: Sequence[ClaimLine]
    history: Sequence[AuditEvent]

    @property
    def is_decided(self) -> bool:
        """True when the claim is decided and its facts can no longer change."""
        return self.status in DECIDED

    @property
    def is_fixed(self) -> bool:
        """True once what comes off an offer stands."""
        return self.status in claim_limits.OFFER_FIXED

    @property
    def open_question(self) -> Message | None:
        """The question that the claimant has not answered yet, None when there is none."""
        return next((message for message in self.messages if message.is_open), None)

    @property
    def payee(self) -> Payee:
        """The present payee."""
        return self.payees[-1]

    @property
    def balance_minor(self) -> int:
        """The part of the offer that is not paid yet, in kobo."""
        return self.amounts.offer_minor - self.amounts.limits.offer_paid_minor

    @property
    def unmet_checks(self) -> list[CoverageCheck]:
        """The checks that are failed or unknown: an approval needs a reason for each."""
        return [check for check in self.checks if not check.passed]

    @property
    def reserve_minor(self) -> int:
        """Outstanding reserve, in kobo."""
        return self.reserves[-1].reserve_minor if self.reserves else 0

    @property
    def missing_documents(self) -> list[str]:
        """Names of the required documents that are missing."""
        return [document.name for document in self.documents if document.is_missing]

    def list_events_since(self, version: int) -> list[AuditEvent]:
        """List the audit events after a version, oldest first (contract C7)."""
        return [event for event in self.history if event.facts.get("version", 0) > version]


def get_review(session: ScopedSession, claim_id: UUID, *, person: Person) -> ClaimReview:
    """Return the review of a claim for this person; NotFound when it does not exist in this mode."""
    row = session.find_row(_build_query(claim_id), otherwise="Claim not found")
    claim = row.Claim
    related_claims = related.list_related(session, claim)
    names = staff.get_names(session, (claim.assigned_to, claim.approved_by))
    judgement = claim_judgement.judge(session, claim)
    return build_row(
        ClaimReview,
        claim,
        judgement,
        **_describe(row),
        **_load_decisions(session, claim, judgement, person),
        **_load_records(session, claim),
        assigned_name=names.get(claim.assigned_to),
        approved_name=names.get(claim.approved_by),
        clock=claim_clock.load(session, [claim.id])[claim.id],
        fraud_flags=[*related.describe_fraud_flags(claim, related_claims), *_describe_staff(session, claim)],
        tasks=claim_tasks.list_by_claim(session, claim),
        status_steps=list_status_steps(session, claim.id),
        messages=list_messages(session, claim.id),
        related_claims=related_claims,
        history=list_events(session, claim.id),
    )


def _describe(row: Any) -> dict[str, Any]:
    """Return who claims what on which policy, and what was submitted."""
    claim, policy, facts = row.Claim, row.Policy, _build_facts(row.Claim)
    return {
        "reference": submitted.format_reference(claim.id),
        "status": claim.claim_status,
        "description": claim.claim_description,
        "lodged_at": claim.created_at,
        "owner": f"{claim.claim_owner_first_name} {claim.claim_owner_last_name}",
        "owner_role": claim.claim_owner,
        "owner_email": claim.claim_owner_email,
        "owner_phone": claim.claim_owner_phone_number,
        "distributor": row.business_name,
        "provider": row.company_name,
        "product": row.product,
        "policy_number": policy.policy_number,
        "incident_on": claim.incident_date,
        "meta_column": submitted.get_column(claim),
        "submitted_amounts": submitted.list_amounts(claim),
        "facts": facts,
        "hidden": {path.rpartition(".")[2]: path for path in seal.unseal(claim.sealed)},
        "personal": {name: policy.submitted[name] for name in _PERSONAL_FIELDS if policy.submitted.get(name)},
    }


def _describe_staff(session: ScopedSession, claim: Claim) -> list[str]:
    names = claim_officers.list_staff(session, claim)
    return [f"The customer, claimant, payee or third party is of this desk: {', '.join(names)}"] if names else []


def _load_decisions(session: ScopedSession, claim: Claim, judgement: Judgement, person: Person) -> dict[str, Any]:
    """Return what follows of a judgement for the amounts of the claim, and for the decisions of this person."""
    return {
        "links": claim_judgement.list_shown_links(judgement.links),
        "overrides": claim_judgement.list_overrides(session, claim.id),
        "referral": claim_tasks.find_open_referral(session, claim.id),
        "amounts": _amounts(claim, judgement.limits),
        "offer": claim_limits.compute_standing_offer(claim, judgement.limits),
        "transitions_allowed": claim_transitions.list_allowed(claim, person, judgement),
    }


def _load_records(session: ScopedSession, claim: Claim) -> dict[str, Any]:
    return {
        "payments": claim_payments.of_claim(session, claim),
        "payees": claim_payments.list_payees(session, claim),
        "reserves": claim_reserves.list_changes(session, claim.id),
        "documents": submitted.list_documents(session, claim),
        "document_names": submitted.list_document_names(claim),
        "letters": claim_letters.list_letters(session, claim.id),
        "letters_possible": claim_letters.list_possible(claim),
    }


def _build_query(claim_id: UUID) -> AnySelect:
    return (
        sa.select(
            *(Claim, Policy, col(Distributor.business_name), col(Provider.company_name)),
            col(Product.name).label("product"),
        )
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .join(Distributor, col(Distributor.id) == col(Claim.distributor_id))
        .join(Provider, col(Provider.id) == col(Claim.provider_id))
        .join(Product, col(Product.id) == col(Claim.product_id))
        .where(col(Claim.id) == claim_id, col(Claim.deleted_at).is_(None))
    )


def _build_facts(claim: Claim) -> dict[str, Any]:
    """Return the submitted data of the claim without its documents."""
    meta, papers = dict(submitted.get_meta(claim)), submitted.get_document_links(claim)
    masked = claim_records.mask_account_number(meta) or {}
    return {name: value for name, value in masked.items() if name not in papers}


def _amounts(claim: Claim, limits: Limits) -> Amounts:
    return Amounts(
        owed=claim_limits.get_amount_owed(claim),
        limits=limits,
        claimed_minor=claim.claim_amount_minor,
        estimate_minor=claim.repair_estimate_minor,
        approved_minor=claim.approved_amount_minor,
        excess_minor=claim.excess_deduction_amount_minor,
        betterment_minor=claim.betterment_deduction_amount_minor,
        offer_minor=claim.offer_amount_minor,
    )
