"""SQL expressions that several lists are filtered by."""

from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.store.expressions import matches
from core.store.schema.tables import Policy


def in_force() -> sa.ColumnElement[bool]:
    """Return the condition of a policy in force: activated, not cancelled, declined or expired (contract S11)."""
    return sa.and_(
        col(Policy.activated),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        sa.or_(col(Policy.expiration_at).is_(None), col(Policy.expiration_at) > clock.now()),
    )


def mentions(column: Any, text: str) -> sa.ColumnElement[bool]:
    """Return the condition that a column contains a text, ignoring case."""
    if text.isascii():
        return matches(column, containing(text))
    return sa.func.lower(column).like(containing(text), escape="\\")


def containing(text: str) -> str:
    """Return a lower-case LIKE pattern (escaped with a backslash) that matches the text anywhere."""
    escaped = text.lower().replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    return f"%{escaped}%"
