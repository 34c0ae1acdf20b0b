"""Reminders of renewals: by hand for one or many policies, and by themselves at each stage."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.errors import InvalidInput, NotAllowed, NotRenewable
from core.services.admin import system
from core.services.admin.system import RENEWAL_REMINDERS
from core.services.audit import log as audit
from core.services.customers import merging
from core.services.lists.windows import Span
from core.services.people.staff import Person
from core.services.policies import certificates, policies
from core.services.renewals import due, next_terms
from core.services.renewals.next_terms import NextTerm
from core.store.access import ScopedSession
from core.store.schema.tables import Customer, Policy, ReminderOptOut, RenewalReminder

TEMPLATE: Final = "renewal reminder"
DAYS_BEFORE: Final = (1, 7, 30, 60)
MOST_AT_ONCE: Final = 50
_ROLES: Final = ("operations",)
TOO_EARLY, ENDED, OPTED_OUT, SENT, TEST, NO_ADDRESS = (
    "too early",
    "ended",
    "wants no reminders",
    "reminded already",
    "a test policy",
    "without a usable e-mail address",
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Reminded:
    """Result of a request for reminders: e-mails queued, and the policies left out by reason."""

    queued: int
    left_out: Mapping[str, int]


def get_stage(days_left: int) -> int | None:
    """Return the reminder that is due so many days before the end: the smallest of 60, 30, 7 and 1 that covers them."""
    return next((days for days in DAYS_BEFORE if 0 <= days_left <= days), None)


def remind(session: ScopedSession, policy_ids: Sequence[UUID], *, by: Person) -> Reminded:
    """Queue the reminder that is due for each of these policies; a policy that cannot have one is left out.

    InvalidInput for none or too many.
    """
    if not by.has_role(*_ROLES):
        raise NotAllowed("Reminders are sent by operations")
    chosen = list(dict.fromkeys(policy_ids))
    if not 0 < len(chosen) <= MOST_AT_ONCE:
        raise InvalidInput.for_field("policies", f"choose between 1 and {MOST_AT_ONCE} policies")
    return remind_each(session, chosen, actor=by.actor)


def remind_each(session: ScopedSession, policy_ids: Sequence[UUID], *, actor: str) -> Reminded:
    """Like `remind`, but for whoever was asked already, such as the worker by an admin."""
    terms = next_terms.get_next_terms(session, policy_ids)
    reasons = [_remind_one(session, policies.get_for_update(session, key), terms[key], actor) for key in policy_ids]
    return Reminded(queued=reasons.count(None), left_out=Counter(reason for reason in reasons if reason))


def _remind_one(session: ScopedSession, policy: Policy, term: NextTerm | NotRenewable, actor: str) -> str | None:
    """Queue one reminder, or return why not."""
    stage = _get_stage_of(policy)
    if not policy.is_live:
        return TEST
    if isinstance(term, NotRenewable):
        return str(term)
    if stage is None or policy.expiration_at is None:
        return ENDED if policy.expiration_at and policy.expiration_at <= clock.now() else TOO_EARLY
    if policy.customer_id in list_opted_out(session, [policy.customer_id]):
        return OPTED_OUT
    return _queue(session, policy, policy.expiration_at, stage, term, actor)


def _queue(
    session: ScopedSession, policy: Policy, expiration_at: datetime, stage: int, term: NextTerm, actor: str
) -> str | None:
    row = RenewalReminder(
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        policy_id=policy.id,
        expiration_at=expiration_at,
        days_before=stage,
        mail_id=policy.id,
    )
    if _is_sent(session, row):
        return SENT
    values = certificates.describe(session, policy)
    values |= {"price": certificates.naira(money.to_minor(term.price.total))}
    try:
        row.mail_id = certificates.queue(session, policy, TEMPLATE, values, by=actor)
    except InvalidInput:
        # Refused before anything is written; the others of a batch are not held up by it.
        return NO_ADDRESS
    session.insert(row)
    return None


def _get_stage_of(policy: Policy) -> int | None:
    if policy.expiration_at is None or policy.expiration_at <= clock.now():
        return None
    return get_stage((clock.to_lagos_day(policy.expiration_at) - clock.today()).days)


def _is_sent(session: ScopedSession, row: RenewalReminder) -> bool:
    """Return True if this reminder, or one closer to the end, was sent."""
    query = sa.select(sa.literal(1)).where(
        col(RenewalReminder.policy_id) == row.policy_id,
        col(RenewalReminder.expiration_at) == row.expiration_at,
        col(RenewalReminder.days_before) <= row.days_before,
    )
    return session.execute(query.limit(1)).first() is not None


def load_latest(session: ScopedSession, policy_ids: Collection[UUID]) -> dict[UUID, datetime]:
    """Return when each policy was last reminded of the end of its current term; others are absent."""
    query = (
        sa.select(col(RenewalReminder.policy_id), sa.func.max(col(RenewalReminder.created_at)).label("at"))
        .join(Policy, col(Policy.id) == col(RenewalReminder.policy_id))
        .where(
            col(RenewalReminder.policy_id).in_(policy_ids),
            col(RenewalReminder.expiration_at) == col(Policy.expiration_at),
        )
        .group_by(col(RenewalReminder.policy_id))
    )
    return {row.policy_id: row.at for row in session.execute(query)}


def list_opted_out(session: ScopedSession, customer_ids: Collection[UUID]) -> set[UUID]:
    """Return those of the customers who want no reminders."""
    query = sa.select(col(ReminderOptOut.customer_id)).where(col(ReminderOptOut.customer_id).in_(customer_ids))
    return set(session.execute(query).scalars())


def set_opt_out(session: ScopedSession, customer_id: UUID, *, is_out: bool, by: Person) -> None:
    """Switch the reminders of a customer off or on; NotFound if unknown in this scope."""
    if not by.has_role(*_ROLES):
        raise NotAllowed("Reminders are switched by operations")
    customer = session.execute(sa.select(Customer).where(col(Customer.id) == customer_id)).scalar_one_or_none()
    if customer is None or (customer_id in list_opted_out(session, [customer_id])) == is_out:
        return
    if is_out:
        session.insert(
            ReminderOptOut(distributor_id=customer.distributor_id, is_live=customer.is_live, customer_id=customer_id)
        )
        merging.share_opt_out(session, customer_id)
    else:
        everyone = merging.list_linked(session, [customer_id])
        session.execute(sa.delete(ReminderOptOut).where(col(ReminderOptOut.customer_id).in_(everyone)))
    audit.write(
        session,
        actor=by.actor,
        action="reminders switched off" if is_out else "reminders switched on",
        subject=audit.subject_of("customer", customer_id),
    )


# Reminders that go out by themselves: each day every policy whose reminder is due gets it, once (contract R4).

ACTOR: Final = "automatic reminders"
AT_ONCE: Final = MOST_AT_ONCE
_ENDS: Any = col(Policy.expiration_at)
_KEY = col(Policy.id)


def is_due(session: ScopedSession) -> bool:
    """Return True if today's pass is to begin or to go on; takes no locks."""
    return system.is_due(session, RENEWAL_REMINDERS)


def send_batch(session: ScopedSession) -> int | None:
    """Queue the reminders of the next policies of today's pass; returns how many, None when the pass is over.

    The pass is kept with its row, which is locked: a worker that stops leaves the rest to the next one.
    """
    row = system.lock_pass(session, RENEWAL_REMINDERS)
    if row is None:
        return None
    after = None if row.after_at is None or row.after_id is None else (row.after_at, row.after_id)
    found = list(session.execute(_select_due(after)))
    sent = remind_each(session, [each.id for each in found], actor=ACTOR).queued if found else 0
    is_last = len(found) < AT_ONCE
    system.advance(row, after=None if is_last else (found[-1].expiration_at, found[-1].id), done=sent)
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
    days = DAYS_BEFORE
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
