"""Fields of filters: how each kind is read from an address, written to it, compared with a column and bound.

`column` is the name of a column of the record, a column of a table that queries join (`Policy.expiration_at`), or a
function of the table and the value that returns a condition; None leaves the condition to the list's own query.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from enum import StrEnum
from typing import Any, ClassVar, Literal, TypeVar
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col
from sqlmodel.sql.sqltypes import UTCDateTime

from core import clock, ids, money
from core.errors import FieldFault, InvalidInput, raise_faults
from core.services.lists.dimensions import Dimension
from core.services.lists.windows import EARLIEST, LATEST, Span, open_dates, open_days

T = TypeVar("T")
Address = Mapping[str, Sequence[str]]
LONGEST = 200
_AMOUNT = re.compile(r"[0-9]{1,13}(\.[0-9]{1,2})?")


def collect(faults: list[FieldFault], parse: Callable[..., T], *given: Any) -> T | None:
    """Return what a parser makes of its arguments; its faults are added to the list, and the result is then None."""
    try:
        return parse(*given)
    except InvalidInput as error:
        faults.extend(error.faults)
        return None


def texts(address: Address, name: str) -> tuple[str, ...]:
    """Return every different value of a parameter, without blank ones."""
    given = [value.strip() for value in address.get(name, ())]
    if any(len(value) > LONGEST or not value.isprintable() for value in given):
        raise InvalidInput.for_field(name, f"must be plain text of at most {LONGEST} characters")
    return tuple(dict.fromkeys(value for value in given if value))


def text(address: Address, name: str, what: str = "text") -> str | None:
    """Return the one value of a parameter."""
    given = texts(address, name)
    if len(given) > 1:
        raise InvalidInput.for_field(name, f"must be one {what}")
    return given[0] if given else None


def day(address: Address, name: str) -> date | None:
    """Return a day, given as YYYY-MM-DD."""
    given = texts(address, name)
    try:
        found = date.fromisoformat(given[0]) if given else None
        if len(given) > 1 or (found and (str(found) != given[0] or not EARLIEST <= found < LATEST)):
            raise ValueError
    except ValueError:
        raise InvalidInput.for_field(name, "must be one day that exists, as YYYY-MM-DD") from None
    return found


def days(address: Address, first: str, last: str) -> tuple[date | None, date | None]:
    """Return two days that both count; either may be left open."""
    faults: list[FieldFault] = []
    start, end = (collect(faults, day, address, name) for name in (first, last))
    if start and end and end < start:
        faults.append(FieldFault(last, f"must not be before {first}"))
    raise_faults(faults)
    return start, end


def words(address: Address, name: str, known: Collection[str]) -> tuple[str, ...]:
    """Return words out of a list, in its own spelling and order; case does not matter."""
    given = {value.casefold() for value in texts(address, name)}
    if given - {word.casefold() for word in known}:
        raise InvalidInput.for_field(name, f"must be one of {', '.join(known)}")
    return tuple(word for word in known if word.casefold() in given)


def word(address: Address, name: str, known: Collection[str]) -> str | None:
    """Return one word out of a list."""
    found = words(address, name, known)
    if len(found) > 1:
        raise InvalidInput.for_field(name, f"must be one of {', '.join(known)}")
    return found[0] if found else None


def naira(address: Address, name: str) -> Decimal | None:
    """Return an amount in naira: thousands may be marked, two decimals at most."""
    given = text(address, name, "amount")
    found = parse_naira(given or "")
    if given and found is None:
        raise InvalidInput.for_field(name, "must be an amount in naira, such as 75000 or 75,000.50")
    return found


def parse_naira(typed: str) -> Decimal | None:
    """Return the amount that a text is, "₦75,000.50" or "75000"; None for any other text."""
    bare = typed.replace(",", "").removeprefix("₦")
    return Decimal(bare) if _AMOUNT.fullmatch(bare) else None


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
        help_ = f"{self.help} Repeat it for any of several." if self.help and self.many else self.help
        one = Parameter(self.address, self.label, help_, many=self.many, names=self.names, words=self.words)
        return (one,) if self.address else ()

    @property
    def api_names(self) -> tuple[str, ...]:
        """The parameters of the API."""
        return (self.api,) if self.api else ()

    def describe(self, api_name: str) -> str:
        """Return what the API says of its parameter, which takes one value."""
        return self.help

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
        return [] if self.column is None else [self.derive(table, value)]

    def derive(self, table: Any, value: Any) -> Condition:
        """Return the condition of a column that is a function."""
        found: Condition = self.column(table, value)
        return found

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


NAMED = "A name, an id or a segment such as insurer-a."


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

    def describe(self, api_name: str) -> str:
        """Return which end of what it is."""
        end = "Earliest" if api_name == self.api_names[0] else "Latest"
        return f"{end} day or moment of {self.help or '`created_at`'}, which is included."

    def parse(self, address: Address) -> Span:
        """Return the span of the days; either may be left open."""
        return (open_dates if self.dated else open_days)(*days(address, *self.address.split()))

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

    def describe(self, api_name: str) -> str:
        """Return of what it is the id, which the API takes alone."""
        return f"The id of the {api_name.removesuffix('_id')}."

    def parse(self, address: Address) -> tuple[UUID, ...]:
        """Return every different id."""
        faults: list[FieldFault] = []
        given = texts(address, self.address)
        found = [collect(faults, ids.parse, value, self.address) for value in given]
        raise_faults(faults)
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

    def describe(self, api_name: str) -> str:
        """Return of what it is the id."""
        return f"The id of the {api_name.removesuffix('_id')}."

    def parse(self, address: Address) -> UUID | str | None:
        """Return the id or the word."""
        given = text(address, self.address, self.what)
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
        found = text(address, self.address, self.what)
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
        return texts(address, self.address)


@dataclass(frozen=True, kw_only=True)
class Words(Texts):
    """Several words out of `options`, in their spelling and order; case does not matter."""

    def parse(self, address: Address) -> tuple[str, ...]:
        """Return the words."""
        return words(address, self.address, self.options)


@dataclass(frozen=True, kw_only=True)
class Word(Field):
    """One word out of `options`; the API takes `unlimited` for none, where it has a word for that."""

    options: Mapping[str, str] = field(default_factory=dict)
    unlimited: str = ""

    def parse(self, address: Address) -> str | None:
        """Return the word."""
        return word(address, self.address, self.options)

    def from_api(self, value: Any) -> Any:
        """Return the word, None for the one that means all."""
        return None if value == self.unlimited else value


@dataclass(frozen=True, kw_only=True)
class Flag(Field):
    """Yes or no: two words with their labels, the first for true (contract P5).

    A column that is a function is one of the table alone, and returns what holds for true.
    """

    options: Mapping[str, str] = field(default_factory=lambda: {"true": "Yes", "false": "No"})

    def describe(self, api_name: str) -> str:
        """Return what either word of the API means."""
        yes, no = (label.lower() for label in self.options.values())
        return f"true: {yes}; false: {no}."

    def parse(self, address: Address) -> bool | None:
        """Return whether it is the first word."""
        found = word(address, self.address, self.options)
        return None if found is None else found == next(iter(self.options))

    def word(self, value: bool) -> str:  # noqa: FBT001 - the value of a filter
        """Return the word of a value."""
        return tuple(self.options)[not value]

    def write(self, value: Any) -> dict[str, list[str]]:
        """Return the word."""
        return {self.address: [self.word(value)]}

    def derive(self, table: Any, value: Any) -> Condition:
        """Return what holds for true, or that it does not."""
        holds: Condition = self.column(table)
        return holds if value else sa.not_(holds)

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
        return naira(address, self.address)

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


# Label, plural and column by dimension.
_WORDS: dict[Dimension, tuple[str, str, str]] = {
    "provider": ("Insurer", "insurers", "provider_id"),
    "category": ("Category", "categories", "product_category_id"),
    "product": ("Product", "products", "product_id"),
    "distributor": ("Distributor", "distributors", "distributor_id"),
}


def states_of(states: type[StrEnum], **more: Any) -> Words:
    """Return the filter by the states of a record, which its column `state` has; `more` changes fields."""
    options = {state.value: state.value for state in states}
    fields = {"label": "State", "column": "state", "address": "state", "anything": "All states", **more}
    return Words(options=options, help=f"{', '.join(options)}.", **fields)


def month_of() -> Text:
    """Return the filter by the month that a paper is of, which its column `month` has as the first day of it."""
    return Text(
        label="Month",
        column=lambda table, month: col(table.month) == _read_month(month),
        address="month",
        help="A month such as 2026-09.",
        check=_read_month,
    )


def _read_month(typed: str) -> date:
    try:
        return date.fromisoformat(f"{typed}-01")
    except ValueError:
        raise InvalidInput.for_field("month", "must be a month such as 2026-09") from None


def members_of(names: Dimension, **more: Any) -> Members:
    """Return the filter by records of a dimension; its parameter is the dimension's name, `more` changes fields."""
    label, plural, column = _WORDS[names]
    fields = {"label": label, "column": column, "address": names, "help": NAMED, "anything": f"All {plural}", **more}
    return Members(names=names, **fields)
