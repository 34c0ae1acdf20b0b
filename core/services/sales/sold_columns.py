"""Columns that purchases and renewals share on the desk: customer, product and split of the premium."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from sqlmodel import col

from core.services.dimensions import Choices
from core.store.schema.tables import Purchase, Renewal

Order = Literal["newest", "oldest", "largest", "smallest"]


@dataclass(frozen=True, kw_only=True, slots=True)
class SoldRow:
    """One purchase or renewal as a table row; amounts in kobo."""

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
    request_source: str | None


def build_fields(row: Purchase | Renewal, policy: Any, names: Choices) -> dict[str, Any]:
    """Return the fields of a row; `policy` needs the policy's number, names and e-mail."""
    distributor, provider, product, category = names.get_names_of_sale(row.product_id, row.distributor_id)
    return {
        "id": row.id,
        "created_at": row.created_at,
        "policy_number": policy.policy_number,
        "customer": f"{policy.first_name} {policy.last_name}",
        "email": policy.email,
        "distributor": distributor,
        "provider": provider,
        "product": product,
        "category": category,
        "total_minor": row.total_minor,
        "mca_profit_minor": row.mca_profit_minor,
        "distributor_profit_minor": row.distributor_profit_minor,
        "provider_share_minor": row.total_minor - row.mca_profit_minor - row.distributor_profit_minor,
        "request_source": row.request_source,
    }


def build_orders(entity: type[Purchase | Renewal]) -> Mapping[Order, tuple[Any, ...]]:
    """Return the sort columns of each order; ids break ties, so that no row appears on two pages."""
    written, amount, key = col(entity.created_at), col(entity.total_minor), col(entity.id)
    return {
        "newest": (written.desc(), key.desc()),
        "oldest": (written, key),
        "largest": (amount.desc(), written.desc(), key.desc()),
        "smallest": (amount, written, key),
    }
