"""Runs of exports: what is ordered, the stream of the file, and how far it is (contract A4).

Screens, commands and schedules run exports here, so that each file has its receipt. A run opens its own transactions,
because it lasts as long as somebody reads the file.
"""

import re
import unicodedata
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING, Any, BinaryIO, Final
from uuid import UUID

from core import ids, telemetry
from core.covers.request import suggestion
from core.errors import FieldFault, InvalidInput
from core.services.exports import exports, receipts
from core.services.exports.exports import Tally, get_format, get_kind
from core.services.exports.receipts import ExportOrder
from core.services.lists.dimensions import load_choices
from core.services.lists.filters.declaration import Filter
from core.services.lists.filters.fields import Address
from core.services.lists.listing import Listing
from core.store.access import Scope, reading, reading_replica, writing

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
            words = [str(known.get(_read_id(each), parameter.words.get(each, each))) for each in values]  # type: ignore[arg-type]
            parts += [parameter.name, *words]
    plain = unicodedata.normalize("NFKD", " ".join(parts)).lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")[:_LONGEST_NAME]


def _read_id(value: str) -> UUID | None:
    try:
        return UUID(value)
    except ValueError:
        return None


def check_order(order: ExportOrder) -> None:
    """Refuse before sending: more rows than the format holds, or a rerun whose content differs."""
    with reading(Scope.system()) as session:
        receipts.require_same_export(session, order)
    if order.format.max_rows is not None:
        with reading_replica(Scope.staff(is_live=order.is_live), exact=True) as session:
            rows = order.kind.count(session, order.selection)
        order.format.refuse_too_many(rows)


def stream(order: ExportOrder, tally: Tally) -> Iterator[bytes]:
    """Yield the file in chunks; the last one only after the receipt is stored, so a whole file has one."""
    held = None
    with writing(Scope.system()) as session:
        receipts.record_start(session, order)
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
        receipts.store_receipt(session, order, tally)
    telemetry.count("exports", order.kind.name, order.format.name)
    yield held or b""


def write_file(order: ExportOrder, out: BinaryIO) -> Tally:
    """Check the order and write the whole file to an open binary file; returns its count, sum and hash."""
    tally = Tally()
    check_order(order)
    for chunk in stream(order, tally):
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
        is_taken = receipts.get_receipt(session, wanted_id) or get_row_count(wanted_id) is not None
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
    if faults:
        raise InvalidInput(faults)
