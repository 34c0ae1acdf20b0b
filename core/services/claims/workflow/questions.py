"""Comments on a claim, and questions to the claimant, which stop the statutory clock until answered (C6, C9)."""

from typing import Any, ClassVar, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids
from core.covers import fields, request
from core.covers.request import Request
from core.errors import StateForbids
from core.services.audit import log as audit
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import clock as claim_clock
from core.services.people.staff import Person
from core.states.claims import DECIDED
from core.store.access import ScopedSession
from core.store.schema.tables import ClaimComment, ClaimQuestion

_IS_OPEN: Final = (col(ClaimQuestion.answered_at).is_(None), col(ClaimQuestion.closed_at).is_(None))


ANSWER_DAYS: Final = 7


class CommentInput(Request):
    """A comment on a claim, or a question to the claimant."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"text"})

    text: fields.LongText


class AnswerInput(Request):
    """Answer of the claimant."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"answer"})

    answer: fields.LongText = Field(examples=["The account was closed on 3 November; the bank's letter follows."])


def add_comment(
    session: ScopedSession, claim_id: UUID, *, text: str, person: Person, for_claimant: bool = False
) -> UUID:
    """Add a comment to a claim, whatever its version; returns the id of the comment.

    Internal to the desk unless `for_claimant` is set (contract C6).
    """
    claim_changes.require_claims_role(person)
    inputs: CommentInput = request.validate(CommentInput, {"text": text})
    claim = claim_changes.get_for_update(session, claim_id)
    comment = {"text": inputs.text, "for_claimant": for_claimant, "staff_id": person.id, "created_at": clock.now()}
    row = claim_changes.new_row(ClaimComment, claim, **comment)
    session.insert(row)
    # The text may hold medical facts: it is kept out of the audit log, which cannot be erased.
    facts = {"comment_id": str(row.id), "for_claimant": for_claimant}
    audit.note(session, "claim", claim.id, "claim commented", actor=person.actor, **facts)
    return row.id


def ask_claimant(session: ScopedSession, claim_id: UUID, *, text: str, person: Person) -> UUID:
    """Ask the claimant a question, as a comment that they can read, due in a week; returns its id.

    StateForbids for a decided claim and for a second open question.
    """
    claim_changes.require_claims_role(person)
    inputs: CommentInput = request.validate(CommentInput, {"text": text})
    claim = claim_changes.get_for_update(session, claim_id)
    if claim.claim_status in DECIDED:
        raise StateForbids(f"A claim that is {claim.claim_status} needs no more information")
    if _get_open_question_id(session, claim.id) is not None:
        raise StateForbids("The claimant has not answered the question before")
    now = max(clock.now(), claim.updated_at)
    question_id, due_on = ids.new(), clock.add_days(clock.today(), ANSWER_DAYS)
    question = {"id": question_id, "staff_id": person.id, "text": inputs.text}
    session.insert(
        claim_changes.new_row(ClaimQuestion, claim, **question, asked_at=now, due_on=due_on),
        claim_changes.new_row(ClaimComment, claim, **question, for_claimant=True, created_at=now),
    )
    claim_clock.update(claim, at=now, is_waiting=True)
    audit.note(session, "claim", claim_id, "claimant asked", actor=person.actor, question_id=str(question_id))
    return question_id


def record_answer(session: ScopedSession, claim_id: UUID, *, person: Person, text: str | None = None) -> None:
    """Record that the claimant answered, and what; restarts the clock. StateForbids when no question is open."""
    claim_changes.require_claims_role(person)
    given: AnswerInput | None = request.validate(AnswerInput, {"answer": text}) if text else None
    answer_question(session, claim_id, answer=given.answer if given else None, actor=person.actor)


def answer_question(session: ScopedSession, claim_id: UUID, *, answer: str | None, actor: str) -> None:
    """Like `record_answer`, for an actor for whose claims the scope of the session is: the distributor."""
    claim = claim_changes.get_for_update(session, claim_id)
    question_id = _get_open_question_id(session, claim_id)
    if question_id is None:
        raise StateForbids("The claimant was not asked for anything")
    now = max(clock.now(), claim.clock_stopped_at or claim.updated_at)
    end_question(session, claim_id, answered_at=now, answer=answer)
    claim_clock.update(claim, at=now)
    audit.note(session, "claim", claim_id, "claimant answered", actor=actor, question_id=str(question_id))


def end_question(session: ScopedSession, claim_id: UUID, **values: Any) -> None:
    """Set `answered_at` or `closed_at` of the open question, if there is one; every transition closes it unanswered."""
    session.change(ClaimQuestion, col(ClaimQuestion.claim_id) == claim_id, *_IS_OPEN, **values)


def _get_open_question_id(session: ScopedSession, claim_id: UUID) -> UUID | None:
    query = sa.select(col(ClaimQuestion.id)).where(col(ClaimQuestion.claim_id) == claim_id, *_IS_OPEN)
    question_id: UUID | None = session.execute(query.limit(1)).scalar_one_or_none()
    return question_id
