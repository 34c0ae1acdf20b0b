"""Every answer under /v1 is the envelope, and the key is judged before anything else (contract E1-E6)."""

import json
import socket

import pytest
from httpx import Response

from core.api.http import posts
from core.store.access import ConstraintRefused, Store
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.every_case import every_case
from tests.papers import picture

UNAUTHORIZED = {"responseCode": 0, "responseText": "Unauthorized", "errorData": None, "data": {}}
PRICE = "/v1/products/credit-life-price"
LOAN = {"loan_amount": 100000, "loan_tenure": 12, "product_id": "01900000-0000-7000-8000-000000080101"}


@every_case("path", ["/v1/purchase", "/v1/nope", "/v1/", "/v1", "/v1/products/x/y/z", "/v1/a%0Ab", "/v1/%0A"])
@every_case("credential", [None, "Bearer", "Bearer nonsense", "Basic abc", "Bearer cd_test_" + "a" * 46])
def test_without_a_good_key_every_path_is_unauthorized(client: Client, path: str, credential: str | None) -> None:
    answer = client.get(path, headers={"Authorization": credential} if credential else {})
    assert (answer.status_code, answer.json()) == (401, UNAUTHORIZED)


def test_unknown_path_is_an_envelope(client: Client, partner: Partner) -> None:
    answer = client.get("/v1/nope", key=partner.test_key)
    assert answer.status_code == 404
    message = "No such endpoint: GET /v1/nope"
    assert answer.json() == {"responseCode": 0, "responseText": message, "errorData": None, "data": {}}


@every_case(
    ("method", "path"),
    [
        ("PUT", "/v1/purchase"),
        ("GET", "/v1/products/buy-credit-life"),
        ("DELETE", PRICE),
        ("POST", "/v1/policies"),
        ("GET", "/v1/claims/credit-life"),
        ("DELETE", "/v1/claims/credit-life"),
    ],
)
def test_wrong_method_is_an_envelope_and_names_the_right_one(
    client: Client, partner: Partner, method: str, path: str
) -> None:
    answer = client.request(method, path, key=partner.test_key)
    assert answer.status_code == 405
    assert answer.headers["Allow"] == (
        "GET, HEAD, OPTIONS" if path in {"/v1/purchase", "/v1/policies"} else "OPTIONS, POST"
    )
    assert answer.json()["responseText"] == "Method not allowed"


@every_case(
    "body",
    [
        b"",
        b"{",
        b'{"loan_amount": NaN}',
        b'{"loan_amount": Infinity}',
        b'{"a": 1, "a": 2}',
        b'"text"',
        b"[]",
        b"[" * 2000 + b"]" * 2000,
        b'{"loan_amount": ' + b"9" * 5000 + b"}",
        b'\xef\xbb\xbf{"loan_amount": 1}',
        b'{"loan_amount": "\\u0000"}',
        b'{"product_id": "\\ud800"}',
        b"\xff\xfe",
    ],
    ids=lambda body: repr(body[:20]),
)
def test_malformed_body_is_refused_as_an_envelope(client: Client, partner: Partner, body: bytes) -> None:
    answer = client.post(PRICE, key=partner.test_key, content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 400
    assert answer.json()["responseCode"] == 0
    assert answer.json()["data"] == {}
    assert {"field", "message"} == set(answer.json()["errorData"][0])


def send(client: Client, partner: Partner, body: bytes) -> Response:
    return client.post(PRICE, key=partner.test_key, content=body, headers={"Content-Type": "application/json"})


@every_case(
    ("body", "field", "message"),
    [
        (b"", "body", "must be valid JSON, and is empty"),
        (b" \n", "body", "must be valid JSON, and is empty"),
        (b'{"a": 1,\n "b" 2}', "body", "must be valid JSON, and is broken at line 2, column 6"),
        (b'{"a": 1}}', "body", "must be valid JSON, and is broken at line 1, column 9"),
        (b'{"a": NaN}', "body", "must be valid JSON, which has no NaN"),
        (b'{"a": -Infinity}', "body", "must be valid JSON, which has no -Infinity"),
        (b'{"a": 1, "b": 1, "a": 2}', "a", "must be given once"),
        (b'{"items": [{"price": 1, "price": 1}]}', "price", "must be given once"),
        (b'{"\\ud800": 1, "\\ud800": 2}', "?", "must be given once"),
        (b'{"a": "\xe9"}', "body", "must be in UTF-8: its byte 8 is not"),
        (b"[" * 200_000, "body", "must not be nested so deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "body", "must have no number of so many digits"),
        (b'{"a": 1e99999999999999999999}', "body", "must have no number of so many digits"),
    ],
    ids=lambda each: repr(each)[:40],
)
def test_a_body_that_cannot_be_read_is_told_why(
    client: Client, partner: Partner, body: bytes, field: str, message: str
) -> None:
    assert send(client, partner, body).json()["errorData"] == [{"field": field, "message": message}]


def test_a_mark_before_utf_8_is_passed_over(client: Client, partner: Partner) -> None:
    answer = send(client, partner, json.dumps(LOAN).encode("utf-8-sig"))
    assert (answer.status_code, answer.json()["data"]["price"]) == (200, 575.0)


@every_case("media_type", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data", ""])
def test_other_media_types_are_refused(client: Client, partner: Partner, media_type: str) -> None:
    answer = client.post(PRICE, key=partner.test_key, content=b"{}", headers={"Content-Type": media_type})
    assert (answer.status_code, answer.json()["responseCode"]) == (415, 0)


def test_compressed_body_is_refused(client: Client, partner: Partner) -> None:
    message = "Send this body without Content-Encoding: a compressed body is not read"
    for path, media_type in ((PRICE, "application/json"), ("/v1/upload-file", "multipart/form-data; boundary=x")):
        headers = {"Content-Type": media_type, "Content-Encoding": "gzip"}
        answer = client.post(path, key=partner.test_key, content=b"x", headers=headers)
        assert (answer.status_code, answer.json()["responseText"]) == (415, message)


def test_a_body_that_says_that_it_is_not_compressed_is_read(client: Client, partner: Partner) -> None:
    headers = {"Content-Type": "application/json", "Content-Encoding": "Identity"}
    answer = client.post(PRICE, key=partner.test_key, content=b"{}", headers=headers)
    assert (answer.status_code, answer.json()["errorData"][0]["message"]) == (400, "is required")


def test_body_above_a_mebibyte_is_refused(client: Client, partner: Partner) -> None:
    body = b'{"loan_amount": "' + b" " * 1024 * 1024 + b'1"}'
    answer = client.post(PRICE, key=partner.test_key, content=body, headers={"Content-Type": "application/json"})
    assert (answer.status_code, answer.json()["responseCode"]) == (413, 0)
    assert answer.json()["responseText"] == "The body may have at most 1 MiB"


def test_body_that_drips_in_is_refused_in_time(
    store: Store, server: str, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(posts, "SECONDS", 0.1)
    host, port = server.removeprefix("http://").split(":")
    head = (
        f"POST /v1/products/credit-life-price HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {partner.test_key}\r\n"
        'Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{"loan'
    )
    with socket.create_connection((host, int(port)), timeout=20) as connection:
        connection.sendall(head.encode())
        answer = b"".join(iter(lambda: connection.recv(4096), b""))
    assert answer.startswith(b"HTTP/1.1 400")
    assert b"must arrive within" in answer


def test_every_broken_field_is_named_at_once(client: Client, partner: Partner) -> None:
    answer = client.post(PRICE, key=partner.test_key, json={"loan_amount": -1, "loan_tenure": 2, "product_id": "x"})
    assert answer.status_code == 400
    assert answer.json()["errorData"] == [
        {"field": "loan_amount", "message": "must not be negative"},
        {"field": "loan_tenure", "message": "must be at least 3"},
        {"field": "product_id", "message": "must be a UUID"},
    ]
    assert answer.json()["responseText"] == (
        "loan_amount must not be negative; loan_tenure must be at least 3; product_id must be a UUID"
    )


def test_ignored_fields_are_named_and_do_not_fail_the_request(client: Client, partner: Partner) -> None:
    answer = client.post(PRICE, key=partner.test_key, json={**LOAN, "zebra": 1, "apple": {"x": 1}})
    assert answer.status_code == 200
    assert answer.headers["X-Ignored-Fields"] == "apple,zebra"


def test_ignored_names_that_a_header_cannot_hold_are_encoded(client: Client, partner: Partner) -> None:
    sent = {**LOAN, "z\u00e9": 1, "a b": 2, "c,d": 3, "long" * 50: 4}
    answer = client.post(PRICE, key=partner.test_key, json=sent)
    assert answer.headers["X-Ignored-Fields"] == f"a%20b,c%2Cd,{'long' * 50},z%C3%A9"


def test_a_refusal_names_the_ignored_fields_too(client: Client, partner: Partner) -> None:
    misspelt = {"amount_of_loan": 100000, "loan_tenure": 12, "product_id": LOAN["product_id"]}
    answer = client.post(f"{PRICE}?debug=1", key=partner.test_key, json=misspelt)
    assert (answer.status_code, answer.headers["X-Ignored-Fields"]) == (400, "amount_of_loan,debug")
    unknown = {**LOAN, "product_id": "01900000-0000-7000-8000-0000000000ff", "zebra": 1}
    answer = client.post(PRICE, key=partner.test_key, json=unknown)
    assert (answer.status_code, answer.headers["X-Ignored-Fields"]) == (400, "zebra")


def test_what_the_store_refuses_and_a_file_that_is_a_text_name_them_too(
    client: Client, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = {"key": partner.test_key, "data": {"file": "not a file", "zebra": "1"}}
    answer = client.post("/v1/upload-file", files={"other": ("a.txt", b"x")}, **arguments)
    assert (answer.status_code, answer.headers["X-Ignored-Fields"]) == (400, "other,zebra")
    arguments["data"] = {"policy_number": "ACC/1", "zebra": "1"}
    answer = client.post("/v1/claims/motor", files={"incident_place": ("a.txt", b"x")}, **arguments)
    assert answer.json()["errorData"] == [{"field": "incident_place", "message": "must be a text, not a file"}]
    assert (answer.status_code, answer.headers["X-Ignored-Fields"]) == (400, "zebra")

    def conflict(*_: object) -> None:
        raise ConstraintRefused("INSERT", {}, ValueError("UNIQUE"))

    monkeypatch.setattr("core.services.audit.idempotency.run_once", conflict)
    answer = client.post(
        "/v1/upload-file", key=partner.test_key, files={"file": ("a.jpg", picture())}, data={"zebra": "1"}
    )
    assert (answer.status_code, answer.json()["responseText"]) == (
        409,
        "This conflicts with a record that already exists",
    )
    assert answer.headers["X-Ignored-Fields"] == "zebra"


@every_case("name", ["benefit_coverag", "BENEFIT_COVERAGE", "Benefit_Coverage"])
def test_misspelt_optional_field_is_refused_with_the_suggestion(client: Client, partner: Partner, name: str) -> None:
    answer = client.post(PRICE, key=partner.test_key, json={**LOAN, name: ["death"]})
    assert answer.status_code == 400
    assert answer.json()["errorData"] == [{"field": name, "message": "is not known, did you mean benefit_coverage?"}]


def test_price_of_the_worked_example(client: Client, partner: Partner) -> None:
    answer = client.post(PRICE, key=partner.test_key, json=LOAN)
    assert answer.status_code == 200
    assert answer.json()["responseCode"] == 1
    assert answer.json()["responseText"] == "Price computed successfully"
    assert answer.json()["data"]["price"] == 575.0
    assert answer.json()["data"]["explain"][-1]["amount"] == "575.00"
