"""Lodging a claim: accept it as Pending and flag it for the officer (contract C1-C4)."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers.credit_life import CREDIT_LIFE
from core.errors import FieldFault, InvalidInput
from core.services.audit import log as audit
from core.services.claims.intake import requirements
from core.services.claims.intake.request import CreditLifeClaimRequest
from core.services.claims.lists import claims
from core.services.claims.lists.shapes import ClaimRecord
from core.services.claims.review import fraud_flags
from core.services.files import files
from core.services.files import links as file_links
from core.services.files.files import StoredFile
from core.services.files.links import Owner
from core.services.policies import numbering
from core.states.claims import ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, ClaimEvent, Customer, Policy, Product, UploadedFile

_ZERO_AMOUNTS: dict[str, Any] = dict.fromkeys(
    (
        "claim_amount_minor",
        "estimate_amount_minor",
        "repair_estimate_minor",
        "offer_amount_minor",
        "betterment_deduction_amount_minor",
        "excess_deduction_amount_minor",
        "approved_amount_minor",
    ),
    0,
)


def lodge_claim(
    session: ScopedSession, request: CreditLifeClaimRequest, uploads: Sequence[StoredFile], *, owner: Owner, actor: str
) -> ClaimRecord:
    """Lodge a credit life claim as Pending, with fraud flags (contract C3).

    The uploads given are stored with the claim; the other documents must be earlier uploads of the owner.
    InvalidInput names a policy number that is not one of the owner's credit life policies, and every document that
    is not an upload of the owner.
    """
    policy, customer = _get_accepted_policy(session, request, uploads, owner)
    linked = set(file_links.find_codes(request.documents).values()) - {file.code for file in uploads}
    claim = build_initial_claim(policy, customer, request)
    hashes = {file.sent_sha256 for file in uploads} | _hashes(session, linked)
    claim.flags = fraud_flags.find_flags(session, policy, request, hashes)
    session.insert(claim, _build_initial_event(claim))
    for file in uploads:
        files.record(session, file, owner, actor=actor, claim_id=claim.id)
    _link_uploads(session, claim.id, linked)
    audit.write(
        session,
        actor=actor,
        action="claim lodged",
        subject=audit.subject_of("claim", claim.id),
        after={"policy_id": str(policy.id), "claim_status": claim.claim_status, "flags": claim.flags},
    )
    return claims.get_claim(session, claim.id)


def _get_accepted_policy(
    session: ScopedSession, request: CreditLifeClaimRequest, uploads: Sequence[StoredFile], owner: Owner
) -> tuple[Policy, Customer]:
    """Return the policy of the claim and its customer, or raise InvalidInput (contract C1, C2)."""
    row = session.execute(_build_owner_query(request.policy_number, owner)).first()
    codes = file_links.find_codes(request.documents)
    known = {file.code for file in uploads} | file_links.list_owned(session, set(codes.values()), owner)
    faults = [
        FieldFault(name, "must be a file, or the address of one that you uploaded in this mode")
        for name in request.documents
        if codes.get(name) not in known
    ]
    if row is None:
        faults.insert(0, FieldFault("policy_number", "must be a credit life policy of yours in this mode"))
    if row is None or faults:
        raise InvalidInput(faults)
    return row.Policy, row.Customer


def _build_owner_query(policy_number: str, owner: Owner) -> AnySelect:
    mine = (col(Policy.distributor_id) == owner.distributor_id, col(Policy.is_live) == owner.is_live)
    return build_policy_query(policy_number).where(*mine).limit(1)


def build_policy_query(policy_number: str) -> AnySelect:
    """Build the query of credit life policies with this number, newest first; insurers may use a number twice."""
    return (
        sa.select(Policy, Customer)
        .join(Customer, col(Customer.id) == col(Policy.customer_id))
        .join(Product, col(Product.id) == col(Policy.product_id))
        .where(
            col(Policy.number_key) == numbering.key(policy_number),
            col(Policy.deleted_at).is_(None),
            col(Product.prefix) == CREDIT_LIFE.prefix,
            col(Product.route_name) == CREDIT_LIFE.route,
        )
        .order_by(col(Policy.created_at).desc())
    )


def build_initial_claim(policy: Policy, customer: Customer, request: CreditLifeClaimRequest) -> Claim:
    """Build the initial record of a claim (contract C4)."""
    now = clock.now()
    return Claim(
        created_at=now,
        updated_at=now,
        clock_from=now,
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        policy_id=policy.id,
        customer_id=policy.customer_id,
        product_id=policy.product_id,
        provider_id=policy.provider_id,
        claim_type=requirements.CREDIT_LIFE,
        claim_status=ClaimStatus.PENDING,
        claim_description=f"{request.incident_type}, policy {policy.policy_number}",
        claim_owner="Owner",
        claim_owner_first_name=customer.first_name,
        claim_owner_last_name=customer.last_name,
        claim_owner_email=customer.email,
        claim_owner_phone_number=customer.phone_number,
        incident_date=request.incident_date.isoformat() if request.incident_date else None,
        credit_life_claim_meta=_build_meta(request),
        **_ZERO_AMOUNTS,
    )


def _build_meta(request: CreditLifeClaimRequest) -> dict[str, Any]:
    return {
        **{name: getattr(request, name) for name in requirements.DOCUMENTS},
        "loan_amount": f"{request.loan_amount:.2f}",
        "pending_repayment_amount": f"{request.pending_repayment_amount:.2f}",
        "incident_type": request.incident_type,
        "loan_offer_date": request.loan_offer_date.isoformat(),
        "loan_repayment_date": request.loan_repayment_date.isoformat(),
        "accidental": str(request.accidental).lower(),
    }


def _build_initial_event(claim: Claim) -> ClaimEvent:
    return ClaimEvent(
        id=ids.new(),
        distributor_id=claim.distributor_id,
        is_live=claim.is_live,
        claim_id=claim.id,
        status=claim.claim_status,
        created_at=claim.created_at,
    )


def _hashes(session: ScopedSession, codes: set[str]) -> set[str]:
    found = session.execute(sa.select(col(UploadedFile.sent_sha256)).where(col(UploadedFile.code).in_(codes)))
    return set(found.scalars())


def _link_uploads(session: ScopedSession, claim_id: UUID, codes: set[str]) -> None:
    """Link earlier uploads to the claim; those already linked to a claim are left."""
    session.execute(
        sa.update(UploadedFile)
        .where(col(UploadedFile.code).in_(codes), col(UploadedFile.claim_id).is_(None))
        .values(claim_id=claim_id)
        .execution_options(synchronize_session=False)
    )
