"""Bank accounts of parties: proposed by one admin, confirmed by another, usable later (contract F2)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import Field
from sqlmodel import col

from core import clock, ids, seal
from core.covers import fields, request
from core.covers.request import Request
from core.errors import StateForbids
from core.services.audit import log as audit
from core.services.finance import agreements, parties
from core.services.finance.parties import Party
from core.services.people import transfers
from core.services.people.accounts import require_admin
from core.services.people.four_eyes import OPEN, NotedProposals, Parties, refuse_own
from core.services.people.staff import Person
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import BankAccount, CommissionShare, TermsProposal

RESTS: Final = timedelta(hours=48)


def _note(session: ScopedSession, row: BankAccount, action: str, by: Person) -> None:
    party = parties.party_of(row)
    facts = {"bank": row.bank_name, "account_name": row.account_name, "account_ends_in": row.hint}
    audit.note(session, party.subject, party.id, action, actor=by.actor, **facts)


PROPOSALS: Final = NotedProposals(
    BankAccount,
    "account",
    allow=require_admin,
    note=_note,
    actions={
        "confirmed": "bank account confirmed",
        "refused": "bank account refused",
        "withdrawn": "bank account withdrawn",
    },
)
refuse, take_back = PROPOSALS.refuse, PROPOSALS.take_back


class BankInput(Request):
    """Input: the bank account of a party."""

    bank_name: Annotated[str, Field(min_length=2, max_length=100)]
    account_name: Annotated[str, Field(min_length=2, max_length=100)]
    account_number: fields.AccountNumber


@dataclass(frozen=True, kw_only=True, slots=True)
class Account:
    """One bank account of a party, with its last four digits, and where its confirmation stands."""

    id: UUID
    bank_name: str
    account_name: str
    hint: str
    state: str
    proposed_by: UUID
    proposer: str
    proposed_at: datetime
    decider: str | None
    usable_from: datetime | None

    @property
    def rests(self) -> bool:
        """True while it is confirmed and may not be paid to yet."""
        return self.usable_from is not None and self.usable_from > clock.now()


def propose(session: ScopedSession, party: Party, typed: Mapping[str, Any], *, by: Person) -> UUID:
    """Propose another account and return its id; StateForbids while one waits.

    NotAllowed for anybody but an admin, and for one whose own the party or the account is.
    """
    agreements.require_other(session, party, by, "bank account proposal")
    given: BankInput = request.validate(BankInput, typed)
    refuse_own(Parties(account_keys=frozenset({seal.build_account_key(given.account_number)})), by)
    if any(account.state == "open" for account in list_accounts(session, party)):
        raise StateForbids("A change of this account waits for a second person already: it has to be decided first")
    frozen = transfers.freeze_account(given.account_number)
    row = BankAccount(
        id=ids.new(),
        **party.columns,
        bank_name=given.bank_name,
        account_name=given.account_name,
        hint=frozen["hint"],
        sealed=frozen["sealed"],
        proposed_by=by.id,
        proposed_at=clock.now(),
    )
    session.insert(row)
    _note(session, row, "bank account proposed", by)
    return row.id


def confirm(session: ScopedSession, account_id: UUID, *, by: Person) -> None:
    """Confirm what another admin proposed; it is paid to after 48 hours. Never by one whose own it is."""
    row = PROPOSALS.open_for(session, account_id, by)
    party = parties.party_of(row)
    subject = audit.subject_of(party.subject, party.id)
    with audit.keep_refusal(actor=by.actor, action="bank account confirmation", subject=subject):
        parties.refuse_own_party(session, party, by=by)
        PROPOSALS.require_second(session, row, by)
    PROPOSALS.end(session, row, "confirmed", by, usable_from=clock.now() + RESTS)


def list_accounts(session: ScopedSession, party: Party) -> list[Account]:
    """List the accounts of a party with who proposed and decided them, the newest first."""
    query = (
        PROPOSALS.select_with_names()
        .where(party.owns(BankAccount))
        .order_by(col(BankAccount.proposed_at).desc(), col(BankAccount.id).desc())
    )
    return [
        build_row(Account, row, proposer=made_by, decider=decided_by)
        for row, made_by, decided_by in session.execute(query)
    ]


def list_waiting(session: ScopedSession) -> list[tuple[Party, str, str]]:
    """List what waits for a second admin, the longest first: whose it is, its name, and what it is in words."""
    accounts = sa.select(BankAccount).where(col(BankAccount.state) == OPEN)
    shares = sa.select(CommissionShare).where(col(CommissionShare.state) == OPEN)
    terms = sa.select(TermsProposal).where(col(TermsProposal.state) == OPEN)
    found: list[tuple[datetime, Party, str]] = [
        (row.proposed_at, parties.party_of(row), "bank account") for row in session.execute(accounts).scalars()
    ]
    for query, what in ((shares, "commission share"), (terms, "set of terms")):
        rows = session.execute(query).scalars()
        found += [(row.proposed_at, Party("distributor", row.distributor_id), what) for row in rows]
    found.sort(key=lambda each: each[0])
    return [(party, parties.get_name(session, party), what) for _, party, what in found]


def load_usable(session: ScopedSession) -> Mapping[Party, BankAccount]:
    """Return the account of each party that may be paid to now."""
    usable = sa.func.coalesce(col(BankAccount.usable_from), col(BankAccount.proposed_at))
    query = sa.select(BankAccount).where(col(BankAccount.state) == "confirmed", usable <= clock.now()).order_by(usable)
    return {parties.party_of(row): row for row in session.execute(query).scalars()}


def list_proposals(session: ScopedSession, accounts: Collection[BankAccount]) -> Sequence[BankAccount]:
    """List every proposal of the same numbers for the same parties, the first ones too, whatever became of them.

    Somebody else who proposes an account again, under another name of the bank, has not chosen it.
    """
    numbers = {(parties.party_of(row), transfers.open_account(row.sealed)) for row in accounts}
    owned = sa.or_(*(party.owns(BankAccount) for party in {party for party, _ in numbers}), sa.false())
    rows = session.execute(sa.select(BankAccount).where(owned).order_by(col(BankAccount.proposed_at))).scalars()
    return [row for row in rows if (parties.party_of(row), transfers.open_account(row.sealed)) in numbers]
