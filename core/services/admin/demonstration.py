"""The demonstration store: detection and demo accounts."""

from dataclasses import dataclass

import sqlalchemy as sa
from sqlmodel import col

from core import demo
from core.errors import Unauthorized
from core.services.people import passwords, staff
from core.settings import Settings, settings
from core.store.access.scope import ScopedSession
from core.store.schema.parties import ROLES
from core.store.schema.tables import Staff

ACTOR = "command line"


@dataclass(frozen=True, slots=True)
class Account:
    """One demo account; the password is COVERDESK_DEMO_PASSWORD."""

    role: str
    email: str


# Two admins, as one confirms what the other proposes.
ACCOUNTS = (
    *(Account(role, f"{role}@coverdesk.example") for role in ROLES),
    Account("admin", "second.admin@coverdesk.example"),
)


def is_demonstration(session: ScopedSession) -> bool:
    """Return True when the store holds the demo portfolio, so that every screen can say so."""
    return demo.find(session) is not None


def add_accounts(session: ScopedSession) -> None:
    """One account for each role and a second admin; only for demonstrations, where everybody may know the password.

    Safe to repeat: an account that can be used already is left as it is, and so is one that somebody disabled.
    """
    password = settings().demo_password.get_secret_value()
    disabled = set(session.execute(sa.select(col(Staff.email)).where(col(Staff.disabled_at).is_not(None))).scalars())
    for account in ACCOUNTS:
        if account.email in disabled or _can_sign_in(session, account, password):
            continue
        staff.add(
            session,
            email=account.email,
            name=f"Demo {account.email.partition('@')[0].replace('.', ' ')}",
            roles=[account.role],
            password=password,
            actor=ACTOR,
            check_strength=False,
        )


def with_a_published_password(session: ScopedSession) -> list[str]:
    """List the e-mails of demo accounts that still have the default password of the manual."""
    published = Settings.model_fields["demo_password"].default.get_secret_value()
    named = {account.email: account for account in ACCOUNTS}
    usable = sa.select(col(Staff.email)).where(col(Staff.email).in_(named), col(Staff.disabled_at).is_(None))
    return [email for (email,) in session.execute(usable) if _can_sign_in(session, named[email], published)]


def _can_sign_in(session: ScopedSession, account: Account, password: str) -> bool:
    try:
        passwords.check(session, account.email, password)
    except Unauthorized:
        return False
    return True
