"""Editable figures of a tariff: their types and bounds."""

from dataclasses import dataclass
from decimal import Decimal
from enum import Enum, auto
from typing import Any, Final

from core import money

HUNDRED: Final = Decimal(100)
MAX_NAIRA: Final = Decimal(10) ** 9


class Kind(Enum):
    """The type of a figure; determines its input widget and validation."""

    NAIRA = auto()
    PERCENT = auto()
    FACTOR = auto()
    COUNT = auto()
    ONE = auto()
    SEVERAL = auto()
    TABLE = auto()
    PHRASES = auto()


@dataclass(frozen=True, kw_only=True, slots=True)
class Figure:
    """One editable figure: its path in the tariff, its current value and its bounds.

    A table holds a list of rows; `columns` are the figures of one row, each with the path of its name.
    """

    path: tuple[str, ...]
    label: str
    kind: Kind
    value: Any
    group: str
    least: Decimal = money.ZERO
    most: Decimal = MAX_NAIRA
    places: int = 2
    above_zero: bool = False
    optional: bool = False
    options: tuple[str, ...] = ()
    columns: tuple["Figure", ...] = ()

    @property
    def field(self) -> str:
        """The figure's name in forms and error messages: "meta.plan_prices.Silver"."""
        return ".".join(self.path)


def naira_figure(path: tuple[str, ...], label: str, value: object, group: str, **rules: Any) -> Figure:
    """An amount in naira."""
    return Figure(path=path, label=label, kind=Kind.NAIRA, value=value, group=group, **rules)


def percent_figure(
    path: tuple[str, ...], label: str, value: object, group: str, *, most: int = 100, **rules: Any
) -> Figure:
    """A percentage."""
    return Figure(path=path, label=label, kind=Kind.PERCENT, value=value, group=group, most=Decimal(most), **rules)


def factor_figure(path: tuple[str, ...], label: str, value: object, group: str) -> Figure:
    """A factor by which a premium is multiplied."""
    return Figure(
        path=path, label=label, kind=Kind.FACTOR, value=value, group=group, most=Decimal(20), places=4, above_zero=True
    )


def count_figure(path: tuple[str, ...], label: str, value: object, group: str, *, least: int = 0, most: int) -> Figure:
    """A whole number."""
    return Figure(
        path=path,
        label=label,
        kind=Kind.COUNT,
        value=value,
        group=group,
        least=Decimal(least),
        most=Decimal(most),
        places=0,
    )


def table_figure(path: tuple[str, ...], label: str, rows: Any, group: str, columns: tuple[Figure, ...]) -> Figure:
    """A list of rows, each with the same columns."""
    return Figure(path=path, label=label, kind=Kind.TABLE, value=tuple(rows), group=group, columns=columns)
