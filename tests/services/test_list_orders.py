"""Every order that a header of a list offers is the store's: all rows, none twice, and the other way round."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from core import clock
from core.desk import export_runs
from core.services.catalogue import key_admin, product_list
from core.services.customers import table as customers_table
from core.services.customers.customers import CustomerFilter
from core.services.insurers import awaiting
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.people import staff
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.services.sales import distributors
from core.store.access import Scope, ScopedSession, Store
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales

pytestmark = pytest.mark.both_databases

SMALL = 7
Read = Callable[[ScopedSession, Any, Paging], Any]
LISTS: dict[str, tuple[Any, Read]] = {
    "customers": (
        customers_table.CUSTOMERS.orders,
        lambda s, order, paging: customers_table.list_customers(
            s, CustomerFilter(), load_choices(s), order=order, paging=paging
        ),
    ),
    "policies": (
        (*policies.POLICIES.orders, "to-do"),
        lambda s, order, paging: policies.search_policies(
            s, PolicyFilter(), load_choices(s), order=order, paging=paging
        ),
    ),
    "products": (
        product_list.ORDERS,
        lambda s, order, paging: product_list.list_products(s, product_list.ProductFilter(), paging, order=order),
    ),
    "distributors": (
        distributors.ORDERS,
        lambda s, order, paging: distributors.list_distributors(
            s, distributors.DistributorFilter(), paging, order=order
        ),
    ),
    "keys": (
        key_admin.ORDERS,
        lambda s, order, paging: key_admin.list_keys(s, key_admin.KeyFilter(), paging, order=order),
    ),
    "staff": (
        staff.ORDERS,
        lambda s, order, paging: staff.list_staff(s, staff.StaffFilter(), paging, order=order),
    ),
    "receipts": (
        export_runs.ORDERS,
        lambda s, order, paging: export_runs.list_receipts(s, export_runs.ReceiptFilter(), paging, order=order),
    ),
    "awaiting": (
        awaiting.ORDERS,
        lambda s, order, paging: awaiting.list_open(s, load_choices(s), order=order, paging=paging),
    ),
}


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="sold", of_both=(Portfolio(seed=5, size=30),))


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Iterator[Store]:
    with clock.freeze(NOW):
        with store.writing(Scope.system()) as session:
            for name in ("Zainab", "ada", "Bola"):
                staff.add_or_update(
                    session, email=f"{name.lower()}@x.example", name=name, roles=["admin"], password="x" * 12, actor="t"
                )
        yield store


@every_case("name", LISTS)
def test_each_order_has_all_rows_and_no_page_repeats_one(sold: Store, name: str) -> None:
    orders, read = LISTS[name]
    with sold.reading(Scope.staff(is_live=True)) as session:
        for order in orders:
            whole = [row.id for row in read(session, order, Paging(1, 100)).items]
            pages = range(1, -(-len(whole) // SMALL) + 1)
            assert [row.id for page in pages for row in read(session, order, Paging(page, SMALL)).items] == whole
            assert len(set(whole)) == len(whole)


def test_names_and_ends_are_sorted_over_all_rows(sold: Store) -> None:
    with sold.reading(Scope.staff(is_live=True)) as session:

        def rows(name: str, order: str) -> list[Any]:
            return list(LISTS[name][1](session, order, Paging(1, 100)).items)

        for name in ("products", "staff", "distributors"):
            names = [row.name.lower() for row in rows(name, "name")]
            assert names == sorted(names)
            assert [row.name.lower() for row in rows(name, "name-back")] == sorted(names, reverse=True)
        for figure in ("policies", "premium"):
            figures = [row[figure] for row in rows("customers", f"least-{figure}")]
            assert figures == sorted(figures)
            assert figures[0] < figures[-1]
            assert [row[figure] for row in rows("customers", f"most-{figure}")] == figures[::-1]
        ends = [row["ends"] for row in rows("policies", "ends")]
        known = [end for end in ends if end]
        assert known == sorted(known)
        assert ends == known + [None] * (len(ends) - len(known))
        assert [row["ends"] for row in rows("policies", "ends-back")] == ends[::-1]
