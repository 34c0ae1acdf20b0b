"""Actions of the desk on submissions: resend one now, or all that were set aside for one insurer."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import NotAllowed, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.insurers import answers as insurer_answers
from core.services.insurers import awaiting, submissions
from core.services.insurers import connections as insurer_connections
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.records import mode
from core.settings import settings
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Provider, Submission

SENDERS = ("operations",)


def retry(session: ScopedSession, policy_id: UUID, *, person: Person) -> None:
    """Put one policy first in the queue and reset its failures; repeating has no further effect.

    NotFound if the policy has no submission; StateForbids if it is settled, is being sent right now, or if the insurer
    has
    no connection in its mode.
    """
    _refuse_strangers(person)
    told = _open(session, policy_id)
    _refuse_unconnected(session, told.provider_id, is_live=told.is_live)
    before = {"state": told.state, "attempts": told.attempts, "last_error": told.last_error}
    told.state, told.failures, told.next_try_at = "queued", 0, clock.now()
    told.leased_until, told.updated_at = None, clock.now()
    subject = audit.subject_of("policy", policy_id)
    audit.write(session, actor=person.actor, action="resent to the insurer", subject=subject, before=before, after={})
    session.flush()
    insurer_connections.wake(session, told.provider_id)


def note_reported(session: ScopedSession, policy_id: UUID, *, person: Person) -> None:
    """Record that the insurer was informed of an active policy another way, such as by bordereau.

    StateForbids if the policy is pending (the insurer's own answer is needed), settled, or being sent.
    """
    _refuse_strangers(person)
    policy = policies.locked(session, policy_id)
    told = _open(session, policy_id)
    if not policy.activated:
        raise StateForbids("This policy is pending: activate it with the insurer's number, or decline it")
    before = {"state": told.state, "submitted_to_provider": policy.submitted_to_provider, "version": policy.version}
    policy.submitted_to_provider = True
    policy.version += 1
    policy.updated_at = clock.now()
    submissions.settle(session, policy_id, "accepted", note="Reported by the desk")
    after = {"state": "accepted", "submitted_to_provider": True}
    subject = audit.subject_of("policy", policy_id)
    audit.write(session, actor=person.actor, action="noted as reported", subject=subject, before=before, after=after)
    session.flush()


def retry_all(session: ScopedSession, provider_id: UUID, *, person: Person) -> int:
    """Queue again all submissions that were set aside for one insurer in this mode; returns their number."""
    _refuse_strangers(person)
    is_live = bool(session.scope.is_live)
    segment = _refuse_unconnected(session, provider_id, is_live=is_live)
    aside = sa.update(Submission).where(col(Submission.provider_id) == provider_id, col(Submission.state) == "dead")
    now = clock.now()
    result = session.execute(
        aside.values(state="queued", failures=0, next_try_at=now, leased_until=None, updated_at=now)
        .returning(col(Submission.policy_id))
        .execution_options(synchronize_session=False)
    )
    count = len(result.all())
    if count:
        after = {"policies": count, "mode": mode(is_live)}
        audit.write(
            session, actor=person.actor, action="all set aside resent", subject=f"insurer {segment}", after=after
        )
        insurer_connections.wake(session, provider_id)
    return count


def _open(session: ScopedSession, policy_id: UUID) -> Submission:
    """Return the submission locked for update; StateForbids unless it is open and not being sent."""
    told = insurer_answers.held_if_any(session, policy_id)
    if told is None:
        raise NotFound("Nothing was noted for the insurer of this policy")
    if told.state not in awaiting.OPEN:
        raise StateForbids(f"This policy is not waiting for its insurer: it is {told.state}")
    if told.leased_until is not None and told.leased_until > clock.now():
        raise StateForbids("This policy is being sent to the insurer right now")
    return told


def _refuse_strangers(person: Person) -> None:
    if not person.may(*SENDERS):
        raise NotAllowed("Policies are sent to insurers by operations")


def _refuse_unconnected(session: ScopedSession, provider_id: UUID, *, is_live: bool) -> str:
    segment = session.execute(sa.select(col(Provider.segment)).where(col(Provider.id) == provider_id)).scalar_one()
    if settings().insurer_url(segment, is_live=is_live) is None:
        raise StateForbids("This insurer has no connection: approve or decline the policy by hand")
    return str(segment)
