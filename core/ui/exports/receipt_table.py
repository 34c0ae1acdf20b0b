"""The table of export receipts, and their text forms."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any
from uuid import UUID

from core.services.claims.review import officers as claim_officers
from core.services.dimensions import Choices, load_choices
from core.services.exports import registry as export_registry
from core.services.exports.exports import ExportKind, Parameter
from core.services.exports.formats import get_format
from core.services.exports.receipts import Receipt
from core.store.access import ScopedSession
from core.ui.kit import columns, words
from core.ui.kit.tables import Table

_SHORT = 12


@dataclass(frozen=True, kw_only=True, slots=True)
class ReceiptRow:
    """One receipt with its filters as text."""

    receipt: Receipt
    kind: ExportKind[Any]
    filters: Mapping[str, str]

    @property
    def in_one_line(self) -> str:
        """Return the filters as one line: "Insurer Crownstone · From 1 Nov 2026"."""
        return " · ".join(f"{title} {said}" for title, said in self.filters.items()) or "None: all of them"

    @property
    def sum_minor(self) -> int | None:
        """Return the sum in kobo, for the kinds that have one."""
        return self.receipt.sum_minor if self.kind.sum_title else None


RECEIPTS: Table[ReceiptRow] = Table(
    name="receipts",
    noun=("export", "exports"),
    opens="finance/export.py",
    key=lambda row: row.receipt.id,
    orders={
        "newest": "Newest first",
        "oldest": "Oldest first",
        "most-rows": "Most rows first",
        "fewest-rows": "Fewest rows first",
        "largest": "Largest sum first",
        "smallest": "Smallest sum first",
    },
    narrow=("at", "kind", "rows", "sum"),
    columns={
        "at": columns.moment("Made", lambda row: row.receipt.created_at, sorts=("oldest", "newest")),
        "kind": columns.text("Export", lambda row: row.kind.title, 85),
        "format": columns.text("Format", lambda row: get_format(row.receipt.format).title, 110),
        "filters": columns.text("Filters", lambda row: row.in_one_line, 225),
        "rows": columns.number("Rows", lambda row: row.receipt.rows, sorts=("fewest-rows", "most-rows")),
        "sum": columns.naira(
            "Sum", lambda row: row.sum_minor, says="Premium, or what is claimed", sorts=("smallest", "largest")
        ),
        "who": columns.text("By", lambda row: row.receipt.who, 200),
        "hash": columns.text("SHA-256", lambda row: f"{row.receipt.sha256[:_SHORT]}…", 115),
        "again": columns.text("Repeats", lambda row: "Yes" if row.receipt.again_of else "", 70, usual=False),
    },
)


def rows(session: ScopedSession, receipts: Sequence[Receipt]) -> list[ReceiptRow]:
    """Return receipts with their filters as text, using current names."""
    names = load_choices(session)
    officers = claim_officers.get_names(session, {officer for receipt in receipts for officer in _officers(receipt)})
    return [_row(receipt, names, officers) for receipt in receipts]


def _row(receipt: Receipt, names: Choices, officers: Mapping[UUID, str]) -> ReceiptRow:
    kind = export_registry.get_kind(receipt.kind)
    known = {parameter.name: parameter for parameter in kind.parameters}
    said = {
        known[name].title: ", ".join(_said(known[name], value, names, officers) for value in values)
        for name, values in receipt.filters.items()
        if name in known
    }
    return ReceiptRow(receipt=receipt, kind=kind, filters=said)


def _officers(receipt: Receipt) -> list[UUID]:
    kind = export_registry.get_kind(receipt.kind)
    staff = [parameter.name for parameter in kind.parameters if parameter.names == "staff"]
    return [key for name in staff for value in receipt.filters.get(name, ()) if (key := _id(value))]


def _id(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None


def _said(parameter: Parameter, value: str, names: Choices, officers: Mapping[UUID, str]) -> str:
    key = _id(value) if parameter.names else None
    if key is not None:
        known = officers if parameter.names == "staff" else names.names[parameter.names]  # type: ignore[index]
        return known.get(key, value)
    try:
        return words.day(date.fromisoformat(value))
    except ValueError:
        return parameter.words.get(value, value)
