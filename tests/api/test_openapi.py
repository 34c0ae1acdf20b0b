"""The OpenAPI page says what the API does: every status, envelope and example (contract S1)."""

from typing import Any

import pytest
from jsonschema import Draft202012Validator
from openapi_spec_validator import validate

from core.api.app import api
from tests.api.conftest import Client

OPERATIONS = [
    pytest.param(path, operation, id=f"{method.upper()} {path}")
    for path, methods in api.openapi()["paths"].items()
    for method, operation in methods.items()
]


def valid(instance: Any, schema: Any) -> None:
    whole = {**schema, "components": api.openapi()["components"]}
    Draft202012Validator(whole).validate(instance)


def test_document_is_valid() -> None:
    validate(api.openapi())


@pytest.mark.parametrize(("path", "operation"), OPERATIONS)
def test_every_answer_is_stated_with_an_example_that_fits_its_schema(path: str, operation: dict[str, Any]) -> None:
    assert operation["summary"]
    assert operation["description"]
    statuses = set(operation["responses"])
    assert statuses & {"200", "201"}
    assert {"400", "401", "405", "429", "500", "503"} <= statuses
    assert "422" not in statuses
    for answer in operation["responses"].values():
        for media_type, media in answer.get("content", {}).items():
            if media_type == "application/json":
                valid(media["example"], media["schema"])


@pytest.mark.parametrize(("path", "operation"), OPERATIONS)
def test_every_json_body_has_an_example_that_fits_its_schema(path: str, operation: dict[str, Any]) -> None:
    content = operation.get("requestBody", {}).get("content", {})
    if "application/json" in content:
        valid(content["application/json"]["example"], content["application/json"]["schema"])


def test_document_and_its_page_need_no_key_and_no_internet(client: Client) -> None:
    assert client.get("/v1/openapi.json").json() == api.openapi()
    page = client.get("/v1/docs")
    assert page.status_code == 200
    assert "http://" not in page.text.replace("http://www.w3.org", "")
    assert "https://" not in page.text
    for name in ("swagger-ui-bundle.js", "swagger-ui.css"):
        assert f"/v1/docs/files/{name}" in page.text
        assert client.get(f"/v1/docs/files/{name}").status_code == 200
