"""The replica: where figures and exports are read, as long as it is known to be near enough (docs/scaling.md)."""

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final

import sqlalchemy as sa
import structlog
from sqlalchemy.exc import DBAPIError

from core import clock
from core.errors import StoreUnavailable
from core.store.access.db_errors import RETRIED, told_apart
from core.store.access.scope import SIGHT, Scope, ScopedSession
from core.store.access.statements import begin_and_end

log = structlog.get_logger("coverdesk.store")
AWAY, BEHIND, ANOTHER = "away", "behind", "no replica of this store"
_LOOKS_EVERY_SECONDS: Final = 0.02
_CONNECTIONS: Final = 16
_OPTIONS: Final = "-c default_transaction_read_only=on -c statement_timeout=30000 -c lock_timeout=10000"
_SYSTEM: Final = "(SELECT system_identifier FROM pg_control_system())"
_HOW_FAR: Final = sa.text(f"SELECT CAST(pg_current_wal_flush_lsn() AS text) AS mark, {_SYSTEM} AS system")
_HOW_IT_STANDS: Final = sa.text(
    f"SELECT pg_is_in_recovery() AS follows, {_SYSTEM} AS system,"  # noqa: S608 both parts stand here
    " coalesce(pg_last_wal_replay_lsn() >= CAST(:mark AS pg_lsn), false) AS is_whole,"
    " CAST(extract(epoch FROM clock_timestamp() - pg_last_xact_replay_timestamp()) AS double precision) AS seconds"
)


@dataclass(frozen=True, slots=True)
class Sight:
    """How the replica was found: what keeps it from being used, and as of when it shows the store.

    Without `as_of` it lacked no more than what was written within the last second.
    """

    fault: str | None = None
    as_of: datetime | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """How far a replica may lag, from where on that is said, and the seconds for which what was found is believed.

    One that is away is left alone for longer, or each screen would wait for the connection again; `comes_within` is
    how many seconds an export waits for what was just written.
    """

    most_behind: timedelta = timedelta(seconds=60)
    worth_saying: timedelta = timedelta(seconds=1)
    believed: float = 1.0
    left_alone: float = 15.0
    comes_within: float = 3.0


class Replica:
    """A PostgreSQL server that streams from the primary, asked only while it is within its bounds."""

    def __init__(self, url: str, primary: sa.Engine, bounds: Bounds = Bounds()) -> None:
        self.engine = _reading_engine(sa.make_url(url))
        self._primary = primary
        self._bounds = bounds
        self._looking = threading.Lock()
        self._sight, self._look_at = Sight(), 0.0
        self._whole_at: float | None = None

    def sight(self) -> Sight:
        """How it stands, as of less than a second ago; one that is away is looked for every 15 seconds."""
        with self._looking:
            if time.monotonic() >= self._look_at:
                self._keep(self._seen())
            return self._sight

    @contextmanager
    def reading(self, scope: Scope, *, exact: bool) -> Iterator[ScopedSession | None]:
        """A session on one snapshot of the replica; none when the primary has to answer.

        `exact` waits some seconds for all that was acknowledged before, so that nobody misses what stood on a screen.
        """
        session = self._opened(scope, exact=exact)
        if session is None:
            yield None
            return
        try:
            with told_apart(), session:
                yield session
        except StoreUnavailable:
            self._look_at = 0.0
            raise
        except DBAPIError as error:
            # A replica ends who reads what the primary has cleared away meanwhile.
            if getattr(error.orig, "sqlstate", None) in RETRIED:
                raise StoreUnavailable from error
            raise

    def close(self) -> None:
        """Let go of every connection."""
        self.engine.dispose()

    def _opened(self, scope: Scope, *, exact: bool) -> ScopedSession | None:
        sight = self.sight()
        if sight.fault or (exact and not self._catches_up()):
            return None
        session = ScopedSession(self.engine, scope, info={SIGHT: sight})
        try:
            session.connection()
        except (DBAPIError, sa.exc.TimeoutError):
            session.close()
            self._look_at = 0.0
            return None
        return session

    def _catches_up(self) -> bool:
        """True once it shows what the primary had acknowledged when this was called."""
        mark, until = self._mark().mark, time.monotonic() + self._bounds.comes_within
        try:
            while not self._asked(mark).is_whole:
                if time.monotonic() > until:
                    log.warning("an export is read from the primary", error=f"the replica is {BEHIND}")
                    return False
                time.sleep(_LOOKS_EVERY_SECONDS)
        except (DBAPIError, sa.exc.TimeoutError):
            self._look_at = 0.0
            return False
        return True

    def _seen(self) -> Sight:
        primary = self._mark()
        try:
            found = self._asked(primary.mark)
        except (DBAPIError, sa.exc.TimeoutError):
            return Sight(AWAY)
        if not found.follows or found.system != primary.system:
            return Sight(ANOTHER)
        if found.is_whole:
            self._whole_at = time.monotonic()
            return Sight()
        # Either says how old it is at the most: a primary that was quiet for hours makes the second one useless.
        ages = [] if self._whole_at is None else [time.monotonic() - self._whole_at]
        ages += [] if found.seconds is None else [max(0.0, found.seconds)]
        behind = timedelta(seconds=min(ages)) if ages else timedelta.max
        if behind > self._bounds.most_behind:
            return Sight(BEHIND)
        return Sight(as_of=clock.now() - behind if behind > self._bounds.worth_saying else None)

    def _keep(self, sight: Sight) -> None:
        if sight.fault != self._sight.fault:
            if sight.fault:
                log.warning("figures and exports are read from the primary", error=f"the replica is {sight.fault}")
            else:
                log.info("figures and exports are read from the replica again")
        self._sight = sight
        self._look_at = time.monotonic() + (self._bounds.left_alone if sight.fault == AWAY else self._bounds.believed)

    def _mark(self) -> sa.Row[tuple[str, int]]:
        """How far the primary has written for sure, and which system it is."""
        with told_apart(), self._primary.connect() as connection:
            return connection.execute(_HOW_FAR).one()

    def _asked(self, mark: str) -> sa.Row[tuple[bool, int, bool, float | None]]:
        with self.engine.connect() as connection:
            return connection.execute(_HOW_IT_STANDS, {"mark": mark}).one()


def _reading_engine(url: sa.URL) -> sa.Engine:
    # A machine that vanishes without a word must not hold a screen up for as long as the system would wait.
    patience = {"connect_timeout": 2, "tcp_user_timeout": 5000, "keepalives_idle": 5, "keepalives_interval": 2}
    engine = sa.create_engine(
        url,
        pool_size=_CONNECTIONS,
        max_overflow=_CONNECTIONS // 2,
        pool_pre_ping=True,
        connect_args={"options": _OPTIONS, **patience},
        isolation_level="AUTOCOMMIT",
        hide_parameters=True,
    )
    begin_and_end(engine)
    return engine
