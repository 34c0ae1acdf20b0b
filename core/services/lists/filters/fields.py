"""Kinds of filter fields: how each is read from an address, written to it, compared with a column and bound."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from typing import Any, ClassVar, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col
from sqlmodel.sql.sqltypes import UTCDateTime

from core import clock, ids, money
from core.errors import FieldFault, InvalidInput
from core.services.lists.filters import parsing
from core.services.lists.filters.field import Condition, Field, Parameter
from core.services.lists.filters.parsing import Address
from core.services.lists.windows import Span, open_dates, open_days

NAMED = "A name, an id or a segment such as insurer-a; repeat it for any of several."
LONGEST = parsing.LONGEST


@dataclass(frozen=True, kw_only=True)
class Days(Field):
    """A range of days, both included: of Lagos, or with `dated` of values dated by day alone (contract S8).

    `address` is "from to", both names; so are `api` and, where they differ, the labels of `screen` around a bar.
    `help` completes "First day of ...".
    """

    default: ClassVar[Any] = Span()
    dated: bool = False
    months_ahead: int = 0

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The first and the last day."""
        what = f" of {self.help}" if self.help else ""
        where = "" if what else " in Lagos"
        titles = (f"{self.label} from", f"{self.label} to") if self.label else ("From", "To")
        helps = (f"First day{what}, YYYY-MM-DD{where}.", f"Last day{what}, that day included.")
        given = zip(self.address.split(), titles, helps, strict=False)
        return tuple(Parameter(*each) for each in given)

    @property
    def api_names(self) -> tuple[str, ...]:
        """The first and the last moment."""
        return tuple(self.api.split())

    def parse(self, address: Address) -> Span:
        """Return the span of the days; either may be left open."""
        return (open_dates if self.dated else open_days)(*parsing.days(address, *self.address.split()))

    def days(self, value: Span) -> tuple[date | None, date | None]:
        """Return the first and the last day of a span, both included."""
        first, after = ((at.date() if self.dated else clock.to_lagos_day(at)) if at else None for at in value.ends)
        return first, after and after - timedelta(days=1)

    def write(self, value: Span) -> dict[str, list[str]]:
        """Return the days."""
        return {name: [str(day)] for name, day in zip(self.address.split(), self.days(value), strict=True) if day}

    def from_api(self, value: Any) -> Any:
        """Return the span, which the API makes itself (contract P4)."""
        return value

    def compare(self, column: Any, value: Span) -> list[Condition]:
        """Return the conditions of the ends that are not open."""
        return value.on(column)

    def bind(self, name: str, value: Span, type_: Any) -> tuple[Any, dict[str, Any]]:
        """Bind the ends that are not open."""
        ends = {f"{name}_{side}": at for side, at in zip(("from", "until"), value.ends, strict=True)}
        marks: Any = [None if at is None else sa.bindparam(key, type_=UTCDateTime()) for key, at in ends.items()]
        return Span(*marks), {key: at for key, at in ends.items() if at is not None}


@dataclass(frozen=True, kw_only=True)
class Members(Field):
    """Ids of records, any of which; `names` says of what, `through` is the product's column that implies this one."""

    default: ClassVar[Any] = ()
    many: ClassVar[bool] = True
    through: Any = None

    def parse(self, address: Address) -> tuple[UUID, ...]:
        """Return every different id."""
        faults: list[FieldFault] = []
        given = parsing.texts(address, self.address)
        found = [parsing.collect(faults, ids.parse, value, self.address) for value in given]
        if faults:
            raise InvalidInput(faults)
        return tuple(dict.fromkeys(key for key in found if key))

    def is_held_by(self, rollup: Any) -> bool:
        """Return True for a column of the roll-up, or one that its product implies."""
        return hasattr(rollup, self.column) or (self.through is not None and hasattr(rollup, "product_id"))

    def product_conditions(self, table: Any, value: Any) -> list[Condition]:
        """Return the condition on the products that imply the value, if they do."""
        if self.through is None:
            return self.conditions(table, value)
        product = self.through.class_
        return [col(table.product_id).in_(sa.select(col(product.id)).where(*self.compare(col(self.through), value)))]


@dataclass(frozen=True, kw_only=True)
class Member(Field):
    """One id, or one of the words in `also`; `what` it is called in an error."""

    also: tuple[str, ...] = ()
    what: str = "id"

    def parse(self, address: Address) -> UUID | str | None:
        """Return the id or the word."""
        given = parsing.text(address, self.address, self.what)
        return given if given is None or given in self.also else ids.parse(given, self.address)


@dataclass(frozen=True, kw_only=True)
class Text(Field):
    """One text; `normalise` makes of it what is compared. `check` returns it as it is searched, and raises for what
    cannot be.

    Its widget is a search field where it `searches`; a phone number in a query string may have lost its plus.
    """

    what: str = "text"
    placeholder: str | None = None
    longest: int | None = LONGEST
    may_begin_with_plus: bool = False
    searches: bool = False
    normalise: Callable[[str], str] = str
    check: Callable[[str], Any] | None = None

    @property
    def scans(self) -> bool:
        """True for a search."""
        return self.searches

    def parse(self, address: Address) -> str | None:
        """Return the text."""
        found = parsing.text(address, self.address, self.what)
        if found and self.check:
            self.check(found)
        return found

    def conditions(self, table: Any, value: Any) -> list[Condition]:
        """Compare the normalised text."""
        return super().conditions(table, self.normalise(value) if isinstance(value, str) else value)

    def bind(self, name: str, value: Any, type_: Any) -> tuple[Any, dict[str, Any]]:
        """Bind the normalised text."""
        return super().bind(name, self.normalise(value), type_)


@dataclass(frozen=True, kw_only=True)
class Texts(Field):
    """Several texts, any of which; `options` are those that are offered, with their labels."""

    default: ClassVar[Any] = ()
    many: ClassVar[bool] = True
    options: Mapping[str, str] = field(default_factory=dict)

    def parse(self, address: Address) -> tuple[str, ...]:
        """Return every different text."""
        return parsing.texts(address, self.address)


@dataclass(frozen=True, kw_only=True)
class Words(Texts):
    """Several words out of `options`, in their spelling and order; case does not matter."""

    def parse(self, address: Address) -> tuple[str, ...]:
        """Return the words."""
        return parsing.words(address, self.address, self.options)


@dataclass(frozen=True, kw_only=True)
class Word(Field):
    """One word out of `options`; the API takes `unlimited` for none, where it has a word for that."""

    options: Mapping[str, str] = field(default_factory=dict)
    unlimited: str = ""

    def parse(self, address: Address) -> str | None:
        """Return the word."""
        return parsing.word(address, self.address, self.options)

    def from_api(self, value: Any) -> Any:
        """Return the word, None for the one that means all."""
        return None if value == self.unlimited else value


@dataclass(frozen=True, kw_only=True)
class Flag(Field):
    """Yes or no: two words with their labels, the first for true (contract P5)."""

    options: Mapping[str, str] = field(default_factory=lambda: {"true": "Yes", "false": "No"})

    def parse(self, address: Address) -> bool | None:
        """Return whether it is the first word."""
        found = parsing.word(address, self.address, self.options)
        return None if found is None else found == next(iter(self.options))

    def word(self, value: bool) -> str:  # noqa: FBT001 - the value of a filter
        """Return the word of a value."""
        return tuple(self.options)[not value]

    def write(self, value: Any) -> dict[str, list[str]]:
        """Return the word."""
        return {self.address: [self.word(value)]}

    def compare(self, column: Any, value: Any) -> list[Condition]:
        """Return the condition."""
        return [column.is_(value)]

    def bind_type(self, table: Any) -> Any:
        """Return None: IS takes no parameter."""
        return None


@dataclass(frozen=True, kw_only=True)
class Naira(Field):
    """An amount in naira, compared in kobo: thousands may be marked, two decimals at most.

    `bound` "least" or "most" makes it one end of a range, the amount included.
    """

    bound: Literal["equal", "least", "most"] = "equal"

    def parse(self, address: Address) -> Decimal | None:
        """Return the amount."""
        return parsing.naira(address, self.address)

    def write(self, value: Any) -> dict[str, list[str]]:
        """Return the amount in digits."""
        return {self.address: [f"{value:f}"]}

    def compare(self, column: Any, value: Any) -> list[Condition]:
        """Return the condition in kobo."""
        minor = money.to_minor(value)
        return [{"equal": column == minor, "least": column >= minor, "most": column <= minor}[self.bound]]

    def bind_type(self, table: Any) -> Any:
        """Return None: the amount is converted as it is compared."""
        return None
