"""Health checks for load balancers and monitors: process up (`/healthz`), store usable (`/readyz`)."""

from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.errors import StateForbids
from core.services.admin import readiness


async def healthz(_: Request) -> Response:
    """The process answers."""
    return JSONResponse({"status": "ok"})


def readyz(_: Request) -> Response:
    """The store takes part: it can be read and written and has the shape that this code wants.

    Where a replica is configured the answer says how that stands, which decides nothing: the primary can do its work.
    """
    try:
        fault, replica = readiness.find_fault(), readiness.describe_replica()
    except StateForbids as refused:
        fault, replica = str(refused), None
    except readiness.UNANSWERED:
        fault, replica = "the store does not answer", None
    if fault:
        return JSONResponse({"status": "not ready", "reason": fault}, 503, {"Retry-After": "2"})
    return JSONResponse({"status": "ready"} | ({"replica": replica} if replica else {}))


routes = [Route("/healthz", healthz), Route("/readyz", readyz)]
