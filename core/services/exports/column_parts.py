"""Building blocks of export columns: printed by the database, free text, and cached texts."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.sql.elements import Grouping
from sqlalchemy.sql.functions import coalesce
from sqlmodel import col

from core import seal
from core.services.exports.exports import ColumnPart, ExportContext
from core.services.spreadsheets.columns import MONEY, SIGNED_MONEY, TEXT, WORD, Column, ColumnType
from core.services.spreadsheets.formula_escaping import build_plain_pattern, csv_field
from core.store.schema.tables import Policy, Refund

# Separates values that SQL concatenates and Python splits; stored texts cannot contain it (contract E6).
_SEPARATOR = "\x1f"
_EMPTY_TEXT = sa.literal_column("''", sa.String)
SALE_NAME_COLUMNS = ("distributor", "provider", "product", "category")
# The columns of a file for those that all tables of sales share.
LISTED_SALE: Mapping[str, tuple[str, ...]] = {
    "policy": ("policy_number",),
    "customer": ("customer_name",),
    "email": ("customer_email",),
    **{name: (name,) for name in SALE_NAME_COLUMNS},
    "total": ("total",),
    "share": ("provider_share",),
    "platform": ("mca_profit",),
    "seller": ("distributor_profit",),
}


def printed_columns(*columns: tuple[str, ColumnType, Any]) -> ColumnPart:
    """Build columns that the database prints ready for CSV: numbers, times, ids and fixed words."""
    pieces = [_print_value(shape, value) for _, shape, value in columns]
    return ColumnPart(
        columns=tuple(Column(name, shape) for name, shape, _ in columns),
        value=concatenate(",", *pieces),
        make_writer=lambda _: None,
    )


def _print_value(column_type: ColumnType, value: Any) -> Any:
    printed_value = column_type.print_sql(value)
    if _is_never_null(value):
        return printed_value
    if column_type in (TEXT, WORD):
        return sa.func.coalesce(printed_value, _EMPTY_TEXT)
    # PostgreSQL prints a text for NULL too, so NULL must be tested before printing.
    return sa.case((value.is_(None), _EMPTY_TEXT), else_=printed_value)


def _is_never_null(value: Any) -> bool:
    """Return True for non-null columns and sums of them; coalesce on every row is slow."""
    if isinstance(value, sa.BinaryExpression | Grouping):
        return all(map(_is_never_null, value.get_children()))
    filled = isinstance(value, coalesce)
    return filled or getattr(getattr(value, "expression", value), "nullable", True) is False


def text_column(name: str, value: Any, *, column_type: ColumnType = TEXT, width: int = 0) -> ColumnPart:
    """Build a column of free text, escaped against formulas; None is an empty field."""
    return ColumnPart(columns=(Column(name, column_type, width),), value=value, make_writer=lambda _: csv_field)


def text_columns(*columns: tuple[str, Any, int]) -> ColumnPart:
    """Build several neighbouring columns of free text with their widths.

    One regular expression checks all of them at once, as nearly all texts need no escaping.
    """
    is_plain = re.compile(_SEPARATOR.join([build_plain_pattern(_SEPARATOR)] * len(columns))).fullmatch

    def write(given: str) -> str:
        return given.replace(_SEPARATOR, ",") if is_plain(given) else ",".join(map(csv_field, given.split(_SEPARATOR)))

    return ColumnPart(
        columns=tuple(Column(name, TEXT, width) for name, _, width in columns),
        value=concatenate(_SEPARATOR, *(_print_value(TEXT, value) for _, value, _ in columns)),
        make_writer=lambda _: write,
    )


def masked_column(name: str, value: Any) -> ColumnPart:
    """Build a column of a personal number, masked to its last four characters for everybody (contract A3)."""
    return ColumnPart(columns=(Column(name, TEXT),), value=value, make_writer=lambda _: _mask_field)


def _mask_field(value: str | None) -> str:
    return csv_field(seal.mask(value))


def cached_columns(
    columns: Sequence[str], values: Sequence[Any], words: Callable[[ExportContext, list[str]], Iterable[str | None]]
) -> ColumnPart:
    """Build columns of texts with few distinct values; each combination of source values is formatted once."""
    pieces = [_print_value(WORD, value) for value in values]
    return ColumnPart(
        columns=tuple(Column(name, WORD, 20) for name in columns),
        value=concatenate(_SEPARATOR, *pieces),
        make_writer=lambda told: _CachedTexts(lambda given: words(told, given.split(_SEPARATOR))).__getitem__,
    )


class _CachedTexts(dict[str, str]):
    def __init__(self, words: Callable[[str], Iterable[str | None]]) -> None:
        super().__init__()
        self._words = words

    def __missing__(self, value: str) -> str:
        text = self[value] = ",".join(map(csv_field, self._words(value)))
        return text


def sale_name_columns(entity: Any) -> ColumnPart:
    """Build the columns of a sale's distributor, insurer, product and category names."""
    return cached_columns(SALE_NAME_COLUMNS, (col(entity.product_id), col(entity.distributor_id)), _get_sale_names)


def money_columns(entity: Any, *, signed: bool = False) -> tuple[tuple[str, ColumnType, Any], ...]:
    """Return the columns of an amount and its split, for one printed part; `signed` where it may be negative."""
    total, platform, seller = (
        col(entity.total_minor),
        col(entity.mca_profit_minor),
        col(entity.distributor_profit_minor),
    )
    money = SIGNED_MONEY if signed else MONEY
    return (
        ("total", money, total),
        ("provider_share", money, total - platform - seller),
        ("mca_profit", money, platform),
        ("distributor_profit", money, seller),
    )


def refund_columns() -> tuple[tuple[str, ColumnType, Any], ...]:
    """Columns of the amount refunded of a sale or renewal and its three parts; 0.00 without a refund."""
    total, platform, seller = (
        sa.func.coalesce(col(amount), 0)
        for amount in (Refund.total_minor, Refund.mca_profit_minor, Refund.distributor_profit_minor)
    )
    return (
        ("refunded", MONEY, total),
        ("refunded_provider_share", MONEY, total - platform - seller),
        ("refunded_mca_profit", MONEY, platform),
        ("refunded_distributor_profit", MONEY, seller),
    )


def customer_columns() -> ColumnPart:
    """Build the columns of the policy's customer."""
    return text_columns(
        ("customer_name", concatenate(" ", col(Policy.first_name), col(Policy.last_name)), 26),
        ("customer_email", col(Policy.email), 30),
        ("customer_phone", col(Policy.phone), 0),
    )


def _get_sale_names(context: ExportContext, values: list[str]) -> tuple[str, ...]:
    return context.names.get_names_of_sale(*map(UUID, values))


def mode_columns(*words: tuple[str, Any]) -> ColumnPart:
    """Build the mode column, and columns with few distinct values such as the request source."""
    return cached_columns(
        ["mode", *(name for name, _ in words)],
        [value for _, value in words],
        lambda told, given: [told.mode, *given[: len(words)]],
    )


def computed_columns(
    columns: Sequence[tuple[str, ColumnType]],
    values: Sequence[tuple[ColumnType, Any]],
    of: Callable[..., Iterable[str]],
) -> ColumnPart:
    """Build columns computed in Python from several printed values; None arrives as an empty string."""
    pieces = [_print_value(shape, value) for shape, value in values]
    return ColumnPart(
        columns=tuple(Column(name, shape) for name, shape in columns),
        value=concatenate(_SEPARATOR, *pieces),
        make_writer=lambda _: lambda given: ",".join(of(*given.split(_SEPARATOR))),
    )


def concatenate(separator: str, *parts: Any) -> Any:
    """Concatenate SQL texts with a separator: faster than sending separate values."""
    separator_sql: Any = sa.literal_column(f"'{separator}'")
    return reduce(lambda done, part: done.op("||")(separator_sql).op("||")(part), parts or (_EMPTY_TEXT,))
