"""The accounts of a demonstration, whose password everybody knows."""

from dataclasses import dataclass

import sqlalchemy as sa
from sqlmodel import col

from core.errors import Unauthorized
from core.services.people import credentials, staff
from core.settings import Settings, settings
from core.store.access import ScopedSession
from core.store.schema.parties import ROLES
from core.store.schema.tables import Staff

ACTOR = "command line"
# In naira: some claims of the demonstration are above it, so that an officer has something to refer.
_OFFICER_LIMIT = "1000000"


@dataclass(frozen=True, slots=True)
class DemoAccount:
    """One demo account; the password is COVERDESK_DEMO_PASSWORD."""

    role: str
    email: str


# Two admins and two people of finance, as one confirms or approves what the other has prepared.
DEMO_ACCOUNTS = (
    *(DemoAccount(role, f"{role}@coverdesk.example") for role in ROLES),
    *(DemoAccount(role, f"second.{role}@coverdesk.example") for role in ("finance", "admin")),
)


def add_accounts(session: ScopedSession) -> None:
    """One account for each role, a second admin and a second person of finance, with a password that everybody knows.

    Safe to repeat: an account that can be used already is left as it is, and so is one that somebody disabled.
    """
    password = settings().demo_password.get_secret_value()
    # One hash for all: everybody knows the password, and eight would take a second.
    hashed: str | None = None
    rows = session.execute(sa.select(col(Staff.email), col(Staff.password_hash), col(Staff.disabled_at)))
    known = {email: (password_hash, disabled_at) for email, password_hash, disabled_at in rows}
    for account in DEMO_ACCOUNTS:
        password_hash, disabled_at = known.get(account.email, (None, None))
        if disabled_at or (password_hash and credentials.matches(password_hash, password)):
            continue
        hashed = hashed or credentials.hash_password(password, check_strength=False)
        staff.add_or_update(
            session,
            email=account.email,
            name=f"Demo {account.email.partition('@')[0].replace('.', ' ')}",
            roles=[account.role],
            password=password,
            actor=ACTOR,
            password_hash=hashed,
            claim_limit=_OFFICER_LIMIT if account.role == "claims" else None,
        )
        # Its admins can try at once what others do after a day (contract K4).
        session.execute(sa.update(Staff).where(col(Staff.email) == account.email).values(confirms_from=None))


def list_accounts(session: ScopedSession) -> list[DemoAccount]:
    """List the demo accounts that stand in the store and are not disabled."""
    usable = set(session.execute(sa.select(col(Staff.email)).where(col(Staff.disabled_at).is_(None))).scalars())
    return [account for account in DEMO_ACCOUNTS if account.email in usable]


def list_with_published_password(session: ScopedSession) -> list[str]:
    """List the e-mails of demo accounts that still have the default password of the manual."""
    published = Settings.model_fields["demo_password"].default.get_secret_value()
    return [each.email for each in list_accounts(session) if _can_sign_in(session, each.email, published)]


def _can_sign_in(session: ScopedSession, email: str, password: str) -> bool:
    try:
        credentials.verify_password(session, email, password)
    except Unauthorized:
        return False
    return True
