"""The same risk is sold once: the duplicate guard, and the flag for what only looks alike (contract S12)."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, seal
from core.covers.cover import Cover, Term
from core.errors import DuplicateRisk
from core.store.scope import AnySelect, ScopedSession
from core.store.tables import InsuredRisk, Policy


def claim(session: ScopedSession, product_id: UUID, risk: str | None, term: Term) -> str | None:
    """The keyed hash of a risk, held by this transaction; DuplicateRisk when it is already insured.

    Two sales of one risk meet at its row: the second waits for the first and then sees its policy.
    """
    if risk is None:
        return None
    hashed = seal.keyed_hash("risk", risk)
    if not session.insert_once(InsuredRisk(product_id=product_id, risk_hash=hashed, sold_at=clock.now())):
        session.execute(
            sa.select(col(InsuredRisk.sold_at))
            .where(col(InsuredRisk.product_id) == product_id, col(InsuredRisk.risk_hash) == hashed)
            .with_for_update()
        ).one()
    first = session.execute(_insured(product_id, hashed, term)).first()
    if first is not None:
        raise DuplicateRisk(
            "This risk is already insured for these dates",
            detail={"policy_id": str(first.id), "policy_number": first.policy_number},
        )
    return hashed


def _insured(product_id: UUID, hashed: str, term: Term) -> AnySelect:
    ends = col(Policy.expiration_at)
    query = sa.select(col(Policy.id), col(Policy.policy_number)).where(
        col(Policy.product_id) == product_id,
        col(Policy.risk_hash) == hashed,
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        sa.or_(ends.is_(None), ends > clock.now()),
    )
    if term.start_on is None or term.expiration_on is None:
        return query.limit(1)
    return query.where(
        sa.or_(
            ends.is_(None),
            sa.and_(ends > clock.midnight(term.start_on), col(Policy.start_at) < clock.midnight(term.expiration_on)),
        )
    ).limit(1)


def possible_duplicate(session: ScopedSession, cover: Cover[Any], request: Any, customer_id: UUID) -> UUID | None:
    """An earlier policy of this customer that the request repeats without being refused for it."""
    twin = cover.twin(request)
    if twin is None:
        return None
    rows = session.execute(
        sa.select(col(Policy.id))
        .where(col(Policy.customer_id) == customer_id, col(Policy.twin_key) == twin)
        .order_by(col(Policy.created_at))
        .limit(1)
    )
    return rows.scalar_one_or_none()
