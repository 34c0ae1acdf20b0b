"""Waiting for a commit of any process, so that a queue is read when something was written and not all the time.

SQLite counts the commits of all processes in a number that is read without a transaction. On PostgreSQL a process that
has committed sends a notification, at most one in a tenth of a second: whoever waits is told twice, at once and when
that tenth is over. A notification that is lost is made good by the slow look of whoever waits.
"""

import threading
from contextlib import suppress
from typing import Any, Final, Protocol

import sqlalchemy as sa

from core.store.access.statements import NOTIFY_SECONDS, WRITTEN, driver_connection

_LOOK_SECONDS, _LOOKS = 0.2, 10
# The end of a process waits for a thread that waits for a notification.
_LONGEST_SECONDS: Final = 0.5


class CommitWatch(Protocol):
    """Waits for commits; used by one thread at a time."""

    def wait(self, stopping: threading.Event) -> bool:
        """Return True after a commit since the last call, False once `stopping` is set, and perhaps before."""
        ...

    def close(self) -> None:
        """Close its connection."""
        ...


class SqliteWatch:
    """Looks at `data_version`, which another connection's commit changes, also that of another process."""

    def __init__(self, engine: sa.Engine) -> None:
        # Detached, as the number is that of one connection, and the pool's belong to whoever reads.
        self._connection = engine.raw_connection()
        self._connection.detach()
        self._driver: Any = self._connection.dbapi_connection
        self._seen = self._version()

    def wait(self, stopping: threading.Event) -> bool:
        """See `CommitWatch`."""
        before, self._seen = self._seen, self._version()
        for _ in range(_LOOKS):
            if self._seen != before or stopping.wait(_LOOK_SECONDS):
                break
            self._seen = self._version()
        return self._seen != before

    def close(self) -> None:
        """Close its connection."""
        self._connection.close()

    def _version(self) -> int:
        return int(self._driver.execute("PRAGMA data_version").fetchone()[0])


class PostgresWatch:
    """Listens on a connection of its own, which is opened again after the server was away."""

    def __init__(self, url: sa.URL) -> None:
        options = {"connect_timeout": 5}
        self._engine = sa.create_engine(
            url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT", connect_args=options, hide_parameters=True
        )
        self._connection: sa.Connection | None = None
        self._is_second = False

    def wait(self, stopping: threading.Event) -> bool:
        """See `CommitWatch`; a commit of the tenth of a second after a notification is told with it a second time."""
        if self._is_second:
            self._is_second = False
            stopping.wait(NOTIFY_SECONDS * 1.5)
            return True
        try:
            self._is_second = self._is_notified()
        except (sa.exc.DBAPIError, self._engine.dialect.loaded_dbapi.Error):
            self.close()
            stopping.wait(_LONGEST_SECONDS)
        return self._is_second

    def close(self) -> None:
        """Close its connection."""
        with suppress(sa.exc.DBAPIError):
            if self._connection:
                self._connection.close()
        self._connection = None

    def _is_notified(self) -> bool:
        if self._connection is None:
            self._connection = self._engine.connect()
            self._connection.exec_driver_sql(f"LISTEN {WRITTEN}")
        driver: Any = driver_connection(self._connection)
        return any(True for _ in driver.notifies(timeout=_LONGEST_SECONDS, stop_after=1))
