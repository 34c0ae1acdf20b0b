"""Asking a claimant for more information, which stops the statutory clock until the answer is in (contract C9)."""

from collections.abc import Mapping, Sequence
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request
from core.errors import StateForbids
from core.services import audit, claim_changes, claim_clock
from core.services.claim_clock import DECIDED, Clock, Pause, Reached
from core.services.claim_inputs import CommentInput
from core.services.staff import Person
from core.store.scope import ScopedSession
from core.store.tables import ClaimEvent, ClaimQuestion


def ask(session: ScopedSession, claim_id: UUID, *, text: str, person: Person) -> UUID:
    """Note that the claimant was asked for something; StateForbids for a decided claim and a second open question."""
    claim_changes.refuse_strangers(person)
    said: CommentInput = request.read(CommentInput, {"text": text})
    claim = claim_changes.held(session, claim_id)
    if claim.claim_status in DECIDED:
        raise StateForbids(f"A claim that is {claim.claim_status} needs no more information")
    if _open(session, claim.id) is not None:
        raise StateForbids("The claimant has not answered the question before")
    row = ClaimQuestion(
        id=ids.new(),
        distributor_id=claim.distributor_id,
        is_live=claim.is_live,
        claim_id=claim.id,
        staff_id=person.id,
        text=said.text,
        asked_at=clock.now(),
    )
    session.insert(row)
    _log(session, claim_id, person, "claimant asked", row.id)
    return row.id


def answered(session: ScopedSession, claim_id: UUID, *, person: Person) -> None:
    """Note that the answer came in: the clock runs again; StateForbids when nothing was asked."""
    claim_changes.refuse_strangers(person)
    claim_changes.held(session, claim_id)
    question_id = _open(session, claim_id)
    if question_id is None:
        raise StateForbids("The claimant was not asked for anything")
    close(session, claim_id)
    _log(session, claim_id, person, "claimant answered", question_id)


def close(session: ScopedSession, claim_id: UUID) -> None:
    """End the wait for an answer, if there is one: who moves a claim on waits no longer."""
    session.execute(
        sa.update(ClaimQuestion)
        .where(col(ClaimQuestion.claim_id) == claim_id, col(ClaimQuestion.answered_at).is_(None))
        .values(answered_at=clock.now())
        .execution_options(synchronize_session=False)
    )


def clocks(session: ScopedSession, claim_ids: Sequence[UUID]) -> Mapping[UUID, Clock]:
    """The statutory clocks of claims as of now: two statements, however many claims there are."""
    steps: dict[UUID, list[Reached]] = {}
    events = sa.select(ClaimEvent).where(col(ClaimEvent.claim_id).in_(claim_ids))
    for event in session.execute(events.order_by(col(ClaimEvent.created_at), col(ClaimEvent.id))).scalars():
        steps.setdefault(event.claim_id, []).append(Reached(event.status, event.created_at))
    pauses: dict[UUID, list[Pause]] = {}
    for row in session.execute(sa.select(ClaimQuestion).where(col(ClaimQuestion.claim_id).in_(claim_ids))).scalars():
        pauses.setdefault(row.claim_id, []).append(Pause(row.asked_at, row.answered_at))
    now = clock.now()
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
