"""Records of customers that are one person: shown together, and taken apart again (contract S2).

No record is moved or changed: sales, claims, statements and the API name the record that they always named, and the
next sale still finds a customer by its e-mail. What is merged is the desk's view of the person.
"""

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import aliased
from sqlmodel import col

from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.customers import customers
from core.services.customers.customers import CustomerFilter
from core.services.lists.filters.fields import Condition
from core.services.people.personal import list_spellings
from core.services.people.staff import Person
from core.store.access import Owner, ScopedSession
from core.store.schema.tables import Customer, CustomerMerge, ReminderOptOut, Staff

ROLES: Final = ("operations",)
_MOST_OFFERED: Final = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class OtherRecord:
    """Another record of the person, or one that may be; `merged_by` and `merged_at` once it is."""

    id: UUID
    name: str
    email: str
    phone: str | None
    created_at: datetime
    merged_by: str | None = None
    merged_at: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Group:
    """The records of one person: the one that is kept, and those merged into it, the latest merge first."""

    kept_id: UUID
    merged: Sequence[OtherRecord]

    @property
    def ids(self) -> tuple[UUID, ...]:
        """Every record of the person."""
        return (self.kept_id, *(each.id for each in self.merged))


def get_group(session: ScopedSession, customer_id: UUID) -> Group:
    """Return the records of the person that a record belongs to; a record that nobody merged is alone."""
    link = sa.select(col(CustomerMerge.kept_id)).where(col(CustomerMerge.merged_id) == customer_id)
    kept_id = session.execute(link).scalar_one_or_none() or customer_id
    query: Any = (
        sa.select(Customer, col(Staff.name).label("by"), col(CustomerMerge.created_at).label("at"))
        .join(CustomerMerge, col(CustomerMerge.merged_id) == col(Customer.id))
        .outerjoin(Staff, col(Staff.id) == col(CustomerMerge.merged_by))
        .where(col(CustomerMerge.kept_id) == kept_id)
        .order_by(col(CustomerMerge.created_at).desc(), col(Customer.id))
    )
    return Group(
        kept_id=kept_id, merged=[_build(row.Customer, row.by or "?", row.at) for row in session.execute(query)]
    )


def list_linked(session: ScopedSession, customer_ids: Collection[UUID]) -> set[UUID]:
    """Return these records and every other one of the same persons."""
    found = set(customer_ids)
    kept, merged = col(CustomerMerge.kept_id), col(CustomerMerge.merged_id)
    found |= set(session.execute(sa.select(kept).where(merged.in_(found))).scalars())
    return found | set(session.execute(sa.select(merged).where(kept.in_(found))).scalars())


def list_candidates(session: ScopedSession, customer_id: UUID, text: str = "") -> list[OtherRecord]:
    """Return records of the same distributor that may be the same person: the same name or phone, or what a text finds.

    NotFound if the record is unknown in this scope.
    """
    own, group = customers.get_row(session, customer_id), get_group(session, customer_id)
    by_text = customers.build_conditions(CustomerFilter(search=text)) if text else [_is_like(own)]
    taken = sa.select(col(CustomerMerge.merged_id))
    query = sa.select(Customer).where(
        col(Customer.distributor_id) == own.distributor_id,
        col(Customer.is_live).is_(own.is_live),
        col(Customer.deleted_at).is_(None),
        col(Customer.id).not_in(group.ids),
        col(Customer.id).not_in(taken),
        *by_text,
    )
    rows = session.execute(query.order_by(col(Customer.created_at).desc(), col(Customer.id)).limit(_MOST_OFFERED))
    return [_build(row) for row in rows.scalars()]


def _is_like(own: Customer) -> Condition:
    """Build the condition of the same name or phone, each found in its index and not among all of a distributor."""
    spellings = list_spellings(own.phone_number) if own.phone_number else ()
    alike = (col(Customer.name_key) == own.name_key, col(Customer.phone_number).in_(spellings))
    found = sa.union_all(*(sa.select(col(Customer.id)).where(each).correlate(None) for each in alike))
    return col(Customer.id).in_(found)


def merge(session: ScopedSession, kept_id: UUID, merged_id: UUID, *, by: Person) -> None:
    """Show `merged_id` as part of `kept_id` from now on; a wish of either for no reminders holds for both.

    NotFound if one is unknown in this scope, InvalidInput for records that cannot be one person's, StateForbids for one
    that is merged already.
    """
    _require_role(by)
    if kept_id == merged_id:
        raise InvalidInput.for_field("record", "must be another record")
    # Locked in a fixed order, so that two merges of the same records meet here.
    rows = {key: customers.get_row(session, key, for_update=True) for key in sorted((kept_id, merged_id))}
    kept, merged = rows[kept_id], rows[merged_id]
    if (kept.distributor_id, kept.is_live) != (merged.distributor_id, merged.is_live):
        raise InvalidInput.for_field("record", "must be a customer of the same distributor, in the same mode")
    _refuse_merged(session, kept_id, merged_id)
    session.insert(
        CustomerMerge(
            distributor_id=kept.distributor_id,
            is_live=kept.is_live,
            merged_id=merged_id,
            kept_id=kept_id,
            merged_by=by.id,
        )
    )
    share_opt_out(session, kept_id)
    _record(session, "customers merged", kept_id, merged_id, by)


def undo(session: ScopedSession, merged_id: UUID, *, by: Person) -> None:
    """Take a record out of the person's again; one that is not merged changes nothing."""
    _require_role(by)
    customers.get_row(session, merged_id, for_update=True)
    query = sa.select(CustomerMerge).where(col(CustomerMerge.merged_id) == merged_id).with_for_update()
    row: CustomerMerge | None = session.execute(query).scalar_one_or_none()
    if row is None:
        return
    session.delete(row)
    session.flush()
    _record(session, "customers taken apart", row.kept_id, merged_id, by)


def share_opt_out(session: ScopedSession, customer_id: UUID) -> None:
    """Let the wish of one record for no reminders hold for every record of the person."""
    keys = list_linked(session, [customer_id])
    query = sa.select(ReminderOptOut).where(col(ReminderOptOut.customer_id).in_(keys)).limit(1)
    first: ReminderOptOut | None = session.execute(query).scalar_one_or_none()
    if first is None:
        return
    for key in keys:
        session.insert_if_absent(ReminderOptOut(customer_id=key, **Owner.of(first).columns))


def find_merge_faults(session: ScopedSession) -> Iterator[str]:
    """Merges that are no pair of one distributor and mode, and records merged into one that is merged itself."""
    kept: Any = aliased(Customer)
    merged: Any = aliased(Customer)
    above: Any = aliased(CustomerMerge)
    query: Any = (
        sa.select(sa.func.count())
        .select_from(CustomerMerge)
        .join(kept, kept.id == col(CustomerMerge.kept_id))
        .join(merged, merged.id == col(CustomerMerge.merged_id))
    )
    unlike = sa.or_(kept.distributor_id != merged.distributor_id, kept.is_live != merged.is_live)
    if number := session.execute(query.where(unlike)).scalar_one():
        yield f"{number:,} merged customers of another distributor or mode"
    chained = query.join(above, above.merged_id == col(CustomerMerge.kept_id))
    if number := session.execute(chained).scalar_one():
        yield f"{number:,} customers merged into a record that is part of another"


def _refuse_merged(session: ScopedSession, kept_id: UUID, merged_id: UUID) -> None:
    groups = get_group(session, kept_id), get_group(session, merged_id)
    if groups[0].kept_id != kept_id:
        raise StateForbids("This record is part of another one: open that one and merge there")
    if groups[1].kept_id != merged_id:
        raise StateForbids("That record is part of another one already")
    if groups[1].merged:
        raise StateForbids("That record has others in it: take them apart first, or merge this one into it")


def _require_role(by: Person) -> None:
    by.require_role(*ROLES, otherwise="Customers are merged by operations")


def _build(row: Customer, by: str | None = None, at: datetime | None = None) -> OtherRecord:
    return OtherRecord(
        id=row.id,
        name=f"{row.first_name} {row.last_name}",
        email=row.email,
        phone=row.phone_number,
        created_at=row.created_at,
        merged_by=by,
        merged_at=at,
    )


def _record(session: ScopedSession, action: str, kept_id: UUID, merged_id: UUID, by: Person) -> None:
    for key, facts in ((kept_id, {"merged_id": str(merged_id)}), (merged_id, {"kept_id": str(kept_id)})):
        audit.note(session, "customer", key, action, actor=by.actor, **facts)
