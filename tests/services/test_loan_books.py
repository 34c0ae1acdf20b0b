"""Loan books: a lender's file is read, previewed, confirmed by another person and sold, once (contract B1 to B6)."""

import sqlalchemy as sa
import pytest
from sqlmodel import col

from core.services.admin import store_check
from core.store.access import Scope, Store
from core.store.schema.tables import Policy, Purchase
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.loan_books import Lender, as_csv, loan

pytestmark = [pytest.mark.both_databases, pytest.mark.frozen_at(shipped.STILL)]


def test_a_book_is_sold_as_single_sales_are(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    book = lender.read(as_csv([loan(number) for number in range(100)]))
    assert book.state == "validated", book.refusal
    assert (book.preview["valid"], book.preview["premium"]) == (100, "57500.00")
    done = lender.carry_out(book)
    assert (done.state, done.done_rows, done.done_minor) == ("done", 100, 5_750_000)
    with store.reading(partner.scope()) as session:
        assert session.execute(sa.select(sa.func.count()).select_from(Policy)).scalar_one() == 100
        assert session.execute(sa.select(sa.func.count(col(Purchase.batch_id).distinct()))).scalar_one() == 1
    with store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []
