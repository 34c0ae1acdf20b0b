"""The privacy desk: what its screens read and change is over every record, for people of compliance."""

from collections.abc import Callable
from functools import partial
from typing import TypeVar
from uuid import UUID

from core.services.audit import log as audit
from core.services.audit.log import AuditEvent
from core.store.access import Scope, ScopedSession, reading
from core.ui.frame import frame, record_pages
from core.ui.kit import facts
from core.ui.kit.actions import Action

Result = TypeVar("Result")
ROLE = "compliance"
# A person's records are at several distributors and in both modes.
_EVERYTHING = Scope.system()
action = partial(Action, roles=(ROLE,), scope=Scope.system)


def read(work: Callable[[ScopedSession], Result]) -> Result:
    """Read over every record; only for people of compliance."""
    frame.require(ROLE)
    with reading(_EVERYTHING) as session:
        return work(session)


def record(get: Callable[[ScopedSession, UUID], Result], noun: str) -> Result:
    """Return the record named in the URL; if there is none, show a message and stop the page."""
    frame.require(ROLE)
    return record_pages.load(noun, get, scope=_EVERYTHING)


def history(subject: str) -> None:
    """Draw the entries of the audit log about a record."""
    entries = read(lambda session: audit.list_history(session, subject))
    facts.history(
        [AuditEvent(at=row.created_at, actor=row.actor, action=row.action, facts=row.after or {}) for row in entries]
    )
