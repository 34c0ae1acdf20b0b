"""Row-level tenancy: a session carries a scope, and the store adds its conditions to every query."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import event, orm
from sqlalchemy.orm.interfaces import CriteriaOption
from sqlalchemy.sql.util import find_tables
from sqlalchemy.sql.visitors import InternalTraversal
from sqlmodel import Session, SQLModel, col

from core.errors import NotFound
from core.store.access.compiled_write import CompiledWrite, CopyWrite, RecordsetWrite, add_up
from core.store.access.statements import end_reading, execute, flush
from core.store.expressions import sum_of
from core.store.schema import tables
from core.store.schema.columns import Owned, entity_of, table_of, values_to_insert


class ScopeFilter(CriteriaOption):
    """Like `with_loader_criteria` for each of many entities, but a statement is prepared once for all of them.

    An option for each of them took half of the time of a small statement. The condition of the first entity stands for
    all in the key of a statement: the others are the same with columns of their own, and share its parameters.
    """

    propagate_to_loaders = True
    _traverse_internals = [("first", InternalTraversal.dp_clauseelement)]  # noqa: RUF012 read by SQLAlchemy

    def __init__(self, conditions: Mapping[Any, sa.ColumnElement[bool]]) -> None:
        self.first = next(iter(conditions.values()))
        self.criteria = [
            orm.with_loader_criteria(entity, condition, include_aliases=True)
            for entity, condition in conditions.items()
        ]

    def process_compile_state(self, compile_state: Any) -> None:
        """Add the conditions to a query that is compiled."""
        self.get_global_criteria(compile_state.global_attributes)

    def process_compile_state_replaced_entities(self, compile_state: Any, mapper_entities: Any) -> None:
        """Like `process_compile_state`, for a query whose columns were replaced."""
        self.process_compile_state(compile_state)

    def get_global_criteria(self, attributes: dict[Any, Any]) -> None:
        """Add the conditions to those of an UPDATE or DELETE."""
        for each in self.criteria:
            each.get_global_criteria(attributes)


if TYPE_CHECKING:
    from core.store.access.replica import ReplicaStatus

AnySelect = sa.Select[*tuple[Any, ...]]
AnyRow = sa.Row[*tuple[Any, ...]]
Entity = TypeVar("Entity", bound=SQLModel)
T = TypeVar("T")
_AT = "at_"
# Where a session keeps the engine that counts beside its transaction.
COUNTER_ENGINE = "counts beside"
# Where a session on the replica keeps how that stood.
REPLICA_STATUS = "sight"


class ScopeViolation(RuntimeError):
    """Code tried to read or write outside its scope: a defect, never a user's mistake."""


@dataclass(frozen=True, slots=True)
class Scope:
    """One distributor in one mode, the staff in one mode, or the whole system (contract M1, M2)."""

    distributor_id: UUID | None
    is_live: bool | None

    @classmethod
    def of(cls, distributor_id: UUID, *, is_live: bool) -> "Scope":
        """The scope of an API key."""
        return cls(distributor_id, is_live)

    @classmethod
    def staff(cls, *, is_live: bool) -> "Scope":
        """The scope of the desk: every distributor, one mode."""
        return cls(None, is_live)

    @classmethod
    def system(cls) -> "Scope":
        """Everything; for start-up, checks and commands, never for a request."""
        return cls(None, None)

    @property
    def unlimited(self) -> bool:
        """True for the system's scope."""
        return self.is_live is None

    def admits(self, row: Owned) -> bool:
        """True when a row may be written in this scope."""
        is_own = self.distributor_id is None or row.distributor_id == self.distributor_id
        return is_own and (self.is_live is None or row.is_live == self.is_live)


@dataclass(frozen=True, kw_only=True, slots=True)
class Owner:
    """A distributor in one mode, whose rows and files are nobody else's (contract M1, M2)."""

    distributor_id: UUID
    is_live: bool

    @staticmethod
    def of(row: "Owned | Owner") -> "Owner":
        """Return the owner of a row, or who somebody acts for."""
        return Owner(distributor_id=row.distributor_id, is_live=row.is_live)

    @property
    def scope(self) -> Scope:
        """The rows that the owner may read and write."""
        return Scope.of(self.distributor_id, is_live=self.is_live)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that name the owner in a row."""
        return {"distributor_id": self.distributor_id, "is_live": self.is_live}

    def owns(self, entity: Any) -> tuple[sa.ColumnElement[bool], sa.ColumnElement[bool]]:
        """Return the conditions that a row is the owner's, also for staff and commands, whose scope is wider."""
        return col(entity.distributor_id) == self.distributor_id, col(entity.is_live) == self.is_live


class ScopedSession(Session):
    """A session limited to its scope; statements that could bypass the scope are refused."""

    def __init__(self, bind: sa.Engine | sa.Connection, scope: Scope, **options: Any) -> None:
        # A session used after its block is an error: it would begin a transaction that nobody ends.
        super().__init__(bind, expire_on_commit=False, autoflush=True, close_resets_only=False, **options)
        self.scope = scope
        self._connection: sa.Connection | None = None

    @property
    def replica_status(self) -> "ReplicaStatus | None":
        """Status of the replica that this session reads; None on the primary."""
        sight: ReplicaStatus | None = self.info.get(REPLICA_STATUS)
        return sight

    def rollback(self) -> None:
        """Refused: the transaction may be shared, and direct writes are not tracked. Raise an error instead."""
        raise ScopeViolation("a transaction is undone by raising an error out of it")

    @contextmanager
    def across_distributors(self) -> Iterator[None]:
        """Read the rows of every distributor of this mode in the block: to find the same loss, person or account."""
        own, self.scope = self.scope, Scope(None, self.scope.is_live)
        try:
            yield
        finally:
            self.scope = own

    def insert(self, *rows: SQLModel) -> None:
        """Insert rows in the order given, one statement each; they are not tracked by the session."""
        connection = connection_of(self)
        for row in rows:
            self._admit(row)
            _insert_statement(entity_of(row)).run(connection, _values(row))
        _add_to_rollups(connection, *rows)

    def insert_many(self, rows: Sequence[SQLModel], *, if_absent: bool = False, is_counted: bool = True) -> bool:
        """Insert rows of one table in one go; `if_absent` leaves out those whose unique key exists, and says if none
        was left out. Those that are not `is_counted` are entered in the roll-ups by `count`, in the same transaction.

        Rivals that insert the same keys do not hold each other up crosswise when both bring them in one order.
        """
        if not rows:
            return True
        for row in rows:
            self._admit(row)
        connection, entity = connection_of(self), entity_of(rows[0])
        is_sqlite, values = connection.dialect.name == "sqlite", [_values(row) for row in rows]
        if if_absent:
            absent = _insert_if_absent_statement(entity) if is_sqlite else _insert_absent_recordset(entity)
            return absent.run(connection, values).row_count == len(rows)
        (_insert_statement(entity) if is_sqlite else _copy(entity)).run(connection, values)
        if is_counted:
            self.count(*rows)
        return True

    def count(self, *rows: SQLModel) -> None:
        """Enter rows that were written together in the roll-ups, whose lines other chunks wait for until the commit."""
        _add_to_rollups(connection_of(self), *rows, is_together=True)

    def insert_batch(self, entity: type[SQLModel], rows: Sequence[Mapping[str, Any]]) -> None:
        """Insert many rows of a table that no distributor owns, in one statement; each has a value of every column."""
        if issubclass(entity, Owned):
            raise ScopeViolation(f"rows of {entity.__name__} are inserted one by one, each within the scope")
        if rows:
            _insert_statement(entity).run(connection_of(self), rows)

    def insert_if_absent(self, row: SQLModel) -> bool:
        """Insert a row unless its unique key exists; waits for an uncommitted rival.

        True when the row was inserted. The only safe way to claim a key: never check first and insert then.
        """
        self._admit(row)
        connection = connection_of(self)
        written = _insert_if_absent_statement(entity_of(row)).run(connection, _values(row)).row_count == 1
        if written:
            _add_to_rollups(connection, row)
        return written

    def update_columns(self, row: SQLModel, *names: str) -> None:
        """Update these columns of the row with this primary key."""
        self._admit(row)
        _update_statement(entity_of(row), names).run(connection_of(self), _keyed_values(row))

    def update_many(self, rows: Sequence[SQLModel], *names: str) -> None:
        """Update these columns of rows of one table in one go, each by its primary key."""
        if not rows:
            return
        for row in rows:
            self._admit(row)
        connection, entity = connection_of(self), entity_of(rows[0])
        if connection.dialect.name == "sqlite":
            _update_statement(entity, names).run(connection, [_keyed_values(row) for row in rows])
        else:
            written = (*_key_columns(entity), *names)
            changes = [{name: values[name] for name in written} for values in map(_values, rows)]
            _update_recordset(entity, names).run(connection, changes)

    def change(self, entity: type[SQLModel], *conditions: Any, **values: Any) -> None:
        """Update columns of the rows that meet the conditions; what the session has loaded of them stays as it was."""
        self.execute(sa.update(entity).where(*conditions).values(**values).execution_options(synchronize_session=False))

    def lock(self, entity: type[Entity], row_id: UUID, noun: str) -> Entity:
        """Return a row and hold it until the transaction ends; NotFound, which calls it by `noun`, where none is."""
        table: Any = entity
        query = sa.select(entity).where(table.id == row_id).with_for_update()
        return self.find_scalar(query, otherwise=f"There is no such {noun}")

    def find_row(self, query: Any, *, otherwise: str) -> Any:
        """Return the one row of a query; NotFound with this sentence where there is none."""
        found = self.execute(query).one_or_none()
        if found is None:
            raise NotFound(otherwise)
        return found

    def find_scalar(self, query: sa.Select[T], *, otherwise: str) -> T:
        """Return the one value of a query, or its one record; NotFound with this sentence where there is none."""
        found: T = self.find_row(query, otherwise=otherwise)[0]
        return found

    def count_rows(self, entity: type[SQLModel], *conditions: Any) -> int:
        """Return the number of rows that meet the conditions."""
        query = sa.select(sa.func.count()).select_from(entity).where(*conditions)
        return int(self.execute(query).scalar_one())

    def count_and_sum(self, amount: Any, *conditions: Any) -> tuple[int, int]:
        """Return the number of rows that meet the conditions, and the sum of a column of theirs."""
        rows, total = self.execute(sa.select(sa.func.count(), sum_of(amount)).where(*conditions)).one()
        return int(rows), int(total)

    def purge(self, entity: type[SQLModel], *, before: datetime, most: int) -> None:
        """Delete at most this many rows created before an instant, of every distributor; locked rows are skipped."""
        _purge_statement(entity).run(connection_of(self), {"before": before, "most": most})

    def end_reading(self) -> None:
        """End a read transaction together with the queries that are pending; nothing else may be read in it."""
        end_reading(connection_of(self))

    def next_in_transaction(self, series: str) -> int:
        """The next number of a series without gaps; others wait until this transaction ends."""
        return _count_up(connection_of(self), series)

    def next_number(self, series: str, count: int = 1) -> int:
        """The next number of a series, unique but possibly with gaps after a failed transaction.

        With a count that many are taken, and the first of them is returned.

        On PostgreSQL it is counted on another connection, or all sales of an insurer would wait for each other's
        commit, and without waiting for the disk: a committed sale stores its number itself.
        """
        counter_engine: sa.Engine | None = self.info.get(COUNTER_ENGINE)
        if counter_engine is None:
            return _count_up(connection_of(self), series, count) - count + 1
        with counter_engine.connect() as connection:
            return _count_up(connection, series, count) - count + 1

    def be_awaited(self, name: str) -> None:
        """Let other transactions wait by this name for the end of this one; PostgreSQL alone."""
        execute(connection_of(self), "SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))", (name,))

    def wait_for(self, name: str) -> None:
        """Wait for the end of the transaction that is awaited by this name, as long as a statement may take.

        The database knows of it: where that one waits for this one, by whatever other, one of them gives way.
        """
        connection = connection_of(self)
        execute(connection, "SET LOCAL lock_timeout = 0")
        execute(connection, "SELECT pg_advisory_xact_lock_shared(hashtextextended(%s, 0))", (name,))
        execute(connection, "SET LOCAL lock_timeout TO DEFAULT")
        flush(connection)

    def _admit(self, row: SQLModel) -> None:
        if isinstance(row, Owned) and not self.scope.admits(row):
            raise ScopeViolation(f"a row of {type(row).__name__} lies outside the scope")


def connection_of(session: ScopedSession) -> sa.Connection:
    """The session's connection, for this package. Cached: Session.connection() is slow on hot paths."""
    if session._connection is None:  # noqa: SLF001 the session is this module's, here and below
        session._connection = session.connection()  # noqa: SLF001
    return session._connection  # noqa: SLF001


def use_connection(session: ScopedSession, connection: sa.Connection) -> None:
    """Give a session the connection whose transaction it takes part in."""
    session._connection = connection  # noqa: SLF001


def _add_to_rollups(
    connection: sa.Connection, *rows: SQLModel, changed: Iterable[Any] = (), is_together: bool = False
) -> None:
    # Imported on first use: the roll-ups need most of the tables, which a process that only reads does without.
    from core.store.rollups import daily_rollup, day_totals  # noqa: PLC0415

    daily_rollup.add_rows(connection, *rows, changed=changed, part=day_totals.PARTS if is_together else None)


def _values(row: SQLModel) -> Mapping[str, Any]:
    if (complete := values_to_insert(row)) is not None:
        return complete
    attributes = vars(row)
    return {name: attributes[name] if name in attributes else getattr(row, name) for name in _columns(type(row))}


def _keyed_values(row: SQLModel) -> dict[str, Any]:
    """Return the values of a row, and those of its primary key under the names of an UPDATE's conditions."""
    values = dict(_values(row))
    return values | {f"{_AT}{name}": values[name] for name in _key_columns(entity_of(row))}


@cache
def _key_columns(entity: type[SQLModel]) -> tuple[str, ...]:
    return tuple(column.key for column in table_of(entity).primary_key)


@cache
def _columns(entity: type[SQLModel]) -> tuple[str, ...]:
    return tuple(column.key for column in table_of(entity).columns)


@cache
def _insert_statement(entity: type[SQLModel]) -> CompiledWrite:
    return CompiledWrite(lambda dialect: dialect.insert(table_of(entity)))


@cache
def _insert_if_absent_statement(entity: type[SQLModel]) -> CompiledWrite:
    return CompiledWrite(lambda dialect: dialect.insert(table_of(entity)).on_conflict_do_nothing())


@cache
def _update_statement(entity: type[SQLModel], names: tuple[str, ...]) -> CompiledWrite:
    table = table_of(entity)
    keys = [column == sa.bindparam(f"{_AT}{column.key}", type_=column.type) for column in table.primary_key]
    fields = {name: sa.bindparam(name, type_=table.c[name].type) for name in names}
    return CompiledWrite(
        lambda _: sa.update(table).where(*keys).values({table.c[n]: bound for n, bound in fields.items()})
    )


@cache
def _copy(entity: type[SQLModel]) -> CopyWrite:
    return CopyWrite(table_of(entity))


@cache
def _insert_absent_recordset(entity: type[SQLModel]) -> RecordsetWrite:
    return RecordsetWrite(table_of(entity))


@cache
def _update_recordset(entity: type[SQLModel], names: tuple[str, ...]) -> RecordsetWrite:
    return RecordsetWrite(table_of(entity), updates=names)


@cache
def _purge_statement(entity: type[SQLModel]) -> CompiledWrite:
    table = table_of(entity)
    age, most = table.c.created_at, sa.bindparam("most", type_=sa.Integer())
    old = sa.select(*table.primary_key).where(age < sa.bindparam("before", type_=age.type)).order_by(age)
    old = old.limit(most).with_for_update(skip_locked=True)
    return CompiledWrite(lambda _: sa.delete(table).where(sa.tuple_(*table.primary_key).in_(old)))


def _build_counter_statement(dialect: Any) -> Any:
    counter = table_of(tables.NumberCounter)
    return add_up(dialect.insert(counter), ["series"], ["last"]).returning(counter.c.last)


_COUNTER_STATEMENT = CompiledWrite(_build_counter_statement)


def _count_up(connection: sa.Connection, series: str, by: int = 1) -> int:
    ((number,),) = _COUNTER_STATEMENT.run(connection, {"series": series, "last": by}).rows
    return int(number)


def _touches_owned(statement: Any) -> bool:
    if isinstance(statement, sa.TextClause):
        return True
    tables = find_tables(statement, include_crud=True, include_selects=True, include_joins=True)
    return bool(owned_tables() & set(tables))


def owned_entities() -> list[type[SQLModel]]:
    """All table classes whose rows belong to a distributor."""
    tables.metadata()
    registry: orm.registry = SQLModel._sa_registry  # noqa: SLF001 it has no public name
    return [mapper.class_ for mapper in registry.mappers if issubclass(mapper.class_, Owned)]


@cache
def owned_tables() -> frozenset[Any]:
    """The tables of the owned entities."""
    return frozenset(table_of(entity) for entity in owned_entities())


@event.listens_for(ScopedSession, "do_orm_execute")
def _add_scope(state: orm.ORMExecuteState) -> None:
    scope = state.session.scope  # type: ignore[attr-defined]
    if scope.unlimited:
        return
    if not state.is_orm_statement and _touches_owned(state.statement):
        raise ScopeViolation("a statement on owned tables must go through their entities")
    if state.is_insert:
        raise ScopeViolation("rows of a distributor are added to the session, not inserted past it")
    state.statement = state.statement.options(*scope_filters(scope))


@lru_cache(maxsize=1024)
def scope_filters(scope: Scope) -> tuple[ScopeFilter, ...]:
    """The conditions that a scope adds to every owned entity in a statement, as its one option."""
    distributor: Any = scope.distributor_id
    if isinstance(distributor, UUID):
        distributor = sa.bindparam(None, distributor, type_=sa.Uuid(), unique=True)
    shared = Scope(distributor, scope.is_live)
    return (ScopeFilter({entity: _condition(entity, shared) for entity in owned_entities()}),)


def _condition(entity: Any, scope: Scope) -> sa.ColumnElement[bool]:
    condition: sa.ColumnElement[bool] = entity.is_live == scope.is_live
    if scope.distributor_id is None:
        return condition
    return sa.and_(condition, entity.distributor_id == scope.distributor_id)


@event.listens_for(ScopedSession, "before_flush")
def _check_scope(session: Any, _context: Any, _instances: Any) -> None:
    # Rows are written in the order of their foreign keys, for which every table has to be declared.
    tables.metadata()
    for row in (*session.new, *session.dirty, *session.deleted):
        session._admit(row)  # noqa: SLF001 the session is this module's


@event.listens_for(ScopedSession, "after_flush")
def _update_rollups(session: Any, _context: Any) -> None:
    if session.new or session.dirty:
        _add_to_rollups(session.connection(), *session.new, changed=session.dirty)
