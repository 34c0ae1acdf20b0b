"""Column shapes that every table shares: ids, instants, JSON, and the owner of a row."""

import re
from datetime import datetime
from functools import cache
from typing import Any, Self
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.orm import declared_attr
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
# Of what one person proposes and another decides.
PROPOSAL_STATES = ("open", "confirmed", "refused", "withdrawn")


def json_field(default: Any = dict) -> Any:
    """A JSON column; `default` makes its empty value."""
    return Field(default_factory=default, sa_type=sa.JSON, nullable=False)


def minor_field() -> Any:
    """An amount in integer kobo."""
    return Field(sa_type=sa.BigInteger, nullable=False)


class Row(SQLModel):
    """Base of all tables: a row has the given fields, and the defaults of the others."""

    @declared_attr  # type: ignore[arg-type]
    def __tablename__(cls) -> str:  # noqa: N805 - SQLAlchemy asks the class
        """Return the name of the class in words: `BankAccount` is `bank_account`."""
        return re.sub(r"(?<=[a-z])(?=[A-Z])", "_", cls.__name__).lower()

    def __init__(self, **values: Any) -> None:
        """Rows are made of values that were checked before; asking each field again costs more than inserting it."""
        self._fill(values)

    @classmethod
    def to_insert(cls, **values: Any) -> Self:
        """Make a row for `insert` and `update_many` of a session, which track nothing: it cannot be added to one.

        What a session needs to track a row costs several times its values. TypeError for a field that is none.
        """
        row: Self = object.__new__(_untracked(cls))
        vars(row).update(_complete(cls, values))
        return row

    def __setattr__(self, name: str, value: Any) -> None:
        """Set a field; no session is told of a row that none can track."""
        held = vars(self)
        if "_sa_instance_state" in held:
            super().__setattr__(name, value)
        else:
            held[name] = value

    def _fill(self, values: dict[str, Any]) -> None:
        vars(self).update(_complete(type(self), values))
        object.__setattr__(self, "__pydantic_fields_set__", set(values))


def table_of(entity: type[SQLModel]) -> sa.Table:
    """The table of a class."""
    table: sa.Table = sa.inspect(entity).local_table
    return table


def entity_of(row: SQLModel) -> type[SQLModel]:
    """The table class of a row, also of one that was made `to_insert`."""
    return _TABLES.get(type(row), type(row))


def values_to_insert(row: SQLModel) -> dict[str, Any] | None:
    """All values of a row that was made `to_insert`, by column; None for a row that a session may track."""
    return vars(row) if type(row) in _TABLES else None


class _Unset:
    """A field of a row that was made without it."""

    def __get__(self, row: Any, _: Any) -> Any:
        raise AttributeError


_TABLES: dict[type, type[SQLModel]] = {}


@cache
def _untracked(entity: Any) -> Any:
    """A class like that of a table, whose fields are plain attributes: those of SQLAlchemy ask who tracks the row."""
    plain: dict[str, Any] = {
        **dict.fromkeys(entity.model_fields, _Unset()),
        **dict.fromkeys(("__pydantic_private__", "__pydantic_extra__")),
        "__module__": entity.__module__,
        "__pydantic_fields_set__": frozenset(),
        "__setattr__": object.__setattr__,
    }
    # Past SQLModel, which would map it to the table once more.
    made = type.__new__(type(entity), entity.__name__, (entity,), plain)
    _TABLES[made] = entity
    return made


def _complete(entity: type[SQLModel], values: dict[str, Any]) -> dict[str, Any]:
    """Add the defaults of fields that are not given."""
    constants, made = _defaults(entity, tuple(values))
    return {**constants, **values, **{name: make() for name, make in made}}


@cache
def _defaults(entity: type[SQLModel], given: tuple[str, ...]) -> tuple[dict[str, Any], list[tuple[str, Any]]]:
    """The constant defaults of the fields that are not given, and the functions that make the others' values."""
    fields = entity.model_fields
    if unknown := set(given) - fields.keys():
        raise TypeError(f"{entity.__name__} has no {', '.join(sorted(unknown))}")
    missing = {name: field for name, field in fields.items() if name not in given and not field.is_required()}
    constants = {name: field.default for name, field in missing.items() if field.default_factory is None}
    return constants, [(n, field.default_factory) for n, field in missing.items() if field.default_factory is not None]


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


class Amounts(Row):
    """A premium in kobo with both commissions; what remains is the insurer's share."""

    total_minor: int = minor_field()
    mca_profit_minor: int = minor_field()
    distributor_profit_minor: int = minor_field()


class OfSale(Row):
    """Customer, product at its version, and insurer of a sale."""

    customer_id: UUID = Field(foreign_key="customer.id")
    product_id: UUID = Field(foreign_key="product.id")
    product_version_id: UUID = Field(foreign_key="product_version.id")
    product_category_id: UUID = Field(foreign_key="product_category.id")
    provider_id: UUID = Field(foreign_key="provider.id")


class Proposed(Row):
    """A proposal of one person that another decides, once; its constraints are `proposal_checks`."""

    proposed_by: UUID = Field(foreign_key="staff.id")
    proposed_at: datetime
    state: str = Field(default="open", max_length=10)
    decided_by: UUID | None = Field(default=None, foreign_key="staff.id")
    decided_at: datetime | None = None


def one_of(column: str, values: tuple[str, ...], name: str) -> sa.CheckConstraint:
    """A check that a text column holds one of a few words."""
    words = ", ".join(f"'{value}'" for value in values)
    return sa.CheckConstraint(f"{column} IN ({words})", name=name)


def proposal_checks(decided: str = "(state = 'open') = (decided_at IS NULL)") -> tuple[sa.CheckConstraint, ...]:
    """The checks of a table of proposals: a decided one says when, and is not judged by who proposed it.

    Taking one's own proposal back is no judgement. A table with rows that nobody proposed has another `decided`.
    """
    return (
        one_of("state", PROPOSAL_STATES, "state"),
        sa.CheckConstraint(decided, name="decided"),
        sa.CheckConstraint("state NOT IN ('confirmed', 'refused') OR decided_by <> proposed_by", name="two_people"),
    )


def index_where(where: sa.TextClause, name: str, *columns: Any, unique: bool = False) -> sa.Index:
    """An index of the rows that meet a condition, on both databases."""
    return sa.Index(name, *columns, unique=unique, sqlite_where=where, postgresql_where=where)


def one_open(table: str, column: str) -> sa.Index:
    """The index by which a value of a column has one open proposal at the most."""
    return index_where(sa.text("state = 'open'"), f"ix_{table}_open", column, unique=True)
