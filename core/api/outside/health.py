"""State of the process and the store for whoever watches, and the page of metrics."""

import hmac
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from socketserver import ThreadingMixIn
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from core import telemetry
from core.desk import status
from core.errors import StateForbids
from core.settings import settings
from core.store.access import Scope, reading

if TYPE_CHECKING:
    from prometheus_client.core import Metric

    from core.desk.gauges import Gauge


async def healthz(_: Request) -> Response:
    """The process answers."""
    return JSONResponse({"status": "ok"})


def readyz(_: Request) -> Response:
    """The store takes part: it can be read and written and has the shape that this code wants.

    Where a replica is configured the answer says how that stands, which decides nothing: the primary can do its work.
    """
    try:
        fault, replica = status.find_fault(), status.describe_replica()
    except StateForbids as refused:
        fault, replica = str(refused), None
    except status.UNANSWERED:
        fault, replica = "the store does not answer", None
    if fault:
        return JSONResponse({"status": "not ready", "reason": fault}, 503, {"Retry-After": "2"})
    return JSONResponse({"status": "ready"} | ({"replica": replica} if replica else {}))


PATH = "/metrics"
log = structlog.get_logger("coverdesk.metrics")


class _StoreCollector:
    """Reads the gauges of the store once for each scrape; without the store, the counters are told all the same."""

    def collect(self) -> Iterator["Metric"]:
        # Imported by the first scrape, here and below: a server or worker that nobody scrapes does without.
        from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily  # noqa: PLC0415

        from core.desk.gauges import GAUGES  # noqa: PLC0415

        found = _read()
        for name, (text, labels) in GAUGES.items():
            values = [gauge for gauge in found if gauge.name == name]
            family: Any = (CounterMetricFamily if name.endswith("_total") else GaugeMetricFamily)(
                f"coverdesk_{name}", text, labels=labels
            )
            for gauge in values:
                family.add_metric(gauge.labels, gauge.value)
            if values:
                yield family


def _read() -> "Sequence[Gauge]":
    from core.desk import gauges  # noqa: PLC0415

    try:
        with reading(Scope.system()) as session:
            return [*gauges.list_gauges(session), gauges.Gauge("up", 1)]
    except Exception as error:
        log.warning("gauges not read", error=type(error).__name__, exc_info=True)
        return [gauges.Gauge("up", 0)]


def render() -> tuple[bytes, str]:
    """Return what Prometheus reads, and its content type."""
    from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest  # noqa: PLC0415

    everything = CollectorRegistry()
    everything.register(_StoreCollector())
    counted = generate_latest(telemetry.metrics_registry())
    return counted + generate_latest(everything), CONTENT_TYPE_LATEST


def _may_read(header: str | None) -> bool:
    token = settings().metrics_token.get_secret_value()
    return not token or hmac.compare_digest((header or "").encode(), f"Bearer {token}".encode())


def show(request: Request) -> Response:
    """The metrics for who has the token; nothing is here while they are off or have a port of their own."""
    if not settings().metrics or settings().metrics_port:
        return PlainTextResponse("Not Found", 404)
    if not _may_read(request.headers.get("authorization")):
        return PlainTextResponse("Unauthorized", 401, {"WWW-Authenticate": "Bearer"})
    body, content_type = render()
    return Response(body, headers={"Content-Type": content_type, "Cache-Control": "no-store"})


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Quiet(WSGIRequestHandler):
    def log_message(self, *_: Any) -> None:
        """Say nothing: a scrape every few seconds would fill the log."""


def _answer(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
    if environ["PATH_INFO"] != PATH:
        start_response("404 Not Found", [])
        return [b""]
    if not _may_read(environ.get("HTTP_AUTHORIZATION")):
        start_response("401 Unauthorized", [("WWW-Authenticate", "Bearer")])
        return [b""]
    body, content_type = render()
    start_response("200 OK", [("Content-Type", content_type)])
    return [body]


def serve_apart(host: str) -> WSGIServer | None:
    """Count from now on; where a port is set, serve the metrics there until the process ends.

    OSError if the port is taken.
    """
    if not settings().metrics:
        return None
    telemetry.enable_metrics()
    if not settings().metrics_port:
        return None
    server = make_server(host, settings().metrics_port, _answer, _Server, _Quiet)
    threading.Thread(target=server.serve_forever, name="metrics", daemon=True).start()
    return server


routes = [Route("/healthz", healthz), Route("/readyz", readyz), Route(PATH, show, methods=["GET"])]
