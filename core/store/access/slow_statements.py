"""Log line of each statement that takes longer than a quarter of a second, also of one that fails, and span of any.

Both have its text, never its values.
"""

import re
import time
from collections.abc import Sequence
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import event
from sqlalchemy.engine.interfaces import ExceptionContext

from core import telemetry

SLOW_SECONDS: Final = 0.25
_MOST_CHARACTERS: Final = 2_000
_COLUMNS: Final = re.compile(r'(?<=SELECT )[\w.", ]{120,}?(?= FROM )')
_BEGAN: Final = "slow_statement_began"


def watch(engine: sa.Engine) -> None:
    """Time what SQLAlchemy executes on this engine."""

    @event.listens_for(engine, "before_cursor_execute")
    def _begin(connection: sa.Connection, *_: Any) -> None:
        connection.info[_BEGAN] = time.perf_counter()

    @event.listens_for(engine, "after_cursor_execute")
    def _end(connection: sa.Connection, _cursor: Any, statement: str, *_: Any) -> None:
        log_slow(statement, connection.info[_BEGAN])

    @event.listens_for(engine, "handle_error")
    def _fail(context: ExceptionContext) -> None:
        # One that waited for a lock until it was refused is what an operator looks for.
        if context.statement and context.connection and not context.connection.invalidated:
            log_slow(context.statement, context.connection.info.get(_BEGAN, time.perf_counter()))


def log_slow(statement: str, began: float) -> None:
    """Log a statement that began at a time of `perf_counter` and took too long."""
    note_all([statement], began)


def note_all(statements: Sequence[str], began: float) -> None:
    """Log statements that were sent in one trip; `rows` is their number. Where spans are exported, they are one."""
    seconds = time.perf_counter() - began
    if telemetry.exports_spans():
        telemetry.add_statements(_describe(statements), len(statements), seconds)
    if seconds >= SLOW_SECONDS:
        # Imported on first use: a command that asks the store one thing is done before the logger is loaded.
        import structlog  # noqa: PLC0415

        log = structlog.get_logger("coverdesk.store")
        telemetry.count("slow_statements")
        text = _describe(statements)
        log.warning("slow statement", statement=text, milliseconds=round(seconds * 1000, 1), rows=len(statements))


def _describe(statements: Sequence[str]) -> str:
    """Return the statements on one line, long lists of columns left out: whoever reads it looks for the conditions."""
    return _COLUMNS.sub("...", " ".join("; ".join(statements).split()))[:_MOST_CHARACTERS]
