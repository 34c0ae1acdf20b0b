"""Links that set a password."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

from core import clock
from core.services.audit import log as audit
from core.services.people.staff import Person
from core.store.access import Scope, Store

PASSWORD = "correct horse battery"


def ticket_of(link: str) -> str:
    return parse_qs(urlsplit(link).query)["t"][0]


def choose_by_link(store: Store, person: Person, *, by: Person, days_ago: int = 3) -> None:
    """Let the log say that a person came to the password of now by a link that somebody else made, days ago."""
    with clock.freeze(clock.now() - timedelta(days=days_ago)), store.writing(Scope.system()) as session:
        audit.note(session, "staff", person.id, "password link made", actor=by.actor)
        audit.note(session, "staff", person.id, "password chosen", actor=person.actor)
