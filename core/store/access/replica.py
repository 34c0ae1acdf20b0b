"""The read replica for figures and exports, used only while its lag is known to be small (docs/scaling.md)."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
from sqlalchemy.exc import DBAPIError

from core import clock, telemetry
from core.errors import StoreUnavailable
from core.store.access.scope import REPLICA_STATUS, Scope, ScopedSession
from core.store.access.statements import (
    PAGE_COST,
    RETRIED_SQLSTATES,
    add_options,
    get_reason,
    install_transaction_events,
    read_sums_whole,
    translate_db_errors,
)

AWAY, BEHIND, ANOTHER = "away", "behind", "no replica of this store"
_LOOKS_EVERY_SECONDS: Final = 0.02
_CONNECTIONS: Final = 16
_OPTIONS: Final = f"-c default_transaction_read_only=on -c statement_timeout=30000 -c lock_timeout=10000 {PAGE_COST}"
_SYSTEM: Final = "(SELECT system_identifier FROM pg_control_system())"
_PRIMARY_POSITION: Final = sa.text(f"SELECT CAST(pg_current_wal_flush_lsn() AS text) AS mark, {_SYSTEM} AS system")
_REPLICA_STATE: Final = sa.text(
    f"SELECT pg_is_in_recovery() AS follows, {_SYSTEM} AS system,"  # noqa: S608 both parts stand here
    " coalesce(pg_last_wal_replay_lsn() >= CAST(:mark AS pg_lsn), false) AS is_whole,"
    " CAST(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) AS double precision) AS seconds"
)


@dataclass(frozen=True, slots=True)
class ReplicaStatus:
    """Status of the replica: the `fault` for which it is not used, and the instant up to which it shows the store.

    `as_of` is None while it lags by less than a second.
    """

    fault: str | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """Limits of the replica's lag, and for how many seconds a check of it is trusted.

    An unreachable replica is retried less often, or each screen would wait for the connection again.
    """

    max_lag: timedelta = timedelta(seconds=60)
    shown_from: timedelta = timedelta(seconds=1)
    believed: float = 1.0
    retry_seconds: float = 15.0
    catch_up_seconds: float = 3.0


class Replica:
    """A streaming replica of PostgreSQL, read only while its lag is within bounds."""

    def __init__(self, url: str, primary: sa.Engine, bounds: Bounds = Bounds()) -> None:
        self.engine = _reading_engine(sa.make_url(url))
        self._primary = primary
        self._bounds = bounds
        self._looking = threading.Lock()
        self._status, self._look_at = ReplicaStatus(), 0.0
        self._whole_at: float | None = None

    def status(self) -> ReplicaStatus:
        """The status, at most a second old; an unreachable replica is retried every 15 seconds."""
        with self._looking:
            if time.monotonic() >= self._look_at:
                self._store_status(self._measure())
            return self._status

    @contextmanager
    def reading(self, scope: Scope, *, exact: bool) -> Iterator[ScopedSession | None]:
        """A session on one snapshot of the replica, or None when the primary has to be read.

        `exact` waits some seconds until the replica has every acknowledged write.
        """
        session = self._open_session(scope, exact=exact)
        if session is None:
            yield None
            return
        try:
            with translate_db_errors(), session:
                yield session
        except StoreUnavailable:
            self._look_at = 0.0
            raise
        except DBAPIError as error:
            # A replica ends who reads what the primary has cleared away meanwhile.
            if getattr(error.orig, "sqlstate", None) in RETRIED_SQLSTATES:
                raise StoreUnavailable(get_reason(error.orig)) from error
            raise

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _open_session(self, scope: Scope, *, exact: bool) -> ScopedSession | None:
        sight = self.status()
        if sight.fault or (exact and not self._catches_up()):
            return None
        session = ScopedSession(self.engine, scope, info={REPLICA_STATUS: sight})
        try:
            session.connection()
        except (DBAPIError, sa.exc.TimeoutError):
            session.close()
            self._look_at = 0.0
            return None
        return session

    def _catches_up(self) -> bool:
        """True once the replica has everything the primary had acknowledged when this was called."""
        mark, until = self._read_position().mark, time.monotonic() + self._bounds.catch_up_seconds
        try:
            while not self._query_state(mark).is_whole:
                if time.monotonic() > until:
                    telemetry.get_logger("coverdesk.store").warning(
                        "an export is read from the primary", error=f"the replica is {BEHIND}"
                    )
                    return False
                time.sleep(_LOOKS_EVERY_SECONDS)
        except (DBAPIError, sa.exc.TimeoutError):
            self._look_at = 0.0
            return False
        return True

    def _measure(self) -> ReplicaStatus:
        primary = self._read_position()
        try:
            found = self._query_state(primary.mark)
        except (DBAPIError, sa.exc.TimeoutError):
            return ReplicaStatus(AWAY)
        if not found.follows or found.system != primary.system:
            return ReplicaStatus(ANOTHER)
        if found.is_whole:
            self._whole_at = time.monotonic()
            return ReplicaStatus()
        # Either says how old it is at the most: a primary that was quiet for hours makes the second one useless.
        ages = [] if self._whole_at is None else [time.monotonic() - self._whole_at]
        ages += [] if found.seconds is None else [max(0.0, found.seconds)]
        behind = timedelta(seconds=min(ages)) if ages else timedelta.max
        if behind > self._bounds.max_lag:
            return ReplicaStatus(BEHIND)
        return ReplicaStatus(as_of=clock.now() - behind if behind > self._bounds.shown_from else None)

    def _store_status(self, sight: ReplicaStatus) -> None:
        if sight.fault != self._status.fault:
            if sight.fault:
                telemetry.get_logger("coverdesk.store").warning(
                    "figures and exports are read from the primary", error=f"the replica is {sight.fault}"
                )
            else:
                telemetry.get_logger("coverdesk.store").info("figures and exports are read from the replica again")
        self._status = sight
        self._look_at = time.monotonic() + (
            self._bounds.retry_seconds if sight.fault == AWAY else self._bounds.believed
        )

    def _read_position(self) -> sa.Row[tuple[str, int]]:
        """The primary's flushed WAL position and system identifier."""
        with translate_db_errors(), self._primary.connect() as connection:
            return connection.execute(_PRIMARY_POSITION).one()

    def _query_state(self, mark: str) -> sa.Row[tuple[bool, int, bool, float | None]]:
        with self.engine.connect() as connection:
            return connection.execute(_REPLICA_STATE, {"mark": mark}).one()


def _reading_engine(url: sa.URL) -> sa.Engine:
    # A machine that vanishes without a word must not hold a screen up for as long as the system would wait.
    patience = {"connect_timeout": 2, "tcp_user_timeout": 5000, "keepalives_idle": 5, "keepalives_interval": 2}
    engine = sa.create_engine(
        url,
        pool_size=_CONNECTIONS,
        max_overflow=_CONNECTIONS // 2,
        pool_pre_ping=True,
        connect_args={"options": add_options(_OPTIONS, url), **patience},
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
    )
    install_transaction_events(engine)
    read_sums_whole(engine)
    return engine
