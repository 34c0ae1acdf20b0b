"""A column of a list, declared once.

    "total": Column("Premium", MONEY, col(Purchase.total_minor), orders=BY_AMOUNT),

From that follow its cells and its header on the screen, the orders that the header offers, its values in every file and
its name there (`columns=` of links and of `coverdesk export`), and the cells of a workbook.

Neighbours of one group are read as one value, because fewer values a row are faster: what the database prints stands
in the line as it is, texts are checked together, and words and names are remembered.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import reduce
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.sql.elements import Grouping
from sqlalchemy.sql.functions import coalesce
from sqlmodel import col

from core import seal
from core.services.lists.dimensions import Choices
from core.services.lists.spreadsheets import (
    EMAIL,
    INSTANT,
    MONEY,
    PHONE,
    SIGNED_MONEY,
    TEXT,
    WORD,
    ColumnType,
    build_plain_pattern,
    csv_field,
)
from core.store.schema.tables import Policy, Refund

# No list changes the words of another.
_NO_WORDS: Mapping[str, str] = {}


class Context(NamedTuple):
    """Names of products and distributors, and the mode of the records, which values are made of beside their row."""

    names: Choices
    mode: str


@dataclass(frozen=True, slots=True)
class Derived:
    """A value worked out of SQL values by `work_out(context, *values)`; few of them are different if cached."""

    sql: tuple[Any, ...]
    work_out: Callable[..., Any]
    is_cached: bool = True


@dataclass(frozen=True, slots=True)
class Order:
    """An order of a list: its name in addresses, its label, and its sort keys, of which the last is an id."""

    name: str
    label: str
    keys: tuple[Any, ...] = ()
    is_descending: bool = False


@dataclass(frozen=True, slots=True)
class Column:
    """One column: label, type, and its value in SQL, which is None for what only a page of rows has.

    `of` is the attribute of a row that is an object of its own, where it has another name than the column. `orders`
    are those of its header, that of the first click first; `is_sortable` makes two. `machine` is its name in files for
    machines, its key unless given; one that is not `for_machines` is in them only when it is asked for. `words` are
    shown for values, `empty` where there is none; `width` is the most that a list takes for it, in pixels.
    """

    label: str
    type: ColumnType
    sql: Any = None
    of: str | Callable[[Any], Any] = ""
    width: int | None = None
    orders: tuple[Order, ...] = ()
    is_sortable: bool = False
    says: str | None = None
    machine: str = ""
    for_machines: bool = True
    words: Mapping[str, str] = field(default_factory=lambda: _NO_WORDS)
    empty: str = ""

    @property
    def sources(self) -> tuple[Any, ...]:
        """The SQL values that its value is made of."""
        return self.sql.sql if isinstance(self.sql, Derived) else (self.sql,)

    @property
    def is_in_files(self) -> bool:
        """True unless only the rows of a page have it."""
        return self.sql is not None


def name_of_sale(entity: Any, place: int) -> Derived:
    """Return the name of the distributor (0), insurer, product or category (3) of a record of a product."""
    keys = (col(entity.product_id), col(entity.distributor_id))
    return Derived(keys, lambda context, *ids: context.names.get_names_of_sale(*ids)[place])


def sale_names(entity: Any) -> dict[str, Column]:
    """Return the columns of the names of a sale, which every list of sales, policies and claims has."""
    labels = {"distributor": "Distributor", "provider": "Insurer", "product": "Product", "category": "Category"}
    return {
        name: Column(label, WORD, name_of_sale(entity, place), width=130)
        for place, (name, label) in enumerate(labels.items())
    }


def mode_column() -> dict[str, Column]:
    """Return the column of the mode, which every list has."""
    return {"mode": Column("Mode", WORD, Derived((), lambda context: context.mode))}


# Separates values that SQL concatenates and Python splits; stored texts cannot contain it (contract E6).
_SEPARATOR = "\x1f"
_EMPTY_TEXT = sa.literal_column("''", sa.String)
FieldWriter = Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of one file: its heading, its type there, and what it was declared as; words are for people only."""

    heading: str
    type: ColumnType
    declared: Column
    is_for_people: bool = False

    @property
    def group(self) -> Any:
        """Key that it shares with the neighbours that are read with it."""
        derived = self.declared.sql
        if isinstance(derived, Derived) and not derived.is_cached:
            return "derived", *map(id, derived.sql)
        if isinstance(derived, Derived) or (self.is_for_people and self.declared.words):
            return "word"
        return self.type.group

    def to_words(self, text: str | None) -> str | None:
        """Return the text as this file has it."""
        return self.declared.words.get(text or "", text) if self.is_for_people else text


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnPart:
    """Neighbouring columns: the SQL value, and the writer that makes CSV of it, None when it is CSV already."""

    value: Any
    make_writer: Callable[[Context], FieldWriter | None]


def build_parts(columns: Sequence[FileColumn]) -> Iterator[ColumnPart]:
    """Yield the parts of the columns of a file, in their sequence."""
    for group, neighbours in groupby(columns, key=lambda column: column.group):
        build = _BUILDERS.get(group, _derived)
        yield build(list(neighbours))


def _printed(columns: Sequence[FileColumn]) -> ColumnPart:
    pieces = [_print_value(column.type, column.declared.sql) for column in columns]
    return ColumnPart(value=concatenate(",", *pieces), make_writer=lambda _: None)


def _texts(columns: Sequence[FileColumn]) -> ColumnPart:
    """One regular expression checks all of them at once, as nearly all texts need no escaping."""
    if len(columns) == 1:
        return ColumnPart(value=_print_text(columns[0]), make_writer=lambda _: csv_field)
    is_plain = re.compile(_SEPARATOR.join([build_plain_pattern(_SEPARATOR)] * len(columns))).fullmatch

    def write(given: str) -> str:
        return given.replace(_SEPARATOR, ",") if is_plain(given) else ",".join(map(csv_field, given.split(_SEPARATOR)))

    return ColumnPart(value=_join_texts(columns), make_writer=lambda _: write)


def _masked(columns: Sequence[FileColumn]) -> ColumnPart:
    """Personal numbers show their last four characters to everybody (contract A3)."""
    return ColumnPart(
        value=_join_texts(columns),
        make_writer=lambda _: lambda given: ",".join(csv_field(seal.mask(text)) for text in given.split(_SEPARATOR)),
    )


def _join_texts(columns: Sequence[FileColumn]) -> Any:
    # A text that every record of its table has is missing where that table is joined and has none.
    return concatenate(_SEPARATOR, *(sa.func.coalesce(_print_text(each), _EMPTY_TEXT) for each in columns))


def _print_text(column: FileColumn) -> Any:
    return column.type.print_sql(column.declared.sql)


def _words(columns: Sequence[FileColumn]) -> ColumnPart:
    value, work_out = _worked_out(columns)
    return ColumnPart(value=value, make_writer=lambda context: _CachedTexts(work_out(context)).__getitem__)


def _derived(columns: Sequence[FileColumn]) -> ColumnPart:
    value, work_out = _worked_out(columns)
    return ColumnPart(value=value, make_writer=work_out)


_BUILDERS: dict[Any, Callable[[Sequence[FileColumn]], ColumnPart]] = {
    "printed": _printed,
    "text": _texts,
    "masked": _masked,
    "word": _words,
}


class _CachedTexts(dict[str, str]):
    def __init__(self, write: FieldWriter) -> None:
        super().__init__()
        self._write = write

    def __missing__(self, value: str) -> str:
        text = self[value] = self._write(value)
        return text


def _worked_out(columns: Sequence[FileColumn]) -> tuple[Any, Callable[[Context], FieldWriter]]:
    """Return the values that columns need, each once, and what makes their fields of them."""
    needed = [column.declared.sources for column in columns]
    distinct = list({id(sql): sql for each in needed for sql in each}.values())
    places = {id(sql): place for place, sql in enumerate(distinct)}
    reads = [[(places[id(sql)], _parser(sql)) for sql in each] for each in needed]

    def write_with(context: Context) -> FieldWriter:
        def write(given: str) -> str:
            texts = given.split(_SEPARATOR)
            fields = (
                column.to_words(_work_out(column.declared.sql, context, [parse(texts[at]) for at, parse in read]))
                for column, read in zip(columns, reads, strict=True)
            )
            return ",".join(map(csv_field, fields))

        return write

    return concatenate(_SEPARATOR, *map(_print_source, distinct)), write_with


def _work_out(sql: Any, context: Context, values: Sequence[Any]) -> str | None:
    if not isinstance(sql, Derived):
        return values[0]  # type: ignore[no-any-return]
    found = sql.work_out(context, *values)
    return None if found is None else str(found)


def _print_source(value: Any) -> Any:
    return _print_value(INSTANT if _is_instant(value) else WORD, value)


def _is_instant(value: Any) -> bool:
    return isinstance(getattr(value.type, "impl", value.type), sa.DateTime)


def _parser(value: Any) -> Callable[[str], Any]:
    """Return what reads a printed value as the type that it has on a page; an empty text is no value."""
    known: dict[type, Callable[[str], Any]] = {sa.Uuid: UUID, sa.Integer: int}
    parse = next((parse for type_, parse in known.items() if isinstance(value.type, type_)), str)
    if _is_instant(value):
        parse = datetime.fromisoformat
    return lambda text: parse(text) if text else None


def _print_value(column_type: ColumnType, value: Any) -> Any:
    printed_value = column_type.print_sql(value)
    if _is_never_null(value):
        return printed_value
    if column_type.print_sql in (TEXT.print_sql, WORD.print_sql):
        return sa.func.coalesce(printed_value, _EMPTY_TEXT)
    # PostgreSQL prints a text for NULL too, so NULL must be tested before printing.
    return sa.case((value.is_(None), _EMPTY_TEXT), else_=printed_value)


def _is_never_null(value: Any) -> bool:
    """Return True for non-null columns and sums of them; coalesce on every row is slow."""
    if isinstance(value, sa.BinaryExpression | Grouping):
        return all(map(_is_never_null, value.get_children()))
    filled = isinstance(value, coalesce)
    return filled or getattr(getattr(value, "expression", value), "nullable", True) is False


def concatenate(separator: str, *parts: Any) -> Any:
    """Concatenate SQL texts with a separator: faster than sending separate values."""
    separator_sql: Any = sa.literal_column(f"'{separator}'")
    return reduce(lambda done, part: done.op("||")(separator_sql).op("||")(part), parts or (_EMPTY_TEXT,))


# The attributes that hold the parts of an amount, by their columns.
SHARES = {"share": "provider_share_minor", "platform": "mca_profit_minor", "seller": "distributor_profit_minor"}
SOURCES = {"api": "API", "desk": "Desk", "bulk": "Bulk upload"}


def by_time(entity: Any) -> tuple[Order, Order]:
    """Return the orders by the time of a record; ids break ties, so that no row appears on two pages."""
    written, key = col(entity.created_at), col(entity.id)
    return (
        Order("newest", "Newest first", (written.desc(), key.desc()), is_descending=True),
        Order("oldest", "Oldest first", (written, key)),
    )


def by_amount(entity: Any, what: str = "premium") -> tuple[Order, Order]:
    """Return the orders by the total of a record."""
    amount, written, key = col(entity.total_minor), col(entity.created_at), col(entity.id)
    return (
        Order("largest", f"Largest {what} first", (amount.desc(), written.desc(), key.desc()), is_descending=True),
        Order("smallest", f"Smallest {what} first", (amount, written, key)),
    )


def money_columns(entity: Any, *, orders: tuple[Order, ...] = (), is_signed: bool = False) -> dict[str, Column]:
    """Return the columns of an amount and its split; signed where it may be negative."""
    total, platform, seller = map(col, (entity.total_minor, entity.mca_profit_minor, entity.distributor_profit_minor))
    money = SIGNED_MONEY if is_signed else MONEY
    return {
        "total": Column("Premium", money, total, orders=orders),
        "share": Column(
            *("Insurer's share", money, total - platform - seller),
            machine="provider_share",
            says="What remains for the insurer.",
        ),
        "platform": Column("Platform", money, platform, machine="mca_profit", says="The platform's commission."),
        "seller": Column(
            "Distributor's", money, seller, machine="distributor_profit", says="The distributor's commission."
        ),
    }


def refund_columns() -> dict[str, Column]:
    """Return the columns of the amount refunded of a sale or renewal and its three parts; 0.00 without a refund."""
    total, platform, seller = (
        sa.func.coalesce(col(amount), 0)
        for amount in (Refund.total_minor, Refund.mca_profit_minor, Refund.distributor_profit_minor)
    )
    return {
        "refunded": Column("Given back", MONEY, total),
        "refunded_provider_share": Column("Given back by the insurer", MONEY, total - platform - seller),
        "refunded_mca_profit": Column("Given back by the platform", MONEY, platform),
        "refunded_distributor_profit": Column("Given back by the distributor", MONEY, seller),
    }


def policy_number(*, empty: str = "", width: int = 140) -> dict[str, Column]:
    """Return the column of the policy's number."""
    return {
        "policy": Column(
            "Policy number", TEXT, col(Policy.policy_number), machine="policy_number", empty=empty, width=width
        )
    }


def customer_columns() -> dict[str, Column]:
    """Return the columns of the policy's customer."""
    name = concatenate(" ", col(Policy.first_name), col(Policy.last_name))
    return {
        "customer": Column("Customer", TEXT, name, machine="customer_name", width=120),
        "email": Column("E-mail", EMAIL, col(Policy.email), machine="customer_email", width=190),
        "phone": Column("Phone", PHONE, col(Policy.phone), machine="customer_phone", width=120),
    }


def payment_columns(entity: Any) -> dict[str, Column]:
    """Return the columns of how a sale came in and was paid."""
    return {
        "source": Column("Source", WORD, col(entity.request_source), machine="request_source", words=SOURCES, width=80),
        "payment_option": Column("Payment option", WORD, col(entity.payment_option), width=110),
        "payment_channel": Column("Payment channel", WORD, col(entity.payment_channel), width=110),
    }
