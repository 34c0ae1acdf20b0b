"""Money is exact, and its parts always add up (contract P8)."""

from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core import money
from tests.every_case import every_case

KOBO = st.integers(min_value=0, max_value=10**15)
SHARE = st.integers(min_value=0, max_value=10_000)


@given(minor=st.integers(min_value=-(10**15), max_value=10**15))
def test_naira_and_kobo_lead_back_to_each_other(minor: int) -> None:
    assert money.to_minor(money.to_naira(minor)) == minor
    assert money.to_minor(Decimal(money.to_wire(minor))) == minor
    assert money.format_naira(minor).replace("₦", "").replace(",", "") == money.to_wire(minor)


@given(total=KOBO, mca=SHARE, distributor=SHARE)
def test_parts_of_a_total_add_up_to_it(total: int, mca: int, distributor: int) -> None:
    parts = money.split(total, mca_bp=mca, distributor_bp=distributor)
    assert parts.provider_share_minor + parts.mca_profit_minor + parts.distributor_profit_minor == total
    assert min(parts.mca_profit_minor, parts.distributor_profit_minor) >= 0
    if mca + distributor <= 10_000:
        assert parts.provider_share_minor >= 0


@every_case(("amount", "rounded"), [("0.005", "0.01"), ("0.004", "0.00"), ("2.675", "2.68")])
def test_halves_round_up(amount: str, rounded: str) -> None:
    assert str(money.round_half_up(Decimal(amount))) == rounded


@every_case(("amount", "rounded"), [("0.001", "0.01"), ("10.00", "10.00"), ("3846.1538", "3846.16")])
def test_instalments_round_to_the_next_kobo(amount: str, rounded: str) -> None:
    assert str(money.round_up(Decimal(amount))) == rounded


def test_fraction_of_a_kobo_is_no_money() -> None:
    with pytest.raises(ValueError, match="two decimals"):
        money.to_minor(Decimal("0.001"))


@every_case(("minor", "wire", "shown"), [(57500, "575.00", "₦575.00"), (-5, "-0.05", "-₦0.05")])
def test_two_ways_to_write_an_amount(minor: int, wire: str, shown: str) -> None:
    assert (money.to_wire(minor), money.format_naira(minor)) == (wire, shown)


@every_case(
    ("working", "shown"),
    [
        ("90 % of 294.52", "90 % of ₦294.52"),
        ("100,000.00 x 0.20 % x (12 + 1) / 2", "₦100,000.00 x 0.20 % x (12 + 1) / 2"),
        ("40 years at departure, x 1.25", "40 years at departure, x 1.25"),
        ("₦5.00 x 1 / 3 days", "₦5.00 x 1 / 3 days"),
    ],
)
def test_amounts_of_a_working_are_signed_and_its_rates_and_factors_are_not(working: str, shown: str) -> None:
    assert money.sign_amounts(working) == shown
