"""Instalments: a year of them is never undersold, and each buys its own period only (contract S4)."""

import random
from datetime import date
from decimal import Decimal

import pytest

from core.covers.insurers.insurer_a import COMPREHENSIVE
from core.covers.pricing import build_instalment_term
from core.errors import InvalidInput
from tests.covers import shipped
from tests.every_case import every_case

PRIVATE, COMMERCIAL = ("01900000-0000-7000-8000-0000000101" + end for end in ("01", "02"))
IN_A_YEAR = {"weekly": 52, "monthly": 12, "quarterly": 4, "biannually": 2, "annually": 1}
every_frequency = every_case("frequency", IN_A_YEAR)


def instalment(cost: object, frequency: str, product_id: str = PRIVATE) -> Decimal:
    return shipped.price(
        COMPREHENSIVE, vehicle_cost=str(cost), premium_frequency=frequency, product_id=product_id
    ).total


@every_case(
    ("frequency", "total"),
    [
        ("weekly", "3846.16"),
        ("monthly", "16666.67"),
        ("quarterly", "50000.00"),
        ("biannually", "100000.00"),
        ("annually", "200000.00"),
    ],
)
def test_a_part_of_the_annual_premium_is_rounded_up_to_the_kobo(frequency: str, total: str) -> None:
    assert instalment(4_000_000, frequency) == Decimal(total)


@every_frequency
def test_a_year_of_instalments_is_never_below_the_annual_premium_and_never_a_kobo_too_much(frequency: str) -> None:
    dice, parts = random.Random(20261120), IN_A_YEAR[frequency]
    for product_id, percent in ((PRIVATE, Decimal(5)), (COMMERCIAL, Decimal("6.5"))):
        for _ in range(60):
            cost = Decimal(dice.randrange(1, 10 ** dice.randrange(3, 13))) / 100
            annual, total = cost * percent / 100, instalment(cost, frequency, product_id)
            assert annual <= total * parts < annual + parts * Decimal("0.01")


@every_case(
    ("frequency", "start", "end"),
    [
        ("weekly", "2026-11-20", "2026-11-27"),
        ("monthly", "2027-01-31", "2027-02-28"),
        ("quarterly", "2026-11-30", "2027-02-28"),
        ("biannually", "2026-11-20", "2027-05-20"),
        ("annually", "2028-02-29", "2029-02-28"),
    ],
)
def test_an_instalment_buys_its_own_period_only(frequency: str, start: str, end: str) -> None:
    term = build_instalment_term(frequency, date.fromisoformat(start))
    assert (str(term.start_on), str(term.activation_on), str(term.expiration_on)) == (start, start, end)


@every_frequency
def test_the_period_is_told_from_what_was_submitted(frequency: str) -> None:
    request = shipped.request(COMPREHENSIVE, premium_frequency=frequency.upper())
    submitted = request.model_dump(mode="json")
    assert submitted["premium_frequency"] == frequency
    start = date(2026, 12, 1)
    assert COMPREHENSIVE.next_term(submitted, shipped.rates(PRIVATE), start) == build_instalment_term(frequency, start)


def test_a_frequency_that_the_product_does_not_offer_is_refused() -> None:
    yearly = shipped.rates(PRIVATE, meta={"premium_frequencies": ["annually"]})
    with pytest.raises(InvalidInput, match="premium_frequency must be offered by the product: annually"):
        COMPREHENSIVE.premium(shipped.request(COMPREHENSIVE, premium_frequency="weekly"), yearly)


def test_a_minimum_is_reached_before_the_year_is_divided() -> None:
    floor = shipped.rates(PRIVATE, meta={"minimum_premium": "120000"})
    request = shipped.request(COMPREHENSIVE, vehicle_cost=1_000_000, premium_frequency="monthly")
    assert COMPREHENSIVE.premium(request, floor).total == Decimal(10_000)


def test_a_product_that_is_not_dynamic_divides_its_flat_price() -> None:
    flat = shipped.rates(PRIVATE, price=Decimal(100_000), dynamic=False)
    request = shipped.request(COMPREHENSIVE, premium_frequency="monthly")
    price = COMPREHENSIVE.premium(request, flat)
    assert price.total == Decimal("8333.34")
    assert price.sum_insured == Decimal(4_000_000)


def test_a_pending_policy_starts_today_and_has_no_end_yet() -> None:
    term = COMPREHENSIVE.term(shipped.request(COMPREHENSIVE), shipped.rates(PRIVATE))
    assert (str(term.start_on), str(term.activation_on), term.expiration_on) == ("2026-11-20", "2026-11-20", None)
