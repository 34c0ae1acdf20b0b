"""INSERT and UPDATE statements compiled once per database and executed through the driver.

Building a statement, looking it up in a cache and preparing its execution cost several times what the database takes
for the row itself; a sale writes a dozen.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from importlib import import_module
from typing import Any

import orjson
import sqlalchemy as sa
from sqlmodel.sql.sqltypes import UTCDateTime

from core.store.access.statements import Pending, copy, execute

Values = Mapping[str, Any]


class CompiledWrite:
    """A write on tables, built by a function of the dialect's `insert`; its parameters are bound on each execution.

    It does not check the scope: the caller has. Returned rows hold the driver's own values.
    """

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make
        self._compiled: dict[str, _Compiled] = {}

    def run(self, connection: sa.Connection, values: Values | Sequence[Values]) -> Pending:
        """Execute for one set of values, or once for each of several."""
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = _Compiled(self._make, dialect)
        given: Any = compiled.bind(values) if isinstance(values, Mapping) else [compiled.bind(v) for v in values]
        return execute(connection, compiled.text, given)


def add_up(insert: Any, keys: Sequence[str], names: Sequence[str]) -> Any:
    """Let an INSERT of a row whose keys exist add these columns to those of the row that is there."""
    sums = {name: insert.table.c[name] + insert.excluded[name] for name in names}
    return insert.on_conflict_do_update(index_elements=keys, set_=sums)


def _write_instant(at: datetime | None) -> str | None:
    """Return an instant as SQLAlchemy writes it on SQLite, at a third of its cost; the time zone must be known."""
    if at is None:
        return None
    if at.tzinfo is None:
        raise ValueError("an instant needs its time zone")
    return at.astimezone(UTC).isoformat(" ", "microseconds")[:26]


class _Compiled:
    """The SQL text for one database and the processors of its parameters."""

    def __init__(self, make: Callable[[Any], Any], dialect: sa.Dialect) -> None:
        # Imported by name: that of PostgreSQL loads every driver there is, which a store on SQLite does without.
        compiled: Any = make(import_module(f"sqlalchemy.dialects.{dialect.name}")).compile(dialect=dialect)
        self.text: str = compiled.string
        self._fixed: dict[str, Any] = {name: value for name, value in compiled.params.items() if value is not None}
        self._by_name = compiled.positiontup is None
        into = compiled._bind_processors  # noqa: SLF001 SQLAlchemy has no public name for it
        if dialect.name == "sqlite":
            kinds = {name: type(parameter.type) for parameter, name in compiled.bind_names.items()}
            into = {name: _write_instant if kinds[name] is UTCDateTime else step for name, step in into.items()}
        self._steps = [(name, into.get(name)) for name in compiled.positiontup or compiled.params]

    def bind(self, values: Values) -> Any:
        """Return the values as a tuple or dict, as the driver expects."""
        known = {**self._fixed, **values} if self._fixed else values
        if self._by_name:
            return {name: into(known[name]) if into else known[name] for name, into in self._steps}
        return tuple([into(known[name]) if into else known[name] for name, into in self._steps])


class CopyWrite:
    """An INSERT of many rows by a COPY of PostgreSQL, whose server reads nothing but the values.

    That is cheaper for it than to take a JSON text apart. A key that exists is an error: there is no ON CONFLICT. It
    does not check the scope: the caller has.
    """

    def __init__(self, table: sa.Table) -> None:
        self._table = table
        self._names = [column.key for column in table.columns]
        self._json = [place for place, column in enumerate(table.columns) if isinstance(column.type, sa.JSON)]
        self._text: str | None = None
        self._types: list[str] = []

    def run(self, connection: sa.Connection, rows: Iterable[Values]) -> None:
        """Write rows, each with its values by column."""
        if self._text is None:
            quote = connection.dialect.identifier_preparer.quote
            kinds = [column.type.compile(connection.dialect) for column in self._table.columns]
            # A JSON text is sent as it is, without being encoded once more.
            self._types = ["bytea" if kind == "JSON" else kind.partition("(")[0].lower() for kind in kinds]
            self._text = (
                f"COPY {quote(self._table.name)} ({', '.join(map(quote, self._names))}) FROM STDIN (FORMAT BINARY)"
            )
        copy(connection, self._text, self._types, map(self._encode, rows))

    def _encode(self, row: Values) -> tuple[Any, ...]:
        values = [row[name] for name in self._names]
        # Nothing is JSON's null there, as SQLAlchemy writes it.
        for place in self._json:
            values[place] = orjson.dumps(values[place])
        return tuple(values)


class RecordsetWrite:
    """An INSERT of those of many rows whose key is not there, or an UPDATE of columns of rows by their primary key.

    For PostgreSQL, whose server takes one JSON text apart: bound row by row, each costs the driver and the server more
    than writing it. SQLite prepares a statement once and binds in C. It does not check the scope: the caller has.
    """

    def __init__(self, table: sa.Table, *, updates: Sequence[str] = ()) -> None:
        self._table, self._updates = table, tuple(updates)
        self._text: str | None = None

    def run(self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> Pending:
        """Write rows, each with its values by column."""
        if self._text is None:
            self._text = self._build(connection.dialect.identifier_preparer.quote)
        return execute(connection, self._text, (orjson.dumps(rows).decode(),))

    def _build(self, quote: Any) -> str:
        name = quote(self._table.name)
        given = f"json_populate_recordset(NULL::{name}, %s) AS given"
        if self._updates:
            changed = ", ".join(f"{quote(each)} = {self._value(each, quote)}" for each in self._updates)
            mine = " AND ".join(
                f"{name}.{quote(key.name)} = given.{quote(key.name)}" for key in self._table.primary_key
            )
            return f"UPDATE {name} SET {changed} FROM {given} WHERE {mine}"  # noqa: S608 names out of our own tables
        names = [column.name for column in self._table.columns]
        written, values = ", ".join(map(quote, names)), ", ".join(self._value(each, quote) for each in names)
        return f"INSERT INTO {name} ({written}) SELECT {values} FROM {given} ON CONFLICT DO NOTHING"  # noqa: S608 as above

    def _value(self, name: str, quote: Any) -> str:
        # Nothing is JSON's null in a column of JSON, as SQLAlchemy writes it.
        is_json = isinstance(self._table.c[name].type, sa.JSON)
        return f"coalesce(given.{quote(name)}, 'null')" if is_json else f"given.{quote(name)}"
