"""Finance of the demonstration: each month stated and paid by two people, the last one open, one in dispute."""

from collections.abc import Sequence
from datetime import date, datetime
from typing import Final
from uuid import UUID

from core import clock
from core.services.catalogue import share_changes
from core.services.finance import agreements, bank_accounts, parties, past_months
from core.services.finance.parties import Party
from core.services.finance.past_months import Office
from core.services.finance.statements import overview as statement_overview
from core.services.people import staff
from core.services.people.staff import Person
from core.store.access import ScopedSession

# A smaller demonstration is a test's, a larger one is for trying speed: neither waits for hundreds of statements.
FEWEST_PURCHASES: Final = 1_000
MOST_PURCHASES: Final = 50_000
_ADMINS: Final = ("admin@coverdesk.example", "second.admin@coverdesk.example")
_MAKER, _CHECKER = "finance@coverdesk.example", "second.finance@coverdesk.example"


def list_closed(session: ScopedSession, at: datetime) -> list[date]:
    """List the months that were over at an instant, the oldest first."""
    return [month for month in reversed(statement_overview.list_months(session)) if _is_over(month, at)]


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


def write_month(session: ScopedSession, month: date) -> int:
    """Write the papers of a month, and return the number of its statements; the months have to come in order.

    Statements are approved, sent and paid but those of the last two months: one of the first is in dispute, those of
    the last wait, and so do its bordereaux, so that some are overdue after the 10th. NotFound where the accounts of
    the demonstration cannot sign in any more.
    """
    office = Office(*(staff.get_by_email(session, email) for email in (_MAKER, _CHECKER)))
    last = clock.add_months(clock.today().replace(day=1), -1)
    is_last, is_before = month == last, clock.add_months(month, 1) == last
    number = past_months.state_month(session, month, office, is_waiting=is_last, is_disputed=is_before)
    if number and month < last:
        if not is_before:
            past_months.pay_month(session, month, office)
        past_months.report_month(session, month, office.maker)
    return number


def _is_over(month: date, at: datetime) -> bool:
    return clock.lagos_midnight(clock.add_months(month, 1)) <= at
