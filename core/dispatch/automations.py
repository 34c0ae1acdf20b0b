"""Carries out the daily jobs that an admin has switched on, a short transaction for each batch."""

from core.services.renewals import automatic
from core.store.access import Scope, Store

_SYSTEM = Scope.system()


def run_due(store: Store) -> int:
    """Carry on with today's passes until they are over; returns how many reminders were queued."""
    with store.reading(_SYSTEM) as session:
        if not automatic.is_due(session):
            return 0
    total = 0
    while (sent := store.transact(_SYSTEM, automatic.send_batch)) is not None:
        total += sent
    return total
