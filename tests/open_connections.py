"""No test leaves a connection open: it would be garbage in a later test, which fails for it."""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import pytest
import sqlalchemy as sa

_opened: "list[weakref.ref[psycopg.Connection[Any]]]" = []


@sa.event.listens_for(sa.Pool, "connect")
def _remember(connection: Any, _record: Any) -> None:
    if isinstance(connection, psycopg.Connection):
        _opened.append(weakref.ref(connection))


@contextmanager
def every_connection_closed() -> Iterator[None]:
    """Fail when a PostgreSQL connection that was opened within the block is open after it.

    Such a connection was used outside of its session, as a session that has ended begins anew when it is asked again.
    """
    before = len(_opened)
    yield
    connections = [each for each in (reference() for reference in _opened[before:]) if each is not None]
    del _opened[before:]
    if any(not each.closed for each in connections):
        for each in connections:
            each.close()
        pytest.fail("this test left a connection open: is a session used after its block?")
