"""Structured logging: one JSON line per event, allow-listed fields only, no request bodies and no secrets."""

import contextlib
import logging
import sys
import traceback
from collections.abc import MutableMapping
from typing import Any

import orjson
import structlog

from core.settings import settings

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


class _SafeStandardError:
    """Standard error that never raises: a full log disk must not break a response."""

    def write(self, text: str) -> None:
        """Write the text, ignoring OSError."""
        with contextlib.suppress(OSError):
            sys.stderr.write(text)

    def flush(self) -> None:
        """Flush, ignoring OSError."""
        with contextlib.suppress(OSError):
            sys.stderr.flush()


def _encode(event: object, **_: Any) -> str:
    return orjson.dumps(event, default=repr).decode()


def configure() -> None:
    """Configure JSON logging to standard error; JSON escapes line breaks in values."""
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
        logger_factory=structlog.PrintLoggerFactory(file=_SafeStandardError()),  # type: ignore[arg-type]
        cache_logger_on_first_use=False,
    )


def _add_stack(_: object, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Log the stack of an exception without its message or local values: those may be personal data."""
    if event.pop("exc_info", None):
        frames = traceback.extract_tb(sys.exc_info()[2])[-4:]
        event["exception"] = " < ".join(
            f"{f.filename.rsplit('/', 1)[-1]}:{f.lineno} {f.name}" for f in reversed(frames)
        )
    return event
