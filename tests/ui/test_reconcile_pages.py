"""Reconciling on the screens: a file is mapped, compared, and its differences are explained and written off."""

from decimal import Decimal
from uuid import UUID

import pytest
from streamlit.testing.v1 import AppTest

from core import money
from core.services.finance import parties
from core.services.finance.reconciling import differences, reconciliations, table_files
from core.services.finance.reconciling.reconciliations import DifferenceRow
from core.states.finance import DifferenceState
from core.store.access import Store
from core.ui.kit import words
from pages.finance._shared import NOT_IN_FILE
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import Finance
from tests.ui.conftest import Screen, confirm, follow, labels, lists, press, row_links, sent, texts
from tests.ui.finance_pages import exported, open_page

pytestmark = pytest.mark.frozen_at(NOW)

COLUMNS = {"policy_number": "Policy", "amount": "Net amount"}
FORM, ONE, DIFFERENCE = "finance/reconcile.py", "finance/reconciliation.py", "finance/reconciliation.py#difference"


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


def colours_of(at: AppTest) -> dict[str, str]:
    """The colours of the cells of a list, by their texts."""
    table = next(payload for payload in sent(at) if "rows" in payload)
    return {cell[0]: cell[1] for row in table["rows"] for cell in row["cells"] if isinstance(cell, list)}


def test_a_file_is_compared_and_a_difference_written_off_by_two_people(finance: Finance, screen: Screen) -> None:
    sold = next(row for row in finance.rows(from_="2026-09-01", to="2026-09-30") if row.policy_number)
    amount = money.to_wire(sold.provider_share_minor + 500)
    content = f"Policy,Net amount\n{sold.policy_number},{amount}\nTHEIRS/1,10.00".encode()
    at = open_page(screen, finance, FORM, month="2026-09")
    insurer = next(key for key in at.selectbox(key="reconcile.party").options if key == sold.provider)
    at.selectbox(key="reconcile.party").select(insurer).run()
    at.file_uploader(key="reconcile.file").upload("september.csv", content).run()
    assert "chosen by their headings and content" in texts(at)
    understood = at.table[0].value
    assert "What is wrong" not in understood
    assert list(understood["Policy number"]) == [words.plain(sold.policy_number), "THEIRS/1"]
    assert list(understood["Amount"]) == [words.naira(sold.provider_share_minor + 500), "₦10.00"]
    assert not at.warning
    at.button(key="reconcile.run").click().run()
    assert not at.exception
    follow(at)
    assert "its differences are below" in texts(at)
    numbers = list(lists(at)[0]["Policy or reference"])
    assert colours_of(at)[DifferenceState.OPEN] not in ("green", "gray"), "what is open is not done"
    assert "THEIRS/1" in numbers
    follow(at, row_links(at)[numbers.index("THEIRS/1")])
    confirm(press(at, "Explain"), note="A policy of another agent")
    confirm(press(at, "Ask to write it off"))
    assert "Write it off" not in labels(at)
    (made,) = finance.read(reconciliations.list_reconciliations)
    rows = finance.read(reconciliations.list_differences, made.id)
    theirs = next(row for row in rows if row.policy_number == "THEIRS/1")
    confirm(press(open_page(screen, finance, DIFFERENCE, by="femi", id=str(theirs.id)), "Write it off"))
    assert finance.read(reconciliations.get_difference, theirs.id).state == "Written off"
    _equals_its_file(open_page(screen, finance, FORM), sold.provider, made.verdict)


def _equals_its_file(at: AppTest, party: str, verdict: str) -> None:
    (line,), (shown,) = exported(at, "reconciliations"), lists(at)[0].to_dict("records")
    assert [line[name] for name in ("Party", "File", "Differences")] == [party, "september.csv", verdict]
    assert words.naira(money.to_minor(Decimal(line["Ours less theirs (NGN)"]))) == shown["Ours less theirs"]


def test_rows_of_another_month_than_the_chosen_one_are_said_before_they_are_compared(
    finance: Finance, screen: Screen
) -> None:
    at = open_page(screen, finance, FORM, month="2026-10")
    content = b"Policy,Net amount,Date\nA/1,10.00,02/09/2026\nA/2,11.00,03/09/2026"
    at.file_uploader(key="reconcile.file").upload("september.csv", content).run()
    assert "These rows are of September 2026, and October 2026 is chosen above." in texts(at)
    at.file_uploader(key="reconcile.file").upload("both.csv", content + b"\nA/3,1.00,01/10/2026").run()
    assert "is chosen above" not in texts(at)


def test_a_statement_of_our_bank_with_money_in_and_out_is_understood(finance: Finance, screen: Screen) -> None:
    content = "Date,Reference,Debit,Credit\n2026-09-03,NIP/1,,1250.50\n2026-09-04,NIP/2,1000.00,\n2026-09-05,NIP/3,,"
    at = open_page(screen, finance, FORM, month="2026-09")
    at.selectbox(key="reconcile.party").select("Our bank").run()
    at.file_uploader(key="reconcile.file").upload("statement.csv", content.encode()).run()
    chosen = {name: at.selectbox(key=f"reconcile.{name}").value for name in ("amount", "money_in", "money_out")}
    assert chosen == {"amount": NOT_IN_FILE, "money_in": "Credit", "money_out": "Debit"}
    understood = at.table[0].value
    assert list(understood["Amount"])[:2] == [words.naira(125_050), words.naira(-100_000)]
    assert "has neither money in nor money out" in list(understood["What is wrong"])[2]
    at.button(key="reconcile.run").click().run()
    assert "Row 4 has neither money in nor money out" in texts(at)


def test_many_differences_are_explained_by_their_results_and_assigned_with_the_sum_that_one_adds_up(
    finance: Finance, screen: Screen
) -> None:
    sold = next(row for row in finance.rows(from_="2026-09-01", to="2026-09-30") if row.policy_number)
    typed = {"kind": "insurer", "month": "2026-09-01", "file_name": "s.csv", "columns": COLUMNS}
    content = b"Policy,Net amount\nTHEIRS/1,10.00\nTHEIRS/2,32.50\n,7.00"
    provider_id = next(party.id for party, name in finance.read(parties.list_parties) if name == sold.provider)
    made = finance.do(reconciliations.run, typed, content, by="funmi", provider_id=provider_id)
    rows = found(finance, made)
    at = open_page(screen, finance, ONE, id=str(made), result="only theirs")
    assert f"**2** differences · {words.naira(-4250)}" in texts(at)
    at = press(at, "Explain 2")
    assert f"Only theirs: 2, {words.naira(-4250)}" in texts(at)
    confirm(at, note="Policies of another agent")
    theirs = {row.state: row.cause for row in found(finance, made) if row.result == "only theirs"}
    assert theirs == {"Explained": "Unknown policy"}
    left = [row for row in rows if row.result != "only theirs"]
    at = press(open_page(screen, finance, ONE, id=str(made)), f"Explain {len(left)}")
    assert f"Together **{words.naira(sum(row.difference_minor for row in left))}**" in texts(at)
    confirm(at, note="Asked by e-mail")
    assert all(row.cause == differences.PROPOSED[row.result] for row in found(finance, made))
    at = confirm(press(open_page(screen, finance, ONE, id=str(made)), f"Assign {len(rows)}"))
    assert "Must be chosen" in texts(at)
    at.selectbox(key="decision.field.owner").select("Femi")
    confirm(at)
    assert {row.owner for row in found(finance, made)} == {"Femi"}
    confirm(press(open_page(screen, finance, ONE, id=str(made)), f"Ask to write off {len(rows)}"))
    at = open_page(screen, finance, ONE, id=str(made))
    assert not any(label.startswith("Write off") for label in labels(at))
    few = [row for row in rows if abs(row.difference_minor) <= differences.WRITE_OFF_LIMIT]
    confirm(press(open_page(screen, finance, ONE, by="femi", id=str(made)), f"Write off {len(rows)}"))
    assert sum(row.state == "Written off" for row in found(finance, made)) == len(few)


def found(finance: Finance, made: UUID) -> list[DifferenceRow]:
    return list(finance.read(reconciliations.list_differences, made))


def test_a_wrong_row_is_shown_with_what_is_wrong_beside_what_was_understood(finance: Finance, screen: Screen) -> None:
    at = open_page(screen, finance, FORM, month="2026-09")
    uploader = at.file_uploader(key="reconcile.file")
    assert uploader.proto.max_upload_size_mb * (1 << 20) >= table_files.MAX_BYTES
    at.selectbox(key="reconcile.party").select_index(0).run()
    at.file_uploader(key="reconcile.file").upload("september.csv", b"Policy,Net amount\nA/1,1\nA/1,1").run()
    shown = at.table[0].value
    assert list(shown["What is wrong"]) == ["", ":red[:material/error: is the same as row 2]"]
    assert list(shown["Policy number"]) == ["A/1", "A/1"], "a wrong row as the file has it"
    at.file_uploader(key="reconcile.file").upload("none.csv", b"").run()
    assert at.error[0].value == "The file is empty.  \nCorrect the file, and upload it again."
    at.file_uploader(key="reconcile.file").upload(
        "october.csv", b"Policy,Txn,Net amount\nA/1,Renewal,1,5o\nA/2,Purchase,2"
    ).run()
    assert at.error[0].value.startswith("Row 2 has more cells than the heading.")
    at.file_uploader(key="reconcile.file").upload(
        "november.csv", b"Policy,Txn,Net amount\nA/1,Renewal,5o\nA/2,Purchase,2"
    ).run()
    assert at.selectbox(key="reconcile.transaction").value == "Txn", "its content says it, whatever its heading"
    shown = at.table[0].value
    assert [next(iter(shown[name])) for name in ("Policy number", "Transaction", "Amount")] == ["A/1", "Renewal", "5o"]
    at.text_input(key="reconcile.tolerance").set_value("one naira").run()
    at.button(key="reconcile.run").click().run()
    assert ":material/error: Must be a number" in texts(at)
    assert at.text_input(key="reconcile.tolerance").value == "one naira", "nothing that was typed is lost"


def test_a_file_with_other_columns_than_the_last_is_guessed_anew_and_shown_as_understood(
    finance: Finance, screen: Screen
) -> None:
    sold = next(row for row in finance.rows(from_="2026-09-01", to="2026-09-30") if row.policy_number)
    at = open_page(screen, finance, FORM, month="2026-09")
    at.selectbox(key="reconcile.party").select(sold.provider).run()
    first = f"Policy,Net amount\n{sold.policy_number},1.00".encode()
    at.file_uploader(key="reconcile.file").upload("first.csv", first).run()
    at.button(key="reconcile.run").click().run()
    at = open_page(screen, finance, FORM, month="2026-09", party=sold.provider)
    at.file_uploader(key="reconcile.file").upload("again.csv", first + b"\nX/1,2.00").run()
    assert "were used last for this party" in texts(at)
    other = f"Net amount,Due,Number\nyes,7.00,{sold.policy_number}\nno,12.00,\nno,nothing,X/2".encode()
    at.file_uploader(key="reconcile.file").upload("other.csv", other).run()
    assert "are not those of this file" in texts(at)
    at.selectbox(key="reconcile.policy_number").select("Number").run()
    at.selectbox(key="reconcile.amount").select("Due").run()
    understood = at.table[0].value
    assert list(understood["Amount"]) == ["₦7.00", "₦12.00", "nothing"]
    assert list(understood["Policy number"])[1] == "None: not checked"
    assert "has no amount" in list(understood["What is wrong"])[2]


def test_what_the_amount_is_follows_the_column_that_is_chosen_and_stands_with_the_result(
    finance: Finance, screen: Screen
) -> None:
    sold = next(row for row in finance.rows(from_="2026-09-01", to="2026-09-30") if row.policy_number)
    at = open_page(screen, finance, FORM, month="2026-09", party=sold.provider)
    gross = money.to_wire(sold.total_minor)
    content = f"Policy,Gross premium,Net,Due\n{sold.policy_number},{gross},1.00,2.00".encode()
    at.file_uploader(key="reconcile.file").upload("september.csv", content).run()

    def measure(column: str) -> str:
        at.selectbox(key="reconcile.amount").select(column).run()
        return str(at.selectbox(key=f"reconcile.amount_is.{column}").value)

    assert [measure(column) for column in ("Net", "Gross premium", "Due")] == ["net", "gross", "net"]
    measure("Gross premium")
    at.button(key="reconcile.run").click().run()
    follow(at)
    assert [fact.value for fact in at.text].count("Gross premium") == 2, "the column, and what it holds"
    (made,) = finance.read(reconciliations.list_reconciliations)
    assert (made.amount_is, made.columns["amount"]) == ("gross", "Gross premium")
    assert made.matched_rows == made.theirs_rows == 1


def test_wrong_addresses_are_explained_and_other_roles_do_not_reach_it(finance: Finance, screen: Screen) -> None:
    for path in (ONE, DIFFERENCE):
        for given in ("1", "0" * 8 + "-0000-7000-8000-" + "0" * 12):
            assert open_page(screen, finance, path, id=given).error[0].value
    for role in ("operations", "claims", "supervisor"):
        for path in (FORM, ONE, DIFFERENCE):
            with pytest.raises(ValueError, match="finance"):
                screen(role, path=path)
