"""INSERT and UPDATE statements compiled once per database and executed through the driver.

Building a statement, looking it up in a cache and preparing its execution cost several times what the database takes
for the row itself; a sale writes a dozen.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib import import_module
from typing import Any

import sqlalchemy as sa

from core.store.access.statements import Pending, execute

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


class _Compiled:
    """The SQL text for one database and the processors of its parameters."""

    def __init__(self, make: Callable[[Any], Any], dialect: sa.Dialect) -> None:
        # Imported by name: that of PostgreSQL loads every driver there is, which a store on SQLite does without.
        compiled: Any = make(import_module(f"sqlalchemy.dialects.{dialect.name}")).compile(dialect=dialect)
        self.text: str = compiled.string
        self._fixed: dict[str, Any] = {name: value for name, value in compiled.params.items() if value is not None}
        self._by_name = compiled.positiontup is None
        into = compiled._bind_processors  # noqa: SLF001 SQLAlchemy has no public name for it
        self._steps = [(name, into.get(name)) for name in compiled.positiontup or compiled.params]

    def bind(self, values: Values) -> Any:
        """Return the values as a tuple or dict, as the driver expects."""
        known = {**self._fixed, **values} if self._fixed else values
        if self._by_name:
            return {name: into(known[name]) if into else known[name] for name, into in self._steps}
        return tuple([into(known[name]) if into else known[name] for name, into in self._steps])
