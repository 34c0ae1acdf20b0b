"""Lodging a claim: accept it as Pending and flag it for the officer (contract C1-C4)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers.claims.line import Endpoint
from core.errors import FieldFault, InvalidInput
from core.services.audit import log as audit
from core.services.claims.intake import new_claims
from core.services.claims.intake.new_claims import ClaimRequest, NewClaim
from core.services.claims.lists import records
from core.services.claims.lists.shapes import ClaimRecord
from core.services.claims.review import fraud_flags
from core.services.files import files
from core.services.files import links as file_links
from core.services.files.files import StoredFile
from core.services.files.links import Owner
from core.states.claims import ClaimStatus
from core.store import policy_numbers
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
    session: ScopedSession, request: ClaimRequest, uploads: Sequence[StoredFile], *, owner: Owner, actor: str
) -> ClaimRecord:
    """Lodge a claim of any line as Pending, with fraud flags (contract C3, C16).

    The uploads given are stored with the claim; the other documents must be earlier uploads of the owner.
    InvalidInput names a policy number that is not one of the owner's policies of that line, and every document that
    is not an upload of the owner.
    """
    new = new_claims.read(request)
    policy, customer, endpoint = _get_accepted_policy(session, new, uploads, owner)
    found = file_links.find_codes(new.documents)
    linked = set(found.values()) - {file.code for file in uploads}
    claim = build_initial_claim(policy, customer, new)
    hashes = {file.sent_sha256 for file in uploads} | _hashes(session, linked)
    claim.flags = fraud_flags.find_flags(session, policy, endpoint, new, hashes)
    session.insert(claim, _build_initial_event(claim))
    for file in uploads:
        files.record(session, file, owner, actor=actor, claim_id=claim.id)
    _link_uploads(session, claim.id, {name: code for name, code in found.items() if code in linked})
    audit.write(
        session,
        actor=actor,
        action="claim lodged",
        subject=audit.subject_of("claim", claim.id),
        after={"policy_id": str(policy.id), "claim_status": claim.claim_status, "flags": claim.flags},
    )
    return records.get_claim(session, claim.id)


def _get_accepted_policy(
    session: ScopedSession, new: NewClaim, uploads: Sequence[StoredFile], owner: Owner
) -> tuple[Policy, Customer, Endpoint]:
    """Return the policy of the claim, its customer and its endpoint, or raise InvalidInput (contract C1, C2)."""
    row = session.execute(_build_owner_query(new, owner)).first()
    codes = file_links.find_codes(new.documents)
    known = {file.code for file in uploads} | file_links.list_owned(session, set(codes.values()), owner)
    faults = [
        FieldFault(name, "must be a file, or the address of one that you uploaded in this mode")
        for name in new.documents
        if codes.get(name) not in known
    ]
    if row is None:
        faults.insert(0, FieldFault("policy_number", f"must be a {new.policy_words} of yours in this mode"))
    if row is None or faults:
        raise InvalidInput(faults)
    return row.Policy, row.Customer, (row.prefix, row.route_name)


def _build_owner_query(new: NewClaim, owner: Owner) -> AnySelect:
    mine = (col(Policy.distributor_id) == owner.distributor_id, col(Policy.is_live) == owner.is_live)
    return build_policy_query(has_number(new.policy_number), new.endpoints).where(*mine).limit(1)


def has_number(policy_number: str) -> sa.ColumnElement[bool]:
    """Return the condition of a policy's number; insurers may use one twice."""
    return col(Policy.number_key) == policy_numbers.key(policy_number)


def build_policy_query(found: sa.ColumnElement[bool], endpoints: Iterable[Endpoint]) -> AnySelect:
    """Build the query of policies of a condition that these endpoints sold, newest first."""
    sold_by = (sa.and_(col(Product.prefix) == prefix, col(Product.route_name) == route) for prefix, route in endpoints)
    return (
        sa.select(Policy, Customer, col(Product.prefix), col(Product.route_name))
        .join(Customer, col(Customer.id) == col(Policy.customer_id))
        .join(Product, col(Product.id) == col(Policy.product_id))
        .where(
            found,
            col(Policy.deleted_at).is_(None),
            sa.or_(*sold_by),
        )
        .order_by(col(Policy.created_at).desc())
    )


def build_initial_claim(policy: Policy, customer: Customer, new: NewClaim) -> Claim:
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
        claim_type=new.claim_type,
        claim_status=ClaimStatus.PENDING,
        claim_description=f"{new.incident_type}, policy {policy.policy_number}",
        **new.build_owner(customer),
        incident_date=new.happened_on.isoformat() if new.happened_on else None,
        sealed=new.sealed,
        account_key=new.account_key,
        **new.build_meta_column(),
        **_ZERO_AMOUNTS,
    )


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


def _link_uploads(session: ScopedSession, claim_id: UUID, codes: Mapping[str, str]) -> None:
    """Link earlier uploads to the claim by document; those already linked to a claim are left."""
    for name, code in codes.items():
        session.execute(
            sa.update(UploadedFile)
            .where(col(UploadedFile.code) == code, col(UploadedFile.claim_id).is_(None))
            .values(claim_id=claim_id, field=name[:40])
            .execution_options(synchronize_session=False)
        )
