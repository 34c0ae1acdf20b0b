"""Purchases: lists, searches and one, each with its customer, product, category and insurer."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound
from core.services import filters, records
from core.services.filters import SalesFilter
from core.services.paging import Page, Paging
from core.services.products import products
from core.services.shapes import PurchaseRecord
from core.store.scope import AnySelect, ScopedSession
from core.store.tables import Customer, Policy, Purchase

EVERYTHING = SalesFilter()


def page(session: ScopedSession, wanted: SalesFilter = EVERYTHING, paging: Paging = Paging()) -> Page[PurchaseRecord]:
    """A page of purchases, newest first, with the exact total of the filter (contract P2)."""
    conditions = conditions_of(wanted)
    total = session.execute(matching(sa.select(sa.func.count()), wanted, conditions)).scalar_one()
    query = (
        _with_customer(conditions)
        .order_by(col(Purchase.created_at).desc(), col(Purchase.id).desc())
        .limit(paging.limit)
        .offset(paging.offset)
    )
    return Page(_records(session, query), total)


def one(session: ScopedSession, purchase_id: UUID) -> PurchaseRecord:
    """One purchase in full; NotFound when it is unknown here."""
    found = _records(session, _with_customer([col(Purchase.id) == purchase_id]))
    if not found:
        raise NotFound("Purchase not found")
    return found[0]


def conditions_of(wanted: SalesFilter) -> list[sa.ColumnElement[bool]]:
    """The conditions of a filter on purchases and their policies."""
    return [*filters.on_record(wanted, Purchase), *filters.on_policy(wanted), col(Purchase.deleted_at).is_(None)]


def matching(query: AnySelect, wanted: SalesFilter, conditions: list[sa.ColumnElement[bool]]) -> AnySelect:
    """An aggregate over the purchases of a filter; joins the policy only where a condition reads it."""
    query = query.select_from(Purchase)
    if wanted.concerns_policy:
        query = query.join(Policy, col(Policy.purchase_id) == col(Purchase.id))
    return query.where(*conditions)


def _with_customer(conditions: list[sa.ColumnElement[bool]]) -> AnySelect:
    return (
        sa.select(Purchase, Customer, col(Policy.id).label("policy_id"))
        .join(Customer, col(Customer.id) == col(Purchase.customer_id))
        .join(Policy, col(Policy.purchase_id) == col(Purchase.id))
        .where(*conditions)
    )


def _records(session: ScopedSession, query: AnySelect) -> list[PurchaseRecord]:
    rows = session.execute(query).all()
    if not rows:
        return []
    shelf = products.embedded(session)
    return [_record(purchase, customer, policy_id, shelf) for purchase, customer, policy_id in rows]


def _record(row: Purchase, customer: Customer, policy_id: UUID, shelf: Any) -> PurchaseRecord:
    record = records.purchase(row, policy_id)
    product = shelf[row.product_id, row.is_live]
    return {
        **record,
        "customer": records.customer(customer),
        "product": product,
        "productCategory": product["productCategory"],
        "provider": product["provider"],
    }
