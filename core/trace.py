"""The trace that a request belongs to, as its caller names it in `traceparent` (W3C Trace Context, contract O4)."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final

from core import ids

HEADER: Final = "traceparent"
_FORMAT: Final = re.compile(r"(?!ff)[0-9a-f]{2}-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-[0-9a-f]{2}(?:-.*)?")
_current: ContextVar[str | None] = ContextVar("trace_id", default=None)


def parse(header: str) -> str | None:
    """Return the trace id of a `traceparent` header; None for one that is not well-formed, which counts as none."""
    found = _FORMAT.fullmatch(header)
    return found["trace"] if found and found["trace"].strip("0") and found["span"].strip("0") else None


def current() -> str | None:
    """Return the trace id of the request in progress, None outside a trace."""
    return _current.get()


@contextmanager
def within(trace_id: str | None) -> Iterator[None]:
    """Make what happens in the block part of a trace."""
    token = _current.set(trace_id)
    try:
        yield
    finally:
        _current.reset(token)


def build_header(trace_id: str) -> str:
    """Return a `traceparent` that continues the trace with a span of ours."""
    return f"00-{trace_id}-{ids.new_request_id()}-01"
