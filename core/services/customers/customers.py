"""Customers: get or create by e-mail within one distributor and mode, list and search (contract S2, P6)."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request_parts
from core.covers.request_parts import Policyholder
from core.errors import NotFound
from core.services import records
from core.services.customers.filter import CustomerFilter
from core.services.filters.field import Condition
from core.services.paging import Page, Paging, fetch_newest
from core.services.shapes import CustomerRecord
from core.store.access import Query, ScopedSession
from core.store.schema.tables import Customer

UNFILTERED = CustomerFilter()


def list_customers(
    session: ScopedSession, criteria: CustomerFilter = UNFILTERED, paging: Paging = Paging()
) -> Page[CustomerRecord]:
    """Return a page of customers, newest first, with the exact total of the filter (contract P2)."""
    query = sa.select(col(Customer.id)).where(*build_conditions(criteria))

    def load(ids: list[UUID]) -> list[CustomerRecord]:
        return [
            records.build_customer(row)
            for row in session.execute(sa.select(Customer).where(col(Customer.id).in_(ids))).scalars()
        ]

    return fetch_newest(session, Customer, query, paging, load)


def get_customer(session: ScopedSession, customer_id: UUID) -> CustomerRecord:
    """Return one customer; NotFound if unknown in this scope."""
    query = sa.select(Customer).where(col(Customer.id) == customer_id, col(Customer.deleted_at).is_(None))
    row = session.execute(query).scalar_one_or_none()
    if row is None:
        raise NotFound("Customer not found")
    return records.build_customer(row)


def build_conditions(criteria: CustomerFilter) -> list[Condition]:
    """Build the SQL conditions of a customer filter."""
    return [*criteria.conditions(Customer), col(Customer.deleted_at).is_(None)]


@dataclass(frozen=True, slots=True)
class StoredCustomer:
    """A customer as a sale found it: `change` is "created", "updated", or None where nothing was new."""

    id: UUID
    change: str | None


def get_or_create(
    session: ScopedSession, holder: Policyholder, distributor_id: UUID, *, is_live: bool
) -> StoredCustomer:
    """Get or create the policyholder's customer record; newer contact details replace older ones."""
    details = _build_details(holder)
    email_key = holder.email.lower()
    fresh = Customer(
        distributor_id=distributor_id,
        is_live=is_live,
        email=holder.email,
        email_key=email_key,
        user_id=ids.new(),
        **details,
    )
    if session.insert_if_absent(fresh):
        return StoredCustomer(fresh.id, "created")
    customer_id, *stored = _DETAILS.one(session, distributor_id=distributor_id, is_live=is_live, email_key=email_key)
    known = dict(zip(_DETAIL_FIELDS, stored, strict=True))
    if all(known[name] == value for name, value in details.items()):
        return StoredCustomer(customer_id, None)
    session.execute(
        sa.update(Customer)
        .where(col(Customer.id) == customer_id)
        .values({**details, "updated_at": clock.now()})
        .execution_options(synchronize_session=False)
    )
    return StoredCustomer(customer_id, "updated")


def _build_details(holder: Policyholder) -> dict[str, Any]:
    values = {
        "name_key": request_parts.build_name_key(holder.first_name, holder.last_name),
        "first_name": holder.first_name,
        "last_name": holder.last_name,
        "phone_number": holder.phone,
        "gender": holder.gender,
        "title": holder.title,
        "state_of_residence": holder.state,
        "city": holder.city,
        "address": holder.address,
        "country": holder.country,
        "date_of_birth": holder.dob.isoformat() if holder.dob else None,
    }
    return {name: value for name, value in values.items() if value is not None}


_DETAIL_FIELDS = (
    *("name_key", "first_name", "last_name", "phone_number", "gender", "title", "state_of_residence"),
    *("city", "address", "country", "date_of_birth"),
)
_DETAILS = Query(
    sa.select(col(Customer.id), *(col(getattr(Customer, name)) for name in _DETAIL_FIELDS))
    .where(
        col(Customer.distributor_id) == sa.bindparam("distributor_id"),
        col(Customer.is_live) == sa.bindparam("is_live"),
        col(Customer.email_key) == sa.bindparam("email_key"),
    )
    .with_for_update()
)
