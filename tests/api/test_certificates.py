"""Certificates beside the API: whoever has the code opens and verifies one, and nobody else (contract S10)."""

import re
from datetime import timedelta
from io import BytesIO
from typing import Any

import pikepdf
import pytest

from core import clock
from core.covers.insurers import insurer_a
from core.errors import StoreUnavailable
from core.services.policies import certificates
from tests.api.conftest import Client
from tests.api.selling import buy
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case

pytestmark = pytest.mark.frozen_at(shipped.STILL)


@pytest.fixture
def policy(client: Client, partner: Partner) -> dict[str, Any]:
    return buy(client, partner.test_key, insurer_a.THIRD_PARTY)


@pytest.fixture
def path(policy: dict[str, Any]) -> str:
    """The path of its certificate."""
    return str(policy["meta"]["certificate_url"]).removeprefix("http://127.0.0.1:8501")


@pytest.fixture
def page(path: str) -> str:
    """The path of its verification page."""
    return path.replace("/certificates/", "/verify/").removesuffix(".pdf")


def test_certificate_opens_without_a_key(client: Client, path: str, policy: dict[str, Any]) -> None:
    answer = client.get(path)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/pdf"
    assert answer.content.startswith(b"%PDF-")
    number = policy["meta"]["policy_number"]
    name = f"certificate-{'-'.join(re.findall('[A-Za-z0-9]+', number))}.pdf"
    assert answer.headers["content-disposition"] == f'inline; filename="{name}"'
    with pikepdf.open(BytesIO(answer.content)) as pdf:
        assert number in str(pdf.docinfo["/Title"])
        assert bool(pdf.Root.ViewerPreferences.DisplayDocTitle), "or the viewer's title is the code in the address"


def test_page_confirms_number_insurer_status_and_dates(client: Client, page: str, policy: dict[str, Any]) -> None:
    answer = client.get(page)
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    for words in (policy["meta"]["policy_number"], "Anchorline Insurance", "In force", "20 November 2027"):
        assert words in answer.text
    assert "Test mode - not a certificate of insurance" in answer.text


def test_page_says_nothing_personal_and_runs_nothing(client: Client, page: str, policy: dict[str, Any]) -> None:
    text = client.get(page).text
    for private in (policy["first_name"], policy["last_name"], policy["email"], policy["phone"], "LSD-123AB"):
        assert private not in text
    assert "<script" not in text


@every_case(("days", "status"), [(-3, "Not started"), (0, "In force"), (400, "Expired")])
def test_status_follows_the_clock(client: Client, page: str, days: int, status: str) -> None:
    with clock.freeze(shipped.STILL + timedelta(days=days)):
        assert f"<strong>{status}</strong>" in client.get(page).text


def test_a_code_is_typed_in_any_case(client: Client, path: str, page: str) -> None:
    """A telephone begins with a capital, and whoever reads a code aloud has no case."""
    code = page.rpartition("/")[2]
    for address in (path, page):
        assert client.get(address.replace(code, code.upper())).status_code == 200


@every_case("kind", ["path", "page"])
def test_answers_are_neither_kept_nor_leaked(client: Client, path: str, page: str, kind: str) -> None:
    headers = client.get({"path": path, "page": page}[kind]).headers
    assert headers["cache-control"] == "no-store"
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    assert "default-src 'none'" in headers["content-security-policy"]


@every_case("code", ["a" * 26, "x", "A" * 26, "%00", "..%2f..%2fetc", "<script>"])
def test_other_codes_are_a_page_that_says_so(client: Client, path: str, code: str) -> None:
    for address in (f"/verify/{code}", f"/certificates/{code}.pdf"):
        answer = client.get(address)
        assert answer.status_code == 404
        assert "<script>" not in answer.text
    answer = client.get(f"/verify/{'a' * 26}")
    assert "No such certificate" in answer.text
    assert answer.headers["referrer-policy"] == "no-referrer"


def test_addresses_never_come_from_the_host_header(client: Client, path: str, page: str) -> None:
    honest = client.get(path)
    elsewhere = client.get(path, headers={"Host": "evil.example", "X-Forwarded-Host": "evil.example"})
    assert elsewhere.content == honest.content
    assert "evil.example" not in client.get(page, headers={"Host": "evil.example"}).text


def test_store_that_is_gone_is_said_so(client: Client, page: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def gone(*_: Any) -> None:
        raise StoreUnavailable

    monkeypatch.setattr(certificates, "get_by_code", gone)
    answer = client.get(page)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "2")
    assert "Try again shortly" in answer.text


def test_other_methods_are_refused(client: Client, path: str, page: str) -> None:
    assert client.post(path).status_code == client.post(page).status_code == 405
