"""Notes on customers: added once, listed newest first with their author, and kept out of the audit log."""

from datetime import timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import InvalidInput, NotAllowed, NotFound
from core.services.audit import log as audit
from core.services.customers.notes import add_note, list_notes
from core.services.people.staff import Person
from core.store.access import Scope, Store
from core.store.schema.tables import Customer
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio

LIVE = Scope.staff(is_live=True)


def somebody(*roles: str) -> Person:
    return Person(id=ids.new(), email="o@coverdesk.example", name="O", roles=roles, claim_limit_minor=None)


@pytest.fixture
def customer_id(store: Store, partner: Partner) -> UUID:
    Portfolio(seed=21, size=10, sellers=(partner.id,)).write(store)
    with store.reading(LIVE) as session:
        return UUID(str(session.execute(sa.select(col(Customer.id)).limit(1)).scalar_one()))


def test_notes_are_added_once_and_listed_newest_first(store: Store, customer_id: UUID) -> None:
    by = somebody("claims")
    for minutes, text in ((0, "Wants a second car"), (0, "Wants a second car"), (1, "Moved to Abuja")):
        with clock.freeze(NOW + timedelta(minutes=minutes)), store.writing(LIVE) as session:
            add_note(session, customer_id, {"text": text, "kind": "call"}, by=by)
    with store.reading(LIVE) as session:
        notes = list_notes(session, customer_id)
        log = audit.list_history(session, audit.subject_of("customer", customer_id))
    assert [(note.text, note.kind) for note in notes] == [("Moved to Abuja", "call"), ("Wants a second car", "call")]
    facts = [entry.after for entry in log if entry.action == "customer noted"]
    assert facts == [{"kind": "Phone call"}] * 2


@every_case(("field", "value"), [("text", ""), ("text", "x" * 1_001), ("text", "a\x00b"), ("kind", "fax")])
def test_a_wrong_note_is_refused_by_its_field(store: Store, customer_id: UUID, field: str, value: str) -> None:
    with store.writing(LIVE) as session, pytest.raises(InvalidInput) as refused:
        add_note(session, customer_id, {"text": "Hello", field: value}, by=somebody("operations"))
    assert [fault.field for fault in refused.value.faults] == [field]


def test_a_note_needs_a_role_and_a_customer_of_the_mode(store: Store, customer_id: UUID) -> None:
    with store.writing(LIVE) as session, pytest.raises(NotAllowed):
        add_note(session, customer_id, {"text": "Hello"}, by=somebody("finance"))
    with store.writing(Scope.staff(is_live=False)) as session, pytest.raises(NotFound):
        add_note(session, customer_id, {"text": "Hello"}, by=somebody("operations"))
