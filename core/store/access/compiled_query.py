"""A SELECT that is made once and then only run: its text knows how far a scope reaches, never whose it is."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy.engine.result import IteratorResult, SimpleResultMetaData

from core.store.access.scope import AnySelect, Scope, ScopedSession, ScopeViolation, filters
from core.store.access.statements import Row, Said, say

_WHOSE: Mapping[str, Any] = {"scope_distributor": sa.Uuid(), "scope_is_live": sa.Boolean()}
Reader = Callable[[Any], Any]
# The planner may begin with either side of such a join; a cross join is the same to SQLite, in the order given.
_CHOSEN_JOIN = re.compile(r"(?<!OUTER) JOIN ")


@dataclass(frozen=True, slots=True)
class _Text:
    """The statement for one database and one breadth of scope, what goes in and what comes out."""

    sql: str
    given: list[tuple[str, Reader | None]]
    by_name: bool
    readers: list[tuple[int, Reader]]

    def parameters(self, values: dict[str, Any]) -> Any:
        """The values as the driver wants them."""
        made = [(name, write(values[name]) if write else values[name]) for name, write in self.given]
        return dict(made) if self.by_name else tuple([value for _, value in made])


class Asked:
    """Rows that are asked for, to be looked at later: PostgreSQL is asked then, for all that waits, in one trip."""

    __slots__ = ("_readers", "_said")

    def __init__(self, said: Said, readers: list[tuple[int, Reader]]) -> None:
        self._said, self._readers = said, readers

    @property
    def rows(self) -> list[Row]:
        """The rows."""
        return _read(self._said.rows, self._readers)

    @property
    def one(self) -> Row:
        """The only row."""
        (row,) = self.rows
        return row


class Prepared:
    """A query on entities, whose values are `sa.bindparam`s. Like any other, it sees only what its session may see.

    Making a query, putting the scope's conditions on it and finding it in a cache costs ten times what its rows do.
    """

    def __init__(self, query: AnySelect, *, in_order: bool = False) -> None:
        """`in_order` has SQLite visit the tables in the order in which they are joined, whatever its figures say."""
        if query._propagate_attrs.get("compile_state_plugin") != "orm":
            raise ScopeViolation("a statement on owned tables must go through their entities")
        self._query = query
        self._in_order = in_order
        self._names = SimpleResultMetaData([column.key for column in _columns(query)])
        self._texts: dict[tuple[str, bool, bool], _Text] = {}

    def asked(self, session: ScopedSession, **values: Any) -> Asked:
        """What will hold the rows for these values, as far as the session's scope reaches."""
        connection, scope = session.held, session.scope
        text = self._text(connection.dialect, scope)
        values |= {"scope_distributor": scope.distributor_id, "scope_is_live": scope.is_live}
        return Asked(say(connection, text.sql, text.parameters(values)), text.readers)

    def rows(self, session: ScopedSession, **values: Any) -> list[Row]:
        """The rows for these values."""
        return self.asked(session, **values).rows

    def one(self, session: ScopedSession, **values: Any) -> Row:
        """The only row."""
        return self.asked(session, **values).one

    def run(self, session: ScopedSession, **values: Any) -> sa.Result[Any]:
        """The same rows with the names of their columns, for who reads a few."""
        return IteratorResult(self._names, iter(self.rows(session, **values)))

    def sql(self, session: ScopedSession) -> str:
        """What the database is asked, for who wants to know its plan."""
        return self._text(session.held.dialect, session.scope).sql

    def _text(self, dialect: sa.Dialect, scope: Scope) -> _Text:
        kind = (dialect.name, scope.distributor_id is None, scope.is_live is None)
        if kind not in self._texts:
            self._texts[kind] = self._made(dialect, scope)
        return self._texts[kind]

    def _made(self, dialect: sa.Dialect, scope: Scope) -> _Text:
        mark: Any = {name: sa.bindparam(name, type_=type_) for name, type_ in _WHOSE.items()}
        reach = Scope(
            None if scope.distributor_id is None else mark["scope_distributor"],
            None if scope.is_live is None else mark["scope_is_live"],
        )
        query = self._query if scope.unlimited else self._query.options(*filters(reach))
        made: Any = query.compile(dialect=dialect)
        names = made.positiontup if made.positional else list(made.binds)
        readers = [column.type.dialect_impl(dialect).result_processor(dialect, None) for column in _columns(query)]
        return _Text(
            sql=_CHOSEN_JOIN.sub(" CROSS JOIN ", str(made))
            if self._in_order and dialect.name == "sqlite"
            else str(made),
            given=[(name, made.binds[name].type.dialect_impl(dialect).bind_processor(dialect)) for name in names],
            by_name=not made.positional,
            readers=[(place, reader) for place, reader in enumerate(readers) if reader],
        )


class PreparedByShape:
    """Statements of one kind, made when first asked for: questions that differ in their values alone share one."""

    _MOST = 512

    def __init__(self, make: Callable[[Any], AnySelect], *, in_order: bool = False) -> None:
        self._make, self._in_order = make, in_order
        self._made: dict[Any, Prepared] = {}

    def of(self, shape: Any, question: Any) -> Prepared:
        """The statement of a question of this shape."""
        if shape not in self._made:
            if len(self._made) >= self._MOST:  # shapes come from addresses, which anybody may write
                self._made.clear()
            self._made[shape] = Prepared(self._make(question), in_order=self._in_order)
        return self._made[shape]


def _columns(query: AnySelect) -> list[Any]:
    # Not `selected_columns`: that leaves out a column that is selected twice.
    return list(query._raw_columns)


def _read(rows: list[Row], readers: list[tuple[int, Reader]]) -> list[Row]:
    """Column by column: to go from reader to reader for each row costs more than what they do."""
    columns: list[Iterable[Any]] = list(zip(*rows, strict=True))
    if not columns:
        return rows
    for place, read in readers:
        columns[place] = map(read, columns[place])
    return list(zip(*columns, strict=True))
