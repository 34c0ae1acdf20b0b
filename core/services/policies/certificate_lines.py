"""The lines of a certificate that describe the insured object, from the submitted data."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from core import money
from core.covers import vehicles

Submitted = Mapping[str, Any]


def covered(submitted: Submitted) -> Iterator[tuple[str, str]]:
    """Yield label and value of everything insured, in reading order."""
    for label, value in _LINES:
        words = value(submitted)
        if words:
            yield label, words


def _text(*names: str) -> Callable[[Submitted], str]:
    return lambda submitted: str(next((submitted[name] for name in names if submitted.get(name)), ""))


def _day(name: str) -> Callable[[Submitted], str]:
    return lambda submitted: in_words(date.fromisoformat(submitted[name][:10])) if submitted.get(name) else ""


def _naira(name: str) -> Callable[[Submitted], str]:
    return lambda submitted: _shown(Decimal(str(submitted[name]))) if submitted.get(name) else ""


def in_words(day: date) -> str:
    """Format a day for a certificate: 5 March 2027."""
    return f"{day.day} {day:%B %Y}"


def _shown(naira: Decimal) -> str:
    return money.shown(money.to_minor(naira))


def _vehicle(submitted: Submitted) -> str:
    names = (
        vehicles.make_name(submitted.get("vehicle_make", "")),
        vehicles.model_name(submitted.get("vehicle_model", "")),
    )
    return " ".join(name for name in names if name)


def _benefits(submitted: Submitted) -> str:
    return ", ".join(name.replace("_", " ") for name in submitted.get("benefit_coverage", ())).capitalize()


def _months(submitted: Submitted) -> str:
    return f"{submitted['loan_tenure']} months" if "loan_tenure" in submitted else ""


def _items(submitted: Submitted) -> str:
    items = submitted.get("office_items") or submitted.get("home_items") or ()
    if not items:
        return ""
    worth = sum((Decimal(str(item["amount"])) for item in items), Decimal(0))
    return f"{len(items)} {'item' if len(items) == 1 else 'items'} worth {_shown(worth)}"


def _premises(submitted: Submitted) -> str:
    stands = any(name in submitted for name in ("office_items", "home_items", "stock_amount"))
    return submitted.get("address", "") if stands else ""


def _voyage(submitted: Submitted) -> str:
    ends = (submitted.get("country_of_origin"), submitted.get("destination_country"))
    return " to ".join(str(end) for end in ends) if all(ends) else ""


_LINES: tuple[tuple[str, Callable[[Submitted], str]], ...] = (
    ("Registration number", _text("registration_number", "vehicle_registration_number")),
    ("Vehicle", _vehicle),
    ("Year of manufacture", _text("year_of_manufacture", "vehicle_year_manufactured")),
    ("Colour", _text("vehicle_color")),
    ("Chassis number", _text("chassis_number")),
    ("Engine number", _text("engine_number")),
    ("Use", _text("vehicle_category", "vehicle_insurance_type")),
    ("Plan", _text("plan")),
    ("Loan amount", _naira("loan_amount")),
    ("Loan tenure", _months),
    ("Loan start", _day("loan_start_date")),
    ("Benefits", _benefits),
    ("Destination", _text("destination")),
    ("Departure", _day("departure_date")),
    ("Return", _day("arrival_date")),
    ("Travellers", _text("num_of_passengers")),
    ("Premises", _premises),
    ("Contents", _items),
    ("Business", _text("nature_of_business")),
    ("Stock", _naira("stock_amount")),
    ("Cargo", _text("cargo_description")),
    ("Cargo value", _naira("cargo_value")),
    ("Voyage", _voyage),
    ("Shipping date", _day("shipping_date")),
    ("Device serial number", _text("device_serial_number", "imei_number")),
)
