"""PostgreSQL: the engine of all transactions, and the one that counts numbers beside them."""

import time
from typing import Any, Final

import sqlalchemy as sa
from sqlalchemy import event

from core.store.access import slow_statements
from core.store.access.statements import install_transaction_events

CONNECTIONS: Final = 40
_TRUSTED_SECONDS, _RESTS_SINCE = 1.0, "rests since"
_PG_OPTIONS = "-c statement_timeout=30000 -c lock_timeout=10000 -c idle_in_transaction_session_timeout=60000"


def open_engine(url: sa.URL) -> sa.Engine:
    """The engine of all transactions; its statements are pipelined."""
    engine = sa.create_engine(
        url,
        pool_size=CONNECTIONS,
        max_overflow=8,
        # The one used last is used next, and needs no ping.
        pool_use_lifo=True,
        connect_args={"options": _PG_OPTIONS, "connect_timeout": 5},
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
    )
    install_transaction_events(engine)
    slow_statements.watch(engine)

    @event.listens_for(engine, "connect")
    @event.listens_for(engine, "checkin")
    def _record_time(_connection: Any, record: Any) -> None:
        record.info[_RESTS_SINCE] = time.monotonic()

    @event.listens_for(engine, "checkout")
    def _ping_idle_connection(connection: Any, record: Any, _proxy: Any) -> None:
        # A ping is a round trip for each transaction; a connection that worked a moment ago does without.
        rested = time.monotonic() - record.info.get(_RESTS_SINCE, 0.0)
        if rested > _TRUSTED_SECONDS and not _ping(engine, connection):
            raise sa.exc.InvalidatePoolError

    return engine


def _ping(engine: sa.Engine, connection: Any) -> bool:
    try:
        return bool(engine.dialect.do_ping(connection))
    except engine.dialect.loaded_dbapi.Error:
        return False


def open_counter(url: sa.URL) -> sa.Engine:
    """Connections for number series: autocommit, without waiting for the disk."""
    return sa.create_engine(
        url,
        pool_size=4,
        max_overflow=4,
        connect_args={"options": f"{_PG_OPTIONS} -c synchronous_commit=off", "connect_timeout": 5},
        isolation_level="AUTOCOMMIT",
        pool_reset_on_return=None,
        hide_parameters=True,
    )
