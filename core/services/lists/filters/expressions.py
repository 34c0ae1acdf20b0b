"""SQL expressions that several lists are filtered by."""

from collections.abc import Callable
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import UTCDateTime, col

from core import clock
from core.states.policies import PolicyStage
from core.store.access import AnySelect
from core.store.expressions import matches
from core.store.schema.tables import Policy


def in_force() -> sa.ColumnElement[bool]:
    """Return the condition of a policy in force: activated, not cancelled, declined or expired (contract S11)."""
    return sa.and_(
        col(Policy.activated),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        sa.or_(col(Policy.expiration_at).is_(None), col(Policy.expiration_at) > _time_parameter(clock.now)),
    )


def policy_stage() -> Any:
    """Return the expression of a policy's stage, as `policies.states.get_stage` tells that of one policy."""
    ahead = col(Policy.start_at) > _time_parameter(clock.latest_start)
    ended = col(Policy.expiration_at) <= _time_parameter(clock.now)
    return sa.case(
        (col(Policy.cancelled_at).is_not(None), _stage_literal(PolicyStage.CANCELLED)),
        (col(Policy.declined_at).is_not(None), _stage_literal(PolicyStage.DECLINED)),
        (col(Policy.activated).is_(False), _stage_literal(PolicyStage.PENDING)),
        (ended, _stage_literal(PolicyStage.EXPIRED)),
        (ahead, _stage_literal(PolicyStage.NOT_STARTED)),
        else_=_stage_literal(PolicyStage.IN_FORCE),
    )


def _time_parameter(read: Callable[[], datetime]) -> Any:
    # Evaluated when the statement is executed, not when it is built.
    return sa.bindparam(None, callable_=read, type_=UTCDateTime())


def _stage_literal(stage: PolicyStage) -> Any:
    return sa.literal_column(f"'{stage}'", sa.String)


def mentions(column: Any, text: str) -> sa.ColumnElement[bool]:
    """Return the condition that a column contains a text, ignoring case."""
    if text.isascii():
        return matches(column, containing(text))
    return sa.func.lower(column).like(containing(text), escape="\\")


def has_part(key: Any, part: str) -> sa.ColumnElement[bool]:
    """Like `mentions`, for a key that is kept in one case and a part in the same: ILIKE takes five times as long."""
    return sa.type_coerce(key, sa.String).like(_surround(part), escape="\\")


def walk(column: Any, condition: sa.ColumnElement[bool]) -> AnySelect:
    """Return the query of the ids of a table by a condition on one column, whose index is walked and not the rows."""
    return look_up(column, sa.and_(col(column) > "", condition))


def look_up(column: Any, condition: sa.ColumnElement[bool]) -> AnySelect:
    """Return the query of the ids of a table by a condition on one column, found in the index of that column.

    Left to itself, SQLite looks at every row of the mode or the distributor: ten times as long.
    """
    table = column.class_
    return (
        sa.select(col(table.id))
        .where(condition)
        .with_hint(table, f"INDEXED BY ix_{table.__tablename__}_{column.key}", "sqlite")
    )


def containing(text: str) -> str:
    """Return a lower-case LIKE pattern (escaped with a backslash) that matches the text anywhere."""
    return _surround(text.lower())


def _surround(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
