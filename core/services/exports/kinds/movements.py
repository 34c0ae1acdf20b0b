"""Export of movements: purchases, renewals, refunds and adjustments with their signs and shares."""

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
    sale_name_columns,
    text_column,
)
from core.services.exports.exports import ExportKind
from core.services.finance import movements
from core.services.finance.filter import MovementFilter
from core.services.spreadsheets.columns import DAY, ID, INSTANT, WORD
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Movement, Policy


def _rows(columns: Sequence[Any], criteria: MovementFilter, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Movement)
        .join(Policy, col(Policy.purchase_id) == col(Movement.purchase_id))
        .where(*movements.build_conditions(criteria))
    )


def _count(session: ScopedSession, criteria: MovementFilter) -> int:
    return movements.count(movements.compute_totals(session, criteria))


MOVEMENTS = ExportKind(
    name="movements",
    title="Movements",
    noun=("movement", "movements"),
    roles=("operations", "finance"),
    filter=MovementFilter,
    parts=(
        printed_columns(
            ("id", ID, col(Movement.id)),
            ("kind", WORD, col(Movement.kind)),
            ("created_at", INSTANT, col(Movement.created_at)),
            ("created_on", DAY, col(Movement.created_at)),
            ("purchase_id", ID, col(Movement.purchase_id)),
        ),
        text_column("policy_number", col(Policy.policy_number), width=26),
        printed_columns(*money_columns(Movement, signed=True)),
        sale_name_columns(Movement),
        customer_columns(),
        mode_columns(),
    ),
    rows=_rows,
    count=_count,
    summed=col(Movement.total_minor),
    sum_title="Premium, net",
    orders=movements.ORDERS,
    listed={"when": ("created_at",), "kind": ("kind",), **LISTED_SALE},
)
