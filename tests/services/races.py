"""Works that begin together."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

from core.errors import CoverdeskError
from core.store.access import Scope, ScopedSession, Store


def run_at_once(*works: Callable[[], object]) -> list[CoverdeskError | None]:
    """Begin all works at one moment, each in a thread; return the refusal of each, None where it succeeded."""
    meet = Barrier(len(works))

    def attempt(work: Callable[[], object]) -> CoverdeskError | None:
        meet.wait()
        try:
            work()
        except CoverdeskError as error:
            return error
        return None

    with ThreadPoolExecutor(len(works)) as pool:
        return list(pool.map(attempt, works))


def run_while_open(
    store: Store, scope: Scope, first: Callable[[ScopedSession], object], second: Callable[[], object]
) -> CoverdeskError | None:
    """Do the first work, and the second one in a thread before the first is committed; return the second's refusal.

    On PostgreSQL the first is committed once the second has ended or waits for a lock; on SQLite it waits at once.
    """
    with ThreadPoolExecutor(1) as pool:
        with store.writing(scope) as session:
            first(session)
            going = pool.submit(second)
            while not store.is_sqlite and not going.done() and not _is_anybody_waiting(store):
                pass
        refusal = going.exception()
    if refusal is not None and not isinstance(refusal, CoverdeskError):
        raise refusal
    return refusal


def _is_anybody_waiting(store: Store) -> bool:
    waits = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'"
    with store.engine.connect() as connection:
        return bool(connection.exec_driver_sql(waits).scalar_one())
