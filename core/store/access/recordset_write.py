"""Many rows of one table in one statement: on PostgreSQL as one JSON text, which its server takes apart.

Bound row by row, each costs the driver and the server more than writing it; a chunk of a loan book writes two thousand.
SQLite prepares a statement once and binds in C: there the rows are bound one after the other.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import orjson
import sqlalchemy as sa

from core.store.access.statements import execute


class RecordsetWrite:
    """An INSERT of many rows, or an UPDATE of the named columns of many rows by their primary key.

    For PostgreSQL alone. It does not check the scope: the caller has.
    """

    def __init__(self, table: sa.Table, *, if_absent: bool = False, updates: Sequence[str] = ()) -> None:
        self._table, self._if_absent, self._updates = table, if_absent, tuple(updates)
        self._text: str | None = None

    def run(self, connection: sa.Connection, rows: Sequence[Mapping[str, Any]]) -> None:
        """Write rows, each with its values by column."""
        if self._text is None:
            self._text = self._build(connection.dialect.identifier_preparer.quote)
        execute(connection, self._text, (orjson.dumps(rows).decode(),))

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
        end = " ON CONFLICT DO NOTHING" if self._if_absent else ""
        return f"INSERT INTO {name} ({written}) SELECT {values} FROM {given}{end}"  # noqa: S608 as above

    def _value(self, name: str, quote: Any) -> str:
        # Nothing is JSON's null in a column of JSON, as SQLAlchemy writes it.
        is_json = isinstance(self._table.c[name].type, sa.JSON)
        return f"coalesce(given.{quote(name)}, 'null')" if is_json else f"given.{quote(name)}"
