"""Two days that both count: one that is moved past the other takes it along, and nothing else is lost."""

from collections.abc import Iterator
from datetime import date

import pytest

from core import clock
from core.store.access import Store
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio
from tests.ui.conftest import Screen, address

FIRST, LAST = date(2026, 10, 1), date(2026, 10, 31)
LATER, EARLIER = date(2026, 11, 1), date(2026, 9, 30)
ANY = ("from", "to")


@pytest.fixture
def sold(store: Store, partner: Partner) -> Iterator[Store]:
    with clock.freeze(NOW):
        Portfolio(seed=11, size=20, sellers=(partner.id,)).write(store)
        yield store


@every_case(
    ("page", "names", "other"),
    [
        ("sales/dashboard.py", ANY, {"source": "api"}),
        ("sales/purchases.py", ANY, {"source": "api"}),
        ("sales/renewals.py", ANY, {"source": "api", "expires_to": "2027-01-31"}),
        ("sales/renewals.py", ("expires_from", "expires_to"), {"to": "2026-11-02"}),
        ("sales/customers.py", ANY, {"force": "yes"}),
        ("finance/exports.py", ANY, {"kind": "purchases"}),
        ("admin/audit_log.py", ANY, {"q": "policy"}),
        ("claims/queue.py", ANY, {"view": "all"}),
        ("claims/queue.py", ("incident_from", "incident_to"), {"view": "all"}),
        ("claims/queue.py", ("decided_from", "decided_to"), {"view": "all"}),
    ],
)
def test_a_day_that_is_moved_past_the_other_takes_it_along(
    sold: Store, screen: Screen, page: str, names: tuple[str, str], other: dict[str, str]
) -> None:
    first, last = names
    at = screen("admin", path=page, **{first: str(FIRST), last: str(LAST), **other})
    # Both days are the later one before the second is moved.
    for moved, to in ((first, LATER), (last, EARLIER)):
        at.date_input(key=f"day_{moved}").set_value(to).run()
        assert not at.exception
        assert not at.error
        assert address(at) == {name: [value] for name, value in {**other, first: str(to), last: str(to)}.items()}
        assert [at.date_input(key=f"day_{name}").value for name in names] == [to, to]


def test_a_day_that_stays_in_order_leaves_the_other(sold: Store, screen: Screen) -> None:
    at = screen("operations", path="sales/purchases.py", **{"from": str(FIRST), "to": str(LAST)})
    at.date_input(key="day_from").set_value(LAST).run()
    assert address(at) == {"from": [str(LAST)], "to": [str(LAST)]}
    at.date_input(key="day_to").set_value(LATER).run()
    assert address(at) == {"from": [str(LAST)], "to": [str(LATER)]}


def test_days_that_were_written_the_wrong_way_round_are_said(sold: Store, screen: Screen) -> None:
    at = screen("operations", path="sales/purchases.py")
    at.query_params.update({"from": str(LATER), "to": str(LAST)})
    at.run()
    assert "**To** must not be before From" in at.error[0].value
