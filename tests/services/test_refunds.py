"""Refunds of cover that ends early: the worked figures, and properties that hold for any figures."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

from hypothesis import given
from hypothesis import strategies as st

from core import clock, money
from core.covers import refunds
from core.covers.refunds import PaidPeriod
from tests.every_case import every_case

FIRST = date(2026, 1, 1)
money_of = st.integers(0, 10**13).map(lambda minor: Decimal(minor).scaleb(-2))


def stretch(premium: Decimal | str = "500.00", days: int = 365, first_on: date = FIRST) -> PaidPeriod:
    return PaidPeriod(
        premium=Decimal(premium),
        start_at=clock.midnight(first_on),
        expiration_at=clock.midnight(first_on + timedelta(days=days)),
    )


def test_500_ended_on_day_150_of_365_gives_294_52() -> None:
    refund = refunds.compute_pro_rata(stretch(), FIRST + timedelta(days=150))
    assert refund.price.total == Decimal("294.52")
    assert refund.amount_minor == 29_452
    assert refund.price.explain == [
        {"step": "Unexpired premium", "working": "500.00 x 215 / 365 days", "amount": "294.52"}
    ]


def test_short_rate_is_nine_tenths_rounded_once() -> None:
    refund = refunds.compute_short_rate(stretch(), FIRST + timedelta(days=150))
    assert refund.price.total == Decimal("265.07")
    assert refund.price.explain[-1] == {"step": "Short rate", "working": "90 % of 294.52", "amount": "265.07"}


def test_renewed_terms_that_have_not_begun_go_back_whole() -> None:
    terms = [stretch(), stretch("600.00", first_on=FIRST + timedelta(days=365))]
    refund = refunds.together([refunds.compute_pro_rata(term, FIRST + timedelta(days=150)) for term in terms])
    assert refund.price.total == Decimal("894.52")
    assert [step["amount"] for step in refund.price.explain] == ["294.52", "600.00", "894.52"]


@every_case(
    ("left", "level", "decreasing"),
    [(12, "600.00", "600.00"), (6, "300.00", "161.54"), (1, "50.00", "7.69"), (0, "0.00", "0.00")],
)
def test_credit_life_by_months_left_of_twelve(left: int, level: str, decreasing: str) -> None:
    assert refunds.compute_level(Decimal(600), left, 12).price.total == Decimal(level)
    assert refunds.compute_decreasing(Decimal(600), left, 12).price.total == Decimal(decreasing)


def test_cover_that_never_ran_gives_everything_back() -> None:
    assert refunds.compute_full(Decimal("575.05")).price.total == Decimal("575.05")


@given(total=st.integers(0, 10**13), rates=st.tuples(st.integers(0, 10_000), st.integers(0, 10_000)), data=st.data())
def test_what_goes_back_divides_like_the_term_and_never_takes_more_commission_than_was_paid(
    total: int, rates: tuple[int, int], data: st.DataObject
) -> None:
    mca_bp, distributor_bp = rates[0], min(rates[1], 10_000 - rates[0])
    paid = money.split(total, mca_bp=mca_bp, distributor_bp=distributor_bp)
    back = money.refund_split(data.draw(st.integers(0, total)), paid, mca_bp=mca_bp, distributor_bp=distributor_bp)
    assert back.provider_share_minor >= 0
    assert back == money.split(back.total_minor, mca_bp=mca_bp, distributor_bp=distributor_bp)
    assert 0 <= back.mca_profit_minor <= paid.mca_profit_minor
    assert 0 <= back.distributor_profit_minor <= paid.distributor_profit_minor
    assert money.refund_split(total, paid, mca_bp=mca_bp, distributor_bp=distributor_bp) == paid


@every_case(
    ("on", "left"),
    [
        (date(2026, 1, 1), 12),
        (date(2025, 12, 1), 12),
        (date(2026, 1, 2), 11),
        (date(2026, 4, 1), 9),
        (date(2026, 12, 1), 1),
        (date(2026, 12, 2), 0),
        (date(2027, 1, 1), 0),
        (date(2027, 3, 1), 0),
    ],
)
def test_months_left_are_whole_months(on: date, left: int) -> None:
    assert refunds.count_months_left(on, date(2027, 1, 1), 12) == left


def test_last_day_that_was_paid_for_counts_as_a_day() -> None:
    end = datetime(2026, 1, 10, 22, 59, 59, 999000, tzinfo=UTC)
    trip = PaidPeriod(premium=Decimal(100), start_at=clock.midnight(FIRST), expiration_at=end)
    assert (trip.days, trip.count_unexpired_days(FIRST), trip.count_unexpired_days(date(2026, 1, 10))) == (10, 10, 1)
    assert trip.count_unexpired_days(date(2026, 1, 11)) == 0


@given(premium=money_of, days=st.integers(1, 800), on=st.integers(-400, 1200))
def test_refund_lies_between_nothing_and_the_premium(premium: Decimal, days: int, on: int) -> None:
    ends = FIRST + timedelta(days=on)
    whole = refunds.compute_pro_rata(stretch(premium, days), ends).price.total
    short = refunds.compute_short_rate(stretch(premium, days), ends).price.total
    assert 0 <= short <= whole <= premium


@given(premium=money_of, days=st.integers(1, 800), on=st.integers(0, 800))
def test_a_day_later_never_gives_more(premium: Decimal, days: int, on: int) -> None:
    today, tomorrow = (
        refunds.compute_pro_rata(stretch(premium, days), FIRST + timedelta(days=day)).price.total
        for day in (on, on + 1)
    )
    assert tomorrow <= today


@given(premium=money_of, months=st.integers(3, 120), data=st.data())
def test_falling_balance_never_gives_more_than_a_level_one(premium: Decimal, months: int, data: st.DataObject) -> None:
    left = data.draw(st.integers(0, months))
    level = refunds.compute_level(premium, left, months).price.total
    decreasing = refunds.compute_decreasing(premium, left, months).price.total
    assert 0 <= decreasing <= level <= premium
    assert left < months or decreasing == premium


@given(on=st.dates(date(2020, 1, 1), date(2040, 1, 1)), months=st.integers(0, 120))
def test_months_added_are_months_left(on: date, months: int) -> None:
    assert refunds.count_months_left(on, clock.add_months(on, months), 120) == months


@given(premium=money_of, days=st.integers(1, 800), on=st.integers(0, 800))
def test_last_step_is_the_refund(premium: Decimal, days: int, on: int) -> None:
    for rule in (refunds.compute_pro_rata, refunds.compute_short_rate):
        refund = rule(stretch(premium, days), FIRST + timedelta(days=on))
        assert refund.price.explain[-1]["amount"] == f"{refund.price.total:.2f}"
