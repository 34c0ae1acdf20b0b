"""Claims officers: who can be assigned, their names, and the claims that are their own (contract K12)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.services.claims.intake import submitted
from core.services.claims.lists import filter as claim_filter
from core.services.claims.workflow import payments as claim_payments
from core.services.people import four_eyes, staff
from core.services.people.four_eyes import Parties
from core.services.people.personal import build_phone_key
from core.services.people.staff import Person
from core.services.policies import policies
from core.states.claims import CLAIMS_ROLES, ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import phone_key
from core.store.schema.tables import Claim, ClaimEvent, Customer, Policy, Staff, StaffDetail

# Where a claim has the phone of whom its insured harmed, who is paid.
_THIRD_PARTY: Final = "third_party_phone_number"


@dataclass(frozen=True, kw_only=True, slots=True)
class Officer:
    """A member of staff who works claims, with how many open ones they have in this mode."""

    id: UUID
    name: str
    open_claims: int


def list_active(session: ScopedSession) -> list[Officer]:
    """List everybody to whom a claim can be assigned, by name."""
    query = sa.select(col(Claim.assigned_to), sa.func.count().label("open")).where(
        col(Claim.assigned_to).is_not(None), claim_filter.IS_OPEN, col(Claim.deleted_at).is_(None)
    )
    workload = {row.assigned_to: row.open for row in session.execute(query.group_by(col(Claim.assigned_to)))}
    officers = staff.list_active(session, *CLAIMS_ROLES)
    return [Officer(id=key, name=name, open_claims=workload.get(key, 0)) for key, name in officers.items()]


def load_parties(session: ScopedSession, claim: Claim) -> Parties:
    """Return the people of a claim: its claimant, payee and third party, and the customer and holder of its policy."""
    holders = policies.load_holders(session, session.get_one(Policy, claim.policy_id))
    third_party = submitted.get_meta(claim).get(_THIRD_PARTY)
    return Parties(
        emails=frozenset({claim.claim_owner_email.lower(), *holders.emails} - {""}),
        phones=frozenset(filter(None, (claim.claim_owner_phone_number, third_party, *holders.phones))),
        account_keys=frozenset(filter(None, (claim.account_key,))),
    )


def build_own_condition(person: Person) -> sa.ColumnElement[bool]:
    """Return the condition of a claim whose claimant or account is the person's own."""
    own: list[sa.ColumnElement[bool]] = [sa.func.lower(col(Claim.claim_owner_email)) == person.email.lower()]
    for column, values in (
        (phone_key(col(Claim.claim_owner_phone_number)), [*map(build_phone_key, person.phone_numbers)]),
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
    """Claims on which somebody decided who is their customer, claimant, payee or third party, with what was paid."""
    third_party = col(Claim.vehicle_claim_meta)[_THIRD_PARTY]
    is_own = sa.or_(
        sa.func.lower(col(Claim.claim_owner_email)) == sa.func.lower(col(Staff.email)),
        sa.func.lower(col(Customer.email)) == sa.func.lower(col(Staff.email)),
        phone_key(col(Claim.claim_owner_phone_number)) == phone_key(col(StaffDetail.phone_number)),
        phone_key(col(Customer.phone_number)) == phone_key(col(StaffDetail.phone_number)),
        phone_key(third_party.as_string()) == phone_key(col(StaffDetail.phone_number)),
        col(Claim.account_key) == col(StaffDetail.account_key),
    )
    query: AnySelect = (
        sa.select(col(Claim.id), col(Staff.name), claim_payments.build_paid_column().label("paid"))
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
        reference = submitted.format_reference(row.id)
        yield f"claim {reference}, {amount} paid, was decided on by {row.name}, whose own it is"
