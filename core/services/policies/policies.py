"""Policies: reading, filtering, and their API records."""

from dataclasses import replace
from typing import Any, cast
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers import registry
from core.covers.cover import Cover
from core.errors import NotFound
from core.services import records
from core.services.paging import Page, Paging, fetch_newest
from core.services.policies import endorsements
from core.services.policies import states as policy_states
from core.services.policies.filter import PolicyFilter
from core.services.products import catalogue_cache
from core.services.sales import page_locator
from core.services.sales.conditions import resolve_customer
from core.services.sales.filter import SalesFilter
from core.services.shapes import (
    ChangeRecord,
    EndorsementRecord,
    FullPolicyRecord,
    ListedPolicyRecord,
    PolicyRecord,
    ProductRecord,
)
from core.store.access import AnyRow, AnySelect, ScopedSession
from core.store.schema.tables import Customer, Distributor, Policy, PolicyEndorsement, Purchase

UNFILTERED = PolicyFilter()
LISTED_PRODUCT_FIELDS = ("name", "description", "id", "inspectable", "is_dynamic_pricing", "claimable")


def build_record(row: Any, cover: Cover[Any] | None) -> PolicyRecord:
    """A policy as its record, nothing embedded."""
    return records.build_policy(row, status=policy_states.status_of(row), echo=cover.echo_field if cover else "payload")


def list_policies(
    session: ScopedSession, criteria: SalesFilter = UNFILTERED, paging: Paging = Paging()
) -> Page[ListedPolicyRecord]:
    """Return a page of policies in list form, newest first, with the exact total (contract P2)."""
    criteria = resolve_customer(session, criteria)

    def load(ids: list[UUID]) -> list[ListedPolicyRecord]:
        products = catalogue_cache.get_catalogue(session).records
        rows = session.execute(_build_query(col(Policy.id).in_(ids)))
        return [_build_list_record(row, products[row.Policy.product_id, row.Policy.is_live]) for row in rows]

    if not criteria.of_catalogue:
        return fetch_newest(session, Policy, _build_id_query(criteria), paging, load)
    # Policies have the creation time of their purchase, so the purchases' day counts locate the page.
    location = page_locator.locate_page(session, criteria, paging)
    query = _build_id_query(replace(criteria, created=location.span))
    return fetch_newest(session, Policy, query, paging, load, total=location.total, offset=location.offset)


def _build_id_query(criteria: SalesFilter) -> AnySelect:
    return sa.select(col(Policy.id)).where(*build_conditions(criteria))


def get_policy(session: ScopedSession, policy_id: UUID) -> FullPolicyRecord:
    """Return one policy with all that belongs to it, endorsements too; NotFound if unknown in this scope."""
    row = session.execute(_build_query(col(Policy.id) == policy_id, col(Policy.deleted_at).is_(None))).one_or_none()
    if row is None:
        raise NotFound("Policy not found")
    product = catalogue_cache.get_catalogue(session).records[row.Policy.product_id, row.Policy.is_live]
    embedded = {
        "provider": product["provider"],
        "purchase": records.build_purchase(row.Purchase, row.Policy.id),
        "product": product,
        "endorsements": [_build_endorsement(made) for made in endorsements.find_rows(session, policy_id)],
    }
    return cast(FullPolicyRecord, {**_build_list_record(row, product), **embedded})


def _build_endorsement(made: PolicyEndorsement) -> EndorsementRecord:
    return {
        "number": made.number,
        "effective_date": made.effective_on.isoformat(),
        "changes": cast(list[ChangeRecord], made.changes),
        "premium": money.to_wire(made.premium_minor),
        "created_at": clock.to_wire(made.created_at) or "",
    }


def get_for_update(session: ScopedSession, policy_id: UUID) -> Policy:
    """Return the row of one policy locked for update, with its current values; NotFound if unknown in this scope."""
    return _load_row(session, sa.select(Policy).where(col(Policy.id) == policy_id).with_for_update())


def get_row(session: ScopedSession, policy_id: UUID) -> Policy:
    """Return the row of one policy for other services to read; NotFound if unknown in this scope."""
    return _load_row(session, sa.select(Policy).where(col(Policy.id) == policy_id))


def _load_row(session: ScopedSession, query: AnySelect) -> Policy:
    found = session.execute(query.where(col(Policy.deleted_at).is_(None)).execution_options(populate_existing=True))
    policy: Policy | None = found.scalar_one_or_none()
    if policy is None:
        raise NotFound("Policy not found")
    return policy


def build_conditions(criteria: SalesFilter) -> list[sa.ColumnElement[bool]]:
    """Build the SQL conditions of a filter on policies."""
    return [*criteria.conditions(Policy), col(Policy.deleted_at).is_(None)]


def _build_query(*conditions: sa.ColumnElement[bool]) -> AnySelect:
    return (
        sa.select(Policy, Customer, Purchase, col(Distributor.business_name))
        .join(Customer, col(Customer.id) == col(Policy.customer_id))
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .join(Distributor, col(Distributor.id) == col(Policy.distributor_id))
        .where(*conditions)
    )


def _build_list_record(row: AnyRow, product: ProductRecord) -> ListedPolicyRecord:
    record = {
        **build_record(row.Policy, registry.get_cover(product["prefix"], product["route_name"])),
        "customer": records.build_customer(row.Customer),
        "product": records.pick_fields(product, *LISTED_PRODUCT_FIELDS),
        "distributor": {"id": str(row.Policy.distributor_id), "business_name": row.business_name},
        "provider": records.pick_fields(product["provider"], "id", "company_name"),
        "purchase": {"id": str(row.Purchase.id), "total": money.to_wire(row.Purchase.total_minor)},
        "inspection": None,
    }
    return cast(ListedPolicyRecord, record)
