"""The steps of a month: begun, closed by a second person, and reopened by two (contract F7)."""

from collections.abc import Sequence
from datetime import date
from typing import Any, Final

from core import clock, ids
from core.errors import NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.closing import checks
from core.services.closing.checks import Check
from core.services.finance import journal, months
from core.services.finance.months import Step
from core.services.people.four_eyes import require_second
from core.services.people.staff import Person
from core.states.finance import MONTH_TRANSITIONS, MonthState
from core.store.access import Scope, ScopedSession, reading
from core.store.schema.tables import MonthStep

_SHORTEST: Final = 10
_ACTIONS: Final = {
    MonthState.CLOSING: "month closing begun",
    MonthState.OPEN: "month closing given up",
    MonthState.CLOSED: "month closed",
    MonthState.REOPENING: "month reopening asked",
    MonthState.REOPENED: "month reopened",
}


def list_checks(session: ScopedSession, month: date) -> list[Check]:
    """Return the check list of a month as it stands now."""
    with reading(Scope.system()) as whole:
        faults = checks.find_faults(whole)
    return [checks.of_store(faults), *checks.run(session, month)]


def begin(session: ScopedSession, month: date, *, by: Person) -> None:
    """Begin to close a month that is over; StateForbids while a month before it, with movements, is not closed."""
    _require(session, by)
    if month.day != 1 or clock.lagos_midnight(clock.add_months(month, 1)) > clock.now():
        raise StateForbids(f"{month:%B %Y} is not over yet")
    if earlier := get_earlier(session, month):
        raise StateForbids(f"{earlier:%B %Y} comes first: months are closed one after the other")
    add_step(session, month, MonthState.CLOSING, by=by)


def find_next(session: ScopedSession, newest: date) -> date:
    """Return the month that is closed next; the newest that is over, where all before it are closed."""
    return get_earlier(session, newest) or newest


def get_earlier(session: ScopedSession, month: date) -> date | None:
    """Return the month that has to be closed before this one: the first that is not, since months are closed."""
    states = {step.month: step.state for step in months.list_steps(session)}
    each = min(states, default=month)
    while each < month and states.get(each) == MonthState.CLOSED:
        each = clock.add_months(each, 1)
    return each if each < month else None


def give_up(session: ScopedSession, month: date, *, by: Person) -> None:
    """Take a closing that was begun, or a reopening that was asked for, back."""
    _require(session, by)
    steps = months.list_steps(session, month)
    if steps and steps[-1].state == MonthState.REOPENING:
        closed = next(step for step in reversed(steps) if step.state == MonthState.CLOSED)
        add_step(session, month, MonthState.CLOSED, by=by, sha256=closed.sha256, facts=closed.facts, facts_kept=True)
        return
    add_step(session, month, MonthState.OPEN, by=by)


def close(session: ScopedSession, month: date, *, by: Person, note: str = "") -> None:
    """Close a month that somebody else has begun to close; its journal's hash is kept.

    StateForbids for a check that stands against it, or where there are rows to look at and no note says so.
    """
    _require(session, by)
    _require_step(session, month, MonthState.CLOSED, by)
    found = list_checks(session, month)
    against = [check.name for check in found if check.stands_against]
    if against:
        raise StateForbids(f"It cannot be closed yet: {'; '.join(against)}")
    looked_at = [check.name for check in found if check.rows]
    if looked_at and len(note.strip()) < _SHORTEST:
        raise StateForbids(f"Say in at least ten characters that you checked: {'; '.join(looked_at)}")
    facts = {check.name: len(check.rows) for check in found}
    digest = journal.hash_of(session, month)
    add_step(session, month, MonthState.CLOSED, by=by, note=note.strip(), sha256=digest, facts=facts)


def ask_reopening(session: ScopedSession, month: date, *, by: Person, note: str) -> None:
    """Ask a second person to reopen a closed month, with the reason."""
    _require(session, by)
    if len(note.strip()) < _SHORTEST:
        raise StateForbids("Say in at least ten characters why the month has to be open again")
    add_step(session, month, MonthState.REOPENING, by=by, note=note.strip())


def reopen(session: ScopedSession, month: date, *, by: Person) -> None:
    """Reopen what somebody else asked for; StateForbids while a later month is closed."""
    _require(session, by)
    later = {step.month: step.state for step in months.list_steps(session) if step.month > month}
    if any(state == MonthState.CLOSED for state in later.values()):
        raise StateForbids("A later month is closed: it is reopened first")
    add_step(session, month, MonthState.REOPENED, by=by)


def list_allowed(steps: Sequence[Step], by: Person) -> list[MonthState]:
    """List the states that this person may bring a month to now."""
    if not by.has_role("finance"):
        return []
    state = steps[-1].state if steps else MonthState.OPEN
    return [each.to for each in MONTH_TRANSITIONS.list_from(state) if not each.needs_other or steps[-1].by != by.id]


def _require(session: ScopedSession, by: Person) -> None:
    if not by.has_role("finance"):
        raise NotAllowed("Only finance closes months")
    if session.scope.is_live is not True:
        raise StateForbids("The books are of live records only")


def _require_step(session: ScopedSession, month: date, to: MonthState, by: Person) -> Sequence[Step]:
    steps = months.list_steps(session, month)
    state = steps[-1].state if steps else MonthState.OPEN
    if MONTH_TRANSITIONS.get(state, to).needs_other:
        require_second(steps[-1].by, by, "You made the last step: somebody else of finance makes this one")
    return steps


def add_step(session: ScopedSession, month: date, state: MonthState, *, by: Person, **more: Any) -> None:
    """Write a step that the table of transitions allows this person; the check list is the caller's."""
    steps = _require_step(session, month, state, by)
    row = MonthStep(
        id=ids.new(),
        month=month,
        position=len(steps) + 1,
        state=state,
        by=by.id,
        before_by=steps[-1].by if steps else None,
        at=clock.now(),
        **more,
    )
    if not session.insert_if_absent(row):
        raise StateForbids("Somebody else has just changed this month: open it again")
    after = {"month": f"{month:%Y-%m}", "state": state}
    after |= {name: more[name] for name in ("note", "sha256") if more.get(name)}
    subject = audit.subject_of("month", row.id)
    audit.write(session, actor=by.actor, action=_ACTIONS[state], subject=subject, after=after)
