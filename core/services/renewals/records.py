"""API records of renewals: lists and single ones, with embedded records (contract R2)."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers import registry
from core.errors import NotFound
from core.services import records
from core.services.paging import Page, Paging, fetch_newest
from core.services.policies import policies
from core.services.products import catalogue_cache
from core.services.renewals.filter import RenewalFilter
from core.services.sales.filter import SalesFilter
from core.services.shapes import ProductRecord, RenewalRecord
from core.store.access import AnyRow, AnySelect, ScopedSession
from core.store.schema.tables import Customer, Policy, Renewal

UNFILTERED = RenewalFilter()


def list_renewals(
    session: ScopedSession, criteria: SalesFilter = UNFILTERED, paging: Paging = Paging()
) -> Page[RenewalRecord]:
    """Return a page of renewals, newest first, with the exact total of the filter (contract P2)."""
    query = sa.select(col(Renewal.id)).where(*build_conditions(criteria))
    if criteria.concerns_policy:
        query = query.join(Policy, col(Policy.id) == col(Renewal.policy_id))

    def load(ids: list[UUID]) -> list[RenewalRecord]:
        return _load_records(session, _build_query([col(Renewal.id).in_(ids)]))

    return fetch_newest(session, Renewal, query, paging, load)


def get_renewal(session: ScopedSession, renewal_id: UUID) -> RenewalRecord:
    """Return one renewal in full; NotFound if unknown in this scope."""
    renewals = _load_records(session, _build_query([col(Renewal.id) == renewal_id, col(Renewal.deleted_at).is_(None)]))
    if not renewals:
        raise NotFound("Renewal not found")
    return renewals[0]


def build_conditions(criteria: SalesFilter) -> list[sa.ColumnElement[bool]]:
    """Build the SQL conditions of a filter on renewals."""
    return [*criteria.conditions(Renewal), col(Renewal.deleted_at).is_(None)]


def _build_query(conditions: list[sa.ColumnElement[bool]]) -> AnySelect:
    return (
        sa.select(Renewal, Customer, Policy)
        .join(Customer, col(Customer.id) == col(Renewal.customer_id))
        .join(Policy, col(Policy.id) == col(Renewal.policy_id))
        .where(*conditions)
    )


def _load_records(session: ScopedSession, query: AnySelect) -> list[RenewalRecord]:
    rows = session.execute(query).all()
    if not rows:
        return []
    catalogue = catalogue_cache.get_catalogue(session).records
    return [_build_embedded(row, catalogue[row.Renewal.product_id, row.Renewal.is_live]) for row in rows]


def _build_embedded(row: AnyRow, product: ProductRecord) -> RenewalRecord:
    return {
        **build_record(row.Renewal),
        "customer": records.build_customer(row.Customer),
        "product": product,
        "productCategory": product["productCategory"],
        "provider": product["provider"],
        "policy": policies.build_record(row.Policy, registry.get_cover(product["prefix"], product["route_name"])),
    }


def build_record(renewal: Renewal) -> RenewalRecord:
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
        "total": money.to_wire(renewal.total_minor),
        "mca_profit": money.to_wire(renewal.mca_profit_minor),
        "distributor_profit": money.to_wire(renewal.distributor_profit_minor),
        "previous_expiration_date": clock.to_wire(renewal.previous_expiration_at) or "",
        "start_date": clock.to_wire(renewal.start_at) or "",
        "expiration_date": clock.to_wire(renewal.expiration_at) or "",
        "payment_option": renewal.payment_option,
        "payment_channel": renewal.payment_channel,
        "request_source": renewal.request_source,
        "is_live": renewal.is_live,
        **records.build_times(renewal),  # type: ignore[typeddict-item]
    }
