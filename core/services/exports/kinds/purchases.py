"""Export of purchases: the amount of every sale and its split."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.services.dimensions import Choices
from core.services.exports.column_parts import (
    LISTED_SALE,
    customer_columns,
    mode_columns,
    money_columns,
    printed_columns,
    refund_columns,
    sale_name_columns,
    text_column,
)
from core.services.exports.exports import ExportKind
from core.services.filters import expressions
from core.services.sales import table
from core.services.sales.filter import PAYMENT_STATES, PurchaseFilter, build_conditions
from core.services.sales.totals import OF_PURCHASE
from core.services.spreadsheets.columns import DAY, ID, INSTANT
from core.store.access import AnySelect, ScopedSession
from core.store.rollups.daily_rollup import ONCE
from core.store.schema.tables import Policy, Purchase, Refund

_GIVEN_BACK = sa.func.coalesce(col(Refund.total_minor), 0)
_PAYMENT_STATE = sa.case(
    (_GIVEN_BACK == 0, sa.literal_column(f"'{PAYMENT_STATES['paid']}'", sa.String)),
    (col(Purchase.total_minor) > _GIVEN_BACK, sa.literal_column(f"'{PAYMENT_STATES['part']}'", sa.String)),
    else_=sa.literal_column(f"'{PAYMENT_STATES['refunded']}'", sa.String),
)


def _rows(columns: Sequence[Any], criteria: PurchaseFilter, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Purchase)
        .join(Policy, col(Policy.purchase_id) == col(Purchase.id))
        .outerjoin(Refund, OF_PURCHASE)
        .where(*build_conditions(criteria))
    )


def _count(session: ScopedSession, criteria: PurchaseFilter) -> int:
    return table.compute_total(session, criteria).sold


PURCHASES = ExportKind(
    name="purchases",
    title="Purchases",
    noun=("purchase", "purchases"),
    roles=("operations", "finance"),
    filter=PurchaseFilter,
    parts=(
        printed_columns(
            ("id", ID, col(Purchase.id)),
            ("created_at", INSTANT, col(Purchase.created_at)),
            ("created_on", DAY, col(Purchase.created_at)),
        ),
        text_column("policy_number", col(Policy.policy_number), width=26),
        printed_columns(
            *money_columns(Purchase),
            *refund_columns(),
        ),
        sale_name_columns(Purchase),
        customer_columns(),
        mode_columns(
            ("request_source", col(Purchase.request_source)),
            ("payment_option", col(Purchase.payment_option)),
            ("payment_channel", col(Purchase.payment_channel)),
            ("premium_frequency", sa.func.coalesce(col(Purchase.premium_frequency), ONCE)),
            ("policy_state", expressions.policy_stage()),
            ("payment_state", _PAYMENT_STATE),
        ),
    ),
    rows=_rows,
    count=_count,
    summed=col(Purchase.total_minor),
    sum_title="Premium",
    orders=table.ORDERS,
    listed={
        "sold": ("created_at",),
        **LISTED_SALE,
        "source": ("request_source",),
        "state": ("policy_state",),
        "payment": ("payment_state",),
        "frequency": ("premium_frequency",),
    },
)
