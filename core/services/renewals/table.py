"""The renewals table of the desk: one page of rows, and the totals of a filter."""

from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.money import Split
from core.services.dimensions import Choices
from core.services.paging import Paging
from core.services.renewals import records as renewal_records
from core.services.renewals.filter import RenewalFilter
from core.services.sales import refunded, sales_totals, sold_columns
from core.services.sales.refunded import OF_RENEWAL
from core.services.sales.sold_columns import Order, SoldRow
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Policy, Renewal

ORDERS = sold_columns.build_orders(Renewal)
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
    query = refunded.SUMS.join(Renewal, OF_RENEWAL).where(*renewal_records.build_conditions(wanted))
    if wanted.concerns_policy:
        query = query.join(Policy, col(Policy.id) == col(Renewal.policy_id))
    return refunded.together(session, query)


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
    totals = sales_totals.group_totals(session, without_status, measures=_MEASURES).get((), sales_totals.ZERO_TOTALS)
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
    return query.where(*renewal_records.build_conditions(criteria))


def _build_row(renewal: Renewal, policy: Any, names: Choices) -> RenewalRow:
    return RenewalRow(
        **sold_columns.build_fields(renewal, policy, names),
        policy_id=renewal.policy_id,
        purchase_id=renewal.purchase_id,
        status=renewal.status,
        previous_expiration_at=renewal.previous_expiration_at,
        start_at=renewal.start_at,
        expiration_at=renewal.expiration_at,
        policy_expires_at=policy.expiration_at,
    )
