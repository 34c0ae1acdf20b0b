"""Unplaced premium: written, while its insurer has not taken the policy yet, by age (contract F1)."""

from typing import NamedTuple

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.lists.filters.field import Condition
from core.services.sales.filter import SalesFilter
from core.store.access import ScopedSession
from core.store.schema.sales import UNUSUAL
from core.store.schema.tables import Policy

_FRESH_DAYS, _LATE_DAYS = 7, 14


class Unplaced(NamedTuple):
    """Policies that await their insurer and their premium in kobo, by whole days in Lagos since the sale."""

    fresh: int = 0
    fresh_minor: int = 0
    waiting: int = 0
    waiting_minor: int = 0
    late: int = 0
    late_minor: int = 0

    @property
    def policies(self) -> int:
        """The number of policies of every age."""
        return self.fresh + self.waiting + self.late

    @property
    def total_minor(self) -> int:
        """The premium of every age."""
        return self.fresh_minor + self.waiting_minor + self.late_minor


def compute_unplaced(session: ScopedSession, criteria: SalesFilter, *conditions: Condition) -> Unplaced:
    """Return what is unplaced now, 0-7, 8-14 and over 14 days old; the times of the filter do not count.

    `conditions` on policies narrow it further.
    """
    sold = col(Policy.created_at)
    # A sale of today is 0 days old: one that is 7 days old was sold on the seventh day before today.
    fresh, waiting = (clock.lagos_midnight(clock.add_days(clock.today(), -days)) for days in (_FRESH_DAYS, _LATE_DAYS))
    ages = (sold >= fresh, sa.and_(sold < fresh, sold >= waiting), sold < waiting)
    sums = [
        sa.func.sum(sa.case((age, value), else_=0)) for age in ages for value in (1, col(Policy.genius_price_minor))
    ]
    query = sa.select(*sums).where(
        *criteria.anytime().conditions(Policy),
        # As the index of unusual policies says it, so that it is used.
        sa.text(UNUSUAL),
        col(Policy.activated).is_(False),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        col(Policy.deleted_at).is_(None),
        *conditions,
    )
    return Unplaced(*(int(value or 0) for value in session.execute(query).one()))
