"""What lists can be narrowed by, and how each narrowing becomes a condition (contract P4-P6)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.store.expressions import matches
from core.store.tables import Customer, Policy, Product

CustomerType = Literal["principal", "beneficiary", "all"]


@dataclass(frozen=True, slots=True)
class Span:
    """Instants from `start` up to but not including `end`; none leaves a side open."""

    start: datetime | None = None
    end: datetime | None = None

    def on(self, column: Any) -> list[sa.ColumnElement[bool]]:
        """Conditions that hold for instants within the span."""
        conditions = []
        if self.start is not None:
            conditions.append(column >= self.start)
        if self.end is not None:
            conditions.append(column < self.end)
        return conditions

    def __bool__(self) -> bool:
        return self.start is not None or self.end is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class SalesFilter:
    """What purchases, renewals and policies can be narrowed by; several ids mean any of them."""

    created: Span = Span()
    expiring: Span = Span()
    customer_id: UUID | None = None
    customer_email: str | None = None
    customer_type: CustomerType = "all"
    provider_ids: Sequence[UUID] = ()
    product_ids: Sequence[UUID] = ()
    category_ids: Sequence[UUID] = ()
    distributor_ids: Sequence[UUID] = ()
    request_sources: Sequence[str] = ()
    status: bool | None = None

    @property
    def concerns_policy(self) -> bool:
        """True when a condition reads the policy beside the record."""
        return bool(self.expiring) or self.customer_type != "all"

    @property
    def of_catalogue(self) -> bool:
        """True when nothing but times, products and distributors narrows the sales."""
        return not (
            self.concerns_policy
            or self.customer_id
            or self.customer_email
            or self.request_sources
            or self.status is not None
        )


def on_record(wanted: SalesFilter, table: Any) -> list[sa.ColumnElement[bool]]:
    """Conditions on a table that carries the ids of a sale (purchase, renewal or policy)."""
    conditions = [*wanted.created.on(col(table.created_at))]
    for ids, column in (
        (wanted.provider_ids, table.provider_id),
        (wanted.product_ids, table.product_id),
        (wanted.category_ids, table.product_category_id),
        (wanted.distributor_ids, table.distributor_id),
        (wanted.request_sources, table.request_source),
    ):
        if ids:
            conditions.append(col(column).in_(ids))
    if wanted.customer_id:
        conditions.append(col(table.customer_id) == wanted.customer_id)
    if wanted.customer_email:
        mine = sa.select(col(Customer.id)).where(col(Customer.email_key) == wanted.customer_email.lower())
        conditions.append(col(table.customer_id).in_(mine))
    return conditions


def on_catalogue(wanted: SalesFilter, table: Any) -> list[sa.ColumnElement[bool]]:
    """Conditions on a table that carries only product and distributor; a product keeps its insurer and category."""
    conditions: list[sa.ColumnElement[bool]] = []
    if wanted.distributor_ids:
        conditions.append(col(table.distributor_id).in_(wanted.distributor_ids))
    if wanted.product_ids:
        conditions.append(col(table.product_id).in_(wanted.product_ids))
    for ids, column in ((wanted.provider_ids, Product.provider_id), (wanted.category_ids, Product.product_category_id)):
        if ids:
            conditions.append(col(table.product_id).in_(sa.select(col(Product.id)).where(col(column).in_(ids))))
    return conditions


def on_policy(wanted: SalesFilter) -> list[sa.ColumnElement[bool]]:
    """Conditions on the policy of a sale."""
    conditions = [*wanted.expiring.on(col(Policy.expiration_at))]
    if wanted.customer_type == "principal":
        conditions.append(col(Policy.buyer_id) == col(Policy.customer_id))
    if wanted.customer_type == "beneficiary":
        conditions.append(col(Policy.buyer_id) != col(Policy.customer_id))
    return conditions


def in_force() -> sa.ColumnElement[bool]:
    """Activated, neither cancelled nor declined, and not past its expiration (contract S11)."""
    return sa.and_(
        col(Policy.activated),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        sa.or_(col(Policy.expiration_at).is_(None), col(Policy.expiration_at) > clock.now()),
    )


def mentions(column: Any, text: str) -> sa.ColumnElement[bool]:
    """That a column holds a text anywhere, in any case."""
    if text.isascii():
        return matches(column, containing(text))
    return sa.func.lower(column).like(containing(text), escape="\\")


def containing(text: str) -> str:
    """A LIKE pattern (escaped with a backslash) for any part of a text, in lower case."""
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
