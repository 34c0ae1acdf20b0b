"""A list on a screen and the number above it are of one moment, whatever others write meanwhile (contract P2)."""

import re
from collections.abc import Iterator
from itertools import count

import pytest
from sqlalchemy import event

from core.store.access import Store
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio
from tests.ui.conftest import Screen, lists, texts

pytestmark = pytest.mark.frozen_at(NOW)

PAGE = 50


@pytest.fixture
def busy(store: Store, partner: Partner) -> Iterator[None]:
    """Somebody writes sales, renewals and claims before each read transaction."""
    seeds = count(1)

    def write(*_: object) -> None:
        Portfolio(seed=next(seeds), size=5, sellers=(partner.id,), days=120).write(store)

    Portfolio(seed=next(seeds), size=40, sellers=(partner.id,), days=120).write(store)
    event.listen(store.engine, "begin", write, insert=True)
    yield
    event.remove(store.engine, "begin", write)


@pytest.mark.parametrize("database", ["sqlite"])  # on the other one, whose readers' engine writes, it would not end
@pytest.mark.usefixtures("busy")
@every_case(
    ("page", "noun", "query"),
    [
        ("sales/purchases.py", "purchases", {"from": "2026-10-15"}),
        ("sales/renewals.py", "renewals", {}),
        ("sales/due.py", "polic(?:y|ies)", {"bucket": "lapsed"}),
        ("sales/customers.py", "customers", {}),
        ("policies/search.py", "policies", {}),
        ("claims/queue.py", "claims", {"view": "all"}),
    ],
)
def test_the_rows_are_as_many_as_the_number_above_them_says(
    screen: Screen, page: str, noun: str, query: dict[str, str]
) -> None:
    at = screen("operations", "claims", path=page, **query)
    match = re.search(rf"\*\*([\d,]+)\*\* {noun}", texts(at))
    assert match, texts(at)
    assert len(lists(at)[0]) == min(PAGE, int(match[1].replace(",", "")))
