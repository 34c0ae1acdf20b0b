"""The queues of the outbox: how much waits in each, since when, and what was given up (contract W1)."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.outbound import mail as smtp
from core.services.insurers import connections
from core.store.access import ScopedSession
from core.store.outbox import INTERNAL_ERROR
from core.store.schema.tables import Distributor, Mail, Submission, WebhookDelivery, WebhookEndpoint


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueHealth:
    """One queue: rows that wait, of which due now, and since when the oldest has been due.

    `dead` were given up and need a person here, `refused` were given up because of who was to receive them. What nobody
    could send now is not due: e-mail without a server (`is_configured` is false then), and deliveries to endpoints that
    fail, are slow or take none. An e-mail that was tried in vain is due since it was written, as each try puts off the
    next one. `error` is why something that is due was not taken. `by_hand` are policies of insurers without a
    connection, which the desk tells them of and no worker sends; they count nowhere else.
    """

    name: str
    queued: int
    due: int
    held: int
    dead: int
    oldest_due_at: datetime | None
    error: str | None = None
    refused: int = 0
    is_configured: bool = True
    by_hand: int = 0


def list_queues(session: ScopedSession) -> Sequence[QueueHealth]:
    """Return the health of every queue. Needs the system's scope."""
    return [_measure_submissions(session), _measure_webhooks(session), _measure_mail(session)]


def _measure_submissions(session: ScopedSession) -> QueueHealth:
    can_be_sent = connections.is_connected()
    found = _measure(session, "Insurers", Submission, can_be_sent)
    by_hand = _count_states(session, Submission, col(Submission.state).in_(("queued", "dead")), sa.not_(can_be_sent))
    return replace(
        found, queued=found.queued - by_hand["queued"], dead=found.dead - by_hand["dead"], by_hand=sum(by_hand.values())
    )


def count_endpoints(session: ScopedSession) -> Mapping[str, int]:
    """Return how many webhook endpoints stand in each state. Needs the system's scope."""
    return _count_states(session, WebhookEndpoint, col(WebhookEndpoint.deleted_at).is_(None))


def _count_states(session: ScopedSession, entity: Any, *conditions: sa.ColumnElement[bool]) -> Counter[str]:
    rows = sa.select(col(entity.state), sa.func.count()).where(*conditions).group_by(col(entity.state))
    return Counter({state: int(count) for state, count in session.execute(rows)})


def _measure_webhooks(session: ScopedSession) -> QueueHealth:
    """A receiver that does not answer is its distributor's to see, and no fault of the installation."""
    takes = sa.select(col(WebhookEndpoint.id)).join(
        Distributor, col(Distributor.id) == col(WebhookEndpoint.distributor_id)
    )
    healthy = takes.where(
        col(WebhookEndpoint.state) == "active",
        col(WebhookEndpoint.failing_since).is_(None),
        sa.not_(col(WebhookEndpoint.is_slow)),
        col(WebhookEndpoint.deleted_at).is_(None),
        col(Distributor.active),
    )
    found = _measure(session, "Webhooks", WebhookDelivery, col(WebhookDelivery.endpoint_id).in_(healthy))
    is_broken_here = col(WebhookDelivery.last_error) == INTERNAL_ERROR
    ours = session.count_rows(WebhookDelivery, col(WebhookDelivery.state) == "dead", is_broken_here)
    return replace(found, dead=ours, refused=found.dead - ours)


def _measure_mail(session: ScopedSession) -> QueueHealth:
    due_at = sa.case((col(Mail.failures) > 0, col(Mail.created_at)), else_=col(Mail.next_try_at))
    found = _measure(session, "E-mail", Mail, due_at=due_at)
    return found if smtp.can_send() else replace(found, due=0, oldest_due_at=None, error=None, is_configured=False)


def _measure(
    session: ScopedSession, name: str, entity: Any, *conditions: sa.ColumnElement[bool], due_at: Any = None
) -> QueueHealth:
    due_at = col(entity.next_try_at) if due_at is None else due_at
    counts = _count_states(session, entity, col(entity.state).in_(("queued", "held", "dead")))
    waiting = sa.and_(col(entity.state) == "queued", due_at <= clock.now(), *conditions)
    query = sa.select(sa.func.count(), sa.func.min(due_at), sa.func.max(col(entity.last_error))).where(waiting)
    due, oldest, error = session.execute(query).one()
    return QueueHealth(
        name=name,
        queued=counts["queued"],
        due=int(due),
        held=counts["held"],
        dead=counts["dead"],
        oldest_due_at=oldest,
        error=error,
    )
