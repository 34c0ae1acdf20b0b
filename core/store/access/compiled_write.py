"""A write that is compiled once for each database and then only given its values, in the driver's own words.

Making a statement, finding it in a cache and preparing its execution cost several times what the database takes
for the row itself; a sale writes a dozen.
"""

from collections.abc import Callable, Sequence
from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects import postgresql, sqlite

from core.store.access.statements import Said, say

Values = dict[str, Any]


class Driven:
    """A statement on tables, made by a function of the dialect's own `insert`; values that it names are given later.

    It knows no scope: whoever runs it has checked the rows. What it returns are the driver's own values.
    """

    def __init__(self, make: Callable[[Any], Any]) -> None:
        self._make = make
        self._compiled: dict[str, _Compiled] = {}

    def run(self, connection: sa.Connection, values: Values | Sequence[Values]) -> Said:
        """Execute it for one set of values, or for each of several."""
        dialect = connection.dialect
        compiled = self._compiled.get(dialect.name)
        if compiled is None:
            compiled = self._compiled[dialect.name] = _Compiled(self._make, dialect)
        given: Any = compiled.given(values) if isinstance(values, dict) else [compiled.given(v) for v in values]
        return say(connection, compiled.text, given)


class _Compiled:
    """The text of a statement for one database, and what turns values into the driver's."""

    def __init__(self, make: Callable[[Any], Any], dialect: sa.Dialect) -> None:
        compiled: Any = make(postgresql if dialect.name == "postgresql" else sqlite).compile(dialect=dialect)
        self.text: str = compiled.string
        self._fixed: dict[str, Any] = {name: value for name, value in compiled.params.items() if value is not None}
        self._by_name = compiled.positiontup is None
        into = compiled._bind_processors
        self._steps = [(name, into.get(name)) for name in compiled.positiontup or compiled.params]

    def given(self, values: Values) -> Any:
        """The values in the places, or under the names, that the text has."""
        known = {**self._fixed, **values} if self._fixed else values
        if self._by_name:
            return {name: into(known[name]) if into else known[name] for name, into in self._steps}
        return tuple([into(known[name]) if into else known[name] for name, into in self._steps])
