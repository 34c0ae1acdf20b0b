"""Policies: reading, filtering, and their API records."""

from dataclasses import replace
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.covers import registry
from core.covers.cover import Cover
from core.errors import NotFound
from core.services import filters, records
from core.services.filters import SalesFilter
from core.services.paging import Page, Paging, newest
from core.services.policies import states as policy_states
from core.services.products import catalogue_cache
from core.services.sales import page_locator
from core.services.sales.conditions import by_customer
from core.services.shapes import PolicyRecord, ProductRecord
from core.store.access.scope import AnySelect, ScopedSession
from core.store.schema.tables import Customer, Distributor, Policy, Purchase

EVERYTHING = SalesFilter()
_OF_PRODUCT = ("name", "description", "id", "inspectable", "is_dynamic_pricing", "claimable")


def record_of(row: Any, cover: Cover[Any] | None) -> PolicyRecord:
    """A policy as its record, nothing embedded."""
    return records.policy(row, status=policy_states.status_of(row), echo=cover.echo if cover else "payload")


def page(session: ScopedSession, wanted: SalesFilter = EVERYTHING, paging: Paging = Paging()) -> Page[PolicyRecord]:
    """Return a page of policies in list form, newest first, with the exact total (contract P2)."""
    wanted = by_customer(session, wanted)

    def read(ids: list[UUID]) -> list[PolicyRecord]:
        products = catalogue_cache.shelf(session).records
        rows = session.execute(_embedding(col(Policy.id).in_(ids)))
        return [_listed(row, products[row.Policy.product_id, row.Policy.is_live]) for row in rows]

    if not wanted.of_catalogue:
        return newest(session, Policy, _matching(wanted), paging, read)
    # Policies have the creation time of their purchase, so the purchases' day counts locate the page.
    place = page_locator.place(session, wanted, paging)
    found = _matching(replace(wanted, created=place.span))
    return newest(session, Policy, found, paging, read, total=place.total, offset=place.offset)


def _matching(wanted: SalesFilter) -> AnySelect:
    return sa.select(col(Policy.id)).where(*conditions_of(wanted))


def one(session: ScopedSession, policy_id: UUID) -> PolicyRecord:
    """Return one policy with customer, provider, purchase and product in full; NotFound if unknown in this scope."""
    row = session.execute(_embedding(col(Policy.id) == policy_id, col(Policy.deleted_at).is_(None))).one_or_none()
    if row is None:
        raise NotFound("Policy not found")
    product = catalogue_cache.shelf(session).records[row.Policy.product_id, row.Policy.is_live]
    return {
        **_listed(row, product),
        "provider": dict(product["provider"]),
        "purchase": dict(records.purchase(row.Purchase, row.Policy.id)),
        "product": dict(product),
    }


def locked(session: ScopedSession, policy_id: UUID) -> Policy:
    """Return the row of one policy locked for update, with its current values; NotFound if unknown in this scope."""
    return _row(session, sa.select(Policy).where(col(Policy.id) == policy_id).with_for_update())


def row(session: ScopedSession, policy_id: UUID) -> Policy:
    """Return the row of one policy for other services to read; NotFound if unknown in this scope."""
    return _row(session, sa.select(Policy).where(col(Policy.id) == policy_id))


def _row(session: ScopedSession, query: AnySelect) -> Policy:
    found = session.execute(query.where(col(Policy.deleted_at).is_(None)).execution_options(populate_existing=True))
    policy: Policy | None = found.scalar_one_or_none()
    if policy is None:
        raise NotFound("Policy not found")
    return policy


def conditions_of(wanted: SalesFilter) -> list[sa.ColumnElement[bool]]:
    """Build the SQL conditions of a filter on policies; `status` true means in force now (contract P5)."""
    conditions = [*filters.on_record(wanted, Policy), *filters.on_policy(wanted), col(Policy.deleted_at).is_(None)]
    if wanted.status is not None:
        conditions.append(filters.in_force() if wanted.status else sa.not_(filters.in_force()))
    return conditions


def _embedding(*conditions: sa.ColumnElement[bool]) -> AnySelect:
    return (
        sa.select(Policy, Customer, Purchase, col(Distributor.business_name))
        .join(Customer, col(Customer.id) == col(Policy.customer_id))
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .join(Distributor, col(Distributor.id) == col(Policy.distributor_id))
        .where(*conditions)
    )


def _listed(row: Any, product: ProductRecord) -> PolicyRecord:
    return {
        **record_of(row.Policy, registry.cover_of(product["prefix"], product["route_name"])),
        "customer": records.customer(row.Customer),
        "product": records.only(product, *_OF_PRODUCT),
        "distributor": {"id": str(row.Policy.distributor_id), "business_name": row.business_name},
        "provider": records.only(product["provider"], "id", "company_name"),
        "purchase": {"id": str(row.Purchase.id), "total": money.wire(row.Purchase.total_minor)},
        "inspection": None,
    }
