"""A server whose store `coverdesk init` of another release migrates under it writes nothing any more."""

import time
from collections.abc import Iterator
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from sqlmodel import col

from core import clock
from core.errors import OtherRelease, StoreUnavailable
from core.store.access import Scope, ScopedSession, Store, write_only_at
from core.store.access.scope import connection_of
from core.store.access.statements import execute
from core.store.schema import migrating, versions
from core.store.schema.tables import OneTimeTicket
from tests.postgres_database import administering

pytestmark = pytest.mark.both_databases

SYSTEM = Scope.system()
on_postgres = pytest.mark.parametrize("database", [pytest.param("postgres", marks=pytest.mark.postgres)])


def write(session: ScopedSession) -> None:
    session.insert(OneTimeTicket(ticket_hash="written", used_at=clock.now()))


def count(session: ScopedSession) -> int:
    return session.count_rows(OneTimeTicket, col(OneTimeTicket.ticket_hash) == "written")


def change(store: Store, *statements: str) -> None:
    """Do what another process does to the store, which writes at any version."""
    with store.engine.execution_options(begins="BEGIN").begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)


@pytest.fixture
def serving(store: Store) -> Iterator[Store]:
    """The store of a process that serves, and has written."""
    write_only_at(versions.newest())
    with store.writing(SYSTEM) as session:
        write(session)
        session.execute(sa.delete(OneTimeTicket))
    yield store
    write_only_at(None)


def test_nothing_is_written_into_a_store_of_another_version_and_all_is_read(serving: Store) -> None:
    change(serving, "UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(OtherRelease) as refused:
        serving.transact(SYSTEM, write)
    assert refused.value.reason == f"the store stands at version 9999, this release is made for {versions.newest()}"
    with pytest.raises(OtherRelease), serving.writing(SYSTEM) as session:
        write(session)
    with serving.reading(SYSTEM) as session:
        assert count(session) == 0
    change(serving, f"UPDATE alembic_version SET version_num = '{versions.newest()}'")
    serving.transact(SYSTEM, write)
    with serving.reading(SYSTEM) as session:
        assert count(session) == 1


def test_a_statement_that_the_newer_tables_refuse_is_no_defect_of_ours(serving: Store) -> None:
    change(
        serving,
        "UPDATE alembic_version SET version_num = '9999'",
        "ALTER TABLE one_time_ticket RENAME COLUMN used_at TO taken_at",
        "ALTER TABLE one_time_ticket ADD COLUMN newer INTEGER",
    )
    with pytest.raises(OtherRelease), serving.writing(SYSTEM) as session:
        write(session)


def test_what_is_read_of_tables_that_are_others_by_now_is_not_available(serving: Store) -> None:
    change(
        serving,
        "ALTER TABLE one_time_ticket RENAME COLUMN ticket_hash TO ticket",
        "ALTER TABLE one_time_ticket ADD COLUMN newer INTEGER",
    )
    with pytest.raises(StoreUnavailable, match="try again shortly"), serving.reading(SYSTEM) as session:
        count(session)


def test_who_migrates_writes_into_a_store_of_any_version(store: Store) -> None:
    change(store, "UPDATE alembic_version SET version_num = '9999'")
    store.transact(SYSTEM, write)
    with store.reading(SYSTEM) as session:
        assert count(session) == 1


@on_postgres
def test_a_migration_waits_for_a_write_that_has_begun(serving: Store) -> None:
    statement = "LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE NOWAIT"
    with serving.writing(SYSTEM) as session:
        count(session)
        with pytest.raises(sa.exc.OperationalError, match="could not obtain lock"):
            change(serving, statement)
    change(serving, statement)


@on_postgres
def test_a_migration_that_waits_in_vain_changes_nothing(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0093")
    monkeypatch.setattr(migrating, "_WRITES_END_WITHIN", "1ms")
    monkeypatch.setattr(migrating, "_MOST_LOOKS", 2)
    read: list[str | None] = []
    # Nobody waits for a migration that waits for a backup itself.
    monkeypatch.setattr(time, "sleep", lambda _: read.append(versions.version(store)))
    with store.engine.connect() as backing_up:
        assert versions.version_of(backing_up) == "0093"
        with pytest.raises(StoreUnavailable) as refused:
            migrating.migrate(store)
    assert refused.value.reason == "canceling statement due to lock timeout"
    assert read == ["0093"]
    assert versions.version(store) == "0093"


@on_postgres
def test_a_migration_begins_once_a_backup_has_ended(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0093")
    monkeypatch.setattr(migrating, "_WRITES_END_WITHIN", "1ms")
    with store.engine.connect() as backing_up:
        assert versions.version_of(backing_up) == "0093"
        monkeypatch.setattr(time, "sleep", lambda _: backing_up.rollback())
        migrating.migrate(store)
    assert versions.version(store) == versions.newest()


@on_postgres
def test_a_write_waits_for_a_migration(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0093")
    upgrade = migrating.upgrade
    met: list[str] = []

    def look_meanwhile(*given: Any) -> bool:
        with administering(store.url) as other:
            other.exec_driver_sql("SET lock_timeout = 1")
            with pytest.raises(sa.exc.OperationalError) as refused:
                other.exec_driver_sql("SELECT version_num FROM alembic_version")
        met.append(str(refused.value.orig))
        return upgrade(*given)

    monkeypatch.setattr(migrating, "upgrade", look_meanwhile)
    migrating.migrate(store)
    assert ["lock timeout" in words for words in met] == [True]
    assert versions.version(store) == versions.newest()


@on_postgres
def test_a_connection_that_breaks_behind_the_version_is_not_available(serving: Store) -> None:
    with pytest.raises(StoreUnavailable), serving.writing(SYSTEM) as session:
        execute(connection_of(session), "SELECT pg_terminate_backend(pg_backend_pid())")
    serving.transact(SYSTEM, write)
