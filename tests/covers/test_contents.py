"""Contents and cargo: sums of items, half years, stock that spoils, and shares of a cargo (contract S4, S8)."""

from decimal import Decimal
from typing import Any

import pytest

from core.covers.cover import Cover
from core.covers.insurers.insurer_b import HOME, OFFICE, SHOP
from core.covers.insurers.insurer_e import MARINE_IMPORT
from core.errors import InvalidInput
from tests.covers import shipped
from tests.every_case import every_case

ITEMS = {OFFICE: "office_items", HOME: "home_items"}
both = every_case("cover", [OFFICE, HOME], ids=lambda cover: cover.key)


def items(*amounts: object) -> list[dict[str, Any]]:
    return [{"name": f"Thing {n}", "amount": amount} for n, amount in enumerate(amounts, 1)]


@both
def test_the_premium_is_a_percentage_of_all_items(cover: Cover[Any]) -> None:
    price = shipped.price(cover, **{ITEMS[cover]: items(1_000_000, "500000.50", 0.5)})
    assert price.sum_insured == Decimal("1500001.00")
    assert price.total == Decimal("5250.00")


@both
@every_case("half", [False, "false", "FALSE"])
def test_half_a_year_is_six_months_at_half_the_annual_premium(cover: Cover[Any], half: object) -> None:
    changed = {ITEMS[cover]: items(1_000_000), "is_full_year": half, "insurance_start_date": "2026-11-30"}
    request = shipped.request(cover, **changed)
    assert request.is_full_year is False
    assert shipped.price(cover, **changed).total == Decimal("1750.00")
    term = cover.term(request, shipped.rates(request.product_id))
    assert (str(term.start_on), str(term.expiration_on)) == ("2026-11-30", "2027-05-30")


@both
def test_the_half_is_rounded_once_at_the_end(cover: Cover[Any]) -> None:
    # 0.35 % of 1002.80 is 3.5098; its half is 1.7549. Rounded first it would be 3.51 and 1.76.
    assert shipped.price(cover, **{ITEMS[cover]: items("1002.80"), "is_full_year": False}).total == Decimal("1.75")


@both
def test_a_minimum_is_halved_with_the_year(cover: Cover[Any]) -> None:
    request = shipped.request(cover, **{ITEMS[cover]: items(1000), "is_full_year": False})
    rates = shipped.rates(request.product_id, meta={"minimum_premium": "5000"})
    assert cover.premium(request, rates).total == Decimal(2500)


@both
def test_each_broken_item_is_named_by_its_place(cover: Cover[Any]) -> None:
    wrong = [{"name": "Desk", "amount": 0}, {"amount": 5}, {"name": "A\x00", "amount": "1.234"}, "desk"]
    found = shipped.faults(cover.request, shipped.body(cover, **{ITEMS[cover]: wrong}))
    name = ITEMS[cover]
    assert set(found) == {f"{name}.0.amount", f"{name}.1.name", f"{name}.2.name", f"{name}.2.amount", f"{name}.3"}
    assert found[f"{name}.0.amount"] == "must be more than 0"


@both
@every_case("number", [0, 201])
def test_there_are_1_to_200_items(cover: Cover[Any], number: int) -> None:
    name = ITEMS[cover]
    assert set(shipped.faults(cover.request, shipped.body(cover, **{name: items(*[1] * number)}))) == {name}
    assert not shipped.faults(cover.request, shipped.body(cover, **{name: items(*[1] * 200)}))


@both
def test_the_items_together_stay_within_reason(cover: Cover[Any]) -> None:
    name, most = ITEMS[cover], 10**13
    assert not shipped.faults(cover.request, shipped.body(cover, **{name: items(most)}))
    assert set(shipped.faults(cover.request, shipped.body(cover, **{name: items(most, "0.01")}))) == {name}


@both
def test_a_start_before_today_is_refused_and_today_and_later_are_not(cover: Cover[Any]) -> None:
    def term(day: str) -> str:
        request = shipped.request(cover, insurance_start_date=day)
        return str(cover.term(request, shipped.rates(request.product_id)).start_on)

    with pytest.raises(InvalidInput, match="insurance_start_date must be today or later"):
        term("2026-11-19")
    assert [term(day) for day in ("2026-11-20", "2028-02-29")] == ["2026-11-20", "2028-02-29"]


@every_case(("stock", "total"), [("non perishable", "5000.00"), ("mixed", "5500.00"), ("perishable", "6250.00")])
def test_stock_that_spoils_costs_more(stock: str, total: str) -> None:
    price = shipped.price(SHOP, stock_amount=1_000_000, nature_of_stock=stock)
    assert price.total == Decimal(total)
    assert price.sum_insured == Decimal(1_000_000)


def test_a_shop_takes_three_papers_and_flags_as_text() -> None:
    assert set(shipped.faults(SHOP.request, shipped.body(SHOP, identification_name="Phone number"))) == {
        "identification_name"
    }
    assert [shipped.request(SHOP, stock_keeping=flag).stock_keeping for flag in ("True", "false", True, False)] == [
        *(True, False, True, False)
    ]


def test_a_cargo_is_insured_for_more_than_its_value() -> None:
    price = shipped.price(MARINE_IMPORT, cargo_value="1000000.01")
    assert price.sum_insured == Decimal("1100000.01")
    assert price.total == Decimal("3300.00")
    assert [step.label for step in price.steps] == ["Sum insured", "Premium"]


@every_case(
    ("sent", "start"),
    [
        ("2026-12-01", "2026-12-01"),
        ("2026-12-01T23:30:00.000Z", "2026-12-01"),
        ("2026-12-01T00:30:00+01:00", "2026-12-01"),
        ("2026-10-01", "2026-10-01"),
    ],
)
def test_marine_cover_runs_a_year_from_the_shipping_date_or_timestamp(sent: str, start: str) -> None:
    request = shipped.request(MARINE_IMPORT, shipping_date=sent)
    term = MARINE_IMPORT.term(request, shipped.rates(request.product_id))
    assert str(term.start_on) == start
    assert str(term.expiration_on) == start.replace("2026", "2027")


def test_marine_cover_that_is_already_over_is_refused() -> None:
    request = shipped.request(MARINE_IMPORT, shipping_date="2025-11-20")
    with pytest.raises(InvalidInput, match="shipping_date must leave cover"):
        MARINE_IMPORT.term(request, shipped.rates(request.product_id))
