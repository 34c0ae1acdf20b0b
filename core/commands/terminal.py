"""Acts that the command line does in somebody's name: the log has the user and the machine (contract K11)."""

from collections.abc import Callable
from typing import Any, TypeVar
from uuid import UUID

from core.commands import describe_terminal
from core.services.audit import log as audit
from core.services.people.staff import Person
from core.store.access import Scope, ScopedSession, transact

Made = TypeVar("Made")


def act(work: Callable[[ScopedSession], Made], kind: str, action: str, *, officer: Person, **facts: Any) -> Made:
    """Do one act on live records in a transaction of its own, and return what it makes, perhaps the id of a `kind`.

    Refused or not, it stands in the log as the terminal's beside the entry of the officer whom it names.
    """
    terminal, action = describe_terminal(), f"{action} by command"

    def run(session: ScopedSession) -> Made:
        named: dict[str, Any] = {"officer": officer.email, **facts}
        with audit.keep_command_refusal(terminal=terminal, action=action, subject=kind, **named):
            made = work(session)
        subject = audit.subject_of(kind, made) if isinstance(made, UUID) else kind
        audit.write(session, actor=terminal, action=action, subject=subject, after=named)
        return made

    return transact(Scope.staff(is_live=True), run)
