"""Travel: zones, inclusive days, ages and passengers, at every edge of a band (contract S6)."""

from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from core import reference
from core.covers.ages import age_on
from core.covers.fields import build_example
from core.covers.insurers.insurer_c import TRAVEL, TravelPriceRequest, TravelRequest, count_days
from core.errors import InvalidInput
from tests.covers import shipped
from tests.every_case import every_case

DEPARTURE = date(2026, 12, 12)
STANDARD = "01900000-0000-7000-8000-000000030101"
AFRICA = ["6500", "9000", "13500", "20000", "27500", "44000", "72000"]
EDGES = [(1, 7), (8, 15), (16, 31), (32, 60), (61, 92), (93, 180), (181, 365)]
of_price_and_sale = every_case("model", [TravelRequest, TravelPriceRequest])


def trip(*, days: int = 7, age: int = 40, **changed: Any) -> dict[str, Any]:
    """A body for a trip of that many inclusive days by somebody whose birthday is the departure day."""
    facts = {
        "departure_date": str(DEPARTURE),
        "arrival_date": str(DEPARTURE + timedelta(days=days - 1)),
        "date_of_birth": str(DEPARTURE.replace(year=DEPARTURE.year - age)),
        "destination": "Ghana",
        "num_of_passengers": 1,
    }
    return shipped.body(TRAVEL, **{**facts, **changed})


def cost(**changed: Any) -> Decimal:
    return shipped.price(TRAVEL, **trip(**changed)).total


def test_12_december_to_10_january_is_30_inclusive_days() -> None:
    assert count_days(date(2026, 12, 12), date(2027, 1, 10)) == 30
    assert count_days(DEPARTURE, DEPARTURE) == 1
    assert cost(days=30) == Decimal(13_500)


@every_case(("edges", "rate"), list(zip(EDGES, AFRICA, strict=True)))
def test_a_band_of_days_holds_from_its_first_to_its_last_day(edges: tuple[int, int], rate: str) -> None:
    assert [cost(days=day) for day in edges] == [Decimal(rate)] * 2


def test_arrival_on_the_departure_day_is_one_day_and_cover_lasts_through_it() -> None:
    request = shipped.request(TRAVEL, **trip(days=1))
    term = TRAVEL.term(request, shipped.rates(STANDARD))
    assert term.start_on == term.expiration_on == DEPARTURE
    assert term.start_at is not None
    assert term.expiration_at is not None
    assert term.start_at < term.expiration_at
    assert term.expiration_at.date() == DEPARTURE


@every_case(
    ("age", "factor"),
    [(0, "0.5"), (17, "0.5"), (18, "1"), (65, "1"), (66, "1.5"), (75, "1.5"), (76, "2"), (80, "2")],
)
def test_the_age_at_departure_sets_the_factor(age: int, factor: str) -> None:
    sent = trip(age=age) if age else trip(date_of_birth="2026-11-19")
    assert shipped.price(TRAVEL, **sent).total == 6500 * Decimal(factor)


def test_a_birthday_the_day_after_departure_does_not_count_yet() -> None:
    assert cost(date_of_birth="2008-12-13") == Decimal(3250)
    assert cost(date_of_birth="2008-12-12") == Decimal(6500)
    assert age_on(date(2027, 2, 28), date(2008, 2, 29)) == 18
    assert age_on(date(2027, 3, 1), date(2008, 2, 29)) == 19


@of_price_and_sale
def test_a_traveller_over_80(model: type) -> None:
    message = "must be of a traveller of at most 80 years at departure"
    assert shipped.faults(model, trip(age=81)) == {"date_of_birth": message}
    assert not shipped.faults(model, trip(date_of_birth="1945-12-13"))


@of_price_and_sale
def test_more_than_365_days(model: type) -> None:
    assert set(shipped.faults(model, trip(days=366))) == {"arrival_date"}
    assert not shipped.faults(model, trip(days=365))


@of_price_and_sale
def test_an_arrival_before_the_departure(model: type) -> None:
    assert shipped.faults(model, trip(days=0)) == {"arrival_date": "must not be before departure_date"}


@of_price_and_sale
def test_a_departure_in_the_past(model: type) -> None:
    past = shipped.faults(model, trip(departure_date="2026-11-19", arrival_date="2026-11-25"))
    assert past == {"departure_date": "must be today or later"}
    assert not shipped.faults(model, trip(departure_date="2026-11-20", arrival_date="2026-11-20"))


@of_price_and_sale
@every_case("people", [0, 10, -1, 1.5, "two", True])
def test_a_number_of_passengers_that_is_not_1_to_9(model: type, people: object) -> None:
    assert set(shipped.faults(model, trip(num_of_passengers=people))) == {"num_of_passengers"}


@of_price_and_sale
def test_everything_at_once(model: type) -> None:
    found = shipped.faults(model, trip(days=400, age=81, destination="Atlantis", num_of_passengers=10))
    assert set(found) == {"arrival_date", "date_of_birth", "destination", "num_of_passengers"}


def test_each_passenger_pays() -> None:
    assert [cost(num_of_passengers=n) for n in (1, 2, "9")] == [Decimal(6500), Decimal(13_000), Decimal(58_500)]


@every_case(
    ("destination", "price"),
    [("Nigeria", 6500), ("Egypt", 6500), ("France", 9500), ("united kingdom", 11_500), ("Canada", 16_500)],
)
def test_the_destination_sets_the_zone(destination: str, price: int) -> None:
    assert cost(destination=destination) == price


def test_every_country_has_a_price() -> None:
    assert {cost(destination=name) for name in reference.countries()} == {6500, 9500, 11_500, 16_500}


def test_the_price_and_the_sale_are_worked_out_by_one_function_on_equal_facts() -> None:
    facts = {name: value for name, value in trip(days=45, age=70).items() if name in TravelPriceRequest.model_fields}
    request = TravelPriceRequest.model_validate(facts)
    assert TRAVEL.premium(request, shipped.rates(STANDARD)) == shipped.price(TRAVEL, **trip(days=45, age=70))  # type: ignore[arg-type]


def test_e_mail_and_phone_are_optional_when_only_pricing() -> None:
    sent = {n: v for n, v in build_example(TravelPriceRequest).items() if n not in {"email", "phone_number"}}
    assert not shipped.faults(TravelPriceRequest, sent)
    assert set(shipped.faults(TravelPriceRequest, {**sent, "email": "nobody", "phone_number": "12"})) == {
        "email",
        "phone_number",
    }


def test_a_product_with_a_shorter_table_refuses_what_it_has_no_rate_for() -> None:
    rates = shipped.rates(STANDARD)
    short = {zone: row[:2] for zone, row in rates.meta["rates"].items()}
    meta = {**rates.meta, "days": [7, 15], "rates": short, "age_factors": [{"to_age": 65, "factor": "1"}]}
    for changed, field in (({"days": 16}, "arrival_date"), ({"age": 66}, "date_of_birth")):
        with pytest.raises(InvalidInput) as refused:
            TRAVEL.premium(shipped.request(TRAVEL, **trip(**changed)), shipped.rates(STANDARD, meta=meta))
        assert [fault.field for fault in refused.value.faults] == [field]


@every_case(
    ("nationality", "state", "kept"),
    [
        ("Nigeria", "lagos state", "Lagos"),
        ("Ghana", "greater accra", "Greater Accra"),
        ("Ghana", "Lagos", "Lagos"),
        ("Nigeria", "Greater Accra", None),
        ("Ghana", "Atlantis", None),
    ],
)
def test_the_state_is_one_of_the_country_of_residence_or_of_nigeria(
    nationality: str, state: str, kept: str | None
) -> None:
    sent = trip(nationality=nationality, state=state)
    assert ("state" in shipped.faults(TravelRequest, sent)) is (kept is None)
    if kept:
        assert shipped.request(TRAVEL, **sent).state == kept


def test_one_passport_is_one_risk_however_it_is_written() -> None:
    keys = {TRAVEL.risk_key(shipped.request(TRAVEL, passport_number=n)) for n in ("A12345678", "a 123-456 78")}
    assert keys == {"A12345678"}
