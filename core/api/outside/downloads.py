"""Exports as downloads: streamed to a signed-in person, with a receipt at the end (contract A4)."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response, StreamingResponse
from starlette.routing import Route

from core.errors import CoverdeskError, NotAllowed, StoreUnavailable, Unauthorized
from core.services.exports import runs
from core.services.exports.exports import Tally
from core.services.exports.receipts import ExportOrder
from core.services.people import sign_in, staff
from core.services.people.staff import Person
from core.store.access import Scope, reading

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
    return runs.create_order(path["kind"], path["format"], address, by=_person(request))


def _person(request: Request) -> Person:
    with reading(Scope.system()) as session:
        person = staff.get_by_token(session, request.cookies.get(sign_in.COOKIE))
    if person is None:
        raise Unauthorized("Please sign in first")
    # A link on somebody else's page must not make a file of personal data.
    if request.headers.get("sec-fetch-site", "none") not in {"same-origin", "none"}:
        raise NotAllowed
    return person


routes = [Route(PATH, download, methods=["GET"])]
