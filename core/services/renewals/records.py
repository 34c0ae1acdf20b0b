"""API records of renewals: lists and single ones, with embedded records (contract R2)."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers import registry
from core.errors import NotFound
from core.services import filters, records
from core.services.filters import SalesFilter
from core.services.paging import Page, Paging, newest
from core.services.policies import policies
from core.services.products import catalogue_cache
from core.services.shapes import ProductRecord, RenewalRecord
from core.store.access.scope import AnySelect, ScopedSession
from core.store.schema.tables import Customer, Policy, Renewal

EVERYTHING = SalesFilter()


def page(session: ScopedSession, wanted: SalesFilter = EVERYTHING, paging: Paging = Paging()) -> Page[RenewalRecord]:
    """Return a page of renewals, newest first, with the exact total of the filter (contract P2)."""
    found = sa.select(col(Renewal.id)).where(*conditions_of(wanted))
    if wanted.concerns_policy:
        found = found.join(Policy, col(Policy.id) == col(Renewal.policy_id))

    def read(ids: list[UUID]) -> list[RenewalRecord]:
        return _records(session, _embedding([col(Renewal.id).in_(ids)]))

    return newest(session, Renewal, found, paging, read)


def one(session: ScopedSession, renewal_id: UUID) -> RenewalRecord:
    """Return one renewal in full; NotFound if unknown in this scope."""
    found = _records(session, _embedding([col(Renewal.id) == renewal_id, col(Renewal.deleted_at).is_(None)]))
    if not found:
        raise NotFound("Renewal not found")
    return found[0]


def conditions_of(wanted: SalesFilter) -> list[sa.ColumnElement[bool]]:
    """Build the SQL conditions of a filter on renewals; `status` true means it took effect (contract P5)."""
    conditions = [*filters.on_record(wanted, Renewal), *filters.on_policy(wanted), col(Renewal.deleted_at).is_(None)]
    if wanted.status is not None:
        conditions.append(col(Renewal.status).is_(wanted.status))
    return conditions


def _embedding(conditions: list[sa.ColumnElement[bool]]) -> AnySelect:
    return (
        sa.select(Renewal, Customer, Policy)
        .join(Customer, col(Customer.id) == col(Renewal.customer_id))
        .join(Policy, col(Policy.id) == col(Renewal.policy_id))
        .where(*conditions)
    )


def _records(session: ScopedSession, query: AnySelect) -> list[RenewalRecord]:
    rows = session.execute(query).all()
    if not rows:
        return []
    catalogue = catalogue_cache.shelf(session).records
    return [_embedded(row, catalogue[row.Renewal.product_id, row.Renewal.is_live]) for row in rows]


def _embedded(row: Any, product: ProductRecord) -> RenewalRecord:
    return {
        **record(row.Renewal),
        "customer": records.customer(row.Customer),
        "product": product,
        "productCategory": product["productCategory"],
        "provider": product["provider"],
        "policy": policies.record_of(row.Policy, registry.cover_of(product["prefix"], product["route_name"])),
    }


def record(renewal: Renewal) -> RenewalRecord:
    """Return a renewal's record, nothing embedded."""
    return {
        "id": str(renewal.id),
        "policy_id": str(renewal.policy_id),
        "purchase_id": str(renewal.purchase_id),
        "customer_id": str(renewal.customer_id),
        "product_id": str(renewal.product_id),
        "product_category_id": str(renewal.product_category_id),
        "distributor_id": str(renewal.distributor_id),
        "provider_id": str(renewal.provider_id),
        "status": renewal.status,
        "total": money.wire(renewal.total_minor),
        "mca_profit": money.wire(renewal.mca_profit_minor),
        "distributor_profit": money.wire(renewal.distributor_profit_minor),
        "previous_expiration_date": clock.wire(renewal.previous_expiration_at) or "",
        "start_date": clock.wire(renewal.start_at) or "",
        "expiration_date": clock.wire(renewal.expiration_at) or "",
        "payment_option": renewal.payment_option,
        "payment_channel": renewal.payment_channel,
        "request_source": renewal.request_source,
        "is_live": renewal.is_live,
        **records.timed(renewal),  # type: ignore[typeddict-item]
    }
