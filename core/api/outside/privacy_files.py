"""Files of the privacy desk for signed-in people of compliance: the pack of a person, and the figures of a year."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from core import ids
from core.api.outside import desk_session
from core.errors import CoverdeskError
from core.services.compliance import pack, yearly
from core.services.people.staff import Person
from core.store.access import Scope, transact

_NO_STORE = {"Cache-Control": "no-store"}


def download_pack(request: Request) -> Response:
    """Everything that is held of the person of a request, as a ZIP; the log keeps who took it."""

    def make(by: Person) -> Response:
        request_id = ids.parse(request.path_params["request_id"], "request")
        made = transact(Scope.system(), lambda session: pack.make(session, request_id, by=by))
        return _file(made.content, "application/zip", made.file_name)

    return _answer(request, make)


def download_year(request: Request) -> Response:
    """The figures of a year as CSV."""

    def make(by: Person) -> Response:
        year = int(request.path_params["year"])
        content = transact(Scope.system(), lambda session: yearly.write_file(session, year, by=by))
        return _file(content, "text/csv; charset=utf-8", f"privacy-figures-{year}.csv")

    return _answer(request, make)


def _answer(request: Request, make: Callable[[Person], Response]) -> Response:
    try:
        return make(desk_session.require_person(request))
    except CoverdeskError as error:
        return PlainTextResponse(str(error), error.status, _NO_STORE)


def _file(content: bytes, media_type: str, name: str) -> Response:
    headers = {"Content-Disposition": f'attachment; filename="{name}"', **_NO_STORE}
    return Response(content, media_type=media_type, headers=headers)


routes = [
    Route("/data-requests/{request_id}.zip", download_pack, methods=["GET"]),
    Route("/privacy-figures/{year:int}.csv", download_year, methods=["GET"]),
]
