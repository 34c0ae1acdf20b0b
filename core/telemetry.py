"""Telemetry of this process: the trace of a request, spans, counters and lines of the log (contract O3, O4)."""

import atexit
import contextlib
import logging
import os
import queue
import re
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, NamedTuple

from core import ids
from core.errors import StoreUnavailable
from core.settings import VERSION, settings

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import Span, TracerProvider
    from opentelemetry.trace import Tracer
    from prometheus_client import CollectorRegistry
    from structlog.typing import FilteringBoundLogger


TRACE_HEADER: Final = "traceparent"
_TRACE_FORMAT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?:-.*)?"
)
_current_trace: ContextVar[str | None] = ContextVar("trace_id", default=None)
_current_span_id: ContextVar[str | None] = ContextVar("span_id", default=None)
_SAMPLED: Final = 1


class Caller(NamedTuple):
    """The span that called us, as a `traceparent` header names it; ids are lower-case hexadecimal."""

    trace_id: str
    span_id: str
    is_sampled: bool


def parse_caller(header: str) -> Caller | None:
    """Return what a `traceparent` header says; None for one that is not well-formed, which counts as none."""
    found = _TRACE_FORMAT.fullmatch(header)
    if found is None or not (found["trace"].strip("0") and found["span"].strip("0")):
        return None
    return Caller(found["trace"], found["span"], bool(int(found["flags"], 16) & _SAMPLED))


def current_trace() -> str | None:
    """Return the trace id of the request in progress, None outside a trace."""
    return _current_trace.get()


@contextmanager
def within_trace(trace_id: str | None, span_id: str | None = None) -> Iterator[None]:
    """Make what happens in the block part of a trace, and of one of its spans where that is exported."""
    tokens = _current_trace.set(trace_id), _current_span_id.set(span_id)
    try:
        yield
    finally:
        _current_trace.reset(tokens[0])
        _current_span_id.reset(tokens[1])


def build_trace_headers() -> dict[str, str]:
    """Return the `traceparent` that continues the trace in progress with a span of ours; nothing outside a trace."""
    trace_id = _current_trace.get()
    return {TRACE_HEADER: f"00-{trace_id}-{_current_span_id.get() or ids.new_request_id()}-01"} if trace_id else {}


# Spans of requests, statements and calls for OpenTelemetry, where COVERDESK_OTLP_URL is set (contract O4).
#
# Nothing of OpenTelemetry is imported before `start`, and a span costs next to nothing while nobody wants it. The web
# framework could make spans of its own, whose query strings and callers' addresses are personal data: it is not told.

Facts = Mapping[str, str | int]
_SPANS_PATH: Final = "/v1/traces"
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
        get_logger("coverdesk.spans").warning("spans not exported", error=record.levelname)


_exporting: list[_Exporting] = []
_complaints: Final = _Complaints()


def exports_spans() -> bool:
    """Return True while spans are exported."""
    return bool(_exporting)


def start_spans() -> None:
    """Begin to export to COVERDESK_OTLP_URL, if it is set; safe to repeat."""
    address = settings().otlp_url
    if address is None or _exporting:
        return
    provider = build_provider(address + _SPANS_PATH)
    database = "sqlite" if settings().database_url.startswith("sqlite") else "postgresql"
    library = logging.getLogger("opentelemetry")
    library.propagate = False
    library.addHandler(_complaints)
    _exporting.append(_Exporting(provider, provider.get_tracer("coverdesk", VERSION), database))


def stop_spans() -> None:
    """Export what is left, for some seconds at most, and end."""
    if not _exporting:
        return
    # The library waits half a minute for a collector that is away.
    ending = threading.Thread(target=_exporting.pop().provider.shutdown, name="spans", daemon=True)
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
            trace_id = current_trace()
            return super().generate_trace_id() if trace_id is None else int(trace_id, 16)

    resource = Resource.create({"service.version": VERSION})
    # Unless OTEL_SERVICE_NAME says otherwise.
    if str(resource.attributes["service.name"]).startswith("unknown_service"):
        resource = resource.merge(Resource({"service.name": "coverdesk"}))
    provider = TracerProvider(resource=resource, shutdown_on_exit=False, id_generator=TraceIds())
    provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(endpoint, timeout=_EXPORT_SECONDS)))
    return provider


@contextmanager
def open_span(name: str, kind: Literal["server", "client", "internal"], caller: Caller | None = None) -> Iterator[None]:
    """Make the block a span: a child of the caller's, of the one around it, or the first of the trace it is in.

    An error that leaves the block marks the span, by its type alone.
    """
    if not _exporting:
        with within_trace(caller.trace_id if caller else current_trace()):
            yield
        return
    from opentelemetry import trace as api  # noqa: PLC0415 loaded long ago

    span = _exporting[0].tracer.start_span(name, _continuing(caller), api.SpanKind[kind.upper()])
    own = span.get_span_context()
    with (
        within_trace(f"{own.trace_id:032x}", f"{own.span_id:016x}"),
        api.use_span(span, end_on_exit=True, record_exception=False, set_status_on_exception=False),
    ):
        try:
            yield
        except Exception as error:
            fail_span(type(error).__name__)
            raise


def _continuing(caller: Caller | None) -> Any:  # noqa: ANN401 a context of a library that may not be there
    """Return the context of a span's parent; None for the one around it."""
    if caller is None:
        return None
    from opentelemetry import trace as api  # noqa: PLC0415

    flags = api.TraceFlags(api.TraceFlags.SAMPLED if caller.is_sampled else api.TraceFlags.DEFAULT)
    ids = int(caller.trace_id, 16), int(caller.span_id, 16)
    return api.set_span_in_context(api.NonRecordingSpan(api.SpanContext(*ids, is_remote=True, trace_flags=flags)))


def note_span(facts: Facts, *, name: str | None = None) -> None:
    """Add facts to the span in progress, and give it the name that is known by now."""
    if span := _current_span():
        span.set_attributes(dict(facts))
        if name is not None:
            span.update_name(name)


def fail_span(kind: str) -> None:
    """Mark the span in progress as failed, with a word of ours; the first word stays, as it is nearest to the cause."""
    if span := _current_span():
        from opentelemetry.trace import StatusCode  # noqa: PLC0415

        if span.status.status_code is StatusCode.UNSET:
            span.set_status(StatusCode.ERROR)
            span.set_attribute("error.type", kind)


def add_statements(text: str, count: int, seconds: float) -> None:
    """Add a span of statements that were sent in one trip and have just ended, to the span in progress if there is one.

    Work that nothing asked for, as the looks of a worker into its queues, has none.
    """
    if _current_span() is None:
        return
    now = time.time_ns()
    facts: dict[str, str | int] = {
        "db.system.name": _exporting[0].database,
        "db.query.text": text,
        "db.operation.batch.size": count,
    }
    name = text.partition(" ")[0]
    began = now - int(seconds * _NANOSECONDS)
    _exporting[0].tracer.start_span(name, start_time=began, attributes=facts).end(now)


def _current_span() -> "Span | None":
    if not _exporting:
        return None
    from opentelemetry import trace as api  # noqa: PLC0415

    span: Any = api.get_current_span()
    return span if span.is_recording() else None


# Counters and histograms of this process for Prometheus (contract O3); they cost nothing while metrics are off.
#
# Labels are words of ours: routes, statuses, pages, insurers. Never a tenant, an id or the text of an error.

# Where API processes of one command keep what they counted, so that any of them can answer for all.
SHARED_FOLDER: Final = "PROMETHEUS_MULTIPROC_DIR"
_SECONDS: Final = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_KEPT_LABELS: Final = 300


@dataclass(frozen=True, slots=True)
class Metric:
    """A counter, or with `buckets` a histogram of seconds."""

    text: str
    labels: tuple[str, ...] = ()
    buckets: tuple[float, ...] = ()


METRICS: Final[Mapping[str, Metric]] = {
    "requests": Metric("Requests to the API.", ("route", "status")),
    "request_seconds": Metric("Time to answer a request to the API.", ("route",), _SECONDS),
    "idempotent_replays": Metric("Answers given again to a request that came a second time."),
    "requests_refused": Metric("Requests refused by a limit or for want of room.", ("reason",)),
    "deliveries": Metric("Policies sent to insurers, by what became of it.", ("insurer", "outcome")),
    "webhook_deliveries": Metric("Tries of deliveries to receivers, by what became of them.", ("outcome",)),
    "webhook_seconds": Metric("Time until a receiver answered, or a try was given up.", (), _SECONDS),
    "mails": Metric("E-mails handed over, by what became of them.", ("outcome",)),
    "exports": Metric("Files of records that were sent.", ("kind", "format")),
    "screen_seconds": Metric("Time of one run of a screen.", ("page",), _SECONDS),
    "slow_statements": Metric("Statements of the store that took longer than a quarter of a second."),
}
_metrics: dict[str, Any] = {}
_children: dict[tuple[str, ...], Any] = {}
_registries: list["CollectorRegistry"] = []


def enable_metrics() -> None:
    """Begin to count; safe to repeat."""
    if _metrics:
        return
    from prometheus_client import (  # noqa: PLC0415 costs start-up
        CollectorRegistry,
        Counter,
        Histogram,
        disable_created_metrics,
    )

    # The time at which each series began: as many again, and nothing asks for them.
    disable_created_metrics()  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    for name, metric in METRICS.items():
        if metric.buckets:
            _metrics[name] = Histogram(
                f"coverdesk_{name}", metric.text, metric.labels, registry=registry, buckets=metric.buckets
            )
        else:
            _metrics[name] = Counter(f"coverdesk_{name}", metric.text, metric.labels, registry=registry)
    _registries[:] = [registry]


def disable_metrics() -> None:
    """Stop counting and forget what was counted."""
    _metrics.clear()
    _children.clear()
    _registries.clear()


def count(name: str, *labels: str) -> None:
    """Add one to a counter."""
    if _metrics:
        _child(name, labels).inc()


def observe(name: str, seconds: float, *labels: str) -> None:
    """Add a duration to a histogram."""
    if _metrics:
        _child(name, labels).observe(seconds)


def _child(name: str, labels: tuple[str, ...]) -> Any:  # noqa: ANN401 - prometheus-client is imported late
    """The series of these labels; past a bound, which only a mistake of ours reaches, the rest share one."""
    key = (name, *labels)
    if (child := _children.get(key)) is None:
        if labels and sum(known[0] == name for known in _children) >= _KEPT_LABELS:
            key = (name, *("other" for _ in labels))
        metric = _metrics[name]
        child = _children[key] = metric.labels(*key[1:]) if labels else metric
    return child


def metrics_registry() -> "CollectorRegistry":
    """Return the registry of this process, or of all processes that share a folder."""
    from prometheus_client import CollectorRegistry  # noqa: PLC0415 costs start-up
    from prometheus_client.multiprocess import MultiProcessCollector  # noqa: PLC0415

    if not os.environ.get(SHARED_FOLDER):
        return _registries[0] if _registries else CollectorRegistry()
    shared = CollectorRegistry()
    MultiProcessCollector(shared)  # type: ignore[no-untyped-call]
    return shared


# Structured logging: one JSON line per event, allow-listed fields only, no request bodies and no secrets.

_GATHERED_SECONDS = 0.02
ALLOWED_FIELDS = frozenset(
    {
        "event",
        "level",
        "timestamp",
        "logger",
        "request_id",
        "method",
        "path",
        "status",
        "milliseconds",
        "caller",
        "error",
        "exception",
        "reason",
        "watch",
        "insurer",
        "host",
        "attempts",
        "rows",
        "statement",
        "trace_id",
    }
)


def drop_unlisted_fields(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Drop every field that is not allow-listed, so that nobody logs a body by accident."""
    return {name: value for name, value in event.items() if name in ALLOWED_FIELDS}


class BackgroundWriter:
    """A file whose lines are written by a thread, so that no request waits for the log; a close writes all of them.

    A log that takes nothing for a while holds up who writes to it once `bound` lines wait: none is thrown away.
    """

    def __init__(self, write: Callable[[str], object], *, bound: int = 10_000) -> None:
        self._write = write
        self._bound = bound
        self._lines: queue.SimpleQueue[str] = queue.SimpleQueue()
        self._starting = threading.Lock()
        self._has_space = threading.Condition()
        self._closing = threading.Event()
        self._thread: threading.Thread | None = None

    def write(self, text: str) -> None:
        """Hand a line over; after the close it is written at once."""
        if self._closing.is_set():
            self._write(text)
            return
        if self._thread is None:
            self._start()
        if self._lines.qsize() >= self._bound:
            self._wait_for_space()
        self._lines.put(text)
        if self._closing.is_set():
            # It closed in between, and its thread may have ended before this line.
            self._write_waiting()

    def flush(self) -> None:
        """Do nothing: the thread writes as soon as it can."""

    def close(self) -> None:
        """Write what was handed over, then whatever comes later without the thread."""
        with self._starting:
            self._closing.set()
        if self._thread is not None:
            self._lines.put("")
            self._thread.join()
        self._write_waiting()

    def _start(self) -> None:
        with self._starting:
            if self._thread is None and not self._closing.is_set():
                self._thread = threading.Thread(target=self._work, name="log", daemon=True)
                self._thread.start()

    def _wait_for_space(self) -> None:
        with self._has_space:
            self._has_space.wait_for(lambda: self._lines.qsize() < self._bound or self._closing.is_set())

    def _work(self) -> None:
        while not self._closing.is_set():
            first = self._lines.get()
            # A thread that wakes for each line takes a fifth of the processor time of a list (docs/performance.md).
            self._closing.wait(_GATHERED_SECONDS)
            self._write_waiting(first)

    def _write_waiting(self, first: str = "") -> None:
        lines = [first]
        with contextlib.suppress(queue.Empty):
            while True:
                lines.append(self._lines.get_nowait())
        if text := "".join(lines):
            self._write(text)
        with self._has_space:
            self._has_space.notify_all()


def _write_standard_error(text: str) -> None:
    """Write the text, ignoring OSError: a full log disk must not break a response."""
    with contextlib.suppress(OSError, ValueError):
        sys.stderr.write(text)
        sys.stderr.flush()


_writers: list[BackgroundWriter] = []
_LONGEST_WORDS = 200
_PLACE = re.compile(r'^  File "(.+)", line (\d+), in (\S+)$', re.MULTILINE)
_CLASS = re.compile(r'^  File ".+\n(?:[ ].*\n)*([\w.]+)', re.MULTILINE)


def drain_logs() -> None:
    """Write every line that waits; called when a process ends."""
    while _writers:
        _writers.pop().close()


def _encode(event: object, **_: Any) -> str:
    import orjson  # noqa: PLC0415 a command that logs nothing does without it

    return orjson.dumps(event, default=repr).decode()


class _LibraryLines(logging.Handler):
    """Turns a line of a library into one of our log: its first line, without the values, which may be anybody's."""

    def emit(self, record: logging.LogRecord) -> None:
        """Log the words of the record, the name of its logger, and the places of its exception.

        Of a stack that is written as words, as uvicorn writes that of a server that does not start, these are the class
        of the exception and its places.
        """
        text = str(record.msg)
        words, more = text.partition("\n")[0], {}
        if places := _PLACE.findall(text):
            # Below the code of the last place; what comes after it is its message.
            words = _CLASS.findall(text)[-1]
            more["exception"] = _format_places(places)
        logger = get_logger("coverdesk.libraries")
        note = logger.error if record.levelno >= logging.ERROR else logger.warning
        note(words[:_LONGEST_WORDS], logger=record.name, exc_info=record.exc_info, **more)


def configure_logs() -> None:
    """Configure JSON logging to standard error, of libraries too; JSON escapes line breaks in values."""
    import structlog  # noqa: PLC0415 a command that logs nothing does without it

    # Where a library has no handler, Python would write its words as they are.
    logging.lastResort = _library_lines

    if not _writers:
        _writers.append(BackgroundWriter(_write_standard_error))
        atexit.register(drain_logs)
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            _add_stack,
            drop_unlisted_fields,
            structlog.processors.JSONRenderer(_encode),
        ],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelName(settings().log_level)),
        logger_factory=structlog.WriteLoggerFactory(file=_writers[0]),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )


_library_lines: Final = _LibraryLines(logging.WARNING)


def get_logger(name: str) -> "FilteringBoundLogger":
    """Return a logger for what commands use too: they load nothing of logging before the first line.

    Where no server has configured logs, this does. By itself structlog writes to standard output, which for a command
    is the file that somebody keeps.
    """
    import structlog  # noqa: PLC0415

    _configure_unless_done()
    logger: FilteringBoundLogger = structlog.get_logger(name)
    return logger


def _configure_unless_done() -> None:
    import structlog  # noqa: PLC0415

    if not structlog.is_configured():
        configure_logs()


@contextlib.contextmanager
def muting_warnings() -> Iterator[None]:
    """Log errors alone, for a command that works at everything: that a statement of it is slow is no news."""
    import structlog  # noqa: PLC0415

    _configure_unless_done()
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        yield
    finally:
        structlog.configure(**before)


def _add_stack(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Log the stack of an exception without its message: that may be personal data; with COVERDESK_DEBUG all of it.

    Why the database is away holds none.
    """
    if given := event.pop("exc_info", None):
        kind, error, stack = given if isinstance(given, tuple) else sys.exc_info()
        if settings().debug:
            return {**event, "exception": "".join(traceback.format_exception(kind, error, stack))}
        if isinstance(error, StoreUnavailable):
            event["reason"] = error.reason
        event["exception"] = _format_places([(f.filename, f.lineno, f.name) for f in traceback.extract_tb(stack)])
    return event


def _format_places(places: Sequence[tuple[str, object, str]]) -> str:
    """Return file, line and function of the innermost calls of a stack, the last one first."""
    return " < ".join(f"{name.rsplit('/', 1)[-1]}:{line} {function}" for name, line, function in places[:-5:-1])
