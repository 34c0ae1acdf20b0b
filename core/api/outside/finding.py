"""Search of the command palette: records of any kind, for the signed-in person (contract A1)."""

from dataclasses import asdict
from typing import Final

import orjson
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from core.api.outside import signing_in
from core.errors import CoverdeskError, StoreUnavailable
from core.services.views import finder
from core.store.access import Scope, reading_replica

PATH: Final = "/desk/find"
_HEADERS = {"Cache-Control": "no-store", "Content-Type": "application/json"}


def find(request: Request) -> Response:
    """The records that the text `q` finds in the mode given by `mode`, as JSON."""
    try:
        person = signing_in.require_person(request)
        text = request.query_params.get("q", "")
        is_live = request.query_params.get("mode") != "test"
        with reading_replica(Scope.staff(is_live=is_live)) as session:
            found = finder.find_records(session, text, person)
    except CoverdeskError as error:
        again = {"Retry-After": str(error.retry_after)} if isinstance(error, StoreUnavailable) else {}
        return Response(orjson.dumps({"error": str(error)}), error.status, _HEADERS | again)
    return Response(orjson.dumps({"found": [asdict(hit) for hit in found]}), headers=_HEADERS)


routes = [Route(PATH, find, methods=["GET"])]
