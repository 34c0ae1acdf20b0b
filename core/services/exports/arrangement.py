"""The arrangement of an export: which columns, in which sequence, the order of its rows, and for whom (contract A4).

An address names them as `columns`, `order` and `form`; left out, the file has every column for machines, and the usual
order of its list: for most, the newest row first.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from core.covers.request import suggestion
from core.errors import FieldFault, InvalidInput
from core.services.lists.column_parts import FileColumn
from core.services.lists.filters import parsing
from core.services.lists.filters.parsing import Address
from core.services.lists.listing import Listing

COLUMNS, ORDER, FORM = "columns", "order", "form"
Form = Literal["machines", "people"]
_FORMS: Final = ("machines", "people")
_MOST_COMPARED: Final = 10
_LONGEST: Final = 100


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Arrangement of one file; columns by their names in files, every one for machines when none is named."""

    columns: tuple[str, ...] = ()
    order: str | None = None
    form: str = "machines"

    @property
    def is_for_people(self) -> bool:
        """True for a file as a screen shows it: its labels and words, and the time of Lagos."""
        return self.form == "people"

    def of(self, listing: Listing[Any]) -> list[FileColumn]:
        """Return the columns of the file of a list."""
        every = listing.in_files
        return [self._build(name, every[name]) for name in self.columns or listing.for_machines]

    def _build(self, name: str, column: Any) -> FileColumn:
        if not self.is_for_people:
            return FileColumn(name, column.type, column)
        type_ = column.type.shown or column.type
        heading = f"{column.label} ({type_.unit})" if type_.unit else column.label
        return FileColumn(heading, type_, column, is_for_people=True)

    def keys(self, listing: Listing[Any]) -> tuple[Any, ...]:
        """Return the sort keys of the file; none for a list that sorts by itself."""
        return listing.orders[self.order or listing.usual_order].keys if listing.orders else ()

    def address(self, listing: Listing[Any]) -> dict[str, list[str]]:
        """Return the parameters that arrange a file like this again; none for what is usual."""
        order = self.order if self.order != listing.usual_order else None
        return (
            ({COLUMNS: list(self.columns)} if self.columns else {})
            | ({ORDER: [order]} if order else {})
            | ({FORM: [self.form]} if self.is_for_people else {})
        )

    def describe(self, listing: Listing[Any]) -> Mapping[str, Any]:
        """Return columns, order and form as the audit log keeps them."""
        form = {FORM: self.form} if self.is_for_people else {}
        return {COLUMNS: list(self.columns) or "all", ORDER: self.order or listing.usual_order, **form}


USUAL: Final = Arrangement()


def list_parameters(listing: Listing[Any]) -> tuple[str, ...]:
    """Return the parameters that arrange files of this list; one with a single order takes none for it."""
    return (COLUMNS, ORDER, FORM) if listing.orders else (COLUMNS, FORM)


def read(listing: Listing[Any], address: Address) -> Arrangement:
    """Return the arrangement of an address; InvalidInput names each column and order that the list does not have."""
    faults: list[FieldFault] = []
    columns = parsing.collect(faults, _parse_columns, listing, address)
    order = parsing.collect(faults, lambda: parsing.word(address, ORDER, tuple(listing.orders)))
    form = parsing.collect(faults, lambda: parsing.word(address, FORM, _FORMS))
    if faults:
        raise InvalidInput(faults)
    return Arrangement(columns or (), order, form or "machines")


def follow_list(listing: Listing[Any], shown: Sequence[str], order: str | None) -> dict[str, list[str]]:
    """Return the parameters of a file that is as a list shows it: its columns in their sequence, its order and words.

    A name that the list no longer has, and a column that is only worked out on the screen, is left out.
    """
    declared = ((name, listing.columns.get(name)) for name in shown)
    columns = list(dict.fromkeys(column.machine or name for name, column in declared if column and column.is_in_files))
    return (
        ({COLUMNS: columns} if columns else {})
        | ({ORDER: [order]} if order and order in listing.orders else {})
        | {FORM: ["people"]}
    )


def _parse_columns(listing: Listing[Any], address: Address) -> tuple[str, ...]:
    given = [name.strip() for value in address.get(COLUMNS, ()) for name in value.split(",")]
    names = [name for name in given if name]
    known = list(listing.in_files)
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
