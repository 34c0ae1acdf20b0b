"""Export of credit notes: what goes back of a term, its three shares, and how far it came."""

from collections.abc import Sequence
from datetime import date
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.dimensions import Choices
from core.services.exports.column_parts import (
    computed_columns,
    concatenate,
    masked_column,
    mode_columns,
    money_columns,
    printed_columns,
    sale_name_columns,
    text_column,
)
from core.services.exports.exports import ExportKind
from core.services.finance.credit_notes import reading
from core.services.finance.credit_notes.filter import CreditNoteFilter
from core.services.spreadsheets.columns import COUNT, DATE, DAY, ID, INSTANT, WORD
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import CreditNote, PaymentPayee, Policy, Refund, Transfer


def _rows(columns: Sequence[Any], criteria: CreditNoteFilter, _: Choices) -> AnySelect:
    rows: AnySelect = (
        sa.select(*columns)
        .select_from(CreditNote)
        .join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        .join(Policy, col(Policy.id) == col(Refund.policy_id))
        .where(*criteria.conditions(CreditNote))
    )
    return reading.join_payment(rows)


def _count(session: ScopedSession, criteria: CreditNoteFilter) -> int:
    return reading.count(session, criteria)[0]


def _count_days(made_on: str) -> list[str]:
    return [str((clock.today() - date.fromisoformat(made_on)).days)]


CREDIT_NOTES = ExportKind(
    name="credit-notes",
    title="Credit notes",
    noun=("credit note", "credit notes"),
    roles=("finance",),
    filter=CreditNoteFilter,
    parts=(
        printed_columns(
            ("id", ID, col(CreditNote.id)),
            ("number", COUNT, col(CreditNote.number)),
            ("created_at", INSTANT, col(CreditNote.created_at)),
            ("created_on", DAY, col(CreditNote.created_at)),
            ("state", WORD, col(CreditNote.state)),
        ),
        text_column("policy_number", col(Policy.policy_number), width=26),
        text_column("customer_name", concatenate(" ", col(Policy.first_name), col(Policy.last_name)), width=26),
        printed_columns(*money_columns(Refund), ("method", WORD, col(Refund.method))),
        text_column("payee", col(PaymentPayee.name), width=26),
        masked_column("payee_account", col(PaymentPayee.hint)),
        text_column("reference", col(Transfer.reference), width=26),
        text_column("value_date", sa.cast(col(reading.LAST.value_on), sa.String), column_type=DATE),
        computed_columns([("age_days", COUNT)], [(DAY, col(CreditNote.created_at))], _count_days),
        sale_name_columns(Refund),
        mode_columns(),
    ),
    rows=_rows,
    count=_count,
    summed=col(CreditNote.total_minor),
    sum_title="Given back",
    orders=reading.ORDERS,
    listed={
        "number": ("number",),
        "made": ("created_at",),
        "provider": ("provider",),
        "policy": ("policy_number",),
        "customer": ("customer_name",),
        "back": ("total",),
        "insurer": ("provider_share",),
        "platform": ("mca_profit",),
        "seller": ("distributor_profit",),
        "state": ("state",),
        "age": ("age_days",),
        "distributor": ("distributor",),
        "reference": ("reference",),
    },
)
