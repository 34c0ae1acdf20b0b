"""The list of purchases: its columns and orders, one page of rows, and the totals of a filter."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.covers.pricing import FREQUENCIES
from core.money import Split
from core.services.lists import listing
from core.services.lists.filters import declaration
from core.services.lists.listing import Column, Listing, by_amount, by_time
from core.services.lists.spreadsheets import DAY, ID, INSTANT, STATE, WORD
from core.services.sales import filter as sales_filter
from core.services.sales import totals
from core.services.sales.filter import PurchaseFilter, SalesFilter, payment_state
from core.services.sales.totals import OF_PURCHASE, SalesTotals
from core.store.access import AnySelect, ScopedSession
from core.store.rollups.daily_rollup import ONCE
from core.store.schema.tables import Policy, Purchase, Refund


def sum_purchases(session: ScopedSession, criteria: SalesFilter) -> SalesTotals:
    """Return the count and sums of all purchases of a filter; the same figures as on the dashboard."""
    return totals.group_totals(
        session, criteria, measures=("sold", "sold_minor", "sold_mca_minor", "sold_distributor_minor")
    ).get((), totals.ZERO_TOTALS)


def sum_refunds(session: ScopedSession, wanted: SalesFilter) -> Split:
    """Sum the refunds of the purchases that match a filter, until now, without the terms of later renewals."""
    return totals.sum_refunds(session, *sales_filter.build_conditions(wanted), of=Purchase, criteria=wanted)


def _join(columns: Sequence[Any]) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Purchase)
        .join(Policy, col(Policy.purchase_id) == col(Purchase.id))
        .outerjoin(Refund, OF_PURCHASE)
    )


PURCHASES: Listing[PurchaseFilter] = Listing(
    name="purchases",
    title="Purchases",
    noun=("purchase", "purchases"),
    roles=("operations", "finance"),
    filter=PurchaseFilter,
    key=col(Purchase.id),
    usual=("customer", "policy", "product", "total", "state", "sold", "distributor"),
    columns={
        "id": Column("Reference", ID, col(Purchase.id)),
        "sold": Column("Sold", INSTANT, col(Purchase.created_at), machine="created_at", orders=by_time(Purchase)),
        "sold_on": Column("Sold on", DAY, col(Purchase.created_at), machine="created_on"),
        **listing.policy_number(),
        **listing.money_columns(Purchase, orders=by_amount(Purchase)),
        **listing.refund_columns(),
        **listing.sale_names(Purchase),
        **listing.customer_columns(),
        **listing.mode_column(),
        **listing.payment_columns(Purchase),
        "frequency": Column(
            *("Paid", WORD, sa.func.coalesce(col(Purchase.premium_frequency), ONCE)),
            machine="premium_frequency",
            words={word: word.capitalize() for word in (ONCE, *FREQUENCIES)},
            width=80,
        ),
        "state": Column("Policy state", STATE, declaration.policy_stage(), machine="policy_state"),
        "payment": Column("Payment", STATE, payment_state(), machine="payment_state"),
    },
    rows=lambda columns, criteria, _: _join(columns).where(*sales_filter.build_conditions(criteria)),
    count=lambda session, criteria: sum_purchases(session, criteria).sold,
    summed=col(Purchase.total_minor),
    sum_title="Premium",
    join=_join,
    ids=lambda criteria: sales_filter.apply_criteria(sa.select(col(Purchase.id)), criteria),
)
