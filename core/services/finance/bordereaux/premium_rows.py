"""The rows of a premium bordereau: every movement of an insurer that none has reported yet (contract F5)."""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.finance.bordereaux.columns import ReportRow
from core.services.finance.statements.lines import transaction_of
from core.services.windows import Window
from core.store.access import ScopedSession
from core.store.schema.tables import BordereauLine, Customer, Movement, Policy, Product, ProductVersion, Renewal

_AT_ONCE = 2_000


def stream(
    session: ScopedSession, provider_id: UUID, window: Window, about: Mapping[str, str]
) -> Iterator[list[ReportRow]]:
    """Yield the unreported rows until the end of a window in the order of time; `about` are the cells of every row."""
    after: Any = None
    moment: Any = Movement.created_at
    while True:
        query = _query(provider_id, window)
        if after is not None:
            query = query.where(sa.tuple_(col(Movement.created_at), col(Movement.id)) > after)
        found = session.execute(query.limit(_AT_ONCE)).all()
        if not found:
            return
        last = found[-1].Movement
        # As columns know how their database writes them.
        after = sa.tuple_(sa.literal(last.created_at, moment.type), sa.literal(last.id, sa.Uuid()))
        yield [_build(row, about) for row in found]


def count(session: ScopedSession, provider_id: UUID, window: Window) -> tuple[int, int]:
    """Return how many rows are unreported until the end of a window, and their gross premium in kobo."""
    sums = (sa.func.count(), sa.func.coalesce(sa.func.sum(col(Movement.total_minor)), 0))
    rows, minor = session.execute(sa.select(*sums).where(*_unreported(provider_id, window.end))).one()
    return int(rows), int(minor)


def first_month(session: ScopedSession, provider_id: UUID) -> date | None:
    """Return the month of an insurer's first movement."""
    query = sa.select(sa.func.min(col(Movement.created_at))).where(col(Movement.provider_id) == provider_id)
    first = session.execute(query).scalar()
    return clock.to_lagos_day(first).replace(day=1) if first else None


def _unreported(provider_id: UUID, end: date) -> list[sa.ColumnElement[bool]]:
    reported = sa.exists().where(
        col(BordereauLine.subject_id) == col(Movement.id), col(BordereauLine.kind) == "premium"
    )
    before = col(Movement.created_at) < clock.lagos_midnight(end)
    return [col(Movement.provider_id) == provider_id, before, ~reported]


def _query(provider_id: UUID, window: Window) -> Any:
    return (
        sa.select(Movement, Policy, ProductVersion, Renewal, col(Product.name), Customer)
        .join(Policy, col(Policy.purchase_id) == col(Movement.purchase_id))
        .join(ProductVersion, col(ProductVersion.id) == col(Movement.product_version_id))
        .join(Product, col(Product.id) == col(Movement.product_id))
        .join(Customer, col(Customer.id) == col(Movement.customer_id))
        .outerjoin(Renewal, col(Renewal.id) == col(Movement.renewal_id))
        .where(*_unreported(provider_id, window.end))
        .order_by(col(Movement.created_at), col(Movement.id))
    )


def _build(row: Any, about: Mapping[str, str]) -> ReportRow:
    movement, policy, customer = row.Movement, row.Policy, row.Customer
    term = row.Renewal or policy
    texts = {
        **about,
        "type_of_insurance": row.name,
        "certificate_reference": policy.certificate_code or "",
        "policy_number": policy.policy_number or "",
        "insured_first_name": policy.first_name,
        "insured_full_name": f"{policy.first_name} {policy.last_name}",
        "state": customer.state_of_residence or "",
        "country": customer.country or "Nigeria",
        "new_or_renewal": "renewal" if row.Renewal else "new",
        "inception": _day(term.start_at),
        "expiry": _day(term.expiration_at),
        "transaction_type": transaction_of(movement.kind, is_declined=policy.declined_at is not None),
        "transaction_at": clock.to_wire(movement.created_at) or "",
        "transaction_on": _day(movement.created_at),
        "sum_insured": money.to_wire(policy.sum_insured_minor) if policy.sum_insured_minor is not None else "",
        "commission_percent": money.to_wire(row.ProductVersion.mca_commission_bp),
        "movement_id": str(movement.id),
    }
    amounts = {
        "gross_premium": movement.total_minor,
        "tax": 0,
        "commission": movement.mca_profit_minor,
        "brokerage": movement.distributor_profit_minor,
        "net": movement.total_minor - movement.mca_profit_minor,
        "final_net": movement.provider_share_minor,
    }
    return ReportRow(movement.id, texts, amounts)


def _day(instant: Any) -> str:
    return str(clock.to_lagos_day(instant)) if instant else ""
