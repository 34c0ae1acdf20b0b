"""Structured logging: one JSON line per event, allow-listed fields only, no request bodies and no secrets."""

import atexit
import contextlib
import logging
import queue
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

import orjson
import structlog

from core.settings import settings

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
        "insurer",
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


def drain() -> None:
    """Write every line that waits; called when a process ends."""
    while _writers:
        _writers.pop().close()


def _encode(event: object, **_: Any) -> str:
    return orjson.dumps(event, default=repr).decode()


def configure() -> None:
    """Configure JSON logging to standard error; JSON escapes line breaks in values."""
    if not _writers:
        _writers.append(BackgroundWriter(_write_standard_error))
        atexit.register(drain)
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


@contextlib.contextmanager
def muting_warnings() -> Iterator[None]:
    """Log errors alone, for a command that writes in bulk: that a statement of it is slow is no news to anybody."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.ERROR))
    try:
        yield
    finally:
        structlog.configure(**before)


def _add_stack(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Log the stack of an exception without its message: that may be personal data; with COVERDESK_DEBUG all of it."""
    if event.pop("exc_info", None):
        if settings().debug:
            return {**event, "exception": traceback.format_exc()}
        frames = traceback.extract_tb(sys.exc_info()[2])[-4:]
        event["exception"] = " < ".join(
            f"{f.filename.rsplit('/', 1)[-1]}:{f.lineno} {f.name}" for f in reversed(frames)
        )
    return event
