"""The insurers screen of admins: contact details, connection, and sales."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from urllib.parse import urlsplit
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound
from core.services.insurers import awaiting
from core.services.insurers.awaiting import InsurerHealth
from core.services.sales import totals
from core.services.sales.distributors import get_last_year
from core.services.sales.filter import SalesFilter
from core.settings import settings
from core.store.access import ScopedSession
from core.store.schema.tables import Product, Provider

DELEGATED = "Delegated authority"


@dataclass(frozen=True, kw_only=True, slots=True)
class InsurerRow:
    """One insurer in the session's mode; premium is for the last twelve months.

    `connection` is the host that accepts its policies, never the whole URL, or delegated authority.
    """

    id: UUID
    name: str
    segment: str
    business_type: str | None
    connection: str
    health: InsurerHealth
    products: int
    policies: int
    premium_minor: int
    first_name: str
    last_name: str
    email: str
    phone_number: str
    business_email: str | None
    claim_email: str | None
    support_email: str | None
    updated_at: datetime


def list_insurers(session: ScopedSession) -> list[InsurerRow]:
    """Return every insurer, by name."""
    health = {each.id: each for each in awaiting.list_health(session)}
    provider_by_product = {
        row.id: row.provider_id for row in session.execute(sa.select(col(Product.id), col(Product.provider_id)))
    }
    policies, premium = _sum_sales(session, provider_by_product)
    rows: Sequence[Provider] = session.execute(sa.select(Provider)).scalars().all()
    return [
        InsurerRow(
            **{name: getattr(row, name) for name in _COPIED_FIELDS},
            name=row.company_name,
            connection=get_connection_host(row.segment, is_live=bool(session.scope.is_live)),
            health=health[row.id],
            products=list(provider_by_product.values()).count(row.id),
            policies=policies[row.id],
            premium_minor=premium[row.id],
        )
        for row in sorted(rows, key=lambda row: row.company_name.lower())
    ]


_COPIED_FIELDS = (
    *("id", "segment", "business_type", "first_name", "last_name", "email", "phone_number"),
    *("business_email", "claim_email", "support_email", "updated_at"),
)


def get_insurer(session: ScopedSession, provider_id: UUID) -> InsurerRow:
    """Return one insurer; NotFound for an unknown id."""
    for row in list_insurers(session):
        if row.id == provider_id:
            return row
    raise NotFound("There is no such insurer")


def get_connection_host(segment: str, *, is_live: bool) -> str:
    """Return the host of an insurer's URL; the rest of the URL may contain credentials."""
    address = settings().insurer_url(segment, is_live=is_live)
    return urlsplit(address).netloc.rpartition("@")[2] if address else DELEGATED


def _sum_sales(session: ScopedSession, provider_by_product: dict[UUID, UUID]) -> tuple[Counter[UUID], Counter[UUID]]:
    policies, premium = Counter[UUID](), Counter[UUID]()
    for (product_id,), sums in totals.group_totals(session, SalesFilter(), "product_id", measures=("sold",)).items():
        policies[provider_by_product[product_id]] += sums.sold
    recent = SalesFilter(created=get_last_year().span)
    for (product_id,), sums in totals.group_totals(
        session, recent, "product_id", measures=("sold_minor", "renewed_minor")
    ).items():
        premium[provider_by_product[product_id]] += sums.premium_minor
    return policies, premium
