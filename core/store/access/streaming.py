"""Read millions of rows in batches within the session's scope."""

from collections.abc import Generator, Sequence
from contextlib import closing
from itertools import islice
from typing import Any

import sqlalchemy as sa

from core.errors import StoreUnavailable
from core.store.access.scope import AnySelect, ScopedSession, ScopeViolation, scope_filters
from core.store.access.statements import driver_connection

Rows = Sequence[Any]


def read_batches(session: ScopedSession, query: AnySelect, *, size: int) -> Generator[Rows]:
    """Yield batches of the rows of a query on entities; memory holds one batch. Close it before the session.

    Rows are the driver's own values, as named results and conversions cost more than the row: select only texts and
    integers.
    """
    if query._propagate_attrs.get("compile_state_plugin") != "orm":  # noqa: SLF001 SQLAlchemy has no public name for it
        raise ScopeViolation("a statement on owned tables must go through their entities")
    scoped = query if session.scope.unlimited else query.options(*scope_filters(session.scope))
    connection = session.connection()
    driver: Any = connection.dialect.loaded_dbapi
    take = _in_chunks if connection.dialect.name == "postgresql" else _fetched
    try:
        yield from take(connection, scoped, size)
    except driver.Error as error:
        raise StoreUnavailable from error


def _fetched(connection: sa.Connection, query: AnySelect, size: int) -> Generator[Rows]:
    with connection.execute(query) as result:
        cursor: Any = result.cursor
        while rows := cursor.fetchmany(size):
            yield rows


def _in_chunks(connection: sa.Connection, query: AnySelect, size: int) -> Generator[Rows]:
    """Stream from the server: a cursor would be planned for its first rows and never in parallel."""
    compiled: Any = query.compile(dialect=connection.dialect, compile_kwargs={"render_postcompile": True})
    # All of it is one statement; who reads slowly may take longer than a question should.
    connection.exec_driver_sql("SET LOCAL statement_timeout = '1h'")
    with (
        driver_connection(connection).cursor() as cursor,
        closing(cursor.stream(compiled.string, compiled.params, size=size)) as rows,
    ):
        while batch := list(islice(rows, size)):
            yield batch
