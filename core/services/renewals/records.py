"""Renewals as records and as rows of the list, with their totals."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers import registry
from core.errors import NotFound
from core.money import Split
from core.services import records
from core.services.catalogue import cache
from core.services.dimensions import Choices
from core.services.paging import Page, Paging, fetch_newest
from core.services.policies import policies
from core.services.renewals.filter import RenewalFilter
from core.services.sales import table, totals
from core.services.sales.filter import SalesFilter
from core.services.sales.table import Order, SoldRow
from core.services.sales.totals import OF_RENEWAL, ZERO_TOTALS, group_totals
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
    catalogue = cache.get_catalogue(session).records
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


# The renewals table of the desk: one page of rows, and the totals of a filter.

ORDERS = table.build_orders(Renewal)
_MEASURES = ("renewed", "renewed_minor", "renewed_mca_minor", "renewed_distributor_minor")


class Sums(NamedTuple):
    """Number of renewals, and their amounts in kobo."""

    renewals: int = 0
    total_minor: int = 0
    mca_minor: int = 0
    distributor_minor: int = 0

    @property
    def money(self) -> Split:
        """The money and how it divides."""
        return Split(self.total_minor, self.mca_minor, self.distributor_minor)

    @property
    def rest_minor(self) -> int:
        """Amount that remains for the insurers, in kobo."""
        return self.money.provider_share_minor


@dataclass(frozen=True, kw_only=True, slots=True)
class RenewalTotal:
    """The sums of a filter: effective renewals, as on the dashboard, and failed or reversed ones."""

    effective: Sums
    failed: Sums

    @property
    def all_rows(self) -> Sums:
        """The sums of all rows, as the table lists and an export adds them up."""
        return Sums(*map(sum, zip(self.effective, self.failed, strict=True)))


@dataclass(frozen=True, kw_only=True, slots=True)
class RenewalRow(SoldRow):
    """One row of the renewals table."""

    policy_id: UUID
    purchase_id: UUID
    status: bool
    previous_expiration_at: datetime
    start_at: datetime
    expiration_at: datetime
    policy_expires_at: datetime | None


def compute_total(session: ScopedSession, criteria: RenewalFilter) -> RenewalTotal:
    """Return count and sums of all renewals of a filter, to the kobo."""
    return RenewalTotal(
        effective=Sums() if criteria.status is False else _sum_effective(session, replace(criteria, status=True)),
        failed=Sums() if criteria.status is True else _sum_rows(session, replace(criteria, status=False)),
    )


def sum_refunds(session: ScopedSession, wanted: RenewalFilter) -> Split:
    """Sum the refunds of the renewals that match a filter, until now."""
    query = totals.SUMS.join(Renewal, OF_RENEWAL).where(*build_conditions(wanted))
    if wanted.concerns_policy:
        query = query.join(Policy, col(Policy.id) == col(Renewal.policy_id))
    return totals.add_refunds(session, query)


def list_rows(
    session: ScopedSession, criteria: RenewalFilter, names: Choices, *, order: Order = "newest", paging: Paging
) -> list[RenewalRow]:
    """Return one page of renewals; a page past the end is empty."""
    # Select the ids of the page first, so that skipped rows are not read in full.
    page_ids = _apply_criteria(sa.select(col(Renewal.id)), criteria)
    page_ids = page_ids.order_by(*ORDERS[order]).limit(paging.limit).offset(paging.offset)
    columns = (Policy.policy_number, Policy.first_name, Policy.last_name, Policy.email, Policy.expiration_at)
    query = (
        sa.select(Renewal, *(col(column) for column in columns))
        .join(Policy, col(Policy.id) == col(Renewal.policy_id))
        .where(col(Renewal.id).in_(page_ids))
        .order_by(*ORDERS[order])
    )
    return [_build_row(row.Renewal, row, names) for row in session.execute(query)]


def _sum_effective(session: ScopedSession, criteria: RenewalFilter) -> Sums:
    """Sum effective renewals, from the daily rollup if it supports the filter: fast at any size."""
    without_status = replace(criteria, status=None)
    if not without_status.of_catalogue:
        return _sum_rows(session, criteria)
    totals = group_totals(session, without_status, measures=_MEASURES).get((), ZERO_TOTALS)
    return Sums(*(getattr(totals, name) for name in _MEASURES))


def _sum_rows(session: ScopedSession, criteria: RenewalFilter) -> Sums:
    amounts = (Renewal.total_minor, Renewal.mca_profit_minor, Renewal.distributor_profit_minor)
    sums = (sa.func.coalesce(sa.func.sum(col(amount)), 0) for amount in amounts)
    found = session.execute(_apply_criteria(sa.select(sa.func.count(), *sums), criteria)).one()
    return Sums(*map(int, found))


def _apply_criteria(query: AnySelect, criteria: RenewalFilter) -> AnySelect:
    """Apply a filter to a query on renewals; joins the policy only if a condition reads it."""
    query = query.select_from(Renewal)
    if criteria.concerns_policy:
        query = query.join(Policy, col(Policy.id) == col(Renewal.policy_id))
    return query.where(*build_conditions(criteria))


def _build_row(renewal: Renewal, policy: Any, names: Choices) -> RenewalRow:
    return RenewalRow(
        **table.build_fields(renewal, policy, names),
        policy_id=renewal.policy_id,
        purchase_id=renewal.purchase_id,
        status=renewal.status,
        previous_expiration_at=renewal.previous_expiration_at,
        start_at=renewal.start_at,
        expiration_at=renewal.expiration_at,
        policy_expires_at=policy.expiration_at,
    )
