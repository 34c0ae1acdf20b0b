"""Customers: get or create by e-mail within one distributor and mode, list and search (contract S2, P6)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request_parts
from core.covers.request_parts import Holder
from core.errors import NotFound
from core.services import filters, records
from core.services.customers import phones
from core.services.filters import Span
from core.services.paging import Page, Paging, newest
from core.services.shapes import CustomerRecord
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Customer, Policy, Purchase


@dataclass(frozen=True, kw_only=True, slots=True)
class CustomerFilter:
    """Criteria for a list of customers.

    `search` matches any part of names, e-mail or phone, or a phone number in any spelling; `insured` is whether the
    customer
    has a policy in force now.
    """

    search: str | None = None
    active: bool | None = None
    insured: bool | None = None
    created: Span = field(default_factory=Span)
    has_purchased: bool = False
    distributor_ids: Sequence[UUID] = ()


EVERYBODY = CustomerFilter()


def page(session: ScopedSession, wanted: CustomerFilter = EVERYBODY, paging: Paging = Paging()) -> Page[CustomerRecord]:
    """Return a page of customers, newest first, with the exact total of the filter (contract P2)."""
    found = sa.select(col(Customer.id)).where(*conditions_of(wanted))

    def read(ids: list[UUID]) -> list[CustomerRecord]:
        return [
            records.customer(row)
            for row in session.execute(sa.select(Customer).where(col(Customer.id).in_(ids))).scalars()
        ]

    return newest(session, Customer, found, paging, read)


def one(session: ScopedSession, customer_id: UUID) -> CustomerRecord:
    """Return one customer; NotFound if unknown in this scope."""
    query = sa.select(Customer).where(col(Customer.id) == customer_id, col(Customer.deleted_at).is_(None))
    row = session.execute(query).scalar_one_or_none()
    if row is None:
        raise NotFound("Customer not found")
    return records.customer(row)


def conditions_of(wanted: CustomerFilter) -> list[sa.ColumnElement[bool]]:
    """Build the SQL conditions of a customer filter."""
    conditions = [*wanted.created.on(col(Customer.created_at)), col(Customer.deleted_at).is_(None)]
    if wanted.search:
        conditions.append(_found(wanted.search))
    if wanted.distributor_ids:
        conditions.append(col(Customer.distributor_id).in_(wanted.distributor_ids))
    if wanted.active is not None:
        conditions.append(col(Customer.active).is_(wanted.active))
    if wanted.insured is not None:
        covered = sa.select(col(Policy.id)).where(
            col(Policy.customer_id) == col(Customer.id), filters.in_force(), col(Policy.deleted_at).is_(None)
        )
        conditions.append(covered.exists() if wanted.insured else sa.not_(covered.exists()))
    if wanted.has_purchased:
        bought = sa.select(col(Purchase.id)).where(
            col(Purchase.customer_id) == col(Customer.id), col(Purchase.deleted_at).is_(None)
        )
        conditions.append(bought.exists())
    return conditions


def _found(text: str) -> sa.ColumnElement[bool]:
    if re.fullmatch(r"\+?[\d\s()-]{7,}", text):
        return sa.or_(filters.mentions(_SEARCHED, text), col(Customer.phone_number).in_(phones.spellings(text)))
    bare = request_parts.folded(text)
    if not bare or bare == text.lower():
        return filters.mentions(_SEARCHED, text)
    # E-mail keys keep their accents.
    return sa.or_(filters.mentions(_SEARCHED, bare), filters.mentions(col(Customer.email_key), text))


# The line break prevents matches across two fields: submitted text cannot contain one.
_SEARCHED = (
    col(Customer.name_key) + "\n" + col(Customer.email_key) + "\n" + sa.func.coalesce(col(Customer.phone_number), "")
)


def find_or_make(session: ScopedSession, holder: Holder, distributor_id: UUID, *, is_live: bool) -> UUID:
    """Get or create the policyholder's customer record and return its id; newer contact details replace older ones."""
    known = _details(holder)
    fresh = Customer(
        distributor_id=distributor_id,
        is_live=is_live,
        email=holder.email,
        email_key=holder.email.lower(),
        user_id=ids.new(),
        **known,
    )
    if session.insert_if_absent(fresh):
        return fresh.id
    return UUID(
        str(
            session.execute(
                sa.update(Customer)
                .where(
                    col(Customer.distributor_id) == distributor_id,
                    col(Customer.is_live) == is_live,
                    col(Customer.email_key) == holder.email.lower(),
                )
                .values({**known, "updated_at": clock.now()})
                .returning(col(Customer.id))
                .execution_options(synchronize_session=False)
            ).scalar_one()
        )
    )


def _details(holder: Holder) -> dict[str, Any]:
    given = {
        "name_key": request_parts.name_key(holder.first_name, holder.last_name),
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
    return {name: value for name, value in given.items() if value is not None}
