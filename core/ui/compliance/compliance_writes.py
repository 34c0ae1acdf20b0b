"""A change at the privacy desk from a dialog: one transaction as the signed-in person, over every record."""

from collections.abc import Callable
from typing import TypeVar
from uuid import UUID

from core.services.audit import log as audit
from core.services.audit.log import AuditEvent
from core.store.access import Scope, ScopedSession, reading
from core.ui.frame import frame, record_pages
from core.ui.kit import dialogs, facts
from core.ui.kit.dialog_writes import DialogWrites

Result = TypeVar("Result")
ROLE = "compliance"
# A person's records are at several distributors and in both modes.
_EVERYTHING = Scope.system()
_WRITES = DialogWrites(ROLE, lambda: _EVERYTHING)
carry_out, made, submitted = _WRITES.carry_out, _WRITES.run, _WRITES.run_with_fields


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


def button(label: str, decision: dialogs.Decision, *, icon: str, primary: bool = False, key: str | None = None) -> None:
    """Draw the button that opens a dialog."""
    dialogs.button(label, decision, key=key, is_primary=primary, icon=f":material/{icon}:")
