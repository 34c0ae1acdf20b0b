"""SELECT statements compiled once per database and scope width; values are bound on each execution.

Columns may be read straight into their form on the wire: ids, instants, mode, naira.
"""

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import islice
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine.result import IteratorResult, SimpleResultMetaData

from core import clock, money
from core.errors import StoreUnavailable
from core.store.access.scope import AnySelect, Scope, ScopedSession, ScopeViolation, connection_of, scope_filters
from core.store.access.statements import Pending, Row, driver_connection, execute, get_reason

_SCOPE_PARAMETERS: Mapping[str, Any] = {"scope_distributor": sa.Uuid(), "scope_is_live": sa.Boolean()}
Reader = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class _CompiledText:
    """The SQL text for one database and one width of scope, with its bind and result processors."""

    sql: str
    given: list[tuple[str, Reader | None]]
    by_name: bool
    readers: list[tuple[int, Reader]]

    def parameters(self, values: dict[str, Any]) -> Any:
        """Return the bind values in the form the driver expects."""
        made = [(name, write(values[name]) if write else values[name]) for name, write in self.given]
        return dict(made) if self.by_name else tuple([value for _, value in made])


class PendingRows:
    """Rows of a submitted query. On PostgreSQL all pending queries are sent in one round trip at the first access."""

    __slots__ = ("_pending", "_readers")

    def __init__(self, pending: Pending, readers: list[tuple[int, Reader]]) -> None:
        self._pending, self._readers = pending, readers

    @property
    def rows(self) -> list[Row]:
        """All rows."""
        return _read(self._pending.rows, self._readers)

    @property
    def one(self) -> Row:
        """The only row; ValueError for none or several."""
        (row,) = self.rows
        return row


class Query:
    """A query on entities whose values are `sa.bindparam`s, limited to the session's scope.

    Building a query, adding the scope's conditions and looking it up in a cache costs ten times its execution.
    """

    def __init__(self, query: AnySelect) -> None:
        if query._propagate_attrs.get("compile_state_plugin") != "orm":  # noqa: SLF001 SQLAlchemy has no public name for it
            raise ScopeViolation("a statement on owned tables must go through their entities")
        self._query = query
        self._names = SimpleResultMetaData([column.key for column in _columns(query)])
        self._texts: dict[tuple[str, bool, bool], _CompiledText] = {}

    def submit(self, session: ScopedSession, **values: Any) -> PendingRows:
        """Queue the query for these values; the result is fetched when it is first read."""
        connection, scope = connection_of(session), session.scope
        text = self._text(connection.dialect, scope)
        values |= {"scope_distributor": scope.distributor_id, "scope_is_live": scope.is_live}
        return PendingRows(execute(connection, text.sql, text.parameters(values)), text.readers)

    def rows(self, session: ScopedSession, **values: Any) -> list[Row]:
        """Execute and return all rows."""
        return self.submit(session, **values).rows

    def one(self, session: ScopedSession, **values: Any) -> Row:
        """Execute and return the only row."""
        return self.submit(session, **values).one

    def run(self, session: ScopedSession, **values: Any) -> sa.Result[Any]:
        """Execute and return a Result with column names; slower than `rows`."""
        return IteratorResult(self._names, iter(self.rows(session, **values)))

    def sql(self, session: ScopedSession) -> str:
        """Return the SQL text, for example to explain its plan."""
        return self._text(connection_of(session).dialect, session.scope).sql

    def _text(self, dialect: sa.Dialect, scope: Scope) -> _CompiledText:
        kind = (dialect.name, scope.distributor_id is None, scope.is_live is None)
        if kind not in self._texts:
            self._texts[kind] = self._compile(dialect, scope)
        return self._texts[kind]

    def _compile(self, dialect: sa.Dialect, scope: Scope) -> _CompiledText:
        mark: Any = {name: sa.bindparam(name, type_=type_) for name, type_ in _SCOPE_PARAMETERS.items()}
        reach = Scope(
            None if scope.distributor_id is None else mark["scope_distributor"],
            None if scope.is_live is None else mark["scope_is_live"],
        )
        query = self._query if scope.unlimited else self._query.options(*scope_filters(reach))
        made: Any = query.compile(dialect=dialect)
        names = made.positiontup if made.positional else list(made.binds)
        readers = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in _columns(query)]
        return _CompiledText(
            sql=str(made),
            given=[(name, made.binds[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in names],
            by_name=not made.positional,
            readers=[(place, reader) for place, reader in enumerate(readers) if reader],
        )


class QueryCache:
    """A bounded cache of compiled queries: criteria that differ only in their values share one."""

    _MAX_QUERIES = 512

    def __init__(self, make: Callable[[Any], AnySelect]) -> None:
        self._make = make
        self._queries: dict[Any, Query] = {}

    def get(self, shape: Any, question: Any) -> Query:
        """Return the compiled query for criteria of this shape."""
        if shape not in self._queries:
            if len(self._queries) >= self._MAX_QUERIES:  # shapes come from addresses, which anybody may write
                self._queries.clear()
            self._queries[shape] = Query(self._make(question))
        return self._queries[shape]


def _columns(query: AnySelect) -> list[Any]:
    # Not `selected_columns`: that leaves out a column that is selected twice.
    return list(query._raw_columns)  # noqa: SLF001 SQLAlchemy has no public name for it


def _read(rows: list[Row], readers: list[tuple[int, Reader]]) -> list[Row]:
    """Apply result processors column by column, which is faster than row by row."""
    columns: list[Iterable[Any]] = list(zip(*rows, strict=True))
    if not columns:
        return rows
    for place, read in readers:
        columns[place] = map(read, columns[place])
    return list(zip(*columns, strict=True))


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
        raise StoreUnavailable(get_reason(error)) from error


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


class _WireType(sa.types.TypeEngine[str]):
    """A result type for `sa.type_coerce` that converts the driver's value to its form on the wire."""

    def result_processor(self, dialect: sa.Dialect, coltype: object) -> Reader:
        """Return the conversion for this dialect."""
        return self.of_sqlite if dialect.name == "sqlite" else self.of_driver

    of_sqlite: Reader
    of_driver: Reader


class WireId(_WireType):
    """An id as 36 characters; SQLite stores 32 digits."""

    @staticmethod
    def of_sqlite(stored: Any) -> Any:
        """Add the hyphens."""
        return stored and f"{stored[:8]}-{stored[8:12]}-{stored[12:16]}-{stored[16:20]}-{stored[20:]}"

    @staticmethod
    def of_driver(stored: Any) -> Any:
        """Convert a UUID."""
        return None if stored is None else str(stored)


class WireInstant(_WireType):
    """An instant (contract P9); SQLite stores UTC text with six decimals."""

    @staticmethod
    def of_sqlite(stored: Any) -> Any:
        """Return 2026-11-20T07:08:00.000Z."""
        return stored and f"{stored[:10]}T{stored[11:23]}Z"

    of_driver = staticmethod(clock.to_wire)


class WireMode(_WireType):
    """`is_live` as the value of `app_mode` (contract M1)."""

    @staticmethod
    def of_sqlite(stored: Any) -> Any:
        """Return "live" or "test"."""
        return "live" if stored else "test"

    of_driver = of_sqlite


class WireNaira(_WireType):
    """Kobo as naira with two decimals."""

    of_sqlite = of_driver = staticmethod(money.to_wire)
