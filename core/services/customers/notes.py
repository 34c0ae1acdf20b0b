"""Notes on customers: added by the desk, listed with their authors, never changed."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock
from core.covers import fields, request
from core.covers.request import Request
from core.services.audit import log as audit
from core.services.customers import customers
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.parties import NOTE_KINDS
from core.store.schema.tables import CustomerNote, Staff

KINDS: Final[Mapping[str, str]] = {"note": "Note", "call": "Phone call", "message": "Message", "visit": "Visit"}
ROLES: Final = ("operations", "claims", "supervisor")
_ONCE_WITHIN: Final = timedelta(minutes=1)


class NoteInput(Request):
    """Input: what was said or done, and what kind of contact it was."""

    text: Annotated[str, Field(max_length=1_000)]
    kind: Annotated[str, fields.one_of(*NOTE_KINDS)] = "note"


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """One note with the name of its author."""

    id: UUID
    kind: str
    text: str
    author: str
    created_at: datetime


def add_note(session: ScopedSession, customer_id: UUID, inputs: Mapping[str, Any], *, by: Person) -> UUID:
    """Add a note to a customer and return its id; the same note by the same person within a minute is one.

    NotFound if the customer is unknown in this scope; InvalidInput names what is wrong.
    """
    by.require_role(*ROLES, otherwise="Notes on customers are written by operations and claims")
    validated: NoteInput = request.validate(NoteInput, dict(inputs))
    customer = customers.get_row(session, customer_id, for_update=True)
    same = sa.select(col(CustomerNote.id)).where(
        col(CustomerNote.customer_id) == customer_id,
        col(CustomerNote.author_id) == by.id,
        col(CustomerNote.text) == validated.text,
        col(CustomerNote.created_at) >= clock.now() - _ONCE_WITHIN,
    )
    if found := session.execute(same.limit(1)).scalar_one_or_none():
        return UUID(str(found))
    row = CustomerNote(
        distributor_id=customer.distributor_id,
        is_live=customer.is_live,
        customer_id=customer_id,
        kind=validated.kind,
        text=validated.text,
        author_id=by.id,
    )
    session.insert(row)
    # The text tells of a person: it stays with the customer, not in the log.
    audit.note(session, "customer", customer_id, "customer noted", actor=by.actor, kind=KINDS[row.kind])
    return row.id


def list_notes(session: ScopedSession, *customer_ids: UUID, limit: int = 50) -> list[Note]:
    """Return the newest notes on a customer, who may have several records."""
    query: Any = (
        sa.select(CustomerNote, col(Staff.name).label("author"))
        .outerjoin(Staff, col(Staff.id) == col(CustomerNote.author_id))
        .where(col(CustomerNote.customer_id).in_(customer_ids))
        .order_by(col(CustomerNote.created_at).desc(), col(CustomerNote.id).desc())
        .limit(limit)
    )
    return [build_row(Note, row.CustomerNote, author=row.author or "?") for row in session.execute(query)]
