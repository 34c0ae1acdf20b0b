"""Export of what was paid on claims, one line for each payment and each that came back."""

from collections.abc import Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter, build_conditions
from core.services.dimensions import Choices
from core.services.exports.column_parts import (
    masked_column,
    mode_columns,
    printed_columns,
    sale_name_columns,
    text_column,
)
from core.services.exports.exports import ExportKind
from core.services.spreadsheets.columns import DATE, ID, INSTANT, SIGNED_MONEY, WORD
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, ClaimPayee, ClaimPayment, Policy, Staff

_PAYER = orm.aliased(Staff)


def _rows(columns: Sequence[Any], criteria: ClaimFilter, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(ClaimPayment)
        .join(Claim, col(Claim.id) == col(ClaimPayment.claim_id))
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .outerjoin(ClaimPayee, col(ClaimPayee.id) == col(ClaimPayment.payee_id))
        .outerjoin(_PAYER, col(_PAYER.id) == col(ClaimPayment.paid_by))
        .where(*build_conditions(criteria))
        .order_by(col(ClaimPayment.created_at).desc(), col(ClaimPayment.id).desc())
    )


def _count(session: ScopedSession, criteria: ClaimFilter) -> int:
    return claim_totals.get_totals(session, criteria).payments


CLAIM_PAYMENTS = ExportKind(
    name="claim-payments",
    title="Payments of claims",
    noun=("payment", "payments"),
    roles=("claims", "supervisor", "finance"),
    filter=ClaimFilter,
    parts=(
        printed_columns(
            ("id", ID, col(ClaimPayment.id)),
            ("created_at", INSTANT, col(ClaimPayment.created_at)),
            ("claim_id", ID, col(Claim.id)),
        ),
        text_column("policy_number", col(Policy.policy_number), width=26),
        text_column("claim_type", col(Claim.claim_type)),
        printed_columns(
            ("status", WORD, col(Claim.claim_status)), ("amount", SIGNED_MONEY, col(ClaimPayment.amount_minor))
        ),
        text_column("reference", col(ClaimPayment.reference), width=26),
        text_column("method", col(ClaimPayment.method)),
        text_column("value_date", sa.cast(col(ClaimPayment.value_on), sa.String), column_type=DATE),
        text_column("payee", col(ClaimPayee.name), width=26),
        text_column("payee_bank", col(ClaimPayee.bank_name), width=26),
        masked_column("payee_account", col(ClaimPayee.hint)),
        text_column("paid_by", col(_PAYER.email), width=30),
        printed_columns(("reverses", ID, col(ClaimPayment.reverses))),
        sale_name_columns(Claim),
        mode_columns(),
    ),
    rows=_rows,
    count=_count,
    summed=col(ClaimPayment.amount_minor),
    sum_title="Paid",
)
