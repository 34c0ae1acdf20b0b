"""Exports as downloads: streamed to a signed-in person, with a receipt at the end (contract A4)."""

from collections.abc import Iterator
from contextlib import closing
from typing import Any, BinaryIO, Final

from starlette.datastructures import QueryParams
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from core import ids
from core.api.outside import desk_session
from core.covers.request import suggestion
from core.errors import CoverdeskError, FieldFault, InvalidInput, StoreUnavailable
from core.services.exports import exports, progress, receipts
from core.services.exports.exports import ExportKind, Tally
from core.services.exports.formats import get_format
from core.services.exports.receipts import ExportOrder
from core.services.exports.registry import get_kind
from core.store.access.engine import reading, reading_replica, writing
from core.store.access.scope import Scope

PATH = "/exports/{kind}.{format}"
_NOT_KEPT = {"Cache-Control": "no-store"}
_OF_EVERY_KIND: Final = ("mode", "receipt", "again")
_MOST_COMPARED: Final = 10


def stream(order: ExportOrder, tally: Tally) -> Iterator[bytes]:
    """Yield the export in chunks; the last one only after the receipt is stored, so a whole file has one."""
    held = None
    with writing(Scope.system()) as session:
        receipts.record_start(session, order)
    with (
        progress.track_export(order.id, tally),
        reading_replica(Scope.staff(is_live=order.is_live), exact=True) as session,
        # What is still being read ends before the session that it is read in.
        closing(exports.stream_lines(session, order.kind, order.selection, tally)) as lines,
    ):
        for chunk in order.format.convert(lines, order.kind, lambda: order.facts(tally), tally):
            if held is not None:
                yield held
            held = chunk
    with writing(Scope.system()) as session:
        receipts.store_receipt(session, order, tally)
    yield held or b""


def export_to(order: ExportOrder, out: BinaryIO) -> Tally:
    """Write the export to an open binary file, for commands; returns its count, sum and hash."""
    tally = Tally()
    check_order(order)
    for chunk in stream(order, tally):
        out.write(chunk)
    return tally


def check_order(order: ExportOrder) -> None:
    """Refuse before sending: more rows than the format holds, or a rerun whose content differs."""
    with reading(Scope.system()) as session:
        receipts.require_same_export(session, order)
    if order.format.max_rows is not None:
        with reading_replica(Scope.staff(is_live=order.is_live), exact=True) as session:
            rows = order.kind.count(session, order.selection)
        order.format.refuse_too_many(rows)


def download(request: Request) -> Response:
    """The rows of a selection as a file, for people whose role may see that list."""
    if request.method != "GET":
        return PlainTextResponse("", 405, _NOT_KEPT | {"Allow": "GET"})
    try:
        order = _order(request)
        check_order(order)
    except CoverdeskError as error:
        again = {"Retry-After": str(error.retry_after)} if isinstance(error, StoreUnavailable) else {}
        return PlainTextResponse(str(error), error.status, _NOT_KEPT | again)
    return StreamingResponse(
        stream(order, Tally()),
        media_type=order.format.media_type,
        headers={"Content-Disposition": f'attachment; filename="{order.file_name}"', **_NOT_KEPT},
    )


def _order(request: Request) -> ExportOrder:
    query, person = request.query_params, desk_session.require_person(request)
    kind, format_ = get_kind(request.path_params["kind"]), get_format(request.path_params["format"])
    kind.require_role(person)
    _refuse_unknown(kind, query)
    wanted_id = ids.parse(query["receipt"], "receipt") if "receipt" in query else ids.new()
    with reading(Scope.system()) as session:
        taken = receipts.get_receipt(session, wanted_id) or progress.get_row_count(wanted_id) is not None
    return ExportOrder(
        id=ids.new() if taken else wanted_id,
        kind=kind,
        format=format_,
        selection=kind.read({name: query.getlist(name) for name in query}),
        is_live=query.get("mode") != "test",
        actor=person.actor,
        staff_id=person.id,
        again_of=ids.parse(query["again"], "again") if "again" in query else None,
    )


def _refuse_unknown(kind: ExportKind[Any], query: QueryParams) -> None:
    """Refuse what does not narrow this export: a filter that is passed over makes a file of everybody."""
    known = [*_OF_EVERY_KIND, *(parameter.name for parameter in kind.parameters)]
    faults = []
    for name in [name for name in query if name not in known][:_MOST_COMPARED]:
        meant = suggestion(name, known)
        word = f"is not known, did you mean {meant}?" if meant else f"is not known here, use {', '.join(known)}"
        faults.append(FieldFault(ascii(name[:100])[1:-1], word))
    if query.get("mode", "live") not in {"live", "test"}:
        faults.append(FieldFault("mode", "must be live or test"))
    if faults:
        raise InvalidInput(faults)


routes = [Route(PATH, download, methods=["GET"])]
