"""Believable contents of requests, by field name."""

import json
from collections.abc import Mapping, Sequence
from datetime import date
from functools import cache
from random import Random
from typing import Any, TypeVar

from core import clock, reference
from core.covers.credit_life import BENEFITS
from core.settings import ROOT

_HELD = json.loads((ROOT / "data" / "demonstration" / "requests.json").read_text(encoding="utf-8"))


def wishes(dice: Random, product_name: str, meta: Mapping[str, Any], today: date) -> dict[str, Any]:
    """A value for every field that any cover may ask about the thing insured; a request takes what it has."""
    return {
        **_vehicle(dice, product_name.lower(), today.year),
        **_loan(dice, today),
        **_journey(dice, today),
        **_belongings(dice),
        **_cargo(dice, today),
        "plan": _few(dice, list(meta.get("plan_prices", {"": 0})), (60, 27, 13)),
        "premium_frequency": _few(
            dice, ("monthly", "annually", "quarterly", "biannually", "weekly"), (46, 26, 15, 7, 6)
        ),
        "insurance_start_date": today.isoformat(),
        "occupation": dice.choice(_HELD["occupations"]),
        "identification_name": dice.choice(("NIN", "Drivers License", "International Passport")),
    }


def round_amount(dice: Random, middle: float, spread: float, *, step: int) -> int:
    """An amount in naira around the middle one, mostly near it, sometimes far above."""
    return max(step, round(dice.lognormvariate(0, spread) * middle / step) * step)


T = TypeVar("T")


def _few(dice: Random, options: Sequence[T], weights: Sequence[float]) -> T:
    return dice.choices(options, weights[: len(options)])[0]


def _vehicle(dice: Random, product_name: str, this_year: int) -> dict[str, Any]:
    kinds = _HELD["vehicles"]
    kind = next((kind for kind in kinds if kind in product_name), "cars")
    vehicle = dice.choice(kinds[kind])
    make_id, model_id = _vehicle_ids(vehicle["make"], vehicle["model"])
    year = str(this_year - int(dice.triangular(1, 21, 10)))
    middle = vehicle["millions"] * (350_000 if "mini" in product_name else 700_000)
    worth = round_amount(dice, middle, 0.35, step=50_000)
    usage = "Commercial" if kind != "cars" or dice.random() < 0.25 else "Private"
    colour = _few(dice, ("Black", "Silver", "Ash", "White", "Blue", "Red", "Green"), (22, 20, 17, 14, 12, 9, 6))
    return {
        "vehicle_make": make_id,
        "vehicle_model": model_id,
        "vehicle_color": colour,
        "year_of_manufacture": year,
        "vehicle_year_manufactured": year,
        "engine_capacity": _few(dice, ("1.6", "1.8", "2.0", "2.4", "3.5"), (20, 25, 20, 20, 15)),
        "vehicle_cost": worth,
        "vehicle_value": worth,
        "vehicle_category": usage,
        "vehicle_insurance_type": usage,
        "vehicle_type": vehicle["body_type"],
    }


@cache
def _vehicle_ids(make_name: str, model_name: str) -> tuple[str, str]:
    make = reference.find_make_by_id_or_name(make_name)
    model = make and reference.find_model_by_id_or_name(model_name, make)
    if make is None or model is None:
        raise LookupError(f"the vehicle lookup has no {make_name} {model_name}")
    return make.id, model.id


def _loan(dice: Random, today: date) -> dict[str, Any]:
    chosen = _few(dice, (BENEFITS, BENEFITS[:2], (BENEFITS[0], BENEFITS[3]), BENEFITS[:3]), (58, 14, 18, 10))
    return {
        "loan_amount": round_amount(dice, 160_000, 0.85, step=5_000),
        "loan_tenure": _few(dice, (3, 6, 9, 12, 18, 24), (18, 26, 8, 30, 10, 8)),
        "benefit_coverage": list(chosen),
        "loan_start_date": today.isoformat(),
    }


def _journey(dice: Random, today: date) -> dict[str, Any]:
    journey = dice.choices(_HELD["journeys"], [journey["share"] for journey in _HELD["journeys"]])[0]
    departure = clock.add_days(today, round_amount(dice, 16, 0.7, step=1))
    return {
        "destination": journey["country"],
        "departure_date": departure.isoformat(),
        "arrival_date": clock.add_days(departure, min(round_amount(dice, 13, 0.8, step=1), 360)).isoformat(),
        "num_of_passengers": _few(dice, (1, 2, 3, 4), (64, 22, 8, 6)),
        "marital_status": _few(dice, ("Married", "Single", "Divorced", "Widowed"), (58, 34, 4, 4)),
        "nationality": "Nigeria",
    }


def _belongings(dice: Random) -> dict[str, Any]:
    def some(names: Sequence[str]) -> list[dict[str, Any]]:
        chosen = dice.sample(names, dice.randint(2, 4))
        return [{"name": name, "amount": round_amount(dice, 1_900_000, 0.7, step=10_000)} for name in chosen]

    return {
        **{field: some(names) for field, names in _HELD["items"].items()},
        "is_full_year": dice.random() < 0.8,
        "tenancy": dice.choice(("Tenant", "Owner")),
        "stock_amount": round_amount(dice, 5_500_000, 0.7, step=50_000),
        "nature_of_stock": _few(dice, ("non perishable", "mixed", "perishable"), (55, 30, 15)),
        "nature_of_business": dice.choice(_HELD["trades"]),
    }


def _cargo(dice: Random, today: date) -> dict[str, Any]:
    cargo = dice.choice(_HELD["cargoes"])
    return {
        "cargo_value": round_amount(dice, 34_000_000, 0.75, step=250_000),
        "cargo_description": cargo["goods"],
        "country_of_origin": cargo["origin"],
        "destination_country": "Nigeria",
        "shipping_date": clock.add_days(today, dice.randint(1, 20)).isoformat(),
    }


def device(dice: Random) -> dict[str, Any]:
    """A device as it was described while devices were sold."""
    chosen = dice.choice(_HELD["devices"])
    return {
        "device_make": chosen["make"],
        "device_model": chosen["model"],
        "device_value": chosen["value"],
        "payment_receipt": "https://files.example.com/devices/receipt.jpg",
    }
