"""Depth and age of every queue of the outbox (contract W1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.store.access import ScopedSession
from core.store.schema.tables import Mail, Submission, WebhookDelivery

QUEUES: Final[Mapping[str, Any]] = {"Insurers": Submission, "Webhooks": WebhookDelivery, "E-mail": Mail}


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueHealth:
    """One queue: rows that wait, of which due now, that were given up, and since when the oldest has been due."""

    name: str
    queued: int
    due: int
    held: int
    dead: int
    oldest_due_at: datetime | None


def list_queues(session: ScopedSession) -> Sequence[QueueHealth]:
    """Return the health of every queue. Needs the system's scope."""
    return [_measure(session, name, entity) for name, entity in QUEUES.items()]


def _measure(session: ScopedSession, name: str, entity: Any) -> QueueHealth:
    rows = session.execute(
        sa.select(col(entity.state), sa.func.count())
        .where(col(entity.state).in_(("queued", "held", "dead")))
        .group_by(col(entity.state))
    )
    counts = {state: int(count) for state, count in rows}
    waiting = sa.and_(col(entity.state) == "queued", col(entity.next_try_at) <= clock.now())
    due, oldest = session.execute(sa.select(sa.func.count(), sa.func.min(col(entity.next_try_at))).where(waiting)).one()
    return QueueHealth(
        name=name,
        queued=counts.get("queued", 0),
        due=int(due),
        held=counts.get("held", 0),
        dead=counts.get("dead", 0),
        oldest_due_at=oldest,
    )
