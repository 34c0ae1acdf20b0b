"""Filters of sales: what purchases, renewals and policies share, and the list of purchases (contract P4-P6)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from typing import Any, Final, Literal, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.covers import request_parts
from core.services.lists.filters.declaration import Filter, Ids, of
from core.services.lists.filters.fields import (
    Condition,
    Days,
    Member,
    Members,
    Text,
    Texts,
    Word,
    members_of,
)
from core.services.lists.listing import SOURCES
from core.services.lists.windows import Span
from core.services.sales import search
from core.store.access import AnySelect, Query, ScopedSession
from core.store.schema.tables import (
    Customer,
    DaybookLine,
    Policy,
    Product,
    Purchase,
    Renewal,
)


def _has_email(table: Any, email: Any) -> Condition:
    return col(table.customer_id).in_(sa.select(col(Customer.id)).where(col(Customer.email_key) == email))


def _has_role(_: Any, role: str) -> Condition:
    own = col(Policy.buyer_id) == col(Policy.customer_id)
    return own if role == "principal" else sa.not_(own)


def find_by_policy(column: Any, **more: Any) -> Any:
    """Declare the search of a list whose records belong to the policies that a column names."""
    return declare_search(lambda _, text: col(column).in_(search.select_policies(Policy.id, text)), **more)


def declare_search(condition: Callable[[Any, str], Condition], **more: Any) -> Any:
    """Declare the search of a list by a condition of the table and the text; `more` is what it has otherwise."""
    field = Text(
        label="Find",
        column=condition,
        address="find",
        help="A part of a policy number, plate, name or phone, or an e-mail.",
        check=search.normalise_text,
        placeholder="Number, plate, name, e-mail or phone",
        longest=search.MAX_LENGTH,
        searches=True,
        place="search",
    )
    return of(replace, field, **more)


class SalesFilter(Filter, on=(Purchase, Renewal, Policy)):
    """Filter of purchases, renewals or policies alike, as the dashboard has it."""

    JOINED = (Policy,)

    created: Span = of(Days, column="created_at", address="from to", api="start_date end_date", place="none")
    provider_ids: Ids = of(members_of, "provider", through=Product.provider_id, api="provider_id")
    category_ids: Ids = of(members_of, "category", through=Product.product_category_id)
    product_ids: Ids = of(members_of, "product")
    distributor_ids: Ids = of(members_of, "distributor")
    customer_email: str | None = of(
        Text,
        label="E-mail",
        column=_has_email,
        bound_as=sa.String(),
        normalise=request_parts.fold_email,
        address="email",
        api="customer_email",
        help="E-mail of the customer.",
        what="address",
        screen="Customer e-mail",
        placeholder="name@example.com",
        place="none",
    )
    request_sources: tuple[str, ...] = of(
        Texts,
        label="Source",
        column="request_source",
        address="source",
        options=SOURCES,
        help="Where sales came from: api, desk, ...",
        screen="Request source",
        anything="All sources",
        place="none",
    )
    customer_id: UUID | None = of(Member, column="customer_id", api="customer_id")
    customer_ids: Ids = of(Members, column="customer_id")
    expiring: Span = of(
        Days,
        label="Expires",
        column=Policy.expiration_at,
        dated=True,
        api="expired_start_date expired_end_date",
        help="expiry",
        screen="Policy ends",
    )
    customer_type: Literal["principal", "beneficiary"] | None = of(
        Word,
        label="Customer is",
        column=_has_role,
        joins=Policy,
        options={"principal": "Principal", "beneficiary": "Beneficiary"},
        unlimited="all",
        help="principal or beneficiary.",
    )

    def days(self) -> tuple[date | None, date | None]:
        """Return the first and the last day of the time of sale, both included."""
        field: Days = self.FIELDS["created"]  # type: ignore[assignment]
        return field.days(self.created)

    @property
    def concerns_policy(self) -> bool:
        """True when a condition reads the policy joined to the record."""
        return self.joins(Policy)

    @property
    def of_catalogue(self) -> bool:
        """True when nothing but time, products and distributors narrows the sales, so that a roll-up can answer."""
        return self.is_answered_by(DaybookLine)


# SQL conditions of a sales filter on purchases and their policies.

S = TypeVar("S", bound=SalesFilter)
_NOBODY: Final = UUID(int=0)
_CUSTOMER_BY_EMAIL = Query(
    sa.select(col(Customer.id)).where(col(Customer.email_key) == sa.bindparam("email", type_=sa.String()))
)


def build_conditions(criteria: SalesFilter) -> list[Condition]:
    """Return the conditions of a filter on purchases and their policies."""
    return [*criteria.conditions(Purchase), col(Purchase.deleted_at).is_(None)]


def apply_criteria(query: AnySelect, criteria: SalesFilter) -> AnySelect:
    """Narrow a query to the purchases of a filter; joins the policy only where a condition reads it."""
    query = query.select_from(Purchase)
    if criteria.concerns_policy:
        query = query.join(Policy, col(Policy.purchase_id) == col(Purchase.id))
    return query.where(*build_conditions(criteria))


def resolve_customer(session: ScopedSession, criteria: S) -> S:
    """Return the same filter with the customer's id instead of the e-mail, unless several customers have it.

    With the e-mail alone the query planner would scan all purchases in order, for nothing where nobody has it.
    """
    if not criteria.customer_email or criteria.customer_id:
        return criteria
    customers = [row[0] for row in _CUSTOMER_BY_EMAIL.rows(session, email=criteria.customer_email.lower())]
    if len(customers) > 1:
        return criteria
    return replace(criteria, customer_email=None, customer_id=customers[0] if customers else _NOBODY)
