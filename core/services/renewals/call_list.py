"""The policies that are due for renewal as a list to call: the selection, and the latest call about each."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.filters.declaration import of
from core.services.filters.field import Condition
from core.services.filters.fields import Word
from core.services.renewals import due
from core.services.renewals.filter import DueFilter
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Policy, RenewalCall, RenewalReminder


def _is_in_bucket(_: Any, bucket: str | None) -> Condition:
    return sa.and_(*due.get_span(clock.today(), bucket).on(col(Policy.expiration_at)))


class CallListFilter(DueFilter, on=(Policy,)):
    """Filter of the call list: that of what is due, and one of its buckets, as of today."""

    bucket: str | None = of(
        Word(
            label="Ends in",
            column=_is_in_bucket,
            address="bucket",
            options={key: days.label for key, days in due.BUCKETS.items()},
        )
    )


def build_conditions(criteria: CallListFilter) -> list[Condition]:
    """Return the conditions of the policies that are due, in one bucket or in all of them."""
    return [*due.build_conditions(criteria), _is_in_bucket(None, criteria.bucket)]


def count(session: ScopedSession, criteria: CallListFilter) -> int:
    """Return the number of policies of a selection."""
    query = sa.select(sa.func.count()).select_from(Policy).where(*build_conditions(criteria))
    return int(session.execute(query).scalar_one())


def build_latest_call() -> Any:
    """Return the id of the latest call about the current term of a policy, as SQL."""
    call = sa.orm.aliased(RenewalCall)
    latest = _of_term(call, col(call.id)).order_by(col(call.created_at).desc(), col(call.id).desc())
    return latest.limit(1).scalar_subquery()


def build_latest_reminder() -> Any:
    """Return when a policy was last reminded of the end of its current term, as SQL."""
    return _of_term(RenewalReminder, sa.func.max(col(RenewalReminder.created_at))).scalar_subquery()


def _of_term(entity: Any, value: Any) -> AnySelect:
    is_of_term = col(entity.policy_id) == col(Policy.id), col(entity.expiration_at) == col(Policy.expiration_at)
    return sa.select(value).where(*is_of_term).correlate(Policy)
