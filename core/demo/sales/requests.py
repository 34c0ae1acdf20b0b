"""Requests that wait for a buyer: read, priced and worded by their own cover, then filled in for each sale."""

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from functools import cache, partial
from random import Random
from typing import Any, TypeVar

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from core import clock, money, reference
from core.covers import fields
from core.covers.cover import Cover, Rates, Term
from core.covers.credit_life import BENEFITS
from core.covers.request import validate
from core.covers.request_parts import normalise_registration
from core.demo.bulk_rows import Values
from core.settings import ROOT

_PLATE_CODES = "ABJ BDG BEN BWR EKY ENU FKJ GWA IKD JJJ KJA KMC KRD KSF LND LSD LSR MUS NSR PHC RBC SMK UYY YLA".split()  # noqa: SIM905
_LETTERS = "ABCDEFGHJKLMNPQRSTUVWXYZ"
# Prime, so that serial numbers far apart come out where neighbours were.
_STRIDE = 7_368_787
# Of a longer number its beginning stays, which tells the maker of a device.
_VARIED_DIGITS = 10


@dataclass(frozen=True, slots=True)
class StandIn:
    """A value that stands in a request until its sale and occurs nowhere else, its fields, and the text instead of it.

    The texts are filled with the words of the sale. For a number of the thing insured, `make` makes the `word` from
    the sale's serial number; all else the buyer says. A `sealed` number stands masked in the texts.
    """

    value: str
    fields: tuple[str, ...]
    word: str
    make: Callable[[int], str] | None = None
    sealed: bool = False
    text: str = ""

    @property
    def clear(self) -> str:
        """The word that is not masked; with `_key` after it, the same number as it is compared (contract S12)."""
        return f"{self.word}_number" if self.sealed else self.word


def _plate(serial: int) -> str:
    """A plate of its own for every serial number: mostly the style since 2011, some older.

    Numbers rise within each code, as they are given out; which code is next looks like chance.
    """
    turn = serial // len(_PLATE_CODES)
    place = (serial * 7 + turn * 5) % len(_PLATE_CODES)
    digits, pair = (turn + place * 41) % 999 + 1, (turn // 999 + place * 29) % len(_LETTERS) ** 2
    code, letters = _PLATE_CODES[place], _LETTERS[pair // len(_LETTERS)] + _LETTERS[pair % len(_LETTERS)]
    return f"{letters}{digits:03d}-{code}" if serial % 9 == 0 else f"{code}-{digits:03d}{letters}"


def _number_device(serial: int) -> str:
    return f"SN{serial * _STRIDE % 1_000_000_000:09d}"


_SERIAL = StandIn("QSERIALQ", ("device_serial_number",), "serial", _number_device)
_STAND_INS = (
    StandIn("Qfirstq", ("first_name",), "first_name"),
    StandIn("Qmiddleq", ("other_names",), "middle_name"),
    StandIn("Qlastq", ("last_name",), "last_name"),
    StandIn("qmailq@example.com", ("email",), "email"),
    StandIn("08097531864", ("phone_number", "phone"), "phone"),
    StandIn("1987-03-29", ("date_of_birth", "dob"), "born"),
    StandIn("Qaddressq 1", ("address", "nok_address"), "address"),
    StandIn("Qcityq", ("city", "town"), "city"),
    StandIn("Zamfara", ("state",), "state"),
    StandIn("ZAMFARA-Anka", ("lga",), "lga"),
    StandIn("Female", ("gender",), "gender"),
    StandIn("High Chief", ("title", "title_id"), "title"),
    StandIn("Otunba.", ("owner_title",), "title", text="%(title)s."),
    StandIn("QQQ-000QQ", ("registration_number", "vehicle_registration_number"), "plate", _plate),
    StandIn("QENGINEQ", ("engine_number",), "engine", lambda serial: f"2AZ{serial:07d}"),
    StandIn(
        "QCHASSISQ",
        ("chassis_number",),
        "chassis",
        lambda serial: f"JTDBT92{serial * _STRIDE % 10_000_000_000:010d}",
    ),
    _SERIAL,
    StandIn(
        "QX9753108",
        ("passport_number",),
        "passport",
        lambda serial: f"B{serial * _STRIDE % 100_000_000:08d}",
        sealed=True,
    ),
    StandIn("97531086429", ("bvn",), "bvn", sealed=True),
)
_BY_FIELD = {name: each.value for each in _STAND_INS for name in each.fields}


def _list_stand_ins(model: type[BaseModel], submitted: Mapping[str, Any]) -> tuple[StandIn, ...]:
    """Return the stand-ins of a request; an insured number without one of its own is its example with other digits."""
    others = [name for name in fields.list_numbers(model) if name not in _BY_FIELD and name in submitted]
    return (*_STAND_INS, *(_vary_example(name, model.model_fields[name], submitted[name]) for name in others))


def _vary_example(name: str, field: FieldInfo, example: str) -> StandIn:
    sealed = any(isinstance(mark, fields.Personal) for mark in fields.get_metadata(field))
    return StandIn(example, (name,), name, partial(_vary, example), sealed=sealed)


def _vary(example: str, serial: int) -> str:
    """Return a number of the example's shape: its last digits are those of the serial number."""
    count = min(sum(character.isdecimal() for character in example), _VARIED_DIGITS)
    digits = iter(f"{serial * _STRIDE % 10**count:0{count}d}"[::-1])
    turned = [next(digits, character) if character.isdecimal() else character for character in example[::-1]]
    return "".join(reversed(turned))


Splitting = Callable[[int], money.Split]


@cache
def _end(start_on: date, months: int, days: int) -> date:
    return clock.add_days(clock.add_months(start_on, months), days)


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """One request for a product with its price; its texts and `twin` are filled in by `text % words`.

    `personal` says which word stands at which path and is sealed there; `things` are the words of the insured thing's
    numbers, made from the sale's serial number. `risk`, `plate` and `device` are what the cover makes of them, as
    texts. A term lasts months or days from `starts_in` days after the sale.
    """

    body: Values
    split: money.Split
    sum_insured_minor: int | None = None
    explained: str
    submitted: str
    payload: str
    personal: Mapping[str, str] = field(default_factory=dict)
    twin: str | None = None
    things: Mapping[str, Callable[[int], str]]
    risk: str | None = None
    plate: str | None = None
    device: str | None = None
    starts_in: int | None
    months: int
    days: int
    last_day_paid: bool

    def term(self, today: date) -> Term:
        """The term that this request buys when it is sold on a day."""
        if self.starts_in is None:
            return Term.undated()
        start_on = clock.add_days(today, self.starts_in)
        if not self.months and not self.days:
            return Term(start_on, start_on, None)
        return Term(start_on, start_on, _end(start_on, self.months, self.days), self.last_day_paid)


def make_variant(
    cover: Cover[Any], rates: Rates, dice: Random, *, title: str, product_id: str, split: Splitting
) -> Variant:
    """A believable request as its cover reads, prices and words it, on the clock's day."""
    wished = wishes(dice, title, rates.meta, clock.today())
    known = {**fields.build_example(cover.request), **wished, **_BY_FIELD, "product_id": product_id}
    request = validate(cover.request, {name: known[name] for name in cover.request.model_fields if name in known})
    price, term = cover.premium(request, rates), cover.term(request, rates)
    submitted, payload = request.model_dump(mode="json", exclude_none=True), dict(cover.payload(request, price))
    stand_ins = _list_stand_ins(cover.request, submitted)
    return Variant(
        **_of_term(term),
        split=split(money.to_minor(price.total)),
        sum_insured_minor=None if price.sum_insured is None else money.to_minor(price.sum_insured),
        body=submitted,
        explained=re.sub(r"\d+ years", "%(age)s years", _text(price.explain, term, stand_ins)),
        submitted=_text(submitted, term, stand_ins),
        payload=_text(payload, term, stand_ins),
        personal=dict(_personal({"submitted": submitted, "payload": payload}, stand_ins)),
        twin=_text(cover.duplicate_key(request), term, stand_ins)[1:-1] if cover.duplicate_key(request) else None,
        things={each.clear: each.make for each in stand_ins if each.make and each.value in submitted.values()},
        risk=_word_key(cover.risk_key(request), stand_ins),
        plate=_word_key(cover.registration(request), stand_ins),
        device=_word_key(cover.device_number(request), stand_ins),
    )


def _word_key(value: str | None, stand_ins: Sequence[StandIn]) -> str | None:
    """Return what a cover makes of the insured number, as a text in which the words of a sale stand."""
    if not value:
        return None
    for each in stand_ins:
        value = value.replace(each.value, f"%({each.clear})s")
        value = value.replace(normalise_registration(each.value), f"%({each.clear}_key)s")
    return value


def device(rates: Rates, dice: Random, *, split: Splitting) -> Variant:
    """A device as it was insured at a flat price, while there was an endpoint for it."""
    policyholder = {name: _BY_FIELD[name] for name in ("first_name", "last_name", "email", "phone_number", "address")}
    body = {**policyholder, **describe_device(dice), "device_serial_number": _SERIAL.value}
    term = Term.from_months(clock.today(), rates.cover_months)
    return Variant(
        **_of_term(term),
        split=split(money.to_minor(rates.price)),
        body=body,
        explained="[]",
        submitted=_text(body, term, _STAND_INS),
        payload=_text(body, term, _STAND_INS),
        things={_SERIAL.word: _number_device},
        device="%(serial)s",
    )


def _of_term(term: Term) -> dict[str, Any]:
    """Return a term relative to today, in whole months where its end allows it (contract S8)."""
    start_on, ends_on = term.start_on, term.expiration_on
    starts_in = None if start_on is None else (start_on - clock.today()).days
    months = days = 0
    if start_on is not None and ends_on is not None:
        months = (ends_on.year - start_on.year) * 12 + ends_on.month - start_on.month
        if term.last_day_paid or clock.add_months(start_on, months) != ends_on:
            months, days = 0, (ends_on - start_on).days
    return {"starts_in": starts_in, "months": months, "days": days, "last_day_paid": term.last_day_paid}


def _text(data: object, term: Term, stand_ins: Sequence[StandIn]) -> str:
    """Data as JSON in which words wait for the buyer and the days of the sale."""
    text = json.dumps(data).replace("%", "%%")
    for each in stand_ins:
        text = text.replace(each.value, each.text or f"%({each.word})s")
    for day, word in ((term.start_on, "%(starts)s"), (term.expiration_on, "%(ends)s")):
        text = text.replace(day.isoformat(), word) if day else text
    return text


def _personal(data: Mapping[str, Any], stand_ins: Sequence[StandIn], at: str = "") -> Iterator[tuple[str, str]]:
    sealed = {each.value: each.word for each in stand_ins if each.sealed}
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from _personal(value, stand_ins, f"{at}{name}.")
        elif isinstance(value, str) and value in sealed:
            yield f"{at}{name}", sealed[value]


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


def describe_device(dice: Random) -> dict[str, Any]:
    """A device as it was described while devices were sold."""
    chosen = dice.choice(_HELD["devices"])
    return {
        "device_make": chosen["make"],
        "device_model": chosen["model"],
        "device_value": chosen["value"],
        "payment_receipt": "https://files.example.com/devices/receipt.jpg",
    }
