"""The trace that a request belongs to, as its caller names it in `traceparent` (W3C Trace Context, contract O4)."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Final, NamedTuple

from core import ids

HEADER: Final = "traceparent"
_FORMAT: Final = re.compile(
    r"(?!ff)[0-9a-f]{2}-(?P<trace>[0-9a-f]{32})-(?P<span>[0-9a-f]{16})-(?P<flags>[0-9a-f]{2})(?:-.*)?"
)
_current: ContextVar[str | None] = ContextVar("trace_id", default=None)
_span: ContextVar[str | None] = ContextVar("span_id", default=None)
_SAMPLED: Final = 1


class Caller(NamedTuple):
    """The span that called us, as a `traceparent` header names it; ids are lower-case hexadecimal."""

    trace_id: str
    span_id: str
    is_sampled: bool


def parse_caller(header: str) -> Caller | None:
    """Return what a `traceparent` header says; None for one that is not well-formed, which counts as none."""
    found = _FORMAT.fullmatch(header)
    if found is None or not (found["trace"].strip("0") and found["span"].strip("0")):
        return None
    return Caller(found["trace"], found["span"], bool(int(found["flags"], 16) & _SAMPLED))


def parse(header: str) -> str | None:
    """Return the trace id of a `traceparent` header; None for one that is not well-formed."""
    caller = parse_caller(header)
    return caller.trace_id if caller else None


def current() -> str | None:
    """Return the trace id of the request in progress, None outside a trace."""
    return _current.get()


@contextmanager
def within(trace_id: str | None, span_id: str | None = None) -> Iterator[None]:
    """Make what happens in the block part of a trace, and of one of its spans where that is exported."""
    tokens = _current.set(trace_id), _span.set(span_id)
    try:
        yield
    finally:
        _current.reset(tokens[0])
        _span.reset(tokens[1])


def build_headers() -> dict[str, str]:
    """Return the `traceparent` that continues the trace in progress with a span of ours; nothing outside a trace."""
    trace_id = _current.get()
    return {HEADER: f"00-{trace_id}-{_span.get() or ids.new_request_id()}-01"} if trace_id else {}
