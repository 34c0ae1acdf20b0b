"""The duplicate guard: the same risk is sold once, and possible duplicates are flagged (contract S12)."""

from collections.abc import Mapping, Sequence
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

# The instants between which a policy is to cover, None where the insurer sets them.
Span = tuple[datetime | None, datetime | None]


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
    _refuse_insured(lock_risks(session, product_id, {risk_hash: term}, owner))


def lock_risks(
    session: ScopedSession, product_id: UUID, terms: Mapping[str, Term], owner: Owner
) -> dict[str, EarlierPolicy]:
    """Lock several risks, each by its keyed hash with its term, and return the policies that cover one already."""
    _lock(session, product_id, sorted(terms))
    return find_insured_many(session, product_id, terms, owner)


def find_insured_many(
    session: ScopedSession, product_id: UUID, terms: Mapping[str, Term], owner: Owner
) -> dict[str, EarlierPolicy]:
    """Return by keyed hash the policies that would keep a sale of these risks from being made."""
    spans = {risk_hash: (term.start_at, term.expiration_at) for risk_hash, term in terms.items()}
    return _find_insured(session, product_id, spans, *owner.owns(Policy))


def hash_risk(risk: str) -> str:
    """Return the keyed hash of a risk."""
    return seal.keyed_hash("risk", risk)


def lock_risk_again(session: ScopedSession, policy: Policy, term: Term) -> None:
    """Lock the risk of a policy for one more term; DuplicateRisk if another policy covers it by now."""
    if policy.risk_hash is not None:
        _lock_for(session, policy, policy.risk_hash, (term.start_at, term.expiration_at))


def lock_other_risk(session: ScopedSession, policy: Policy, risk: str, start_at: datetime) -> str:
    """Lock another risk for what is left of a policy and return its keyed hash; DuplicateRisk if it is insured."""
    risk_hash = hash_risk(risk)
    _lock_for(session, policy, risk_hash, (start_at, policy.expiration_at))
    return risk_hash


def _lock_for(session: ScopedSession, policy: Policy, risk_hash: str, span: Span) -> None:
    _lock(session, policy.product_id, [risk_hash])
    others = (*Owner.of(policy).owns(Policy), col(Policy.id) != policy.id)
    _refuse_insured(_find_insured(session, policy.product_id, {risk_hash: span}, *others))


def _lock(session: ScopedSession, product_id: UUID, hashes: Sequence[str]) -> None:
    now = clock.now()
    locks = [InsuredRisk.to_insert(product_id=product_id, risk_hash=each, sold_at=now) for each in hashes]
    # A row of this transaction is locked already.
    if not session.insert_many(locks, if_absent=True):
        mine = (col(InsuredRisk.product_id) == product_id, is_among(col(InsuredRisk.risk_hash), hashes))
        session.execute(
            sa.select(col(InsuredRisk.sold_at)).where(*mine).order_by(col(InsuredRisk.risk_hash)).with_for_update()
        )


def _refuse_insured(found: Mapping[str, EarlierPolicy]) -> None:
    for policy in found.values():
        raise DuplicateRisk(
            "This risk is already insured for these dates",
            detail={"policy_id": str(policy.id), "policy_number": policy.number},
        )


def _find_insured(
    session: ScopedSession, product_id: UUID, spans: Mapping[str, Span], *conditions: Any
) -> dict[str, EarlierPolicy]:
    """Return, by keyed hash, the first policy of each risk that is pending or in force at some time of a span."""
    columns = (Policy.id, Policy.policy_number, Policy.risk_hash, Policy.start_at, Policy.expiration_at)
    query = sa.select(*(col(each) for each in columns)).where(
        is_among(col(Policy.risk_hash), spans), *conditions, *_insures(product_id)
    )
    found: dict[str, EarlierPolicy] = {}
    for row in session.execute(query.order_by(col(Policy.created_at).desc(), col(Policy.id).desc())) if spans else ():
        if _overlaps(row, *spans[row.risk_hash]):
            found[row.risk_hash] = EarlierPolicy(id=row.id, number=row.policy_number, expiration_at=row.expiration_at)
    return found


def _overlaps(row: Any, start_at: datetime | None, end_at: datetime | None) -> bool:
    if row.expiration_at is None or start_at is None or end_at is None:
        return True
    return bool(row.expiration_at > start_at and row.start_at < end_at)


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
    span = (term.start_at, term.expiration_at) if term else (None, None)
    return next(iter(_find_insured(session, product_id, {hash_risk(risk): span}).values()), None)


def find_twin(session: ScopedSession, duplicate_key: str, email: str) -> EarlierPolicy | None:
    """Return the policy that a sale to the customer of this e-mail would be marked as a possible duplicate of."""
    customer = sa.select(col(Customer.id)).where(col(Customer.email_key) == email.lower()).scalar_subquery()
    row = session.execute(_select_twin(customer, duplicate_key).add_columns(col(Policy.expiration_at))).first()
    return None if row is None else EarlierPolicy(id=row.id, number=row.policy_number, expiration_at=row.expiration_at)


def _select_twin(customer: Any, duplicate_key: str) -> AnySelect:
    query = sa.select(col(Policy.id), col(Policy.policy_number)).where(
        col(Policy.customer_id) == customer, col(Policy.twin_key) == duplicate_key
    )
    return query.order_by(col(Policy.created_at)).limit(1)


def find_possible_duplicate(
    session: ScopedSession, cover: Cover[Any], request: object, customer_id: UUID
) -> UUID | None:
    """Return an earlier policy of this customer with the same duplicate key; the sale is not refused for it."""
    duplicate_key = cover.duplicate_key(request)
    if duplicate_key is None:
        return None
    return session.execute(_select_twin(customer_id, duplicate_key)).scalar()
