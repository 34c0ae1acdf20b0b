"""The people behind a sum of money held against the staff of the desk: nobody works on their own (contract K12)."""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotAllowed
from core.services.people.personal import list_spellings
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.tables import Staff


@dataclass(frozen=True, slots=True)
class Parties:
    """The e-mails in lower case, the phones, and the accounts by their keyed hashes, of who is paid or is concerned."""

    emails: frozenset[str] = frozenset()
    phones: frozenset[str] = frozenset()
    account_keys: frozenset[str] = frozenset()

    def is_own(self, person: Person) -> bool:
        """True where one of them is the person's own."""
        spelled = {way for phone in self.phones for way in list_spellings(phone)}
        is_phone = person.phone_number is not None and not spelled.isdisjoint(list_spellings(person.phone_number))
        return is_phone or person.email.lower() in self.emails or person.account_key in self.account_keys


def refuse_own(parties: Parties, by: Person) -> None:
    """NotAllowed for whoever has an e-mail, phone or account of those whose money it is."""
    if parties.is_own(by):
        raise NotAllowed("It has your own e-mail, phone or account: somebody else works on it")


def ends_in_the_same(one: Any, other: Any) -> sa.ColumnElement[bool]:
    """Return the condition that two columns have one phone number, however each is spelled: the last ten digits."""
    same: sa.ColumnElement[bool] = _build_tail(one) == _build_tail(other)
    return same


def _build_tail(column: Any) -> Any:
    digits = column
    for sign in (" ", "-", "+", "(", ")", "."):
        digits = sa.func.replace(digits, sign, "")
    return sa.func.substr(digits, sa.func.length(digits) - 9)


def list_staff(session: ScopedSession, parties: Parties) -> list[Staff]:
    """List the staff who have an e-mail, phone or account of these, by name."""
    own = (
        sa.func.lower(col(Staff.email)).in_(parties.emails),
        col(Staff.phone_number).in_({way for phone in parties.phones for way in list_spellings(phone)}),
        col(Staff.account_key).in_(parties.account_keys),
    )
    return list(session.execute(sa.select(Staff).where(sa.or_(*own)).order_by(col(Staff.name))).scalars())
