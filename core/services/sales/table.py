"""Columns that purchases and renewals share on the desk: customer, product and split of the premium."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.money import Split
from core.services.dimensions import Choices
from core.services.filters import expressions
from core.services.paging import Paging
from core.services.sales import filter as sales_filter
from core.services.sales import totals
from core.services.sales.filter import PAYMENT_STATES, SalesFilter
from core.services.sales.totals import OF_PURCHASE, SalesTotals
from core.store.access import ScopedSession
from core.store.rollups.daily_rollup import ONCE
from core.store.schema.tables import Policy, Purchase, Renewal

Order = Literal["newest", "oldest", "largest", "smallest"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SoldRow:
    """One purchase or renewal as a table row; amounts in kobo."""

    id: UUID
    created_at: datetime
    policy_number: str | None
    customer: str
    email: str
    distributor: str
    provider: str
    product: str
    category: str
    total_minor: int
    mca_profit_minor: int
    distributor_profit_minor: int
    provider_share_minor: int
    request_source: str | None


def build_fields(row: Purchase | Renewal, policy: Any, names: Choices) -> dict[str, Any]:
    """Return the fields of a row; `policy` needs the policy's number, names and e-mail."""
    distributor, provider, product, category = names.get_names_of_sale(row.product_id, row.distributor_id)
    return {
        "id": row.id,
        "created_at": row.created_at,
        "policy_number": policy.policy_number,
        "customer": f"{policy.first_name} {policy.last_name}",
        "email": policy.email,
        "distributor": distributor,
        "provider": provider,
        "product": product,
        "category": category,
        "total_minor": row.total_minor,
        "mca_profit_minor": row.mca_profit_minor,
        "distributor_profit_minor": row.distributor_profit_minor,
        "provider_share_minor": row.total_minor - row.mca_profit_minor - row.distributor_profit_minor,
        "request_source": row.request_source,
    }


def build_orders(entity: type[Purchase | Renewal]) -> Mapping[Order, tuple[Any, ...]]:
    """Return the sort columns of each order; ids break ties, so that no row appears on two pages."""
    written, amount, key = col(entity.created_at), col(entity.total_minor), col(entity.id)
    return {
        "newest": (written.desc(), key.desc()),
        "oldest": (written, key),
        "largest": (amount.desc(), written.desc(), key.desc()),
        "smallest": (amount, written, key),
    }


# The desk's table of purchases: one page of rows and the totals of the filter.

ORDERS = build_orders(Purchase)


@dataclass(frozen=True, kw_only=True, slots=True)
class SaleRow(SoldRow):
    """One purchase as a row of the table."""

    premium_frequency: str
    stage: str
    payment_state: str


def compute_total(session: ScopedSession, criteria: SalesFilter) -> SalesTotals:
    """Return the count and sums of all purchases of a filter; the same figures as on the dashboard."""
    return totals.group_totals(
        session, criteria, measures=("sold", "sold_minor", "sold_mca_minor", "sold_distributor_minor")
    ).get((), totals.ZERO_TOTALS)


def sum_refunds(session: ScopedSession, wanted: SalesFilter) -> Split:
    """Sum the refunds of the purchases that match a filter, until now, without the terms of later renewals."""
    query = totals.SUMS.join(Purchase, OF_PURCHASE).where(*sales_filter.build_conditions(wanted))
    if wanted.concerns_policy:
        query = query.join(Policy, col(Policy.purchase_id) == col(Purchase.id))
    return totals.add_refunds(session, query)


def list_rows(
    session: ScopedSession, criteria: SalesFilter, names: Choices, *, order: Order = "newest", paging: Paging
) -> list[SaleRow]:
    """Return one page of purchases; a page past the end is empty."""
    # Ids first, from an index, so that skipped rows are never read.
    query_ids = sales_filter.apply_criteria(sa.select(col(Purchase.id)), criteria)
    page = query_ids.order_by(*ORDERS[order]).limit(paging.limit).offset(paging.offset)
    query = sa.select(Purchase).where(col(Purchase.id).in_(page)).order_by(*ORDERS[order])
    sales = list(session.execute(query).scalars())
    sale_ids = [sale.id for sale in sales]
    policies_by_sale, refunds = _policies(session, sale_ids), totals.select_refunds_of_purchases(session, sale_ids)
    return [
        SaleRow(
            **build_fields(sale, policies_by_sale[sale.id], names),
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
