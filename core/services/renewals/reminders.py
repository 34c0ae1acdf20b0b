"""Reminders of the end of a term by e-mail: 60, 30, 7 and 1 days before, each once, and none after an opt-out."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.errors import InvalidInput, NotAllowed, NotRenewable
from core.services.audit import log as audit
from core.services.people.staff import Person
from core.services.policies import letters, policies
from core.services.renewals import next_terms
from core.services.renewals.next_terms import NextTerm
from core.services.sales import customer_merging
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
    values = letters.describe(session, policy)
    values |= {"price": letters.naira(money.to_minor(term.price.total))}
    try:
        row.mail_id = letters.queue(session, policy, TEMPLATE, values, by=actor)
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
        customer_merging.share_opt_out(session, customer_id)
    else:
        everyone = customer_merging.list_linked(session, [customer_id])
        session.execute(sa.delete(ReminderOptOut).where(col(ReminderOptOut.customer_id).in_(everyone)))
    audit.write(
        session,
        actor=by.actor,
        action="reminders switched off" if is_out else "reminders switched on",
        subject=audit.subject_of("customer", customer_id),
    )
