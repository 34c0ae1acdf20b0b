"""The screens of loan books: what a book holds, the one button and who may press it, and what became of each row."""

from dataclasses import replace

import pytest

from core import clock
from core.desk import finder
from core.dispatch import loan_books as worker
from core.services.lists import exports
from core.services.lists.exports import Tally
from core.services.sales.purchases import PURCHASES, PurchaseFilter
from core.services.selling.loan_books import books
from core.states.loan_books import COLOURS, LoanBookState
from core.store.access import Scope, Store
from core.store.schema.tables import Policy
from tests.conftest import Partner, make_partner
from tests.papers import pdf
from tests.services.loan_books import Lender, as_csv, loan, person
from tests.ui.conftest import Screen, lists, row_links, sent, texts

BUTTON = "**Cover 2 loans for ₦1,150.00; 1 borrower stays without cover**"


@pytest.fixture
def lender(store: Store, partner: Partner) -> Lender:
    return Lender(store, partner, is_live=True)


def test_a_store_without_a_distributor_says_so_once(screen: Screen) -> None:
    at = screen("operations", path="buy/loan_books.py")
    assert [each.value for each in at.info] == [
        "There is no distributor to sell for yet. An administrator adds one under Distributors and insurers."
    ]


def test_somebody_else_covers_the_loans_with_one_button(screen: Screen, lender: Lender) -> None:
    started = {"loan_start_date": str(clock.today())}
    content = as_csv([loan(1, **started), loan(2, **started), loan(3, **started, loan_amount="12,5")])
    maker, head = (person(lender.store, role, role) for role in ("operations", "supervisor"))
    book = lender.read(content, by=maker)
    own = screen(signed_in=maker, path="buy/loan_book.py", id=str(book.id))
    assert [(each.label, each.disabled) for each in own.button if each.label == BUTTON] == [(BUTTON, True)]
    assert "A value cannot be read" in texts(own)
    other = screen(signed_in=head, path="buy/loan_book.py", id=str(book.id))
    next(each for each in other.button if each.label == BUTTON).click().run()
    assert not other.exception
    worker.work(lender.store)
    assert (lender.get(book.id).state, lender.get(book.id).done_rows) == ("done", 2)
    shown = screen(signed_in=head, path="buy/loan_book.py", id=str(book.id))
    figures = {each.label: each.value for each in shown.metric}
    assert (figures["Loans covered"], figures["Without cover"]) == ("2", "1")
    assert "to cover" not in " ".join(each.value for each in shown.caption), "they are covered by now"
    snapshot = lender.read(as_csv([loan(1), loan(7)]), by=maker, kind="snapshot")
    counted = screen(signed_in=head, path="buy/loan_book.py", id=str(snapshot.id))
    assert [each.value for each in counted.metric] == ["2", "1", "1", "1"]
    listed = screen(signed_in=head, path="buy/loan_books.py")
    assert "**2** loan books" in texts(listed)
    lender.read(as_csv([loan(8, **started)]), by=maker)
    every = ["New loans", "The whole live book", "New loans"]
    for query, kinds in (
        ({"state": "validated"}, every[:1]),
        ({"state": "done"}, every[1:]),
        ({"distributor": str(lender.partner.id)}, every),
    ):
        # Operations have the form above the list, with a lender of its own.
        at = screen(signed_in=maker, path="buy/loan_books.py", **query)
        assert list(lists(at)[0]["What it holds"]) == kinds, query
    none = screen(signed_in=head, path="buy/loan_books.py", state="cancelled")
    assert "No loan book matches this selection." in texts(none)
    assert "No loan book was uploaded yet." not in texts(none)


def test_a_snapshot_says_what_was_compared_and_each_outcome_once(screen: Screen, lender: Lender) -> None:
    head = person(lender.store, "supervisor", "supervisor")
    twice = lender.read(b"Loan Number\nLN-1\nLN-1\n", "twice.csv", kind="snapshot")
    at = screen(signed_in=head, path="buy/loan_book.py", id=str(twice.id))
    assert "Why rows were not compared" in texts(at)
    (outcomes,) = (each.options for each in at.button_group if each.label == "Outcome")
    assert [each if isinstance(each, str) else each.content for each in outcomes] == [
        "Not compared: 1",
        "Not covered: 1",
    ]
    once = lender.read(b"Loan Number\nLN-1\n", "once.csv", kind="snapshot")
    assert "Every row was compared" in texts(screen(signed_in=head, path="buy/loan_book.py", id=str(once.id)))


def test_a_book_that_was_given_up_is_not_shown_as_one_that_failed(screen: Screen, lender: Lender) -> None:
    assert set(COLOURS) == set(LoanBookState)
    head = person(lender.store, "supervisor", "supervisor")
    given_up, refused = lender.read(as_csv([loan(1)])), lender.read(b"Name,Phone\nNgozi,0803\n", "phones.csv")
    with lender.store.writing(lender.scope) as session:
        books.cancel(session, given_up.id, actor=head.actor)
    (table,) = (payload for payload in sent(screen(signed_in=head, path="buy/loan_books.py")) if "rows" in payload)
    states = {tuple(cell) for row in table["rows"] for cell in row["cells"] if isinstance(cell, list)}
    assert {("Cancelled", "gray"), ("Refused", "red")} <= states
    for book, badge in ((given_up, ":gray-badge[Cancelled]"), (refused, ":red-badge[Refused]")):
        at = screen(signed_in=head, path="buy/loan_book.py", id=str(book.id))
        assert badge in at.title[0].value
    at = screen(signed_in=head, path="buy/loan_book.py", id=str(given_up.id))
    assert "nothing of it was carried out" in at.info[0].value
    figures = {each.label: each.value for each in at.metric}
    assert (figures["Loans covered"], figures["Without cover"]) == ("0", "1")


def test_the_form_asks_for_the_lender_first_and_names_a_missing_file_beside_its_place(
    screen: Screen, lender: Lender
) -> None:
    make_partner(lender.store, "Another Lender")
    maker = person(lender.store, "operations", "operations")
    at = screen(signed_in=maker, path="buy/loan_books.py")
    assert "Choose the lender, then the file." in texts(at)
    assert {each.label for each in at.selectbox} == {"Lender"}
    (place,) = at.file_uploader
    assert (place.label, place.disabled) == ("The file: CSV or XLSX, up to 100,000 loans and 25 MiB", True)
    at.selectbox(key="lender").select_index(1).run()
    assert {each.label for each in at.selectbox} == {"Lender", "Product"}
    assert [each.disabled for each in at.file_uploader] == [True]
    at.selectbox(key="loan_product").select_index(0).run()
    assert [each.disabled for each in at.file_uploader] == [False, False]
    assert at.file_uploader[0].label == place.label
    at.text_input(key="loan_book.attested_by").set_value("Ngozi Okafor")
    at.button(key="loan_book").click().run()
    assert "Choose the lender's file" in texts(at)
    assert at.text_input(key="loan_book.attested_by").value == "Ngozi Okafor"
    at.file_uploader[0].upload("loans.csv", as_csv([loan(1)]))
    at.file_uploader[1].upload("attestation.pdf", pdf(text="We know our borrowers"))
    at.button(key="loan_book").click().run()
    assert "The file is being read" in texts(at)
    assert at.text_input(key="loan_book.attested_by").value == "Ngozi Okafor", "the next file has the same attester"


def test_whoever_has_no_limit_for_a_book_reads_so_beside_the_button(screen: Screen, lender: Lender) -> None:
    book = lender.read(as_csv([loan(1, loan_start_date=str(clock.today()))]))
    operations, head = (person(lender.store, role, role) for role in ("operations", "supervisor"))
    reason = "₦575.00 takes a supervisor, or somebody with a limit that covers it: you have none."
    for by, is_refused in ((operations, True), (head, False)):
        at = screen(signed_in=by, path="buy/loan_book.py", id=str(book.id))
        assert [each.disabled for each in at.button if "Cover 1 loan" in each.label] == [is_refused]
        assert (reason in texts(at)) is is_refused


def test_whoever_has_confirmed_up_to_the_limit_reads_so_beside_the_button(screen: Screen, lender: Lender) -> None:
    head, operations = (
        person(lender.store, "supervisor", "head"),
        person(lender.store, "operations", "one", claim_limit="600"),
    )
    first, second = (lender.read(as_csv([loan(number, loan_start_date=str(clock.today()))])) for number in (1, 2))
    lender.carry_out(first, by=operations)
    reason = "₦575.00 with the ₦575.00 confirmed for this lender within 30 days takes a supervisor"
    for by, is_refused in ((operations, True), (head, False)):
        at = screen(signed_in=by, path="buy/loan_book.py", id=str(second.id))
        assert [each.disabled for each in at.button if "Cover 1 loan" in each.label] == [is_refused]
        assert (reason in texts(at)) is is_refused


def test_an_address_that_nobody_has_given_is_shown_as_none_and_sent_nothing(screen: Screen, lender: Lender) -> None:
    operations, head = (person(lender.store, role, role) for role in ("operations", "supervisor"))
    book = lender.carry_out(lender.read(as_csv([loan(1, loan_start_date=str(clock.today()), email="")])), by=head)
    (row,) = lender.rows(book)
    policy = screen(signed_in=operations, path="policies/policy.py", id=str(row.policy_id))
    (send,) = (each for each in policy.button if each.label == "Send by e-mail")
    assert (send.disabled, send.help) == (
        True,
        "Nobody has given an e-mail address: endorse the policy with one first.",
    )
    with lender.store.reading(Scope.staff(is_live=True)) as session:
        sold = session.get_one(Policy, row.policy_id)
        records = {"sales/customers.py#customer": sold.customer_id, "sales/purchases.py#purchase": sold.purchase_id}
        found = finder.find_records(session, "Okafor", operations)
    shown = [policy, *(screen(signed_in=operations, path=path, id=str(key)) for path, key in records.items())]
    for at in shown:
        assert not [each.value for each in at.text if ".invalid" in each.value]
    assert not [hit for hit in found if ".invalid" in hit.detail]
    assert [hit.detail for hit in found if hit.kind == "customer"] == ["0803 123 4567 · Swift Lenders · 1 policy"]


def test_an_address_that_nobody_has_given_is_found_by_nobody_and_stands_in_no_list_or_file_for_people(
    screen: Screen, lender: Lender
) -> None:
    operations = person(lender.store, "operations", "operations")
    borrowers = [loan(1, email="", last_name="Loanda"), loan(2, email=""), loan(3, email="ada@example.com")]
    book = lender.carry_out(lender.read(as_csv(borrowers)), by=person(lender.store, "supervisor", "head"))
    row, other, _ = lender.rows(book)
    with lender.store.reading(Scope.staff(is_live=True)) as session:
        address = session.get_one(Policy, row.policy_id).email
        others = session.get_one(Policy, other.policy_id).email
        found = {text: finder.find_records(session, text, operations) for text in ("no-email", "loan", others)}
        names = {text: [hit.title for hit in hits if hit.kind == "customer"] for text, hits in found.items()}
        wanted = exports.Arrangement(columns=("customer_email",), form="people")
        for arrangement, shown in ((wanted, ['""'] * 2), (replace(wanted, form="machines"), [address, others])):
            lines = exports.stream_lines(session, PURCHASES, PurchaseFilter(), Tally(), arrangement)
            text = b"".join(lines).decode()
            assert sorted(text.splitlines()[1:]) == sorted([*shown, "ada@example.com"])
    assert [len(names[text]) for text in names] == [0, 1, 1], "by name, or by the whole address"
    at = screen(signed_in=operations, path="sales/customers.py", show=["name", "email"])
    assert set(lists(at)[0]["E-mail"]) == {"–", "ada@example.com"}


def test_a_row_that_was_covered_leads_to_its_policy(screen: Screen, lender: Lender) -> None:
    operations, head = (person(lender.store, role, role) for role in ("operations", "supervisor"))
    content = as_csv([loan(1), loan(2, loan_amount="12,5")])
    book = lender.carry_out(lender.read(content), by=head)
    at = screen(signed_in=operations, path="buy/loan_book.py", id=str(book.id))
    policy, *others = [row.policy_id for row in lender.rows(book)]
    assert row_links(at) == [f"/policy?id={policy}", None]
    assert others == [None]
