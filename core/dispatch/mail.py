"""E-mail: reminders and messages about saved views that are due, and the sending of what waits."""

import asyncio
from uuid import UUID

import structlog

from core import telemetry
from core.desk import saved_view_mail
from core.outbound import mail as smtp
from core.outbound.mail import MailFault
from core.services.mail import mail
from core.services.mail.mail import MailJob
from core.services.renewals import due as reminders
from core.store.access import Scope, Store
from core.store.outbox import INTERNAL_ERROR

_SYSTEM = Scope.system()
_log = structlog.get_logger("coverdesk.worker")


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
        due = saved_view_mail.list_due(session)
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
        found = saved_view_mail.read_figures(session, watch_id)
    return store.transact(_SYSTEM, lambda session: saved_view_mail.send(session, watch_id, found))


JOBS = (remind, tell_views)


_mail_log = structlog.get_logger("coverdesk.mail")


def lease_due(store: Store, limit: int) -> list[MailJob]:
    """Lease up to `limit` due e-mails; none while there is no server to send them by, which keeps them queued."""
    if not smtp.can_send():
        return []
    with store.reading(_SYSTEM) as session:
        if not mail.has_due(session):
            return []
    return store.transact(_SYSTEM, lambda session: mail.lease_due(session, limit))


async def deliver(store: Store, job: MailJob) -> None:
    """Send one leased e-mail and record what became of it."""
    error, is_final = await asyncio.to_thread(_attempt, job)
    telemetry.count("mails", "refused" if is_final else "not_taken" if error else "taken")

    def record() -> None:
        store.transact(_SYSTEM, lambda session: mail.record_result(session, job, error, is_final=is_final))

    try:
        await asyncio.to_thread(record)
    except Exception as broken:
        _mail_log.error("e-mail not recorded", error=type(broken).__name__, exc_info=True)


def _attempt(job: MailJob) -> tuple[str | None, bool]:
    try:
        smtp.deliver(str(job.id), job.recipient, job.subject, job.body)
    except MailFault as fault:
        return str(fault), fault.is_final
    except Exception as error:
        _mail_log.error("e-mail not sent", error=type(error).__name__, exc_info=True)
        return INTERNAL_ERROR, False
    return None, False
