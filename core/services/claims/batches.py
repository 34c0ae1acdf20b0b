"""Several claims settled or asked at once; what stands against one does not stop the others (contract C19)."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from core.covers import request
from core.errors import InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import questions as claim_questions
from core.services.claims.workflow.assignment import ChosenClaim
from core.services.claims.workflow.inputs import QuestionInput
from core.services.people.staff import Person
from core.states.claims import ClaimStatus
from core.store.access import ScopedSession

_REFUSALS = (StateForbids, NotAllowed, NotFound, StaleVersion, InvalidInput)


@dataclass(frozen=True, kw_only=True, slots=True)
class BatchResult:
    """Number of claims that it was done to, and for each of the others the reason in words."""

    done_count: int
    refusals: tuple[str, ...]


def settle_claims(session: ScopedSession, chosen: Iterable[ChosenClaim], *, person: Person) -> BatchResult:
    """Settle each of several paid claims as it was seen; NotAllowed for who works no claims."""
    return _run(
        session,
        chosen,
        person,
        lambda claim: claim_moves.move_claim(
            session, claim.id, to=ClaimStatus.SETTLED, person=person, version=claim.version
        ),
    )


def ask_claimants(session: ScopedSession, chosen: Iterable[ChosenClaim], *, text: str, person: Person) -> BatchResult:
    """Ask the claimant of each of several claims the same thing; InvalidInput for a text that cannot be asked."""
    request.validate(QuestionInput, {"text": text})
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
