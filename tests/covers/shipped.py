"""The shipped catalogue as covers see it: rates by product, and requests made of examples."""

import json
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Any

from core.covers.cover import Cover, Price, Rates
from core.covers.fields import build_example, list_numbers
from core.covers.request import Request, validate
from core.errors import InvalidInput
from core.services.catalogue.shipped import SHIPPED_FOLDER

GOLDEN = Path(__file__).parent / "golden"
STILL = datetime(2026, 11, 20, 7, 8, tzinfo=UTC)


@cache
def products() -> dict[str, dict[str, Any]]:
    rows = json.loads((SHIPPED_FOLDER / "products.json").read_text(encoding="utf-8"))
    return {row["id"]: row for row in rows}


def rates(product_id: str, **changed: Any) -> Rates:
    """The rates that a shipped product charges; `changed` replaces some of them."""
    row = products()[product_id]
    shipped = Rates(
        price=Decimal(row["price"]),
        dynamic=row["is_dynamic_pricing"],
        cover_months=int(row["cover_period"]),
        meta=row["meta"],
    )
    return replace(shipped, **changed)


def golden_file(cover: Cover[Any]) -> Path:
    """Return the path of the golden figures of a cover."""
    return GOLDEN / f"{cover.key.replace('/', '-')}.json"


def body(cover: Cover[Any], **changed: Any) -> dict[str, Any]:
    """The example body of a cover with some fields changed; one that is None is left out."""
    merged = {**build_example(cover.request), **changed}
    return {name: value for name, value in merged.items() if value is not None}


def numbers(cover: Cover[Any], serial: int) -> dict[str, str]:
    """Return the numbers of the insured thing, such as its plate or passport, that no sale of another serial has."""
    example = build_example(cover.request)
    is_digits = {name: str(example[name]).isdecimal() for name in list_numbers(cover.request)}
    return {
        name: f"{serial:0{len(example[name])}d}" if digits else f"RND{serial:05d}" for name, digits in is_digits.items()
    }


def request(cover: Cover[Any], **changed: Any) -> Any:
    return validate(cover.request, body(cover, **changed))


def price(cover: Cover[Any], **changed: Any) -> Price:
    """Return the price of the changed example of a cover by its shipped product."""
    validated = request(cover, **changed)
    return cover.premium(validated, rates(validated.product_id))


def faults(model: type[Request], data: Any) -> dict[str, str]:
    """The message for each broken field of a body; empty when the body is right."""
    try:
        validate(model, data)
    except InvalidInput as error:
        return {fault.field: fault.message for fault in error.faults}
    return {}
