"""The desk's table of purchases: one page of rows and the totals of the filter."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.money import Split
from core.services.dimensions import Choices
from core.services.filters import expressions
from core.services.paging import Paging
from core.services.sales import conditions as sale_conditions
from core.services.sales import refunded, sales_totals, sold_columns
from core.services.sales.filter import PAYMENT_STATES, SalesFilter
from core.services.sales.refunded import OF_PURCHASE
from core.services.sales.sales_totals import SalesTotals
from core.services.sales.sold_columns import Order, SoldRow
from core.store.access import ScopedSession
from core.store.rollups.daily_rollup import ONCE
from core.store.schema.tables import Policy, Purchase

ORDERS = sold_columns.build_orders(Purchase)


@dataclass(frozen=True, kw_only=True, slots=True)
class SaleRow(SoldRow):
    """One purchase as a row of the table."""

    premium_frequency: str
    stage: str
    payment_state: str


def compute_total(session: ScopedSession, criteria: SalesFilter) -> SalesTotals:
    """Return the count and sums of all purchases of a filter; the same figures as on the dashboard."""
    return sales_totals.group_totals(
        session, criteria, measures=("sold", "sold_minor", "sold_mca_minor", "sold_distributor_minor")
    ).get((), sales_totals.ZERO_TOTALS)


def sum_refunds(session: ScopedSession, wanted: SalesFilter) -> Split:
    """Sum the refunds of the purchases that match a filter, until now, without the terms of later renewals."""
    query = refunded.SUMS.join(Purchase, OF_PURCHASE).where(*sale_conditions.build_conditions(wanted))
    if wanted.concerns_policy:
        query = query.join(Policy, col(Policy.purchase_id) == col(Purchase.id))
    return refunded.together(session, query)


def list_rows(
    session: ScopedSession, criteria: SalesFilter, names: Choices, *, order: Order = "newest", paging: Paging
) -> list[SaleRow]:
    """Return one page of purchases; a page past the end is empty."""
    # Ids first, from an index, so that skipped rows are never read.
    query_ids = sale_conditions.apply_criteria(sa.select(col(Purchase.id)), criteria)
    page = query_ids.order_by(*ORDERS[order]).limit(paging.limit).offset(paging.offset)
    query = sa.select(Purchase).where(col(Purchase.id).in_(page)).order_by(*ORDERS[order])
    sales = list(session.execute(query).scalars())
    sale_ids = [sale.id for sale in sales]
    policies_by_sale, refunds = _policies(session, sale_ids), refunded.of_purchases(session, sale_ids)
    return [
        SaleRow(
            **sold_columns.build_fields(sale, policies_by_sale[sale.id], names),
            premium_frequency=sale.premium_frequency or ONCE,
            stage=policies_by_sale[sale.id].stage,
            payment_state=_payment_state(sale, refunds.get(sale.id, 0)),
        )
        for sale in sales
    ]


def _policies(session: ScopedSession, sale_ids: list[UUID]) -> dict[UUID, Any]:
    columns = (Policy.purchase_id, Policy.policy_number, Policy.first_name, Policy.last_name, Policy.email)
    stage = expressions.policy_stage().label("stage")
    query = sa.select(*(col(column) for column in columns), stage).where(col(Policy.purchase_id).in_(sale_ids))
    return {row.purchase_id: row for row in session.execute(query)}


def _payment_state(sale: Purchase, refunded_minor: int) -> str:
    """Return the word of `PurchaseFilter.payment_states` that finds this purchase."""
    if not refunded_minor:
        return PAYMENT_STATES["paid"]
    return PAYMENT_STATES["refunded" if refunded_minor >= sale.total_minor else "part"]
