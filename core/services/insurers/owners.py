"""Owners of policies that wait for their insurer: the person of operations who goes on with one."""

from collections.abc import Collection, Mapping
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.people import staff
from core.services.people.staff import Person
from core.states.policies import OPEN
from core.store.access import ScopedSession
from core.store.schema.tables import Staff, Submission, SubmissionOwner

ROLES = ("operations",)


def list_candidates(session: ScopedSession) -> Mapping[UUID, str]:
    """Return the people who may own a waiting policy, by id, sorted by name."""
    return staff.list_active(session, *ROLES)


def set_owner(session: ScopedSession, policy_id: UUID, *, to: UUID | None, person: Person) -> None:
    """Give a waiting policy to somebody of operations, or to nobody; the same owner again changes nothing.

    NotFound if the policy has no submission, StateForbids if it does not wait any more.
    """
    if not person.has_role(*ROLES):
        raise NotAllowed("Policies that wait for an insurer are worked by operations")
    if to is not None and to != person.id and to not in list_candidates(session):
        raise InvalidInput.for_field("owner", "must be a colleague of operations")
    query = sa.select(Submission).where(col(Submission.policy_id) == policy_id).with_for_update()
    submission: Submission | None = session.execute(query).scalar_one_or_none()
    if submission is None:
        raise NotFound("Nothing was noted for the insurer of this policy")
    if submission.state not in OPEN:
        raise StateForbids(f"This policy is not waiting for its insurer: it is {submission.state}")
    _write(session, submission, to, person)


def _write(session: ScopedSession, submission: Submission, to: UUID | None, person: Person) -> None:
    key = submission.policy_id
    row = session.get(SubmissionOwner, key)
    before = row.owner_id if row else None
    if before == to:
        return
    if row is None and to is not None:
        of_distributor, is_live = submission.distributor_id, submission.is_live
        session.insert(SubmissionOwner(policy_id=key, owner_id=to, distributor_id=of_distributor, is_live=is_live))
    elif row is not None and to is None:
        session.delete(row)
    elif row is not None and to is not None:
        row.owner_id, row.created_at = to, clock.now()
    session.flush()
    audit.write(
        session,
        actor=person.actor,
        action="owner of a waiting policy set",
        subject=audit.subject_of("policy", key),
        before={"owner_id": str(before) if before else None},
        after={"owner_id": str(to) if to else None},
    )


def load_names(session: ScopedSession, policy_ids: Collection[UUID]) -> dict[UUID, str]:
    """Return the names of the owners of these policies, also of people who have left; unowned ones are absent."""
    query = (
        sa.select(col(SubmissionOwner.policy_id), col(Staff.name))
        .join(Staff, col(Staff.id) == col(SubmissionOwner.owner_id))
        .where(col(SubmissionOwner.policy_id).in_(policy_ids))
    )
    return {row.policy_id: row.name for row in session.execute(query)}
