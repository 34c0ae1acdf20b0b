"""The table of policies due for renewal: contact, deadline, and the price of the next term."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.errors import NotRenewable
from core.services.dimensions import Choices
from core.services.paging import Paging
from core.services.renewals import calls, next_terms, reminders
from core.services.renewals import due as renewals_due
from core.services.renewals.calls import Call
from core.services.renewals.filter import DueFilter
from core.services.renewals.next_terms import NextTerm
from core.store.access import AnyRow, ScopedSession
from core.store.schema.tables import Policy

Order = Literal["soonest", "latest"]
_EXPIRES_AT = col(Policy.expiration_at)
ORDERS: Mapping[Order, tuple[Any, ...]] = {
    "soonest": (_EXPIRES_AT, col(Policy.created_at), col(Policy.id)),
    "latest": (_EXPIRES_AT.desc(), col(Policy.created_at).desc(), col(Policy.id).desc()),
}
_COLUMNS = (
    *("id", "purchase_id", "policy_number", "first_name", "last_name", "phone", "email"),
    *("product_id", "distributor_id", "expiration_at"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class DueRow:
    """One policy due for renewal; amounts in kobo, days from today, negative once it has lapsed.

    `is_over` is true as soon as cover has ended, which on its last day it mostly has as the day began.
    `next_minor` is what one more term costs today, none when it cannot be renewed today: `refusal` says why.
    `call` is the latest call about this end of a term, `reminded_at` the latest reminder of it.
    """

    id: UUID
    purchase_id: UUID
    policy_number: str | None
    customer: str
    phone: str | None
    email: str
    product: str
    provider: str
    distributor: str
    expiration_at: datetime
    days_left: int
    is_over: bool
    last_minor: int
    next_minor: int | None
    refusal: str | None
    call: Call | None
    reminded_at: datetime | None


def list_rows(
    session: ScopedSession,
    bucket: str,
    criteria: DueFilter,
    names: Choices,
    *,
    order: Order = "soonest",
    paging: Paging,
) -> list[DueRow]:
    """Return one page of the policies of a bucket as of today; a page past the end is empty."""
    today = clock.today()
    page_ids = sa.select(col(Policy.id)).where(
        *renewals_due.build_conditions(criteria), *renewals_due.get_span(today, bucket).on(_EXPIRES_AT)
    )
    page_ids = page_ids.order_by(*ORDERS[order]).limit(paging.limit).offset(paging.offset)
    columns = [col(getattr(Policy, name)) for name in _COLUMNS]
    query = sa.select(*columns, renewals_due.build_last_premium().label("last_minor")).where(
        col(Policy.id).in_(page_ids)
    )
    found = session.execute(query.order_by(*ORDERS[order])).all()
    terms_by_policy = next_terms.get_next_terms(session, [row.id for row in found])
    latest = calls.load_latest(session, [row.id for row in found])
    reminded = reminders.load_latest(session, [row.id for row in found])
    return [
        _build_row(row, terms_by_policy[row.id], names, today, latest.get(row.id), reminded.get(row.id))
        for row in found
    ]


def _build_row(
    row: AnyRow,
    next_term: NextTerm | NotRenewable,
    names: Choices,
    today: date,
    call: Call | None,
    reminded_at: datetime | None,
) -> DueRow:
    distributor, provider, product, _ = names.get_names_of_sale(row.product_id, row.distributor_id)
    return DueRow(
        id=row.id,
        purchase_id=row.purchase_id,
        policy_number=row.policy_number,
        customer=f"{row.first_name} {row.last_name}",
        phone=row.phone,
        email=row.email,
        product=product,
        provider=provider,
        distributor=distributor,
        expiration_at=row.expiration_at,
        is_over=row.expiration_at <= clock.now(),
        days_left=(clock.to_lagos_day(row.expiration_at) - today).days,
        last_minor=row.last_minor,
        next_minor=None if isinstance(next_term, NotRenewable) else money.to_minor(next_term.price.total),
        refusal=str(next_term) if isinstance(next_term, NotRenewable) else None,
        call=call,
        reminded_at=reminded_at,
    )
