"""A list's filters, declared once.

A subclass of `Filter` names the tables that it narrows and gives each field its kind, label and condition:

    class PurchaseFilter(Filter, on=(Purchase,)):
        provider_ids: Ids = of(Members, label="Insurer", column="provider_id", address="provider", api="provider_id")

From that follow the API's query parameters, the address, the options of `coverdesk export`, the words of receipts, the
widgets, the SQL conditions, the key of a compiled statement and whether a roll-up can answer. A declaration that cannot
work raises TypeError when it is imported.
"""

import dataclasses
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from functools import lru_cache
from typing import Any, ClassVar, Generic, ParamSpec, Self, TypeVar, cast, dataclass_transform
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import UTCDateTime, col

from core import clock
from core.errors import FieldFault, raise_faults
from core.services.lists.filters import fields
from core.services.lists.filters.fields import Address, Condition, Field, Parameter
from core.services.lists.windows import Span
from core.states.policies import PolicyStage
from core.store.access import AnySelect
from core.store.expressions import matches
from core.store.schema.tables import Policy

P = ParamSpec("P")
Ids = tuple[UUID, ...]
_FIELD, _TIME = "filter", "created"
# What else stands in the address of a list or is an option of its export, and in a query of the API.
RESERVED_IN_ADDRESS = frozenset({"columns", "order", "form", "mode", "format", "out", "receipt", "show", "page"})
RESERVED_IN_API = frozenset({"page", "limit", "timezone"})


def of(kind: Callable[P, Field], *given: P.args, **named: P.kwargs) -> Any:
    """Return the class attribute that declares a field of a kind, which takes the arguments."""
    field = kind(*given, **named)
    return dataclasses.field(default=field.default, metadata={_FIELD: field})


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Filter:
    """Base of every list's filters: a frozen dataclass; a field that narrows nothing has its kind's default.

    `JOINED` are the tables that the list's query joins for a field.
    """

    FIELDS: ClassVar[Mapping[str, Field]] = {}
    TABLES: ClassVar[tuple[Any, ...]] = ()
    JOINED: ClassVar[tuple[Any, ...]] = ()

    def __init_subclass__(cls, *, on: tuple[Any, ...]) -> None:
        super().__init_subclass__()
        for name in cls.__annotations__:
            if _FIELD not in getattr(cls.__dict__.get(name), "metadata", {}):
                raise TypeError(f"{cls.__name__}.{name} is no declared field")
        dataclass(frozen=True, kw_only=True)(cls)
        declared: Any = cls.__dataclass_fields__  # type: ignore[attr-defined]
        cls.FIELDS = {name: found.metadata[_FIELD] for name, found in declared.items()}
        cls.TABLES = on
        _check(cls)

    @classmethod
    def redeclare(cls, name: str, **differences: Any) -> Any:
        """Declare a field of this class again for a subclass that offers it differently."""
        return of(replace, cls.FIELDS[name], **differences)

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the parameters of its address, in order."""
        return tuple(parameter for field in cls.FIELDS.values() for parameter in field.parameters)

    @classmethod
    def read(cls, address: Address) -> Self:
        """Return the filter of an address; InvalidInput names every parameter that is invalid."""
        faults: list[FieldFault] = []
        offered = {name: field for name, field in cls.FIELDS.items() if field.address}
        values = {name: fields.collect(faults, field.parse, address) for name, field in offered.items()}
        raise_faults(faults)
        return cls(**values)

    def address(self) -> dict[str, list[str]]:
        """Return the parameters that give this filter again, in order; those not in use are left out."""
        found: dict[str, list[str]] = {}
        for _, field, value in self.in_use():
            if field.address:
                found |= field.write(value)
        return found

    def in_use(self) -> Iterator[tuple[str, Field, Any]]:
        """Yield name, field and value of each field that narrows the list."""
        for name, field in self.FIELDS.items():
            value = getattr(self, name)
            # A bind parameter has no truth value.
            if value is not None and not (isinstance(value, str | tuple | Span) and not value):
                yield name, field, value

    def conditions(self, table: Any) -> list[Condition]:
        """Return the SQL conditions on a table of records."""
        return [each for _, field, value in self.in_use() for each in field.conditions(table, value)]

    def product_conditions(self, table: Any) -> list[Condition]:
        """Return the conditions, but for time, on a table with product and distributor; products imply the rest."""
        used = [(field, value) for name, field, value in self.in_use() if name != _TIME]
        return [each for field, value in used for each in field.product_conditions(table, value)]

    def joins(self, table: Any) -> bool:
        """Return True if a condition reads a table that the records' query has to join."""
        return any(field.join is table for _, field, _ in self.in_use())

    @property
    def scans(self) -> bool:
        """True when a text is looked for that no index finds at once."""
        return any(field.scans for _, field, _ in self.in_use())

    def is_answered_by(self, rollup: Any) -> bool:
        """Return True if nothing but time and what a roll-up holds narrows the list."""
        return all(name == _TIME or field.is_held_by(rollup) for name, field, _ in self.in_use())

    def anytime(self) -> Self:
        """Return the same filter of all time."""
        return _replace(self, created=Span())


def _check(declared: type[Filter]) -> None:
    for name, field in declared.FIELDS.items():
        if fault := _find_fault(declared, field):
            raise TypeError(f"{declared.__name__}.{name} {fault}")
    _refuse_names([parameter.name for parameter in declared.parameters()], RESERVED_IN_ADDRESS, declared)
    _refuse_names([name for field in declared.FIELDS.values() for name in field.api_names], RESERVED_IN_API, declared)


def _find_fault(declared: type[Filter], field: Field) -> str:
    """Say why a field cannot work, if so; a table that no query joins would multiply the rows and their sums."""
    missing = [
        table.__name__
        for table in declared.TABLES
        if isinstance(field.column, str) and not hasattr(table, field.column)
    ]
    if missing:
        return f"compares {field.column}, and {missing[0]} has no column of this name"
    if field.join is not None and field.join not in (*declared.TABLES, *declared.JOINED):
        return (
            f"reads {field.join.__name__}, which the list does not join: its column must be a function with a subquery"
        )
    if field.address and not all(parameter.title for parameter in field.parameters):
        return "is offered without a label"
    if isinstance(field, fields.Words | fields.Word) and not field.options:
        return "has no words to choose from"
    return ""


def _refuse_names(names: list[str], reserved: frozenset[str], declared: type[Filter]) -> None:
    if twice := {name for name in names if names.count(name) > 1}:
        raise TypeError(f"{declared.__name__} has two fields named {min(twice)}")
    if taken := reserved.intersection(names):
        raise TypeError(f"{declared.__name__} has a field named {min(taken)}, which every list has already")


F = TypeVar("F", bound=Filter)


def _replace(criteria: F, **changes: Any) -> F:
    found: Any = criteria
    return cast(F, replace(found, **changes))


@dataclass(frozen=True, slots=True)
class Parameterised(Generic[F]):
    """A filter whose values are bind parameters, with those values.

    Filters with equal keys share a compiled statement: they use the same fields, with equal values where a field takes
    no parameter.
    """

    criteria: F
    values: Mapping[str, Any]
    key: tuple[Any, ...]


@lru_cache(maxsize=1024)
def parameterise(criteria: F) -> Parameterised[F]:
    """Replace the values of a filter by bind parameters, for a statement that is compiled once."""
    values: dict[str, Any] = {}
    marks: dict[str, Any] = {}
    key: list[Any] = [type(criteria)]
    for name, field, value in criteria.in_use():
        type_ = field.bind_type(criteria.TABLES[0])
        if type_ is None:
            key.append((name, value))
        else:
            marks[name], bound = field.bind(name, value, type_)
            values |= bound
            key += bound
    return Parameterised(_replace(criteria, **marks), values, tuple(key))


def in_force() -> sa.ColumnElement[bool]:
    """Return the condition of a policy in force: activated, not cancelled, declined or expired (contract S11)."""
    return sa.and_(
        col(Policy.activated),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        sa.or_(col(Policy.expiration_at).is_(None), col(Policy.expiration_at) > _time_parameter(clock.now)),
    )


def policy_stage() -> Any:
    """Return the expression of a policy's stage, as `policies.policies.get_stage` tells that of one policy."""
    ahead = col(Policy.start_at) > _time_parameter(clock.latest_start)
    ended = col(Policy.expiration_at) <= _time_parameter(clock.now)
    return sa.case(
        (col(Policy.cancelled_at).is_not(None), _stage_literal(PolicyStage.CANCELLED)),
        (col(Policy.declined_at).is_not(None), _stage_literal(PolicyStage.DECLINED)),
        (col(Policy.activated).is_(False), _stage_literal(PolicyStage.PENDING)),
        (ended, _stage_literal(PolicyStage.EXPIRED)),
        (ahead, _stage_literal(PolicyStage.NOT_STARTED)),
        else_=_stage_literal(PolicyStage.IN_FORCE),
    )


def _time_parameter(read: Callable[[], datetime]) -> Any:
    # Evaluated when the statement is executed, not when it is built.
    return sa.bindparam(None, callable_=read, type_=UTCDateTime())


def _stage_literal(stage: PolicyStage) -> Any:
    return sa.literal_column(f"'{stage}'", sa.String)


def found_by_any(key: Any, build_queries: Callable[[str], Iterable[AnySelect]]) -> Callable[[Any, str], Condition]:
    """Return the condition of a search that a record meets by any of the queries of keys which its text asks for."""

    def condition(_: Any, text: str) -> Condition:
        queries = (query.correlate(None) for query in build_queries(" ".join(text.split())))
        is_found: Condition = key.in_(sa.union_all(*queries))
        return is_found

    return condition


def mentions(column: Any, text: str) -> sa.ColumnElement[bool]:
    """Return the condition that a column contains a text, ignoring case."""
    if text.isascii():
        return matches(column, containing(text))
    return sa.func.lower(column).like(containing(text), escape="\\")


def has_part(key: Any, part: str) -> sa.ColumnElement[bool]:
    """Like `mentions`, for a key that is kept in one case and a part in the same: ILIKE takes five times as long."""
    return sa.type_coerce(key, sa.String).like(_surround(part), escape="\\")


def list_around(part: str, ending: str) -> tuple[str, str]:
    """Return the LIKE patterns of a part in a line before and after one with an ending, escaped with a backslash."""
    return f"{_surround(part)}\n%{ending}\n%", f"%{ending}\n{_surround(part)}"


def walk(column: Any, condition: sa.ColumnElement[bool]) -> AnySelect:
    """Return the query of the ids of a table by a condition on one column, whose index is walked and not the rows."""
    return look_up(column, sa.and_(col(column) > "", condition))


def look_up(column: Any, condition: sa.ColumnElement[bool]) -> AnySelect:
    """Return the query of the ids of a table by a condition on one column, found in the index of that column.

    Left to itself, SQLite looks at every row of the mode or the distributor: ten times as long.
    """
    table = column.class_
    return (
        sa.select(col(table.id))
        .where(condition)
        .with_hint(table, f"INDEXED BY ix_{table.__tablename__}_{column.key}", "sqlite")
    )


def containing(text: str) -> str:
    """Return a lower-case LIKE pattern (escaped with a backslash) that matches the text anywhere."""
    return _surround(text.lower())


def _surround(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
