"""Spans of requests, statements and calls for OpenTelemetry, where COVERDESK_OTLP_URL is set (contract O4).

Nothing of OpenTelemetry is imported before `start`, and a span costs next to nothing while nobody wants it. The web
framework could make spans of its own, whose query strings and callers' addresses are personal data: it is not told.
"""

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal

from core import trace
from core.settings import settings
from core.version import VERSION

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import Span, TracerProvider
    from opentelemetry.trace import Tracer

Facts = Mapping[str, str | int]
_PATH: Final = "/v1/traces"
# For one batch, and for what is left when a server stops: a collector that does not answer must not hold it up.
_EXPORT_SECONDS: Final = 5
_STOP_SECONDS: Final = 6.0
_NANOSECONDS: Final = 1_000_000_000


@dataclass(frozen=True, slots=True)
class _Exporting:
    provider: "TracerProvider"
    tracer: "Tracer"
    database: str


class _Complaints(logging.Handler):
    """Turns what the exporter complains of into a line of our log, without its words, which name addresses."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log that spans were not taken."""
        import structlog  # noqa: PLC0415 a command that exports nothing does without it

        structlog.get_logger("coverdesk.spans").warning("spans not exported", error=record.levelname)


_live: list[_Exporting] = []
_complaints: Final = _Complaints()


def is_on() -> bool:
    """Return True while spans are exported."""
    return bool(_live)


def start() -> None:
    """Begin to export to COVERDESK_OTLP_URL, if it is set; safe to repeat."""
    address = settings().otlp_url
    if address is None or _live:
        return
    provider = build_provider(address + _PATH)
    database = "sqlite" if settings().database_url.startswith("sqlite") else "postgresql"
    library = logging.getLogger("opentelemetry")
    library.propagate = False
    library.addHandler(_complaints)
    _live.append(_Exporting(provider, provider.get_tracer("coverdesk", VERSION), database))


def stop() -> None:
    """Export what is left, for some seconds at most, and end."""
    if not _live:
        return
    # The library waits half a minute for a collector that is away.
    ending = threading.Thread(target=_live.pop().provider.shutdown, name="spans", daemon=True)
    ending.start()
    ending.join(_STOP_SECONDS)
    library = logging.getLogger("opentelemetry")
    library.removeHandler(_complaints)
    library.propagate = True


def build_provider(endpoint: str) -> "TracerProvider":
    """Return what exports spans to an address; it needs the extra `otel`."""
    from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter  # noqa: PLC0415 an extra
    from opentelemetry.sdk.resources import Resource  # noqa: PLC0415
    from opentelemetry.sdk.trace import TracerProvider  # noqa: PLC0415
    from opentelemetry.sdk.trace.export import BatchSpanProcessor  # noqa: PLC0415
    from opentelemetry.sdk.trace.id_generator import RandomIdGenerator  # noqa: PLC0415

    class TraceIds(RandomIdGenerator):
        """Of a span without a parent: work that was kept for later stays in the trace of the request behind it."""

        def generate_trace_id(self) -> int:
            trace_id = trace.current()
            return super().generate_trace_id() if trace_id is None else int(trace_id, 16)

    resource = Resource.create({"service.version": VERSION})
    # Unless OTEL_SERVICE_NAME says otherwise.
    if str(resource.attributes["service.name"]).startswith("unknown_service"):
        resource = resource.merge(Resource({"service.name": "coverdesk"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=TraceIds())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint, timeout=_EXPORT_SECONDS)))
    return provider


@contextmanager
def open_span(
    name: str, kind: Literal["server", "client", "internal"], caller: trace.Caller | None = None
) -> Iterator[None]:
    """Make the block a span: a child of the caller's, of the one around it, or the first of the trace it is in.

    An error that leaves the block marks the span, by its type alone.
    """
    if not _live:
        with trace.within(caller.trace_id if caller else trace.current()):
            yield
        return
    from opentelemetry import trace as api  # noqa: PLC0415 loaded long ago

    span = _live[0].tracer.start_span(name, _continuing(caller), api.SpanKind[kind.upper()])
    own = span.get_span_context()
    with (
        trace.within(f"{own.trace_id:032x}", f"{own.span_id:016x}"),
        api.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False),
    ):
        try:
            yield
        except Exception as error:
            fail(type(error).__name__)
            raise


def _continuing(caller: trace.Caller | None) -> Any:  # noqa: ANN401 a context of a library that may not be there
    """Return the context of a span's parent; None for the one around it."""
    if caller is None:
        return None
    from opentelemetry import trace as api  # noqa: PLC0415

    flags = api.TraceFlags(api.TraceFlags.SAMPLED if caller.is_sampled else api.TraceFlags.DEFAULT)
    ids = int(caller.trace_id, 16), int(caller.span_id, 16)
    return api.set_span_in_context(api.NonRecordingSpan(api.SpanContext(*ids, is_remote=True, trace_flags=flags)))


def note(facts: Facts, *, name: str | None = None) -> None:
    """Add facts to the span in progress, and give it the name that is known by now."""
    if span := _current():
        span.set_attributes(dict(facts))
        if name is not None:
            span.update_name(name)


def fail(kind: str) -> None:
    """Mark the span in progress as failed, with a word of ours; the first word stays, as it is nearest to the cause."""
    if span := _current():
        from opentelemetry.trace import StatusCode  # noqa: PLC0415

        if span.status.status_code is StatusCode.UNSET:
            span.set_status(StatusCode.ERROR)
            span.set_attribute("error.type", kind)


def add_statements(text: str, count: int, seconds: float) -> None:
    """Add a span of statements that were sent in one trip and have just ended, to the span in progress if there is one.

    Work that nothing asked for, as the looks of a worker into its queues, has none.
    """
    if _current() is None:
        return
    now = time.time_ns()
    facts: dict[str, str | int] = {
        "db.system.name": _live[0].database,
        "db.query.text": text,
        "db.operation.batch.size": count,
    }
    name = text.partition(" ")[0]
    began = now - int(seconds * _NANOSECONDS)
    _live[0].tracer.start_span(name, start_time=began, attributes=facts).end(now)


def _current() -> "Span | None":
    if not _live:
        return None
    from opentelemetry import trace as api  # noqa: PLC0415

    span: Any = api.get_current_span()
    return span if span.is_recording() else None
