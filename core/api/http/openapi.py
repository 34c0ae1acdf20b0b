"""The OpenAPI document: statuses, envelopes and examples derived from the running declarations."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from functools import cache, lru_cache
from typing import Any, Final

import orjson
from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from fastapi.routing import APIRoute
from pydantic import BaseModel, Field, create_model
from starlette.responses import Response

from core import clock, reference
from core.api.http import envelope
from core.api.http.envelope import Failure, envelope_model
from core.covers import fields
from core.covers.fields import build_example
from core.covers.request import Request
from core.desk import examples
from core.services.events.catalogue import BY_NAME
from core.services.finance.statements import reading as statement_reading
from core.services.selling.loan_books import records as loan_book_records
from core.settings import settings


def _page(key: str, record: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    return lambda: {key: [record()], **envelope.counts(1)}


def _one(key: str, record: Callable[[], Any]) -> Callable[[], dict[str, Any]]:
    return lambda: {key: record()}


def _first(rows: Sequence[Any]) -> Any:
    return orjson.loads(orjson.dumps(rows[:1]))


BY_SHAPE: Mapping[str, Callable[[], Any]] = {
    "PurchasePage": _page("purchases", examples.build_purchase),
    "OnePurchase": _one("purchase", examples.build_purchase),
    "ProductPage": _page("products", examples.build_product),
    "OneProduct": _one("product", examples.build_product),
    "CategoryList": _page("product_category", examples.counted_category),
    "PolicyPage": _page("policies", examples.build_listed_policy),
    "Policy": examples.build_policy,
    "UnderPolicy": _one("policy", examples.build_policy),
    "OnePolicy": _one("policy", examples.build_full_policy),
    "ComputedPrice": examples.build_price,
    "ClaimPage": _page("claims", examples.build_claim),
    "OneClaim": _one("claim", examples.build_claim),
    "File": examples.build_file,
    "Names": lambda: list(reference.genders()),
    "FeatureLists": lambda: {"genders": list(reference.genders())},
    "CountriesWithStates": lambda: _first(reference.countries_with_states()),
    "StatesWithLgas": lambda: _first(reference.states()),
    "VehicleMakes": lambda: _first(reference.list_vehicle_makes(None)),
    "VehicleModels": lambda: _first(reference.list_vehicle_models(reference.list_vehicle_makes(None)[0].id, None)),
    "RenewalPage": _page("renewals", examples.build_renewal),
    "Renewal": examples.build_renewal,
    "CustomerPage": _page("customers", examples.build_customer),
    "OneCustomer": _one("customer", examples.build_customer),
    "StatementPage": _page("statements", statement_reading.build_example),
    "OneStatement": _one("statement", statement_reading.build_example),
    "LoanBookPage": _page("loan_books", loan_book_records.build_example),
    "OneLoanBook": _one("loan_book", loan_book_records.build_example),
    "LoanBookRowPage": _page("rows", loan_book_records.build_row_example),
    "EventPage": lambda: {"events": [examples.build_event()], "cursor": examples.EVENT_ID, "has_more": False},
    "EventTypeList": _page("event_types", examples.build_event_type),
    "RegisteredEndpoint": lambda: {"endpoint": examples.build_endpoint(), "secret": examples.SECRET},
    "OneEndpoint": _one("endpoint", examples.build_endpoint),
    "EndpointList": _page("endpoints", examples.build_endpoint),
    "DeliveryPage": _page("deliveries", examples.build_delivery),
    "OneDelivery": _one("delivery", examples.build_delivery),
    "PingResult": examples.build_ping,
    "EventCount": lambda: {"events": 12, "queued": True},
    "DeletedEndpoint": lambda: {"id": examples.ENDPOINT_ID},
}


INTRODUCTION = """Sell policies of several insurers, follow them, and lodge claims on them.

**First steps.** An admin of the desk gives you a key, on the screen *API keys*. One that begins with `cd_test_`
sees and writes test records only: sell and renew with it as you like, nobody is insured and nothing is paid. Every
request has it:

```sh
KEY=cd_test_...; API={API}
curl "$API/products/get-all-products?limit=1" -H "Authorization: Bearer $KEY"
```

1. *Products* lists what you may sell. A product is bought at `/products/{prefix}/{route_name}`, or at
   `/products/{route_name}` where its `prefix` is empty; its `id` is the `product_id` of the body.
2. *Price.* Credit life and trips have an address of their own for their price; of other products, `price` is the
   premium in naira, or with `is_dynamic_pricing` percent of the value that is insured; plans have theirs in
   `meta.plan_prices`. What was charged is `genius_price` of the policy. Other rates hold from the next day on at
   the earliest, and the event `product.price_changed` tells of them before.
3. *Buy.* Each of these operations has a body as an example that works as it stands. The answer has the policy in
   `data`, or in `data.policy` for some covers; its `meta.certificate_url` opens the certificate for whoever has it,
   once the policy is `active`.
4. *Follow it* by a webhook (register, keep the secret, ping: it is active from its first 2xx; how a delivery is
   verified stands under *Webhooks* at the end of the page), or by asking `/events` from time to time.

**Answers.** Every answer is an envelope: `responseCode` 1 or 0, `responseText` for people, `data`, and `errorData`
on failure. The HTTP status agrees. A 400 names every field that is wrong, in `errorData`. A 401 says no more than
that: send the header as above, with a key that was not revoked. 429 and 503 say in `Retry-After` and
`errorData.retry_after` in how many seconds to try again. Fields and parameters that are not known are passed over,
and named in `X-Ignored-Fields`. Tell us `X-Request-Id` of an answer that you ask about.

**Once.** Every POST takes an `Idempotency-Key` of your choice: repeat a request under the same key after a timeout,
and the first answer comes again, with `Idempotent-Replayed: true`, in place of a second purchase.

**Lists** have `page` and `limit`, newest first, with `total_count`; times are UTC, days `YYYY-MM-DD`. The document
offers one kind of value for each field; amounts and flags of a JSON body are taken as texts too ("1000.50",
"true")."""

_FAILURES = {
    400: "Malformed or invalid input; `errorData` names every broken field.",
    401: "The key is missing or rejected.",
    403: "The key is not allowed to do this.",
    404: "Unknown, or not yours.",
    405: "The path does not take this method.",
    409: "The state forbids it: a duplicate sale, or an idempotency key reused for another request.",
    410: "The answer that an idempotency key repeats held data of a person who was erased.",
    413: "The body is too large.",
    415: "The body is not of the expected media type.",
    429: "Too many requests; `Retry-After` and `errorData.retry_after` say in how many seconds to try again.",
    500: "A defect of ours; nothing was written.",
    503: "The store is not available; `Retry-After` and `errorData.retry_after` say in how many seconds to try again.",
}
_ALWAYS = (400, 401, 405, 429, 500, 503)
_POSTED = (409, 410, 413, 415)
_FAILURE_EXAMPLES: dict[int, tuple[str, Any]] = {
    400: ("loan_tenure must be at least 3", [{"field": "loan_tenure", "message": "must be at least 3"}]),
    401: ("Unauthorized", None),
    403: ("Not allowed", None),
    404: ("Not found", None),
    405: ("Method not allowed", None),
    409: (
        "This risk is already insured for these dates",
        {"policy_id": "01a1f7c0-3c00-7000-8000-0000000000f1", "policy_number": "ACC/AR/11/26/HQ/1"},
    ),
    410: ("This answer held data of a person who was erased", None),
    413: ("The body may have at most 1 MiB", None),
    415: ("Send this body as application/json", None),
    429: ("Too many requests", {"retry_after": 2}),
    500: ("Something went wrong", None),
    503: ("The store is not available, try again shortly", {"retry_after": 2}),
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
_FAILURE_HEADERS: Final = {
    **dict.fromkeys((400, 403, 404, 409), "X-Ignored-Fields"),
    401: "WWW-Authenticate",
    405: "Allow",
    429: "Retry-After",
    503: "Retry-After",
}
_KEY_PARAMETER = {
    "name": "Idempotency-Key",
    "in": "header",
    "required": False,
    "description": "The same key and body replay the first answer instead of doing it again.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]+$"},
}
# Of a POST whose address says everything.
WITH_KEY: Final[dict[str, Any]] = {"parameters": [_KEY_PARAMETER]}


class Shape(BaseModel):
    """Base of the models of `data`."""


class Listed(Shape):
    """Base of pages: how many records there are in all, under each name that clients read it by (contract P2)."""

    total_count: int = Field(ge=0)
    total: int = Field(ge=0, description="The same as `total_count`.")
    total_result: int = Field(ge=0, description="The same as `total_count`.")


def build_one(name: str, about: str, **field: Any) -> Any:
    """Build the model of `data` with one record under its key; the document has its name and what it is about."""
    declared: Any = {key: (record, ...) for key, record in field.items()}
    return create_model(name, __base__=Shape, __doc__=about, **declared)


def build_page(name: str, about: str, **field: Any) -> Any:
    """Build the model of a page of records of a type under their key, as `build_one`."""
    declared: Any = {key: (list[record], ...) for key, record in field.items()}  # type: ignore[valid-type]
    return create_model(name, __base__=Listed, __doc__=about, **declared)


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
    guarded: bool = False,
    headers: Sequence[str] = (),
) -> dict[int | str, Any]:
    """The responses of an operation by status; `found` adds 404, `guarded` 403, `posted` those of a body."""
    posted_too = _POSTED if posted or status == 201 else ()
    numbers = {*_ALWAYS, *((404,) if found else ()), *((403,) if guarded else ()), *posted_too}
    stated: dict[int | str, Any] = {n: _failure(n) for n in sorted(numbers)}
    return {
        status: {"model": _envelope(shape), "description": text, "headers": _headers("X-Ignored-Fields", *headers)},
        **stated,
    }


def file_answers(shape: object, text: str, media_types: Iterable[str]) -> dict[int | str, Any]:
    """The responses of an operation that answers with bytes, without an envelope."""
    # Generators of clients know bytes by the first of the types.
    types = ("application/octet-stream", *media_types)
    content = {each: {"schema": {"type": "string", "format": "binary"}} for each in types}
    return {**answers(shape, "", found=True), 200: {"description": text, "content": content}}


def _failure(status: int) -> dict[str, Any]:
    stated = {"model": Failure, "description": _FAILURES[status]}
    return {**stated, "headers": _headers(_FAILURE_HEADERS[status])} if status in _FAILURE_HEADERS else stated


def _headers(*names: str) -> dict[str, Any]:
    return {name: {"description": _HEADERS[name][0], "schema": _HEADERS[name][1]} for name in names}


def body_example(model: type[Request]) -> dict[str, Any]:
    """An example body that works as it stands, and the Idempotency-Key header."""
    return {"requestBody": {"content": {"application/json": _with_example(model)}}, "parameters": [_KEY_PARAMETER]}


# The models whose examples stand in the document, by what stands there until it is made: routes are declared once, and
# the dates of an example are those of the day on which the document is read.
_MODELS: Final = dict[str, type[Request]]()


def _with_example(model: type[Request]) -> dict[str, Any]:
    name = f"example of {model.__module__}.{model.__qualname__}"
    _MODELS[name] = model
    return {"example": name}


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


_JSON_TOO: Final = (
    "A JSON body with the same names is taken in place of the form; its documents are then addresses that"
    " `/v1/upload-file` gave. A form may have such an address, as a text, in place of a file as well."
)


def form_body(
    model: type[Request], files: Iterable[str], *, has_example: bool = True, takes_json: bool = False
) -> dict[str, Any]:
    """The OpenAPI of a multipart body that is parsed by hand, and the Idempotency-Key header.

    The document has the form alone, in which whatever is no file is a text: generators of clients can make neither a
    field of two kinds nor a body of two media types. What else is taken is said in words.
    """
    media = {"schema": build_form_schema(model, files), **(_with_example(model) if has_example else {})}
    body: dict[str, Any] = {"required": True, "content": {"multipart/form-data": media}}
    return {"requestBody": {"description": _JSON_TOO, **body} if takes_json else body, "parameters": [_KEY_PARAMETER]}


def build_form_schema(model: type[Request], files: Iterable[str]) -> dict[str, Any]:
    """Return the schema of a model as a form: files are bytes, anything else a text, and nothing is null."""
    schema = model.model_json_schema()
    properties = {name: _as_text(part) for name, part in schema["properties"].items()}
    for name in files:
        properties[name] = {"format": "binary", **_pick(properties[name], "title", "description"), "type": "string"}
    return {**schema, "title": f"{model.__name__.removesuffix('Request')}Form", "properties": properties}


def _as_text(part: dict[str, Any]) -> dict[str, Any]:
    plain = _without_null(part)
    if plain["type"] == "number":
        pattern = fields.ABOVE_ZERO_PATTERN if "exclusiveMinimum" in plain else fields.AMOUNT_PATTERN
        return {**_pick(plain, "title"), "type": "string", "pattern": pattern, "description": _AMOUNT}
    if plain["type"] == "boolean":
        return {**_pick(plain, "title", "description"), "type": "string", "enum": ["true", "false"]}
    if plain.get("format") == "date":
        # Some clients write a date of theirs as an instant in UTC, which may lie in the day before.
        words = " ".join((*_pick(plain, "description").values(), "As YYYY-MM-DD."))
        return {**_pick(plain, "title"), "type": "string", "pattern": _DAY_PATTERN, "description": words}
    return plain


def _without_null(part: dict[str, Any]) -> dict[str, Any]:
    """A form and an address have no null: what is not given is left out, though the model of it may be None."""
    kinds = [kind for kind in part.get("anyOf", ()) if kind != {"type": "null"}]
    rest = {word: value for word, value in part.items() if word != "anyOf" and (word, value) != ("default", None)}
    return {**rest, **kinds[0]} if len(kinds) == 1 else {**rest, "anyOf": kinds} if kinds else rest


def _pick(part: dict[str, Any], *words: str) -> dict[str, Any]:
    return {word: part[word] for word in words if word in part}


_AMOUNT: Final = "In naira, with at most two decimals."
_DAY_PATTERN: Final = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"


def document(app: FastAPI) -> dict[str, Any]:
    """The OpenAPI document; rebuilt each day, as its examples contain dates near today."""
    return _document_of(app, clock.today(), settings().base_url)


async def answer(app: FastAPI, root: str | None = None) -> Response:
    """The document as it is sent; with a root path, for a page of this server, whatever that is called outside.

    A thread makes it, as that takes a second or two, and other requests go on. Of several who ask at once one makes it,
    and the others keep no thread that requests need.
    """
    encoded = await run_sync(_encoded, app, clock.today(), settings().base_url, root, limiter=_MAKER)
    return Response(encoded, media_type=envelope.JSON)


_MAKER: Final = CapacityLimiter(1)


@lru_cache(maxsize=2)
def _encoded(app: FastAPI, day: date, base_url: str, root: str | None) -> bytes:
    made = _document_of(app, day, base_url)
    if root is not None:
        made = {**made, "servers": [{"url": root}]}
    return orjson.dumps(made)


def _name_operations(app: FastAPI, paths: dict[str, Any]) -> None:
    """Give every operation the name of its handler, which reads well in a generated client."""
    for route in app.routes:
        if isinstance(route, APIRoute) and route.include_in_schema:
            for method in route.methods or ():
                paths[route.path_format][method.lower()]["operationId"] = route.name


def _complete_bodies(operation: dict[str, Any], schemas: dict[str, Any]) -> None:
    """Fill in the examples of bodies; put the schemas of those read by hand among the others, under their titles."""
    for media in operation.get("requestBody", {}).get("content", {}).values():
        if isinstance(name := media.get("example"), str):
            media["example"] = build_example(_MODELS[name])
        if title := media["schema"].get("title"):
            schemas[title] = media["schema"]
            media["schema"] = {"$ref": f"#/components/schemas/{title}"}


def _offer_parameters(operation: dict[str, Any]) -> None:
    """Leave out of the query what the path has: a generated client could not name both, though the server takes it."""
    parameters = operation.get("parameters", [])
    of_path = {each["name"] for each in parameters if each["in"] == "path"}
    parameters[:] = [each for each in parameters if each["in"] != "query" or each["name"] not in of_path]
    for parameter in parameters:
        parameter["schema"] = _without_null(parameter["schema"])


_DELIVERY_HEADERS: Final = {
    "webhook-id": "The id of the event, the same on every try: keep those that you have seen.",
    "webhook-timestamp": "Seconds since 1970 at which this try was signed: refuse what is older than five minutes.",
    "webhook-signature": "Signatures with blanks between them, each `v1,` and base64: one has to be right.",
    "coverdesk-event": "The type of the event.",
    "coverdesk-mode": "`live` or `test`.",
    "coverdesk-attempt": "Which try this is, from 1 on.",
    "coverdesk-replay": "`true` where somebody sent it again.",
}
_DELIVERY = """What an endpoint of yours is sent, by POST. `/event-types` lists the types with the schema of each.

Answer 2xx within 15 seconds, and work afterwards. All else is a failure, and is tried again for three days. An
event may come twice, and in another sequence than it happened: `sequence` counts those of one object.

The signature is that of [Standard Webhooks](https://www.standardwebhooks.com), which has libraries for most
languages: HMAC-SHA256 of `{webhook-id}.{webhook-timestamp}.{body}`, over the bytes of the body as they came, keyed
with the secret without `whsec_` and decoded from base64. In a shell, with the headers in `$ID` and `$TIME`:

```sh
HEX=$(printf %s "${SECRET#whsec_}" | base64 -d | od -An -tx1 | tr -d ' \\n')
printf '%s.%s.%s' "$ID" "$TIME" "$BODY" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$HEX" -binary | base64
```"""


def _build_webhook() -> dict[str, Any]:
    return {
        "operationId": "receive_event",
        "summary": "Receive an event",
        "description": _DELIVERY,
        "tags": ["Webhooks"],
        "security": [],
        "parameters": [
            {"name": name, "in": "header", "required": True, "description": says, "schema": {"type": "string"}}
            for name, says in _DELIVERY_HEADERS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {
                    "schema": {"$ref": "#/components/schemas/EventRecord"},
                    "example": examples.build_sample(BY_NAME["policy.activated"]),
                }
            },
        },
        "responses": {"2XX": {"description": "Taken."}, "410": {"description": "Never again: disables the endpoint."}},
    }


@lru_cache(maxsize=1)
def _document_of(app: FastAPI, _: date, base_url: str) -> dict[str, Any]:
    made = get_openapi(
        title=app.title,
        version=app.version,
        description=app.description.replace("{API}", f"{base_url}/v1"),
        routes=app.routes,
        servers=[
            {"url": f"{base_url}/v1", "description": "The address of this desk."},
            # For pages of this server.
            {"url": "/v1", "description": "The server that gave this document."},
        ],
    )
    made["webhooks"] = {"event": {"post": _build_webhook()}}
    made["components"]["securitySchemes"] = {"key": {"type": "http", "scheme": "bearer"}}
    made["security"] = [{"key": []}]
    _name_operations(app, made["paths"])
    schemas = made["components"]["schemas"]
    for operations in made["paths"].values():
        for operation in operations.values():
            # FastAPI states its own 422, which we never answer: a broken field is 400 (contract E4).
            operation["responses"].pop("422", None)
            _add_examples(operation["responses"])
            _offer_parameters(operation)
            _complete_bodies(operation, schemas)
    for name in ("HTTPValidationError", "ValidationError"):
        schemas.pop(name, None)
    return made
