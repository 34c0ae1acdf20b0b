"""Routing: unknown routes are named, HEAD and OPTIONS answer, one trailing slash is let go."""

from core.api.app import api
from core.api.http import openapi
from core.store.access import Store
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.every_case import every_case
from tests.odd_paths import ODD, exchange


@every_case("path", ODD, beside_threads=True)
def test_a_path_with_two_dots_is_answered_with_the_envelope(
    store: Store, server: str, partner: Partner, path: str
) -> None:
    head, body = exchange(int(server.rsplit(":", 1)[1]), f"GET {path}", f"Authorization: Bearer {partner.test_key}")
    assert head.startswith("HTTP/1.1 404 ")
    assert body.startswith('{"responseCode":0,"responseText":"No such endpoint: GET /v1/')


@every_case(
    ("method", "path", "endpoint"),
    [
        ("POST", "/v1/product/buy-credit-life", "POST /v1/product/buy-credit-life"),
        ("GET", "/v1/purchases", "GET /v1/purchases"),
        ("OPTIONS", "/v1/purchases", "* /v1/purchases"),
        ("SECRET", "/v1/nope", "* /v1/nope"),
        # What may be anybody's number or key is not said again.
        ("GET", "/v1/customer/08031234567", "GET /v1/customer/*"),
        ("DELETE", "/v1/keys/cd_test_0123456789abcdef", "DELETE /v1/keys/*"),
        # A word below an address of records is none of them.
        ("POST", "/v1/products/buy-cerdit-life", "POST /v1/products/buy-cerdit-life"),
        ("POST", "/v1/claims/creditlife", "POST /v1/claims/creditlife"),
        ("POST", "/v1/webhooks/new", "POST /v1/webhooks/new"),
        ("PUT", "/v1/loan-books/latest/rows", "PUT /v1/loan-books/latest/rows"),
        ("OPTIONS", "/v1/customers/all", "* /v1/customers/all"),
    ],
)
def test_an_unknown_endpoint_is_named(client: Client, partner: Partner, method: str, path: str, endpoint: str) -> None:
    answer = client.request(method, path, key=partner.test_key)
    assert answer.status_code == 404
    assert answer.json()["responseText"] == f"No such endpoint: {endpoint}"
    assert answer.json()["data"] == {}


@every_case("method", ["POST", "PUT", "DELETE"])
@every_case("path", ["claims/01900000-0000-7000-8000-0000000000ff", "products/12", "files/abcdef"])
def test_what_may_be_a_record_takes_other_methods(client: Client, partner: Partner, method: str, path: str) -> None:
    answer = client.request(method, f"/v1/{path}", key=partner.test_key)
    assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD, OPTIONS")


@every_case("path", [path for path, methods in api.openapi()["paths"].items() if "get" in methods])
def test_head_answers_as_get_does_without_a_body(client: Client, partner: Partner, path: str) -> None:
    address = f"/v1{path}"
    got, head = (client.request(method, address, key=partner.test_key) for method in ("GET", "HEAD"))
    assert head.status_code == got.status_code
    assert head.content == b""
    for name in ("content-type", "content-length"):
        assert head.headers[name] == got.headers[name]


def test_head_needs_a_key_and_a_path_that_is_read(client: Client, partner: Partner) -> None:
    assert client.request("HEAD", "/v1/purchase").status_code == 401
    assert client.request("HEAD", "/v1/openapi.json").status_code == 200
    assert client.request("HEAD", "/v1/docs").status_code == 200
    # Open as it is without its slash.
    assert client.get("/v1/openapi.json/").json() == client.get("/v1/openapi.json").json()
    answer = client.request("HEAD", "/v1/products/buy-credit-life", key=partner.test_key)
    assert (answer.status_code, answer.headers["Allow"], answer.content) == (405, "OPTIONS, POST", b"")


@every_case("path", api.openapi()["paths"])
def test_options_names_the_methods_of_every_path(client: Client, partner: Partner, path: str) -> None:
    methods = {method.upper() for method in openapi.document(api)["paths"][path]}
    wanted = sorted(methods | {"OPTIONS"} | ({"HEAD"} if "GET" in methods else set()))
    answer = client.request("OPTIONS", f"/v1{path}", key=partner.test_key)
    assert answer.status_code == 200
    assert answer.headers["Allow"] == ", ".join(wanted)
    assert answer.json() == {"responseCode": 1, "responseText": "Ok", "data": {"methods": wanted}}


def test_a_trailing_slash_finds_the_route(client: Client, partner: Partner) -> None:
    key = partner.test_key
    for path in ("/v1/purchase", "/v1/products/get-all-products", "/v1/genders"):
        assert client.get(f"{path}/", key=key).json() == client.get(path, key=key).json()
    price = {"product_id": "01900000-0000-7000-8000-000000080101", "loan_amount": 100000, "loan_tenure": 12}
    answer = client.post("/v1/products/credit-life-price/", key=key, json=price)
    assert answer.json()["data"]["price"] == 575.0
    # One only, and the root is no route.
    for path in ("/v1/purchase//", "/v1/", "/v1"):
        assert client.get(path, key=key).status_code == 404


def test_with_or_without_its_slash_an_idempotent_sale_is_the_same(client: Client, partner: Partner) -> None:
    body = openapi.document(api)["paths"]["/products/buy-credit-life"]["post"]["requestBody"]["content"]
    sent = body["application/json"]["example"]
    answers = [
        client.post(
            f"/v1/products/buy-credit-life{end}", key=partner.test_key, json=sent, headers={"Idempotency-Key": "a"}
        )
        for end in ("", "/")
    ]
    assert answers[0].status_code == 201
    assert answers[0].content == answers[1].content
