"""Credit life: every subset of benefits on every basis, against an oracle of its own (contract S5)."""

from collections.abc import Iterable, Iterator
from decimal import Decimal
from fractions import Fraction
from itertools import combinations
from math import floor

import pytest

from core.covers.credit_life import BENEFITS, CREDIT_LIFE, CreditLifePriceRequest, compute_price
from core.covers.fields import build_example
from core.errors import InvalidInput
from tests.covers import shipped
from tests.every_case import every_case

SHARES = {"death": 275, "permanent_disability": 75, "temporary_disability": 25, "loss_of_job": 200}
AMOUNTS = ("1", "99.99", "33333.33", "100000", "1234567.89", "999999999.99", "1000000000000")
PRODUCTS = {
    "single": "01900000-0000-7000-8000-000000080101",
    "monthly": "01900000-0000-7000-8000-000000080102",
    "reducing": "01900000-0000-7000-8000-000000080103",
}
on_every_basis = every_case("basis", PRODUCTS)


def subsets() -> Iterator[tuple[str, ...]]:
    for size in range(1, len(BENEFITS) + 1):
        yield from combinations(BENEFITS, size)


def oracle(amount: str, tenure: int, benefits: tuple[str, ...], basis: str) -> Decimal:
    """The premium by fractions of whole kobo: shares are thousandths of a percent."""
    times = {"single": Fraction(1), "monthly": Fraction(tenure), "reducing": Fraction(tenure + 1, 2)}[basis]
    kobo = Fraction(amount) * 100 * sum(SHARES[name] for name in benefits) / 100_000 * times
    return Decimal(floor(kobo + Fraction(1, 2))) / 100


@on_every_basis
def test_every_subset_and_amount_costs_what_the_oracle_says(basis: str) -> None:
    assert_as_the_oracle_says(basis, (3, 4, 7, 12, 13, 24, 59, 60, 119, 120))


@pytest.mark.exhaustive
@on_every_basis
def test_every_tenure_costs_what_the_oracle_says(basis: str) -> None:
    assert_as_the_oracle_says(basis, range(3, 121))


def assert_as_the_oracle_says(basis: str, tenures: Iterable[int]) -> None:
    rates = shipped.rates(PRODUCTS[basis])
    for benefits in subsets():
        for amount in AMOUNTS:
            for tenure in tenures:
                found = compute_price(Decimal(amount), tenure, list(benefits), rates).total
                assert found == oracle(amount, tenure, benefits, basis), (benefits, amount, tenure)


@every_case(("basis", "premium"), [("single", "575.00"), ("monthly", "6900.00"), ("reducing", "3737.50")])
def test_the_worked_figures(basis: str, premium: str) -> None:
    assert compute_price(Decimal(100_000), 12, list(BENEFITS), shipped.rates(PRODUCTS[basis])).total == Decimal(premium)


@on_every_basis
def test_the_steps_of_months_add_up_to_the_premium(basis: str) -> None:
    for tenure in (3, 12, 120):
        price = compute_price(Decimal(250_000), tenure, list(BENEFITS), shipped.rates(PRODUCTS[basis]))
        benefits, months = price.steps[: len(BENEFITS)], price.steps[len(BENEFITS) : -1]
        assert [step.label for step in months] == (
            [] if basis == "single" else ["For the first month", f"For the {tenure - 1} months after it"]
        )
        assert sum(step.amount for step in months or benefits) == price.steps[-1].amount == price.total
        assert not months or months[0].amount == sum(step.amount for step in benefits)


@on_every_basis
def test_without_benefits_all_that_the_product_offers_are_priced(basis: str) -> None:
    rates = shipped.rates(PRODUCTS[basis])
    assert compute_price(Decimal(250_000), 18, None, rates) == compute_price(
        Decimal(250_000), 18, list(BENEFITS), rates
    )


def test_benefits_are_a_set() -> None:
    assert (
        shipped.price(CREDIT_LIFE, benefit_coverage=["death", "loss_of_job"]).total
        == shipped.price(CREDIT_LIFE, benefit_coverage=["Loss_Of_Job", "DEATH", "death"]).total
        == Decimal("475.00")
    )


def test_a_benefit_that_the_product_lacks_is_refused() -> None:
    rates = shipped.rates(PRODUCTS["single"], meta={"shares": {"death": "0.275"}})
    with pytest.raises(InvalidInput) as refused:
        compute_price(Decimal(100_000), 12, ["loss_of_job"], rates)
    assert [fault.field for fault in refused.value.faults] == ["benefit_coverage"]
    assert compute_price(Decimal(100_000), 12, None, rates).total == Decimal("275.00")


def test_a_minimum_premium_and_a_rounding_step_are_data_of_the_product() -> None:
    meta = shipped.rates(PRODUCTS["single"]).meta
    stepped = shipped.rates(PRODUCTS["single"], meta={**meta, "rounding_step": "10"})
    assert compute_price(Decimal(100_000), 12, None, stepped).total == Decimal("580.00")
    least = shipped.rates(PRODUCTS["single"], meta={**meta, "minimum_premium": "1000"})
    price = compute_price(Decimal(100_000), 12, None, least)
    assert (price.total, price.steps[-1].label, price.steps[-1].amount) == (1_000, "Minimum premium", 1_000)
    assert compute_price(Decimal(200_000), 12, None, least).total == Decimal("1150.00")


@every_case(("tenure", "message"), [(2, "must be at least 3"), (121, "must be at most 120")])
@every_case("model", [CREDIT_LIFE.request, CreditLifePriceRequest])
def test_a_tenure_outside_its_limits_is_refused(model: type, tenure: int, message: str) -> None:
    for sent in (tenure, str(tenure)):
        assert shipped.faults(model, {**build_example(model), "loan_tenure": sent}) == {"loan_tenure": message}


def test_the_price_needs_no_benefits_and_the_sale_does() -> None:
    sent = build_example(CreditLifePriceRequest)
    del sent["benefit_coverage"]
    assert not shipped.faults(CreditLifePriceRequest, sent)
    assert shipped.faults(CREDIT_LIFE.request, shipped.body(CREDIT_LIFE, benefit_coverage=None)) == {
        "benefit_coverage": "is required"
    }
    assert shipped.faults(CREDIT_LIFE.request, shipped.body(CREDIT_LIFE, benefit_coverage=[]))


def test_a_loan_runs_its_months_from_its_first_day_and_the_last_of_february_falls_back() -> None:
    request = shipped.request(CREDIT_LIFE, loan_start_date="2028-02-29", loan_tenure=36)
    term = CREDIT_LIFE.term(request, shipped.rates(request.product_id))
    assert (str(term.start_on), str(term.expiration_on)) == ("2028-02-29", "2031-02-28")


def test_a_loan_that_is_already_over_is_refused_and_one_that_ends_tomorrow_is_not() -> None:
    def term(first_day: str) -> None:
        request = shipped.request(CREDIT_LIFE, loan_start_date=first_day, loan_tenure=12)
        CREDIT_LIFE.term(request, shipped.rates(request.product_id))

    term("2025-11-21")
    with pytest.raises(InvalidInput, match="loan_start_date must leave cover"):
        term("2025-11-20")
