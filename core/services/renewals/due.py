"""Policies due for renewal, by days to expiry, with the premium at risk."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NamedTuple

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.renewals.filter import DueFilter
from core.services.windows import Span
from core.store.access import ScopedSession
from core.store.schema.tables import Policy, Product, Renewal

UNFILTERED = DueFilter()


class DayRange(NamedTuple):
    """A range of days from today, both ends included, in which a policy of a bucket expires."""

    label: str
    first: int
    last: int


# A policy that expires today counts as due, although its cover ended at the start of the day.
BUCKETS: Final[Mapping[str, DayRange]] = {
    "week": DayRange("0-7 days", 0, 7),
    "month": DayRange("8-30 days", 8, 30),
    "two-months": DayRange("31-60 days", 31, 60),
    "quarter": DayRange("61-90 days", 61, 90),
    "lapsed": DayRange("Lapsed up to 30 days", -30, -1),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Bucket:
    """Policies that expire within a range of days; `expiring` filters any list of policies to the same ones."""

    key: str
    label: str
    expiring: Span
    policies: int
    premium_minor: int


def list_due(session: ScopedSession, today: date, criteria: DueFilter = UNFILTERED) -> Sequence[Bucket]:
    """Return renewable policies by days to expiry, the most urgent first, lapsed ones last.

    Premium at risk is the cost of each policy's last term, in kobo; `criteria` filters as in any list.
    """
    expires, whole_span = col(Policy.expiration_at), get_span(today)
    lines = session.execute(
        sa.select(expires, sa.func.count(), sa.func.sum(build_last_premium()))
        .where(*build_conditions(criteria), *whole_span.on(expires))
        .group_by(expires)
    ).all()
    return [_build_bucket(key, get_span(today, key), lines) for key in BUCKETS]


def get_span(today: date, key: str | None = None) -> Span:
    """Return the span in which the policies of a bucket expire, or those of all buckets."""
    ranges = [BUCKETS[key]] if key else list(BUCKETS.values())
    return _build_span(today, min(days.first for days in ranges), max(days.last for days in ranges))


def build_conditions(criteria: DueFilter = UNFILTERED) -> list[sa.ColumnElement[bool]]:
    """Build the SQL conditions of renewable policies within a filter, whatever their dates."""
    return [
        col(Policy.activated).is_(True),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        col(Policy.deleted_at).is_(None),
        col(Policy.product_id).in_(sa.select(col(Product.id)).where(col(Product.renewable))),
        # By product ids, which the index on policies has.
        *criteria.product_conditions(Policy),
    ]


def build_last_premium() -> Any:
    """Build the SQL expression for the price of a policy's current term: its last renewal's, or the purchase's."""
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


def _build_bucket(key: str, span: Span, lines: Sequence[Any]) -> Bucket:
    inside = [(count, minor) for expires, count, minor in lines if _contains(span, expires)]
    return Bucket(
        key=key,
        label=BUCKETS[key].label,
        expiring=span,
        policies=sum(count for count, _ in inside),
        premium_minor=sum(int(minor) for _, minor in inside),
    )


def _contains(span: Span, instant: datetime) -> bool:
    assert span.start is not None and span.end is not None, "a bucket has two ends"  # noqa: S101, PT018
    return span.start <= instant < span.end


def _build_span(today: date, first: int, last: int) -> Span:
    return Span(clock.midnight(clock.add_days(today, first)), clock.midnight(clock.add_days(today, last + 1)))
