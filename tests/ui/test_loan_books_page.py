"""The screens of loan books: what a book holds, the one button and who may press it, and what became of each row."""

import pytest

from core import clock
from core.dispatch import loan_books as worker
from core.store.access import Store
from tests.conftest import Partner
from tests.services.loan_books import Lender, as_csv, loan, person
from tests.ui.conftest import Screen, texts

BUTTON = "**Cover 2 loans for ₦1,150.00; 1 borrower stays without cover**"


@pytest.fixture
def lender(store: Store, partner: Partner) -> Lender:
    return Lender(store, partner, is_live=True)


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
    snapshot = lender.read(as_csv([loan(1), loan(7)]), by=maker, kind="snapshot")
    counted = screen(signed_in=head, path="buy/loan_book.py", id=str(snapshot.id))
    assert [each.value for each in counted.metric] == ["2", "1", "1", "1"]
    listed = screen(signed_in=head, path="buy/loan_books.py")
    assert "**2** loan books" in texts(listed)
