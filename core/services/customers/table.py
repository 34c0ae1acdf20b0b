"""The customers table of the desk: contact data and purchase totals."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.customers import customers
from core.services.customers.customers import CustomerFilter
from core.services.dimensions import UNKNOWN, Choices
from core.services.filters import expressions
from core.services.paging import Page, Paging, find_page
from core.store.access import ScopedSession
from core.store.schema.tables import Customer, Policy, Purchase, Renewal

Order = Literal["newest", "oldest", "name", "name-back"]
_CREATED_AT, _NAME = col(Customer.created_at), col(Customer.name_key)
ORDERS: Mapping[Order, tuple[Any, ...]] = {
    "newest": (_CREATED_AT.desc(), col(Customer.id).desc()),
    "oldest": (_CREATED_AT, col(Customer.id)),
    # The index that a search reads holds the names too.
    "name": (_NAME, _CREATED_AT, col(Customer.id)),
    "name-back": (_NAME.desc(), _CREATED_AT.desc(), col(Customer.id).desc()),
}


class PurchaseTotals(NamedTuple):
    """Purchase totals of a customer: policies, those in force, premium with renewals in kobo, last purchase."""

    policies: int = 0
    in_force: int = 0
    premium_minor: int = 0
    last_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class CustomerRow:
    """One row of the customers table."""

    id: UUID
    created_at: datetime
    name: str
    email: str
    phone: str | None
    distributor: str
    bought: PurchaseTotals


def list_customers(
    session: ScopedSession, criteria: CustomerFilter, names: Choices, *, order: Order = "newest", paging: Paging
) -> Page[CustomerRow]:
    """Return a page of the customers that match a filter, with the exact total."""
    conditions = customers.build_conditions(criteria)
    # The page is found by its ids first: an index holds all that is searched.
    page_query = sa.select(col(Customer.id)).where(*conditions).order_by(*ORDERS[order])
    page_ids, total = find_page(session, page_query, paging, searched=criteria.scans)
    query = sa.select(Customer).where(col(Customer.id).in_(page_ids)).order_by(*ORDERS[order])
    rows = list(session.execute(query).scalars()) if page_ids else []
    totals_by_customer = sum_purchases(session, [customer.id for customer in rows])
    return Page([_build_row(customer, totals_by_customer[customer.id], names) for customer in rows], total)


def sum_purchases(session: ScopedSession, customer_ids: Sequence[UUID]) -> dict[UUID, PurchaseTotals]:
    """Return the purchase totals of these customers; each id is in the result."""
    sales = _sum_by_customer(
        session,
        Purchase,
        customer_ids,
        sa.func.count().label("policies"),
        sa.func.sum(col(Purchase.total_minor)).label("minor"),
        sa.func.max(col(Purchase.created_at)).label("last_at"),
    )
    renewed = sa.func.sum(col(Renewal.total_minor)).label("minor")
    renewals = _sum_by_customer(session, Renewal, customer_ids, renewed, where=col(Renewal.status))
    covered = sa.func.count().label("policies")
    in_force = _sum_by_customer(session, Policy, customer_ids, covered, where=expressions.in_force())

    def build_totals(key: UUID) -> PurchaseTotals:
        sale, again, cover = sales.get(key), renewals.get(key), in_force.get(key)
        return PurchaseTotals(
            policies=sale.policies if sale else 0,
            in_force=cover.policies if cover else 0,
            premium_minor=int(sale.minor if sale else 0) + int(again.minor if again else 0),
            last_at=sale.last_at if sale else None,
        )

    return {key: build_totals(key) for key in customer_ids}


def add_totals(parts: Iterable[PurchaseTotals]) -> PurchaseTotals:
    """Add up the totals of several records of one person."""
    found = list(parts)
    return PurchaseTotals(
        policies=sum(part.policies for part in found),
        in_force=sum(part.in_force for part in found),
        premium_minor=sum(part.premium_minor for part in found),
        last_at=max((part.last_at for part in found if part.last_at), default=None),
    )


def _sum_by_customer(
    session: ScopedSession, entity: Any, customer_ids: Sequence[UUID], *sums: Any, where: Any = None
) -> dict[UUID, Any]:
    key = col(entity.customer_id)
    query = sa.select(key, *sums).where(key.in_(customer_ids), col(entity.deleted_at).is_(None)).group_by(key)
    rows = session.execute(query if where is None else query.where(where))
    return {row.customer_id: row for row in rows}


def _build_row(customer: Customer, totals: PurchaseTotals, names: Choices) -> CustomerRow:
    return CustomerRow(
        id=customer.id,
        created_at=customer.created_at,
        name=f"{customer.first_name} {customer.last_name}",
        email=customer.email,
        phone=customer.phone_number,
        distributor=names.names["distributor"].get(customer.distributor_id, UNKNOWN),
        bought=totals,
    )
