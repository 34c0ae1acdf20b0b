"""A change of finance from a dialog: one transaction as the signed-in person, in the mode of the screen."""

from collections.abc import Callable

from core.services.people.staff import Person
from core.store.access import ScopedSession, transact
from core.ui.frame import frame

Work = Callable[[ScopedSession, Person], object]
ROLE = "finance"


def made(work: Work, sentence: str) -> str:
    """Run the work as the signed-in person of finance, and return the sentence that says so."""
    by, scope = frame.require(ROLE), frame.scope()
    transact(scope, lambda session: work(session, by))
    return sentence
