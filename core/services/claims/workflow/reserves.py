"""The reserve of a claim: what is expected to be paid still, as changes that are only added (contract C11)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.covers import fields, request
from core.covers.request import Request, refuse_unless
from core.errors import NotAllowed, StateForbids
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import transitions as claim_transitions
from core.services.claims.workflow.changes import ClaimChange, Reason
from core.services.claims.workflow.limits import Limits
from core.services.people.staff import Person, join_names
from core.states.claims import DECIDED, ClaimStatus, ClaimTransition, ClockEffect, Effect
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import sum_of
from core.store.schema.tables import Claim, ClaimReserve

CHANGE: Final = col(ClaimReserve.change_minor)
_OFFERED: Final = frozenset({ClaimStatus.OFFER_SENT, ClaimStatus.OFFER_ACCEPTED})


class ReserveInput(Request):
    """A new reserve in naira, and why it changes."""

    reserve: fields.Naira
    reserve_reason: Reason


@dataclass(frozen=True, kw_only=True, slots=True)
class ReserveChange:
    """One change of a reserve and the reserve after it; `by` is None where an old store was carried over."""

    at: datetime
    change_minor: int
    reserve_minor: int
    reason: str
    by: str | None


def get_reserve(session: ScopedSession, claim_id: UUID) -> int:
    """Return the reserve of a claim in kobo."""
    return session.count_and_sum(CHANGE, col(ClaimReserve.claim_id) == claim_id)[1]


def list_changes(session: ScopedSession, claim_id: UUID) -> Sequence[ReserveChange]:
    """List every change of a claim's reserve, oldest first."""
    query: AnySelect = (
        sa.select(col(ClaimReserve.created_at).label("at"), CHANGE, col(ClaimReserve.reason))
        .where(col(ClaimReserve.claim_id) == claim_id)
        .order_by(col(ClaimReserve.created_at), col(ClaimReserve.id))
    )
    found, reserve_minor = [], 0
    for row in session.execute(join_names(query, by=ClaimReserve.staff_id)):
        reserve_minor += row.change_minor
        found.append(ReserveChange(**row._mapping, reserve_minor=reserve_minor))
    return found


def build_reserve_column() -> sa.ScalarSelect[int]:
    """Build a column for `select(Claim)`: the reserve of each claim in kobo."""
    mine = sa.select(sum_of(CHANGE)).where(col(ClaimReserve.claim_id) == col(Claim.id))
    return mine.correlate(Claim).scalar_subquery()


def follow_transition(
    session: ScopedSession, claim: Claim, transition: ClaimTransition, *, person: Person, at: datetime
) -> None:
    """Set a first reserve when work on the claim begins, raise one that an approval exceeds, release it at the end."""
    reserve = get_reserve(session, claim.id)
    if transition.clock is ClockEffect.ENDS:
        _add(session, claim, -reserve, reason=f"The claim is {transition.to}", person=person, at=at)
    elif Effect.SETS_RESERVE in transition.effects and not reserve:
        limits = claim_limits.load(session, claim)
        expected = claim.claim_amount_minor or money.to_minor(claim_limits.get_amount_owed(claim) or money.ZERO)
        expected = min(expected, limits.most_minor) if limits.most_minor is not None else expected
        reason = "What is claimed, as far as owed and insured, and not paid yet"
        _add(session, claim, max(0, expected - limits.paid_minor), reason=reason, person=person, at=at)
    if Effect.RAISES_RESERVE in transition.effects:
        lacking = get_committed(claim, claim_limits.load(session, claim)) - get_reserve(session, claim.id)
        reason = f"The claim is {transition.to} for more than was reserved"
        _add(session, claim, max(0, lacking), reason=reason, person=person, at=at)


def get_committed(claim: Claim, limits: Limits) -> int:
    """Return what is approved or offered as the claim stands and not paid yet, in kobo: no reserve is below it."""
    if claim.claim_status == ClaimStatus.APPROVED:
        return claim_limits.get_max_offer(claim, limits)
    return claim_limits.get_balance(claim, limits) if claim.claim_status in _OFFERED else 0


def reduce(
    session: ScopedSession, claim: Claim, amount_minor: int, *, reason: str, person: Person, at: datetime
) -> None:
    """Take what was paid off the reserve, never below zero; a negative amount puts back what came back."""
    change = -min(amount_minor, get_reserve(session, claim.id))
    _add(session, claim, change, reason=reason, person=person, at=at)


def set_reserve(
    session: ScopedSession, claim_id: UUID, *, amount: Decimal | str, reason: str, person: Person, version: int
) -> ClaimChange:
    """Set the reserve of an open claim in naira, with a reason.

    StateForbids for a decided claim; InvalidInput for an amount that is not new, above what is insured or below what
    is approved and not paid yet; NotAllowed above the officer's limit.
    """
    inputs: ReserveInput = request.validate(ReserveInput, {"reserve": amount, "reserve_reason": reason})
    claim = claim_changes.get_own_refused(session, claim_id, person=person, version=version)
    if claim.claim_status in DECIDED:
        raise StateForbids(f"A claim that is {claim.claim_status} has no reserve")
    wanted, before = money.to_minor(inputs.reserve), get_reserve(session, claim.id)
    limits = claim_limits.load(session, claim)
    insured, least = limits.insured_minor, get_committed(claim, limits)
    most, committed = money.format_naira(insured or 0), money.format_naira(least)
    refuse_unless(
        [
            (wanted != before, "reserve", "is what it was: give another amount"),
            (insured is None or wanted <= insured, "reserve", f"must not be above {most}, what is insured"),
            (wanted >= least, "reserve", f"must not be below {committed}, what is approved and not paid yet"),
        ]
    )
    if exceeded := claim_transitions.describe_limit_exceeded(person, wanted):
        raise NotAllowed(f"The reserve needs {exceeded}", detail={"field": "reserve"})
    audited, at = claim_changes.get_audited_facts(claim), claim_changes.next_instant(claim)
    _add(session, claim, wanted - before, reason=inputs.reserve_reason, person=person, at=at)
    facts = {"reserve": money.to_wire(wanted), "reserve_before": money.to_wire(before)}
    facts["reserve_reason"] = inputs.reserve_reason
    return claim_changes.save_change(session, claim, audited, person=person, action="claim reserve set", facts=facts)


def _add(session: ScopedSession, claim: Claim, change_minor: int, *, reason: str, person: Person, at: datetime) -> None:
    if change_minor:
        change = {"change_minor": change_minor, "reason": reason, "staff_id": person.id, "created_at": at}
        session.insert(claim_changes.new_row(ClaimReserve, claim, **change))
