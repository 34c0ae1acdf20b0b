"""Runs of exports: what is ordered, the stream of the file, and how far it is (contract A4).

Screens, commands and schedules run exports here, so that each file has its receipt. A run opens its own transactions,
because it lasts as long as somebody reads the file.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, closing, contextmanager, nullcontext
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, BinaryIO, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money, telemetry
from core.covers.request import suggestion
from core.desk.exported_lists import TITLES, get_kind
from core.errors import FieldFault, InvalidInput, NotFound, raise_faults
from core.services.audit import log as audit
from core.services.lists import exports
from core.services.lists.dimensions import load_choices
from core.services.lists.exports import USUAL, Arrangement, Format, Sheet, Tally, get_format
from core.services.lists.filters.declaration import Filter, of
from core.services.lists.filters.fields import Address, Condition, Days, Flag, Member, Words
from core.services.lists.listing import Listing
from core.services.lists.paging import Page, Paging
from core.services.lists.records import format_mode
from core.services.lists.spreadsheets import Cell, SheetColumn
from core.services.lists.windows import Span
from core.store.access import AnyRow, AnySelect, Scope, ScopedSession, read_in, reading, reading_replica, writing
from core.store.schema.tables import ExportReceipt, Staff

_TIMES = ("Columns in _at are UTC, columns in _on are days in Lagos.", "All times and days are those of Lagos.")
COMMAND = "command"
Sorting = Literal["newest", "oldest", "most-rows", "fewest-rows", "largest", "smallest"]
_MADE, _ID = col(ExportReceipt.created_at), col(ExportReceipt.id)
_ROWS, _SUM = col(ExportReceipt.rows), col(ExportReceipt.sum_minor)
ORDERS: Mapping[Sorting, tuple[Any, ...]] = {
    "newest": (_MADE.desc(), _ID.desc()),
    "oldest": (_MADE, _ID),
    "most-rows": (_ROWS.desc(), _MADE.desc(), _ID.desc()),
    "fewest-rows": (_ROWS, _MADE, _ID),
    "largest": (_SUM.desc(), _MADE.desc(), _ID.desc()),
    "smallest": (_SUM, _MADE, _ID),
}


def _is_by(_: Any, person: UUID | str) -> Condition:
    return col(ExportReceipt.staff_id).is_(None) if person == COMMAND else col(ExportReceipt.staff_id) == person


class ReceiptFilter(Filter, on=(ExportReceipt,)):
    """Filter of receipts: `person` is an id or `command`, `is_live` the mode of the records."""

    kinds: tuple[str, ...] = of(
        Words, label="Export", column="kind", address="kind", options=TITLES, anything="Every kind"
    )
    person: UUID | str | None = of(
        Member, label="By", column=_is_by, address="person", also=(COMMAND,), what="person", anything="Everybody"
    )
    created: Span = of(Days, column="created_at", address="from to")
    is_live: bool | None = of(Flag, column="is_live")


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportOrder:
    """A requested export; `staff_id` is None for the command line, `again_of` is the receipt that it repeats.

    `selected` is what the name of a file for people says of its selection.
    """

    id: UUID
    kind: Listing[Any]
    format: Format
    selection: Filter
    is_live: bool
    actor: str
    arrangement: Arrangement = USUAL
    staff_id: UUID | None = None
    again_of: UUID | None = None
    selected: str = ""

    @property
    def address(self) -> dict[str, list[str]]:
        """The parameters that make the same file again: its selection, columns and order."""
        return {**self.selection.address(), **self.arrangement.address(self.kind)}

    @property
    def sheet(self) -> Sheet:
        """Title and columns of the file."""
        columns = [SheetColumn(column.heading, column.type) for column in self.arrangement.of(self.kind)]
        return Sheet(title=self.kind.title, columns=columns, is_for_people=self.arrangement.is_for_people)

    @property
    def file_name(self) -> str:
        """Name of the exported file; that for people names its selection."""
        of = self.selected if self.arrangement.is_for_people else format_mode(self.is_live)
        return f"{'-'.join(filter(None, (self.kind.name, of)))}-{clock.today()}.{self.format.ending}"

    def facts(self, tally: Tally) -> Sequence[tuple[str, Cell]]:
        """Return the (label, value) facts of the receipt sheet, once all rows have passed."""
        filters = [(name, ", ".join(values)) for name, values in self.selection.address().items()]
        summed = (
            [(f"Sum: {self.kind.sum_title}", float(money.to_naira(tally.sum_minor)))] if self.kind.sum_title else []
        )
        return [
            ("Export", self.kind.title),
            ("Receipt", str(self.id)),
            ("Records", format_mode(self.is_live)),
            *([(f"Filter: {name}", values) for name, values in filters] or [("Filters", "none")]),
            ("Columns", ", ".join(self.arrangement.columns) or "all"),
            ("Order", self.arrangement.order or self.kind.usual_order),
            ("Made by", self.actor),
            ("Made at (UTC)", clock.to_wire(clock.now()) or ""),
            ("Rows", tally.rows),
            *summed,
            ("SHA-256 of the rows as CSV", tally.sha256),
            ("Times and days", _TIMES[self.arrangement.is_for_people]),
        ]


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """Receipt of a complete export; `who` is an e-mail address, or "command line", `filters` its whole address."""

    id: UUID
    who: str
    staff_id: UUID | None
    kind: str
    format: str
    is_live: bool
    filters: Mapping[str, list[str]]
    rows: int
    sum_minor: int
    sha256: str
    content_sha256: str
    again_of: UUID | None
    created_at: datetime


@dataclass(frozen=True, kw_only=True, slots=True)
class Difference:
    """Differences between two runs of the same export: rows, kobo, and whether all lines are equal."""

    rows: int
    sum_minor: int
    is_same: bool


def compare_receipts(before: Receipt, after: Receipt) -> Difference:
    """Compare two runs by their CSV rows, as no two workbook files are equal byte by byte."""
    return Difference(
        rows=after.rows - before.rows,
        sum_minor=after.sum_minor - before.sum_minor,
        is_same=after.content_sha256 == before.content_sha256,
    )


def record_start(session: ScopedSession, order: ExportOrder) -> None:
    """Write the audit entry of a starting export; even an interrupted export has disclosed data.

    InvalidInput when it claims to repeat a different export.
    """
    require_same_export(session, order)
    again = {"again_of": str(order.again_of)} if order.again_of else {}
    facts = {
        "kind": order.kind.name,
        "format": order.format.name,
        "mode": format_mode(order.is_live),
        "filters": order.selection.address(),
        **order.arrangement.describe(order.kind),
        **again,
    }
    audit.note(session, "export", order.id, "export started", actor=order.actor, **facts)


def require_same_export(session: ScopedSession, order: ExportOrder) -> None:
    """Raise InvalidInput for an order that claims to repeat a different export."""
    if order.again_of is None:
        return
    earlier = get_receipt(session, order.again_of)
    requested = (order.kind.name, order.is_live, order.address)
    if earlier is None or (earlier.kind, earlier.is_live, earlier.filters) != requested:
        raise InvalidInput.for_field("again", "must be the receipt of the same export")


def store_receipt(session: ScopedSession, order: ExportOrder, tally: Tally) -> None:
    """Store the receipt of a complete export."""
    session.insert(
        ExportReceipt(
            id=order.id,
            staff_id=order.staff_id,
            kind=order.kind.name,
            format=order.format.name,
            is_live=order.is_live,
            filters=order.address,
            rows=tally.rows,
            sum_minor=tally.sum_minor,
            sha256=tally.file_sha256,
            content_sha256=tally.sha256,
            again_of=order.again_of,
            created_at=clock.now(),
        )
    )
    summed = {"total": money.to_wire(tally.sum_minor)} if order.kind.sum_title else {}
    facts = {"rows": tally.rows, **summed, "sha256": tally.file_sha256}
    audit.note(session, "export", order.id, "export finished", actor=order.actor, **facts)


def get_receipt(session: ScopedSession, receipt_id: UUID) -> Receipt | None:
    """Return a receipt by its id, None while its export is not complete."""
    row = session.execute(_receipts().where(col(ExportReceipt.id) == receipt_id)).one_or_none()
    return _receipt(row) if row else None


def get_complete(session: ScopedSession, receipt_id: UUID) -> Receipt:
    """Like `get_receipt`, but raises NotFound."""
    receipt = get_receipt(session, receipt_id)
    if receipt is None:
        raise NotFound("There is no such receipt: an export that was broken off has none")
    return receipt


def list_receipts(
    session: ScopedSession, criteria: ReceiptFilter, paging: Paging = Paging(), *, order: Sorting = "newest"
) -> Page[Receipt]:
    """A page of the receipts of everybody, with the exact total."""
    conditions = criteria.conditions(ExportReceipt)
    total = session.count_rows(ExportReceipt, *conditions)
    query = _receipts().where(*conditions).order_by(*ORDERS[order]).limit(paging.limit).offset(paging.offset)
    return Page([_receipt(row) for row in session.execute(query)], total)


def list_repeats(session: ScopedSession, receipt_id: UUID) -> Sequence[Receipt]:
    """Return the later runs of an export, newest first, at most 20."""
    query = _receipts().where(col(ExportReceipt.again_of) == receipt_id)
    return [_receipt(row) for row in session.execute(query.order_by(*ORDERS["newest"]).limit(20))]


def list_makers(session: ScopedSession) -> Mapping[str, str]:
    """Return the makers of receipts as filter values: staff ids with e-mail addresses, and the command line."""
    staff_query = sa.select(col(Staff.id), col(Staff.email)).where(
        col(Staff.id).in_(sa.select(col(ExportReceipt.staff_id)).distinct())
    )
    rows = session.execute(staff_query.order_by(col(Staff.email)))
    return {**{str(key): email for key, email in rows}, COMMAND: audit.COMMAND_LINE}


def _receipt(row: AnyRow) -> Receipt:
    return Receipt(**{**row._mapping, "who": row.who or audit.COMMAND_LINE})


def _receipts() -> AnySelect:
    columns = [name for name in Receipt.__dataclass_fields__ if name != "who"]
    return sa.select(col(Staff.email).label("who"), *(col(getattr(ExportReceipt, name)) for name in columns)).outerjoin(
        Staff, col(Staff.id) == col(ExportReceipt.staff_id)
    )


if TYPE_CHECKING:
    from core.services.people.staff import Person

_OF_EVERY_KIND: Final = ("mode", "receipt", "again")
_MOST_COMPARED: Final = 10
_LONGEST_NAME: Final = 100
_running: dict[UUID, Tally] = {}


def create_order(kind_name: str, format_name: str, address: Address, *, by: "Person | str") -> ExportOrder:
    """Make the order of a person whose role may export this kind, or of a command by the name of its actor.

    The address holds the selection, `columns` and `order`, `mode`, the id that a new `receipt` is to have, and that of
    the one to make `again`. A filter, column or order that this kind does not have is refused.
    """
    kind, format_ = get_kind(kind_name), get_format(format_name)
    if not isinstance(by, str):
        kind.require_role(by)
    _refuse_unknown(kind, address)
    given = {name: address[name][-1] for name in _OF_EVERY_KIND if address.get(name)}
    arranged, selection = exports.read(kind, address), kind.read(address)
    is_live = given.get("mode") != "test"
    if kind.is_live_only and not is_live:
        raise InvalidInput.for_field("mode", f"must be live: there are no {kind.noun[1]} of test mode")
    return ExportOrder(
        id=_choose_id(given.get("receipt")),
        kind=kind,
        arrangement=arranged,
        selected=_describe_selection(kind, selection, is_live=is_live) if arranged.is_for_people else "",
        format=format_,
        selection=selection,
        is_live=is_live,
        actor=by if isinstance(by, str) else by.actor,
        staff_id=None if isinstance(by, str) else by.id,
        again_of=ids.parse(given["again"], "again") if "again" in given else None,
    )


def _describe_selection(kind: Listing[Any], selection: Filter, *, is_live: bool) -> str:
    """Return a selection as a part of a file name: "2026-10-01-to-2026-10-31-provider-crownstone"."""
    with reading(Scope.system()) as session:
        names: Mapping[Any, Mapping[UUID, str]] = load_choices(session).names
    given, parts = dict(selection.address()), [] if is_live else ["test"]
    if "from" in given and "to" in given:
        parts.append(f"{given.pop('from')[0]} to {given.pop('to')[0]}")
    for parameter in kind.parameters:
        if values := given.get(parameter.name):
            known = names.get(parameter.names, {})
            words = [str(known.get(ids.find(each), parameter.words.get(each, each))) for each in values]  # type: ignore[arg-type]
            parts += [parameter.name, *words]
    plain = unicodedata.normalize("NFKD", " ".join(parts)).lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_NAME]


def check_order(order: ExportOrder) -> None:
    """Refuse before sending: more rows than the format holds, or a rerun whose content differs."""
    read_in(Scope.system(), require_same_export, order)
    if order.format.max_rows is not None:
        with reading_replica(Scope.staff(is_live=order.is_live), exact=True) as session:
            rows = order.kind.count(session, order.selection)
        order.format.refuse_too_many(rows)


def stream(order: ExportOrder, tally: Tally) -> Iterator[bytes]:
    """Yield the file in chunks; the last one only after the receipt is stored, so a whole file has one."""
    held = None
    with writing(Scope.system()) as session:
        record_start(session, order)
    with (
        _tracking(order.id, tally),
        reading_replica(Scope.staff(is_live=order.is_live), exact=True) as session,
        # What is still being read ends before the session that it is read in.
        closing(exports.stream_lines(session, order.kind, order.selection, tally, order.arrangement)) as lines,
    ):
        for chunk in order.format.convert(lines, order.sheet, lambda: order.facts(tally), tally):
            if held is not None:
                yield held
            held = chunk
    with writing(Scope.system()) as session:
        store_receipt(session, order, tally)
    telemetry.count("exports", order.kind.name, order.format.name)
    yield held or b""


def write_file(
    order: ExportOrder, out: BinaryIO, *, guard: Callable[[], AbstractContextManager[None]] = nullcontext
) -> Tally:
    """Check the order and write the whole file to an open binary file; returns its count, sum and hash.

    `guard` is entered around each write, which alone can fail by the file and not by the store.
    """
    tally = Tally()
    check_order(order)
    for chunk in stream(order, tally):
        with guard():
            out.write(chunk)
    return tally


def get_row_count(export_id: UUID) -> int | None:
    """Return the rows that a running export has written, None when it does not run in this process."""
    tally = _running.get(export_id)
    return tally.rows if tally else None


@contextmanager
def _tracking(export_id: UUID, tally: Tally) -> Iterator[None]:
    _running[export_id] = tally
    try:
        yield
    finally:
        _running.pop(export_id, None)


def _choose_id(wanted: str | None) -> UUID:
    """Return the id that a new receipt is to have, a new one when another export has it."""
    if wanted is None:
        return ids.new()
    wanted_id = ids.parse(wanted, "receipt")
    with reading(Scope.system()) as session:
        is_taken = get_receipt(session, wanted_id) or get_row_count(wanted_id) is not None
    return ids.new() if is_taken else wanted_id


def _refuse_unknown(kind: Listing[Any], address: Address) -> None:
    """Refuse what does not narrow this export: a filter that is passed over makes a file of everybody."""
    narrowing = (parameter.name for parameter in kind.parameters)
    known = [*_OF_EVERY_KIND, *narrowing, *exports.list_parameters(kind)]
    faults = []
    for name in [name for name in address if name not in known][:_MOST_COMPARED]:
        meant = suggestion(name, known)
        word = f"is not known, did you mean {meant}?" if meant else f"is not known here, use {', '.join(known)}"
        faults.append(FieldFault(ascii(name[:100])[1:-1], word))
    if not set(address.get("mode", ["live"])) <= {"live", "test"}:
        faults.append(FieldFault("mode", "must be live or test"))
    raise_faults(faults)
