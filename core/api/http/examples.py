"""Example responses of the OpenAPI document, by the shape of their `data`."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import orjson

from core import reference
from core.api.http import envelope
from core.services.examples import claim as claim_example
from core.services.examples import sale as sale_example
from core.services.finance.statements import records as statement_records


def _page(key: str, record: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    return lambda: {key: [record()], **envelope.counts(1)}


def _one(key: str, record: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    return lambda: {key: record()}


def _first(rows: Sequence[Any]) -> Any:
    return orjson.loads(orjson.dumps(rows[:1]))


BY_SHAPE: Mapping[str, Callable[[], Any]] = {
    "Purchases": _page("purchases", sale_example.build_purchase),
    "Purchase": _one("purchase", sale_example.build_purchase),
    "Products": _page("products", sale_example.build_product),
    "Product": _one("product", sale_example.build_product),
    "Categories": _page("product_category", sale_example.counted_category),
    "Policies": _page("policies", sale_example.build_policy),
    "Policy": sale_example.build_policy,
    "UnderPolicy": _one("policy", sale_example.build_policy),
    "OnePolicy": _one("policy", sale_example.build_policy),
    "Price": sale_example.build_price,
    "Claims": _page("claims", claim_example.build_claim),
    "Claim": _one("claim", claim_example.build_claim),
    "File": claim_example.build_file,
    "Names": lambda: list(reference.genders()),
    "FeatureLists": lambda: {"genders": list(reference.genders())},
    "CountriesWithStates": lambda: _first(reference.countries_with_states()),
    "StatesWithLgas": lambda: _first(reference.states()),
    "VehicleMakes": lambda: _first(reference.list_vehicle_makes(None)),
    "VehicleModels": lambda: _first(reference.list_vehicle_models(reference.list_vehicle_makes(None)[0].id, None)),
    "Renewals": _page("renewals", sale_example.build_renewal),
    "Renewal": sale_example.build_renewal,
    "Statements": _page("statements", statement_records.build_example),
    "Statement": _one("statement", statement_records.build_example),
    "Customers": _page("customers", sale_example.build_customer),
    "Customer": _one("customer", sale_example.build_customer),
}
