"""Every record that the audit log names by an id is named in words, by one statement for each kind."""

from datetime import UTC, datetime
from typing import Any
from uuid import UUID, uuid4

import pytest
import sqlalchemy as sa

from core.demo.papers import finance as papers
from core.desk import audit_names
from core.services.audit import log as audit
from core.services.audit import search
from core.services.audit.search import AuditFilter, Entry
from core.services.lists.paging import Paging
from core.services.people import staff
from core.store.access import Scope, ScopedSession, Store
from core.store.schema.tables import Staff
from tests.prefilled import demonstration_copy

UNTIL = datetime(2026, 11, 20, 12, tzinfo=UTC)
PEOPLE = {"finance": "finance", "second.finance": "finance", "admin": "admin", "second.admin": "admin"}
# The demonstration has no record of these.
ABSENT = {
    *("credit_note", "reconciliation", "difference", "loan_book", "endpoint"),
    *("data_request", "erasure", "breach", "complaint", "return"),
}


@pytest.fixture
def filled(store: Store) -> Store:
    demonstration_copy(store, purchases=60, seed=4, until=UNTIL)
    with store.writing(Scope.system()) as session:
        for person, role in PEOPLE.items():
            given = {"email": f"{person}@coverdesk.example", "name": person.title(), "roles": [role]}
            staff.add_or_update(session, **given, password="correct horse battery", actor="tests")
        # They have been admins for long.
        session.execute(sa.update(Staff).values(confirms_from=None))
    with store.writing(Scope.staff(is_live=True)) as session:
        over = papers.list_closed(session, UNTIL)
        papers.write_terms(session, over[0])
        for month in over[:2]:
            papers.write_month(session, month)
            papers.close_month(session, month)
    return store


def list_keys(session: ScopedSession, kind: str, count: int) -> list[UUID | str]:
    """The first records of a kind, by what the log names them by; one that is not there where the kind has none."""
    if kind in ABSENT:
        return [uuid4()]
    query, _ = audit_names.NAMED[kind]
    return list(session.execute(query.with_only_columns(query.selected_columns["key"]).limit(count)).scalars())


def name(store: Store, kinds: list[str], count: int) -> tuple[list[Entry], int]:
    """Entries about so many records of each kind with their names, and how many statements it took to name them."""
    with store.writing(Scope.system()) as session:
        for kind in kinds:
            for key in list_keys(session, kind, count):
                audit.write(session, actor="system", action="noted", subject=f"{kind} {key}")
    statements: list[str] = []

    def note(_c: Any, _x: Any, statement: str, *_: Any) -> None:
        statements.append(statement)

    with store.reading(Scope.system()) as session:
        wanted, choices = AuditFilter(action=("noted",)), search.load_choices(session)
        found = search.search_entries(session, wanted, Paging(1, 100), choices).entries
        connection = session.connection()
        sa.event.listen(connection, "before_cursor_execute", note)
        named = audit_names.name_records(session, found)
        sa.event.remove(connection, "before_cursor_execute", note)
    return named, len(statements)


def test_every_kind_of_record_is_named_in_words(filled: Store) -> None:
    entries, _ = name(filled, list(audit_names.NAMED), 1)
    assert {entry.kind for entry in entries} == set(audit_names.NAMED)
    assert {entry.kind for entry in entries if not entry.record} == ABSENT
    assert not [entry.record for entry in entries if entry.record_id in entry.record]


def test_a_page_takes_one_statement_for_each_kind(store: Store) -> None:
    demonstration_copy(store, purchases=60, seed=4, until=UNTIL)
    entries, statements = name(store, ["policy", "claim"], 20)
    assert (len(entries), statements) == (40, 2)
