"""One cache of compiled statements for all engines of a test run: each test has engines of its own, on equal databases.

SQLAlchemy keeps what it compiled by engine and dialect object, so that every test would compile every statement anew.
"""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.psycopg import PGDialect_psycopg
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.util import LRUCache

_COMPILED = LRUCache(5000)


def share() -> None:
    """Make dialects of one kind equal, and give every connection the one cache."""
    for dialect in (SQLiteDialect_pysqlite, PGDialect_psycopg):
        dialect.__hash__ = lambda self: hash(_kind(self))  # type: ignore[method-assign, assignment]
        dialect.__eq__ = lambda self, other: _kind(self) == _kind(other)  # type: ignore[method-assign, assignment]

    @sa.event.listens_for(sa.Engine, "engine_connect")
    def _use(connection: sa.Connection) -> None:
        connection.engine._compiled_cache = _COMPILED


def _kind(dialect: Any) -> tuple[Any, ...]:
    return (type(dialect), getattr(dialect, "dbapi", None), getattr(dialect, "statement_compiler", None))
