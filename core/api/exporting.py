"""Exports as downloads: a stream behind a person's session, with a receipt once it is whole (contract A4)."""

from collections.abc import Iterator
from typing import BinaryIO

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from core import clock, ids
from core.errors import CoverdeskError, NotAllowed, StoreUnavailable, Unauthorized
from core.services import exports, progress, receipts, sign_in, staff
from core.services.exports import Tally
from core.services.receipts import Order
from core.services.selection import Selection
from core.store.engine import reading, writing
from core.store.scope import Scope

PATH = "/exports/purchases.csv"
ROLES = ("operations", "finance")
_NOT_KEPT = {"Cache-Control": "no-store"}


def streamed(order: Order, tally: Tally) -> Iterator[bytes]:
    """The export in chunks; the last one is held back until the receipt is kept, so a whole file has one."""
    held = b""
    with writing(Scope.system()) as session:
        receipts.begin(session, order)
    with progress.of(order.id, tally), reading(Scope.staff(is_live=order.is_live)) as session:
        for chunk in exports.lines(session, order.selection.wanted, tally):
            if held:
                yield held
            held = chunk
    with writing(Scope.system()) as session:
        receipts.keep(session, order, tally)
    yield held


def export_to(order: Order, out: BinaryIO) -> Tally:
    """Write the export to an open binary file, for commands; returns what it contained."""
    tally = Tally()
    for chunk in streamed(order, tally):
        out.write(chunk)
    return tally


def download(request: Request) -> Response:
    """The purchases of an address as CSV, for somebody whose role has the purchases screen."""
    if request.method != "GET":
        return PlainTextResponse("", 405, _NOT_KEPT | {"Allow": "GET"})
    try:
        order = _order(request)
    except CoverdeskError as error:
        again = {"Retry-After": str(error.retry_after)} if isinstance(error, StoreUnavailable) else {}
        return PlainTextResponse(str(error), error.status, _NOT_KEPT | again)
    name = f"purchases-{'live' if order.is_live else 'test'}-{clock.today()}.csv"
    return StreamingResponse(
        streamed(order, Tally()),
        media_type="text/csv; charset=utf-8",
        headers={"Content-Disposition": f'attachment; filename="{name}"', **_NOT_KEPT},
    )


def _order(request: Request) -> Order:
    query = request.query_params
    wanted_id = ids.parse(query["receipt"], "receipt") if "receipt" in query else ids.new()
    with reading(Scope.system()) as session:
        person = staff.person_of(session, request.cookies.get(sign_in.COOKIE))
        taken = receipts.one(session, wanted_id) or progress.rows(wanted_id) is not None
    if person is None:
        raise Unauthorized("Please sign in first")
    # A link on somebody else's page must not make a file of personal data.
    if not person.may(*ROLES) or request.headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
        raise NotAllowed
    return Order(
        id=ids.new() if taken else wanted_id,
        selection=Selection.read({name: query.getlist(name) for name in query}),
        is_live=query.get("mode") != "test",
        actor=person.actor,
        staff_id=person.id,
    )


routes = [Route(PATH, download, methods=["GET"])]
