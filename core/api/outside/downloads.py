"""Exports as downloads: streamed to a signed-in person, with a receipt at the end (contract A4)."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from core.api.outside import desk_session
from core.errors import CoverdeskError, StoreUnavailable
from core.services.exports import runs
from core.services.exports.exports import Tally
from core.services.exports.receipts import ExportOrder

PATH = "/exports/{kind}.{format}"
_NO_STORE = {"Cache-Control": "no-store"}


def download(request: Request) -> Response:
    """The rows of a selection as a file, for people whose role may see that list."""
    if request.method != "GET":
        return PlainTextResponse("", 405, _NO_STORE | {"Allow": "GET"})
    try:
        order = _order(request)
        runs.check_order(order)
    except CoverdeskError as error:
        retry_headers = {"Retry-After": str(error.retry_after)} if isinstance(error, StoreUnavailable) else {}
        return PlainTextResponse(str(error), error.status, _NO_STORE | retry_headers)
    return StreamingResponse(
        runs.stream(order, Tally()),
        media_type=order.format.media_type,
        headers={"Content-Disposition": f'attachment; filename="{order.file_name}"', **_NO_STORE},
    )


def _order(request: Request) -> ExportOrder:
    query, path = request.query_params, request.path_params
    address = {name: query.getlist(name) for name in query}
    return runs.create_order(path["kind"], path["format"], address, by=desk_session.require_person(request))


routes = [Route(PATH, download, methods=["GET"])]
