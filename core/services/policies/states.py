"""The stage of a policy and the actions it allows: computed in one place for screens and services."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import NotFound
from core.states.policies import STAGES, PolicyAction, PolicyStage, PolicyStatus
from core.store.access import ScopedSession
from core.store.schema.tables import Policy, Product


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyState:
    """A policy's stage, the version that a command must name, and the allowed actions."""

    stage: PolicyStage
    version: int
    actions: tuple[PolicyAction, ...]


def get_state(session: ScopedSession, policy_id: UUID) -> PolicyState:
    """Return the state of one policy; NotFound if unknown in this scope."""
    query = (
        sa.select(Policy, col(Product.renewable))
        .join(Product, col(Product.id) == col(Policy.product_id))
        .where(col(Policy.id) == policy_id, col(Policy.deleted_at).is_(None))
    )
    row = session.execute(query).one_or_none()
    if row is None:
        raise NotFound("Policy not found")
    stage = get_stage(row.Policy)
    actions = tuple(each for each in STAGES[stage].actions if each is not PolicyAction.RENEW or row.renewable)
    return PolicyState(stage=stage, version=row.Policy.version, actions=actions)


def get_stage(policy: Any) -> PolicyStage:
    """Return the current stage of a policy row."""
    now = clock.now()
    if policy.cancelled_at is not None or policy.declined_at is not None:
        return PolicyStage.CANCELLED if policy.cancelled_at is not None else PolicyStage.DECLINED
    if not policy.activated:
        return PolicyStage.PENDING
    if policy.expiration_at is not None and policy.expiration_at <= now:
        return PolicyStage.EXPIRED
    is_ahead = policy.start_at is not None and policy.start_at > clock.latest_start()
    return PolicyStage.NOT_STARTED if is_ahead else PolicyStage.IN_FORCE


def status_of(policy: object) -> PolicyStatus:
    """The stage as the API says it: active from activation to the end, also before its start (contract S11)."""
    return STAGES[get_stage(policy)].status
