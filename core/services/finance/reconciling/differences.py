"""Settling a difference: explained, adjusted by a movement, or written off by two people (contract F6)."""

from collections.abc import Collection, Mapping, Sequence
from contextlib import AbstractContextManager
from datetime import timedelta
from typing import Annotated, Any, Final, Literal, get_args
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, money
from core.covers import request
from core.covers.request import Request
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.finance.reconciling import matching, reconciliations
from core.services.people import staff
from core.services.people.four_eyes import FirstStep, require_other
from core.services.people.staff import Person
from core.states.finance import DIFFERENCE_TRANSITIONS, ENDED, DifferenceState
from core.store import policy_numbers
from core.store.access import ScopedSession
from core.store.expressions import sum_of
from core.store.schema.tables import Adjustment, Difference, FileMapping, Policy, Reconciliation

Cause = Literal[
    "Timing",
    "Missing in their file",
    "Wrong amount of ours",
    "Wrong amount of theirs",
    "Wrong rate",
    "Unknown policy",
    "No number in their file",
    "Other",
]
CAUSES: Final[Sequence[Cause]] = get_args(Cause)
# The usual cause of each result: what a person begins with who explains it.
PROPOSED: Final[Mapping[str, Cause]] = {
    matching.AMOUNT: "Wrong amount of theirs",
    matching.RATE: "Wrong rate",
    matching.OURS: "Missing in their file",
    matching.THEIRS: "Unknown policy",
    matching.TIMING: "Timing",
    matching.UNCHECKED: "No number in their file",
}
# Instead of a cause: each is explained by that of its result.
AS_PROPOSED: Final = "proposed"
# Several are explained, and one transaction is not longer than it has to be.
MOST_AT_ONCE: Final = 1_000
# In kobo: more than that, with what was written off before of the party, is written off with the approval of an admin.
WRITE_OFF_LIMIT: Final = 5_000_000
# What no admin wrote off of a party counts together for so long.
COUNTS_FOR: Final = timedelta(days=30)
_ACTIONS: Final[Mapping[DifferenceState, str]] = {
    DifferenceState.EXPLAINED: "difference explained",
    DifferenceState.ADJUSTED: "difference adjusted",
    DifferenceState.WRITE_OFF_ASKED: "write-off asked",
    DifferenceState.WRITTEN_OFF: "difference written off",
}


class Explanation(Request):
    """Input: why there is a difference."""

    cause: Cause
    note: Annotated[str, Field(min_length=5, max_length=500)]


def explain(session: ScopedSession, difference_id: UUID, typed: Mapping[str, Any], *, by: Person) -> None:
    """Say why there is a difference; whoever does owns it."""
    _explain(session, _get_for_update(session, difference_id, DifferenceState.EXPLAINED, by), typed, by)


def _explain(session: ScopedSession, row: Difference, typed: Mapping[str, Any], by: Person) -> None:
    given: Explanation = request.validate(Explanation, typed)
    _change(session, row, DifferenceState.EXPLAINED, by, owner_id=by.id, cause=given.cause, note=given.note)


def explain_each(
    session: ScopedSession, difference_ids: Collection[UUID], typed: Mapping[str, Any], *, by: Person
) -> int:
    """Explain several for one cause, or each for the one that its result proposes; all of them or none.

    Return how many; StateForbids names the one that stands against it.
    """
    if len(difference_ids) > MOST_AT_ONCE:
        raise StateForbids(f"At most {MOST_AT_ONCE:,} differences are explained at once: choose fewer")
    for difference_id in difference_ids:
        row = _get_for_update(session, difference_id, DifferenceState.EXPLAINED, by)
        cause = PROPOSED[row.result] if typed.get("cause") == AS_PROPOSED else typed.get("cause")
        _explain(session, row, {**typed, "cause": cause}, by)
    return len(difference_ids)


def assign(session: ScopedSession, difference_ids: Collection[UUID], owner_id: UUID, *, by: Person) -> int:
    """Give differences that are not ended to a colleague of finance, and return how many; all of them or none."""
    if owner_id not in (colleagues := staff.list_active(session, "finance")):
        raise InvalidInput.for_field("owner", "must be somebody of finance with an enabled account")
    for difference_id in difference_ids:
        row = _lock(session, difference_id, by)
        if row.state in ENDED:
            raise StateForbids(f"{row.policy_number or 'A difference without a number'} is {row.state.lower()} already")
        # The instant of who asked for a write-off tells whose password asked: nobody moves it.
        moved = {} if row.state == DifferenceState.WRITE_OFF_ASKED else {"changed_at": clock.now()}
        session.change(Difference, col(Difference.id) == row.id, owner_id=owner_id, **moved)
        facts = {"owner": colleagues[owner_id], "difference": money.to_wire(row.difference_minor)}
        audit.note(session, "difference", row.id, "difference assigned", actor=by.actor, **facts)
    return len(difference_ids)


def adjust(session: ScopedSession, difference_id: UUID, *, by: Person) -> None:
    """End a difference by the adjustment of its policy that two people have made since.

    StateForbids without one, and where it comes to something else than the difference: the rest would be written off by
    nobody.
    """
    row = _get_for_update(session, difference_id, DifferenceState.ADJUSTED, by)
    made = session.get_one(Reconciliation, row.reconciliation_id)
    used = sa.select(col(Difference.adjustment_id)).where(col(Difference.adjustment_id).is_not(None))
    query = (
        sa.select(Adjustment)
        .join(Policy, col(Policy.id) == col(Adjustment.policy_id))
        .where(
            col(Policy.number_key) == policy_numbers.key(row.policy_number),
            col(Adjustment.created_at) >= made.made_at,
            col(Adjustment.id).not_in(used),
        )
        .order_by(col(Adjustment.created_at))
    )
    with _keep_refusal(by, "adjustment", row):
        found = session.execute(query).scalars().all() if made.kind == "insurer" else []
        if not found:
            raise StateForbids("No adjustment of this policy was confirmed since: propose one on its movement first")
        fitting = [each for each in found if abs(_measure_rest(row, made, each)) <= made.tolerance_minor]
        if not fitting:
            left = money.format_naira(_measure_rest(row, made, found[-1]))
            raise StateForbids(
                f"The adjustment of this policy leaves a difference of {left}: two people of finance make one that"
                " comes to the difference, or write it off"
            )
    _change(session, row, DifferenceState.ADJUSTED, by, adjustment_id=fitting[0].id)


def _measure_rest(row: Difference, made: Reconciliation, adjustment: Adjustment) -> int:
    """Return what an adjustment leaves of a difference in kobo, gross or net as the file was compared."""
    commissions = adjustment.mca_profit_minor + adjustment.distributor_profit_minor
    effect = adjustment.total_minor - (0 if made.amount_is == "gross" else commissions)
    return row.difference_minor + effect


def _keep_refusal(by: Person, act: str, row: Difference) -> AbstractContextManager[None]:
    subject = audit.subject_of("difference", row.id)
    minor = money.to_wire(row.difference_minor)
    return audit.keep_refusal(actor=by.actor, action=f"difference {act}", subject=subject, difference=minor)


def ask_write_off(session: ScopedSession, difference_id: UUID, *, by: Person) -> None:
    """Ask a second person to write an explained difference off."""
    row = _get_for_update(session, difference_id, DifferenceState.WRITE_OFF_ASKED, by)
    _change(session, row, DifferenceState.WRITE_OFF_ASKED, by, asked_by=by.id)


def write_off(session: ScopedSession, difference_id: UUID, *, by: Person) -> None:
    """Write off what somebody else asked for; above the limit of finance only an admin does."""
    row = _get_for_update(session, difference_id, DifferenceState.WRITTEN_OFF, by)
    role = "admin" if "admin" in by.roles else "finance"
    with _keep_refusal(by, "write-off", row):
        step = FirstStep(
            by=row.asked_by,
            at=row.changed_at,
            did="asked for this write-off",
            does="approves it",
            roles=("finance",),
            instead="explain it again, and ask for it anew",
        )
        require_other(session, step, by)
        if role != "admin":
            _refuse_above_limit(session, row)
    # `coverdesk check` holds the sum of a month against the limit of whoever approved it then.
    facts = {"role": role, "limit": money.to_wire(WRITE_OFF_LIMIT)}
    _change(session, row, DifferenceState.WRITTEN_OFF, by, facts=facts, decided_by=by.id)


def _refuse_above_limit(session: ScopedSession, row: Difference) -> None:
    """NotAllowed above the limit, with what no admin wrote off of the same party within 30 days: no limit is split.

    Whoever writes off another difference of the party at this instant waits here.
    """
    made = session.get_one(Reconciliation, row.reconciliation_id)
    party = col(FileMapping.provider_id).is_not_distinct_from(made.provider_id)
    session.execute(sa.select(col(FileMapping.key)).where(party).with_for_update())
    since = clock.now() - COUNTS_FOR
    by_admins = audit.list_decided_as(session, _ACTIONS[DifferenceState.WRITTEN_OFF], "admin", since=since)
    query = (
        sa.select(sum_of(sa.func.abs(col(Difference.difference_minor))))
        .join(Reconciliation, col(Reconciliation.id) == col(Difference.reconciliation_id))
        .where(
            col(Reconciliation.provider_id).is_not_distinct_from(made.provider_id),
            col(Difference.state) == DifferenceState.WRITTEN_OFF,
            col(Difference.changed_at) > since,
            col(Difference.id).not_in(by_admins),
        )
    )
    before = int(session.execute(query).scalar_one())
    if abs(row.difference_minor) + before > WRITE_OFF_LIMIT:
        days = COUNTS_FOR.days
        with_it = f" with the {money.format_naira(before)} of this party within {days} days," if before else ""
        raise NotAllowed(f"Above {money.format_naira(WRITE_OFF_LIMIT)},{with_it} an admin approves the write-off")


def list_allowed(row: Any, by: Person) -> list[str]:
    """List what this person may do with a difference now: explain, adjust, ask, write off; `row` is as it is read."""
    if not by.has_role("finance") or row.is_superseded:
        return []
    allowed = {
        DifferenceState.OPEN: ["explain"],
        DifferenceState.EXPLAINED: ["explain", "adjust", "ask"],
        DifferenceState.WRITE_OFF_ASKED: ["explain"] if row.asked_by == by.id else ["write off", "explain"],
    }
    return allowed.get(DifferenceState(row.state), [])


def _get_for_update(session: ScopedSession, difference_id: UUID, to: DifferenceState, by: Person) -> Difference:
    row = _lock(session, difference_id, by)
    DIFFERENCE_TRANSITIONS.get(row.state, to)
    return row


def _lock(session: ScopedSession, difference_id: UUID, by: Person) -> Difference:
    reconciliations.require_finance(by)
    row = session.lock(Difference, difference_id, "difference")
    if reconciliations.is_superseded(session, row.reconciliation_id):
        raise StateForbids("A newer file of this party and month was reconciled: settle the differences of that one")
    return row


def _change(
    session: ScopedSession,
    row: Difference,
    state: DifferenceState,
    by: Person,
    *,
    facts: Mapping[str, str] | None = None,
    **values: Any,
) -> None:
    session.change(Difference, col(Difference.id) == row.id, state=state, changed_at=clock.now(), **values)
    after = {"difference": money.to_wire(row.difference_minor), "state": state, **(facts or {})}
    after |= {name: str(values[name]) for name in ("cause", "note") if name in values}
    subject = audit.subject_of("difference", row.id)
    audit.write(
        session, actor=by.actor, action=_ACTIONS[state], subject=subject, before={"state": row.state}, after=after
    )
