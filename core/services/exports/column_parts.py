"""Building blocks of export columns: printed by the database, free text, and cached texts."""

import re
from collections.abc import Callable, Iterable, Sequence
from functools import reduce
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.sql.elements import Grouping
from sqlalchemy.sql.functions import coalesce
from sqlmodel import col

from core import seal
from core.services.exports.columns import MONEY, TEXT, WORD, Column, Shape
from core.services.exports.exports import Part, Told
from core.services.exports.formula_escaping import cell, plain
from core.store.schema.tables import Policy, Refund

# Separates values that SQL concatenates and Python splits; stored texts cannot contain it (contract E6).
_GLUE = "\x1f"
_NOTHING = sa.literal_column("''", sa.String)
PLACES = ("distributor", "provider", "product", "category")


def printed(*columns: tuple[str, Shape, Any]) -> Part:
    """Build columns that the database prints ready for CSV: numbers, times, ids and fixed words."""
    pieces = [_piece(shape, value) for _, shape, value in columns]
    return Part(
        columns=tuple(Column(name, shape) for name, shape, _ in columns),
        value=joined(",", *pieces),
        written=lambda _: None,
    )


def _piece(shape: Shape, value: Any) -> Any:
    told = shape.printed(value)
    if _never_null(value):
        return told
    if shape in (TEXT, WORD):
        return sa.func.coalesce(told, _NOTHING)
    # PostgreSQL prints a text for NULL too, so NULL must be tested before printing.
    return sa.case((value.is_(None), _NOTHING), else_=told)


def _never_null(value: Any) -> bool:
    """Return True for non-null columns and sums of them; coalesce on every row is slow."""
    if isinstance(value, sa.BinaryExpression | Grouping):
        return all(map(_never_null, value.get_children()))
    filled = isinstance(value, coalesce)
    return filled or getattr(getattr(value, "expression", value), "nullable", True) is False


def text(name: str, value: Any, *, shape: Shape = TEXT, width: int = 0) -> Part:
    """Build a column of free text, escaped against formulas; None is an empty field."""
    return Part(columns=(Column(name, shape, width),), value=value, written=lambda _: cell)


def texts(*columns: tuple[str, Any, int]) -> Part:
    """Build several neighbouring columns of free text with their widths.

    One regular expression checks all of them at once, as nearly all texts need no escaping.
    """
    is_plain = re.compile(_GLUE.join([plain(_GLUE)] * len(columns))).fullmatch

    def written(given: str) -> str:
        return given.replace(_GLUE, ",") if is_plain(given) else ",".join(map(cell, given.split(_GLUE)))

    return Part(
        columns=tuple(Column(name, TEXT, width) for name, _, width in columns),
        value=joined(_GLUE, *(_piece(TEXT, value) for _, value, _ in columns)),
        written=lambda _: written,
    )


def masked(name: str, value: Any) -> Part:
    """Build a column of a personal number, masked to its last four characters for everybody (contract A3)."""
    return Part(columns=(Column(name, TEXT),), value=value, written=lambda _: _masked)


def _masked(value: str | None) -> str:
    return cell(seal.mask(value))


def few(
    columns: Sequence[str], values: Sequence[Any], words: Callable[[Told, list[str]], Iterable[str | None]]
) -> Part:
    """Build columns of texts with few distinct values; each combination of source values is formatted once."""
    pieces = [_piece(WORD, value) for value in values]
    return Part(
        columns=tuple(Column(name, WORD, 20) for name in columns),
        value=joined(_GLUE, *pieces),
        written=lambda told: _Remembered(lambda given: words(told, given.split(_GLUE))).__getitem__,
    )


class _Remembered(dict[str, str]):
    def __init__(self, words: Callable[[str], Iterable[str | None]]) -> None:
        super().__init__()
        self._words = words

    def __missing__(self, value: str) -> str:
        made = self[value] = ",".join(map(cell, self._words(value)))
        return made


def places(entity: Any) -> Part:
    """Build the columns of a sale's distributor, insurer, product and category names."""
    return few(PLACES, (col(entity.product_id), col(entity.distributor_id)), _of_sale)


def money(entity: Any) -> tuple[tuple[str, Shape, Any], ...]:
    """Return the columns of a sale's or renewal's amount and its split, for one printed part."""
    total, platform, seller = (
        col(entity.total_minor),
        col(entity.mca_profit_minor),
        col(entity.distributor_profit_minor),
    )
    return (
        ("total", MONEY, total),
        ("provider_share", MONEY, total - platform - seller),
        ("mca_profit", MONEY, platform),
        ("distributor_profit", MONEY, seller),
    )


def refunded() -> tuple[tuple[str, Shape, Any], ...]:
    """What was given back of a sale or a renewal, and how that divides; 0.00 where nothing was."""
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


def customer() -> Part:
    """Build the columns of the policy's customer."""
    return texts(
        ("customer_name", joined(" ", col(Policy.first_name), col(Policy.last_name)), 26),
        ("customer_email", col(Policy.email), 30),
        ("customer_phone", col(Policy.phone), 0),
    )


def _of_sale(told: Told, given: list[str]) -> tuple[str, ...]:
    return told.names.of_sale(*map(UUID, given))


def ending(*words: tuple[str, Any]) -> Part:
    """Build the mode column, and columns with few distinct values such as the request source."""
    return few(
        ["mode", *(name for name, _ in words)],
        [value for _, value in words],
        lambda told, given: [told.mode, *given[: len(words)]],
    )


def worked_out(
    columns: Sequence[tuple[str, Shape]], values: Sequence[tuple[Shape, Any]], of: Callable[..., Iterable[str]]
) -> Part:
    """Build columns computed in Python from several printed values; None arrives as an empty string."""
    pieces = [_piece(shape, value) for shape, value in values]
    return Part(
        columns=tuple(Column(name, shape) for name, shape in columns),
        value=joined(_GLUE, *pieces),
        written=lambda _: lambda given: ",".join(of(*given.split(_GLUE))),
    )


def joined(between: str, *parts: Any) -> Any:
    """Concatenate SQL texts with a separator: faster than sending separate values."""
    glue: Any = sa.literal_column(f"'{between}'")
    return reduce(lambda done, part: done.op("||")(glue).op("||")(part), parts or (_NOTHING,))
