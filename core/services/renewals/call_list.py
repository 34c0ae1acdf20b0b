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
from core.store.access import ScopedSession
from core.store.schema.tables import Policy


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
