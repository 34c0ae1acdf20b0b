"""Reminders that go out by themselves: each day every policy whose reminder is due gets it, once (contract R4)."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.admin import automations
from core.services.admin.automations import RENEWAL_REMINDERS
from core.services.renewals import due, reminders
from core.services.windows import Span
from core.store.access import ScopedSession
from core.store.schema.tables import Policy, ReminderOptOut, RenewalReminder

ACTOR: Final = "automatic reminders"
AT_ONCE: Final = reminders.MOST_AT_ONCE
_ENDS: Any = col(Policy.expiration_at)
_KEY = col(Policy.id)


def is_due(session: ScopedSession) -> bool:
    """Return True if today's pass is to begin or to go on; takes no locks."""
    return automations.is_due(session, RENEWAL_REMINDERS)


def send_batch(session: ScopedSession) -> int | None:
    """Queue the reminders of the next policies of today's pass; returns how many, None when the pass is over.

    The pass is kept with its row, which is locked: a worker that stops leaves the rest to the next one.
    """
    row = automations.lock_pass(session, RENEWAL_REMINDERS)
    if row is None:
        return None
    after = None if row.after_at is None or row.after_id is None else (row.after_at, row.after_id)
    found = list(session.execute(_select_due(after)))
    sent = reminders.remind_each(session, [each.id for each in found], actor=ACTOR).queued if found else 0
    is_last = len(found) < AT_ONCE
    automations.advance(row, after=None if is_last else (found[-1].expiration_at, found[-1].id), done=sent)
    session.flush()
    return sent


def count_due(session: ScopedSession) -> int:
    """Return how many policies have a reminder due now that they were not sent; some cannot be renewed any more."""
    conditions = _build_conditions()
    return int(session.execute(sa.select(sa.func.count()).select_from(Policy).where(*conditions)).scalar_one())


def _select_due(after: tuple[datetime, UUID] | None) -> Any:
    query = sa.select(_KEY, _ENDS).where(*_build_conditions())
    if after is not None:
        ends, key = after
        query = query.where(sa.or_(ends < _ENDS, sa.and_(ends == _ENDS, key < _KEY)))
    return query.order_by(_ENDS, _KEY).limit(AT_ONCE)


def _build_conditions() -> list[Any]:
    opted_out = sa.select(col(ReminderOptOut.customer_id))
    return [
        *due.build_conditions(),
        col(Policy.is_live).is_(True),
        clock.now() < _ENDS,
        col(Policy.customer_id).not_in(opted_out),
        sa.or_(*(_is_unsent(days, first) for days, first in _stages())),
    ]


def _stages() -> Sequence[tuple[int, int]]:
    """Return each reminder with the first number of days before the end that it covers: (1, 0), (7, 2), (30, 8) ..."""
    days = reminders.DAYS_BEFORE
    return [(last, before + 1) for before, last in zip((-1, *days), days, strict=False)]


def _is_unsent(days: int, first: int) -> Any:
    """Build the condition that a policy ends in the days of a reminder, and got neither it nor a later one."""
    today = clock.today()
    span = Span(
        clock.lagos_midnight(clock.add_days(today, first)), clock.lagos_midnight(clock.add_days(today, days + 1))
    )
    sent = (
        sa.select(col(RenewalReminder.id))
        .where(
            col(RenewalReminder.policy_id) == _KEY,
            col(RenewalReminder.expiration_at) == _ENDS,
            col(RenewalReminder.days_before) <= days,
        )
        .correlate(Policy)
        .exists()
    )
    return sa.and_(*span.on(_ENDS), sa.not_(sent))
