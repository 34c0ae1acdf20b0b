"""Makes events of the audit log: read in one transaction, added in a short one (contract W1, W6)."""

from core.services.events import appending, derivation, schedule
from core.services.events.derivation import Batch
from core.services.events.webhooks import fan_out
from core.store.access import Scope, ScopedSession, Store
from core.store.schema.tables import Event

_SYSTEM = Scope.system()


def catch_up(store: Store) -> int:
    """Make every entry of the log that is committed into events; returns how many events there were.

    Any number of processes may do so at once: a batch that another was first with is read again.
    """
    count = 0
    while (batch := _next_batch(store)) is not None:
        count += store.transact(_SYSTEM, lambda session, batch=batch: _add(session, batch))  # type: ignore[misc]
    return count


def _next_batch(store: Store) -> Batch | None:
    with store.reading(_SYSTEM) as session:
        return derivation.collect(session) if derivation.is_behind(session) else None


def _add(session: ScopedSession, batch: Batch) -> int:
    return len(_tell(session, appending.append_batch(session, batch)))


def sweep(store: Store) -> int:
    """Tell what dates have made due, if it is time to look; returns how many events there were."""
    with store.reading(_SYSTEM) as session:
        if not schedule.is_due(session):
            return 0
    return store.transact(_SYSTEM, lambda session: len(_tell(session, schedule.sweep(session))))


def _tell(session: ScopedSession, events: list[Event]) -> list[Event]:
    """Queue the deliveries of new events in the transaction that adds them."""
    fan_out.queue_deliveries(session, events)
    return events
