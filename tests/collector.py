"""A collector of OpenTelemetry on loopback, that reads what it is sent as OTLP over HTTP."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest


@dataclass(frozen=True)
class Exported:
    """One span as it arrived; ids are hexadecimal."""

    name: str
    kind: str
    trace_id: str
    span_id: str
    parent_id: str
    facts: dict[str, Any]
    is_failed: bool
    seconds: float


@dataclass
class Collector:
    url: str = ""
    spans: list[Exported] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    services: set[str] = field(default_factory=set)

    def named(self, name: str) -> list[Exported]:
        return [each for each in self.spans if each.name == name]

    def take(self, path: str, body: bytes) -> None:
        assert path == "/v1/traces"
        self.bodies.append(body)
        for resource in ExportTraceServiceRequest.FromString(body).resource_spans:
            self.services |= {_value(each) for each in resource.resource.attributes if each.key == "service.name"}
            self.spans += [_read(span) for scope in resource.scope_spans for span in scope.spans]


def _read(span: Any) -> Exported:
    return Exported(
        name=span.name,
        kind=span.SpanKind.Name(span.kind).removeprefix("SPAN_KIND_").lower(),
        trace_id=span.trace_id.hex(),
        span_id=span.span_id.hex(),
        parent_id=span.parent_span_id.hex(),
        facts={each.key: _value(each) for each in span.attributes},
        is_failed=span.status.code == span.status.STATUS_CODE_ERROR,
        seconds=(span.end_time_unix_nano - span.start_time_unix_nano) / 1e9,
    )


def _value(attribute: Any) -> Any:
    return getattr(attribute.value, attribute.value.WhichOneof("value"))


@contextmanager
def collecting() -> Iterator[Collector]:
    found = Collector()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            found.take(self.path, self.rfile.read(int(self.headers["content-length"])))
            self.send_response(200)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, *args: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        try:
            yield found
        finally:
            server.shutdown()
            thread.join()
