"""The lines of a certificate that describe the insured object, from the submitted data."""

from collections.abc import Callable, Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from core import money
from core.covers import vehicles

Submitted = Mapping[str, Any]


def list_lines(submitted: Submitted) -> Iterator[tuple[str, str]]:
    """Yield label and value of everything insured, in reading order."""
    for label, value in _LINES:
        text = value(submitted)
        if text:
            yield label, text


def _read_text(*names: str) -> Callable[[Submitted], str]:
    return lambda submitted: str(next((submitted[name] for name in names if submitted.get(name)), ""))


def _read_day(name: str) -> Callable[[Submitted], str]:
    return lambda submitted: format_day(date.fromisoformat(submitted[name][:10])) if submitted.get(name) else ""


def _read_naira(name: str) -> Callable[[Submitted], str]:
    return lambda submitted: _format_naira(Decimal(str(submitted[name]))) if submitted.get(name) else ""


def format_day(day: date) -> str:
    """Format a day for a certificate: 5 March 2027."""
    return f"{day.day} {day:%B %Y}"


def _format_naira(naira: Decimal) -> str:
    return money.format_naira(money.to_minor(naira))


def _describe_vehicle(submitted: Submitted) -> str:
    names = (
        vehicles.get_make_name(submitted.get("vehicle_make", "")),
        vehicles.get_model_name(submitted.get("vehicle_model", "")),
    )
    return " ".join(name for name in names if name)


def _describe_benefits(submitted: Submitted) -> str:
    return ", ".join(name.replace("_", " ") for name in submitted.get("benefit_coverage", ())).capitalize()


def _describe_tenure(submitted: Submitted) -> str:
    return f"{submitted['loan_tenure']} months" if "loan_tenure" in submitted else ""


def _describe_items(submitted: Submitted) -> str:
    items = submitted.get("office_items") or submitted.get("home_items") or ()
    if not items:
        return ""
    total = sum((Decimal(str(item["amount"])) for item in items), Decimal(0))
    return f"{len(items)} {'item' if len(items) == 1 else 'items'} worth {_format_naira(total)}"


def _describe_premises(submitted: Submitted) -> str:
    has_premises = any(name in submitted for name in ("office_items", "home_items", "stock_amount"))
    return submitted.get("address", "") if has_premises else ""


def _describe_voyage(submitted: Submitted) -> str:
    ends = (submitted.get("country_of_origin"), submitted.get("destination_country"))
    return " to ".join(str(end) for end in ends) if all(ends) else ""


_LINES: tuple[tuple[str, Callable[[Submitted], str]], ...] = (
    ("Registration number", _read_text("registration_number", "vehicle_registration_number")),
    ("Vehicle", _describe_vehicle),
    ("Year of manufacture", _read_text("year_of_manufacture", "vehicle_year_manufactured")),
    ("Colour", _read_text("vehicle_color")),
    ("Chassis number", _read_text("chassis_number")),
    ("Engine number", _read_text("engine_number")),
    ("Use", _read_text("vehicle_category", "vehicle_insurance_type")),
    ("Plan", _read_text("plan")),
    ("Loan amount", _read_naira("loan_amount")),
    ("Loan tenure", _describe_tenure),
    ("Loan start", _read_day("loan_start_date")),
    ("Benefits", _describe_benefits),
    ("Destination", _read_text("destination")),
    ("Departure", _read_day("departure_date")),
    ("Return", _read_day("arrival_date")),
    ("Travellers", _read_text("num_of_passengers")),
    ("Premises", _describe_premises),
    ("Contents", _describe_items),
    ("Business", _read_text("nature_of_business")),
    ("Stock", _read_naira("stock_amount")),
    ("Cargo", _read_text("cargo_description")),
    ("Cargo value", _read_naira("cargo_value")),
    ("Voyage", _describe_voyage),
    ("Shipping date", _read_day("shipping_date")),
    ("Device serial number", _read_text("device_serial_number", "imei_number")),
)
