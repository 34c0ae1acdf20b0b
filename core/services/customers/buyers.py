"""The customer of a sale, known by e-mail within one distributor and mode: found, brought up to date or created."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request_parts
from core.covers.request_parts import Policyholder
from core.services.people import personal
from core.store.access import Owner, Query, ScopedSession
from core.store.expressions import is_among
from core.store.schema.tables import Customer

# Columns of a customer by the field of a policyholder.
COLUMNS: Final[Mapping[str, str]] = {
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
_DETAIL_FIELDS: Final = ("name_key", *(column for column in COLUMNS.values() if column != "email"))


@dataclass(frozen=True, slots=True)
class StoredCustomer:
    """A customer as a sale found it: `change` is "created", "updated", or None where nothing was new."""

    id: UUID
    change: str | None


def get_or_create(session: ScopedSession, holder: Policyholder, owner: Owner) -> StoredCustomer:
    """Get or create the policyholder's customer record; newer contact details replace older ones."""
    details = _build_details(holder)
    fresh = _build(holder, details, owner)
    if session.insert_if_absent(fresh):
        return StoredCustomer(fresh.id, "created")
    customer_id, *stored = _DETAILS.one(session, **owner.columns, email_key=holder.email.lower())
    known = dict(zip(_DETAIL_FIELDS, stored, strict=True))
    if all(known[name] == value for name, value in details.items()):
        return StoredCustomer(customer_id, None)
    _update(session, customer_id, details)
    return StoredCustomer(customer_id, "updated")


def find_changes(session: ScopedSession, holder: Policyholder, owner: Owner) -> Mapping[str, tuple[str, str]]:
    """Return what a sale changes of the name and phone of the customer with this e-mail: as it is, and as given.

    Other letters or spaces change nothing that anybody reads.
    """
    query = sa.select(col(Customer.first_name), col(Customer.last_name), col(Customer.phone_number)).where(
        *owner.owns(Customer), col(Customer.email_key) == holder.email.lower()
    )
    known = session.execute(query).one_or_none()
    if known is None:
        return {}
    names = f"{known.first_name} {known.last_name}", f"{holder.first_name} {holder.last_name}"
    phones = personal.format_phone(known.phone_number) or "", personal.format_phone(holder.phone) or ""
    changes = dict[str, tuple[str, str]]()
    if len({" ".join(name.split()).casefold() for name in names}) > 1:
        changes["name"] = names
    if all(phones) and len(set(phones)) > 1:
        changes["phone"] = phones
    return changes


def get_or_create_many(
    session: ScopedSession, holders: Sequence[Policyholder], owner: Owner
) -> dict[str, StoredCustomer]:
    """Like `get_or_create`, for several policyholders, by their e-mail in lower case; of one e-mail the last counts."""
    by_key = {holder.email.lower(): holder for holder in holders}
    known = _load_details(session, list(by_key), owner)
    fresh = {
        key: _build(by_key[key], _build_details(by_key[key]), owner) for key in sorted(by_key.keys() - known.keys())
    }
    is_alone = session.insert_many(list(fresh.values()), if_absent=True)
    known |= fresh if is_alone else _load_details(session, list(fresh), owner)
    return {key: _bring_up_to_date(session, holder, known[key], fresh.get(key)) for key, holder in by_key.items()}


def _build(holder: Policyholder, details: Mapping[str, Any], owner: Owner) -> Customer:
    email, user_id = holder.email, ids.new()
    return Customer.to_insert(**owner.columns, email=email, email_key=email.lower(), user_id=user_id, **details)


def _load_details(session: ScopedSession, keys: Sequence[str], owner: Owner) -> dict[str, Any]:
    columns = (Customer.id, Customer.email_key, *(getattr(Customer, name) for name in _DETAIL_FIELDS))
    query = sa.select(*(col(each) for each in columns)).where(
        *owner.owns(Customer), is_among(col(Customer.email_key), keys)
    )
    found = session.execute(query.order_by(col(Customer.email_key)).with_for_update()) if keys else ()
    return {row.email_key: row for row in found}


def _bring_up_to_date(
    session: ScopedSession, holder: Policyholder, stored: Any, fresh: Customer | None
) -> StoredCustomer:
    if fresh is not None and fresh.id == stored.id:
        return StoredCustomer(stored.id, "created")
    details = _build_details(holder)
    if all(getattr(stored, name) == value for name, value in details.items()):
        return StoredCustomer(stored.id, None)
    _update(session, stored.id, details)
    return StoredCustomer(stored.id, "updated")


def _update(session: ScopedSession, customer_id: UUID, details: Mapping[str, Any]) -> None:
    session.change(Customer, col(Customer.id) == customer_id, **details, updated_at=clock.now())


def _build_details(holder: Policyholder) -> dict[str, Any]:
    values = {column: getattr(holder, field) for field, column in COLUMNS.items() if field != "email"}
    if holder.dob:
        values["date_of_birth"] = holder.dob.isoformat()
    values["name_key"] = request_parts.build_name_key(holder.first_name, holder.last_name)
    return {name: value for name, value in values.items() if value is not None}


_DETAILS = Query(
    sa.select(col(Customer.id), *(col(getattr(Customer, name)) for name in _DETAIL_FIELDS))
    .where(
        col(Customer.distributor_id) == sa.bindparam("distributor_id"),
        col(Customer.is_live) == sa.bindparam("is_live"),
        col(Customer.email_key) == sa.bindparam("email_key"),
    )
    .with_for_update()
)
