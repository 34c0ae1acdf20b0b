"""Bring a store to the shape that this code wants, from empty or from release 0.2.0 and later."""

import re
import time
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

import sqlalchemy as sa
from alembic import command, op
from alembic.autogenerate import compare_metadata
from alembic.config import Config
from alembic.migration import MigrationContext

from core.store.access import Store
from core.store.access.statements import translate_db_errors
from core.store.operations import secret_mark, statistics
from core.store.rollups import daily_rollup
from core.store.schema import tables, versions
from core.store.schema.columns import ONE_DATABASE
from core.store.schema.finance import VIEW


def _config(connection: sa.Connection | None = None) -> Config:
    config = Config()
    config.set_main_option("script_location", str(versions.MIGRATIONS))
    config.attributes["connection"] = connection
    return config


def migrate(store: Store) -> None:
    """Run every migration that this store has not seen, and mark its secret, in one transaction.

    StateForbids when the store was made under another secret, before release 0.2.0 or by a newer release.
    StoreUnavailable when it cannot be written.
    """
    with translate_db_errors(is_writing=True), store.writers.begin() as connection:
        if not store.is_sqlite:
            _lock(connection)
        before = versions.version_of(connection)
        versions.refuse_unknown(before, "store")
        secret_mark.refuse_other(connection)
        if not store.is_sqlite and before not in {None, versions.newest()}:
            _await_writes(connection)
        # An empty store has nothing to be totalled.
        if upgrade(connection, "head") and before is not None:
            daily_rollup.rebuild(connection)
        secret_mark.write_if_absent(connection)
    statistics.refresh(store)


def _lock(connection: sa.Connection) -> None:
    """Wait for who migrates already: another start of ours, or the rest of one that was killed."""
    connection.exec_driver_sql("SET LOCAL lock_timeout = '5min'")
    connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
    connection.exec_driver_sql("SELECT pg_advisory_xact_lock(hashtext('coverdesk migrations'))")
    connection.exec_driver_sql("SET LOCAL lock_timeout TO DEFAULT")


_WRITES_END_WITHIN, _LOOKS_AGAIN_AFTER_SECONDS, _MOST_LOOKS = "1s", 2, 30
_LOCK_NOT_AVAILABLE: Final = "55P03"


def _await_writes(connection: sa.Connection) -> None:
    """Wait for the writes of servers of the release before, and let theirs wait until this transaction has ended.

    Each write of a server begins by reading this table, and is refused once another version stands in it. Whoever
    waits for the table keeps every sale waiting, and a backup holds it for as long as it takes: so it is waited for a
    second at a time.
    """
    for look in range(1, _MOST_LOOKS + 1):
        try:
            with connection.begin_nested():
                connection.exec_driver_sql(f"SET LOCAL lock_timeout = '{_WRITES_END_WITHIN}'")
                connection.exec_driver_sql("LOCK TABLE alembic_version IN ACCESS EXCLUSIVE MODE")
                connection.exec_driver_sql("SET LOCAL lock_timeout TO DEFAULT")
            return
        except sa.exc.OperationalError as error:
            if look == _MOST_LOOKS or getattr(error.orig, "sqlstate", None) != _LOCK_NOT_AVAILABLE:
                raise
            time.sleep(_LOOKS_AGAIN_AFTER_SECONDS)


def upgrade(connection: sa.Connection, to: str) -> bool:
    """Run the migrations up to a version within the connection's transaction; true when the daybook is stale now.

    A migration only says that it made the daybook stale. To rebuild it there would use today's columns on the tables
    of an earlier release.
    """
    config = _config(connection)
    command.upgrade(config, to)
    return bool(config.attributes.get(versions.STALE))


def draft(store: Store, message: str) -> None:
    """Write a migration for what the tables have and this store has not (for developers)."""
    with store.writers.begin() as connection, _without_warnings():
        number = f"{int(max(versions.known_versions())) + 1:04d}"
        command.revision(_config(connection), message=message, autogenerate=True, rev_id=number)


@contextmanager
def _without_warnings() -> Iterator[None]:
    """Alembic leaves out an index on an expression, and warns of it; `_differing_indexes` compares them."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Skipped unsupported reflection of expression-based index")
        warnings.filterwarnings("ignore", "autogenerate skipping metadata-specified expression-based index")
        yield


def is_compared(subject: Any, _name: str | None, kind: str, *_: Any) -> bool:
    """A view is made by its migration alone: to the comparison it would be a table that is missing.

    So would an index be that one database alone has; its text is compared there by `_differing_indexes`.
    """
    return not (kind == "table" and subject.info.get(VIEW)) and not (kind == "index" and subject.info.get(ONE_DATABASE))


def replace_check(table: str, name: str, condition: str) -> None:
    """Give the check `ck_<table>_<name>` of a table, within a migration, another condition.

    Rows, indexes, triggers and what refers to the table stay. LookupError when the table has no such check.
    """
    bind, check = op.get_bind(), f"ck_{table}_{name}"
    if bind.dialect.name != "sqlite":
        op.execute(f"ALTER TABLE {table} DROP CONSTRAINT {check}")
        op.execute(f"ALTER TABLE {table} ADD CONSTRAINT {check} CHECK ({condition})")
        return
    statements = bind.exec_driver_sql(
        "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type <> 'table', rowid", (table,)
    )
    made, *others = statements.scalars().all()
    before = f"{table}_before"
    # What refers to the table is checked again at the end of the transaction.
    bind.exec_driver_sql("PRAGMA defer_foreign_keys = ON")
    for statement in (
        f"CREATE TABLE {before} AS SELECT * FROM {table}",  # noqa: S608 - names of the schema
        f"DROP TABLE {table}",
        _with_condition(made, check, condition),
        f"INSERT INTO {table} SELECT * FROM {before}",  # noqa: S608 - names of the schema
        f"DROP TABLE {before}",
        *others,
    ):
        bind.exec_driver_sql(statement, None, {"no_parameters": True})


def _with_condition(made: str, check: str, condition: str) -> str:
    head, found, rest = made.partition(f"CONSTRAINT {check} CHECK (")
    if not found:
        raise LookupError(f"there is no check {check}")
    return f"{head}{found}{condition}){rest[_find_end(rest) :]}"


def _find_end(text: str) -> int:
    """Return the place behind the bracket that closes one which was opened before the text."""
    depth = 1
    for found in re.finditer(r"'[^']*'|[()]", text):
        depth += {"(": 1, ")": -1}.get(found.group(), 0)
        if depth == 0:
            return found.end()
    raise LookupError("a bracket is not closed")


# What the columns of an index begin with that grows at its end.
_IN_ORDER: Final = ("is_live", "created_at")


@contextmanager
def without_indexes(store: Store) -> Iterator[None]:
    """Do without what only speeds up reading while rows come in by the ten thousand, and build it from all of them.

    That is half of the work of keeping it row by row. Unique indexes stay, as they refuse, and so do those in the order
    of time, as rows come in it. After a kill the store is sound and slow; whoever goes on builds what is missing.
    """
    declared = (index for table in tables.metadata().sorted_tables for index in table.indexes)
    indexes = [
        index
        for index in declared
        if not index.unique and not index.info.get(ONE_DATABASE) and index.columns.keys()[0] not in _IN_ORDER
    ]
    with store.writers.begin() as connection:
        for index in indexes:
            connection.execute(sa.schema.DropIndex(index, if_exists=True))
    try:
        yield
    finally:
        with store.writers.begin() as connection:
            if connection.dialect.name == "postgresql":
                connection.exec_driver_sql("SET LOCAL statement_timeout = 0")
            for index in indexes:
                connection.execute(sa.schema.CreateIndex(index, if_not_exists=True))


def differences(store: Store) -> list[object]:
    """List the differences between models and store; empty when they agree."""
    with store.writers.begin() as connection, _without_warnings():
        opts = {"compare_type": True, "include_object": is_compared}
        context = MigrationContext.configure(connection, opts=opts)
        found = compare_metadata(context, tables.metadata())
        return [*found, *_differing_checks(connection), *_differing_indexes(connection)]


def _differing_checks(connection: sa.Connection) -> list[object]:
    """Checks whose condition in the store is not the models', which Alembic does not compare."""
    stored = _read_checks(connection)
    if connection.dialect.name == "sqlite":
        declared = {
            (check.table.name, str(check.name)): _squeeze(str(check.sqltext.compile(dialect=connection.dialect)))
            for check in _list_checks()
        }
    else:
        # PostgreSQL writes a text of its own, so that each is made anew in a transaction that is undone.
        with connection.begin_nested() as undone:
            for table, name in stored:
                connection.exec_driver_sql(f"ALTER TABLE {table} DROP CONSTRAINT {name}")
            for check in _list_checks():
                connection.execute(sa.schema.AddConstraint(check, isolate_from_table=False))
            declared = _read_checks(connection)
            undone.rollback()
    return [
        ("differing_check", *key, stored.get(key), declared.get(key))
        for key in sorted({*stored, *declared})
        if stored.get(key) != declared.get(key)
    ]


def _list_checks() -> list[sa.CheckConstraint]:
    constraints = (each for table in tables.metadata().sorted_tables for each in table.constraints)
    return [each for each in constraints if isinstance(each, sa.CheckConstraint)]


def _read_checks(connection: sa.Connection) -> dict[tuple[str, str], str]:
    """The conditions of a store's checks by table and name."""
    reflected = sa.inspect(connection).get_multi_check_constraints()
    return {
        (table, str(check["name"])): _squeeze(check["sqltext"])
        for (_, table), checks in reflected.items()
        for check in checks
    }


def _squeeze(text: str) -> str:
    return " ".join(text.split())


def _differing_indexes(connection: sa.Connection) -> list[object]:
    """Indexes on expressions, on some of the rows or with more columns whose text in the store is not the models'.

    Alembic compares the names of their columns only. Each is made anew as declared, in a transaction that is undone,
    as PostgreSQL writes a text of its own.
    """
    name = sa.bindparam("name", type_=sa.String)
    if connection.dialect.name == "sqlite":
        text: sa.Select[tuple[str]] = (
            sa.select(sa.column("sql")).select_from(sa.table("sqlite_master")).where(sa.column("name") == name)
        )
    else:
        text = sa.select(sa.func.pg_get_indexdef(sa.func.to_regclass(name)))
    found: list[object] = []
    with connection.begin_nested() as undone:
        for index in _list_special_indexes(connection.dialect.name):
            stored = connection.execute(text, {"name": index.name}).scalar()
            connection.execute(sa.schema.DropIndex(index, if_exists=True))
            index.create(connection)
            declared = connection.execute(text, {"name": index.name}).scalar()
            found += [("differing_index", stored, declared)] if stored != declared else []
        undone.rollback()
    return found


def _list_special_indexes(dialect: str) -> list[sa.Index]:
    indexes = (index for table in tables.metadata().sorted_tables for index in table.indexes)
    return [
        index
        for index in indexes
        if any(index.dialect_options[dialect].get(option) is not None for option in ("where", "include"))
        or not all(isinstance(part, sa.Column) for part in index.expressions)
    ]
