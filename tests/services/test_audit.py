"""The audit log only grows, and a change to it is found (contract A4)."""

import pytest
import sqlalchemy as sa

from core.services.audit import log as audit
from core.store.access import Scope, Store

pytestmark = pytest.mark.both_databases


def fill(store: Store, entries: int = 40) -> None:
    with store.writing(Scope.system()) as session:
        for number in range(entries):
            audit.write(session, actor="tests", action="tried", subject=f"thing {number % 7}", after={"n": number})


def broken(store: Store) -> list[str]:
    with store.reading(Scope.system()) as session:
        return audit.find_broken_links(session)


def allow_changes(store: Store, connection: sa.Connection, event: str) -> None:
    """Switch off the protection of the log, as somebody with the database's own password could."""
    on = "" if store.is_sqlite else " ON audit_entry"
    connection.exec_driver_sql(f"DROP TRIGGER audit_entry_{event}{on}")


def test_untouched_log_holds(store: Store) -> None:
    fill(store)
    assert broken(store) == []


@pytest.mark.parametrize("statement", ["UPDATE audit_entry SET actor = 'x'", "DELETE FROM audit_entry"])
def test_log_cannot_be_changed(store: Store, statement: str) -> None:
    fill(store, 1)
    with store.writers.begin() as connection, pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"):
        connection.exec_driver_sql(statement)


@pytest.mark.parametrize(
    ("event", "statement"),
    [
        ("update", "UPDATE audit_entry SET actor = 'x' WHERE position = 2"),
        ("update", "UPDATE audit_entry SET hash = 'x' WHERE position = 1"),
        ("delete", "DELETE FROM audit_entry WHERE position = 2"),
        ("delete", "DELETE FROM audit_entry"),
    ],
)
def test_forced_change_is_found(store: Store, event: str, statement: str) -> None:
    fill(store)
    with store.writers.begin() as connection:
        allow_changes(store, connection, event)
        connection.exec_driver_sql(statement)
    assert broken(store)


def test_history_of_a_subject_is_in_order(store: Store) -> None:
    fill(store)
    with store.reading(Scope.system()) as session:
        assert [entry.after for entry in audit.list_history(session, "thing 3")] == [{"n": n} for n in range(3, 40, 7)]
