"""Requests that wait for a buyer: read, priced and worded by their own cover, then filled in for each sale."""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from random import Random
from typing import Any

from core import clock, money
from core.covers import fields
from core.covers.cover import Cover, Rates, Term
from core.covers.request import validate
from core.demo.bulk_rows import Values
from core.demo.sales import requests

# What stands in a request until its buyer is known: (value that occurs nowhere else, its fields, its word).
_STAND_INS = (
    ("Qfirstq", ("first_name",), "%(first_name)s"),
    ("Qmiddleq", ("other_names",), "%(middle_name)s"),
    ("Qlastq", ("last_name",), "%(last_name)s"),
    ("qmailq@example.com", ("email",), "%(email)s"),
    ("08097531864", ("phone_number", "phone"), "%(phone)s"),
    ("1987-03-29", ("date_of_birth", "dob"), "%(born)s"),
    ("Qaddressq 1", ("address", "nok_address"), "%(address)s"),
    ("Qcityq", ("city", "town"), "%(city)s"),
    ("Zamfara", ("state",), "%(state)s"),
    ("ZAMFARA-Anka", ("lga",), "%(lga)s"),
    ("Female", ("gender",), "%(gender)s"),
    ("High Chief", ("title", "title_id"), "%(title)s"),
    ("Otunba.", ("owner_title",), "%(title)s."),
    ("QQQ-000QQ", ("registration_number", "vehicle_registration_number"), "%(plate)s"),
    ("QENGINEQ", ("engine_number",), "%(engine)s"),
    ("QCHASSISQ", ("chassis_number",), "%(chassis)s"),
    ("QSERIALQ", ("device_serial_number",), "%(serial)s"),
    ("QX9753108", ("passport_number",), "%(passport)s"),
    ("97531086429", ("bvn",), "%(bvn)s"),
)
_BY_FIELD = {name: value for value, names, _ in _STAND_INS for name in names}
PERSONAL = {"QX9753108": "passport", "97531086429": "bvn"}


Splitting = Callable[[int], money.Split]


@cache
def _end(start_on: date, months: int, days: int) -> date:
    return clock.add_days(clock.add_months(start_on, months), days)


@dataclass(frozen=True, kw_only=True, slots=True)
class Variant:
    """One request for a product with its price; its texts and `twin` are filled in by `text % words`.

    `personal` says which word of the buyer stands at which path and is sealed there; `risk` names the word
    that says what is insured. A term lasts months or days from `starts_in` days after the sale.
    """

    body: Values
    split: money.Split
    sum_insured_minor: int | None
    explained: str
    submitted: str
    payload: str
    personal: Mapping[str, str]
    twin: str | None
    risk: str | None
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
    wished = requests.wishes(dice, title, rates.meta, clock.today())
    known = {**fields.build_example(cover.request), **wished, **_BY_FIELD, "product_id": product_id}
    request = validate(cover.request, {name: known[name] for name in cover.request.model_fields if name in known})
    price, term = cover.premium(request, rates), cover.term(request, rates)
    submitted, payload = request.model_dump(mode="json", exclude_none=True), dict(cover.payload(request, price))
    return Variant(
        **_of_term(term),
        split=split(money.to_minor(price.total)),
        sum_insured_minor=None if price.sum_insured is None else money.to_minor(price.sum_insured),
        body=submitted,
        explained=re.sub(r"\d+ years", "%(age)s years", _text(price.explain, term)),
        submitted=_text(submitted, term),
        payload=_text(payload, term),
        personal=dict(_personal({"submitted": submitted, "payload": payload})),
        twin=_text(cover.duplicate_key(request), term)[1:-1] if cover.duplicate_key(request) else None,
        risk=cover.risk_key(request) and ("plate" if cover.registration(request) else "passport"),
    )


def device(rates: Rates, dice: Random, *, split: Splitting) -> Variant:
    """A device as it was insured at a flat price, while there was an endpoint for it."""
    policyholder = {name: _BY_FIELD[name] for name in ("first_name", "last_name", "email", "phone_number", "address")}
    body = {**policyholder, **requests.device(dice), "device_serial_number": _BY_FIELD["device_serial_number"]}
    term = Term.from_months(clock.today(), rates.cover_months)
    return Variant(
        **_of_term(term),
        split=split(money.to_minor(rates.price)),
        sum_insured_minor=None,
        body=body,
        explained="[]",
        submitted=_text(body, term),
        payload=_text(body, term),
        personal={},
        twin=None,
        risk=None,
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


def _text(data: object, term: Term) -> str:
    """Data as JSON in which words wait for the buyer and the days of the sale."""
    text = json.dumps(data).replace("%", "%%")
    for value, _, word in _STAND_INS:
        text = text.replace(value, word)
    for day, word in ((term.start_on, "%(starts)s"), (term.expiration_on, "%(ends)s")):
        text = text.replace(day.isoformat(), word) if day else text
    return text


def _personal(data: Mapping[str, Any], at: str = "") -> Iterator[tuple[str, str]]:
    for name, value in data.items():
        if isinstance(value, Mapping):
            yield from _personal(value, f"{at}{name}.")
        elif isinstance(value, str) and value in PERSONAL:
            yield f"{at}{name}", PERSONAL[value]
