"""The people of a claim held against the staff of the desk: nobody decides on a claim of their own (contract K12)."""

from collections.abc import Iterator
from dataclasses import dataclass

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.services.claims.intake import requirements
from core.services.people.staff import Person
from core.states.claims import ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, ClaimEvent, ClaimPayment, Customer, Staff


@dataclass(frozen=True, slots=True)
class Parties:
    """The e-mails, phones and account of a claim's customer, claimant and payee."""

    emails: frozenset[str] = frozenset()
    phones: frozenset[str] = frozenset()
    account_key: str | None = None

    def is_own(self, person: Person) -> bool:
        """True where one of them is the person's own."""
        is_account = self.account_key is not None and person.account_key == self.account_key
        return person.email.lower() in self.emails or person.phone_number in self.phones or is_account


def load_parties(session: ScopedSession, claim: Claim) -> Parties:
    """Return the people of a claim."""
    customer = session.get_one(Customer, claim.customer_id)
    phones = {claim.claim_owner_phone_number, customer.phone_number}
    return Parties(
        emails=frozenset({claim.claim_owner_email.lower(), customer.email.lower()}),
        phones=frozenset(phone for phone in phones if phone),
        account_key=claim.account_key,
    )


def build_own_condition(person: Person) -> sa.ColumnElement[bool]:
    """Return the condition of a claim whose claimant or account is the person's own."""
    own: list[sa.ColumnElement[bool]] = [sa.func.lower(col(Claim.claim_owner_email)) == person.email.lower()]
    for column, value in (
        (col(Claim.claim_owner_phone_number), person.phone_number),
        (col(Claim.account_key), person.account_key),
    ):
        if value:
            # Compared with nothing it would be unknown, and so would its opposite.
            own.append(sa.and_(column.is_not(None), column == value))
    return sa.or_(*own)


def list_staff(session: ScopedSession, claim: Claim) -> list[str]:
    """List the names of staff whose e-mail, phone or account a claim has."""
    parties = load_parties(session, claim)
    own: list[sa.ColumnElement[bool]] = [
        sa.func.lower(col(Staff.email)).in_(parties.emails),
        col(Staff.phone_number).in_(parties.phones),
    ]
    if parties.account_key is not None:
        own.append(col(Staff.account_key) == parties.account_key)
    return list(session.execute(sa.select(col(Staff.name)).where(sa.or_(*own)).order_by(col(Staff.name))).scalars())


def find_own_decisions(session: ScopedSession) -> Iterator[str]:
    """Claims on which somebody decided who is their customer, claimant or payee, with what was paid on them."""
    paid = sa.select(sa.func.coalesce(sa.func.sum(col(ClaimPayment.amount_minor)), 0)).where(
        col(ClaimPayment.claim_id) == col(Claim.id)
    )
    is_own = sa.or_(
        sa.func.lower(col(Claim.claim_owner_email)) == sa.func.lower(col(Staff.email)),
        sa.func.lower(col(Customer.email)) == sa.func.lower(col(Staff.email)),
        col(Claim.claim_owner_phone_number) == col(Staff.phone_number),
        col(Customer.phone_number) == col(Staff.phone_number),
        col(Claim.account_key) == col(Staff.account_key),
    )
    query: AnySelect = (
        sa.select(col(Claim.id), col(Staff.name), paid.correlate(Claim).scalar_subquery().label("paid"))
        .join(Customer, col(Customer.id) == col(Claim.customer_id))
        .join(
            ClaimEvent, sa.and_(col(ClaimEvent.claim_id) == col(Claim.id), col(ClaimEvent.status) != ClaimStatus.VIEWED)
        )
        .join(Staff, col(Staff.id) == col(ClaimEvent.staff_id))
        .where(is_own)
        .distinct()
    )
    for row in session.execute(query):
        amount = money.format_naira(int(row.paid))
        reference = requirements.format_reference(row.id)
        yield f"claim {reference}, {amount} paid, was decided on by {row.name}, whose own it is"
