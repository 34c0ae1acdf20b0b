"""Hosts, methods, ranges and headers that somebody made up, on every route of the process, its errors included."""

import itertools
import re
import socket
from collections.abc import Iterator
from typing import Any

import pytest
from starlette.routing import BaseRoute, Mount, Route

from core.api import app as application
from core.api.http import middleware
from core.api.outside import downloads, health
from core.covers.credit_life import CREDIT_LIFE
from core.store.access import Store
from tests import papers
from tests.api.conftest import Client
from tests.api.selling import buy
from tests.conftest import Partner
from tests.every_case import every_case
from tests.hostile.routes import operations

pytestmark = pytest.mark.parametrize("database", ["sqlite"])
EVIL = "evil.example"
FORGED = (
    {"Host": EVIL},
    {
        "X-Forwarded-Host": EVIL,
        "X-Forwarded-Proto": "https",
        "X-Forwarded-Port": "8443",
        "X-Forwarded-Prefix": f"//{EVIL}",
        "X-Original-Host": EVIL,
        "X-Original-URL": "/v1/genders",
        "X-Rewrite-URL": "/v1/genders",
        "X-Host": EVIL,
        "Forwarded": f"host={EVIL};proto=https",
        "Referer": f"https://{EVIL}/",
        "Origin": f"https://{EVIL}",
    },
)
RANGES = (
    *("bytes=0-0", "bytes=x-", "bytes=-", "bytes=5-1", "bytes=99999999999-", "bytes=-99999999999", "lines=1-2"),
    *("bytes=" + ",".join(f"{n}-{n}" for n in range(0, 8000, 2)), "bytes=" + "0-," * 5000 + "0-"),
)
METHODS = ("GET", "HEAD", "OPTIONS", "TRACE", "PUT", "X" * 500)


def addresses() -> Iterator[str]:
    """One address of every route: those of the document, those beside it, and some that are none."""
    for operation in operations():
        yield re.sub(r"\{.*?\}", "01900000-0000-7000-8000-0000000000ff", operation.path)
    for route in application.routes:
        yield from _beside(route)
    yield from (
        "/v1",
        "/v1/",
        "/v1/nope",
        "/v1/openapi.json",
        "/v1/docs",
        "/v1/docs/files/swagger-ui.css",
        "/v1/docs/x",
    )
    yield from (
        "/nowhere",
        "/healthz/",
        "/readyz/",
        "//healthz",
        "/verify/",
        "/exports/x.y",
        "/files/",
        "/..%2f",
        "/%00",
    )


def _beside(route: BaseRoute) -> Iterator[str]:
    if isinstance(route, Route):
        yield re.sub(r"\{.*?\}", "a" * 26, route.path)
    else:
        assert isinstance(route, Mount), route


def guarded(answer: Any, context: str) -> None:
    for name in middleware._EVERYWHERE:
        assert name in answer.headers, f"{context} lacks {name}"
    assert answer.headers["x-content-type-options"] == "nosniff", context
    assert "frame-ancestors" in answer.headers["content-security-policy"], context
    assert answer.headers["x-frame-options"] in {"DENY", "SAMEORIGIN"}, context
    assert "x-powered-by" not in answer.headers, context


def test_every_route_carries_the_security_headers_for_every_method(
    store: Store, client: Client, partner: Partner
) -> None:
    for address in addresses():
        guarded(client.get(address), f"GET {address} without a key")
        for method in METHODS:
            answer = client.request(method, address, key=partner.test_key)
            context = f"{method} {address}: {answer.status_code}"
            guarded(answer, context)
            assert answer.status_code < 500, context
            if address.startswith("/v1/") and method not in {"GET", "POST", "HEAD", "OPTIONS"}:
                assert answer.status_code in {404, 405}, context


def test_a_defect_carries_the_security_headers_too(
    store: Store, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: Any, **__: Any) -> Any:
        raise ZeroDivisionError("secret inside")

    monkeypatch.setattr(downloads, "require_person", broken)
    monkeypatch.setattr(health.status, "find_fault", broken)
    for address in ("/exports/purchases.csv", "/readyz"):
        answer = client.get(address)
        assert answer.status_code == 500, address
        guarded(answer, address)
        assert "secret" not in answer.text
        assert "Traceback" not in answer.text


def test_a_forged_host_stands_in_no_link(store: Store, client: Client, partner: Partner) -> None:
    for forged, address in itertools.product(FORGED, addresses()):
        sent = {"files": {"file": ("a.pdf", papers.pdf())}} if address.endswith("upload-file") else {}
        method = "POST" if sent else "GET"
        answer = client.request(method, address, key=partner.test_key, headers=forged, **sent)
        context = f"{method} {address} with {forged}"
        assert EVIL not in answer.text, context
        assert EVIL not in str(answer.headers), context
        if answer.status_code == 201:
            assert answer.json()["data"]["file_url"].startswith("http://127.0.0.1:8501/v1/files/"), context
        location = answer.headers.get("location", "/")
        assert re.match(r"/(?!/)", location), context


def test_a_header_overrides_no_method(store: Store, client: Client, partner: Partner) -> None:
    for name in ("X-HTTP-Method-Override", "X-HTTP-Method", "X-Method-Override"):
        answer = client.get("/v1/products/buy-credit-life", key=partner.test_key, headers={name: "POST"})
        assert answer.status_code == 405
    answer = client.post("/v1/purchase?_method=GET", key=partner.test_key, json={"_method": "GET"})
    assert answer.status_code == 405


def test_ranges_never_fail_and_never_multiply_a_file(store: Store, client: Client, partner: Partner) -> None:
    link = client.post("/v1/upload-file", key=partner.test_key, files={"file": ("a.pdf", papers.pdf())})
    policy = buy(client, partner.test_key, CREDIT_LIFE)
    for address in (
        link.json()["data"]["file_url"].removeprefix("http://127.0.0.1:8501"),
        policy["meta"]["certificate_url"].removeprefix("http://127.0.0.1:8501"),
        "/v1/docs/files/swagger-ui.css",
        "/v1/purchase",
    ):
        whole = len(client.get(address, key=partner.test_key).content)
        for wanted in RANGES:
            answer = client.get(address, key=partner.test_key, headers={"Range": wanted})
            context = f"{address} {wanted[:40]}: {answer.status_code}"
            assert answer.status_code == 200, context
            assert len(answer.content) <= whole * 1.1 + 100, context
            guarded(answer, context)


CRLF = "a\r\nX-Evil: 1"


def test_line_breaks_in_what_is_sent_make_no_header(store: Store, client: Client, partner: Partner) -> None:
    tries = [
        client.get("/auth/complete", params={"t": CRLF, "next": f"/{CRLF}"}),
        client.get("/exports/purchases.csv", params={"receipt": CRLF, "mode": CRLF}),
        client.get("/v1/purchase/search", key=partner.test_key, params={"customer_email": CRLF}),
        client.get(f"/v1/{'%0d%0aX-Evil:%201'}", key=partner.test_key),
        client.get(f"/verify/{'%0d%0aX-Evil:%201'}"),
        client.post("/v1/upload-file", key=partner.test_key, files={"file": (CRLF, papers.pdf())}),
    ]
    for answer in tries:
        assert "x-evil" not in answer.headers
        assert answer.status_code < 500


@every_case(
    "head",
    [
        "X-Long: " + "x" * 200_000,
        "\r\n".join(f"X-{n}: {n}" for n in range(20_000)),
        "Cookie: " + "a=b; " * 30_000,
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: gzip, chunked",
        "Content-Length: -1",
        "Content-Length: " + "9" * 5000,
        " X-Folded: a\r\n b",
        "No colon here",
        "X-Nul: a\0b",
    ],
    ids=lambda head: head[:16],
    beside_threads=True,
)
def test_heads_that_no_client_sends_are_refused_and_the_next_request_is_served(
    store: Store, server: str, partner: Partner, head: str
) -> None:
    host, port = server.removeprefix("http://").split(":")
    request = (
        f"POST /v1/products/credit-life-price HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {partner.test_key}\r\n"
        f"Content-Type: application/json\r\n{head}\r\n\r\n" + '{"a": 1}GET /v1/purchase HTTP/1.1\r\n\r\n'
    )
    answer = _exchange(host, port, request)
    assert not re.search(rb"HTTP/1.1 [25]\d\d", answer), answer[:200]
    assert b"purchases" not in answer, "the rest of the body was read as a request of its own"
    good = f"GET /v1/genders HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {partner.test_key}\r\n"
    answer = _exchange(host, port, f"{good}Connection: close\r\n\r\n", timeout=30)
    assert answer.startswith(b"HTTP/1.1 200"), answer[:200]


def _exchange(host: str, port: str, request: str, timeout: float = 1.5) -> bytes:
    """The bytes answered until the server closes the connection, or is silent for `timeout` seconds."""
    heard = b""
    with socket.create_connection((host, int(port)), timeout=timeout) as connection:
        try:
            connection.sendall(request.encode("latin-1"))
            while chunk := connection.recv(65_536):
                heard += chunk
        except (TimeoutError, ConnectionError):
            pass
    return heard
