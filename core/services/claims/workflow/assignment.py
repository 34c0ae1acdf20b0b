"""Who takes which claim: the next one of the queue, or several that were chosen (contract C7)."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotFound, StaleVersion
from core.services.claims.lists import queue as claim_queue
from core.services.claims.lists import search as claim_search
from core.services.claims.lists.queue import QueueRow
from core.services.claims.lists.search import ClaimFilter
from core.services.claims.workflow import actions as claim_actions
from core.services.claims.workflow import changes as claim_changes
from core.services.people.staff import Person
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Claim, Staff


@dataclass(frozen=True, kw_only=True, slots=True)
class Seen:
    """A claim as somebody saw it when they chose it."""

    id: UUID
    version: int
    reference: str
    assigned_to: UUID | None


def as_seen(rows: Iterable[QueueRow]) -> list[Seen]:
    """Rows of the queue as they were chosen."""
    return [Seen(id=row.id, version=row.version, reference=row.reference, assigned_to=row.assigned_to) for row in rows]


@dataclass(frozen=True, kw_only=True, slots=True)
class Assigned:
    """How an assignment went: how many claims are with that officer now, and of the others what happened to them."""

    done: int
    lost: tuple[str, ...]


def take_next(session: ScopedSession, *, person: Person) -> UUID | None:
    """Assign the most urgent open claim that nobody has; none when there is none.

    Two who ask at once get two claims: a row that a rival holds is passed over.
    """
    claim_changes.refuse_strangers(person)
    free = ClaimFilter(stage="open", assigned_to=claim_search.NOBODY)
    query = sa.select(col(Claim.id), col(Claim.version)).where(*claim_search.conditions_of(free))
    first = query.order_by(*claim_queue.BY["urgent"]).limit(1).with_for_update(skip_locked=True)
    row = session.execute(first).one_or_none()
    if row is None:
        return None
    claim_actions.assign(session, row.id, to=person.id, person=person, version=row.version)
    found: UUID = row.id
    return found


def assign(session: ScopedSession, chosen: Iterable[Seen], *, to: UUID | None, person: Person) -> Assigned:
    """Give several claims to an officer, or to nobody; whoever was beaten to one is told, and the rest goes on.

    A claim that is with that officer already counts as done. NotAllowed for who works no claims, InvalidInput for
    an officer who cannot have one: then nothing is assigned.
    """
    claim_changes.refuse_strangers(person)
    done, lost = 0, []
    # Always in the same order, so that two who choose the same claims do not wait for each other.
    for seen in sorted(chosen, key=lambda each: each.id):
        try:
            if claim_changes.held(session, seen.id).assigned_to != to:
                claim_actions.assign(session, seen.id, to=to, person=person, version=seen.version)
            done += 1
        except (StaleVersion, NotFound) as error:
            lost.append(f"{seen.reference} {_what_happened(session, seen, error)}")
    return Assigned(done=done, lost=tuple(lost))


def _what_happened(session: ScopedSession, seen: Seen, error: StaleVersion | NotFound) -> str:
    if isinstance(error, NotFound):
        return "is not there any more"
    claim = claim_changes.held(session, seen.id)
    if claim.assigned_to == seen.assigned_to:
        return f"was changed meanwhile: it is {claim.claim_status} now"
    if claim.assigned_to is None:
        return "was given back to nobody meanwhile"
    name = session.execute(sa.select(col(Staff.name)).where(col(Staff.id) == claim.assigned_to)).scalar_one()
    return f"was taken by {name}"
