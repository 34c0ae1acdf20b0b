"""Example answers of the OpenAPI page, by the shape of their `data`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from core import reference
from core.api import envelope
from core.services.claims import claim_samples
from core.services.selling import samples


def _page(key: str, record: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    return lambda: {key: [record()], **envelope.counts(1)}


def _one(key: str, record: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    return lambda: {key: record()}


def _first(rows: Sequence[Any]) -> Any:
    return orjson.loads(orjson.dumps(rows[:1]))


BY_SHAPE: Mapping[str, Callable[[], Any]] = {
    "Purchases": _page("purchases", samples.purchase),
    "Purchase": _one("purchase", samples.purchase),
    "Products": _page("products", samples.product),
    "Product": _one("product", samples.product),
    "Categories": _page("product_category", samples.counted_category),
    "Policies": _page("policies", samples.policy),
    "Policy": samples.policy,
    "UnderPolicy": _one("policy", samples.policy),
    "OnePolicy": _one("policy", samples.policy),
    "Price": samples.price,
    "Claims": _page("claims", claim_samples.claim),
    "Claim": _one("claim", claim_samples.claim),
    "File": claim_samples.file,
    "Names": lambda: list(reference.genders()),
    "FeatureLists": lambda: {"genders": list(reference.genders())},
    "CountriesWithStates": lambda: _first(reference.countries_with_states()),
    "StatesWithLgas": lambda: _first(reference.states()),
    "VehicleMakes": lambda: _first(reference.vehicle_makes(None)),
    "VehicleModels": lambda: _first(reference.vehicle_models(reference.vehicle_makes(None)[0].id, None)),
    "Renewals": _page("renewals", samples.renewal),
    "Renewal": samples.renewal,
    "Customers": _page("customers", samples.customer),
    "Customer": _one("customer", samples.customer),
}
