"""The arrangement of an export: which of its columns, in which sequence, and the order of its rows (contract A4).

An address names them as `columns` and `order`; left out, the file has every column, and its kind's
usual order: for most, the newest row first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Final

from core.covers.request import suggestion
from core.errors import FieldFault, InvalidInput
from core.services.exports.exports import ExportKind
from core.services.filters import parsing
from core.services.filters.parsing import Address

COLUMNS, ORDER = "columns", "order"
_MOST_COMPARED: Final = 10
_LONGEST: Final = 100


def list_parameters(kind: ExportKind[Any]) -> tuple[str, ...]:
    """Return the parameters that arrange this kind; a kind with a single order takes none for it."""
    return (COLUMNS, ORDER) if kind.orders else (COLUMNS,)


def arrange(kind: ExportKind[Any], address: Address) -> ExportKind[Any]:
    """Return the kind with the columns and the order of an address; InvalidInput names each that it does not have."""
    faults: list[FieldFault] = []
    columns = parsing.collect(faults, _parse_columns, kind, address)
    order = parsing.collect(faults, _parse_order, kind, address)
    if faults:
        raise InvalidInput(faults)
    return replace(kind, chosen=columns or (), chosen_order=order)


def write_address(kind: ExportKind[Any]) -> dict[str, list[str]]:
    """Return the parameters that arrange the kind like this again; none of them for every column in the usual order."""
    return ({COLUMNS: list(kind.chosen)} if kind.chosen else {}) | (
        {ORDER: [kind.order]} if kind.order != kind.usual_order else {}
    )


def follow_list(kind: ExportKind[Any], shown: Sequence[str], order: str | None) -> dict[str, list[str]]:
    """Return the parameters of a file that has what a list shows: its columns in their sequence, and its order.

    A name that the list no longer has, and a column that is only worked out on the screen, is left out.
    """
    columns = list(dict.fromkeys(name for column in shown for name in kind.listed.get(column, ())))
    return ({COLUMNS: columns} if columns else {}) | ({ORDER: [order]} if order and order in kind.orders else {})


def describe(kind: ExportKind[Any]) -> Mapping[str, Any]:
    """Return columns and order as the audit log keeps them."""
    return {COLUMNS: list(kind.chosen) or "all", ORDER: kind.order}


def _parse_columns(kind: ExportKind[Any], address: Address) -> tuple[str, ...]:
    given = [name.strip() for value in address.get(COLUMNS, ()) for name in value.split(",")]
    names = [name for name in given if name]
    known = [column.name for part in kind.parts for column in part.columns]
    unknown = list(dict.fromkeys(name for name in names if name not in known))[:_MOST_COMPARED]
    if unknown:
        raise InvalidInput([FieldFault(COLUMNS, _refuse(name, known)) for name in unknown])
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice:
        raise InvalidInput.for_field(COLUMNS, f"must name {twice} once")
    return tuple(names)


def _refuse(name: str, known: Sequence[str]) -> str:
    printed, meant = ascii(name[:_LONGEST])[1:-1], suggestion(name, known)
    return f"has no {printed}, did you mean {meant}?" if meant else f"has no {printed}, use {', '.join(known)}"


def _parse_order(kind: ExportKind[Any], address: Address) -> str | None:
    return parsing.word(address, ORDER, tuple(kind.orders))
