"""Finance of the demonstration: each month stated and paid by two people, the last one open, one in dispute."""

from collections.abc import Sequence
from contextlib import AbstractContextManager
from datetime import date
from typing import Final
from uuid import UUID

from core import clock
from core.services.catalogue import share_changes
from core.services.finance import agreements, bank_accounts, parties
from core.services.finance.bordereaux import issuing
from core.services.finance.bordereaux import overview as bordereau_overview
from core.services.finance.parties import Party
from core.services.finance.payments import batches, transitions
from core.services.finance.payments import reading as payment_reading
from core.services.finance.statements import overview as statement_overview
from core.services.finance.statements import preparing as statements
from core.services.finance.statements import states as statement_states
from core.services.people import staff
from core.services.people.staff import Person
from core.states.finance import StatementState
from core.store.access import ScopedSession

# A smaller demonstration is a test's, a larger one is for trying speed: neither waits for hundreds of statements.
FEWEST_PURCHASES: Final = 1_000
MOST_PURCHASES: Final = 50_000
_ADMINS: Final = ("admin@coverdesk.example", "second.admin@coverdesk.example")
# Days of the next month on which a month is stated and paid.
_STATED_ON, _PAID_ON = 3, 9
_MAKER, _CHECKER = "finance@coverdesk.example", "second.finance@coverdesk.example"


def list_closed(session: ScopedSession) -> list[date]:
    """List the months that are over, the oldest first."""
    return [month for month in reversed(statement_overview.list_months(session)) if _is_over(month)]


def write_terms(session: ScopedSession, first: date) -> None:
    """Write an agreement and a bank account with every party that has none, from before the first month."""
    admin, second = (staff.get_by_email(session, email) for email in _ADMINS)
    listed = parties.list_parties(session)
    for place, (party, name) in enumerate(listed):
        if agreements.list_history(session, party):
            continue
        with clock.freeze(clock.lagos_midnight(clock.add_days(first, -20))):
            agreements.add(session, party, _terms(party, place, first), by=admin)
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
    # One of them holds the premium, one has no tax number, and every second charges VAT.
    holds = {"collects": "distributor"} if place == 1 else {}
    number = {"tin": f"{place:08d}-0001"} if place != 2 else {}
    return terms | {"charges_vat": place % 2 == 0} | holds | number


def pay_month(session: ScopedSession, month: date) -> None:
    """Pay what the statements of a month made due, in one batch that the bank confirms line by line."""
    maker, checker = staff.get_by_email(session, _MAKER), staff.get_by_email(session, _CHECKER)
    paid_on = clock.add_days(clock.add_months(month, 1), _PAID_ON - 1)
    if month >= clock.add_months(clock.today().replace(day=1), -2):
        return
    with _in_time(month, _PAID_ON):
        found = {balance.party: None for balance in batches.list_payable(session)}
        if not found:
            return
        batch = batches.prepare(session, found, by=maker)
        batches.approve(session, batch, by=checker)
        for place, row in enumerate(payment_reading.list_of_batch(session, batch), 1):
            answer = {"bank_reference": f"DEMO/{paid_on:%y%m}/{place}", "value_on": str(paid_on)}
            transitions.confirm(session, row.id, answer, by=checker)


def _in_time(month: date, day: int) -> AbstractContextManager[None]:
    """Freeze the clock at a day after a month, or now if that is still to come."""
    return clock.freeze(min(clock.lagos_midnight(clock.add_days(clock.add_months(month, 1), day - 1)), clock.now()))


def write_month(session: ScopedSession, month: date) -> int:
    """Prepare the statements of a month that are due, and return their number; the months have to come in order.

    All are approved and sent but those of the last month, which wait; one of the month before is in dispute. NotFound
    where the accounts of the demonstration cannot sign in any more.
    """
    # Read before the clock is set back.
    to_wait = clock.add_months(clock.today().replace(day=1), -1)
    with _in_time(month, _STATED_ON):
        number = _state(session, month, to_wait)
    pay_month(session, month)
    report_month(session, month)
    return number


def report_month(session: ScopedSession, month: date) -> None:
    """Issue and send the bordereaux of a month; those of the last one wait, so that some are overdue after the 10th."""
    maker = staff.get_by_email(session, _MAKER)
    if month >= clock.add_months(clock.today().replace(day=1), -1):
        return
    with _in_time(month, _STATED_ON):
        for provider_id, _, kind in bordereau_overview.list_due(session, month):
            made = issuing.issue(session, provider_id, kind, month, by=maker)
            issuing.move(session, made, "Sent", by=maker)
            issuing.move(session, made, "Acknowledged", by=maker)


def _state(session: ScopedSession, month: date, to_wait: date) -> int:
    maker, checker = staff.get_by_email(session, _MAKER), staff.get_by_email(session, _CHECKER)
    number = 0
    for party, _ in parties.list_parties(session):
        if statements.find_due_month(session, party) != month:
            continue
        made = statements.prepare(session, party, month, by=maker, without_withholding=True)
        number += 1
        if month == to_wait:
            continue
        statement_states.move(session, made, "Approved", by=checker)
        statement_states.move(session, made, StatementState.SENT, by=maker)
        if number == 1 and clock.add_months(month, 1) == to_wait:
            note = "Two policies of the month are said to be missing"
            statement_states.move(session, made, StatementState.DISPUTED, by=maker, note=note)
    return number


def _is_over(month: date) -> bool:
    return clock.lagos_midnight(clock.add_months(month, 1)) <= clock.now()
