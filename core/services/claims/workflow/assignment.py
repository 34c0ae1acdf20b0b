"""Assignment of claims: to officers, from the queue; several assigned, settled or asked at once (C11, C19)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.covers import request
from core.errors import InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.claims.lists import queue
from core.services.claims.lists.filter import ClaimFilter, build_conditions, build_referral_condition
from core.services.claims.lists.queue import QueueRow
from core.services.claims.review.officers import build_own_condition
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import questions as claim_questions
from core.services.claims.workflow.changes import ClaimChange
from core.services.claims.workflow.questions import CommentInput
from core.services.lists.paging import Paging
from core.services.people.staff import Person
from core.states.claims import AskedRole, ClaimStatus
from core.store.access import ScopedSession
from core.store.schema.tables import Claim, Staff


@dataclass(frozen=True, kw_only=True, slots=True)
class ChosenClaim:
    """A claim as it was when somebody chose it."""

    id: UUID
    version: int
    reference: str
    assigned_to: UUID | None


def choose_rows(rows: Iterable[QueueRow]) -> list[ChosenClaim]:
    """Convert queue rows to chosen claims."""
    return [
        ChosenClaim(id=row.id, version=row.version, reference=row.reference, assigned_to=row.assigned_to)
        for row in rows
    ]


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchResult:
    """Number of claims that it was done to, and for each of the others the reason in words."""

    done_count: int
    refusals: tuple[str, ...]


def assign_next(session: ScopedSession, *, person: Person) -> UUID | None:
    """Assign the most urgent unassigned claim to this person, those that are paid last; None when there is none.

    Rows locked by a concurrent caller are skipped, so two callers get two claims.
    """
    claim_changes.require_claims_role(person)
    unassigned = [*build_conditions(ClaimFilter(view="unassigned")), sa.not_(build_own_condition(person))]
    for query in queue.build_first(unassigned, col(Claim.id), col(Claim.version)):
        row = session.execute(query.with_for_update(skip_locked=True)).one_or_none()
        if row is not None:
            claim_moves.assign_claim(session, row.id, to=person.id, person=person, version=row.version)
            found: UUID = row.id
            return found
    return None


def find_next(session: ScopedSession, *, person: Person, after: UUID) -> UUID | None:
    """Return the claim of this person that follows the one just seen by urgency, else the most urgent; else take one.

    It is one whose clock runs and that waits for nobody else. Returns None when nothing is left to do.
    """
    claim_changes.require_claims_role(person)
    others = {AskedRole.FINANCE} if person.has_role("supervisor") else {AskedRole.SUPERVISOR, AskedRole.FINANCE}
    clock_from, id_ = col(Claim.clock_from), col(Claim.id)
    running = [
        *build_conditions(ClaimFilter(view="open", assigned=person.id)),
        *(id_ != after, col(Claim.clock_stopped_at).is_(None), sa.not_(build_referral_condition(*others))),
    ]
    since = session.execute(sa.select(clock_from).where(id_ == after)).scalar_one_or_none()
    follows = sa.or_(clock_from > since, sa.and_(clock_from == since, id_ > after))
    for conditions in ([*running, follows], running):
        if found := queue.fetch_page(session, conditions, "urgent", Paging(limit=1)):
            return found[0]
    return assign_next(session, person=person)


def assign_claims(
    session: ScopedSession, chosen: Iterable[ChosenClaim], *, to: UUID | None, person: Person
) -> BatchResult:
    """Assign several claims to an officer or to nobody; conflicts are reported and do not stop the others.

    A claim already assigned to that officer counts as assigned. NotAllowed for who works no claims, InvalidInput
    for an officer who cannot have one; then nothing is assigned.
    """
    claim_changes.require_claims_role(person)
    done_count, refusals = 0, []
    # Sorted, so that two callers with the same claims cannot deadlock.
    for choice in sorted(chosen, key=lambda each: each.id):
        try:
            if claim_changes.get_for_update(session, choice.id).assigned_to != to:
                claim_moves.assign_claim(session, choice.id, to=to, person=person, version=choice.version)
            done_count += 1
        except (StaleVersion, NotFound) as error:
            refusals.append(f"{choice.reference} {_describe_conflict(session, choice, error)}")
    return BatchResult(done_count=done_count, refusals=tuple(refusals))


def _describe_conflict(session: ScopedSession, choice: ChosenClaim, error: StaleVersion | NotFound) -> str:
    if isinstance(error, NotFound):
        return "is not there any more"
    claim = claim_changes.get_for_update(session, choice.id)
    if claim.assigned_to == choice.assigned_to:
        return f"was changed meanwhile: it is {claim.claim_status} now"
    if claim.assigned_to is None:
        return "was given back to nobody meanwhile"
    name = session.execute(sa.select(col(Staff.name)).where(col(Staff.id) == claim.assigned_to)).scalar_one()
    return f"was taken by {name}"


_REFUSALS = (StateForbids, NotAllowed, NotFound, StaleVersion, InvalidInput)


def settle_claims(session: ScopedSession, chosen: Iterable[ChosenClaim], *, person: Person) -> BatchResult:
    """Settle each of several paid claims as it was seen; NotAllowed for who works no claims."""

    def settle(claim: ChosenClaim) -> ClaimChange:
        to = ClaimStatus.SETTLED
        return claim_moves.move_claim(session, claim.id, to=to, person=person, version=claim.version)

    return _run(session, chosen, person, settle)


def ask_claimants(session: ScopedSession, chosen: Iterable[ChosenClaim], *, text: str, person: Person) -> BatchResult:
    """Ask the claimant of each of several claims the same thing; InvalidInput for a text that cannot be asked."""
    request.validate(CommentInput, {"text": text})
    return _run(
        session, chosen, person, lambda claim: claim_questions.ask_claimant(session, claim.id, text=text, person=person)
    )


def _run(
    session: ScopedSession, chosen: Iterable[ChosenClaim], person: Person, act: Callable[[ChosenClaim], object]
) -> BatchResult:
    """Act on each; a refusal stops none of the others, and is kept in the log as one of a single act is."""
    claim_changes.require_claims_role(person)
    done_count, refusals = 0, []
    # Sorted, so that two callers with the same claims cannot deadlock.
    for claim in sorted(chosen, key=lambda each: each.id):
        try:
            act(claim)
            done_count += 1
        except _REFUSALS as error:
            refusals.append(f"{claim.reference}: {error}")
            if error.kept is not None:
                error.kept(session)
    return BatchResult(done_count=done_count, refusals=tuple(refusals))
