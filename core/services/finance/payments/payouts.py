"""Payouts: prepared by one person, approved by another, and a file for the bank (contract F4)."""

import hashlib
import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import date
from typing import Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.finance import bank_accounts, parties
from core.services.finance.parties import Party
from core.services.finance.payments import settlement
from core.services.finance.payments.settlement import Balance, Noted
from core.services.finance.statements import statements
from core.services.lists.spreadsheets import csv_field
from core.services.people import approvals, transfers
from core.services.people.approvals import Subject
from core.services.people.four_eyes import refuse_one_with, refuse_same
from core.services.people.staff import Person
from core.states.finance import UNDER_WAY, BatchState, PaymentState
from core.store.access import ScopedSession
from core.store.schema.tables import BankAccount, Payment, PaymentSettlement, PayoutBatch, Staff, Statement

KIND: Final = "payout"
# In the log of an approval: who proposed the accounts that are paid to.
PROPOSED_BY: Final = "accounts_proposed_by"
# And who noted before that a payment of the same came back.
RETURNED_BY: Final = "returns_noted_by"
_NUMBER: Final = re.compile(r"PB[- ]?0*([0-9]{1,9})(?:/.*)?", re.IGNORECASE)
_OWN_ACCOUNT: Final = "You proposed the account that is paid to: others of finance prepare and approve its payouts"
HEADING: Final = "batch,line,payee,bank,account_name,account_number,amount,narration"


def number_of(row: PayoutBatch) -> str:
    """Return the number as it is printed, such as PB-0003."""
    return print_number(row.number)


def match_number(text: str) -> tuple[sa.ColumnElement[bool], ...]:
    """Return the condition of the number that a text is, also as the bank file narrates a payment: "PB-0003/2 2026-08".

    Nothing for any other text.
    """
    found = _NUMBER.fullmatch(text)
    return (col(PayoutBatch.number) == int(found[1]),) if found else ()


def print_number(number: int | None) -> str:
    """Return a number as it is printed, nothing for a payment outside of payouts."""
    return "" if number is None else f"PB-{number:04d}"


def find_hindrances(session: ScopedSession, found: Sequence[Balance], by: Person | None = None) -> Mapping[Party, str]:
    """Return why balances are not paid out now, in words, or not by this person; those that are have none."""
    under_way = _load_under_way(session, found)
    usable = bank_accounts.load_usable(session)
    hindrances = {}
    for balance in found:
        if why := _find_hindrance(balance, under_way, usable):
            hindrances[balance.party] = why
    payable = [balance for balance in found if balance.party not in hindrances]
    # They are asked one by one only where this person is refused one of them.
    if by is not None and _find_refusal_to_prepare(session, payable, usable, by):
        for balance in payable:
            if why := _find_refusal_to_prepare(session, [balance], usable, by):
                hindrances[balance.party] = why
    return hindrances


def _find_hindrance(
    balance: Balance, under_way: Mapping[Party, str], usable: Mapping[Party, BankAccount]
) -> str | None:
    if balance.amount_minor <= 0:
        return "Owed to the platform: carried forward" if balance.amount_minor else "Nothing is due"
    if balance.hindrance:
        return balance.hindrance
    if balance.party in under_way:
        return under_way[balance.party]
    return None if balance.party in usable else "There is no bank account that can be paid to"


def _load_under_way(session: ScopedSession, found: Sequence[Balance]) -> Mapping[Party, str]:
    """Return, by party, where the payment stands that is under way: a party has one at most."""
    query = (
        sa.select(Payment, PayoutBatch)
        .outerjoin(PayoutBatch, col(PayoutBatch.id) == col(Payment.batch_id))
        .where(col(Payment.state).in_(UNDER_WAY), sa.or_(*(each.party.owns(Payment) for each in found), sa.false()))
    )
    return {
        parties.party_of(payment): f"Under way in {number_of(batch)}" if batch else "A payment is under way"
        for payment, batch in session.execute(query)
    }


def list_payable(session: ScopedSession) -> list[Balance]:
    """List the balances that a batch can pay out now."""
    found = settlement.list_balances(session)
    hindrances = find_hindrances(session, found)
    return [balance for balance in found if balance.party not in hindrances]


def prepare(session: ScopedSession, chosen: Mapping[Party, int | None], *, by: Person) -> UUID:
    """Prepare a batch that pays these parties, each the amount in kobo or all that is due, and return its id.

    StateForbids says which of them cannot be paid and why: nothing is prepared then.
    """
    settlement.require_finance(by)
    if not chosen:
        raise StateForbids("There is nothing to pay out")
    found = []
    # Sorted, so that two who prepare for the same parties cannot deadlock.
    for party, amount in sorted(chosen.items(), key=lambda each: each[0].id):
        balance = _require_payee(session, party, by)
        found.append((balance, balance.amount_minor if amount is None else amount))
    batch, usable = begin(session, found, by=by), bank_accounts.load_usable(session)
    for balance, minor in found:
        named = {"batch_id": batch.id, "bank_account_id": usable[balance.party].id}
        with settlement.keep_refusal(balance.party.subject, balance.party.id, "payout preparation", by):
            _refuse_preparer(session, [balance], usable, by)
            settlement.add(session, balance, minor, by=by, direction="out", **named)
    audit_batch(session, batch, "payout prepared", by=by)
    return batch.id


def begin(session: ScopedSession, found: Sequence[tuple[Balance, int]], *, by: Person) -> PayoutBatch:
    """Write a batch that is to pay of each balance an amount in kobo; its payments follow."""
    batch = PayoutBatch.to_insert(
        id=ids.new(),
        number=session.next_in_transaction("payout batch"),
        payments=len(found),
        net_minor=sum(minor for _, minor in found),
        prepared_by=by.id,
        prepared_at=clock.now(),
    )
    session.insert(batch)
    return batch


def _refuse_proposers(session: ScopedSession, accounts: Sequence[BankAccount], by: Person) -> None:
    proposed = bank_accounts.list_proposals(session, accounts)
    for account in proposed:
        refuse_same(account.proposed_by, by, _OWN_ACCOUNT)
    how = {"did": "proposed this account", "does": "prepares and approves the payout"}
    refuse_one_with(session, [(account.proposed_by, account.proposed_at) for account in proposed], by, **how)


def _refuse_preparer(
    session: ScopedSession, found: Sequence[Balance], usable: Mapping[Party, BankAccount], by: Person
) -> None:
    parties.refuse_own_party(session, *(balance.party for balance in found), by=by)
    _refuse_proposers(session, [usable[balance.party] for balance in found], by)
    settlement.refuse_who_returned(session, [key for balance in found for key in _list_due(balance)], by)


def _find_refusal_to_prepare(
    session: ScopedSession, found: Sequence[Balance], usable: Mapping[Party, BankAccount], by: Person
) -> str | None:
    try:
        _refuse_preparer(session, found, usable, by)
    except NotAllowed as refusal:
        return str(refusal)
    return None


def find_refusal_to_approve(session: ScopedSession, batch_id: UUID, by: Person) -> str | None:
    """Return why a person cannot approve a batch as it is now; None where nothing stands against it."""
    try:
        _judge(session, session.get_one(PayoutBatch, batch_id), by)
    except (NotAllowed, StateForbids) as refusal:
        return str(refusal)
    return None


def approve(session: ScopedSession, batch_id: UUID, *, by: Person) -> None:
    """Approve a batch that somebody else prepared: its file can be sent to the bank then.

    StateForbids where an account was changed, or a statement disputed, since it was prepared.
    """
    with settlement.keep_refusal("payout", batch_id, "payout approval", by):
        batch = _get_for_update(session, batch_id, by)
        _judge(session, batch, by)
        take_approval(session, batch, by=by)


def take_approval(session: ScopedSession, batch: PayoutBatch, *, by: Person) -> None:
    """Approve a batch that nothing stands against."""
    digest = hashlib.sha256(bank_file(session, batch.id)).hexdigest()
    stamps = {"approved_by": by.id, "approved_at": clock.now()}
    session.change(PayoutBatch, col(PayoutBatch.id) == batch.id, state=BatchState.APPROVED, sha256=digest, **stamps)
    session.change(Payment, col(Payment.batch_id) == batch.id, state=PaymentState.APPROVED, **stamps)
    _record_approval(session, batch, by)
    audit_batch(session, batch, "payout approved", by=by, sha256=digest, **_name_others(session, batch))


def approve_anew(session: ScopedSession, batch_id: UUID, *, by: Person) -> None:
    """Approve a batch again whose approval lapsed, as it is; StateForbids where it stands, or is superseded."""
    with settlement.keep_refusal("payout", batch_id, "payout approval", by):
        batch = _get_for_update(session, batch_id, by, BatchState.APPROVED)
        if why := find_superseded(session, batch_id):
            raise StateForbids(why)
        if find_lapse(session, batch_id) is None:
            raise StateForbids("The approval stands: there is nothing to approve anew")
        _judge(session, batch, by)
        _record_approval(session, batch, by)
        audit_batch(session, batch, "payout approved anew", by=by, **_name_others(session, batch))


def _judge(session: ScopedSession, batch: PayoutBatch, by: Person) -> None:
    settlement.require_other(session, batch, by, has_role=batch.state == BatchState.PREPARED)
    settlement.refuse_returners(session, load_returners(session, batch), by)
    payments = list_payments(session, batch.id)
    parties.refuse_own_party(session, *map(parties.party_of, payments), by=by)
    _refuse_proposers(session, _load_accounts(session, payments), by)
    _require_unchanged(session, payments)


def _name_others(session: ScopedSession, batch: PayoutBatch) -> dict[str, str]:
    """Return, for the log of an approval, who proposed the accounts, and who noted that the same came back before."""
    rows = list_payments(session, batch.id)
    found = {by for by, _ in load_returners(session, batch)}
    emails = session.execute(sa.select(col(Staff.email)).where(col(Staff.id).in_(found))).scalars()
    return {**name_proposers(session, rows), RETURNED_BY: ", ".join(sorted(emails))}


def load_returners(session: ScopedSession, batch: PayoutBatch) -> Collection[Noted]:
    """Return who noted, before a batch was prepared, that a payment of what it settles came back, and when."""
    rows = [row.id for row in list_payments(session, batch.id)]
    settled = sa.select(col(PaymentSettlement.statement_id)).where(col(PaymentSettlement.payment_id).in_(rows))
    return settlement.load_returners(session, session.execute(settled).scalars(), again=batch)


def name_proposers(session: ScopedSession, payments: Iterable[Payment]) -> dict[str, str]:
    """Return, for the log of an approval, who ever proposed the bank accounts that are paid to."""
    proposed = bank_accounts.list_proposals(session, _load_accounts(session, list(payments)))
    proposers = {each.proposed_by for each in proposed}
    query = sa.select(col(Staff.email)).where(col(Staff.id).in_(proposers))
    return {PROPOSED_BY: ", ".join(sorted(session.execute(query).scalars()))}


def _record_approval(session: ScopedSession, batch: PayoutBatch, by: Person) -> None:
    """Write the approval of a payout as it is now."""
    role = "admin" if "admin" in by.roles else settlement.ROLE
    subject = build_subject(session, batch)
    approvals.approve(session, subject, staff_id=by.id, role=role, limit_minor=None, at=clock.now())


def build_subject(session: ScopedSession, batch: PayoutBatch) -> Subject:
    """Return what an approval of a payout is of: who is paid how much, on which accounts, and what it settles."""
    rows = list_payments(session, batch.id)
    settles = sa.select(PaymentSettlement).where(col(PaymentSettlement.payment_id).in_([row.id for row in rows]))
    ordered = settles.order_by(col(PaymentSettlement.payment_id), col(PaymentSettlement.statement_id))
    accounts = [session.get_one(BankAccount, row.bank_account_id) for row in rows]
    parts = {
        "the list of payees": [
            [row.distributor_id or row.provider_id, row.net_minor, row.withheld_minor] for row in rows
        ],
        "the list of accounts": [
            [each.bank_name, each.account_name, transfers.open_account(each.sealed)] for each in accounts
        ],
        "the list of statements": [[row.statement_id, row.net_minor] for row in session.execute(ordered).scalars()],
    }
    return Subject(kind=KIND, id=batch.id, amount_minor=batch.net_minor, parts=parts)


def find_lapse(session: ScopedSession, batch_id: UUID) -> str | None:
    """Say why the approval of an approved payout does not stand; None where it does, or where none was given yet."""
    batch: PayoutBatch = session.get_one(PayoutBatch, batch_id)
    return approvals.find_fault(session, build_subject(session, batch)) if batch.state == BatchState.APPROVED else None


def withdraw(session: ScopedSession, batch_id: UUID, *, reason: str, by: Person) -> None:
    """Give up a batch that is not approved yet, with all its payments."""
    with settlement.keep_refusal("payout", batch_id, "payout withdrawal", by):
        batch = _get_for_update(session, batch_id, by)
        if len(reason.strip()) < 5:
            raise InvalidInput.for_field("reason", "must say why, in at least five characters")
        why = reason.strip()
        session.change(Payment, col(Payment.batch_id) == batch.id, state=PaymentState.WITHDRAWN, note=why)
        session.change(PayoutBatch, col(PayoutBatch.id) == batch.id, state=BatchState.WITHDRAWN, note=why)
        audit_batch(session, batch, "payout given up", by=by, reason=why)


def bank_file(session: ScopedSession, batch_id: UUID) -> bytes:
    """Return the CSV that a bank is told to pay by: one line for each payee, with the whole account number."""
    query = (
        sa.select(Statement, BankAccount, col(Payment.net_minor))
        .join(Payment, col(Payment.statement_id) == col(Statement.id))
        .join(BankAccount, col(BankAccount.id) == col(Payment.bank_account_id))
        .where(col(Payment.batch_id) == batch_id)
        .order_by(col(Payment.id))
    )
    lines = [
        BankLine(str(stated.facts.get("party", "")), account, net_minor, stated.month)
        for stated, account, net_minor in session.execute(query)
    ]
    return build_bank_file(number_of(session.get_one(PayoutBatch, batch_id)), lines)


class BankLine(NamedTuple):
    """A line of a bank's file: payee, account, kobo, and the month of the newest statement that is paid."""

    payee: str
    account: BankAccount
    net_minor: int
    month: date


def build_bank_file(number: str, lines: Iterable[BankLine]) -> bytes:
    """Return the CSV of a batch's lines, which are in the order of its payments."""
    rows = [HEADING]
    for place, line in enumerate(lines, 1):
        account = line.account
        fields = (
            *(number, str(place), csv_field(line.payee), csv_field(account.bank_name)),
            *(csv_field(account.account_name), transfers.open_account(account.sealed) or ""),
            *(money.to_wire(line.net_minor), f"{number}/{place} {line.month:%Y-%m}"),
        )
        rows.append(",".join(fields))
    return ("\r\n".join(rows) + "\r\n").encode()


def open_bank_file(session: ScopedSession, batch_id: UUID, *, by: Person) -> tuple[str, bytes]:
    """Return name and content of the bank file of an approved batch; each opening is in the audit log."""
    with settlement.keep_refusal("payout", batch_id, "payout bank file", by):
        settlement.require_finance(by)
        batch: PayoutBatch | None = session.get(PayoutBatch, batch_id)
        if batch is None:
            raise NotFound("There is no such payout")
        if batch.state != BatchState.APPROVED:
            raise StateForbids("The file of a payout is made once somebody else has approved it")
        if why := find_superseded(session, batch_id):
            raise StateForbids(why)
        payments = list_payments(session, batch_id)
        parties.refuse_own_party(session, *map(parties.party_of, payments), by=by)
        open_ones = [payment for payment in payments if payment.state == PaymentState.APPROVED]
        _require_accounts(session, open_ones, "note that the bank refused it, and prepare another")
        approvals.require_standing(session, build_subject(session, batch))
        audit_batch(session, batch, "bank file opened", by=by)
        return f"{number_of(batch)}.csv", bank_file(session, batch_id)


def find_superseded(session: ScopedSession, batch_id: UUID) -> str | None:
    """Return why the file of a batch is not sent to a bank any more, in words; None while it may be."""
    states = Counter(payment.state for payment in list_payments(session, batch_id))
    if not (returned := states[PaymentState.RETURNED]):
        return None
    lines = "1 payment of it came back" if returned == 1 else f"{returned} payments of it came back"
    left = states[PaymentState.APPROVED]
    still = f"; what the bank says of the {left} without an answer is noted as before" if left else ""
    return f"This bank file is superseded: {lines}. What is due again is paid by another payout{still}"


def _require_payee(session: ScopedSession, party: Party, by: Person) -> Balance:
    with settlement.keep_refusal(party.subject, party.id, "payout preparation", by):
        balance = settlement.require_payable(session, party)
        if why := find_hindrances(session, [balance]).get(party):
            raise StateForbids(f"{balance.name}: {why}")
        _refuse_unapproved(session, balance)
        return balance


def _require_unchanged(session: ScopedSession, payments: Sequence[Payment]) -> None:
    found = settlement.load_balances(session, [parties.party_of(payment) for payment in payments])
    for balance in found.values():
        if balance.hindrance:
            raise StateForbids(f"{balance.name}: {balance.hindrance}. Give the batch up and prepare another")
    _require_accounts(session, payments, "give the batch up and prepare another")
    _refuse_unapproved(session, *found.values())


def _require_accounts(session: ScopedSession, payments: Sequence[Payment], instead: str) -> None:
    """StateForbids where a party has another account by now than the one that its payment goes to."""
    usable = bank_accounts.load_usable(session)
    for payment in payments:
        party = parties.party_of(payment)
        account = usable.get(party)
        if account is None or account.id != payment.bank_account_id:
            raise StateForbids(f"{parties.get_name(session, party)} has another bank account now: {instead}")


def _load_accounts(session: ScopedSession, payments: Sequence[Payment]) -> Sequence[BankAccount]:
    keys = {payment.bank_account_id for payment in payments}
    return session.execute(sa.select(BankAccount).where(col(BankAccount.id).in_(keys))).scalars().all()


def _refuse_unapproved(session: ScopedSession, *found: Balance) -> None:
    statements.refuse_unapproved(session, [key for balance in found for key in _list_due(balance)])


def _list_due(balance: Balance) -> list[UUID]:
    return [due.statement_id for due in balance.dues if due.net_minor]


def list_payments(session: ScopedSession, batch_id: UUID) -> Sequence[Payment]:
    """Return the payments of a batch in the order of its file."""
    query = sa.select(Payment).where(col(Payment.batch_id) == batch_id).order_by(col(Payment.id))
    return session.execute(query).scalars().all()


def _get_for_update(
    session: ScopedSession, batch_id: UUID, by: Person, state: BatchState = BatchState.PREPARED
) -> PayoutBatch:
    settlement.require_finance(by)
    batch = session.lock(PayoutBatch, batch_id, "payout")
    if batch.state != state:
        raise StateForbids(f"This payout is {batch.state.lower()} already")
    return batch


def audit_batch(session: ScopedSession, batch: PayoutBatch, action: str, *, by: Person, **more: str) -> None:
    """Write an act on a batch into the audit log."""
    facts = {"number": number_of(batch), "payments": batch.payments, "amount": money.to_wire(batch.net_minor), **more}
    audit.note(session, "payout", batch.id, action, actor=by.actor, **facts)
