"""Assignment of claims: the next in the queue, or several chosen ones (contract C7)."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound, StaleVersion
from core.services.claims.lists import orderings
from core.services.claims.lists.filter import ClaimFilter, build_conditions
from core.services.claims.lists.queue import QueueRow
from core.services.claims.review.own_interest import build_own_condition
from core.services.claims.workflow import actions as claim_actions
from core.services.claims.workflow import changes as claim_changes
from core.services.paging import Paging
from core.services.people.staff import Person
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
class AssignmentResult:
    """Result of an assignment: number of claims assigned, and for each of the others the reason in words."""

    assigned_count: int
    conflicts: tuple[str, ...]


def assign_next(session: ScopedSession, *, person: Person) -> UUID | None:
    """Assign the most urgent unassigned open claim to this person; returns None when there is none.

    Rows locked by a concurrent caller are skipped, so two callers get two claims.
    """
    claim_changes.require_claims_role(person)
    unassigned = [*build_conditions(ClaimFilter(view="unassigned")), sa.not_(build_own_condition(person))]
    for query in orderings.build_first(unassigned, col(Claim.id), col(Claim.version)):
        row = session.execute(query.with_for_update(skip_locked=True)).one_or_none()
        if row is not None:
            claim_actions.assign_claim(session, row.id, to=person.id, person=person, version=row.version)
            found: UUID = row.id
            return found
    return None


def find_next(session: ScopedSession, *, person: Person, after: UUID) -> UUID | None:
    """Return the most urgent claim of this person whose clock runs, other than the one just decided; else take one.

    Returns None when nothing is left to do.
    """
    claim_changes.require_claims_role(person)
    mine = [*build_conditions(ClaimFilter(view="open", assigned=person.id)), col(Claim.id) != after]
    running = [*mine, col(Claim.clock_stopped_at).is_(None)]
    found = orderings.fetch_page(session, running, "urgent", Paging(limit=1))
    return found[0] if found else assign_next(session, person=person)


def assign_claims(
    session: ScopedSession, chosen: Iterable[ChosenClaim], *, to: UUID | None, person: Person
) -> AssignmentResult:
    """Assign several claims to an officer or to nobody; conflicts are reported and do not stop the others.

    A claim already assigned to that officer counts as assigned. NotAllowed for who works no claims, InvalidInput
    for an officer who cannot have one; then nothing is assigned.
    """
    claim_changes.require_claims_role(person)
    assigned_count, conflicts = 0, []
    # Sorted, so that two callers with the same claims cannot deadlock.
    for choice in sorted(chosen, key=lambda each: each.id):
        try:
            if claim_changes.get_for_update(session, choice.id).assigned_to != to:
                claim_actions.assign_claim(session, choice.id, to=to, person=person, version=choice.version)
            assigned_count += 1
        except (StaleVersion, NotFound) as error:
            conflicts.append(f"{choice.reference} {_describe_conflict(session, choice, error)}")
    return AssignmentResult(assigned_count=assigned_count, conflicts=tuple(conflicts))


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
