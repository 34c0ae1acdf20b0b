"""One field of a filter: its names, its words, how a value is compared with a column and bound as a parameter.

`column` is the name of a column of the record, a column of a table that queries join (`Policy.expiration_at`), or a
function of the table and the value that returns a condition; None leaves the condition to the list's own query.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar, Literal

import sqlalchemy as sa
from sqlmodel import col

from core.services.lists.filters.parsing import Address

Condition = sa.ColumnElement[bool]
Place = Literal["grid", "search", "more", "none"]


@dataclass(frozen=True)
class Parameter:
    """One parameter of an address, a command and a receipt.

    `names` says which records its ids refer to, `words` maps values to display texts: "true" -> "took effect".
    """

    name: str
    title: str
    help: str = ""
    many: bool = False
    names: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Field:
    """One filter of a list.

    `address` is its name in links, exports and commands, `api` its query parameter; without a name it is not offered
    there. `label` stands in receipts and, unless `screen` differs, beside its widget at `place`. `joins` is the table
    that a condition function reads beside the record's.
    """

    default: ClassVar[Any] = None
    many: ClassVar[bool] = False

    label: str = ""
    column: Any = None
    address: str = ""
    api: str = ""
    help: str = ""
    screen: str = ""
    anything: str = "All"
    place: Place = "grid"
    joins: Any = None
    bound_as: Any = None
    names: str | None = None
    words: Mapping[str, str] = field(default_factory=dict)

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of the address."""
        one = Parameter(self.address, self.label, self.help, many=self.many, names=self.names, words=self.words)
        return (one,) if self.address else ()

    @property
    def api_names(self) -> tuple[str, ...]:
        """The parameters of the API."""
        return (self.api,) if self.api else ()

    @property
    def beside_widget(self) -> str:
        """The label beside its widget."""
        return self.screen or self.label

    @property
    def scans(self) -> bool:
        """True when many rows may be looked at for one value, as no index has what is compared."""
        return False

    @property
    def join(self) -> Any:
        """The table that a query has to join for this field, None where it reads the record alone."""
        return self.joins or getattr(self.column, "class_", None)

    def parse(self, address: Address) -> Any:
        """Return the value that an address gives; InvalidInput names every parameter that is invalid."""
        raise NotImplementedError

    def write(self, value: Any) -> dict[str, list[str]]:
        """Return the parameters of a value that is in use."""
        return {self.address: [str(each) for each in (value if self.many else (value,))]}

    def from_api(self, value: Any) -> Any:
        """Return the value of the API's parameter, which never holds several."""
        return (value,) if self.many else value

    def conditions(self, table: Any, value: Any) -> list[Condition]:
        """Return the conditions of a value that is in use, on a table of records."""
        if isinstance(self.column, str):
            return self.compare(col(getattr(table, self.column)), value)
        if hasattr(self.column, "class_"):
            return self.compare(col(self.column), value)
        return [] if self.column is None else [self.column(table, value)]

    def product_conditions(self, table: Any, value: Any) -> list[Condition]:
        """Like `conditions`, but by the products that imply the value where there are such: an index has those."""
        return self.conditions(table, value)

    def compare(self, column: Any, value: Any) -> list[Condition]:
        """Return the conditions that a column has the value."""
        return [column.in_(value) if self.many else column == value]

    def is_held_by(self, rollup: Any) -> bool:
        """Return True if a roll-up has what is compared: only ids are copied to it as they are."""
        return False

    def bind_type(self, table: Any) -> Any:
        """Return the SQL type of its bind parameters; None where the value is part of the statement."""
        column = getattr(table, self.column) if isinstance(self.column, str) else self.column
        return self.bound_as or getattr(column, "type", None)

    def bind(self, name: str, value: Any, type_: Any) -> tuple[Any, dict[str, Any]]:
        """Replace a value by bind parameters; returns them, and the values by their names."""
        if not self.many:
            return sa.bindparam(name, type_=type_), {name: value}
        values = {f"{name}_{place}": each for place, each in enumerate(value)}
        return tuple(sa.bindparam(key, type_=type_) for key in values), values
