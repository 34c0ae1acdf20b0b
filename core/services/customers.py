"""Customers: found or made by e-mail within one distributor and mode (contract S2)."""

from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers.parts import Holder
from core.store.scope import ScopedSession
from core.store.tables import Customer


def find_or_make(session: ScopedSession, holder: Holder, distributor_id: UUID, *, is_live: bool) -> UUID:
    """The id of the holder's customer record; newer contact details replace older ones."""
    known = _details(holder)
    fresh = Customer(
        distributor_id=distributor_id,
        is_live=is_live,
        email=holder.email,
        email_key=holder.email.lower(),
        user_id=ids.new(),
        **known,
    )
    if session.insert_once(fresh):
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
        "first_name": holder.first_name,
        "last_name": holder.last_name,
        "phone_number": holder.phone,
        "gender": holder.gender,
        "title": holder.title,
        "state_of_residence": holder.state,
        "city": holder.city,
        "address": holder.address,
        "date_of_birth": holder.dob.isoformat() if holder.dob else None,
    }
    return {name: value for name, value in given.items() if value is not None}
