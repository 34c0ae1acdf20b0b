"""What is up for renewal: policies by the days until they expire, and the premium at risk with them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services import filters
from core.services.filters import SalesFilter, Span
from core.store.scope import AnySelect, ScopedSession
from core.store.tables import Policy, Product, Renewal

EVERYTHING = SalesFilter()
# First and last day after today; a policy that expires today counts as due, though its cover ended as the day began.
_BUCKETS = (
    ("0-7 days", 0, 7),
    ("8-30 days", 8, 30),
    ("31-60 days", 31, 60),
    ("61-90 days", 61, 90),
    ("Lapsed up to 30 days", -30, -1),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """Policies that expire within some days; `expiring` narrows any list of policies to the same ones."""

    label: str
    expiring: Span
    policies: int
    premium_minor: int


def due(session: ScopedSession, today: date, wanted: SalesFilter = EVERYTHING) -> Sequence[Bucket]:
    """Renewable policies by days to expiry, in the order of urgency, then what lapsed.

    Premium at risk is what the last term of each policy cost, in kobo; `wanted` narrows as in any list.
    """
    spans = [(label, _span(today, first, last)) for label, first, last in _BUCKETS]
    counts = [_within(span, 1).label(f"policies_{n}") for n, (_, span) in enumerate(spans)]
    sums = [_within(span, _last_premium()).label(f"premium_{n}") for n, (_, span) in enumerate(spans)]
    found = session.execute(_renewable(today, wanted).with_only_columns(*counts, *sums)).one()._mapping
    return [
        Bucket(label=label, expiring=span, policies=found[f"policies_{n}"], premium_minor=int(found[f"premium_{n}"]))
        for n, (label, span) in enumerate(spans)
    ]


def conditions() -> list[sa.ColumnElement[bool]]:
    """What a policy must be for a renewal to make sense, whatever its dates."""
    return [
        col(Policy.activated).is_(True),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        col(Policy.deleted_at).is_(None),
        col(Policy.product_id).in_(sa.select(col(Product.id)).where(col(Product.renewable))),
    ]


def _renewable(today: date, wanted: SalesFilter) -> AnySelect:
    furthest = _span(today, -30, 90)
    return sa.select(Policy).where(
        *conditions(),
        *furthest.on(col(Policy.expiration_at)),
        *filters.on_record(wanted, Policy),
        *filters.on_policy(wanted),
    )


def _span(today: date, first: int, last: int) -> Span:
    return Span(clock.midnight(clock.add_days(today, first)), clock.midnight(clock.add_days(today, last + 1)))


def _within(span: Span, value: Any) -> Any:
    inside = sa.and_(*span.on(col(Policy.expiration_at)))
    return sa.func.coalesce(sa.func.sum(sa.case((inside, value), else_=0)), 0)


def _last_premium() -> Any:
    """The total of the renewal that made the current term, or of the purchase when there was none."""
    renewed = (
        sa.select(col(Renewal.total_minor))
        .where(
            col(Renewal.policy_id) == col(Policy.id),
            col(Renewal.expiration_at) == col(Policy.expiration_at),
            col(Renewal.status),
        )
        .correlate(Policy)
        .limit(1)
        .scalar_subquery()
    )
    return sa.func.coalesce(renewed, col(Policy.genius_price_minor))
