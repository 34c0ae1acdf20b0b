"""The duplicate guard: the same risk is sold once, and possible duplicates are flagged (contract S12)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, seal
from core.covers.cover import Cover, Term
from core.errors import DuplicateRisk
from core.store.access import AnySelect, Owner, ScopedSession
from core.store.expressions import is_among
from core.store.schema.tables import Customer, InsuredRisk, Policy


@dataclass(frozen=True, kw_only=True, slots=True)
class EarlierPolicy:
    """A policy that stands in the way of another sale; its number may still be missing."""

    id: UUID
    number: str | None
    expiration_at: datetime | None


def lock_risk(session: ScopedSession, product_id: UUID, risk_hash: str, term: Term, owner: Owner) -> None:
    """Lock a risk, by its keyed hash, for this transaction; DuplicateRisk if it is already insured.

    Concurrent sales of one risk lock the same row: the second waits for the first and then sees its policy.
    """
    _lock(session, product_id, risk_hash)
    insured = _build_insured_query(product_id, risk_hash, term.start_at, term.expiration_at)
    _require_uninsured(session, insured.where(*owner.owns(Policy)))


def lock_risks(
    session: ScopedSession, product_id: UUID, terms: Mapping[str, Term], owner: Owner
) -> dict[str, EarlierPolicy]:
    """Lock several risks, each by its keyed hash with its term, and return the policies that cover one already."""
    now, hashes = clock.now(), sorted(terms)
    locks = [InsuredRisk.to_insert(product_id=product_id, risk_hash=each, sold_at=now) for each in hashes]
    # A row of this transaction is locked already.
    if not session.insert_many(locks, if_absent=True):
        mine = (col(InsuredRisk.product_id) == product_id, is_among(col(InsuredRisk.risk_hash), hashes))
        session.execute(
            sa.select(col(InsuredRisk.sold_at)).where(*mine).order_by(col(InsuredRisk.risk_hash)).with_for_update()
        )
    return find_insured_many(session, product_id, terms, owner)


def find_insured_many(
    session: ScopedSession, product_id: UUID, terms: Mapping[str, Term], owner: Owner
) -> dict[str, EarlierPolicy]:
    """Return by keyed hash the policies that would keep a sale of these risks from being made."""
    columns = (Policy.id, Policy.policy_number, Policy.risk_hash, Policy.start_at, Policy.expiration_at)
    query = sa.select(*(col(each) for each in columns)).where(
        is_among(col(Policy.risk_hash), terms), *owner.owns(Policy), *_insures(product_id)
    )
    found: dict[str, EarlierPolicy] = {}
    for row in session.execute(query.order_by(col(Policy.created_at).desc(), col(Policy.start_at))) if terms else ():
        if _overlaps(row, terms[row.risk_hash]):
            found[row.risk_hash] = EarlierPolicy(id=row.id, number=row.policy_number, expiration_at=row.expiration_at)
    return found


def _overlaps(row: Any, term: Term) -> bool:
    if row.expiration_at is None or term.start_at is None or term.expiration_at is None:
        return True
    return bool(row.expiration_at > term.start_at and row.start_at < term.expiration_at)


def hash_risk(risk: str) -> str:
    """Return the keyed hash of a risk."""
    return seal.keyed_hash("risk", risk)


def lock_risk_again(session: ScopedSession, policy: Policy, term: Term) -> None:
    """Lock the risk of a policy for one more term; DuplicateRisk if another policy covers it by now."""
    if policy.risk_hash is not None:
        _lock_for(session, policy, policy.risk_hash, term.start_at, term.expiration_at)


def lock_other_risk(session: ScopedSession, policy: Policy, risk: str, start_at: datetime) -> str:
    """Lock another risk for what is left of a policy and return its keyed hash; DuplicateRisk if it is insured."""
    risk_hash = hash_risk(risk)
    _lock_for(session, policy, risk_hash, start_at, policy.expiration_at)
    return risk_hash


def _lock_for(
    session: ScopedSession, policy: Policy, risk_hash: str, start_at: datetime | None, end_at: datetime | None
) -> None:
    _lock(session, policy.product_id, risk_hash)
    others = (*Owner.of(policy).owns(Policy), col(Policy.id) != policy.id)
    _require_uninsured(session, _build_insured_query(policy.product_id, risk_hash, start_at, end_at).where(*others))


def _lock(session: ScopedSession, product_id: UUID, risk_hash: str) -> None:
    if not session.insert_if_absent(
        InsuredRisk.to_insert(product_id=product_id, risk_hash=risk_hash, sold_at=clock.now())
    ):
        session.execute(
            sa.select(col(InsuredRisk.sold_at))
            .where(col(InsuredRisk.product_id) == product_id, col(InsuredRisk.risk_hash) == risk_hash)
            .with_for_update()
        ).one()


def _require_uninsured(session: ScopedSession, query: AnySelect) -> None:
    first = session.execute(query).first()
    if first is not None:
        raise DuplicateRisk(
            "This risk is already insured for these dates",
            detail={"policy_id": str(first.id), "policy_number": first.policy_number},
        )


def _build_insured_query(
    product_id: UUID, risk_hash: str, start_at: datetime | None, end_at: datetime | None
) -> AnySelect:
    """Build the query for the first policy of a risk that is pending or in force at some time of a term."""
    starts, ends = col(Policy.start_at), col(Policy.expiration_at)
    query = sa.select(col(Policy.id), col(Policy.policy_number)).where(
        col(Policy.risk_hash) == risk_hash, *_insures(product_id)
    )
    if start_at is not None and end_at is not None:
        overlaps = sa.and_(ends > start_at, starts < end_at)
        query = query.where(sa.or_(ends.is_(None), overlaps))
    return query.order_by(col(Policy.created_at), col(Policy.id)).limit(1)


def _insures(product_id: UUID) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a policy of a product that is pending, in force or about to start."""
    ends = col(Policy.expiration_at)
    return [
        col(Policy.product_id) == product_id,
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        sa.or_(ends.is_(None), ends > clock.now()),
    ]


def find_insured(session: ScopedSession, product_id: UUID, risk: str, term: Term | None) -> EarlierPolicy | None:
    """Return the policy for which a sale of this risk would be refused; without a term, one that has not ended."""
    start_at, end_at = (term.start_at, term.expiration_at) if term else (None, None)
    query = _build_insured_query(product_id, hash_risk(risk), start_at, end_at)
    return _load_earlier(session, query)


def find_twin(session: ScopedSession, duplicate_key: str, email: str) -> EarlierPolicy | None:
    """Return the policy that a sale to the customer of this e-mail would be marked as a possible duplicate of."""
    customer = sa.select(col(Customer.id)).where(col(Customer.email_key) == email.lower()).scalar_subquery()
    return _load_earlier(session, _select_twin(customer, duplicate_key))


def _select_twin(customer: Any, duplicate_key: str) -> AnySelect:
    query = sa.select(col(Policy.id), col(Policy.policy_number)).where(
        col(Policy.customer_id) == customer, col(Policy.twin_key) == duplicate_key
    )
    return query.order_by(col(Policy.created_at)).limit(1)


def _load_earlier(session: ScopedSession, query: AnySelect) -> EarlierPolicy | None:
    row = session.execute(query.add_columns(col(Policy.expiration_at))).first()
    return None if row is None else EarlierPolicy(id=row.id, number=row.policy_number, expiration_at=row.expiration_at)


def find_possible_duplicate(
    session: ScopedSession, cover: Cover[Any], request: object, customer_id: UUID
) -> UUID | None:
    """Return an earlier policy of this customer with the same duplicate key; the sale is not refused for it."""
    duplicate_key = cover.duplicate_key(request)
    if duplicate_key is None:
        return None
    return session.execute(_select_twin(customer_id, duplicate_key)).scalar()
