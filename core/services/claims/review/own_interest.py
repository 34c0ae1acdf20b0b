"""The people of a claim held against the staff of the desk: nobody decides on a claim of their own (contract K12)."""

from collections.abc import Iterator

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.services.claims.intake import requirements
from core.services.people import four_eyes
from core.services.people.four_eyes import Parties
from core.services.people.personal import list_spellings
from core.services.people.staff import Person
from core.states.claims import ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, ClaimEvent, ClaimPayment, Customer, Staff, StaffDetail


def load_parties(session: ScopedSession, claim: Claim) -> Parties:
    """Return the people of a claim."""
    customer = session.get_one(Customer, claim.customer_id)
    phones = {claim.claim_owner_phone_number, customer.phone_number}
    return Parties(
        emails=frozenset({claim.claim_owner_email.lower(), customer.email.lower()}),
        phones=frozenset(phone for phone in phones if phone),
        account_keys=frozenset(filter(None, (claim.account_key,))),
    )


def build_own_condition(person: Person) -> sa.ColumnElement[bool]:
    """Return the condition of a claim whose claimant or account is the person's own."""
    own: list[sa.ColumnElement[bool]] = [sa.func.lower(col(Claim.claim_owner_email)) == person.email.lower()]
    phones = [way for phone in person.phone_numbers for way in list_spellings(phone)]
    for column, values in (
        (col(Claim.claim_owner_phone_number), phones),
        (col(Claim.account_key), person.account_keys),
    ):
        if values:
            # Compared with nothing it would be unknown, and so would its opposite.
            own.append(sa.and_(column.is_not(None), column.in_(values)))
    return sa.or_(*own)


def list_staff(session: ScopedSession, claim: Claim) -> list[str]:
    """List the names of staff whose e-mail, phone or account a claim has."""
    return [person.name for person in four_eyes.list_staff(session, load_parties(session, claim))]


def find_own_decisions(session: ScopedSession) -> Iterator[str]:
    """Claims on which somebody decided who is their customer, claimant or payee, with what was paid on them."""
    paid = sa.select(sa.func.coalesce(sa.func.sum(col(ClaimPayment.amount_minor)), 0)).where(
        col(ClaimPayment.claim_id) == col(Claim.id)
    )
    is_own = sa.or_(
        sa.func.lower(col(Claim.claim_owner_email)) == sa.func.lower(col(Staff.email)),
        sa.func.lower(col(Customer.email)) == sa.func.lower(col(Staff.email)),
        four_eyes.ends_in_the_same(col(Claim.claim_owner_phone_number), col(StaffDetail.phone_number)),
        four_eyes.ends_in_the_same(col(Customer.phone_number), col(StaffDetail.phone_number)),
        col(Claim.account_key) == col(StaffDetail.account_key),
    )
    query: AnySelect = (
        sa.select(col(Claim.id), col(Staff.name), paid.correlate(Claim).scalar_subquery().label("paid"))
        .join(Customer, col(Customer.id) == col(Claim.customer_id))
        .join(
            ClaimEvent, sa.and_(col(ClaimEvent.claim_id) == col(Claim.id), col(ClaimEvent.status) != ClaimStatus.VIEWED)
        )
        .join(Staff, col(Staff.id) == col(ClaimEvent.staff_id))
        .outerjoin(StaffDetail, col(StaffDetail.staff_id) == col(Staff.id))
        .where(is_own)
        .distinct()
    )
    for row in session.execute(query):
        amount = money.format_naira(int(row.paid))
        reference = requirements.format_reference(row.id)
        yield f"claim {reference}, {amount} paid, was decided on by {row.name}, whose own it is"
