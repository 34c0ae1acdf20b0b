"""Is the process up, and can it do its work: for load balancers and monitors."""

import sqlalchemy as sa
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from core.errors import StoreUnavailable
from core.services.office import readiness


async def healthz(_: Request) -> Response:
    """The process answers."""
    return JSONResponse({"status": "ok"})


def readyz(_: Request) -> Response:
    """The store takes part: it can be read and written and has the shape that this code wants."""
    try:
        fault = readiness.fault()
    except (StoreUnavailable, sa.exc.SQLAlchemyError, OSError):
        fault = "the store does not answer"
    if fault:
        return JSONResponse({"status": "not ready", "reason": fault}, 503, {"Retry-After": "2"})
    return JSONResponse({"status": "ready"})


routes = [Route("/healthz", healthz), Route("/readyz", readyz)]
