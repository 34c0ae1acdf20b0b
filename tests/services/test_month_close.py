"""Closing a month: a check list that blocks, two people, and a journal that balances every day (contract F7)."""

import csv
import hashlib
import io
from collections import defaultdict
from datetime import date, timedelta
from decimal import Decimal
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, money
from core.desk import closing
from core.desk.closing import Check
from core.errors import InvalidInput, NotAllowed, NotFound, StateForbids
from core.services.audit import log as audit
from core.services.catalogue import changes
from core.services.finance import adjustments, bank_accounts, journal
from core.services.finance.bordereaux import bordereaux
from core.services.finance.payments import payouts, settlement
from core.services.finance.payments import reading as payment_reading
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.states.finance import MonthState
from core.store.access import Scope, Store
from core.store.schema.tables import Distributor, MonthStep, Movement, Provider
from tests.portfolio import NOW
from tests.prefilled import demonstration_copy
from tests.services.finance_office import LIVE, OUTSIDERS, Finance
from tests.services.races import run_while_open

pytestmark = pytest.mark.frozen_at(NOW)

# The rule of the check.
JOURNAL = "The journal of every closed month is as it was, and balances"

OCTOBER = date(2026, 10, 1)
NOTE = "Looked at all of them, they are in order"


@pytest.fixture
def finance(store: Store) -> Finance:
    """A sound store with the business of two years."""
    demonstration_copy(store, purchases=60, seed=3, until=NOW)
    return Finance(store)


@pytest.fixture
def first(finance: Finance) -> date:
    """The first month in which money moved: the quickest to state and report."""
    return finance.read(statement_reading.list_months)[-1]


def prepared(finance: Finance, month: date) -> None:
    """Every statement of the first month approved, and every bordereau of it issued."""
    for party, _ in finance.read(statements.list_due, month):
        made = finance.do(statements.prepare, party, month, by="funmi", without_withholding=True)
        finance.do(statements.move, made, "Approved", by="femi")
        finance.do(statements.move, made, "Sent", by="femi")
    for provider_id, _, kind in finance.read(bordereaux.list_due, month):
        finance.do(bordereaux.issue, provider_id, kind, month, by="funmi")


def against(found: list[Check]) -> set[str]:
    return {check.name for check in found if check.stands_against}


@pytest.mark.both_databases
def test_a_month_is_closed_by_two_people_once_nothing_stands_against_it(finance: Finance, first: date) -> None:
    assert against(finance.read(closing.list_checks, first)) >= {
        "Every bordereau is issued",
        "Every statement is approved and none is in dispute",
    }
    for name in OUTSIDERS:
        with pytest.raises(NotAllowed):
            finance.do(closing.begin, first, by=name)
    finance.do(closing.begin, first, by="funmi")
    with pytest.raises(StateForbids, match="Every bordereau is issued"):
        finance.do(closing.close, first, by="femi", note=NOTE)
    prepared(finance, first)
    found = {check.name: check for check in finance.read(closing.list_checks, first)}
    assert against(list(found.values())) == set()
    assert found["Every difference of a reconciliation is explained"].unproved == (
        "no file was reconciled with this month"
    ), "it is not ticked where nothing was compared"
    last = clock.add_days(clock.add_months(first, 1), -1)
    insurers = {row.provider for row in finance.rows(from_=str(first), to=str(last))}
    named = found["Insurers and banks whose file was not reconciled"].rows
    assert set(named) == {f"{name}: no file of {first:%B %Y} was reconciled" for name in insurers}
    with pytest.raises(NotAllowed, match="You made the last step"):
        finance.do(closing.close, first, by="funmi", note=NOTE)
    resting = finance.rest("femi", NOW + timedelta(hours=1))
    with pytest.raises(NotAllowed, match="gave you your password"):
        finance.do(closing.close, first, by=resting, note=NOTE)
    for name in OUTSIDERS:
        with pytest.raises(NotAllowed):
            finance.do(closing.close, first, by=name, note=NOTE)
    finance.do(closing.close, first, by="wale", note=NOTE)
    assert finance.read(journal.state_of, first) == MonthState.CLOSED
    last = finance.read(journal.list_steps, first)[-1]
    assert (last.person, last.sha256) == ("Wale", finance.read(journal.hash_of, first))
    assert finance.faults() == []
    _stays_shut_until_two_people_reopen_it(finance, first)


@pytest.mark.parametrize("is_closed_first", [True, False], ids=["closed first", "reversed first"])
def test_a_month_is_not_closed_while_a_statement_of_it_is_reversed(
    finance: Finance, first: date, *, is_closed_first: bool
) -> None:
    """Neither saw the other at one instant: the month was closed with a statement that is void."""
    prepared(finance, first)
    finance.do(closing.begin, first, by="funmi")
    stated = finance.read(statement_reading.list_statements, month=first)[0]
    acts = {
        True: (closing.close, first, {"note": NOTE, "by": "femi"}),
        False: (statements.reverse, stated.id, {"reason": "The agreement was another", "by": "wale"}),
    }
    (first_act, one, how), (second_act, other, given) = acts[is_closed_first], acts[not is_closed_first]
    refusal = run_while_open(
        finance.store,
        LIVE,
        lambda session: first_act(session, one, **{**how, "by": finance.person(how["by"])}),
        lambda: finance.do(second_act, other, **given),
    )
    words = f"{first:%B %Y} is closed" if is_closed_first else "It cannot be closed yet: Every statement is approved"
    assert words in str(refusal)
    assert finance.faults() == []


def approved(finance: Finance) -> payment_reading.PaymentRow:
    """The one payment of an approved payout, to an account that was confirmed long ago."""
    party = next(each.party for each in finance.read(settlement.list_balances) if each.amount_minor > 0)
    account = {"bank_name": "Bank", "account_name": "Ekomarket", "account_number": "0123456789"}
    with clock.freeze(NOW - timedelta(days=900)):
        finance.do(bank_accounts.confirm, finance.do(bank_accounts.propose, party, account, by="root"), by="second")
    batch = finance.do(payouts.prepare, {party: None}, by="funmi")
    finance.do(payouts.approve, batch, by="femi")
    (payment,) = finance.read(payment_reading.list_of_batch, batch)
    return payment


@pytest.mark.both_databases
def test_a_payment_that_is_noted_while_its_month_is_closed_is_in_the_journal_that_is_closed(
    finance: Finance, first: date
) -> None:
    """The journal was hashed without it, and had it from then on, as it was noted before the month was closed."""
    month = clock.add_months(first, 1)
    with clock.freeze(clock.lagos_midnight(month) + timedelta(days=9, hours=9)):
        prepared(finance, first)
        paid = approved(finance)
    prepared(finance, month)
    finance.do(closing.begin, month, by="funmi")
    moved = {"bank_reference": "T/1", "value_on": str(clock.add_days(month, 9))}
    refusal = run_while_open(
        finance.store,
        LIVE,
        lambda session: settlement.confirm(session, paid.id, moved, by=finance.person("femi")),
        lambda: finance.do(closing.close, month, by="wale", note=NOTE),
    )
    assert refusal is None
    assert finance.faults() == []
    assert "T/1" in b"".join(journal.csv_chunks(finance.read(journal.list_entries, month))).decode()


@pytest.mark.both_databases
@pytest.mark.parametrize("kind", ["distributor", "provider"])
def test_a_party_that_is_renamed_while_a_month_is_closed_stands_there_by_the_name_of_its_journal(
    finance: Finance, first: date, kind: str
) -> None:
    """The journal was hashed with the name of before, and had the new one from then on."""
    prepared(finance, first)
    finance.do(closing.begin, first, by="funmi")
    with finance.store.reading(LIVE) as session:
        seller = session.get_one(Distributor if kind == "distributor" else Provider, parties_of(finance, first)[kind])
        session.expunge(seller)
    names = {"company_name": "Renamed Ltd", "first_name": "Ada", "last_name": "Obi"}
    contacts = {"email": "claims@renamed.example", "phone_number": "08031234567"}
    rename, given = {
        "distributor": (changes.change_distributor, {"name": "Renamed Ltd"}),
        "provider": (changes.change_insurer, names | contacts),
    }[kind]
    refusal = run_while_open(
        finance.store,
        LIVE,
        lambda session: rename(session, seller.id, given, seen_at=seller.updated_at, by=finance.person("root")),
        lambda: finance.do(closing.close, first, by="wale", note=NOTE),
    )
    assert refusal is None
    assert finance.faults() == []
    assert "Renamed Ltd" in b"".join(journal.csv_chunks(finance.read(journal.list_entries, first))).decode()


def parties_of(finance: Finance, month: date) -> dict[str, UUID]:
    """A distributor and an insurer with money in a month."""
    last = clock.add_days(clock.add_months(month, 1), -1)
    row = finance.rows(from_=str(month), to=str(last))[0]
    with finance.store.reading(LIVE) as session:
        seller = session.execute(sa.select(Distributor.id).where(Distributor.business_name == row.distributor))
        insurer = session.execute(sa.select(Provider.id).where(Provider.company_name == row.provider))
        return {"distributor": seller.scalar_one(), "provider": insurer.scalar_one()}


def _stays_shut_until_two_people_reopen_it(finance: Finance, first: date) -> None:
    newest = finance.read(statement_reading.list_statements)[0]
    with pytest.raises(StateForbids, match="is closed"):
        finance.do(statements.reverse, newest.id, reason="The agreement was another", by="funmi")
    with pytest.raises(InvalidInput, match="ten characters"):
        finance.do(closing.ask_reopening, first, by="funmi", note="no")
    finance.do(closing.ask_reopening, first, by="funmi", note="A statement has a wrong rate")
    finance.do(closing.give_up, first, by="funmi")
    assert finance.read(journal.state_of, first) == MonthState.CLOSED
    finance.do(closing.ask_reopening, first, by="funmi", note="A statement has a wrong rate")
    with pytest.raises(NotAllowed, match="You made the last step"):
        finance.do(closing.reopen, first, by="funmi")
    assert finance.faults() == []
    finance.do(closing.reopen, first, by="wale")
    finance.do(statements.reverse, newest.id, reason="The agreement was another", by="funmi")
    assert [step.person for step in finance.read(journal.list_steps, first)][-1] == "Wale"


def test_only_what_is_over_is_closed_in_its_order_and_a_closing_can_be_given_up(finance: Finance) -> None:
    for month in (date(2026, 11, 1), date(2026, 10, 2)):
        with pytest.raises(StateForbids, match="not over"):
            finance.do(closing.begin, month, by="funmi")
    with pytest.raises(StateForbids, match="cannot become"):
        finance.do(closing.close, OCTOBER, by="funmi", note=NOTE)
    finance.do(closing.begin, date(2026, 9, 1), by="funmi")
    with pytest.raises(StateForbids, match="September 2026 comes first"):
        finance.do(closing.begin, OCTOBER, by="funmi")
    steps = finance.read(journal.list_steps, date(2026, 9, 1))
    assert closing.list_allowed(steps, finance.people["funmi"]) == [MonthState.OPEN]
    assert closing.list_allowed(steps, finance.people["femi"]) == [MonthState.CLOSED, MonthState.OPEN]
    assert closing.list_allowed(steps, finance.people["oye"]) == []
    finance.do(closing.give_up, date(2026, 9, 1), by="femi")
    assert finance.read(journal.state_of, date(2026, 9, 1)) == MonthState.OPEN


def test_what_was_done_by_hand_is_looked_at_before_a_month_is_closed(finance: Finance, first: date) -> None:
    given = {
        "premium": "1.00",
        "platform_commission": "0",
        "distributor_commission": "0",
        "reason": "It was too little",
    }
    month = [row for row in finance.rows() if clock.to_lagos_day(row.created_at).replace(day=1) == first]
    sold = max(month, key=lambda row: row.total_minor)
    with clock.freeze(sold.created_at + timedelta(minutes=1)):
        proposal = finance.do(adjustments.propose, sold.id, given, by="funmi")
        finance.do(adjustments.confirm, proposal, by="femi")
        with finance.store.writing(Scope.system()) as session:
            audit.write(session, actor="command line, ada at desk-1", action=audit.RESTORED, subject="backup")
    prepared(finance, first)
    finance.do(closing.begin, first, by="funmi")
    with pytest.raises(
        InvalidInput, match=r"you checked: .*Adjustments by hand.*Backups that took the place of the store"
    ):
        finance.do(closing.close, first, by="femi")
    finance.do(closing.close, first, by="femi", note=NOTE)
    assert finance.read(journal.list_steps, first)[-1].facts["Adjustments by hand"] == 1


@pytest.mark.both_databases
def test_debit_is_credit_on_every_day_and_the_accounts_are_the_movements(finance: Finance, first: date) -> None:
    prepared(finance, first)
    paid = approved(finance)
    finance.do(settlement.confirm, paid.id, {"bank_reference": "T/1", "value_on": "2026-11-20"}, by="femi")
    for month in (first, date(2026, 11, 1)):
        content = b"".join(journal.csv_chunks(finance.read(journal.list_entries, month))).decode()
        days: dict[str, Decimal] = defaultdict(Decimal)
        accounts: dict[str, Decimal] = defaultdict(Decimal)
        for row in csv.DictReader(io.StringIO(content)):
            assert Decimal(row["debit"]) >= 0
            assert Decimal(row["credit"]) >= 0
            days[row["date"]] += Decimal(row["debit"]) - Decimal(row["credit"])
            accounts[row["account"]] += Decimal(row["debit"]) - Decimal(row["credit"])
        assert set(days.values()) == {Decimal(0)}
        start, end = (clock.lagos_midnight(clock.add_months(month, months_)) for months_ in (0, 1))
        sums = [sa.func.sum(column) for column in (Movement.total_minor, Movement.mca_profit_minor)]
        query = sa.select(*sums).where(Movement.is_live, Movement.created_at >= start, Movement.created_at < end)
        with finance.reading() as session:
            premium, income = session.execute(query).one()
        assert accounts[journal.WALLET] == money.to_naira(int(premium))
        assert accounts[journal.INCOME] == -money.to_naira(int(income))
        assert accounts[journal.BANK] == (-money.to_naira(paid.net_minor) if month != first else 0)


def test_each_entry_of_the_journal_balances_under_a_short_number_in_every_format(finance: Finance, first: date) -> None:
    entries = finance.read(journal.list_entries, first)
    printed = {key: finance.read(journal.print_journal, first, key).decode() for key in journal.FORMATS}
    own, books, sage = (list(csv.DictReader(io.StringIO(printed[key]))) for key in ("", "quickbooks", "sage"))
    assert len(own) == len(books) == len(sage) == len(entries) > 3
    sums: dict[str, Decimal] = defaultdict(Decimal)
    for one, two, three, entry in zip(own, books, sage, entries, strict=True):
        amount = money.to_naira(entry.amount_minor)
        assert Decimal(one["debit"]) - Decimal(one["credit"]) == amount
        assert Decimal(two["Debits"] or 0) - Decimal(two["Credits"] or 0) == amount
        assert "" in (two["Debits"], two["Credits"])
        assert Decimal(three["Net Amount"]) * (1 if three["Type"] == "JD" else -1) == amount
        assert one["number"] == two["JournalNo"] == three["Reference"]
        assert one["code"] == three["Nominal A/C Ref"]
        assert two["AccountName"] == entry.account
        assert two["JournalDate"] == three["Date"] == f"{entry.on:%d/%m/%Y}"
        assert len(three["Details"]) <= 60
        sums[one["number"]] += amount
    assert set(sums.values()) == {Decimal(0)}
    numbers = [int(number.removeprefix(f"J{first:%y%m}-")) for number in sums]
    assert numbers == list(range(1, len(sums) + 1))
    with pytest.raises(NotFound, match="no such format"):
        finance.read(journal.print_journal, first, "abacus")


def test_a_month_that_was_closed_before_accounts_had_codes_keeps_the_file_of_its_hash(
    finance: Finance, first: date
) -> None:
    lines = ["date,account,party,debit,credit,reference"]
    for row in csv.reader(io.StringIO(finance.read(journal.print_journal, first).decode())):
        if row[0] != "date":
            lines.append(",".join(f'"{cell}"' if "," in cell else cell for cell in [row[0], *row[3:]]))
    before = "".join(f"{line}\r\n" for line in lines).encode()
    kept = hashlib.sha256(before).hexdigest()
    assert finance.read(journal.print_journal, first, sha256=kept) == before
    assert finance.read(journal.hash_of, first, sha256=kept) == kept
    assert finance.read(journal.hash_of, first, sha256="0" * 64) == finance.read(journal.hash_of, first) != kept


@pytest.mark.both_databases
def test_the_store_keeps_the_steps_and_the_check_finds_a_changed_journal(finance: Finance, first: date) -> None:
    finance.do(closing.begin, first, by="funmi")
    prepared(finance, first)
    finance.do(closing.close, first, by="femi", note=NOTE)
    maker = finance.people["funmi"].id
    forged = {"month": date(2026, 9, 1), "position": 9, "at": NOW, "facts": {}, "sha256": "x", "by": maker}
    for attempt in (
        sa.update(MonthStep).values(state="Open"),
        sa.delete(MonthStep),
        *(
            sa.insert(MonthStep).values(id=maker, state="Closed", facts_kept=False, before_by=before, **forged)
            for before in (maker, None)
        ),
    ):
        with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
            session.execute(attempt)
    with finance.store.writers.begin() as connection:
        on = "" if finance.store.is_sqlite else " ON month_step"
        connection.exec_driver_sql(f"DROP TRIGGER month_step_update{on}")
        connection.exec_driver_sql("UPDATE month_step SET sha256 = 'y' WHERE sha256 IS NOT NULL")
    assert any("is not what it was" in fault for fault in finance.faults(JOURNAL))
