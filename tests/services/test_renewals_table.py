"""The table of renewals: its rows add up to its footer, and the footer to the figures of the dashboard."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from uuid import uuid4

import pytest

from core import clock
from core.services.lists.dimensions import load_choices
from core.services.lists.listing import Row
from core.services.lists.paging import Paging
from core.services.lists.windows import open_dates, open_days
from core.services.renewals import records
from core.services.renewals.records import RenewalFilter, Sums
from core.services.sales import totals
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, Sales

pytestmark = pytest.mark.both_databases

LIVE = Scope.staff(is_live=True)
DAYS = open_days(date(2026, 9, 15), date(2026, 11, 3))


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="sold", of_both=(Portfolio(seed=5, size=160),))


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Iterator[Store]:
    with clock.freeze(NOW):
        yield store


def everything(store: Store, wanted: RenewalFilter) -> list[Row]:
    """All rows, read in pages."""
    found: list[Row] = []
    with store.reading(LIVE) as session:
        names = load_choices(session)
        for page in range(1, 20):
            found += records.RENEWALS.read_page(session, wanted, names, paging=Paging(page, 20))
    return found


def summed(rows: list[Row]) -> Sums:
    return Sums(
        len(rows),
        sum(row["total"] for row in rows),
        sum(row["platform"] for row in rows),
        sum(row["seller"] for row in rows),
    )


def test_the_footer_is_the_sum_of_all_pages_whatever_is_asked_for(sold: Store, partner: Partner) -> None:
    rows = everything(sold, RenewalFilter())
    some, email = rows[0], rows[0]["email"]
    expiring = open_dates(date(2026, 10, 1), date(2026, 12, 15))
    cases = {
        "all": (RenewalFilter(), rows),
        "took effect": (RenewalFilter(status=True), [row for row in rows if row["status"] == "Renewed"]),
        "failed": (RenewalFilter(status=False), [row for row in rows if row["status"] != "Renewed"]),
        "e-mail": (RenewalFilter(customer_email=email.upper()), [row for row in rows if row["email"] == email]),
        "distributor": (
            RenewalFilter(distributor_ids=(partner.id,)),
            [row for row in rows if row["distributor"] == "Swift Lenders"],
        ),
        "days": (
            RenewalFilter(created=DAYS),
            [row for row in rows if DAYS.start <= row["created_at"] < DAYS.end],  # type: ignore[operator]
        ),
        "policy ends": (
            RenewalFilter(expiring=expiring),
            [row for row in rows if row["expires"] and expiring.start <= row["expires"] < expiring.end],  # type: ignore[operator]
        ),
        "nobody": (RenewalFilter(customer_email="nobody@example.com"), []),
    }
    for name, (wanted, expected) in cases.items():
        with sold.reading(LIVE) as session:
            total = records.compute_total(session, wanted)
        assert total.all_rows == summed(expected), name
        assert total.failed == summed([row for row in expected if row["status"] != "Renewed"]), name
        assert {row.id for row in everything(sold, wanted)} == {row.id for row in expected}, name
    assert summed([row for row in rows if row["status"] != "Renewed"]).renewals > 0
    assert some["share"] == some["total"] - some["platform"] - some["seller"]


def test_what_took_effect_equals_the_dashboard(sold: Store, partner: Partner) -> None:
    filters = (RenewalFilter(), RenewalFilter(created=DAYS), RenewalFilter(created=DAYS, distributor_ids=(partner.id,)))
    for wanted in filters:
        with sold.reading(LIVE) as session:
            shown = totals.compute_total(session, wanted)
            by_rows = records.compute_total(session, replace(wanted, status=True)).all_rows
            total = records.compute_total(session, wanted)
        assert total.effective == by_rows
        assert total.effective[:2] == (shown.renewed, shown.renewed_minor)
        assert total.effective[2:] == (shown.renewed_mca_minor, shown.renewed_distributor_minor)


def test_orders_are_complete_and_another_mode_is_empty(sold: Store) -> None:
    with sold.reading(LIVE) as session:
        names = load_choices(session)
        newest, oldest, largest = (
            records.RENEWALS.read_page(session, RenewalFilter(), names, order=order, paging=Paging(1, 100))
            for order in ("newest", "oldest", "largest")
        )
        assert records.RENEWALS.read_page(session, RenewalFilter(customer_id=uuid4()), names, paging=Paging()) == []
    assert newest == oldest[::-1]
    assert [row["total"] for row in largest] == sorted((row["total"] for row in newest), reverse=True)
    with sold.reading(Scope.staff(is_live=False)) as session:
        assert records.compute_total(session, RenewalFilter()).all_rows == Sums()
