"""Whose rows a session may see: the store adds the filter, so that no query has to remember it."""

from dataclasses import dataclass
from functools import cache, cached_property, lru_cache
from typing import TYPE_CHECKING, Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import event, orm
from sqlalchemy.sql.util import find_tables
from sqlmodel import Session, SQLModel

from core.store.access.compiled_write import Driven
from core.store.rollups import daily_rollup
from core.store.schema import sales as sales_tables
from core.store.schema.columns import Owned

if TYPE_CHECKING:
    from core.store.access.replica import Sight

AnySelect = sa.Select[*tuple[Any, ...]]
_AT = "at_"
# Where a session keeps the engine that counts beside its transaction.
BESIDE = "counts beside"
# Where a session on the replica keeps how that stood.
SIGHT = "sight"


class ScopeViolation(RuntimeError):
    """Code tried to read or write past its scope: a defect, never a user's mistake."""


@dataclass(frozen=True, slots=True)
class Scope:
    """One distributor in one mode, the staff in one mode, or the system itself (contract M1, M2)."""

    distributor_id: UUID | None
    is_live: bool | None

    @classmethod
    def of(cls, distributor_id: UUID, *, is_live: bool) -> "Scope":
        """What an API key sees."""
        return cls(distributor_id, is_live)

    @classmethod
    def staff(cls, *, is_live: bool) -> "Scope":
        """What the desk sees: every distributor, one mode at a time."""
        return cls(None, is_live)

    @classmethod
    def system(cls) -> "Scope":
        """Everything: for start-up, checks and commands, never for a request."""
        return cls(None, None)

    @property
    def unlimited(self) -> bool:
        """True for the system."""
        return self.is_live is None

    def admits(self, row: Owned) -> bool:
        """True when a row may be written in this scope."""
        mine = self.distributor_id is None or row.distributor_id == self.distributor_id
        return mine and (self.is_live is None or row.is_live == self.is_live)


class ScopedSession(Session):
    """A session that knows its scope; statements that could slip past it are refused."""

    def __init__(self, bind: sa.Engine | sa.Connection, scope: Scope, **options: Any) -> None:
        super().__init__(bind, expire_on_commit=False, autoflush=True, **options)
        self.scope = scope

    @cached_property
    def held(self) -> sa.Connection:
        """The connection of the session's only transaction: to ask the session each time costs a small question."""
        return self.connection()

    @property
    def sight(self) -> "Sight | None":
        """How the replica stood that this session reads; none on the primary."""
        sight: Sight | None = self.info.get(SIGHT)
        return sight

    def rollback(self) -> None:
        """Refused: others may share the transaction, and what was written past SQLAlchemy is not its to undo."""
        raise ScopeViolation("a transaction is undone by raising an error out of it")

    def insert(self, *rows: SQLModel) -> None:
        """Insert rows in the order given, each by one statement; they are not tracked afterwards."""
        connection = self.held
        for row in rows:
            self._admit(row)
            _inserting(type(row)).run(connection, _values(row))
        daily_rollup.note(connection, *rows)

    def insert_once(self, row: SQLModel) -> bool:
        """Insert a row unless its unique key is taken; waits for a rival that has not committed.

        True when the row is ours. The only safe way to claim a key: never look first and insert then.
        """
        self._admit(row)
        connection = self.held
        written = _inserting_once(type(row)).run(connection, _values(row)).touched == 1
        if written:
            daily_rollup.note(connection, row)
        return written

    def rewrite(self, row: SQLModel, *names: str) -> None:
        """Put these fields of a row over what the store holds under its primary key."""
        self._admit(row)
        values = _values(row)
        keys = {f"{_AT}{column.key}": values[column.key] for column in _table(type(row)).primary_key}
        _rewriting(type(row), names).run(self.held, {**{name: values[name] for name in names}, **keys})

    def count_up(self, series: str) -> int:
        """The next number of a series, counted in this transaction: whoever counts next waits for its end."""
        return _counted(self.held, series)

    def draw(self, series: str) -> int:
        """A number of a printed series that nobody else gets; one of a transaction that fails is not used again.

        On PostgreSQL it is counted beside the transaction, or all sales of an insurer would wait for each other's
        commit. Counted without waiting for the disk: a sale that is on the disk carries its number there too.
        """
        beside: sa.Engine | None = self.info.get(BESIDE)
        if beside is None:
            return self.count_up(series)
        with beside.connect() as connection:
            return _counted(connection, series)

    def _admit(self, row: SQLModel) -> None:
        if isinstance(row, Owned) and not self.scope.admits(row):
            raise ScopeViolation(f"a row of {type(row).__name__} lies outside the scope")


def _table(entity: type[SQLModel]) -> Any:
    return sa.inspect(entity).local_table


def _values(row: SQLModel) -> dict[str, Any]:
    held = vars(row)
    return {name: held[name] if name in held else getattr(row, name) for name in _columns(type(row))}


@cache
def _columns(entity: type[SQLModel]) -> tuple[str, ...]:
    return tuple(column.key for column in _table(entity).columns)


@cache
def _inserting(entity: type[SQLModel]) -> Driven:
    return Driven(lambda dialect: dialect.insert(_table(entity)))


@cache
def _inserting_once(entity: type[SQLModel]) -> Driven:
    return Driven(lambda dialect: dialect.insert(_table(entity)).on_conflict_do_nothing())


@cache
def _rewriting(entity: type[SQLModel], names: tuple[str, ...]) -> Driven:
    table = _table(entity)
    mine = [column == sa.bindparam(f"{_AT}{column.key}", type_=column.type) for column in table.primary_key]
    fields = {name: sa.bindparam(name, type_=table.c[name].type) for name in names}
    return Driven(lambda _: sa.update(table).where(*mine).values({table.c[n]: bound for n, bound in fields.items()}))


def _counting_up(dialect: Any) -> Any:
    counter = _table(sales_tables.NumberCounter)
    first = dialect.insert(counter)
    return first.on_conflict_do_update(index_elements=["series"], set_={"last": counter.c.last + 1}).returning(
        counter.c.last
    )


_COUNTING = Driven(_counting_up)


def _counted(connection: sa.Connection, series: str) -> int:
    ((number,),) = _COUNTING.run(connection, {"series": series, "last": 1}).rows
    return int(number)


def _touches_owned(statement: Any) -> bool:
    if isinstance(statement, sa.TextClause):
        return True
    tables = find_tables(statement, include_crud=True, include_selects=True, include_joins=True)
    return bool(owned_tables() & set(tables))


def owned_entities() -> list[type[SQLModel]]:
    """Every table class whose rows belong to a distributor."""
    registry: orm.registry = SQLModel._sa_registry
    return [mapper.class_ for mapper in registry.mappers if issubclass(mapper.class_, Owned)]


@cache
def owned_tables() -> frozenset[Any]:
    """The tables of the owned entities."""
    return frozenset(_table(entity) for entity in owned_entities())


@event.listens_for(ScopedSession, "do_orm_execute")
def _fence(state: orm.ORMExecuteState) -> None:
    scope = state.session.scope  # type: ignore[attr-defined]
    if scope.unlimited:
        return
    if not state.is_orm_statement and _touches_owned(state.statement):
        raise ScopeViolation("a statement on owned tables must go through their entities")
    if state.is_insert:
        raise ScopeViolation("rows of a distributor are added to the session, not inserted past it")
    state.statement = state.statement.options(*filters(scope))


@lru_cache(maxsize=1024)
def filters(scope: Scope) -> tuple[orm.LoaderCriteriaOption, ...]:
    """The conditions that a scope puts on every owned entity, wherever a statement names it."""
    return tuple(
        orm.with_loader_criteria(entity, _condition(entity, scope), include_aliases=True) for entity in owned_entities()
    )


def _condition(entity: Any, scope: Scope) -> sa.ColumnElement[bool]:
    condition: sa.ColumnElement[bool] = entity.is_live == scope.is_live
    if scope.distributor_id is None:
        return condition
    return sa.and_(condition, entity.distributor_id == scope.distributor_id)


@event.listens_for(ScopedSession, "before_flush")
def _guard(session: Any, _context: Any, _instances: Any) -> None:
    for row in (*session.new, *session.dirty, *session.deleted):
        session._admit(row)


@event.listens_for(ScopedSession, "after_flush")
def _note(session: Any, _context: Any) -> None:
    if session.new or session.dirty:
        daily_rollup.note(session.connection(), *session.new, changed=session.dirty)
