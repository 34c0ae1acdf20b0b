"""Changes made from dialogs: each is one transaction as the signed-in person, who needs the role of the desk."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from core.services.people.staff import Person
from core.store.access import Scope, ScopedSession, transact
from core.ui.frame import frame
from core.ui.kit import dialogs

Result = TypeVar("Result")


@dataclass(frozen=True, slots=True)
class DialogWrites:
    """The changes of one desk: the role that they need, and the scope of their transactions."""

    role: str
    scope: Callable[[], Scope]

    def carry_out(self, work: Callable[[ScopedSession, Person], Result]) -> Result:
        """Run the work as the signed-in person and return its result."""
        by, scope = frame.require(self.role), self.scope()
        return transact(scope, lambda session: work(session, by))

    def run(self, work: Callable[[ScopedSession, Person], object], sentence: str) -> str:
        """Run the work and return the sentence that says so."""
        self.carry_out(work)
        return sentence

    def run_with_fields(
        self, names: tuple[str, ...], work: Callable[[ScopedSession, Mapping[str, Any], Person], object], sentence: str
    ) -> Callable[[], str]:
        """Return the action of a dialog that hands its fields to the work.

        They are read before the transaction: the thread that writes has no session of the browser.
        """

        def act() -> str:
            typed = dialogs.get_values(*names)
            return self.run(lambda session, by: work(session, typed, by), sentence)

        return act
