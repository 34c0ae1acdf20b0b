"""The rows of a premium bordereau: every movement of an insurer that none has reported yet (contract F5)."""

from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.finance.bordereaux.columns import ReportRow
from core.services.finance.statements.lines import transaction_of
from core.services.lists.windows import Window
from core.store.access import ScopedSession
from core.store.schema.tables import BordereauLine, Customer, Movement, Policy, Product, ProductVersion, Renewal

_AT_ONCE = 2_000
# As columns and not as records, of which a row prints a tenth.
_OF_MOVEMENT = (
    *("id", "kind", "created_at", "total_minor", "mca_profit_minor", "distributor_profit_minor"),
    *("provider_share_minor", "provider_id"),
)
_OF_POLICY = ("certificate_code", "policy_number", "first_name", "last_name", "sum_insured_minor", "declined_at")


# True of a movement that a bordereau has.
IS_REPORTED = sa.exists().where(col(BordereauLine.subject_id) == col(Movement.id), col(BordereauLine.kind) == "premium")


def stream(
    session: ScopedSession, provider_id: UUID, window: Window, about: Mapping[str, str]
) -> Iterator[list[ReportRow]]:
    """Yield the unreported rows until the end of a window in the order of time; `about` are the cells of every row."""
    after: Any = None
    moment: Any = Movement.created_at
    while True:
        query = _query(*_unreported(provider_id, window.end))
        if after is not None:
            query = query.where(sa.tuple_(col(Movement.created_at), col(Movement.id)) > after)
        found = session.execute(query.limit(_AT_ONCE)).all()
        if found:
            yield [build(row, about) for row in found]
        if len(found) < _AT_ONCE:
            return
        # As columns know how their database writes them.
        after = sa.tuple_(sa.literal(found[-1].created_at, moment.type), sa.literal(found[-1].id, sa.Uuid()))


def load_month(session: ScopedSession, window: Window) -> Mapping[UUID, Sequence[Any]]:
    """Return every movement of a window, reported or not, by its insurer, in the order of time."""
    found: dict[UUID, list[Any]] = {}
    for row in session.execute(_query(*window.span.on(col(Movement.created_at)))):
        found.setdefault(row.provider_id, []).append(row)
    return found


def count(session: ScopedSession, provider_id: UUID, window: Window) -> tuple[int, int]:
    """Return how many rows are unreported until the end of a window, and their gross premium in kobo."""
    return session.count_and_sum(col(Movement.total_minor), *_unreported(provider_id, window.end))


def _unreported(provider_id: UUID, end: date) -> list[sa.ColumnElement[bool]]:
    before = col(Movement.created_at) < clock.lagos_midnight(end)
    return [col(Movement.provider_id) == provider_id, before, ~IS_REPORTED]


def _query(*conditions: Any) -> Any:
    is_renewal = col(Renewal.id).is_not(None)
    return (
        sa.select(
            *(col(getattr(Movement, name)) for name in _OF_MOVEMENT),
            *(col(getattr(Policy, name)) for name in _OF_POLICY),
            *(col(Customer.state_of_residence), col(Customer.country), col(Product.name)),
            *(col(ProductVersion.mca_commission_bp), is_renewal.label("is_renewal")),
            sa.case((is_renewal, col(Renewal.start_at)), else_=col(Policy.start_at)).label("start_at"),
            sa.case((is_renewal, col(Renewal.expiration_at)), else_=col(Policy.expiration_at)).label("expiration_at"),
        )
        .select_from(Movement)
        .join(Policy, col(Policy.purchase_id) == col(Movement.purchase_id))
        .join(ProductVersion, col(ProductVersion.id) == col(Movement.product_version_id))
        .join(Product, col(Product.id) == col(Movement.product_id))
        .join(Customer, col(Customer.id) == col(Movement.customer_id))
        .outerjoin(Renewal, col(Renewal.id) == col(Movement.renewal_id))
        .where(*conditions)
        .order_by(col(Movement.created_at), col(Movement.id))
    )


def build(row: Any, about: Mapping[str, str]) -> ReportRow:
    """Return the row of a movement as it was read."""
    texts = {
        **about,
        "type_of_insurance": row.name,
        "certificate_reference": row.certificate_code or "",
        "policy_number": row.policy_number or "",
        "insured_first_name": row.first_name,
        "insured_full_name": f"{row.first_name} {row.last_name}",
        "state": row.state_of_residence or "",
        "country": row.country or "Nigeria",
        "new_or_renewal": "renewal" if row.is_renewal else "new",
        "inception": _day(row.start_at),
        "expiry": _day(row.expiration_at),
        "transaction_type": transaction_of(row.kind, is_declined=row.declined_at is not None),
        "transaction_at": clock.to_wire(row.created_at) or "",
        "transaction_on": _day(row.created_at),
        "sum_insured": money.to_wire(row.sum_insured_minor) if row.sum_insured_minor is not None else "",
        "commission_percent": money.to_wire(row.mca_commission_bp),
        "movement_id": str(row.id),
    }
    amounts = {
        "gross_premium": row.total_minor,
        "tax": 0,
        "commission": row.mca_profit_minor,
        "brokerage": row.distributor_profit_minor,
        "net": row.total_minor - row.mca_profit_minor,
        "final_net": row.provider_share_minor,
    }
    return ReportRow(row.id, texts, amounts)


def _day(instant: Any) -> str:
    return str(clock.to_lagos_day(instant)) if instant else ""
