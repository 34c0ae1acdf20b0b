"""Statements in the driver's own words; what goes wrong has SQLAlchemy's names.

A statement that is executed through SQLAlchemy, and a result that can be asked by name, cost several times what the
database takes for one small row. Hot reads, every write and the savepoints of a group go this way.

To PostgreSQL each statement is a trip of its own, on which our thread and the server wait for each other. So what is
said waits there until somebody looks at an answer, or SQLAlchemy speaks, or the transaction ends; then all go together.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy import event

# How transactions begin on PostgreSQL; one that only reads is a single snapshot, and cannot write by mistake.
READ, WRITE = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN"
Row = tuple[Any, ...]
_UNSENT = "unsent"
# What is put off is held in memory, and so is what the server answers meanwhile.
_MOST_TOGETHER = 100
_IN_TRANSACTION, _SUCCEEDED = 2, {1, 2}


class Said:
    """What a statement answers: its rows, as the driver gives them, and how many it touched."""

    __slots__ = ("_connection", "_cursor", "_rows")

    def __init__(self, connection: sa.Connection, cursor: Any, rows: list[Row] | None = None) -> None:
        self._connection, self._cursor, self._rows = connection, cursor, rows

    @property
    def rows(self) -> list[Row]:
        """The rows; none of a statement that returns none."""
        if self._rows is None:
            send(self._connection)
            self._rows = self._cursor.fetchall() if self._cursor.description else []
        return self._rows

    @property
    def touched(self) -> int:
        """How many rows were written."""
        send(self._connection)
        return int(self._cursor.rowcount)


def say(connection: sa.Connection, sql: str, given: Any = ()) -> Said:
    """Execute a statement for one set of values, or for each of a list, in the transaction that is open.

    On PostgreSQL it is executed no later than the next answer that somebody looks at, where its errors are raised too.
    """
    cursor = connection.connection.cursor()
    if connection.dialect.name == "postgresql":
        unsent = connection.info.setdefault(_UNSENT, [])
        unsent += [(cursor, sql, each) for each in (given if isinstance(given, list) else [given])]
        if len(unsent) >= _MOST_TOGETHER:
            send(connection)
        return Said(connection, cursor)
    driver: Any = connection.dialect.loaded_dbapi
    try:
        if isinstance(given, list):
            cursor.executemany(sql, given)
        else:
            cursor.execute(sql, given)
        return Said(connection, cursor, list(cursor.fetchall()) if cursor.description else [])
    except driver.Error as error:
        raise _named(connection, cursor, sql, error) from error


def send(connection: sa.Connection) -> None:
    """Send what was put off, in one trip, and have its answers."""
    unsent = connection.info.pop(_UNSENT, None)
    if not unsent:
        return
    driver: Any = connection.dialect.loaded_dbapi
    held: Any = connection.connection.driver_connection
    try:
        if len(unsent) == 1:
            ((cursor, sql, given),) = unsent
            cursor.execute(sql, given)
            return
        with held.pipeline():
            for cursor, sql, given in unsent:
                cursor.execute(sql, given)
    except driver.Error as error:
        cursor, sql, _ = next((one for one in unsent if not _succeeded(one[0])), unsent[-1])
        raise _named(connection, cursor, sql, error) from error


def begin_and_end(engine: sa.Engine) -> None:
    """Have an engine of PostgreSQL, which commits by itself, begin and end its transactions in our words.

    The option `write` is for one that writes, and `begins` says how another begins; with None, each statement stands
    alone. To begin is put off like any statement: the driver would make a trip of its own for it.
    """

    @event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        asked = connection.get_execution_options()
        if words := WRITE if asked.get("write") else asked.get("begins", READ):
            say(connection, words)

    @event.listens_for(engine, "before_cursor_execute")
    def _in_order(connection: sa.Connection, *_: Any) -> None:
        send(connection)

    @event.listens_for(engine, "commit")
    def _commit(connection: sa.Connection) -> None:
        say(connection, "COMMIT")
        try:
            send(connection)
        except sa.exc.DBAPIError:
            # SQLAlchemy takes the transaction for ended, whatever became of it.
            if not connection.invalidated:
                connection.dialect.do_rollback(connection.connection)
            raise

    @event.listens_for(engine, "rollback")
    def _undo(connection: sa.Connection) -> None:
        if connection.invalidated:
            return
        connection.info.pop(_UNSENT, None)
        # With a ROLLBACK the driver forgets what it has prepared, so that a transaction that only read ends otherwise.
        driver: Any = connection.connection.driver_connection
        if not connection.get_execution_options().get("write") and driver.info.transaction_status == _IN_TRANSACTION:
            driver.execute("COMMIT")


def end_reading(connection: sa.Connection) -> None:
    """Have PostgreSQL end a transaction that only reads in the same trip as what is put off, not in one of its own.

    Without effect on a transaction that writes, and on SQLite, whose end costs nothing.
    """
    if connection.dialect.name == "postgresql" and not connection.get_execution_options().get("write"):
        say(connection, "COMMIT")


def driver_of(connection: sa.Connection) -> Any:
    """The driver's own connection, which has heard all that was said before."""
    send(connection)
    return connection.connection.driver_connection


def _succeeded(cursor: Any) -> bool:
    return cursor.pgresult is not None and cursor.pgresult.status in _SUCCEEDED


def _named(connection: sa.Connection, cursor: Any, sql: str, error: Any) -> BaseException:
    driver: Any = connection.dialect.loaded_dbapi
    gone = connection.dialect.is_disconnect(error, connection.connection.dbapi_connection, cursor)
    if gone:
        connection.invalidate(error)
    told: BaseException = sa.exc.DBAPIError.instance(
        sql, None, error, driver.Error, hide_parameters=True, connection_invalidated=gone, dialect=connection.dialect
    )
    return told
