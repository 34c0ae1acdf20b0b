"""The table of purchases on the desk: one page of rows with just what is shown, and the total of the selection."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.services.filters import SalesFilter
from core.services.paging import Paging
from core.services.sales import purchases, takings
from core.services.sales.choices import Choices
from core.services.sales.takings import Takings
from core.store.daybook import ONCE
from core.store.scope import ScopedSession
from core.store.tables import Policy, Purchase

Order = Literal["newest", "oldest", "largest", "smallest"]
_WRITTEN, _AMOUNT = col(Purchase.created_at), col(Purchase.total_minor)
_ORDERS: Mapping[Order, tuple[Any, ...]] = {
    "newest": (_WRITTEN.desc(), col(Purchase.id).desc()),
    "oldest": (_WRITTEN, col(Purchase.id)),
    "largest": (_AMOUNT.desc(), _WRITTEN.desc(), col(Purchase.id).desc()),
    "smallest": (_AMOUNT, _WRITTEN, col(Purchase.id)),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class SaleRow:
    """One purchase as the table shows it; amounts in kobo."""

    id: UUID
    created_at: datetime
    policy_number: str | None
    customer: str
    email: str
    distributor: str
    provider: str
    product: str
    category: str
    total_minor: int
    mca_profit_minor: int
    distributor_profit_minor: int
    provider_share_minor: int
    premium_frequency: str
    request_source: str | None


def total(session: ScopedSession, wanted: SalesFilter) -> Takings:
    """The count and sums of all purchases of a filter, to the kobo; the same as the dashboard's."""
    return takings.by(session, wanted, measures=("sold", "sold_minor", "sold_mca_minor", "sold_distributor_minor")).get(
        (), takings.NOTHING
    )


def rows(
    session: ScopedSession, wanted: SalesFilter, names: Choices, *, order: Order = "newest", paging: Paging
) -> list[SaleRow]:
    """One page of purchases; a page past the end is empty."""
    # The page is found by its ids first: an index holds them, so skipped rows are never read.
    matching = purchases.matching(sa.select(col(Purchase.id)), wanted, purchases.conditions_of(wanted))
    page = matching.order_by(*_ORDERS[order]).limit(paging.limit).offset(paging.offset)
    query = sa.select(Purchase).where(col(Purchase.id).in_(page)).order_by(*_ORDERS[order])
    found = list(session.execute(query).scalars())
    held = _policies(session, [sale.id for sale in found])
    return [_row(sale, held[sale.id], names) for sale in found]


def _policies(session: ScopedSession, sale_ids: list[UUID]) -> dict[UUID, Any]:
    columns = (Policy.purchase_id, Policy.policy_number, Policy.first_name, Policy.last_name, Policy.email)
    query = sa.select(*(col(column) for column in columns)).where(col(Policy.purchase_id).in_(sale_ids))
    return {row.purchase_id: row for row in session.execute(query)}


def _row(sale: Purchase, policy: Any, names: Choices) -> SaleRow:
    distributor, provider, product, category = names.of_sale(sale.product_id, sale.distributor_id)
    return SaleRow(
        id=sale.id,
        created_at=sale.created_at,
        policy_number=policy.policy_number,
        customer=f"{policy.first_name} {policy.last_name}",
        email=policy.email,
        distributor=distributor,
        provider=provider,
        product=product,
        category=category,
        total_minor=sale.total_minor,
        mca_profit_minor=sale.mca_profit_minor,
        distributor_profit_minor=sale.distributor_profit_minor,
        provider_share_minor=sale.total_minor - sale.mca_profit_minor - sale.distributor_profit_minor,
        premium_frequency=sale.premium_frequency or ONCE,
        request_source=sale.request_source,
    )
