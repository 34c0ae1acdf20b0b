"""Our records as entries: the movements of an insurer, or the payments that the bank made (contract F6)."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.finance.payments import bank_rows
from core.services.finance.payments.bank_rows import BankRow
from core.services.finance.reconciling.matching import Entry
from core.services.finance.statements.lines import transaction_of
from core.services.lists.windows import Window
from core.services.transfers import reference_key
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Movement, Policy, ProductVersion


def list_movements(
    session: ScopedSession, provider_id: UUID, window: Window, *, amount_is: str, by_transaction: bool
) -> list[Entry]:
    """List an insurer's movements of a window, gross or net of both commissions, by transaction where the file is."""
    amount = Movement.total_minor if amount_is == "gross" else Movement.provider_share_minor
    query: AnySelect = (
        sa.select(
            col(Movement.id),
            *(col(Movement.kind), col(Movement.created_at), col(amount).label("amount")),
            *(col(Policy.policy_number), col(Policy.number_key), col(Policy.declined_at)),
            (col(ProductVersion.mca_commission_bp) + col(ProductVersion.distributor_commission_bp)).label("rate"),
        )
        .join(Policy, col(Policy.purchase_id) == col(Movement.purchase_id))
        .join(ProductVersion, col(ProductVersion.id) == col(Movement.product_version_id))
        .where(col(Movement.provider_id) == provider_id, *window.span.on(col(Movement.created_at)))
        .order_by(col(Movement.created_at), col(Movement.id))
    )
    return [_movement(row, by_transaction=by_transaction) for row in session.execute(query)]


def _movement(row: Any, *, by_transaction: bool) -> Entry:
    transaction = transaction_of(row.kind, is_declined=row.declined_at is not None) if by_transaction else ""
    return Entry(
        key=row.number_key or "",
        label=row.policy_number or "",
        transaction=transaction,
        amount_minor=int(row.amount),
        on=clock.to_lagos_day(row.created_at),
        rate_bp=int(row.rate),
        subject=str(row.id),
    )


def list_payments(session: ScopedSession, window: Window) -> list[Entry]:
    """List the payments and returns of a window as our bank account has them: positive comes in."""
    found = bank_rows.list_rows(session, since=window.start, before=window.end)
    # Payments before returns.
    return [_payment(row) for row in sorted(found, key=lambda each: each.entry)]


def _payment(row: BankRow) -> Entry:
    return Entry(
        key=reference_key(row.reference),
        label=row.reference,
        transaction="",
        amount_minor=-row.amount_minor,
        on=row.value_on,
        rate_bp=None,
        subject=str(row.payment_id),
    )
