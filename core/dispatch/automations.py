"""Carries out what the desk does by itself: reminders of renewals, and messages about saved views.

A short transaction writes each batch and each message; figures are read before it.
"""

from uuid import UUID

import structlog

from core.services.exports import view_messages
from core.services.renewals import reminders
from core.store.access import Scope, Store

_log = structlog.get_logger("coverdesk.worker")
_SYSTEM = Scope.system()


def remind(store: Store) -> int:
    """Carry on with today's reminders until they are over; returns how many were queued."""
    with store.reading(_SYSTEM) as session:
        if not reminders.is_due(session):
            return 0
    total = 0
    while (sent := store.transact(_SYSTEM, reminders.send_batch)) is not None:
        total += sent
    return total


def tell_views(store: Store) -> int:
    """Send the figures of the saved views that are due, and warnings; returns how many e-mails were queued."""
    with store.reading(_SYSTEM) as session:
        due = view_messages.list_due(session)
    return sum(_tell_guarded(store, watch_id, is_live=is_live) for watch_id, is_live in due)


def _tell_guarded(store: Store, watch_id: UUID, *, is_live: bool) -> int:
    """Tell one view; what goes wrong with it keeps no other from being told."""
    try:
        return _tell_view(store, watch_id, is_live=is_live)
    except Exception as error:
        _log.error("view not told", watch=str(watch_id), error=type(error).__name__, exc_info=True)
        return 0


def _tell_view(store: Store, watch_id: UUID, *, is_live: bool) -> int:
    with store.reading(Scope.staff(is_live=is_live)) as session:
        found = view_messages.read_figures(session, watch_id)
    return store.transact(_SYSTEM, lambda session: view_messages.send(session, watch_id, found))


JOBS = (remind, tell_views)
