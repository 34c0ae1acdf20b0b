"""Sending e-mail: `send` writes a row in the caller's transaction; a worker delivers it later (contract W1)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import InvalidInput
from core.services.mail import templates
from core.services.outbox import queue
from core.services.outbox.queue import Backoff
from core.store.access import ScopedSession
from core.store.schema.tables import Mail

BACKOFF: Final = Backoff(seconds=queue.doubling(30, 3_600), spread=0.25, most=12)
MAX_LENGTH: Final = 254
# No mail server has a name that ends so (RFC 2606): borrowers of loan books without an address, and erased people.
NO_DOMAIN: Final = ".invalid"


@dataclass(frozen=True, kw_only=True, slots=True)
class MailJob:
    """One leased e-mail."""

    id: UUID
    attempt: int
    recipient: str
    subject: str
    body: str


@dataclass(frozen=True, kw_only=True, slots=True)
class MailLine:
    """One e-mail as the desk sees it, without its text."""

    id: UUID
    recipient: str
    subject: str
    state: str
    attempts: int
    last_error: str | None
    created_at: datetime
    sent_by: str | None


_COLUMNS: Final = [col(getattr(Mail, name)) for name in MailLine.__dataclass_fields__]


def send(
    session: ScopedSession,
    to: str,
    template: str,
    values: Mapping[str, str],
    *,
    about: str | None = None,
    by: str | None = None,
) -> UUID:
    """Queue an e-mail; it is sent if, and only if, the caller's transaction commits. Returns its id.

    `about` is the record whose page lists it, `by` the actor who asked for it. InvalidInput for an address that cannot
    be one; KeyError for an unknown template or a missing value.
    """
    if not 3 <= len(to) <= MAX_LENGTH or "@" not in to or any(each in to for each in "\r\n\0 ,;<>"):
        raise InvalidInput.for_field("to", "must be one e-mail address")
    if to.lower().endswith(NO_DOMAIN):
        raise InvalidInput.for_field("to", "must be an address that takes e-mail: nobody has given one")
    subject, body = templates.get_template(session, template).render(values)
    row = Mail(id=ids.new(), recipient=to, template=template, subject=subject[:200], body=body, about=about, sent_by=by)
    session.insert(row)
    return row.id


def has_due(session: ScopedSession) -> bool:
    """Return True if an e-mail is due now; takes no locks."""
    return (
        session.execute(sa.select(sa.literal(1)).select_from(Mail).where(*queue.is_due(Mail)).limit(1)).first()
        is not None
    )


def lease_due(session: ScopedSession, limit: int) -> list[MailJob]:
    """Lease due e-mails, the longest due first."""
    query = sa.select(Mail).where(*queue.is_due(Mail)).order_by(col(Mail.next_try_at)).limit(limit)
    rows = list(session.execute(query.with_for_update(skip_locked=True)).scalars())
    for row in rows:
        queue.lease(row)
    session.flush()
    return [
        MailJob(id=row.id, attempt=row.attempts, recipient=row.recipient, subject=row.subject, body=row.body)
        for row in rows
    ]


def record_result(session: ScopedSession, job: MailJob, error: str | None, *, is_final: bool = False) -> None:
    """Record that an e-mail was sent, or why not; with `is_final` it is not tried again."""
    row: Mail = session.execute(sa.select(Mail).where(col(Mail.id) == job.id).with_for_update()).scalar_one()
    if not queue.holds(row, job.attempt):
        return
    if error is None:
        queue.end(row, "sent")
    elif is_final:
        queue.end(row, "dead", error)
    else:
        queue.fail(row, BACKOFF, error)
    session.flush()


def find_recent(session: ScopedSession, to: str, template: str, about: str, within: timedelta) -> UUID | None:
    """Return the same e-mail about the same record if it was queued a moment ago: a second click sends no second."""
    query = sa.select(col(Mail.id)).where(
        col(Mail.about) == about,
        col(Mail.template) == template,
        col(Mail.recipient) == to,
        col(Mail.created_at) >= clock.now() - within,
    )
    return session.execute(query.limit(1)).scalar_one_or_none()


def list_about(session: ScopedSession, about: str) -> Sequence[MailLine]:
    """Return every e-mail about a record, the newest first."""
    query = sa.select(*_COLUMNS).where(col(Mail.about) == about).order_by(col(Mail.created_at).desc(), col(Mail.id))
    return [MailLine(**row._mapping) for row in session.execute(query)]


def list_latest(session: ScopedSession, limit: int = 20) -> Sequence[MailLine]:
    """Return the newest e-mails."""
    rows = session.execute(sa.select(*_COLUMNS).order_by(col(Mail.created_at).desc()).limit(limit))
    return [MailLine(**row._mapping) for row in rows]
