"""The parties that money is settled with: each distributor and each insurer has one account."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money, seal
from core.services.people import four_eyes, transfers
from core.services.people.four_eyes import Parties
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.schema.tables import AuditEntry, BankAccount, Distributor, PartyPayment, Payment, Provider, Statement

Account = Literal["distributor", "provider"]
_DECIDED_BY: Final = frozenset({"approved_by", "sent_by", "refused_by"})


@dataclass(frozen=True, slots=True)
class Party:
    """A distributor or an insurer."""

    account: Account
    id: UUID

    @property
    def columns(self) -> dict[str, Any]:
        """The columns that name the party in a row."""
        return {"account": self.account, "distributor_id": None, "provider_id": None, f"{self.account}_id": self.id}

    @property
    def subject(self) -> str:
        """The kind of record that the party is in the audit log."""
        return "distributor" if self.account == "distributor" else "insurer"

    def owns(self, entity: Any) -> sa.ColumnElement[bool]:
        """Return the condition that a row is the party's."""
        found: sa.ColumnElement[bool] = col(getattr(entity, f"{self.account}_id")) == self.id
        return found


def party_of(row: Any) -> Party:
    """Return the party of a statement or a payment."""
    party_id = row.distributor_id or row.provider_id
    assert party_id is not None  # noqa: S101 - the store checks that there is one
    return Party("distributor" if row.distributor_id else "provider", party_id)


def lock(session: ScopedSession, party: Party) -> None:
    """Wait for whoever decides on money of a party at this instant; sales, which refer to the row, do not."""
    entity: Any = Distributor if party.account == "distributor" else Provider
    row = sa.select(col(entity.id)).where(col(entity.id) == party.id)
    session.execute(row.with_for_update(key_share=True))


def get_name(session: ScopedSession, party: Party) -> str:
    """Return the name of a party; NotFound for one that does not exist."""
    entity: Any = Distributor if party.account == "distributor" else Provider
    column = Distributor.business_name if party.account == "distributor" else Provider.company_name
    found = session.find_scalar(
        sa.select(col(column)).where(col(entity.id) == party.id), otherwise=f"There is no such {party.subject}"
    )
    return str(found)


def load_people(session: ScopedSession, *which: Party) -> Parties:
    """Return the e-mails, phones and bank accounts of parties, also of accounts that are only proposed."""
    businesses: list[Any] = []
    for account, entity in (("distributor", Distributor), ("provider", Provider)):
        if keys := {party.id for party in which if party.account == account}:
            businesses += session.execute(sa.select(entity).where(col(entity.id).in_(keys))).scalars()
    return four_eyes.load_people(session, businesses, sa.or_(*(party.owns(BankAccount) for party in which), sa.false()))


def has_account(session: ScopedSession, key: str) -> bool:
    """Return True where an account, by its keyed hash, is or was proposed as that of a party."""
    sealed = session.execute(sa.select(col(BankAccount.sealed))).scalars()
    return any(number and seal.build_account_key(number) == key for number in map(transfers.open_account, sealed))


def refuse_own_party(session: ScopedSession, *which: Party, by: Person) -> None:
    """NotAllowed for whoever has an e-mail, phone or bank account of a party: others work on its money (K12)."""
    four_eyes.refuse_own(load_people(session, *which), by)


def list_own_staff(session: ScopedSession, *which: Party) -> list[str]:
    """List the names of staff whose e-mail, phone or account one of these parties has."""
    return [person.name for person in four_eyes.list_staff(session, load_people(session, *which))]


def find_own_decisions(session: ScopedSession) -> Iterator[str]:
    """Statements and payments of a party that somebody approved, sent or confirmed whose own the party is."""
    amounts = ((Statement, col(Statement.closing_minor)), (Payment, col(Payment.net_minor)))
    for party, name in list_parties(session):
        for person in four_eyes.list_staff(session, load_people(session, party)):
            noted = sa.select(col(PartyPayment.payment_id)).where(col(PartyPayment.paid_by) == person.id)
            for entity, amount in amounts:
                stamps = [column for column in sa.inspect(entity).columns if column.name in _DECIDED_BY]
                mine = [column == person.id for column in stamps]
                if entity is Payment:
                    mine.append(col(Payment.id).in_(noted))
                number, minor = session.count_and_sum(sa.func.abs(amount), party.owns(entity), sa.or_(*mine))
                if number:
                    yield (
                        f"{number:,} {entity.__name__.lower()}s of {name}, {money.format_naira(minor)}, were decided on"
                        f" by {person.name}, whose own they are"
                    )


def list_parties(session: ScopedSession) -> list[tuple[Party, str]]:
    """List every distributor and insurer with its name, distributors first, by name."""
    sellers = session.execute(sa.select(col(Distributor.id), col(Distributor.business_name)))
    insurers = session.execute(sa.select(col(Provider.id), col(Provider.company_name)))
    found = [
        *((Party("distributor", key), name) for key, name in sellers),
        *((Party("provider", key), name) for key, name in insurers),
    ]
    return sorted(found, key=lambda each: (each[0].account, each[1].lower()))


# What the audit log says of another name, and where it has the one of before.
_RENAMED: Final = {"distributor changed": "name", "insurer changed": "company_name"}


def load_names_at(session: ScopedSession, at: datetime | None) -> dict[Party, str]:
    """Return the name of every party as it was at an instant, by the audit log, or as it is now."""
    names = dict(list_parties(session))
    if at is None:
        return names
    query = sa.select(AuditEntry).where(col(AuditEntry.action).in_(list(_RENAMED)), col(AuditEntry.created_at) > at)
    newest_first = query.order_by(col(AuditEntry.created_at).desc(), col(AuditEntry.position).desc())
    for entry in session.execute(newest_first).scalars():
        kind, _, key = entry.subject.partition(" ")
        before = (entry.before or {}).get(_RENAMED[entry.action])
        if before is not None:
            names[Party("distributor" if kind == "distributor" else "provider", UUID(key))] = str(before)
    return names


def list_insurers(session: ScopedSession) -> list[tuple[UUID, str]]:
    """List every insurer, its id and name, by name."""
    return [(party.id, name) for party, name in list_parties(session) if party.account == "provider"]
