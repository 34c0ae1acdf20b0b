"""The OpenAPI document: statuses, envelopes and examples derived from the running declarations."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from typing import Any, Final

import orjson
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field

from core import clock, reference
from core.api.http import envelope
from core.api.http.envelope import Failure, envelope_model
from core.covers.fields import build_example
from core.covers.request import Request
from core.services.examples import claim as claim_example
from core.services.examples import sale as sale_example
from core.services.examples import webhook as webhook_example
from core.services.finance.statements import records as statement_records
from core.settings import settings


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
    "Customers": _page("customers", sale_example.build_customer),
    "Customer": _one("customer", sale_example.build_customer),
    "Statements": _page("statements", statement_records.build_example),
    "Statement": _one("statement", statement_records.build_example),
    "Events": lambda: {
        "events": [webhook_example.build_event()],
        "cursor": webhook_example.EVENT_ID,
        "has_more": False,
    },
    "EventTypes": lambda: {"event_types": [webhook_example.build_event_type()]},
    "RegisteredEndpoint": lambda: {"endpoint": webhook_example.build_endpoint(), "secret": webhook_example.SECRET},
    "OneEndpoint": _one("endpoint", webhook_example.build_endpoint),
    "Endpoints": lambda: {"endpoints": [webhook_example.build_endpoint()]},
    "Deliveries": _page("deliveries", webhook_example.build_delivery),
    "OneDelivery": _one("delivery", webhook_example.build_delivery),
    "PingResult": webhook_example.build_ping,
    "EventCount": lambda: {"events": 12, "queued": True},
    "DeletedEndpoint": lambda: {"id": webhook_example.ENDPOINT_ID},
}


INTRODUCTION = """Sell policies of seven insurers. Every answer is an envelope: `responseCode` 1 or 0,
`responseText`, `data`, and `errorData` on failure. Send `Authorization: Bearer <key>` with every
request; a test key sees and writes test records only. Every POST takes an `Idempotency-Key`."""

_FAILURES = {
    400: "Malformed or invalid input; `errorData` names every broken field.",
    401: "The key is missing or rejected.",
    403: "The key is not allowed to do this.",
    404: "Unknown, or not yours.",
    405: "The path does not take this method.",
    409: "The state forbids it: a duplicate sale, or an idempotency key reused for another request.",
    413: "The body is too large.",
    415: "The body is not of the expected media type.",
    429: "Too many requests; `Retry-After` says when to come back.",
    500: "A defect of ours; nothing was written.",
    503: "The store is not available; `Retry-After` says when to come back.",
}
_ALWAYS = (400, 401, 405, 429, 500, 503)
_POSTED = (409, 413, 415)
_FAILURE_EXAMPLES: dict[int, tuple[str, Any]] = {
    400: (
        "loan_tenure must be at least 3",
        [{"field": "loan_tenure", "message": "must be at least 3"}],
    ),
    401: ("Unauthorized", None),
    403: ("Not allowed", None),
    404: ("Not found", None),
    405: ("Method not allowed", None),
    409: (
        "This risk is already insured for these dates",
        {"policy_id": "01a1f7c0-3c00-7000-8000-0000000000f1", "policy_number": "ACC/AR/11/26/HQ/1"},
    ),
    413: ("The body is too large", None),
    415: ("Send this body as application/json", None),
    429: ("Too many requests", None),
    500: ("Something went wrong", None),
    503: ("The store is not available, try again shortly", None),
}
# Headers of answers: what they say, and the schema of their value.
_HEADERS: Final = {
    "X-Ignored-Fields": (
        "Names in the request that are not known and were passed over, sorted, with commas between them.",
        {"type": "string", "examples": ["colour,referrer"]},
    ),
    "X-Possible-Duplicate-Of": (
        "The policy that the same customer has for the same amount and start: is this one meant as a second?",
        {"type": "string", "format": "uuid"},
    ),
    "Retry-After": ("After how many seconds to try again.", {"type": "integer", "minimum": 1}),
    "Allow": ("The methods that this path takes.", {"type": "string", "examples": ["GET, HEAD, OPTIONS"]}),
    "WWW-Authenticate": ("The scheme of the credentials that are wanted.", {"type": "string", "const": "Bearer"}),
}
_FAILURE_HEADERS: Final = {401: "WWW-Authenticate", 405: "Allow", 429: "Retry-After", 503: "Retry-After"}
_KEY_PARAMETER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key and body replay the first answer instead of doing it again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}


class Shape(BaseModel):
    """Base of the models of `data`."""


class Listed(Shape):
    """Base of pages: how many records there are in all, under each name that clients read it by (contract P2)."""

    total_count: int = Field(ge=0)
    total: int = Field(ge=0, description="The same as `total_count`.")
    total_result: int = Field(ge=0, description="The same as `total_count`.")


@cache
def _envelope(shape: Any) -> type[BaseModel]:
    name = shape.__name__.strip("_").removesuffix("Record")
    return envelope_model(f"{name}Answer", shape)


def answers(
    shape: object,
    text: str,
    *,
    status: int = 200,
    found: bool = False,
    posted: bool = False,
    headers: Sequence[str] = (),
) -> dict[int | str, Any]:
    """The responses of an operation by status; `found` adds 404, `posted` those of a body."""
    numbers = {*_ALWAYS, *((404,) if found else ()), *(_POSTED if posted or status == 201 else ())}
    stated: dict[int | str, Any] = {n: _failure(n) for n in sorted(numbers)}
    return {
        status: {"model": _envelope(shape), "description": text, "headers": _headers("X-Ignored-Fields", *headers)},
        **stated,
    }


def _failure(status: int) -> dict[str, Any]:
    stated = {"model": Failure, "description": _FAILURES[status]}
    return {**stated, "headers": _headers(_FAILURE_HEADERS[status])} if status in _FAILURE_HEADERS else stated


def _headers(*names: str) -> dict[str, Any]:
    return {name: {"description": _HEADERS[name][0], "schema": _HEADERS[name][1]} for name in names}


def body_example(model: type[Request]) -> dict[str, Any]:
    """An example body that works as it stands, and the Idempotency-Key header."""
    return {
        "requestBody": {"content": {"application/json": {"example": build_example(model)}}},
        "parameters": [_KEY_PARAMETER],
    }


def _add_examples(responses: dict[str, Any]) -> None:
    for status, stated in responses.items():
        media = stated.get("content", {}).get("application/json")
        if media is None:
            continue
        if int(status) >= 400:
            text, detail = _FAILURE_EXAMPLES[int(status)]
            media["example"] = {"responseCode": 0, "responseText": text, "data": {}, "errorData": detail}
            continue
        shape = media["schema"].get("$ref", "").rsplit("/", 1)[-1].removesuffix("Answer")
        if shape in BY_SHAPE:
            media["example"] = {"responseCode": 1, "responseText": stated["description"], "data": BY_SHAPE[shape]()}


def form_body(content: dict[str, Any]) -> dict[str, Any]:
    """The OpenAPI of a body that is parsed by hand, by media type, and the Idempotency-Key header."""
    return {"requestBody": {"required": True, "content": content}, "parameters": [_KEY_PARAMETER]}


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document; rebuilt each day, as its examples contain dates near today."""
    return _document_of(app, clock.today(), settings().base_url)


def _servers(base_url: str) -> list[dict[str, str]]:
    """Return the API's base URL for clients, and a relative one for pages of this server."""
    return [
        {"url": f"{base_url}/v1", "description": "The address of this desk."},
        {"url": "/v1", "description": "The server that gave this document."},
    ]


def _name_operations(app: FastAPI, paths: dict[str, Any]) -> None:
    """Give every operation the name of its handler, which reads well in a generated client."""
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                paths[route.path_format][method.lower()]["operationId"] = route.name


def _take_null_away(parameters: Iterable[dict[str, Any]]) -> None:
    """A parameter is there or not: an address has no null, though the model of the query has."""
    for parameter in parameters:
        schema = parameter["schema"]
        kinds = [kind for kind in schema.get("anyOf", ()) if kind != {"type": "null"}]
        if len(kinds) == 1:
            parameter["schema"] = {**{k: v for k, v in schema.items() if k != "anyOf"}, **kinds[0]}
        elif kinds:
            schema["anyOf"] = kinds


def _name_bodies(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Put the schemas of bodies that are read by hand among the others, under their titles."""
    for media in operation.get("requestBody", {}).get("content", {}).values():
        if title := media["schema"].get("title"):
            schemas[title] = media["schema"]
            media["schema"] = {"$ref": f"#/components/schemas/{title}"}


@lru_cache(maxsize=1)
def _document_of(app: FastAPI, _: date, base_url: str) -> dict[str, Any]:
    made = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description,
        routes=app.routes,
        servers=_servers(base_url),
    )
    made["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    made["security"] = [{"key": []}]
    _name_operations(app, made["paths"])
    schemas = made["components"]["schemas"]
    for operations in made["paths"].values():
        for operation in operations.values():
            # FastAPI states its own 422, which we never answer: a broken field is 400 (contract E4).
            operation["responses"].pop("422", None)
            _add_examples(operation["responses"])
            _take_null_away(operation.get("parameters", ()))
            _name_bodies(operation, schemas)
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    return made
