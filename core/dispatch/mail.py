"""Sends queued e-mail: leased in one transaction, delivered with none open, recorded in another (contract W1)."""

import asyncio

import structlog

from core import telemetry
from core.outbound import mail as smtp
from core.outbound.mail import MailFault
from core.services.mail import mail
from core.services.mail.mail import MailJob
from core.services.outbox.queue import INTERNAL_ERROR
from core.store.access import Scope, Store

_log = structlog.get_logger("coverdesk.mail")
_SYSTEM = Scope.system()


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
        _log.error("e-mail not recorded", error=type(broken).__name__, exc_info=True)


def _attempt(job: MailJob) -> tuple[str | None, bool]:
    try:
        smtp.deliver(str(job.id), job.recipient, job.subject, job.body)
    except MailFault as fault:
        return str(fault), fault.is_final
    except Exception as error:
        _log.error("e-mail not sent", error=type(error).__name__, exc_info=True)
        return INTERNAL_ERROR, False
    return None, False
