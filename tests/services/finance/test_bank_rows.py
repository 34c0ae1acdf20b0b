"""Rows of the bank for payments of parties stay as they are, those of before too (contract F4)."""

from contextlib import AbstractContextManager
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from alembic import command

from core import clock, ids, money
from core.services.finance import bank_accounts, journal
from core.services.finance.parties import Party
from core.services.finance.payments import bank_rows, payouts, settlement
from core.services.finance.payments import reading as payment_reading
from core.services.lists.paging import Paging
from core.store.access import Scope, ScopedSession, Store
from core.store.schema import migrating
from core.store.schema.tables import PartyPayment, Payment
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import BANK, Finance, state

pytestmark = pytest.mark.frozen_at(NOW)

AUGUST = date(2026, 8, 1)
PAID = {"bank_reference": "TRF/1", "value_on": "2026-11-20"}
BACK = {"returned_on": "2026-11-20", "reason": "The account is closed"}
TERMS = {"number": "AG/1", "starts_on": "2026-01-01"}


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


@pytest.fixture
def party(finance: Finance, partner: Partner) -> Party:
    """A distributor with an account that has rested and a statement of August."""
    found = Party("distributor", partner.id)
    finance.agree(found, TERMS)
    with clock.freeze(NOW - timedelta(days=90)):
        account = finance.do(bank_accounts.propose, found, BANK, by="root")
        finance.do(bank_accounts.confirm, account, by="second")
    state(finance, found, AUGUST, "Approved", "Sent")
    return found


def due(finance: Finance, party: Party) -> int:
    return int(finance.read(settlement.get_balance, party).amount_minor)


def approved(finance: Finance, party: Party, amount: int | None = None) -> UUID:
    """The one payment of an approved batch."""
    batch = finance.do(payouts.prepare, {party: amount}, by="funmi")
    finance.do(payouts.approve, batch, by="femi")
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    return UUID(str(row.id))


@pytest.mark.both_databases
def test_the_store_itself_keeps_what_the_bank_did_to_the_order_and_to_two_people(
    finance: Finance, party: Party
) -> None:
    payment = approved(finance, party)
    for moved in ("Confirmed", "Returned"):
        with pytest.raises(sa.exc.DBAPIError, match="by what the bank moved"), writing(finance) as session:
            session.execute(sa.update(Payment).values(state=moved))
    finance.do(settlement.confirm, payment, PAID, by="femi")
    with finance.reading() as session:
        paid = session.execute(sa.select(PartyPayment)).scalar_one().model_dump()
    back = {**paid, "id": ids.new(), "reverses": paid["id"], "amount_minor": -paid["amount_minor"], "reason": "Closed"}
    funmi = finance.people["funmi"].id
    for odd, rule in (
        ({**back, "amount_minor": -1}, "not of the amount"),
        ({**back, "paid_by": funmi}, "who prepared it"),
        ({**back, "reason": None}, "reason"),
        ({**paid, "id": ids.new()}, "payment_id|ix_party_payment_once"),
    ):
        with pytest.raises(sa.exc.DBAPIError, match=rule), writing(finance) as session:
            session.execute(sa.insert(PartyPayment).values(**odd))
    for kept in (sa.update(PartyPayment).values(value_on=AUGUST), sa.delete(PartyPayment)):
        with pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"), writing(finance) as session:
            session.execute(kept)
    assert finance.money_faults() == []


def writing(finance: Finance) -> AbstractContextManager[ScopedSession]:
    return finance.store.writing(Scope.system())


def test_payouts_of_before_are_carried_over_as_rows(finance: Finance, party: Party) -> None:
    part = due(finance, party) // 3
    for number, returned in enumerate(({**BACK, "bank_reference": "RET/1"}, BACK, None)):
        payment = approved(finance, party, part)
        finance.do(settlement.confirm, payment, {**PAID, "bank_reference": f"TRF/{number}"}, by="femi")
        if returned:
            finance.do(settlement.return_payment, payment, returned, by="wale")
    finance.do(settlement.return_payment, approved(finance, party, part), BACK, by="wale")
    approved(finance, party, part)
    held = carried_over(finance)
    assert held == {
        ("Confirmed", "TRF/2", True, False),
        ("Returned", "TRF/0", True, True),
        ("Returned", "TRF/1", True, True),
        ("Returned", None, False, True),
        ("Approved", None, False, False),
    }


@pytest.mark.both_databases
def test_receipts_of_before_are_carried_over_as_rows(finance: Finance, partner: Partner) -> None:
    party = Party("distributor", partner.id)
    finance.agree(party, {**TERMS, "collects": "distributor"})
    state(finance, party, AUGUST, "Approved", "Sent")
    given = {"amount": money.to_wire(-due(finance, party) // 3), "value_on": "2026-11-19"}
    noted = [finance.do(settlement.receive, party, {**given, "bank_reference": "IN/0"}, by="funmi")]
    finance.do(settlement.withdraw, noted[0], reason="It was noted twice", by="femi")
    for number in (1, 2, 3):
        noted.append(finance.do(settlement.receive, party, {**given, "bank_reference": f"IN/{number}"}, by="funmi"))
        if number < 3:
            finance.do(settlement.approve_receipt, noted[-1], by="femi")
    finance.do(settlement.return_payment, noted[1], BACK, by="wale")
    held = carried_over(finance)
    assert held == {
        ("Withdrawn", "IN/0", True, False),
        ("Returned", "IN/1", True, True),
        ("Confirmed", "IN/2", True, False),
        ("Prepared", "IN/3", True, False),
    }


def carried_over(finance: Finance) -> set[tuple[str, str | None, bool, bool]]:
    """Take the store back to the release before the rows and up again; what that one held of each payment."""

    def show() -> list[Any]:
        shown = finance.read(payment_reading.list_payments, payment_reading.UNFILTERED, Paging(1, 20))
        rows = finance.read(bank_rows.list_rows)
        return [shown, rows, finance.read(journal.list_entries, NOW.date().replace(day=1))]

    before = show()
    assert all(before)
    entries: dict[UUID, list[str]] = {}
    for row in before[1]:
        entries.setdefault(row.payment_id, []).append(row.entry)
    assert all(each == ["paid", "returned"][: len(each)] for each in entries.values()), "a payment before its return"
    with finance.store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0086")
        held = connection.exec_driver_sql(
            "SELECT state, bank_reference, value_on IS NOT NULL, returned_on IS NOT NULL FROM payment"
        ).all()
    migrating.migrate(finance.store)
    assert migrating.differences(finance.store) == []
    assert show() == before
    assert finance.money_faults() == []
    return {(row[0], row[1], bool(row[2]), bool(row[3])) for row in held}
