"""Links that set a password."""

from datetime import timedelta
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import sqlalchemy as sa

from core import clock
from core.services.audit import log as audit
from core.services.people import accounts
from core.services.people.staff import Person
from core.store.access import Scope, Store
from core.store.schema.tables import RoleGrant, Staff

PASSWORD = "correct horse battery"


def ticket_of(link: str) -> str:
    return parse_qs(urlsplit(link).query)["t"][0]


def choose(store: Store, link: str, password: str) -> UUID:
    """Choose a password by a link, or its ticket, with the code that the other admin tells where it has one."""
    ticket, code = ticket_of(link) if "?" in link else link, None
    with store.writing(Scope.system()) as session:
        invited = accounts.open_invitation(session, ticket)
        if invited.needs_code:
            key, known = Staff.id, session.execute(sa.select(Staff).where(Staff.email == invited.email)).scalar_one()
            made = sa.select(key).join(RoleGrant, RoleGrant.proposed_by == key).where(RoleGrant.staff_id == known.id)
            for proposer in session.execute(made).scalars():
                by = Person(id=proposer, email="", name="", roles=("admin",), claim_limit_minor=None)
                code = code or accounts.find_link_code(session, known.id, by=by)
        return accounts.choose_password(session, ticket, password, code=code or "")


def choose_by_link(store: Store, person: Person, *, by: Person, days_ago: int = 3) -> None:
    """Let the log say that a person came to the password of now by a link that somebody else made, days ago."""
    with clock.freeze(clock.now() - timedelta(days=days_ago)), store.writing(Scope.system()) as session:
        audit.note(session, "staff", person.id, "password link made", actor=by.actor)
        audit.note(session, "staff", person.id, "password chosen", actor=person.actor)
