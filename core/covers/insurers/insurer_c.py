"""insurer-c: travel, priced by destination, age and days (contract S6)."""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, Field, ValidationInfo

from core import reference
from core.covers import fields, request_parts
from core.covers.ages import age_on
from core.covers.cover import IN_FORCE, Cover, Price, Rates, ResponseShape, Step, Term
from core.covers.fields import fault
from core.covers.pricing import Calculation, apply_minimum
from core.covers.request import Request
from core.errors import InvalidInput

MAX_DAYS = 365
MAX_AGE = 80
_JOURNEY = "Journey"
_ZONES = {
    "africa": ("africa", "Africa"),
    "schengen": ("schengen", "Schengen"),
    "elsewhere": ("worldwide_without_usa_canada", "Worldwide without USA and Canada"),
    "usa_canada": ("worldwide", "Worldwide"),
}
ZONE_NAMES = dict(_ZONES.values())


def _check_arrival(value: date, info: ValidationInfo) -> date:
    departure = info.data.get("departure_date")
    if departure is not None and value < departure:
        raise fault("must not be before departure_date")
    if departure is not None and count_days(departure, value) > MAX_DAYS:
        raise fault(f"must be within {MAX_DAYS} days of travel, both end days counted")
    return value


def _check_age(value: date, info: ValidationInfo) -> date:
    departure = info.data.get("departure_date")
    if departure is not None and age_on(departure, value) > MAX_AGE:
        raise fault(f"must be of a traveller of at most {MAX_AGE} years at departure")
    return value


def _check_state(value: str, info: ValidationInfo) -> str:
    spelling = reference.find_state(value) or reference.find_option(_list_states(info.data), value)
    if spelling is None:
        raise fault("must be from the states of the nationality, or of Nigeria")
    return spelling


def _list_states(values: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the states of the country of residence, as spelt in their lookup."""
    country = values.get("nationality")
    rows = (row.states for row in reference.countries_with_states() if row.name == country)
    return tuple(row.name for row in reference.states()) if country in {None, "Nigeria"} else next(rows, ())


def _list_state_choices(values: Mapping[str, Any]) -> Sequence[tuple[str, str]]:
    return [(name, name) for name in _list_states(values)]


ResidenceState = Annotated[
    fields.Text, AfterValidator(_check_state), fields.Choice(_list_state_choices, after=("nationality",))
]


class Trip(Request):
    """The fields that determine the price of a trip."""

    departure_date: Annotated[fields.TodayOrLater, fields.ExampleInDays(14), fields.Insured(_JOURNEY, "Departure")] = (
        Field(description="The first day of cover.")
    )
    arrival_date: Annotated[
        fields.Day, AfterValidator(_check_arrival), fields.ExampleInDays(27), fields.Insured(_JOURNEY, "Return")
    ] = Field(description="The last day of cover: the return.")
    date_of_birth: Annotated[fields.BirthDate, AfterValidator(_check_age)] = Field(examples=["1985-03-14"])
    destination: Annotated[request_parts.Country, fields.Insured(_JOURNEY, "Destination", place=-1)] = Field(
        examples=["France"]
    )
    num_of_passengers: Annotated[
        int, Field(ge=1, le=9), fields.WHOLE_NUMBER, fields.Insured(_JOURNEY, "Travellers")
    ] = Field(examples=[2])
    product_id: fields.ProductId = Field(examples=["01900000-0000-7000-8000-000000030101"])


class TravelPriceRequest(Trip):
    """Request for a travel price; contact details are optional."""

    email: fields.Email | None = Field(default=None, examples=["amaka.eze@example.com"])
    phone_number: fields.Phone | None = Field(default=None, examples=["08061234567"])


class TravelRequest(request_parts.BuyerWithPhone, Trip):
    """Cover of a trip."""

    title: request_parts.Title = Field(examples=["Mrs"])
    gender: request_parts.Gender = Field(examples=["Female"])
    passport_number: Annotated[fields.Passport, fields.Insured(_JOURNEY, is_number=True)] = Field(
        examples=["A12345678"]
    )
    address: fields.Address = Field(examples=["9 Ademola Street, Wuse 2"])
    nationality: request_parts.Country = Field(examples=["Nigeria"], description="Country of residence.")
    state: ResidenceState = Field(examples=["FCT"], description="State of residence.")
    occupation: fields.Text = Field(examples=["Pharmacist"])
    marital_status: Annotated[str, fields.Pick(reference.marital_statuses, "list")] = Field(examples=["Married"])
    nok_full_name: fields.Name = Field(examples=["Chidi Eze"])
    nok_address: fields.Address = Field(examples=["9 Ademola Street, Wuse 2"])
    nok_relationship: fields.Text = Field(examples=["Husband"])
    nok_phone_number: fields.Phone = Field(examples=["08027654321"])


def premium(request: Trip, rates: Rates) -> Price:
    """Return rate by zone and days x age factor x passengers, from the product's table.

    InvalidInput if the table does not cover the number of days or the age.
    """
    days = count_days(request.departure_date, request.arrival_date)
    age = age_on(request.departure_date, request.date_of_birth)
    zone, zone_name = _ZONES[reference.get_travel_zone(request.destination)]
    rate, max_days = _get_rate(rates.meta["rates"][zone], rates.meta["days"], days)
    factor = _get_age_factor(rates.meta["age_factors"], age)
    passengers = request.num_of_passengers
    calculation = Calculation(
        rate, (Step(zone_name, f"{days} {'day' if days == 1 else 'days'}, up to {max_days}", rate),)
    )
    calculation = calculation.add_step("Age", f"{age} years at departure, x {factor}", calculation.amount * factor)
    calculation = calculation.add_step("Passengers", f"x {passengers}", calculation.amount * passengers)
    return apply_minimum(calculation, rates).build_price()


def count_days(first: date, last: date) -> int:
    """Return the number of days, both ends counted: 12 December to 10 January are 30."""
    return (last - first).days + 1


def _get_rate(row: Sequence[str], bands: Sequence[int], days: int) -> tuple[Decimal, int]:
    for rate, longest in zip(row, bands, strict=True):
        if days <= longest:
            return Decimal(rate), longest
    raise InvalidInput.for_field("arrival_date", f"must be within {bands[-1]} days of travel for this product")


def _get_age_factor(bands: Sequence[Mapping[str, Any]], age: int) -> Decimal:
    for band in bands:
        if age <= band["to_age"]:
            return Decimal(band["factor"])
    raise InvalidInput.for_field("date_of_birth", f"must be of a traveller of at most {bands[-1]['to_age']} years")


def term(request: TravelRequest, _: Rates) -> Term:
    """Return the term from departure through the day of arrival, which is paid for too (contract S6, S8)."""
    return Term.from_days(request.departure_date, request.arrival_date)


def payload(request: TravelRequest, price: Price) -> Mapping[str, Any]:
    """Build the payload sent to the insurer."""
    return {
        "salutation": request.title,
        "surname": request.last_name,
        "other_names": request.first_name,
        "email_address": request.email,
        "telephone": request.phone_number,
        "birth_date": request.date_of_birth.isoformat(),
        "sex": request.gender,
        "marital_status": request.marital_status,
        "occupation": request.occupation,
        "passport_no": request.passport_number,
        "country_of_residence": request.nationality,
        "state_of_residence": request.state,
        "home_address": request.address,
        "travel_from": request.departure_date.isoformat(),
        "travel_to": request.arrival_date.isoformat(),
        "travel_days": count_days(request.departure_date, request.arrival_date),
        "destination_country": request.destination,
        "no_of_travellers": request.num_of_passengers,
        "next_of_kin": {
            "name": request.nok_full_name,
            "address": request.nok_address,
            "relationship": request.nok_relationship,
            "telephone": request.nok_phone_number,
        },
        "premium": f"{price.total:.2f}",
    }


TRAVEL = Cover(
    prefix="",
    route="buy-travel",
    insurer="insurer-c",
    title="Travel",
    request=TravelRequest,
    premium=premium,
    term=term,
    starts_by="departure_date",
    initial_state=IN_FORCE,
    response_shape=ResponseShape.UNDER_POLICY,
    payload=payload,
    risk_key=lambda request: request_parts.normalise_registration(request.passport_number),
)
COVERS = (TRAVEL,)
