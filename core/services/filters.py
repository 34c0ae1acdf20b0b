"""Filters of sales lists and the SQL conditions they become (contract P4-P6)."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col
from sqlmodel.sql.sqltypes import UTCDateTime

from core import clock
from core.store.expressions import matches
from core.store.schema.tables import Customer, Policy, Product

CustomerType = Literal["principal", "beneficiary", "all"]


@dataclass(frozen=True, slots=True)
class Span:
    """Half-open interval of instants, `start` included and `end` excluded; None leaves a side open."""

    start: datetime | None = None
    end: datetime | None = None

    def on(self, column: Any) -> list[sa.ColumnElement[bool]]:
        """Return the conditions that `column` lies within the span."""
        conditions = []
        if self.start is not None:
            conditions.append(column >= self.start)
        if self.end is not None:
            conditions.append(column < self.end)
        return conditions

    def within(self, other: "Span") -> "Span":
        """Return the intersection of two spans."""
        starts = [at for at in (self.start, other.start) if at is not None]
        ends = [at for at in (self.end, other.end) if at is not None]
        return Span(max(starts, default=None), min(ends, default=None))

    def __bool__(self) -> bool:
        return self.start is not None or self.end is not None


@dataclass(frozen=True, kw_only=True, slots=True)
class SalesFilter:
    """Filter of purchases, renewals and policies; several ids mean any of them."""

    created: Span = Span()
    expiring: Span = Span()
    customer_id: UUID | None = None
    customer_email: str | None = None
    customer_type: CustomerType = "all"
    provider_ids: tuple[UUID, ...] = ()
    product_ids: tuple[UUID, ...] = ()
    category_ids: tuple[UUID, ...] = ()
    distributor_ids: tuple[UUID, ...] = ()
    request_sources: tuple[str, ...] = ()
    status: bool | None = None

    @property
    def concerns_policy(self) -> bool:
        """True when a condition reads the policy joined to the record."""
        return bool(self.expiring) or self.customer_type != "all"

    @property
    def of_catalogue(self) -> bool:
        """True when nothing but times, products and distributors narrows the sales: not by any other field."""
        return replace(self, created=Span(), **_NO_CATALOGUE) == type(self)()


@dataclass(frozen=True, slots=True)
class Marked:
    """A filter whose values are bind parameters, with those values; filters of one shape share a compiled statement."""

    wanted: SalesFilter
    values: Mapping[str, Any]
    # Equal for filters that differ in their values alone: the names of the marks, and each field that has none.
    shape: tuple[Any, ...]


_CATALOGUE = ("provider_ids", "product_ids", "category_ids", "distributor_ids")
_NO_CATALOGUE: Mapping[str, Any] = dict.fromkeys(_CATALOGUE, ())
_SEVERAL: Mapping[str, Any] = {**dict.fromkeys(_CATALOGUE, sa.Uuid()), "request_sources": sa.String()}


@lru_cache(maxsize=1024)
def marked(wanted: SalesFilter) -> Marked:
    """Replace the values of a filter by bind parameters, for a statement that is compiled once."""
    values: dict[str, Any] = {}

    def mark(name: str, value: Any, type_: Any) -> Any:
        if value is None:
            return None
        values[name] = value
        return sa.bindparam(name, type_=type_)

    def span(name: str, found: Span) -> Span:
        return Span(mark(f"{name}_from", found.start, UTCDateTime()), mark(f"{name}_until", found.end, UTCDateTime()))

    several = {
        name: tuple(mark(f"{name}_{place}", value, type_) for place, value in enumerate(getattr(wanted, name)))
        for name, type_ in _SEVERAL.items()
    }
    marks: Any = {
        "created": span("created", wanted.created),
        "expiring": span("expiring", wanted.expiring),
        "customer_id": mark("customer_id", wanted.customer_id, sa.Uuid()),
        "customer_email": mark("customer_email", _key_of(wanted.customer_email), sa.String()),
        **several,
    }
    unmarked = [getattr(wanted, field.name) for field in fields(wanted) if field.name not in marks]
    return Marked(replace(wanted, **marks), values, (*values, *unmarked))


def on_record(wanted: SalesFilter, table: Any) -> list[sa.ColumnElement[bool]]:
    """Return the conditions on a table that carries the ids of a sale (purchase, renewal or policy)."""
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
    if wanted.customer_id is not None:
        conditions.append(col(table.customer_id) == wanted.customer_id)
    email_key = _key_of(wanted.customer_email)
    if email_key is not None:
        mine = sa.select(col(Customer.id)).where(col(Customer.email_key) == email_key)
        conditions.append(col(table.customer_id).in_(mine))
    return conditions


def _key_of(email: Any) -> Any:
    """Return the lookup key of an e-mail, None for an empty one; a bind parameter is returned as it is."""
    return (email.lower() or None) if isinstance(email, str) else email


def on_catalogue(wanted: SalesFilter, table: Any) -> list[sa.ColumnElement[bool]]:
    """Return the conditions on a table with only product and distributor; the product implies insurer and category."""
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
    """Return the conditions on the policy of a sale."""
    conditions = [*wanted.expiring.on(col(Policy.expiration_at))]
    if wanted.customer_type == "principal":
        conditions.append(col(Policy.buyer_id) == col(Policy.customer_id))
    if wanted.customer_type == "beneficiary":
        conditions.append(col(Policy.buyer_id) != col(Policy.customer_id))
    return conditions


def in_force() -> sa.ColumnElement[bool]:
    """Return the condition of a policy in force: activated, not cancelled, declined or expired (contract S11)."""
    return sa.and_(
        col(Policy.activated),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        sa.or_(col(Policy.expiration_at).is_(None), col(Policy.expiration_at) > clock.now()),
    )


def mentions(column: Any, text: str) -> sa.ColumnElement[bool]:
    """Return the condition that a column contains a text, ignoring case."""
    if text.isascii():
        return matches(column, containing(text))
    return sa.func.lower(column).like(containing(text), escape="\\")


def containing(text: str) -> str:
    """Return a lower-case LIKE pattern (escaped with a backslash) that matches the text anywhere."""
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
