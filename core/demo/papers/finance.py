"""Finance of the demonstration by two people: months stated, paid and closed, the last one open, one in dispute.

A file of an insurer is compared with one of them, and refunds are on their way.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.desk import closing
from core.errors import StateForbids
from core.services.catalogue import share_changes
from core.services.finance import agreements, bank_accounts, journal, parties, tax
from core.services.finance.bordereaux import bordereaux, claim_rows, premium_rows
from core.services.finance.bordereaux.columns import ReportRow
from core.services.finance.credit_notes import deciding
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.parties import Party
from core.services.finance.payments import payouts, settlement
from core.services.finance.payments.settlement import Balance
from core.services.finance.reconciling import differences, matching, reconciliations
from core.services.finance.reconciling.matching import Entry
from core.services.finance.statements import lines as statement_lines
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.lists.windows import Window
from core.services.people import staff
from core.services.people.staff import Person
from core.states.finance import STATEMENT_TRANSITIONS, BordereauState, CreditNoteState, MonthState, StatementState
from core.store.access import ScopedSession
from core.store.schema.tables import (
    BankAccount,
    Reconciliation,
    Statement,
)

# Days of the next month on which a month is stated and paid.
STATED_ON: Final = 3
PAID_ON: Final = 9
_AS_SENT: Final = (StatementState.APPROVED, StatementState.SENT)
_DISPUTE: Final = "Two policies of the month are said to be missing"


@dataclass(frozen=True, slots=True)
class Office:
    """Two people of finance: one prepares, the other approves."""

    maker: Person
    checker: Person


def in_time(month: date, day: int) -> AbstractContextManager[None]:
    """Freeze the clock at a day after a month, or now if that is still to come."""
    return clock.freeze(min(clock.lagos_midnight(clock.add_days(clock.add_months(month, 1), day - 1)), clock.now()))


def state_month(
    session: ScopedSession, month: date, office: Office, *, is_waiting: bool = False, is_disputed: bool = False
) -> int:
    """Write the statements of a month, and return their number; 0 where they are there already.

    They are sent, unless they are waiting for their approval; the first of them may be in dispute.
    """
    before = _load_closings(session, month)
    if any(of == month for of, _ in before.values()):
        return 0
    number = 0
    with in_time(month, STATED_ON):
        for draft in _draft_month(session, month, before):
            row = statements.freeze(session, draft, by=office.maker)
            steps = () if is_waiting else (*_AS_SENT, StatementState.DISPUTED) if is_disputed else _AS_SENT
            _take_steps(session, row, steps, office)
            is_disputed = False
            number += 1
    return number


def _draft_month(
    session: ScopedSession, month: date, before: Mapping[Party, tuple[date, int]]
) -> Iterator[statements.Draft]:
    """Yield the statements of a month, of which what they are made of is read for all parties at once."""
    window = Window.of_month(month)
    rates, names = tax.load_rates(session, month), statements.load_names(session)
    agreed, moved = agreements.load_in_force(session, window.last), statement_lines.load_movements(session, window)
    paid = statement_lines.load_payments(session, window.last)
    for party, name in parties.list_parties(session):
        if party not in before and party not in moved:
            continue
        terms, rows = agreed.get(party), moved.get(party, ())
        taxed = statements.assess(rates, party, terms, sum(row.distributor_profit_minor for row in rows))
        collects = statements.collector_of(terms)
        yield statements.Draft(
            party=party,
            name=name,
            month=month,
            opening_minor=before[party][1] if party in before else 0,
            terms=terms,
            taxed=taxed,
            batches=[statement_lines.build_lines(party, rows, taxed, collects=collects)] if rows else [],
            paid=paid.get(party, ()),
            names=names,
        )


def _take_steps(session: ScopedSession, row: Statement, states: Sequence[StatementState], office: Office) -> None:
    """Bring a prepared statement to each of some states, of which the checker approves."""
    start: str = StatementState.PREPARED
    for position, state in enumerate(states, 1):
        step = STATEMENT_TRANSITIONS.get(start, state)
        by, note = office.checker if step.needs_other else office.maker, _DISPUTE if step.needs_note else None
        statements.take(session, row, step, position=position, by=by, note=note)
        start = state


def _load_closings(session: ScopedSession, month: date) -> dict[Party, tuple[date, int]]:
    """Return month and closing balance of each party's statement of a month, or else of the month before."""
    months = (month, clock.add_months(month, -1))
    query = sa.select(Statement).where(col(Statement.month).in_(months), *statement_reading.IS_VALID)
    rows = session.execute(query.order_by(col(Statement.month))).scalars()
    return {parties.party_of(row): (row.month, row.closing_minor) for row in rows}


def pay_month(session: ScopedSession, month: date, office: Office) -> None:
    """Pay what is due with the statements of a month, in one payout that the bank confirms line by line."""
    with in_time(month, PAID_ON):
        accounts = bank_accounts.load_usable(session)
        due = [
            each
            for each in settlement.list_balances(session)
            if each.amount_minor > 0 and not each.hindrance and each.party in accounts
        ]
        if due:
            _pay(session, due, accounts, office)


def _pay(session: ScopedSession, due: Sequence[Balance], accounts: Mapping[Party, BankAccount], office: Office) -> None:
    """Write a payout that is approved, and each of whose payments the bank has confirmed."""
    batch = payouts.begin(session, [(each, each.amount_minor) for each in due], by=office.maker)
    for each in due:
        named = {"batch_id": batch.id, "bank_account_id": accounts[each.party].id}
        settlement.write(session, each, each.amount_minor, by=office.maker, direction="out", **named)
    payouts.audit_batch(session, batch, "payout prepared", by=office.maker)
    payouts.take_approval(session, batch, by=office.checker)
    paid_on = clock.today()
    left = {each.party: [replace(part, net_minor=0) for part in each.dues] for each in due}
    for place, row in enumerate(payouts.list_payments(session, batch.id), 1):
        reference, dues = f"DEMO/{paid_on:%y%m}/{place}", left[parties.party_of(row)]
        settlement.take_confirmation(session, row, reference, paid_on, by=office.checker, dues=dues)


def report_month(session: ScopedSession, month: date, by: Person) -> None:
    """Write the bordereaux of a month as each insurer has acknowledged them."""
    window = Window.of_month(month)
    with in_time(month, STATED_ON):
        issued = bordereaux.load_last_months(session)
        terms = agreements.load_in_force(session, window.last)
        premium, claims = premium_rows.load_month(session, window), claim_rows.load_month(session, window)
        for party, name in parties.list_parties(session):
            for kind in bordereaux.KINDS if party.account == "provider" else ():
                rows = (premium if kind == "premium" else claims).get(party.id, ())
                last = issued.get((party.id, kind))
                if last == clock.add_months(month, -1) if last else rows:
                    facts = bordereaux.build_facts(name, terms.get(party), kind, window)
                    batches = [_build_rows(kind, rows, facts["about"])] if rows else []
                    row = bordereaux.freeze(session, party.id, kind, month, batches, facts=facts, by=by)
                    for state in (BordereauState.SENT, BordereauState.ACKNOWLEDGED):
                        bordereaux.take(session, row, state, by=by)


def _build_rows(kind: str, rows: Sequence[Any], about: Mapping[str, str]) -> list[ReportRow]:
    if kind == "premium":
        return [premium_rows.build(row, about) for row in rows]
    return [replace(row, texts={**about, **row.texts}) for row in rows]


# A smaller demonstration is a test's, a larger one is for trying speed: neither waits for hundreds of statements.
FEWEST_PURCHASES: Final = 1_000
MOST_PURCHASES: Final = 50_000
_ADMINS: Final = ("admin@coverdesk.example", "second.admin@coverdesk.example")
_MAKER, _CHECKER = "finance@coverdesk.example", "second.finance@coverdesk.example"


def list_closed(session: ScopedSession, at: datetime) -> list[date]:
    """List the months that were over at an instant, the oldest first."""
    return [
        month
        for month in reversed(statement_reading.list_months(session))
        if clock.lagos_midnight(clock.add_months(month, 1)) <= at
    ]


def write_terms(session: ScopedSession, first: date) -> None:
    """Write an agreement and a bank account with every party that has none, from before the first month.

    Where months are closed already its terms begin after them.
    """
    admin, second = (staff.get_by_email(session, email) for email in _ADMINS)
    listed = parties.list_parties(session)
    for place, (party, name) in enumerate(listed):
        if agreements.list_history(session, party) or agreements.find_waiting(session, party):
            continue
        starts_on = max(first, agreements.find_open_month(session, party))
        with clock.freeze(clock.lagos_midnight(clock.add_days(starts_on, -20))):
            terms = agreements.add(session, party, _terms(party, place, starts_on), by=admin)
            if agreements.find_waiting(session, party):
                agreements.confirm(session, terms, by=second)
            account = {"bank_name": "Demo Bank", "account_name": name[:100], "account_number": f"{place:010d}"}
            proposed = bank_accounts.propose(session, party, account, by=admin)
            bank_accounts.confirm(session, proposed, by=second)
    _agree_on_shares(session, [party.id for party, _ in listed if party.account == "distributor"], admin, second)


def _agree_on_shares(session: ScopedSession, sellers: Sequence[UUID], admin: Person, second: Person) -> None:
    """Give one distributor a commission share of its own from tomorrow on, and propose one for another."""
    tomorrow = str(clock.add_days(clock.today(), 1))
    for seller, share in zip(sellers, ("7.50", "6.25"), strict=False):
        if share_changes.list_shares(session, seller):
            continue
        made = share_changes.propose(session, seller, {"commission": share, "starts_on": tomorrow}, by=admin)
        if seller == sellers[0]:
            share_changes.confirm(session, made, by=second)


def _terms(party: Party, place: int, first: date) -> dict[str, object]:
    terms: dict[str, object] = {"number": f"DEMO/{place + 1}", "starts_on": str(first)}
    if party.account == "provider":
        return terms | {"class_of_business": "General", "remittance_days": 30}
    # One of them holds the premium, one has no tax number, one has no licence, and that of one ends soon; every second
    # charges VAT.
    holds = {"collects": "distributor"} if place == 1 else {}
    number = {"tin": f"{place:08d}-0001"} if place != 2 else {}
    # The terms begin two years before the day of the demonstration.
    ends_on = clock.add_days(clock.add_months(first, 26 if place == 4 else 36), -5)
    licence = {"licence_number": f"LIC/{place:04d}", "licence_expires_on": str(ends_on)} if place != 3 else {}
    return terms | {"charges_vat": place % 2 == 0} | holds | number | licence


def write_month(session: ScopedSession, month: date) -> int:
    """Write the papers of a month, and return the number of its statements; the months have to come in order.

    Statements are approved, sent and paid but those of the last two months: one of the first is in dispute, those of
    the last wait, and so do its bordereaux, so that some are overdue after the 10th. NotFound where the accounts of
    the demonstration cannot sign in any more.
    """
    office = Office(*(staff.get_by_email(session, email) for email in (_MAKER, _CHECKER)))
    last = clock.add_months(clock.today().replace(day=1), -1)
    is_last, is_before = month == last, clock.add_months(month, 1) == last
    number = state_month(session, month, office, is_waiting=is_last, is_disputed=is_before)
    if number and month < last:
        if not is_before:
            pay_month(session, month, office)
        report_month(session, month, office.maker)
    return number


_CLOSED_ON: Final = 14
_NOTE: Final = "Looked at all of it with the head of finance"
_COLUMNS: Final = {"policy_number": "Policy No", "amount": "Net", "date": "Date", "rate": "Rate %"}
# The newest months stay open: one waits for approval, one has a statement in dispute.
_OPEN_MONTHS: Final = 2
_TIMING_DAYS: Final = 5


def close_month(session: ScopedSession, month: date) -> None:
    """Close a month of the past by two people; its papers were all made by then, so that its check list is empty.

    One that somebody has begun to close, closed or reopened is left as it is.
    """
    is_recent = month >= clock.add_months(clock.today().replace(day=1), -_OPEN_MONTHS)
    if is_recent or journal.list_steps(session, month):
        return
    maker, checker = staff.get_by_email(session, _MAKER), staff.get_by_email(session, _CHECKER)
    closed_at = clock.lagos_midnight(clock.add_days(clock.add_months(month, 1), _CLOSED_ON - 1))
    with clock.freeze(closed_at):
        closing.add_step(session, month, MonthState.CLOSING, by=maker)
    with clock.freeze(closed_at + timedelta(hours=2)):
        digest = journal.hash_of(session, month)
        closing.add_step(session, month, MonthState.CLOSED, by=checker, note=_NOTE, sha256=digest, facts={})


def settle(session: ScopedSession) -> None:
    """Compare a file with our records and give premiums back, once: not where any file was compared before."""
    if not session.execute(sa.select(col(Reconciliation.id)).limit(1)).first():
        reconcile(session)
        give_back(session)


def reconcile(session: ScopedSession) -> None:
    """Compare the file of an insurer that differs in every way with one of the months that are over and open."""
    maker = staff.get_by_email(session, _MAKER)
    window, provider_id, ours = _find_largest(session)
    month, content = window.start, build_file(ours, window)
    if content is None:
        return
    typed = {"kind": "insurer", "month": str(month), "file_name": f"account-{month:%Y-%m}.csv", "columns": _COLUMNS}
    made = reconciliations.run(session, typed, content, by=maker, provider_id=provider_id)
    explain_largest(session, made, by=maker)


def explain_largest(session: ScopedSession, made: UUID, *, by: Person) -> None:
    """Explain the two largest differences of a file by the causes of their results; ask to write the second one off."""
    first, second, *_ = reconciliations.list_differences(session, made)
    for row in (first, second):
        cause = {"cause": differences.PROPOSED[row.result], "note": "They were told by e-mail"}
        differences.explain(session, row.id, cause, by=by)
    differences.ask_write_off(session, second.id, by=by)


def build_file(ours: Sequence[Entry], window: Window) -> bytes | None:
    """Return our entries as an insurer might have them: an amount, a rate, a missing and an unknown policy differ.

    The sales of the last days come too late for them; None where there are too few entries.
    """
    late = clock.add_days(window.end, -_TIMING_DAYS)
    single = [entry for entry in ours if entry.key and entry.on and sum(each.key == entry.key for each in ours) == 1]
    early = [entry for entry in single if entry.on and entry.on < late and entry.amount_minor > 0]
    if len(early) < 4:
        return None
    wrong, rated, missing = (entry.subject for entry in early[:3])
    rows = ["Policy No,Net,Date,Rate %", f"UNKNOWN/{window.start:%Y%m},12500.00,{window.start},20.00"]
    for entry in early:
        minor = entry.amount_minor + (100_000 if entry.subject in (wrong, rated) else 0)
        rate = (entry.rate_bp or 0) + (250 if entry.subject == rated else 0)
        if entry.subject != missing:
            rows.append(f"{entry.label},{money.to_wire(minor)},{entry.on},{money.to_wire(rate)}")
    return "\r\n".join(rows).encode()


def give_back(session: ScopedSession) -> None:
    """Pay the credit notes, but for the youngest: one is approved, one computed, and the bank returned one."""
    maker, checker, noter = (staff.get_by_email(session, email) for email in (_MAKER, _CHECKER, _ADMINS[0]))
    today = str(clock.today())
    for place, row in enumerate(credit_note_reading.list_unpaid(session, clock.now())):
        if place == 1:
            continue
        try:
            account = {"payee_bank": "Demo Bank", "payee_account": f"{place:010d}"}
            state = deciding.approve(session, row.id, account, by=maker)
        except StateForbids:  # A claim holds it, or has used the term up.
            continue
        if state != CreditNoteState.APPROVED or place == 0:
            continue
        answer = {"payee": row.customer, "bank_reference": f"DEMO/CN/{row.id.hex}", "value_on": today}
        deciding.pay(session, row.id, answer, by=checker)
        if place == 2:
            returned = {"returned_on": today, "reason": "The account does not exist"}
            deciding.return_payment(session, row.id, returned, by=noter)


def _find_largest(session: ScopedSession) -> tuple[Window, UUID, Sequence[Entry]]:
    """Return the open month and insurer with the most movements; one with a movement without a number comes first."""
    this_month = clock.today().replace(day=1)
    windows = [Window.of_month(clock.add_months(this_month, -back)) for back in range(1, _OPEN_MONTHS + 1)]
    listed = [
        (window, key, matching.list_movements(session, key, window, amount_is="net", by_transaction=False))
        for window in windows
        for key, _ in parties.list_insurers(session)
    ]
    return max(listed, key=lambda each: (any(not entry.key for entry in each[2]), len(each[2])))
