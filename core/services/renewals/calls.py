"""Calls about renewals: who called whom and what was said, the latest of each term, and what callers achieve."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import AfterValidator, Field
from sqlmodel import col

from core import clock
from core.covers import fields, request
from core.covers.fields import fault
from core.covers.request import Request
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.lists.filters.fields import Condition
from core.services.lists.windows import Span
from core.services.people import staff
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.sales import figures
from core.store.access import AnySelect, ScopedSession
from core.store.rows import build_row
from core.store.schema.parties import CALL_OUTCOMES
from core.store.schema.tables import Policy, Renewal, RenewalCall, RenewalReminder


def build_latest_call(outcomes: Collection[str] = ()) -> Any:
    """Return the id of the latest call about the current term of a policy, or of those with such an outcome, as SQL."""
    call = sa.orm.aliased(RenewalCall)
    latest = _of_term(call, col(call.id)).order_by(col(call.created_at).desc(), col(call.id).desc())
    if outcomes:
        latest = latest.where(col(call.outcome).in_(outcomes))
    return latest.limit(1).scalar_subquery()


def build_latest_reminder() -> Any:
    """Return when a policy was last reminded of the end of its current term, as SQL."""
    return _of_term(RenewalReminder, sa.func.max(col(RenewalReminder.created_at))).scalar_subquery()


def is_latest_call(*conditions: Condition) -> Condition:
    """Return the condition on a policy that its latest call is such; without conditions, that there is one."""
    return sa.select(col(RenewalCall.id)).where(col(RenewalCall.id) == build_latest_call(), *conditions).exists()


def is_refused() -> Condition:
    """Return the condition on a policy that its customer, when last spoken to, did not want to renew its term.

    A call that reached nobody leaves what was said before.
    """
    spoken = build_latest_call(REACHED)
    call = sa.orm.aliased(RenewalCall)
    return sa.select(col(call.id)).where(col(call.id) == spoken, col(call.outcome) == REFUSED).exists()


def _of_term(entity: Any, value: Any) -> AnySelect:
    is_of_term = col(entity.policy_id) == col(Policy.id), col(entity.expiration_at) == col(Policy.expiration_at)
    return sa.select(value).where(*is_of_term).correlate(Policy)


# Calls about the end of a term: recording what came of them, and how many led to a renewal.

REFUSED: Final = "refused"
OUTCOMES: Final[Mapping[str, str]] = {
    "will_renew": "Will renew",
    "thinking": "Thinking it over",
    REFUSED: "Does not want it",
    "no_answer": "No answer",
    "wrong_number": "Wrong number",
}
# Outcomes of a call in which the customer was spoken to.
REACHED: Final = ("will_renew", "thinking", REFUSED)
_ROLES: Final = ("operations",)
_LATEST_MONTHS: Final = 12


def _check_day(day: date) -> date:
    if not clock.today() <= day <= clock.add_months(clock.today(), _LATEST_MONTHS):
        raise fault("must be today or later, within a year")
    return day


class CallInput(Request):
    """Input: the outcome of a call and the day to call again."""

    outcome: Annotated[str, fields.one_of(*CALL_OUTCOMES)]
    note: Annotated[str, Field(max_length=500)] | None = None
    call_again_on: Annotated[fields.Day, AfterValidator(_check_day)] | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Call:
    """One recorded call, with the names of the caller and of who goes on."""

    policy_id: UUID
    outcome: str
    note: str | None
    caller: str
    owner: str
    call_again_on: date | None
    created_at: datetime

    @property
    def label(self) -> str:
        """Outcome in words."""
        return OUTCOMES[self.outcome]


@dataclass(frozen=True, kw_only=True, slots=True)
class CallerFigures:
    """One caller: calls made and those that reached the customer, terms called about, and renewals credited.

    A renewal is credited to whoever called last before it, so that the figures of all callers can be added up; a term
    that two have called about counts for each of them.
    """

    caller: str
    calls: int
    reached: int
    terms: int
    renewed: int
    premium_minor: int

    @property
    def conversion(self) -> Any:
        """Share of the terms called about that were renewed and credited."""
        return figures.share(self.renewed, self.terms)


def record_calls(
    session: ScopedSession,
    policy_ids: Sequence[UUID],
    inputs: Mapping[str, Any],
    *,
    owner_id: UUID | None = None,
    by: Person,
) -> int:
    """Record one outcome for each of these policies; returns their number. `owner_id` goes on, by default the caller.

    InvalidInput names what is wrong; StateForbids for a policy without an end, of which there is nothing to renew.
    """
    by.require_role(*_ROLES, otherwise="Calls are recorded by operations")
    chosen = policies.choose_several(policy_ids)
    validated: CallInput = request.validate(CallInput, dict(inputs))
    if owner_id not in (None, by.id) and owner_id not in list_owners(session):
        raise InvalidInput.for_field("owner", "must be a colleague of operations")
    for policy_id in chosen:
        policy = policies.get_row(session, policy_id)
        if policy.expiration_at is None:
            raise StateForbids("This policy has no end yet")
        row = RenewalCall(
            distributor_id=policy.distributor_id,
            is_live=policy.is_live,
            policy_id=policy_id,
            expiration_at=policy.expiration_at,
            outcome=validated.outcome,
            note=validated.note or None,
            caller_id=by.id,
            owner_id=owner_id or by.id,
            call_again_on=validated.call_again_on,
        )
        session.insert(row)
        _record(session, row, by)
    return len(set(policy_ids))


def load_latest(session: ScopedSession, policy_ids: Collection[UUID]) -> dict[UUID, Call]:
    """Return the latest call about the current term of each policy; policies that nobody called are absent."""
    query = (
        sa.select(RenewalCall)
        .join(Policy, col(Policy.id) == col(RenewalCall.policy_id))
        .where(col(RenewalCall.policy_id).in_(policy_ids), col(RenewalCall.expiration_at) == col(Policy.expiration_at))
        .order_by(col(RenewalCall.created_at), col(RenewalCall.id))
    )
    return {call.policy_id: call for call in _build_calls(session, list(session.execute(query).scalars()))}


def list_calls(session: ScopedSession, policy_id: UUID) -> list[Call]:
    """Return every call about a policy, the latest first."""
    query = sa.select(RenewalCall).where(col(RenewalCall.policy_id) == policy_id)
    ordered = query.order_by(col(RenewalCall.created_at).desc(), col(RenewalCall.id).desc())
    return _build_calls(session, list(session.execute(ordered).scalars()))


def compute_conversion(session: ScopedSession, made: Span) -> list[CallerFigures]:
    """Return the figures of each caller for the calls made within a span, most calls first.

    Calls of a term count towards a renewal of that term recorded after them, whenever that was.
    """
    credited = {row.caller_id: row for row in session.execute(_build_credits(made))}
    rows = list(session.execute(_build_counts(made)))
    names = staff.get_names(session, {row.caller_id for row in rows})
    found = [
        CallerFigures(
            caller=names.get(row.caller_id, "?"),
            calls=int(row.calls),
            reached=int(row.reached),
            terms=row.terms,
            renewed=credited[row.caller_id].renewed if row.caller_id in credited else 0,
            premium_minor=int(credited[row.caller_id].premium) if row.caller_id in credited else 0,
        )
        for row in rows
    ]
    return sorted(found, key=lambda each: (-each.calls, each.caller))


def _build_counts(made: Span) -> AnySelect:
    """Build the query of each caller's calls, those that reached somebody, and terms called about."""
    term = (col(RenewalCall.caller_id), col(RenewalCall.policy_id), col(RenewalCall.expiration_at))
    spoke = sa.func.sum(sa.case((col(RenewalCall.outcome).in_(REACHED), 1), else_=0))
    called = (
        sa.select(*term, sa.func.count().label("calls"), spoke.label("reached"))
        .where(*made.on(col(RenewalCall.created_at)))
        .group_by(*term)
    ).subquery()
    return sa.select(
        called.c.caller_id,
        sa.func.sum(called.c.calls).label("calls"),
        sa.func.sum(called.c.reached).label("reached"),
        sa.func.count().label("terms"),
    ).group_by(called.c.caller_id)


def _build_credits(made: Span) -> AnySelect:
    """Build the query of each caller's renewals: those before which nobody else called later, within the span."""
    latest = sa.func.row_number().over(
        partition_by=col(Renewal.id), order_by=[col(RenewalCall.created_at).desc(), col(RenewalCall.id).desc()]
    )
    followed = (
        sa.select(col(RenewalCall.caller_id), col(Renewal.total_minor), latest.label("place"))
        .join(
            Renewal,
            sa.and_(
                col(Renewal.policy_id) == col(RenewalCall.policy_id),
                col(Renewal.previous_expiration_at) == col(RenewalCall.expiration_at),
                col(Renewal.created_at) >= col(RenewalCall.created_at),
                col(Renewal.status),
            ),
        )
        .where(*made.on(col(RenewalCall.created_at)))
    ).subquery()
    return (
        sa.select(
            followed.c.caller_id,
            sa.func.count().label("renewed"),
            sa.func.sum(followed.c.total_minor).label("premium"),
        )
        .where(followed.c.place == 1)
        .group_by(followed.c.caller_id)
    )


def list_owners(session: ScopedSession) -> dict[UUID, str]:
    """Return the people who may go on with a call, by id, sorted by name."""
    return staff.list_active(session, *_ROLES)


def _build_calls(session: ScopedSession, rows: Sequence[RenewalCall]) -> list[Call]:
    names = staff.get_names(session, {key for row in rows for key in (row.caller_id, row.owner_id)})
    return [
        build_row(Call, row, caller=names.get(row.caller_id, "?"), owner=names.get(row.owner_id, "?")) for row in rows
    ]


def _record(session: ScopedSession, row: RenewalCall, by: Person) -> None:
    again = {"call_again_on": row.call_again_on.isoformat()} if row.call_again_on else {}
    # The note may tell of people: it stays with the call, not in the log.
    facts = {"outcome": OUTCOMES[row.outcome], "with_note": row.note is not None, **again}
    audit.note(session, "policy", row.policy_id, "renewal call recorded", actor=by.actor, **facts)
