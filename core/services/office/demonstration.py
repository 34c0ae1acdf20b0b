"""A demonstration store: whether this is one, and the accounts that people try it with."""

from dataclasses import dataclass

from core.errors import Unauthorized
from core.services.people import passwords, staff
from core.settings import settings
from core.store import demo
from core.store.scope import ScopedSession
from core.store.tables_parties import ROLES

ACTOR = "command line"


@dataclass(frozen=True, slots=True)
class Account:
    """One person to sign in as; the password is COVERDESK_DEMO_PASSWORD."""

    role: str
    email: str


ACCOUNTS = tuple(Account(role, f"{role}@coverdesk.example") for role in ROLES)


def is_demonstration(session: ScopedSession) -> bool:
    """True when the store holds the invented portfolio, so that every screen can say so."""
    return demo.find(session) is not None


def add_accounts(session: ScopedSession) -> None:
    """One account for each role; only for demonstrations, where everybody may know the password.

    Safe to repeat: an account that can be used already is left as it is.
    """
    password = settings().demo_password.get_secret_value()
    for account in ACCOUNTS:
        if _can_sign_in(session, account, password):
            continue
        staff.add(
            session,
            email=account.email,
            name=f"Demo {account.role}",
            roles=[account.role],
            password=password,
            actor=ACTOR,
            check_strength=False,
        )


def _can_sign_in(session: ScopedSession, account: Account, password: str) -> bool:
    try:
        passwords.check(session, account.email, password)
    except Unauthorized:
        return False
    return True
