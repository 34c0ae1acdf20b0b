"""Execute SQL through the driver, with SQLAlchemy's errors and, on PostgreSQL, pipelined.

SQLAlchemy's execution and named results cost several times what the database takes for one small row, so hot reads,
every write and savepoints use this.

On PostgreSQL each statement would be a round trip. Statements are queued until a result is read, SQLAlchemy executes
something, or the transaction ends; then they are sent as one pipeline.

Errors of the driver are translated: an unavailable or busy database is StoreUnavailable, anything else is a defect.
"""

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from decimal import Decimal
from types import SimpleNamespace
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine.interfaces import ExceptionContext
from sqlalchemy.exc import DBAPIError, IntegrityError

from core import telemetry
from core.errors import OtherRelease, StoreUnavailable
from core.store.operations import local_files

SLOW_SECONDS: Final = 0.25
# A page of a store in use lies in memory, or on a disk without moving parts. By the 4.0 of other disks PostgreSQL reads
# all customers to find a name: eight times as long as along the index of names.
PAGE_COST: Final = "-c random_page_cost=1.1"
_MOST_CHARACTERS: Final = 2_000
_COLUMNS: Final = re.compile(r'(?<=SELECT )[\w.", ]{120,}?(?= FROM )')
_BEGAN: Final = "slow_statement_began"


def add_options(ours: str, url: sa.URL) -> str:
    """Return our settings of a session, and behind them, so that they win, those in the `options` of the address."""
    return " ".join([ours, *url.normalized_query.get("options", ())])


def watch(engine: sa.Engine) -> None:
    """Time what SQLAlchemy executes on this engine."""

    @event.listens_for(engine, "before_cursor_execute")
    def _begin(connection: sa.Connection, *_: Any) -> None:
        connection.info[_BEGAN] = time.perf_counter()

    @event.listens_for(engine, "after_cursor_execute")
    def _end(connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        log_slow(statement, connection.info[_BEGAN])

    @event.listens_for(engine, "handle_error")
    def _fail(context: ExceptionContext) -> None:
        # One that waited for a lock until it was refused is what an operator looks for.
        if context.statement and context.connection and not context.connection.invalidated:
            log_slow(context.statement, context.connection.info.get(_BEGAN, time.perf_counter()))


def log_slow(statement: str, began: float) -> None:
    """Log a statement that began at a time of `perf_counter` and took too long."""
    note_all([statement], began)


def note_all(statements: Sequence[str], began: float) -> None:
    """Log statements that were sent in one trip; `rows` is their number. Where spans are exported, they are one."""
    seconds = time.perf_counter() - began
    if telemetry.exports_spans():
        telemetry.add_statements(_describe(statements), len(statements), seconds)
    if seconds >= SLOW_SECONDS:
        telemetry.count("slow_statements")
        text, milliseconds = _describe(statements), round(seconds * 1000, 1)
        telemetry.get_logger("coverdesk.store").warning(
            "slow statement", statement=text, milliseconds=milliseconds, rows=len(statements)
        )


def _describe(statements: Sequence[str]) -> str:
    """Return the statements on one line, long lists of columns left out: whoever reads it looks for the conditions."""
    return _COLUMNS.sub("...", " ".join("; ".join(statements).split()))[:_MOST_CHARACTERS]


# How transactions begin on PostgreSQL; one that only reads is a single snapshot, and cannot write by mistake.
BEGIN_READ, BEGIN_WRITE = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", "BEGIN"
# The channel on which a process tells that it has committed, and how seldom it does so.
WRITTEN, NOTIFY_SECONDS = "coverdesk_written", 0.1
Row = tuple[Any, ...]
_QUEUE_KEY = "unsent"
# What is put off is held in memory, and so is what the server answers meanwhile.
_MAX_QUEUED = 100
_IN_TRANSACTION, _SUCCEEDED = 2, {1, 2}


class Pending:
    """The result of a statement: rows as the driver returns them, and the number of rows written."""

    __slots__ = ("_connection", "_cursor", "_rows")

    def __init__(self, connection: sa.Connection, cursor: Any, rows: list[Row] | None = None) -> None:
        self._connection, self._cursor, self._rows = connection, cursor, rows

    @property
    def rows(self) -> list[Row]:
        """The rows; empty for a statement without a result."""
        if self._rows is None:
            # One that is answered is read without the connection, which may have broken behind it.
            if not self.is_answered:
                flush(self._connection)
            self._rows = self._cursor.fetchall() if self._cursor.description else []
        return self._rows

    @property
    def is_answered(self) -> bool:
        """False while it is queued, and for a statement that failed."""
        return self._rows is not None or _succeeded(self._cursor)

    @property
    def row_count(self) -> int:
        """The number of rows written."""
        flush(self._connection)
        return int(self._cursor.rowcount)


def execute(connection: sa.Connection, sql: str, given: Any = ()) -> Pending:
    """Execute a statement for one set of values, or for each of a list, in the open transaction.

    On PostgreSQL it is queued; its errors are raised when a later result is read.
    """
    cursor = connection.connection.cursor()
    if connection.dialect.name == "postgresql":
        unsent = connection.info.setdefault(_QUEUE_KEY, [])
        unsent += [(cursor, sql, each) for each in (given if isinstance(given, list) else [given])]
        if len(unsent) >= _MAX_QUEUED:
            flush(connection)
        return Pending(connection, cursor)
    driver: Any = connection.dialect.loaded_dbapi
    began = time.perf_counter()
    try:
        if isinstance(given, list):
            cursor.executemany(sql, given)
        else:
            cursor.execute(sql, given)
        rows = list(cursor.fetchall()) if cursor.description else []
        return Pending(connection, cursor, rows)
    except driver.Error as error:
        raise _translate(connection, cursor, sql, error) from error
    finally:
        log_slow(sql, began)


def copy(connection: sa.Connection, sql: str, types: Sequence[str], rows: Iterable[Row]) -> None:
    """Send rows by a COPY of PostgreSQL, in its binary format; types are the names of their columns' types.

    It goes behind the queued statements, on its own: a pipeline has no COPY.
    """
    flush(connection)
    driver: Any = connection.dialect.loaded_dbapi
    cursor: Any = connection.connection.cursor()
    began = time.perf_counter()
    try:
        with cursor.copy(sql) as sent:
            sent.set_types(types)
            for row in rows:
                sent.write_row(row)
    except driver.Error as error:
        raise _translate(connection, cursor, sql, error) from error
    finally:
        log_slow(sql, began)


def flush(connection: sa.Connection) -> None:
    """Send the queued statements in one round trip and fetch their results."""
    unsent = connection.info.pop(_QUEUE_KEY, None)
    if not unsent:
        return
    question = connection.info.pop(_QUESTION, None)
    driver: Any = connection.dialect.loaded_dbapi
    held: Any = connection.connection.driver_connection
    began = time.perf_counter()
    try:
        if len(unsent) == 1:
            ((cursor, sql, given),) = unsent
            cursor.execute(sql, given)
        else:
            with held.pipeline():
                for cursor, sql, given in unsent:
                    cursor.execute(sql, given)
    except driver.Error as error:
        cursor, sql, _ = next((one for one in unsent if not _succeeded(one[0])), unsent[-1])
        raise _translate(connection, cursor, sql, error) from error
    finally:
        note_all([sql for _, sql, _ in unsent], began)
        if question is not None:
            _refuse_other_version(question)


_STANDS_AT: Final = "SELECT version_num FROM alembic_version"
_QUESTION: Final = "version in question"
# The version that a store has to stand at for this process to write into it; None is any.
_wanted = SimpleNamespace(version=None)


def write_only_at(version: str | None) -> None:
    """Refuse every write of this process, by OtherRelease, once the store stands at another version than this one.

    For a process that serves: `coverdesk init` of the next release migrates the store under it.
    """
    _wanted.version = version


def ask_version(connection: sa.Connection) -> None:
    """Ask for the version of the store as the first statement of a write; on PostgreSQL its first trip answers.

    There it also makes a migration wait for the end of this write, and the next write for the end of the migration.
    """
    if _wanted.version is None or not connection.get_execution_options().get("write"):
        return
    question = execute(connection, _STANDS_AT)
    if question.is_answered:
        _refuse_other_version(question)
    else:
        connection.info[_QUESTION] = question


def _await_version(connection: sa.Connection) -> None:
    """Send what is queued if the question for the version is among it: a COMMIT behind it would not wait for us."""
    if _QUESTION in connection.info:
        flush(connection)


def _refuse_other_version(question: Pending) -> None:
    """Raise OtherRelease whatever else went wrong in the same trip: that was made for other tables."""
    if question.is_answered and (found := question.rows) != [(_wanted.version,)]:
        versions = ", ".join(version for (version,) in found)
        raise OtherRelease(f"the store stands at version {versions}, this release is made for {_wanted.version}")


def read_sums_whole(engine: sa.Engine) -> None:
    """Read a sum of kobo as the whole number that it is, as SQLite does: PostgreSQL adds them up to a decimal."""
    driver: Any = engine.dialect.loaded_dbapi

    class Number(driver.adapt.Loader):  # type: ignore[misc]
        def load(self, data: Any) -> int | Decimal:
            text = bytes(data).decode()
            return int(text) if text.lstrip("-").isdigit() else Decimal(text)

    @event.listens_for(engine, "connect")
    def _register(connection: Any, _: Any) -> None:
        connection.adapters.register_loader("numeric", Number)


def install_transaction_events(engine: sa.Engine) -> None:
    """Begin and end transactions of a PostgreSQL engine in autocommit mode through the queue.

    Execution option `write` begins a write transaction, `begins` gives another BEGIN, None means no transaction. BEGIN
    is queued like any statement, as the driver would make a round trip for it.
    """

    @event.listens_for(engine, "begin")
    def _begin(connection: sa.Connection) -> None:
        options = connection.get_execution_options()
        if statement := BEGIN_WRITE if options.get("write") else options.get("begins", BEGIN_READ):
            execute(connection, statement)
        ask_version(connection)

    @event.listens_for(engine, "before_cursor_execute")
    def _in_order(connection: sa.Connection, *_: Any) -> None:
        flush(connection)

    @event.listens_for(engine, "commit")
    def _commit(connection: sa.Connection) -> None:
        try:
            _await_version(connection)
            execute(connection, "COMMIT")
            _notify(connection)
            flush(connection)
        except (sa.exc.DBAPIError, OtherRelease):
            # SQLAlchemy takes the transaction for ended, whatever became of it.
            if not connection.invalidated:
                with _dropping_broken(connection):
                    connection.dialect.do_rollback(connection.connection)
            raise

    @event.listens_for(engine, "rollback")
    def _rollback(connection: sa.Connection) -> None:
        if connection.invalidated:
            return
        connection.info.pop(_QUEUE_KEY, None)
        connection.info.pop(_QUESTION, None)
        driver: Any = connection.connection.driver_connection
        is_read = not connection.get_execution_options().get("write")
        with _dropping_broken(connection):
            # With a ROLLBACK the driver forgets what it has prepared: a transaction that only read ends otherwise.
            if is_read and driver.info.transaction_status == _IN_TRANSACTION:
                driver.execute("COMMIT")
            else:
                connection.dialect.do_rollback(connection.connection)


@contextmanager
def _dropping_broken(connection: sa.Connection) -> Iterator[None]:
    """A connection on which a transaction cannot be ended is used no more: whatever was asked is answered or failed.

    The error would end the closing of the session half-way, and the connection would be missing in the pool.
    """
    try:
        yield
    except connection.dialect.loaded_dbapi.Error as error:
        connection.invalidate(error)


def _notify(connection: sa.Connection) -> None:
    """Notify whoever waits for commits, behind the COMMIT of a write in the same trip; before it, all writers would
    wait for each other at their ends.
    """
    last = _notified_at.get(connection.engine.url, 0.0)
    is_write = connection.get_execution_options().get("write")
    if is_write and time.monotonic() - last >= NOTIFY_SECONDS:
        _notified_at[connection.engine.url] = time.monotonic()
        execute(connection, f"NOTIFY {WRITTEN}")


_notified_at: dict[sa.URL, float] = {}


def end_reading(connection: sa.Connection) -> None:
    """Have PostgreSQL end a transaction that only reads in the same trip as what is put off, not in one of its own.

    Without effect on a transaction that writes, and on SQLite, whose end costs nothing.
    """
    if connection.dialect.name == "postgresql" and not connection.get_execution_options().get("write"):
        execute(connection, "COMMIT")


def driver_connection(connection: sa.Connection) -> Any:
    """The driver's connection, with all queued statements sent."""
    flush(connection)
    return connection.connection.driver_connection


def _succeeded(cursor: Any) -> bool:
    return cursor.pgresult is not None and cursor.pgresult.status in _SUCCEEDED


def _translate(connection: sa.Connection, cursor: Any, sql: str, error: Any) -> BaseException:
    driver: Any = connection.dialect.loaded_dbapi
    gone = connection.dialect.is_disconnect(error, connection.connection.dbapi_connection, cursor)
    if gone:
        connection.invalidate(error)
    translated: BaseException = sa.exc.DBAPIError.instance(
        sql, None, error, driver.Error, hide_parameters=True, connection_invalidated=gone, dialect=connection.dialect
    )
    return translated


# A row that a constraint of the store refuses, for who answers it and knows no SQLAlchemy.
ConstraintRefused = IntegrityError
RETRIED_SQLSTATES = {"40001", "40P01"}
# What a standby answers to who writes, and a server on which the role lacks a right.
_CANNOT_WRITE = {"25006", "42501"}
# A column or a table that is not there: no statement of ours asks for one in a store of our own version.
_OTHER_TABLES = {"42703", "42P01"}


def gave_way(error: Exception) -> bool:
    """Return True for a transaction that PostgreSQL has ended for another one's sake: it may be tried again."""
    return isinstance(error, DBAPIError) and getattr(error.orig, "sqlstate", None) in RETRIED_SQLSTATES


@contextmanager
def translate_db_errors(*, is_writing: bool = False) -> Iterator[None]:
    """Raise StoreUnavailable for driver errors that mean the database is unavailable, busy, full or of other tables.

    To who is writing, a database that cannot be written is unavailable too; to who reads, a write is a defect of ours.
    """
    try:
        yield
    except DBAPIError as error:
        state = getattr(error.orig, "sqlstate", None) or ""
        local_files.notice(error)
        if _wanted.version is not None and state in _OTHER_TABLES:
            raise OtherRelease(get_reason(error.orig)) from error
        is_unavailable = error.connection_invalidated or state[:2] in {"08", "53", "57"} or state == "55P03"
        is_unavailable = is_unavailable or (is_writing and state in _CANNOT_WRITE)
        if is_unavailable or (type(error.orig).__name__ == "OperationalError" and state not in RETRIED_SQLSTATES):
            raise StoreUnavailable(get_reason(error.orig)) from error
        raise
    except sa.exc.TimeoutError as error:
        raise StoreUnavailable("every connection of this process is in use") from error


def get_reason(error: BaseException | None) -> str:
    """Return the words of the database or its driver on one line; without DETAIL, which may name values of a row."""
    message = getattr(getattr(error, "diag", None), "message_primary", None) or str(error)
    return " ".join(message.split())
