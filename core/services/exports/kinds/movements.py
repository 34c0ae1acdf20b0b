"""Export of movements: purchases, renewals, refunds and adjustments with their signs and shares."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.services.dimensions import Choices
from core.services.exports.column_parts import (
    customer_columns,
    mode_columns,
    money_columns,
    printed_columns,
    sale_name_columns,
    text_column,
)
from core.services.exports.columns import DAY, ID, INSTANT, WORD
from core.services.exports.exports import ExportKind, Parameter
from core.services.exports.parameters import OF_SALES
from core.services.finance import movements
from core.services.finance.selection import KIND_NAMES, MovementSelection
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Movement, Policy


def _rows(columns: Sequence[Any], selection: MovementSelection, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Movement)
        .join(Policy, col(Policy.purchase_id) == col(Movement.purchase_id))
        .where(*movements.build_conditions(selection))
        .order_by(*movements.ORDERS["newest"])
    )


def _count(session: ScopedSession, selection: MovementSelection) -> int:
    return movements.count(movements.compute_totals(session, selection))


MOVEMENTS = ExportKind(
    name="movements",
    title="Movements",
    noun=("movement", "movements"),
    roles=("operations", "finance"),
    parameters=(
        *OF_SALES,
        Parameter(
            name="kind",
            title="Kind",
            says=f"{', '.join(KIND_NAMES)}; repeat it for any of several.",
            many=True,
            words=KIND_NAMES,
        ),
    ),
    read=MovementSelection.read,
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
)
