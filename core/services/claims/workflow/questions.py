"""Questions to the claimant, which stop the statutory clock until answered (contract C9)."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request
from core.errors import StateForbids
from core.services.audit import log as audit
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow.clock import DECIDED, WAITING, Clock, Pause, Reached
from core.services.claims.workflow.inputs import CommentInput
from core.services.people.staff import Person
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Claim, ClaimComment, ClaimEvent, ClaimQuestion


def ask(session: ScopedSession, claim_id: UUID, *, text: str, person: Person) -> UUID:
    """Ask the claimant a question, as a comment that they can read; returns its id.

    StateForbids for a decided claim and for a second open question.
    """
    claim_changes.refuse_strangers(person)
    said: CommentInput = request.read(CommentInput, {"text": text})
    claim = claim_changes.held(session, claim_id)
    if claim.claim_status in DECIDED:
        raise StateForbids(f"A claim that is {claim.claim_status} needs no more information")
    if _open(session, claim.id) is not None:
        raise StateForbids("The claimant has not answered the question before")
    now = max(clock.now(), claim.updated_at)
    asked: dict[str, Any] = {
        "id": ids.new(),
        "distributor_id": claim.distributor_id,
        "is_live": claim.is_live,
        "claim_id": claim.id,
        "staff_id": person.id,
        "text": said.text,
    }
    session.insert(ClaimQuestion(**asked, asked_at=now), ClaimComment(**asked, for_claimant=True, created_at=now))
    turn(claim, at=now, waits=True)
    _log(session, claim_id, person, "claimant asked", asked["id"])
    return UUID(str(asked["id"]))


def answered(session: ScopedSession, claim_id: UUID, *, person: Person) -> None:
    """Record that the claimant answered and restart the clock; StateForbids when no question is open."""
    claim_changes.refuse_strangers(person)
    claim = claim_changes.held(session, claim_id)
    question_id = _open(session, claim_id)
    if question_id is None:
        raise StateForbids("The claimant was not asked for anything")
    now = max(clock.now(), claim.clock_stopped_at or claim.updated_at)
    close(session, claim_id, at=now)
    turn(claim, at=now)
    _log(session, claim_id, person, "claimant answered", question_id)


def turn(claim: Claim, *, at: datetime, before: str | None = None, waits: bool = False) -> None:
    """Start or stop the stored clock of a claim after a change of status or a question to the claimant."""
    is_decided = claim.claim_status in DECIDED
    claim.clock_from, claim.clock_stopped_at = claim_clock.turned(
        claim.clock_from,
        claim.clock_stopped_at,
        at=at,
        runs=not (waits or is_decided or claim.claim_status in WAITING),
        decides=is_decided and before not in DECIDED,
    )


def close(session: ScopedSession, claim_id: UUID, *, at: datetime) -> None:
    """End the wait for an answer, if there is one; every transition does so."""
    session.execute(
        sa.update(ClaimQuestion)
        .where(col(ClaimQuestion.claim_id) == claim_id, col(ClaimQuestion.answered_at).is_(None))
        .values(answered_at=at)
        .execution_options(synchronize_session=False)
    )


def clocks(session: ScopedSession, claim_ids: Sequence[UUID], *, now: datetime | None = None) -> Mapping[UUID, Clock]:
    """Compute the clocks of claims from their histories, as of `now`: two statements, however many claims."""
    steps: dict[UUID, list[Reached]] = {}
    events = sa.select(ClaimEvent).where(col(ClaimEvent.claim_id).in_(claim_ids))
    for event in session.execute(events.order_by(col(ClaimEvent.created_at), col(ClaimEvent.id))).scalars():
        steps.setdefault(event.claim_id, []).append(Reached(event.status, event.created_at))
    pauses: dict[UUID, list[Pause]] = {}
    for row in session.execute(sa.select(ClaimQuestion).where(col(ClaimQuestion.claim_id).in_(claim_ids))).scalars():
        pauses.setdefault(row.claim_id, []).append(Pause(row.asked_at, row.answered_at))
    now = now or clock.now()
    return {key: claim_clock.read(history, now, pauses.get(key, ())) for key, history in steps.items()}


def _open(session: ScopedSession, claim_id: UUID) -> UUID | None:
    query = sa.select(col(ClaimQuestion.id)).where(
        col(ClaimQuestion.claim_id) == claim_id, col(ClaimQuestion.answered_at).is_(None)
    )
    found: UUID | None = session.execute(query.limit(1)).scalar_one_or_none()
    return found


def _log(session: ScopedSession, claim_id: UUID, person: Person, action: str, question_id: UUID) -> None:
    subject = audit.subject_of("claim", claim_id)
    audit.write(session, actor=person.actor, action=action, subject=subject, after={"question_id": str(question_id)})
