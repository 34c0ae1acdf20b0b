"""The latest call and reminder about the current term of a policy, as SQL for lists of policies."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.services.filters.field import Condition
from core.store.access import AnySelect
from core.store.schema.tables import Policy, RenewalCall, RenewalReminder


def build_latest_call() -> Any:
    """Return the id of the latest call about the current term of a policy, as SQL."""
    call = sa.orm.aliased(RenewalCall)
    latest = _of_term(call, col(call.id)).order_by(col(call.created_at).desc(), col(call.id).desc())
    return latest.limit(1).scalar_subquery()


def build_latest_reminder() -> Any:
    """Return when a policy was last reminded of the end of its current term, as SQL."""
    return _of_term(RenewalReminder, sa.func.max(col(RenewalReminder.created_at))).scalar_subquery()


def is_latest_call(*conditions: Condition) -> Condition:
    """Return the condition on a policy that its latest call is such; without conditions, that there is one."""
    return sa.select(col(RenewalCall.id)).where(col(RenewalCall.id) == build_latest_call(), *conditions).exists()


def _of_term(entity: Any, value: Any) -> AnySelect:
    is_of_term = col(entity.policy_id) == col(Policy.id), col(entity.expiration_at) == col(Policy.expiration_at)
    return sa.select(value).where(*is_of_term).correlate(Policy)
