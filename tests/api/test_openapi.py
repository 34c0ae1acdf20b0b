"""The OpenAPI page says what the API does: every status, envelope and example (contract S1)."""

import functools
import os
import re
import subprocess
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from core import clock
from core.api.app import api
from core.api.http import openapi
from core.covers import request
from core.covers.credit_life import CREDIT_LIFE
from core.covers.fields import build_example
from core.covers.registry import COVERS
from core.covers.request import Request
from core.outbound import signing
from core.services.claims.intake.new_claims import CreditLifeClaimRequest
from core.settings import ROOT, settings
from core.ui.forms import questions
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case

OPERATIONS = [
    pytest.param(path, operation, id=f"{method.upper()} {path}")
    for path, methods in api.openapi()["paths"].items()
    for method, operation in methods.items()
]


def valid(instance: Any, schema: Any) -> None:
    whole = {**schema, "components": api.openapi()["components"]}
    Draft202012Validator(whole).validate(instance)


@pytest.mark.long
def test_document_is_valid() -> None:
    validate(api.openapi())


@every_case(("path", "operation"), OPERATIONS)
def test_every_answer_is_stated_with_an_example_that_fits_its_schema(path: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"]
    statuses = set(operation["responses"])
    assert statuses & {"200", "201", "202"}
    assert {"400", "401", "405", "429", "500", "503"} <= statuses
    assert "422" not in statuses
    for answer in operation["responses"].values():
        for media_type, media in answer.get("content", {}).items():
            if media_type == "application/json":
                valid(media["example"], media["schema"])


@every_case(("path", "operation"), OPERATIONS)
def test_every_json_body_has_an_example_that_fits_its_schema(path: str, operation: dict[str, Any]) -> None:
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        valid(content["application/json"]["example"], content["application/json"]["schema"])


KEYWORDS = {
    *("type", "title", "description", "examples", "default", "const", "enum", "format", "pattern", "$ref"),
    *("properties", "required", "additionalProperties", "items", "anyOf"),
    *("minimum", "maximum", "exclusiveMinimum", "minLength", "maxLength", "minItems", "maxItems"),
}


def schemas() -> Iterator[tuple[str, dict[str, Any]]]:
    """Every schema of the document, parts of others included, with where it stands."""
    document = api.openapi()
    for name, schema in document["components"]["schemas"].items():
        yield from _within(name, schema)
    for path, methods in document["paths"].items():
        for operation in methods.values():
            for parameter in operation.get("parameters", ()):
                yield from _within(f"{path}?{parameter['name']}", parameter["schema"])
            for status, answer in operation["responses"].items():
                for name, header in answer.get("headers", {}).items():
                    yield from _within(f"{path} {status} {name}", header["schema"])


def _within(where: str, schema: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield where, schema
    for name, part in schema.get("properties", {}).items():
        yield from _within(f"{where}.{name}", part)
    for part in (*schema.get("anyOf", ()), *([schema["items"]] if "items" in schema else ())):
        yield from _within(where, part)


def kinds(schema: dict[str, Any]) -> list[dict[str, Any]]:
    return [kind for kind in schema.get("anyOf", [schema]) if kind.get("type") not in {"null", "array"}]


def test_a_document_has_the_dates_of_the_day_on_which_it_is_read_and_the_address_of_the_desk(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A server that has run for a day gives no start of cover that has passed."""
    # Kept beside the document of the other tests, which takes a second to make.
    monkeypatch.setattr(openapi, "_document_of", functools.cache(openapi._document_of.__wrapped__))
    monkeypatch.setenv("COVERDESK_BASE_URL", "https://desk.example.com")
    settings.cache_clear()
    try:
        with clock.freeze(clock.now() + timedelta(days=400)):
            document = api.openapi()
            assert [each["url"] for each in document["servers"]] == ["https://desk.example.com/v1", "/v1"]
            bodies, paths = {cover.path: cover.request for cover in COVERS}, document["paths"]
            assert bodies.keys() <= paths.keys()
            for path, body in bodies.items():
                request.validate(body, paths[path]["post"]["requestBody"]["content"]["application/json"]["example"])
    finally:
        monkeypatch.undo()
        settings.cache_clear()


def test_schemas_speak_json_schema_and_nothing_else() -> None:
    strange = {(where, word) for where, schema in schemas() for word in set(schema) - KEYWORDS}
    assert strange == set()


FORMS = [
    pytest.param(path, operation["requestBody"]["content"], id=path)
    for path, methods in api.openapi()["paths"].items()
    for operation in methods.values()
    if "multipart/form-data" in operation.get("requestBody", {}).get("content", {})
]


@every_case("path, content", FORMS)
def test_a_form_has_files_and_texts_and_is_the_one_body_of_its_operation(path: str, content: dict[str, Any]) -> None:
    """Generators of clients make of a field of two kinds, or of a body of two media types, what does not compile."""
    assert list(content) == ["multipart/form-data"]
    schema = api.openapi()["components"]["schemas"][content["multipart/form-data"]["schema"]["$ref"].rsplit("/", 1)[-1]]
    assert {part["type"] for part in schema["properties"].values()} == {"string"}
    assert not any("anyOf" in part or part.get("default", "") is None for part in schema["properties"].values())
    assert any(part.get("format") == "binary" for part in schema["properties"].values())
    valid(content["multipart/form-data"].get("example", {"file": "bytes"}), schema)


def test_a_union_of_the_document_is_something_or_null() -> None:
    unions = {
        where: [kind for kind in schema["anyOf"] if kind != {"type": "null"}]
        for where, schema in schemas()
        if "anyOf" in schema
    }
    # The specification has these two.
    assert {where for where, kinds in unions.items() if len(kinds) > 1} == {
        "Failure.errorData",
        "ProductRecord.full_benefits",
    }


def test_every_number_is_a_double() -> None:
    """Without a format, a client in Go reads 20,000,001.37 as 20,000,002.00."""
    numbers = [(where, schema) for where, schema in schemas() if schema.get("type") == "number"]
    assert len(numbers) >= 10
    assert [where for where, schema in numbers if schema.get("format") != "double"] == []


def test_what_is_embedded_has_fields() -> None:
    untyped = {
        where
        for where, schema in schemas()
        if schema.get("type") == "object" and not schema.get("properties") and "." in where
    }
    assert untyped == {
        # What was submitted has the names of each insurer, and prices those of the product's plans.
        *("PolicyMeta.payload", "PolicyMeta.requestData", "ProductMeta.plan_prices"),
        # What is in an event follows from its type, and what a conflict is from what is in the way.
        *("EventRecord.data", "EventRecord.previous", "EventTypeRecord.schema", "Failure.errorData"),
    }


def test_no_schema_is_called_like_a_property_of_its_own() -> None:
    """A class and a field of one name hide each other in a generated client."""
    found = api.openapi()["components"]["schemas"].items()
    assert [
        f"{name}.{field}"
        for name, schema in found
        for field in schema.get("properties", ())
        if field.replace("_", "").lower() == name.replace("_", "").lower()
    ] == []
    assert [name for name, _ in found if name.startswith("_")] == []


def test_every_post_takes_an_idempotency_key() -> None:
    without = [
        path
        for path, methods in api.openapi()["paths"].items()
        if "post" in methods
        and "Idempotency-Key" not in {each["name"] for each in methods["post"].get("parameters", ())}
    ]
    assert without == []


def test_states_say_their_values() -> None:
    document = api.openapi()["components"]["schemas"]
    assert document["EndpointRecord"]["properties"]["state"]["enum"] == ["unverified", "active", "failing", "disabled"]
    assert document["DeliveryRecord"]["properties"]["state"]["enum"] == [
        *("queued", "held", "sent", "dead", "withdrawn")
    ]
    assert document["StatementRecord"]["properties"]["state"]["enum"] == [
        *("Sent", "Part paid", "Paid", "Disputed", "Void")
    ]
    plain = {
        where
        for where, schema in schemas()
        if where.endswith((".state", ".status", ".mode", ".format", ".app_mode"))
        and "enum" not in schema
        and schema.get("type") not in {"boolean", "integer", "null"}
        and "anyOf" not in schema
        and not where.endswith("Request.state")
    }
    assert plain == set()


def test_pages_say_their_bounds() -> None:
    found = {
        parameter["name"]: parameter["schema"] for parameter in api.openapi()["paths"]["/purchase"]["get"]["parameters"]
    }
    assert (found["page"]["minimum"], found["page"]["maximum"]) == (1, 10**9)
    assert (found["limit"]["minimum"], found["limit"]["maximum"], found["limit"]["default"]) == (1, 100, 10)


def test_no_parameter_of_an_address_can_be_null() -> None:
    parameters = [(where, schema) for where, schema in schemas() if "?" in where]
    assert parameters
    assert [where for where, schema in parameters if schema.get("type") == "null"] == []


def test_every_parameter_of_a_query_says_what_it_is() -> None:
    said = {
        (each.id, parameter["name"]): parameter.get("description") or parameter["schema"].get("description")
        for each in OPERATIONS
        for parameter in each.values[1].get("parameters", [])
        if parameter["in"] == "query"
    }
    assert [which for which, words in said.items() if not words] == []
    repeated = [which for which, words in said.items() if "repeat it" in str(words).lower()]
    assert repeated == [], "of several it takes one"
    assert said["GET /renewals", "status"] == "true: took effect; false: failed or reversed."
    assert said["GET /claims", "claim_amount"] == "In naira, exactly."
    assert said["GET /purchase", "provider_id"] == "The id of the provider."


def test_a_body_says_where_its_ids_addresses_and_types_come_from() -> None:
    fields = api.openapi()["components"]["schemas"]
    buy, endpoint = fields["CreditLifeRequest"]["properties"], fields["EndpointRequest"]["properties"]
    assert "`route_name`" in buy["product_id"]["description"]
    assert "`/upload-file`" in buy["id_image_url"]["description"]
    assert "`/event-types`" in endpoint["events"]["description"]
    helps = {question.name: question.help for question in questions.of(CREDIT_LIFE.request)}
    assert helps["id_image_url"] is None, "said to a developer, and not beside the widget"


def test_no_operation_has_two_parameters_of_one_name() -> None:
    for each in OPERATIONS:
        names = [parameter["name"] for parameter in each.values[1].get("parameters", [])]
        assert len(names) == len(set(names)), each.id


def test_who_may_not_confirm_a_loan_book_is_told_so_in_the_document() -> None:
    assert "403" in api.openapi()["paths"]["/loan-books/{loan_book_id}/confirm"]["post"]["responses"]


def test_the_contract_has_every_status_of_the_document() -> None:
    page = (ROOT / "docs" / "contract" / "answers.md").read_text()
    promised = {int(status) for status in re.findall(r"^\| (\d{3}) \|", page, re.MULTILINE)}
    stated = {int(status) for each in OPERATIONS for status in each.values[1]["responses"]}
    assert stated - promised == set()
    # Connections are ended with these two before there is an operation.
    assert promised - stated == {408, 431}


def test_ids_and_times_say_their_format() -> None:
    silent = []
    for where, schema in schemas():
        name = where.rpartition(".")[2].rpartition("?")[2]
        wanted = (
            {"uuid"}
            if name == "id" or (name.endswith("_id") and name != "title_id")
            else {"date", "date-time"}
            if name.endswith(("_at", "_date")) or name in {"dob", "date_of_birth"}
            else None
        )
        # A form has texts alone, a filter takes a day or a timestamp, and insurers' ids are theirs.
        is_text = ("Form." in where or "?" in where) and "uuid" not in (wanted or ())
        if is_text or name == "provider_policy_id":
            continue
        if wanted and not all(kind.get("format") in wanted for kind in kinds(schema) if "$ref" not in kind):
            silent.append(where)
    assert silent == []


VERBS = (
    "list|search|get|buy|compute|lodge|answer|renew|upload|download|register|change|delete|ping|rotate|enable"
    "|redeliver|replay|confirm|cancel"
)


def test_operations_are_named_for_a_generator() -> None:
    names = {each.values[1]["operationId"] for each in OPERATIONS}
    assert len(names) == len(OPERATIONS)
    assert all(re.fullmatch(rf"({VERBS})_[a-z_]+", name) for name in names)
    assert {"list_purchases", "search_policies", "get_claim", "buy_insurer_a_comprehensive", "upload_file"} <= names


def test_a_download_is_bytes_of_each_type_that_is_kept() -> None:
    content = api.openapi()["paths"]["/files/{code}"]["get"]["responses"]["200"]["content"]
    assert list(content) == ["application/octet-stream", "image/jpeg", "image/png", "image/webp", "application/pdf"]
    assert all(media == {"schema": {"type": "string", "format": "binary"}} for media in content.values())


def test_headers_of_answers_are_described() -> None:
    def list_headers(path: str, method: str, status: str) -> set[str]:
        return set(api.openapi()["paths"][path][method]["responses"][status].get("headers", {}))

    for each in OPERATIONS:
        answers = each.values[1]["responses"]
        for status, name in (
            ("400", "X-Ignored-Fields"),
            ("401", "WWW-Authenticate"),
            ("405", "Allow"),
            ("429", "Retry-After"),
            ("503", "Retry-After"),
        ):
            assert answers[status]["headers"][name]["description"]
            assert answers[status]["headers"][name]["schema"]["type"]
    assert list_headers("/products/buy-credit-life", "post", "201") == {"X-Ignored-Fields", "X-Possible-Duplicate-Of"}
    assert list_headers("/products/buy-travel", "post", "201") == {"X-Ignored-Fields"}


def test_described_headers_are_those_that_come(client: Client, partner: Partner) -> None:
    loan = {**build_example(COVERS[-1].request), "colour": "red"}
    first, twin = (client.post("/v1/products/buy-credit-life", key=partner.test_key, json=loan) for _ in range(2))
    assert (first.headers["X-Ignored-Fields"], "X-Possible-Duplicate-Of" in first.headers) == ("colour", False)
    assert twin.headers["X-Possible-Duplicate-Of"] == first.json()["data"]["id"]
    assert client.get("/v1/purchase").headers["WWW-Authenticate"] == "Bearer"
    assert client.post("/v1/purchase", key=partner.test_key).headers["Allow"] == "GET, HEAD, OPTIONS"


BODIES = [*(cover.request for cover in COVERS), CreditLifeClaimRequest]


@every_case("model", BODIES, ids=lambda model: model.__name__)
def test_bounds_and_enums_of_a_body_say_what_is_taken(model: type[Request]) -> None:
    """A value within a bound is not refused for it, and one beyond it is."""
    body = build_example(model)
    for name, schema in model.model_json_schema()["properties"].items():
        for kind in kinds(schema):
            for value in _kept(kind):
                assert name not in shipped.faults(model, {**body, name: value}) or _is_cross_checked(name), (
                    name,
                    value,
                )
            for value in _broken(kind):
                assert name in shipped.faults(model, {**body, name: value}), (name, value)


@every_case("model", BODIES, ids=lambda model: model.__name__)
def test_amounts_and_flags_are_taken_as_texts_too(model: type[Request]) -> None:
    """The document says numbers and booleans, as a client cannot have both; texts go on being taken."""
    body = build_example(model)
    for name, schema in model.model_json_schema()["properties"].items():
        for kind in kinds(schema):
            texts = {"number": ["1000.5", "1000.50"], "boolean": ["true", "False"]}.get(kind.get("type", ""), [])
            for text in texts:
                assert name not in shipped.faults(model, {**body, name: text}) or _is_cross_checked(name), (name, text)


def _kept(kind: dict[str, Any]) -> Iterator[Any]:
    yield from kind.get("enum", ())
    yield from (kind[word] for word in ("minimum", "maximum") if word in kind)


def _broken(kind: dict[str, Any]) -> Iterator[Any]:
    if "enum" in kind:
        yield "none of them"
    yield from (kind[word] - 1 for word in ("minimum", "exclusiveMinimum") if word in kind)
    yield from ([kind["exclusiveMinimum"]] if "exclusiveMinimum" in kind else ())
    yield from ([kind["maximum"] + 1] if "maximum" in kind else ())
    yield from (["x" * (kind["maxLength"] + 1)] if "maxLength" in kind else ())
    yield from (["x" * (kind["minLength"] - 1)] if kind.get("minLength", 0) > 1 else ())


def _is_cross_checked(name: str) -> bool:
    """Return True if the field also depends on another: papers on the incident, the debt on the loan."""
    return name == "pending_repayment_amount"


@pytest.mark.long
def test_other_requests_are_answered_while_the_document_is_made(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun, others_answered = threading.Event(), threading.Event()
    made_by_fastapi = openapi.get_openapi

    def make_slowly(**options: Any) -> dict[str, Any]:
        begun.set()
        assert others_answered.wait(60), "the thread that answers requests makes the document, and nothing else"
        return made_by_fastapi(**options)

    monkeypatch.setattr(openapi, "get_openapi", make_slowly)
    for kept in (openapi._document_of, openapi._encoded):
        kept.cache_clear()
    with ThreadPoolExecutor(2) as pool:
        documents = [pool.submit(client.get, path) for path in ("/v1/openapi.json", "/v1/docs/openapi.json")]
        assert begun.wait(60)
        assert client.get("/v1/docs").status_code == 200
        others_answered.set()
        first, second = (each.result() for each in documents)
    assert first.json()["paths"] == second.json()["paths"]


def test_document_and_its_page_need_no_key_and_no_internet(client: Client) -> None:
    assert client.get("/v1/openapi.json").json() == api.openapi()
    page = client.get("/v1/docs")
    assert "/v1/docs/openapi.json" in page.text
    # The page tries the server that it came from, however that is reached.
    assert client.get("/v1/docs/openapi.json").json() == {**api.openapi(), "servers": [{"url": "/v1"}]}
    assert page.status_code == 200
    assert "http://" not in page.text.replace("http://www.w3.org", "")
    assert "https://" not in page.text
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert f"/v1/docs/files/{name}" in page.text
        assert client.get(f"/v1/docs/files/{name}").status_code == 200


def test_the_contract_has_every_parameter_of_a_query() -> None:
    pages = "\n".join(page.read_text() for page in (ROOT / "docs" / "contract").glob("*.md"))
    promised = {word for code in re.findall(r"`([^`\n]+)`", pages) for word in re.findall(r"\w+", code)}
    offered = {
        parameter["name"]
        for methods in api.openapi()["paths"].values()
        for operation in methods.values()
        for parameter in operation.get("parameters", [])
        if parameter["in"] == "query"
    }
    assert offered - promised == set()


def test_the_document_says_how_a_delivery_is_received_and_verified() -> None:
    """The shell of the description is run on a delivery that was signed as all are."""
    received = api.openapi()["webhooks"]["event"]["post"]
    content = received["requestBody"]["content"]["application/json"]
    valid(content["example"], content["schema"])
    secret, event_id, body = (
        signing.new_secret(),
        "01a1f7c0-3c00-7000-8000-0000000000e1",
        b'{"type": "policy.activated"}',
    )
    signed = signing.sign_standard([secret], event_id, datetime.fromtimestamp(1_795_822_043, UTC), body)
    shell = re.search(r"```sh\n(.*?)```", received["description"], re.DOTALL)
    assert shell
    known = {"SECRET": secret, "ID": event_id, "TIME": "1795822043", "BODY": body.decode(), "PATH": os.environ["PATH"]}
    done = subprocess.run(["sh", "-c", shell[1]], env=known, capture_output=True, text=True, check=True)
    assert signed == f"v1,{done.stdout.strip()}"


def test_the_introduction_begins_at_the_address_of_the_desk_and_its_first_request_works(
    client: Client, partner: Partner
) -> None:
    text = api.openapi()["info"]["description"]
    assert f"API={settings().base_url}/v1" in text
    listed = client.get("/v1/products/get-all-products?limit=100", key=partner.test_key).json()["data"]["products"]
    paths = api.openapi()["paths"]
    for product in listed:
        path = "/".join(part for part in ("/products", product["prefix"], product["route_name"]) if part)
        assert "post" in paths[path], product["name"]
