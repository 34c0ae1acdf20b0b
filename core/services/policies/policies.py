"""Policies: what is covered, whether it is in force, and how it is shown."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers import shelf
from core.covers.cover import Cover
from core.errors import NotFound
from core.services import filters, records
from core.services.filters import SalesFilter
from core.services.paging import Page, Paging
from core.services.products import product_records, product_shelf
from core.services.shapes import PolicyRecord
from core.store.scope import AnySelect, ScopedSession
from core.store.tables import Customer, Distributor, Policy, Product, Provider, Purchase

EVERYTHING = SalesFilter()
_OF_PRODUCT = ("name", "description", "id", "inspectable", "is_dynamic_pricing", "claimable")


def is_in_force(row: Any) -> bool:
    """Activated, neither cancelled nor declined, and not past its expiration (contract S11)."""
    ended = row.cancelled_at or row.declined_at or (row.expiration_at and row.expiration_at <= clock.now())
    return bool(row.activated and not ended)


def record_of(row: Any, cover: Cover[Any] | None) -> PolicyRecord:
    """A policy as its record, nothing embedded."""
    return records.policy(row, in_force=is_in_force(row), echo=cover.echo if cover else "payload")


def page(session: ScopedSession, wanted: SalesFilter = EVERYTHING, paging: Paging = Paging()) -> Page[PolicyRecord]:
    """A page of policies in their list form, newest first, with the exact total (contract P2)."""
    conditions = conditions_of(wanted)
    total = session.execute(sa.select(sa.func.count()).select_from(Policy).where(*conditions)).scalar_one()
    query = (
        _embedding(conditions)
        .order_by(col(Policy.created_at).desc(), col(Policy.id).desc())
        .limit(paging.limit)
        .offset(paging.offset)
    )
    return Page([_listed(row) for row in session.execute(query)], total)


def one(session: ScopedSession, policy_id: UUID) -> PolicyRecord:
    """One policy with its customer, provider, purchase and product in full; NotFound when unknown here."""
    row = session.execute(_embedding([col(Policy.id) == policy_id])).one_or_none()
    if row is None:
        raise NotFound("Policy not found")
    product = product_shelf.shelf(session).records[row.Policy.product_id, row.Policy.is_live]
    purchase = records.purchase(row.Purchase, row.Policy.id)
    return {
        **_listed(row),
        "customer": records.customer(row.Customer),
        "provider": dict(product_records.provider(row.Provider)),
        "purchase": dict(purchase),
        "product": dict(product),
        "inspection": None,
    }


def locked(session: ScopedSession, policy_id: UUID) -> Policy:
    """The row of one policy as it is now, held until the transaction ends; NotFound when unknown here."""
    return _row(session, sa.select(Policy).where(col(Policy.id) == policy_id).with_for_update())


def row(session: ScopedSession, policy_id: UUID) -> Policy:
    """The row of one policy for other services to read; NotFound when unknown here."""
    return _row(session, sa.select(Policy).where(col(Policy.id) == policy_id))


def _row(session: ScopedSession, query: AnySelect) -> Policy:
    found = session.execute(query.where(col(Policy.deleted_at).is_(None)).execution_options(populate_existing=True))
    policy: Policy | None = found.scalar_one_or_none()
    if policy is None:
        raise NotFound("Policy not found")
    return policy


def conditions_of(wanted: SalesFilter) -> list[sa.ColumnElement[bool]]:
    """The conditions of a filter on policies; `status` true means in force now (contract P5)."""
    conditions = [*filters.on_record(wanted, Policy), *filters.on_policy(wanted), col(Policy.deleted_at).is_(None)]
    if wanted.status is not None:
        conditions.append(filters.in_force() if wanted.status else sa.not_(filters.in_force()))
    return conditions


def _embedding(conditions: list[sa.ColumnElement[bool]]) -> AnySelect:
    return (
        sa.select(Policy, Customer, Purchase, Product, Provider, Distributor)
        .join(Customer, col(Customer.id) == col(Policy.customer_id))
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .join(Product, col(Product.id) == col(Policy.product_id))
        .join(Provider, col(Provider.id) == col(Policy.provider_id))
        .join(Distributor, col(Distributor.id) == col(Policy.distributor_id))
        .where(*conditions)
    )


def _listed(row: Any) -> PolicyRecord:
    product, distributor, provider = row.Product, row.Distributor, row.Provider
    return {
        **record_of(row.Policy, shelf.cover_of(product.prefix, product.route_name)),
        "customer": records.customer(row.Customer),
        "product": {"id": str(product.id), **{n: getattr(product, n) for n in _OF_PRODUCT if n != "id"}},
        "distributor": {"id": str(distributor.id), "business_name": distributor.business_name},
        "provider": {"id": str(provider.id), "company_name": provider.company_name},
        "purchase": {"id": str(row.Purchase.id), "total": money.wire(row.Purchase.total_minor)},
        "inspection": None,
    }
