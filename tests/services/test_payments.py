"""Payments: what is due is paid once, by two people, and statements say what was paid on them (contract F4)."""

import csv
import hashlib
import io
from dataclasses import replace
from datetime import date, timedelta
from uuid import UUID

import jsonschema
import orjson
import pytest
import sqlalchemy as sa
from alembic import command

from core import clock, money
from core.desk import examples, export_runs, finder
from core.dispatch import webhooks
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.events import catalogue, feed
from core.services.events.feed import FeedFilter
from core.services.finance import bank_accounts, parties
from core.services.finance import tax as tax_schedules
from core.services.finance.parties import Party
from core.services.finance.payments import bank_answers, payouts, settlement
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments.bank_answers import AnswerLine
from core.services.finance.payments.reading import PaymentRow
from core.services.finance.payments.settlement import Due
from core.services.finance.reconciling import table_files
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.finance.statements.files import Paper
from core.services.lists.paging import Paging
from core.store.access import Scope, Store
from core.store.schema import migrating
from core.store.schema.tables import Payment, PaymentSettlement, PayoutBatch
from tests.conftest import Partner
from tests.every_case import every_case
from tests.planting import assert_named, planted
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import OUTSIDERS, Finance

pytestmark = pytest.mark.frozen_at(NOW)

AUGUST, SEPTEMBER, OCTOBER = (date(2026, month, 1) for month in (8, 9, 10))
ACCOUNT = {"bank_name": "First Bank", "account_name": "Swift Lenders Ltd", "account_number": "0123456789"}
PAID = {"bank_reference": "TRF/1", "value_on": "2026-11-20"}
TERMS = {"number": "AG/1", "starts_on": "2026-01-01", "tin": "12345678-0001", "charges_vat": True}


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


@pytest.fixture
def party(finance: Finance, partner: Partner) -> Party:
    """A distributor with terms and an account that has rested."""
    found = Party("distributor", partner.id)
    finance.agree(found, TERMS)
    bank(finance, found)
    return found


def bank(finance: Finance, party: Party, **given: str) -> None:
    with clock.freeze(NOW - timedelta(days=90)):
        account = finance.do(bank_accounts.propose, party, {**ACCOUNT, **given}, by="root")
        finance.do(bank_accounts.confirm, account, by="second")


def sent(finance: Finance, party: Party, *months: date) -> list[UUID]:
    made = []
    for month in months:
        made.append(finance.do(statements.prepare, party, month, by="funmi"))
        finance.do(statements.move, made[-1], "Approved", by="femi")
        finance.do(statements.move, made[-1], "Sent", by="femi")
    return made


def paper(finance: Finance, statement_id: UUID) -> Paper:
    return finance.read(statement_reading.get_statement, statement_id).paper


def due(finance: Finance, party: Party) -> int:
    return int(finance.read(settlement.get_balance, party).amount_minor)


def approved(finance: Finance, party: Party, amount: int | None = None) -> UUID:
    """The one payment of an approved batch."""
    batch = finance.do(payouts.prepare, {party: amount}, by="funmi")
    finance.do(payouts.approve, batch, by="femi")
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    return UUID(str(row.id))


def _is_found_by_numbers_and_amounts(finance: Finance, statement: UUID, row: PaymentRow) -> None:
    """The finder leads finance, and nobody else, to each paper of the newest payment."""
    amount, femi = money.format_naira(row.net_minor), finance.people["femi"]
    wanted = {row.statement: statement, row.batch: row.batch_id, row.bank_reference: row.id, amount: row.id}
    for text, key in wanted.items():
        assert key in [hit.id for hit in finance.read(finder.find_records, text, femi)], text
        assert not finance.read(finder.find_records, text, replace(femi, roles=("operations",))), text
    with finance.store.reading(Scope.staff(is_live=False)) as session:
        assert not [hit for text in wanted if text for hit in finder.find_records(session, text, femi)]


@pytest.fixture
def paid_out(finance: Finance, party: Party) -> None:
    """A statement was sent and paid in full, and nothing is wrong."""
    sent(finance, party, AUGUST)
    finance.do(settlement.confirm, approved(finance, party), PAID, by="femi")
    assert finance.money_faults() == []


def test_a_payout_settles_every_statement_until_the_newest_that_was_sent(finance: Finance, party: Party) -> None:
    first, second = sent(finance, party, AUGUST, SEPTEMBER)
    owed = paper(finance, second).closing_minor
    assert owed == due(finance, party) > 0
    payment = approved(finance, party)
    row, parts = finance.read(payment_reading.get_payment, payment)
    assert [part.statement_id for part in parts] == [first, second]
    assert row.net_minor == sum(part.net_minor for part in parts) == owed
    papers = [paper(finance, each) for each in (first, second)]
    assert row.vat_minor == sum(each.vat_minor for each in papers) > 0
    assert row.withheld_minor == sum(each.withheld_minor for each in papers) > 0
    assert row.gross_minor == row.net_minor - row.vat_minor + row.withheld_minor
    assert row.gross_minor == sum(each.earned_minor + each.clawback_minor for each in papers)
    finance.do(settlement.confirm, payment, PAID, by="femi")
    assert [paper(finance, each).state for each in (first, second)] == ["Paid", "Paid"]
    assert due(finance, party) == 0
    entries = finance.read(audit.list_history, f"payment {payment}")
    assert [entry.action for entry in entries] == ["payment prepared", "payment confirmed"]
    assert entries[0].after is not None
    assert entries[0].after["settles"] == ", ".join(part.number for part in parts)
    with pytest.raises(StateForbids, match="Nothing is due"):
        finance.do(payouts.prepare, {party: None}, by="funmi")
    assert finance.money_faults() == []


@pytest.mark.both_databases
def test_parts_of_a_statement_are_paid_until_nothing_remains_and_their_taxes_make_its_taxes(
    finance: Finance, party: Party
) -> None:
    before, made = sent(finance, party, AUGUST, SEPTEMBER)
    whole = paper(finance, made)
    third = whole.closing_minor // 3
    assert min(third, whole.vat_minor, whole.withheld_minor) > 1_000, "what is shared out is more than the rounding"
    for number, (amount, state) in enumerate(((third, "Part paid"), (third, "Part paid"), (None, "Paid"))):
        payment = approved(finance, party, amount)
        finance.do(settlement.confirm, payment, {**PAID, "bank_reference": f"TRF/{number}"}, by="femi")
        assert paper(finance, made).state == state
    rows = finance.read(payment_reading.list_of_statement, made)
    assert [row.net_minor for row in rows] == [third, third, whole.closing_minor - 2 * third]
    parts = [part for row in rows for part in finance.read(payment_reading.get_payment, UUID(str(row.id)))[1]]
    for statement in (before, made):
        stated, mine = paper(finance, statement), [part for part in parts if part.statement_id == statement]
        assert sum(part.vat_minor for part in mine) == stated.vat_minor
        assert sum(part.withheld_minor for part in mine) == stated.withheld_minor
    every = payment_reading.UNFILTERED
    assert finance.read(payment_reading.count_payments, every) == (3, whole.closing_minor)
    assert finance.read(payment_reading.list_payments, every, Paging(1, 2))[0].value_on == date(2026, 11, 20)
    newest, oldest, largest, smallest = (
        finance.read(payment_reading.list_payments, every, Paging(1, 9), order=order)
        for order in ("newest", "oldest", "largest", "smallest")
    )
    order = export_runs.create_order("payments", "csv", {"find": ["TRF/2"]}, by="tests")
    export_runs.write_file(order, file := io.BytesIO())
    (line,) = csv.DictReader(io.StringIO(file.getvalue().decode()))
    settled = paper(finance, made).number
    assert (line["reference"], line["statement"], line["batch"]) == ("TRF/2", settled, "PB-0003")
    assert line["net"] == money.to_wire(newest[0].net_minor)
    _is_found_by_numbers_and_amounts(finance, made, newest[0])
    with pytest.raises(InvalidInput, match="there are no payments of test mode"):
        export_runs.create_order("payments", "csv", {"mode": ["test"]}, by="tests")
    assert oldest == newest[::-1]
    assert [row.net_minor for row in largest] == sorted((row.net_minor for row in newest), reverse=True)
    assert [row.net_minor for row in smallest] == sorted(row.net_minor for row in newest)
    assert finance.money_faults() == []


def test_a_distributor_is_told_when_a_statement_is_sent_and_when_it_is_paid_in_full(
    finance: Finance, party: Party, partner: Partner
) -> None:
    (made,) = sent(finance, party, AUGUST)
    whole = paper(finance, made)
    for state in ("Disputed", "Sent"):
        finance.do(statements.move, made, state, by="femi", note="one sale is not theirs")
    for number, amount in enumerate((whole.closing_minor // 3, None)):
        payment = approved(finance, party, amount)
        finance.do(settlement.confirm, payment, {**PAID, "bank_reference": f"TRF/{number}"}, by="femi")
    webhooks.catch_up(finance.store)
    with finance.store.reading(partner.scope(is_live=True)) as session:
        bodies = feed.read_page(session, FeedFilter(types=("statement.*",)), after=None, limit=50).bodies
        assert statement_reading.get_record(session, made)["id"] == str(made)
    events = [orjson.loads(body) for body in bodies]
    for event in events:
        jsonschema.validate(event, examples.build_schema(catalogue.BY_NAME[event["type"]]))
        assert event["object"]["url"].endswith(f"/v1/statements/{made}")
    assert [event["type"] for event in events] == ["statement.issued", "statement.paid"]
    assert {event["data"]["closing_balance"] for event in events} == {money.to_wire(whole.closing_minor)}
    assert [event["data"]["state"] for event in events] == ["Sent", "Paid"]


def test_a_payment_is_on_the_statement_of_its_value_day_or_the_next_and_a_return_undoes_it(
    finance: Finance, party: Party
) -> None:
    (august,) = sent(finance, party, AUGUST)
    owed = paper(finance, august).closing_minor
    with clock.freeze(NOW.replace(month=9)):
        payment = approved(finance, party)
        finance.do(settlement.confirm, payment, {**PAID, "value_on": "2026-09-20"}, by="femi")
    (september,) = sent(finance, party, SEPTEMBER)
    found = paper(finance, september)
    assert found.paid_minor == owed
    assert found.closing_minor == sum(minor for label, minor in found.trailer if label != "Closing balance")
    assert ("Payment 20 Sep 2026, TRF/1", -owed) in found.trailer
    finance.do(settlement.return_payment, payment, {"returned_on": "2026-10-02", "reason": "Account closed"}, by="femi")
    assert paper(finance, august).state == "Sent"
    assert due(finance, party) == found.closing_minor + owed
    (october,) = sent(finance, party, OCTOBER)
    late = paper(finance, october)
    assert (late.paid_minor, late.opening_minor) == (-owed, found.closing_minor)
    assert due(finance, party) == late.closing_minor
    with finance.reading() as session:
        lines = b"".join(statement_reading.csv_of(session, session.get_one(statement_reading.Statement, october)))
    assert hashlib.sha256(lines).hexdigest() == late.sha256
    assert b",payment returned,TRF/1," in lines
    assert finance.money_faults() == []


def test_a_reversed_statement_frees_its_payments_for_the_next_one(finance: Finance, party: Party) -> None:
    sent(finance, party, AUGUST)
    with clock.freeze(NOW.replace(month=9)):
        payment = approved(finance, party)
        finance.do(settlement.confirm, payment, {**PAID, "value_on": "2026-09-20"}, by="femi")
    (september,) = sent(finance, party, SEPTEMBER)
    before = paper(finance, september)
    reversal = finance.do(statements.reverse, september, reason="The agreement was another", by="funmi")
    finance.do(statements.move, reversal, "Approved", by="femi")
    (again,) = sent(finance, party, SEPTEMBER)
    assert paper(finance, again).paid_minor == before.paid_minor > 0
    assert paper(finance, again).closing_minor == before.closing_minor
    assert finance.money_faults() == []


def test_nobody_approves_a_payout_that_they_prepared_and_only_finance_touches_one(
    finance: Finance, party: Party
) -> None:
    sent(finance, party, AUGUST)
    for name in OUTSIDERS:
        with pytest.raises(NotAllowed):
            finance.do(payouts.prepare, {party: None}, by=name)
    batch = finance.do(payouts.prepare, {party: None}, by="funmi")
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    with pytest.raises(NotAllowed, match="You prepared"):
        finance.do(payouts.approve, batch, by="funmi")
    resting = finance.rest("femi", NOW + timedelta(hours=1))
    with pytest.raises(NotAllowed, match="gave you your password"):
        finance.do(payouts.approve, batch, by=resting)
    for name in OUTSIDERS:
        for verb in (payouts.approve, payouts.open_bank_file):
            with pytest.raises(NotAllowed):
                finance.do(verb, batch, by=name)
        for verb, given in ((settlement.confirm, PAID), (settlement.return_payment, PAID)):
            with pytest.raises(NotAllowed):
                finance.do(verb, row.id, given, by=name)
    for refused in (
        lambda: finance.do(settlement.confirm, row.id, PAID, by="femi"),
        lambda: finance.do(settlement.approve_receipt, row.id, by="wale"),
        lambda: finance.do(settlement.withdraw, row.id, reason="Not this way", by="wale"),
        lambda: finance.do(payouts.open_bank_file, batch, by="wale"),
    ):
        with pytest.raises(StateForbids):
            refused()
    finance.do(payouts.approve, batch, by="wale")
    with pytest.raises(StateForbids, match="approved already"):
        finance.do(payouts.withdraw, batch, reason="Too late now", by="wale")


@pytest.mark.both_databases
def test_money_is_not_paid_twice_not_too_much_and_not_while_something_stands_against_it(
    finance: Finance, party: Party
) -> None:
    with pytest.raises(StateForbids, match="No statement was sent yet"):
        finance.do(payouts.prepare, {party: None}, by="funmi")
    (made,) = sent(finance, party, AUGUST)
    owed = due(finance, party)
    for amount in (0, -1, owed + 1):
        with pytest.raises(StateForbids, match="At most"):
            finance.do(payouts.prepare, {party: amount}, by="funmi")
    batch = finance.do(payouts.prepare, {party: None}, by="funmi")
    for attempt in (
        lambda: finance.do(payouts.prepare, {party: None}, by="femi"),
        lambda: finance.do(statements.move, made, "Disputed", by="femi", note="Not ours at all"),
        lambda: finance.do(statements.reverse, made, reason="The agreement was another", by="funmi"),
    ):
        with pytest.raises(StateForbids, match="under way"):
            attempt()
    finance.do(payouts.withdraw, batch, reason="Another account", by="funmi")
    finance.do(statements.move, made, "Disputed", by="femi", note="Not ours at all")
    with pytest.raises(StateForbids, match="in dispute"):
        finance.do(payouts.prepare, {party: None}, by="funmi")
    assert finance.money_faults() == []


def test_a_changed_bank_account_stops_a_payout_that_was_prepared_before(finance: Finance, party: Party) -> None:
    sent(finance, party, AUGUST)
    batch = finance.do(payouts.prepare, {party: None}, by="funmi")
    bank(finance, party, account_number="9876543210")
    with pytest.raises(StateForbids, match="another bank account"):
        finance.do(payouts.approve, batch, by="femi")


def test_without_an_account_nothing_is_paid_out(finance: Finance, partner: Partner) -> None:
    party = Party("distributor", partner.id)
    sent(finance, party, AUGUST)
    (balance,) = finance.read(settlement.list_balances)
    assert (
        finance.read(payouts.find_hindrances, [balance])[balance.party]
        == "There is no bank account that can be paid to"
    )
    assert finance.read(payouts.list_payable) == []
    with pytest.raises(StateForbids, match="no bank account"):
        finance.do(payouts.prepare, {party: None}, by="funmi")


def test_the_bank_file_has_every_line_the_whole_number_and_a_hash(finance: Finance, party: Party) -> None:
    sent(finance, party, AUGUST)
    payment = approved(finance, party)
    row, _ = finance.read(payment_reading.get_payment, payment)
    name, content = finance.do(payouts.open_bank_file, row.batch_id, by="funmi")
    (line,) = csv.DictReader(io.StringIO(content.decode()))
    assert name == f"{row.batch}.csv" == "PB-0001.csv"
    assert line["account_number"] == "0123456789"
    assert (line["amount"], line["batch"]) == (money.to_wire(row.net_minor), "PB-0001")
    assert hashlib.sha256(content).hexdigest() == finance.read(payment_reading.get_batch, row.batch_id).sha256


def test_the_banks_answer_names_a_reference_and_a_day_that_can_be(finance: Finance, party: Party) -> None:
    sent(finance, party, AUGUST)
    payment = approved(finance, party, due(finance, party) // 2)
    for wrong, field in (
        ({**PAID, "value_on": "2026-11-21"}, "value_on"),
        ({**PAID, "value_on": "2026-11-19"}, "value_on"),
        ({**PAID, "bank_reference": "  "}, "bank_reference"),
    ):
        with pytest.raises(InvalidInput) as refused:
            finance.do(settlement.confirm, payment, wrong, by="femi")
        assert field in str(refused.value.detail or refused.value)
    finance.do(settlement.confirm, payment, PAID, by="femi")
    again = approved(finance, party)
    with pytest.raises(InvalidInput, match="another payment"):
        finance.do(settlement.confirm, again, {**PAID, "bank_reference": "trf / 1"}, by="femi")
    back = {"returned_on": "2026-11-20", "reason": "The account is closed"}
    finance.do(settlement.return_payment, again, back, by="femi")
    assert due(finance, party) > 0
    assert finance.money_faults() == []


def test_a_party_that_holds_the_premium_pays_and_another_person_confirms_it(finance: Finance, partner: Partner) -> None:
    party = Party("distributor", partner.id)
    finance.agree(party, {**TERMS, "collects": "distributor"})
    (made,) = sent(finance, party, AUGUST)
    owed = -paper(finance, made).closing_minor
    assert owed > 0
    given = {"amount": money.to_wire(owed), "bank_reference": "IN/7", "value_on": "2026-11-19"}
    with pytest.raises(StateForbids, match="Owed to the platform"):
        finance.do(payouts.prepare, {party: None}, by="funmi")
    for name in OUTSIDERS:
        with pytest.raises(NotAllowed):
            finance.do(settlement.receive, party, given, by=name)
    with pytest.raises(StateForbids, match="At most"):
        finance.do(settlement.receive, party, {**given, "amount": money.to_wire(owed + 1)}, by="funmi")
    payment = finance.do(settlement.receive, party, given, by="funmi")
    with pytest.raises(NotAllowed, match="You noted"):
        finance.do(settlement.approve_receipt, payment, by="funmi")
    assert paper(finance, made).state == "Sent"
    row, _ = finance.read(payment_reading.get_payment, payment)
    assert payment_reading.list_allowed(row, finance.people["funmi"]) == ["withdraw"]
    assert payment_reading.list_allowed(row, finance.people["oye"]) == []
    finance.do(settlement.approve_receipt, payment, by="femi")
    assert paper(finance, made).state == "Paid"
    assert due(finance, party) == 0
    with pytest.raises(StateForbids, match="owes nothing: a payment received for something else is an adjustment"):
        finance.do(settlement.receive, party, {**given, "amount": "1", "bank_reference": "IN/8"}, by="funmi")
    assert finance.money_faults() == []


def test_schedules_of_taxes_add_up_to_the_statements(finance: Finance, party: Party) -> None:
    made = sent(finance, party, AUGUST, SEPTEMBER)
    for kind, amount, rate in (("vat", "vat_minor", 750), ("withholding", "withheld_minor", 500)):
        (line,) = finance.read(tax_schedules.list_lines, kind, SEPTEMBER)
        found = paper(finance, made[1])
        assert line.tax_minor == getattr(found, amount) == money.share(line.base_minor, rate) > 0
        assert (line.rate_bp, line.tax_number) == (rate, TERMS["tin"])
        rows = list(csv.DictReader(io.StringIO(b"".join(tax_schedules.csv_chunks([line])).decode())))
        assert rows[-1]["tax"] == money.to_wire(line.tax_minor)
        assert rows[0]["rate_percent"] == money.to_wire(rate)


def test_an_amount_divides_oldest_first_and_never_beyond_what_is_due() -> None:
    def of(net: int, tax: int = 0) -> Due:
        return Due(
            statement_id=UUID(int=abs(net)),
            number="",
            month=AUGUST,
            state="Sent",
            net_minor=net,
            vat_minor=tax,
            withheld_minor=0,
        )

    dues = [of(100, 7), of(-30, -2), of(50, 3)]
    assert settlement.allocate(dues, 120) == dues
    (first,) = settlement.allocate(dues, 60)
    assert (first.net_minor, first.vat_minor) == (60, 4)
    assert [part.net_minor for part in settlement.allocate(dues, 119)] == [100, 19]
    (owing,) = settlement.allocate([of(-100, -7)], -40)
    assert (owing.net_minor, owing.vat_minor) == (-40, -2)


@pytest.mark.both_databases
def test_the_store_itself_keeps_figures_and_two_people(finance: Finance, party: Party) -> None:
    sent(finance, party, AUGUST)
    batch = finance.do(payouts.prepare, {party: None}, by="funmi")
    maker = finance.people["funmi"].id
    for attempt in (
        sa.update(Payment).values(net_minor=1, gross_minor=1),
        sa.update(Payment).values(state="Approved", approved_by=maker, approved_at=clock.now()),
        sa.update(Payment).values(state="Confirmed"),
        sa.update(PayoutBatch).values(state="Approved"),
        sa.update(PayoutBatch).values(net_minor=1),
        sa.update(PaymentSettlement).values(net_minor=1),
        *(sa.delete(table) for table in (PaymentSettlement, Payment, PayoutBatch)),
    ):
        with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
            session.execute(attempt)
    assert finance.read(payment_reading.get_batch, batch).state == "Prepared"


@pytest.mark.both_databases
@every_case(
    ("triggers", "error", "fault"),
    [
        ({"payment_moved": "payment"}, "UPDATE payment SET state = 'Returned'", "is Returned, and the bank moved"),
        ({"statement_figures": "statement"}, "UPDATE statement SET state = 'Sent'", "by its payments Paid"),
        (
            {"payment_settlement_update": "payment_settlement"},
            "UPDATE payment_settlement SET net_minor = net_minor + 1",
            "sums of what it settles",
        ),
        (
            {"payout_batch_figures": "payout_batch", "payout_batch_decided": "payout_batch"},
            "UPDATE payout_batch SET net_minor = 1",
            "number and sum of its payments",
        ),
        (
            {"payout_batch_figures": "payout_batch", "payout_batch_decided": "payout_batch"},
            "UPDATE payout_batch SET sha256 = 'x'",
            "not what its hash says",
        ),
    ],
)
@pytest.mark.usefixtures("paid_out")
def test_check_finds_a_planted_error(finance: Finance, triggers: dict[str, str], error: str, fault: str) -> None:
    with planted(finance.store, error, without=triggers) as session:
        assert_named(session, fault)


def answer_of(*rows: str) -> tuple[str, bytes]:
    heading = "Beneficiary,Account Number,Amount,Narration,Status,Bank Reference,Value Date,Reason"
    return "answer.csv", "\r\n".join([heading, *rows]).encode()


COLUMNS = {
    "amount": "Amount",
    "narration": "Narration",
    "account": "Account Number",
    "status": "Status",
    "reference": "Bank Reference",
    "date": "Value Date",
    "reason": "Reason",
}


def read_answer(finance: Finance, batch: UUID, *rows: str) -> list[AnswerLine]:
    """The rows of a bank's file, as they are understood."""
    row = finance.read(payment_reading.get_batch, batch)
    return list(finance.read(bank_answers.match, bank_answers.read(*answer_of(*rows)), COLUMNS, row))


def test_the_columns_of_a_banks_file_are_guessed_by_heading_and_by_what_is_in_them() -> None:
    rows = ["A,0123456789,10.00,PB-0001/1 2026-08,Paid,NIP/77,20/11/2026,Account closed"]
    file = bank_answers.read(*answer_of(*rows))
    assert table_files.guess(file.heading, bank_answers.MEANINGS, [cells for _, cells in file.rows]) == COLUMNS
    other = bank_answers.read("other.csv", b"Sum,Text,Code\n10.00,PB-0001/1 2026-08,Failed\n9.00,PB-0001/2,Paid")
    guessed = table_files.guess(other.heading, bank_answers.MEANINGS, [cells for _, cells in other.rows])
    assert guessed == {"amount": "Sum", "narration": "Text", "status": "Code"}


def test_the_reference_of_a_payment_that_was_refused_before_is_moved_out_of_its_note(
    finance: Finance, party: Party
) -> None:
    (payment,) = finance.read(payment_reading.list_of_batch, prepared_alone(finance, party))
    back = {"returned_on": "2026-11-20", "reason": "Account closed", "bank_reference": "NIP/78"}
    finance.do(settlement.return_payment, payment.id, back, by="femi")
    note, reference = (sa.column(name) for name in ("note", "refused_reference"))
    with finance.store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0092")
        notes = connection.execute(sa.select(note).select_from(sa.table("payment"))).scalars().all()
        assert notes == ["Account closed (reference of the bank: NIP/78)"]
        migrating.upgrade(connection, "head")
        moved = connection.execute(sa.select(note, reference).select_from(sa.table("payment"))).all()
        assert [tuple(row) for row in moved] == [("Account closed", "NIP/78")]
    assert migrating.differences(finance.store) == []


def test_a_row_of_another_payout_is_no_unclear_one_and_names_that_payout(finance: Finance, party: Party) -> None:
    insurer = next(each for each, _ in finance.read(parties.list_parties) if each.account == "provider")
    finance.agree(insurer, {"number": "AG/2", "starts_on": "2026-01-01"})
    bank(finance, insurer, account_number="0011223344")
    one, two = (prepared_alone(finance, each) for each in (party, insurer))
    (payment,) = finance.read(payment_reading.list_of_batch, two)
    amount = money.to_wire(payment.net_minor)
    by_narration, by_account, odd = read_answer(
        finance,
        one,
        f"B,,{amount},PB-2/1 2026-08,Paid,NIP/1,,",
        f"B,0011223344,{amount},,Paid,NIP/2,,",
        "B,0011223344,1.00,,Paid,NIP/3,,",
    )
    for line in (by_narration, by_account):
        assert line.other is not None
        assert (line.other.id, line.note) == (two, "belongs to payout PB-0002")
        assert not line.is_unclear
        assert not line.is_to_note
    assert (odd.other, odd.is_unclear) == (None, True)
    finance.do(settlement.confirm, payment.id, {"bank_reference": "NIP/1", "value_on": "2026-11-20"}, by="femi")
    (answered,) = read_answer(finance, one, f"B,0011223344,{amount},,Paid,NIP/2,,")
    assert answered.other is None, "what the bank has answered waits for nothing"


def prepared_alone(finance: Finance, party: Party) -> UUID:
    """A payout of one party that was approved."""
    sent(finance, party, AUGUST)
    batch: UUID = finance.do(payouts.prepare, {party: None}, by="funmi")
    finance.do(payouts.approve, batch, by="femi")
    return batch


@pytest.mark.both_databases
def test_a_file_of_the_bank_confirms_and_returns_its_lines_and_who_prepared_them_notes_none(
    finance: Finance, party: Party
) -> None:
    insurer = next(each for each, _ in finance.read(parties.list_parties) if each.account == "provider")
    finance.agree(insurer, {"number": "AG/2", "starts_on": "2026-01-01"})
    bank(finance, insurer, account_number="0011223344")
    for each in (party, insurer):
        sent(finance, each, AUGUST)
    batch = finance.do(payouts.prepare, {party: None, insurer: None}, by="funmi")
    finance.do(payouts.approve, batch, by="femi")
    first, second = finance.read(payment_reading.list_of_batch, batch)
    one, two = (money.to_wire(row.net_minor) for row in (first, second))
    good = f"A,,{one},PB-0001/1 2026-08,Successful,NIP/77,20/11/2026,"
    # By account and amount where the bank left our narration out; a debit has its sign.
    hint = (second.bank or "")[-4:]
    back = f"B,000000{hint},-{two},,Failed,NIP/78,2026-11-20,Account closed"
    lines = read_answer(
        finance, batch, good, back, "Total,,1.00,Sum of the day,Paid,,,", "C,,5.00,PB-0002/1,Paid,N/9,,"
    )
    assert [line.payment.id if line.payment else None for line in lines] == [first.id, second.id, None, None]
    assert [line.is_unclear for line in lines] == [False, False, True, True]
    assert [line.note for line in lines[2:]] == [
        "names no payment of this payout",
        "names payout PB-0002, which does not exist",
    ]
    for line, reason in zip(reversed(lines[:2]), ("of the 1 without an answer is noted as before", None), strict=True):
        with pytest.raises(NotAllowed, match="You prepared this payment"):
            finance.do(bank_answers.note, line, file_name="answer.csv", by="funmi")
        finance.do(bank_answers.note, line, file_name="answer.csv", by="femi")
        assert finance.read(payouts.find_superseded, batch).endswith(reason or "is paid by another payout")
    with pytest.raises(StateForbids):
        finance.do(bank_answers.note, lines[2], file_name="answer.csv", by="femi")
    noted = finance.read(payment_reading.list_of_batch, batch)
    assert [row.state for row in noted] == ["Confirmed", "Returned"]
    assert (noted[0].bank_reference, noted[0].value_on) == ("NIP/77", date(2026, 11, 20))
    assert (noted[1].note, noted[1].bank_reference) == ("Account closed", "NIP/78")
    again = read_answer(finance, batch, good, back)
    assert [(line.note, line.is_unclear) for line in again] == [("is noted already", False)] * 2
    assert due(finance, party) == (0 if first.party == party else first.net_minor + second.net_minor - first.net_minor)
    assert finance.money_faults() == []


@every_case(
    "row, why",
    [
        ("A,,1.00,PB-0001/1,Paid,N/1,,", "and the payment is"),
        ("A,,{net},PB-0001/1,Paid,,,", "no reference of the bank"),
        ("A,,{net},PB-0001/1,Perhaps,N/1,,", "neither paid nor returned"),
        ("A,,many,PB-0001/1,Paid,N/1,,", "no amount"),
        ("A,,{net},PB-0001/1,Paid,N/1,yesterday,", "no date"),
        ("A,,{net},PB-0001/1,Paid,N/1,2026-11-21,", "has a date after today"),
        ("A,,{net},PB-0001/1,Returned,N/1,2026-11-21,Closed", "has a date after today"),
        ("A,,{net},PB-0001/1,Paid,N/1,2026-11-19,", "before the day of the approval"),
        ("A,,{net},PB-0001/1,Paid,N*1,,", "asterisk"),
        ("A,,{net},PB-0001/7,Paid,N/1,,", "has 1"),
        ("A,,{net},PB-0001/1,Pending,N/1,,", "not decided"),
        ("A,0000000001,{net},,Paid,N/1,,", "names no payment"),
    ],
)
def test_a_row_of_the_bank_that_says_nothing_sure_is_shown_with_why(
    finance: Finance, party: Party, row: str, why: str
) -> None:
    if not finance.read(payment_reading.list_batches):
        sent(finance, party, AUGUST)
        approved(finance, party)
    batch = finance.read(payment_reading.list_batches)[0]
    net = money.to_wire(batch.net_minor)
    padding = f"Z,,{net},PB-0009/1 2026-08,Paid,N/9,2026-11-20,"
    line = read_answer(finance, batch.id, row.format(net=net), padding)[0]
    assert why in f"{line.refusal} {line.note}"
    assert not line.is_to_note
    twice = read_answer(finance, batch.id, *(f"A,,{net},PB-0001/1,Paid,N/{number},," for number in (1, 2)))
    assert {line.refusal for line in twice} == {"names the payment of another row"}
