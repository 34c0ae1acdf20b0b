"""The audit log only grows, and a change to it is found (contract A4)."""

from collections.abc import Callable

import pytest
import sqlalchemy as sa

from core.errors import NotAllowed, StaleVersion
from core.services.audit import log as audit
from core.store.access import Scope, ScopedSession, Store
from tests.every_case import every_case
from tests.planting import planted

pytestmark = pytest.mark.both_databases


def fill(store: Store, entries: int = 40) -> None:
    with store.writing(Scope.system()) as session:
        for number in range(entries):
            audit.write(session, actor="tests", action="tried", subject=f"thing {number % 7}", after={"n": number})


def broken(store: Store) -> list[str]:
    with store.reading(Scope.system()) as session:
        return audit.find_broken_links(session)


def test_untouched_log_holds(store: Store) -> None:
    fill(store)
    assert broken(store) == []


@every_case("statement", ["UPDATE audit_entry SET actor = 'x'", "DELETE FROM audit_entry"])
def test_log_cannot_be_changed(store: Store, statement: str) -> None:
    fill(store, 1)
    with store.writers.begin() as connection, pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"):
        connection.exec_driver_sql(statement)


@pytest.fixture
def log(store: Store) -> Store:
    fill(store)
    return store


@every_case(
    ("event", "statement"),
    [
        ("update", "UPDATE audit_entry SET actor = 'x' WHERE position = 2"),
        ("update", "UPDATE audit_entry SET hash = 'x' WHERE position = 1"),
        ("delete", "DELETE FROM audit_entry WHERE position = 2"),
        ("delete", "DELETE FROM audit_entry"),
    ],
)
def test_forced_change_is_found(log: Store, event: str, statement: str) -> None:
    with planted(log, statement, without={f"audit_entry_{event}": "audit_entry"}) as session:
        assert audit.find_broken_links(session)


def test_history_of_a_subject_is_in_order(store: Store) -> None:
    fill(store)
    with store.reading(Scope.system()) as session:
        assert [entry.after for entry in audit.list_history(session, "thing 3")] == [{"n": n} for n in range(3, 40, 7)]


def refuse(session: ScopedSession, error: Exception) -> None:
    """Write something, and be refused after that."""
    audit.write(session, actor="ada", action="money moved", subject="thing 9")
    with audit.keep_refusal(actor="ada", action="payment", subject="thing 9", amount="5.00"):
        raise error


def test_a_refused_attempt_is_kept_while_what_it_wrote_is_not(store: Store) -> None:
    for run in (lambda work: store.transact(Scope.system(), work), lambda work: write_with(store, work)):
        with pytest.raises(NotAllowed, match="you approved it"):
            run(lambda session: refuse(session, NotAllowed("you approved it")))
    with store.reading(Scope.system()) as session:
        entries = audit.list_history(session, "thing 9")
    assert [(entry.actor, entry.action, entry.after) for entry in entries] == [
        ("ada", "payment refused", {"refused": "you approved it", "amount": "5.00"})
    ] * 2
    assert broken(store) == []


def write_with(store: Store, work: Callable[[ScopedSession], None]) -> None:
    with store.writing(Scope.system()) as session:
        work(session)


def test_who_came_late_was_not_refused(store: Store) -> None:
    with pytest.raises(StaleVersion):
        store.transact(Scope.system(), lambda session: refuse(session, StaleVersion()))
    with store.reading(Scope.system()) as session:
        assert audit.list_history(session, "thing 9") == []
