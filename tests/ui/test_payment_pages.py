"""Payments on the screens: a payout that two people make, the bank's answer, and what a party pays in."""

from datetime import date, timedelta
from uuid import UUID

import pytest
from streamlit.testing.v1 import AppTest

from core import clock, ids, money
from core.desk import closing
from core.services.finance import bank_accounts
from core.services.finance.parties import Party
from core.services.finance.payments import payouts, settlement
from core.services.finance.payments import reading as payment_reading
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.lists.paging import Paging
from core.store.access import Scope, Store
from core.store.schema.tables import TaxRate
from core.ui.kit import words
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import Finance
from tests.ui.conftest import Screen, confirm, follow, labels, lists, press, row_links, texts
from tests.ui.finance_pages import open_page

pytestmark = pytest.mark.frozen_at(NOW)

LIST, BATCH = "finance/payments.py", "finance/payout.py"
ONE, STATEMENT = "finance/payments.py#payment", "finance/statements.py#statement"
ACCOUNT = {"bank_name": "First Bank", "account_name": "Swift Ltd", "account_number": "0123456789"}
TERMS = {"number": "AG/1", "starts_on": "2026-01-01", "tin": "12345678-0001", "charges_vat": True}


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


def sent(finance: Finance, party: Party, **terms: object) -> UUID:
    """A statement that was sent, of a party with terms and an account."""
    taken = TERMS if party.account == "distributor" else {"starts_on": "2026-01-01", "number": "AG/2"}
    finance.agree(party, {**taken, **terms})
    with clock.freeze(NOW - timedelta(days=90)):
        account = finance.do(bank_accounts.propose, party, ACCOUNT, by="root")
        finance.do(bank_accounts.confirm, account, by="second")
    made = finance.do(statements.prepare, party, date(2026, 8, 1), by="funmi")
    for state in ("Approved", "Sent"):
        finance.do(statements.move, made, state, by="femi")
    return UUID(str(made))


def links(at: AppTest) -> list[str]:
    return [link.proto.url for link in at.get("link_button")]


def test_a_payout_goes_from_one_person_to_another_and_to_the_bank(
    finance: Finance, screen: Screen, partner: Partner
) -> None:
    made = sent(finance, Party("distributor", partner.id))
    owed = finance.read(statement_reading.get_statement, made).paper.closing_minor
    at = open_page(screen, finance, LIST, by="funmi")
    assert list(lists(at)[0]["Due"]) == [words.naira(owed)]
    assert _waits(finance) == (f"1 to pay, {words.naira(owed)} stated",)
    confirm(press(at, f"Prepare a payout of {words.naira(owed)}"))
    batch = finance.read(payment_reading.list_batches)[0]
    assert _waits(finance) == ("1 in a payout to approve",)
    follow(at)
    assert "You prepared this payout: somebody else of finance approves it." in texts(at), "what it became is opened"
    at = open_page(screen, finance, LIST, by="femi")
    assert "Under way in PB-0001" in list(lists(at)[0]["Payout"])
    waiting = [link.proto for link in at.get("page_link") if "waits" in link.proto.label]
    assert [link.label for link in waiting] == [
        f"PB-0001, {words.naira(owed)}, prepared by Funmi, waits to be approved"
    ]
    at = open_page(screen, finance, BATCH, by="funmi", id=str(batch.id))
    assert "Approve" not in labels(at), "who prepared it does not approve it"
    assert links(at) == []
    at = confirm(press(open_page(screen, finance, BATCH, by="femi", id=str(batch.id)), "Approve"))
    assert links(at) == [f"/payouts/{batch.id}.csv"]
    assert [link.proto.type for link in at.get("link_button")] == ["primary"], "what comes next"
    assert _waits(finance) == ("1 waits for the bank",)
    follow(at, row_links(at)[0])
    confirm(press(at, "The bank has paid"), bank_reference="TRF/1")
    assert "its statements are settled" in texts(at)
    assert finance.read(statement_reading.get_statement, made).paper.state == "Paid"
    confirm(press(at, "Returned"), reason="The account is closed")
    assert finance.read(statement_reading.get_statement, made).paper.state == "Sent"
    _stands_in_the_lists_and_schedules(finance, screen, words.naira(owed))


def _waits(finance: Finance) -> tuple[str, ...]:
    """Return, in words, for what the payouts of the month wait."""
    stages = finance.read(closing.list_stages, date(2026, 8, 1))
    return next(stage.waits for stage in stages if stage.key == "payments")


def _stands_in_the_lists_and_schedules(finance: Finance, screen: Screen, owed: str) -> None:
    at = open_page(screen, finance, LIST, by="femi", view="payments", state="Returned")
    assert list(lists(at)[0]["State"]) == ["Returned"]
    assert f"**1** payment · {owed}" in texts(at)
    assert f"**1** payment · paid out less received {words.naira(0)}" in texts(
        open_page(screen, finance, LIST, by="femi", view="payments")
    )
    for find in ("TRF/1", "pb 1", "PB-0001/1 2026-08", owed, "cs-1", "cs-2", "nobody"):
        at = open_page(screen, finance, LIST, by="femi", view="payments", find=find)
        assert len(lists(at)) == (find not in ("cs-2", "nobody")), find
    short = open_page(screen, finance, LIST, by="femi", view="payments", find="x")
    assert "Must have 2 to 100 characters" in texts(short)
    assert short.text_input(key="find").value == "x", "what was typed is corrected where it stands"
    press(at, "Show all payments")
    assert list(lists(at)[0]["Bank reference"]) == ["TRF/1"], "the view stays"
    at = open_page(screen, finance, LIST, by="femi", view="payouts")
    assert list(lists(at)[0]["State"]) == ["Returned"]
    assert f"**1** payout · returned {owed}" in texts(at)
    at = open_page(screen, finance, LIST, by="femi", view="taxes", month="2026-08")
    assert "/taxes/vat/2026-08.xlsx" in links(at)
    withheld = lists(at)[0]
    assert list(withheld["Rate"]) == ["5.00 %"]


def test_the_banks_answer_is_a_file_that_somebody_else_than_the_preparer_notes(
    finance: Finance, screen: Screen, partner: Partner
) -> None:
    made = sent(finance, Party("distributor", partner.id))
    batch = finance.do(payouts.prepare, {Party("distributor", partner.id): None}, by="funmi")
    assert "somebody else of finance approves it" in texts(open_page(screen, finance, BATCH, by="funmi", id=str(batch)))
    finance.do(payouts.approve, batch, by="femi")
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    net = words.naira(row.net_minor)
    at = open_page(screen, finance, BATCH, by="funmi", id=str(batch))
    assert "somebody else of finance notes what the bank says" in texts(at)
    assert not at.get("file_uploader")
    at = open_page(screen, finance, ONE, by="funmi", id=str(row.id))
    assert "You prepared this payment: somebody else of finance notes what the bank says of it." in texts(at)
    assert not {"The bank has paid", "Returned"} & set(labels(at))
    content = f'Amount,Narration,Status,Bank reference\n"{net}",PB-0001/1 2026-08,Paid,NIP/1\n1.00,Fees,Paid,NIP/2'
    at = open_page(screen, finance, BATCH, by="femi", id=str(batch))
    at.file_uploader(key="bank answer.file").upload("wrong.txt.csv", b"Amount,Whom\n1.00,Ada").run()
    assert "Our narration or the account number must be mapped to a column" in texts(at)
    assert "Choose the columns above" in texts(at)
    wrong = b"Amount,Narration,Status\n1.00,PB-0001/1 2026-08,Perhaps\n2.00,PB-0001/1 2026-08,Paid"
    at.file_uploader(key="bank answer.file").upload("perhaps.csv", wrong).run()
    shown = at.table[0].value
    assert [next(iter(shown[name])) for name in ("Amount", "Answer")] == ["1\\.00", "Perhaps"], "as the file has it"
    assert next(iter(shown["Party"])) == words.plain("PB-0001/1 2026-08")
    at.file_uploader(key="bank answer.file").upload("answer.csv", content.encode()).run()
    assert list(at.table[0].value["Result"]) == [":green[can be noted]", "names no payment of this payout"]
    assert "1 of 2 rows cannot be noted: ask the bank." in texts(at), "what names no payment is no answer"
    assert "belongs to payout" not in texts(at)
    confirm(press(at, f"Note 1 paid, {net}"))
    assert "1 answer of the bank is noted" in texts(at)
    assert finance.read(statement_reading.get_statement, made).paper.state == "Paid"


def test_a_file_without_a_chosen_reference_is_a_matter_of_its_columns_and_known_headings_are_chosen(
    finance: Finance, screen: Screen, partner: Partner
) -> None:
    sent(finance, Party("distributor", partner.id))
    batch = finance.do(payouts.prepare, {Party("distributor", partner.id): None}, by="funmi")
    finance.do(payouts.approve, batch, by="femi")
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    line = f"{money.to_wire(row.net_minor)},PB-0001/1 2026-08,FT2611,Failed at the bank"
    at = open_page(screen, finance, BATCH, by="femi", id=str(batch))
    at.file_uploader(key="bank answer.file").upload("a.csv", f"Amount,Narration,Trace,Told\n{line}".encode()).run()
    assert "1 of 1 row cannot be noted: choose the column with the bank's reference." in texts(at)
    content = f"Amount,Narration,Session ID,Remark\n{line}"
    at.file_uploader(key="bank answer.file").upload("b.csv", content.encode()).run()
    chosen = {each.label: each.value for each in at.selectbox}
    assert (chosen["Bank reference"], chosen["Reason of a return"]) == ("Session ID", "Remark")
    assert list(at.table[0].value["Result"]) == [":green[can be noted]"]


def test_a_payout_of_which_a_line_came_back_is_part_paid_and_counts_what_the_bank_paid(
    finance: Finance, screen: Screen, partner: Partner
) -> None:
    dues = [party for party, _ in finance.read(statements.list_due, date(2026, 8, 1))]
    both = [Party("distributor", partner.id), next(party for party in dues if party.account == "provider")]
    for party in both:
        sent(finance, party)
    batch = finance.do(payouts.prepare, dict.fromkeys(both), by="funmi")
    finance.do(payouts.approve, batch, by="femi")
    paid, back = finance.read(payment_reading.list_of_batch, batch)
    today = str(clock.today())
    finance.do(settlement.return_payment, back.id, {"returned_on": today, "reason": "The account is closed"}, by="femi")
    assert finance.read(payment_reading.get_batch, batch).progress == "Approved"
    finance.do(settlement.confirm, paid.id, {"bank_reference": "TRF/1", "value_on": today}, by="femi")
    assert finance.read(payment_reading.get_batch, batch).progress == "Part paid"
    ours, theirs = words.naira(paid.net_minor), words.naira(back.net_minor)
    at = open_page(screen, finance, LIST, by="femi", view="payouts")
    assert f"**1** payout · paid by the bank {ours} · returned {theirs}" in texts(at)
    assert list(lists(at)[0]["Paid"]) == [ours]
    at = open_page(screen, finance, BATCH, by="femi", id=str(batch))
    assert "Part paid" in texts(at)
    assert theirs in [each.value for each in at.text]


def test_who_noted_a_return_sees_why_others_prepare_and_approve_its_payment(
    finance: Finance, screen: Screen, partner: Partner
) -> None:
    party = Party("distributor", partner.id)
    sent(finance, party)
    batch = finance.do(payouts.prepare, {party: None}, by="funmi")
    finance.do(payouts.approve, batch, by="femi")
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    back = {"returned_on": str(clock.today()), "reason": "The account is closed"}
    finance.do(settlement.return_payment, row.id, back, by="femi")
    own = "You noted that a payment of this came back"
    at = open_page(screen, finance, LIST, by="femi")
    assert next(iter(lists(at)[0]["Payout"])).startswith(own)
    assert not any(label.startswith("Prepare a payout") for label in labels(at))
    at = open_page(screen, finance, LIST, by="funmi")
    assert any(label.startswith("Prepare a payout") for label in labels(at))
    again = finance.do(payouts.prepare, {party: None}, by="funmi")
    at = open_page(screen, finance, BATCH, by="femi", id=str(again))
    assert next(button.disabled for button in at.button if button.label == "Approve")
    assert own in texts(at)
    # It is the account that she proposed herself.
    at = open_page(screen, finance, BATCH, by="root", id=str(again))
    assert next(button.disabled for button in at.button if button.label == "Approve")
    assert "You proposed the account that is paid to" in texts(at)


def test_a_payment_received_is_noted_on_the_statement_and_confirmed_by_another(
    finance: Finance, screen: Screen, partner: Partner
) -> None:
    made = sent(finance, Party("distributor", partner.id), collects="distributor")
    at = press(open_page(screen, finance, STATEMENT, by="funmi", id=str(made)), "Note a payment received")
    confirm(at, bank_reference="")
    assert "Fill this in" in texts(at)
    confirm(at, bank_reference="IN/7")
    (row,) = finance.read(payment_reading.list_payments, payment_reading.UNFILTERED, Paging(1, 5))
    assert "Confirm" not in labels(open_page(screen, finance, ONE, by="funmi", id=str(row.id)))
    confirm(press(open_page(screen, finance, ONE, by="femi", id=str(row.id)), "Confirm"))
    assert finance.read(statement_reading.get_statement, made).paper.state == "Paid"
    assert not at.get("file_uploader"), "every payment is answered"


def test_what_others_prepared_is_confirmed_and_approved_together_with_the_sum_that_one_adds_up(
    finance: Finance, screen: Screen, partner: Partner
) -> None:
    parties_due = [party for party, _ in finance.read(statements.list_due, date(2026, 8, 1))]
    insurer = next(party for party in parties_due if party.account == "provider")
    for party in (Party("distributor", partner.id), insurer):
        sent(finance, party)
        finance.do(payouts.prepare, {party: None}, by="funmi")
    rows = finance.read(payment_reading.list_batches)
    assert len(rows) == 2
    total = words.naira(sum(row.net_minor for row in rows))
    assert "Approve 2" not in labels(open_page(screen, finance, LIST, by="funmi", view="payouts"))
    at = open_page(screen, finance, LIST, by="femi", view="payouts")
    assert f"**2** payouts · not answered yet {total}" in texts(at)
    assert list(lists(at)[0]["Amount"]) == [words.naira(row.net_minor) for row in rows]
    at = press(at, "Approve 2")
    assert f"Together **{total}**" in texts(at)
    confirm(at)
    assert {row.state for row in finance.read(payment_reading.list_batches)} == {"Approved"}
    later, first = rows
    at = open_page(screen, finance, BATCH, by="femi", id=str(first.id))
    content = f"Amount,Narration\n{money.to_wire(later.net_minor)},{later.number}/1 2026-08"
    at.file_uploader(key="bank answer.file").upload("answer.csv", content.encode()).run()
    assert f"1 row belongs to payout {later.number}: note the file there as well." in texts(at)
    assert "ask the bank" not in texts(at)
    assert f"Open {later.number}" in [link.proto.label for link in at.get("page_link")]


def test_a_rate_that_nobody_confirmed_is_named_and_proposed_as_it_stands(finance: Finance, screen: Screen) -> None:
    with finance.store.writing(Scope.system()) as session:
        figures = {"effective_on": date(2026, 1, 1), "resident_bp": 800, "non_resident_bp": 800, "source": "None"}
        session.insert(TaxRate(id=ids.new(), kind="vat", state="confirmed", **figures))
    at = open_page(screen, finance, LIST, by="wale", view="taxes")
    assert "VAT from 1 Jan 2026, 8.00 %, was put into the store past the desk: two of finance adopt it." in texts(at)
    confirm(press(at, "Propose it as it stands"))
    assert "The rate is proposed" in texts(at)
    assert "Propose it as it stands" not in labels(at)
    confirm(press(open_page(screen, finance, LIST, by="femi", view="taxes"), "Confirm"))
    assert "past the desk" not in texts(open_page(screen, finance, LIST, by="femi", view="taxes"))


def test_a_rate_of_tax_is_proposed_by_one_and_confirmed_by_another(finance: Finance, screen: Screen) -> None:
    at = press(open_page(screen, finance, LIST, by="wale", view="taxes"), "New rate of withholding tax")
    begun = {name: at.text_input(key=f"decision.field.{name}") for name in ("resident", "non_resident", "small_limit")}
    assert [field.value for field in begun.values()] == ["5.00", "10.00", "2000000.00"]
    at.date_input(key="decision.field.effective_on").set_value(date(2026, 12, 15))
    begun["resident"].set_value("4")
    at.text_input(key="decision.field.source").set_value("Withholding Regulations 2026, schedule 1")
    confirm(at)
    assert "Must be the first day of a month: a statement is of a whole one" in texts(at)
    assert at.text_input(key="decision.field.resident").value == "4"
    at.date_input(key="decision.field.effective_on").set_value(date(2026, 12, 1))
    confirm(at)
    asked = (
        "Withholding tax from 1 Dec 2026: 4.00 %, non-residents 10.00 %, twice that without a tax number, a small"
        " company free up to ₦2,000,000.00 a month instead of 5.00 %, non-residents 10.00 %, twice that"
    )
    at = open_page(screen, finance, LIST, by="wale", view="taxes")
    assert asked in texts(at)
    assert not [label for label in labels(at) if label in {"Confirm", "Refuse"}], "who proposed it does not confirm it"
    at = open_page(screen, finance, LIST, by="femi")
    waiting = "A new rate of withholding tax waits for somebody else of finance"
    assert waiting in [link.proto.label for link in at.get("page_link")]
    at = press(open_page(screen, finance, LIST, by="femi", view="taxes"), "Confirm")
    assert asked in texts(at)
    confirm(at)
    at = open_page(screen, finance, LIST, by="femi", view="taxes")
    (table,) = at.table
    assert table.value["From"].tolist() == ["1 Dec 2026", "1 Jan 2025", "1 Feb 2020"]
    assert [state.split("[")[-1].rstrip("]") for state in table.value["State"]] == ["Planned", "Active", "Active"]
    assert table.value["By"].tolist() == ["Wale, Femi", "Came with the release", "Came with the release"]
    assert "waits for somebody else" not in texts(open_page(screen, finance, LIST, by="femi"))


def test_other_roles_do_not_reach_payments_and_a_wrong_one_is_explained(finance: Finance, screen: Screen) -> None:
    for role in ("operations", "claims", "supervisor"):
        for path in (LIST, BATCH, ONE):
            with pytest.raises(ValueError, match="pay"):
                screen(role, path=path)
    for path in (BATCH, ONE):
        for given in ("1", "0" * 8 + "-0000-7000-8000-" + "0" * 12):
            assert open_page(screen, finance, path, by="funmi", id=given).error[0].value
