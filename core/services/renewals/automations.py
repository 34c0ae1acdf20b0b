"""Daily jobs that an admin switches on, and how far each has come today (contract R4)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import NotFound
from core.services.audit import log as audit
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.tables import Automation

RENEWAL_REMINDERS: Final = "renewal reminders"
NAMES: Final = (RENEWAL_REMINDERS,)
# Nobody is written to at night: hours of Lagos, the first included.
FIRST_HOUR, LAST_HOUR = 8, 20


@dataclass(frozen=True, kw_only=True, slots=True)
class AutomationState:
    """One job: whether it is on, who switched it last, and what its pass of `day` has done so far."""

    name: str
    is_on: bool
    changed_by: str | None
    changed_at: datetime | None
    day: date | None
    is_finished: bool
    done: int


def list_states(session: ScopedSession) -> list[AutomationState]:
    """Return every job, also those that nobody has switched yet."""
    rows: Mapping[str, Automation] = {row.name: row for row in session.execute(sa.select(Automation)).scalars()}
    return [_build(name, rows.get(name)) for name in NAMES]


def get_state(session: ScopedSession, name: str) -> AutomationState:
    """Return one job."""
    return next(state for state in list_states(session) if state.name == name)


def _build(name: str, row: Automation | None) -> AutomationState:
    if row is None:
        return AutomationState(
            name=name, is_on=False, changed_by=None, changed_at=None, day=None, is_finished=False, done=0
        )
    kept = {field: getattr(row, field) for field in AutomationState.__dataclass_fields__}
    return AutomationState(**kept)


def switch(session: ScopedSession, name: str, *, on: bool, by: Person) -> None:
    """Switch a job on or off; the state that it has already changes nothing."""
    by.require_role(otherwise="Automatic tasks are switched by an admin")
    if name not in NAMES:
        raise NotFound("No such job")
    session.insert_if_absent(Automation(name=name))
    row = _lock(session, name)
    if row is None or row.is_on == on:
        return
    row.is_on, row.changed_by, row.changed_at = on, by.actor, clock.now()
    session.flush()
    action = "automation switched on" if on else "automation switched off"
    audit.write(session, actor=by.actor, action=action, subject=f"automation {name.replace(' ', '-')}")


def is_due(session: ScopedSession, name: str) -> bool:
    """Return True while a job is on, the hour is one at which people are written to, and today's pass is not over."""
    hour = int(clock.format_lagos(clock.now(), "%H"))
    row = session.execute(sa.select(Automation).where(col(Automation.name) == name)).scalar_one_or_none()
    return bool(row and row.is_on and FIRST_HOUR <= hour < LAST_HOUR and not _is_over(row))


def _is_over(row: Automation) -> bool:
    return row.day == clock.today() and row.is_finished


def lock_pass(session: ScopedSession, name: str) -> Automation | None:
    """Return the row of a job, locked, at the place where today's pass goes on; None when there is nothing to do."""
    row = _lock(session, name)
    if row is None or not row.is_on or _is_over(row):
        return None
    if row.day != clock.today():
        row.day, row.is_finished, row.done = clock.today(), False, 0
        row.after_at = row.after_id = None
    return row


def advance(row: Automation, *, after: tuple[datetime, UUID] | None, done: int) -> None:
    """Note how far a pass has come; `after` None ends it."""
    row.done += done
    row.after_at, row.after_id = after or (None, None)
    row.is_finished = after is None


def _lock(session: ScopedSession, name: str) -> Automation | None:
    query = sa.select(Automation).where(col(Automation.name) == name).with_for_update()
    found: Automation | None = session.execute(query).scalar_one_or_none()
    return found
