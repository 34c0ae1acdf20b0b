"""Customers of a distributor found for the form of a new sale, with the details that fill it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.covers import request_parts
from core.services.customers import customers
from core.services.customers.customers import CustomerFilter
from core.store.access import ScopedSession
from core.store.schema.tables import Customer

MAX_FOUND: Final = 8
_LEAST = 2
# Columns of a customer by the field of a policyholder.
_COLUMNS: Final[Mapping[str, str]] = {
    "first_name": "first_name",
    "last_name": "last_name",
    "email": "email",
    "phone": "phone_number",
    "dob": "date_of_birth",
    "gender": "gender",
    "title": "title",
    "state": "state_of_residence",
    "city": "city",
    "address": "address",
    "country": "country",
}


@dataclass(frozen=True, kw_only=True, slots=True)
class KnownCustomer:
    """A customer, and the values of a buy request's fields, under every name that an insurer gives them."""

    id: UUID
    name: str
    email: str
    phone: str | None
    values: Mapping[str, str]


def find_known(session: ScopedSession, text: str) -> list[KnownCustomer]:
    """Return the newest customers of the session's distributor and mode that a text finds; none for a short text."""
    bare = " ".join(text.split())
    if len(bare) < _LEAST:
        return []
    conditions = customers.build_conditions(CustomerFilter(search=bare, active=True))
    query = sa.select(Customer).where(*conditions).order_by(col(Customer.created_at).desc()).limit(MAX_FOUND)
    return [_build_known(row) for row in session.execute(query).scalars()]


def get_known(session: ScopedSession, customer_id: UUID) -> KnownCustomer | None:
    """Return one customer of the session's distributor and mode; None if there is none."""
    row = session.execute(sa.select(Customer).where(col(Customer.id) == customer_id)).scalar_one_or_none()
    return _build_known(row) if row else None


def _build_known(row: Any) -> KnownCustomer:
    details = {field: getattr(row, column) for field, column in _COLUMNS.items()}
    values = {
        name: str(value)
        for field, value in details.items()
        if value
        for name in request_parts.HOLDER_FIELDS.get(field, (field,))
    }
    return KnownCustomer(
        id=row.id, name=f"{row.first_name} {row.last_name}", email=row.email, phone=row.phone_number, values=values
    )
