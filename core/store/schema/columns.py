"""Column shapes that every table shares: ids, instants, JSON, and the owner of a row."""

from datetime import datetime
from functools import cache
from typing import Any, Self
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import Field, SQLModel

from core import clock, ids

SQLModel.metadata.naming_convention = {
    "ix": "ix_%(table_name)s_%(column_0_N_name)s",
    "uq": "uq_%(table_name)s_%(column_0_N_name)s",
    "ck": "ck_%(table_name)s_%(constraint_name)s",
    "fk": "fk_%(table_name)s_%(column_0_N_name)s",
    "pk": "pk_%(table_name)s",
}


# In the `info` of an index that one of the databases has and the other has not.
ONE_DATABASE = "one_database"


def json_field(default: Any = dict) -> Any:
    """A JSON column; `default` makes its empty value."""
    return Field(default_factory=default, sa_type=sa.JSON, nullable=False)


def minor_field() -> Any:
    """An amount in integer kobo."""
    return Field(sa_type=sa.BigInteger, nullable=False)


class Row(SQLModel):
    """Base of all tables: a row has the given fields, and the defaults of the others."""

    def __init__(self, **values: Any) -> None:
        """Rows are made of values that were checked before; asking each field again costs more than inserting it."""
        self._fill(values)

    @classmethod
    def to_insert(cls, **values: Any) -> Self:
        """Make a row for `ScopedSession.insert`, which tracks nothing: it cannot be added to a session.

        What a session needs to track a row costs as much as its values.
        """
        row = cls.__new__(cls)
        Row._fill(row, values)
        return row

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field; no session is told of a row that none can track."""
        held = vars(self)
        if "_sa_instance_state" in held:
            super().__setattr__(name, value)
        else:
            held[name] = value

    def _fill(self, values: dict[str, Any]) -> None:
        constants, made, names = _defaults(type(self))
        if not values.keys() <= names:
            raise TypeError(f"{type(self).__name__} has no {', '.join(sorted(values.keys() - names))}")
        held = vars(self)
        held.update(constants)
        for name, make in made:
            if name not in values:
                held[name] = make()
        held.update(values)
        object.__setattr__(self, "__pydantic_fields_set__", set(values))


@cache
def _defaults(entity: type[SQLModel]) -> tuple[dict[str, Any], list[tuple[str, Any]], frozenset[str]]:
    """The constant defaults of a table's fields, the functions that make the others, and every name."""
    fields = entity.model_fields
    constants = {n: f.default for n, f in fields.items() if not f.is_required() and f.default_factory is None}
    made = [(n, f.default_factory) for n, f in fields.items() if f.default_factory is not None]
    return constants, made, frozenset(fields)


class Record(Row):
    """A row with an id of its own and the times of its life, all UTC."""

    id: UUID = Field(default_factory=ids.new, primary_key=True)
    created_at: datetime = Field(default_factory=clock.now)
    updated_at: datetime = Field(default_factory=clock.now)
    deleted_at: datetime | None = None


class Owned(Row):
    """A row of one distributor in one mode: the store shows it to nobody else (contract M1, M2)."""

    distributor_id: UUID = Field(foreign_key="distributor.id")
    is_live: bool


def one_of(column: str, values: tuple[str, ...], name: str) -> sa.CheckConstraint:
    """A check that a text column holds one of a few words."""
    words = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({words})", name=name)
