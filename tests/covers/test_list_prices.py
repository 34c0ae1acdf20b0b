"""The price that the catalogue shows fits its cover period, and so do the parts of it (contract S18)."""

from decimal import Decimal
from typing import Any

from core import money
from core.covers.cover import Rates
from core.covers.pricing import FREQUENCIES, compute_prices_by_period, follows, format_price, list_price
from tests.covers import shipped
from tests.every_case import every_case

LOANS = ("080101", "080102", "080103")
PERSONAL_ACCIDENT = "01900000-0000-7000-8000-000000070101"


def rates(number: str, **changed: Any) -> Rates:
    return shipped.rates(f"01900000-0000-7000-8000-000000{number}", **changed)


@every_case("number", LOANS)
def test_credit_life_shows_its_full_rate(number: str) -> None:
    assert format_price(list_price(rates(number))) == "0.575"
    dearer = {**rates(number).meta, "shares": {"death": "0.5", "loss_of_job": "0.25"}}
    assert format_price(list_price(rates(number, meta=dearer))) == "0.75"


def test_personal_accident_shows_the_lowest_plan_that_lasts_its_period() -> None:
    plans = rates("070101")
    assert (format_price(list_price(plans)), plans.cover_months) == ("3600.00", 12)
    # Whatever stands in the store from before: the figures of the plans decide.
    assert list_price(rates("070101", price=Decimal("350.00"))) == Decimal("3600.00")


def test_a_month_of_personal_accident_is_its_monthly_plan() -> None:
    assert compute_prices_by_period(rates("070101")) == {
        "monthly": Decimal("350.00"),
        "quarterly": Decimal("900.00"),
        "biannually": Decimal("1800.00"),
        "annually": Decimal("3600.00"),
    }


def test_a_fixed_price_is_divided_as_instalments_are() -> None:
    car = compute_prices_by_period(rates("010201", price=Decimal("10000.00")))
    assert car == {
        "monthly": Decimal("833.34"),
        "quarterly": Decimal("2500.00"),
        "biannually": Decimal("5000.00"),
        "annually": Decimal("10000.00"),
    }
    assert compute_prices_by_period(rates("010201", cover_months=6))["annually"] == Decimal("30000.00")  # type: ignore[index]


def test_only_products_of_a_fixed_price_have_prices_by_stretch() -> None:
    for row in shipped.products().values():
        product = shipped.rates(row["id"])
        found = compute_prices_by_period(product)
        assert (found is None) is (row["is_dynamic_pricing"] or "rates" in row["meta"]), row["name"]
        if found:
            assert set(found) == set(FREQUENCIES) - {"weekly"}
            assert all(price == money.round_half_up(price) > 0 for price in found.values())
            assert found["annually"] == list_price(product) * 12 / product.cover_months


def test_every_other_price_is_the_one_that_was_set() -> None:
    for row in shipped.products().values():
        if not follows(row["meta"]):
            assert format_price(list_price(shipped.rates(row["id"]))) == row["price"], row["name"]


@every_case(("price", "text"), [("0", "0.00"), ("5", "5.00"), ("0.5750", "0.575"), ("1200.10", "1200.10")])
def test_a_price_has_two_places_and_more_only_where_a_rate_has_them(price: str, text: str) -> None:
    assert format_price(Decimal(price)) == text
