"""The download of an export: who gets it, with which headers, and what stays behind."""

import csv
import io

import pytest

from core import ids
from core.services import receipts, sign_in, staff
from core.store.engine import Store
from core.store.scope import Scope
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.portfolio import Portfolio

PATH = "/exports/purchases.csv"


@pytest.fixture
def cookie(store: Store, partner: Partner) -> dict[str, dict[str, str]]:
    """For each role, the headers of a browser that it is signed in with."""
    Portfolio(seed=5, size=20, sellers=(partner.id,)).write(store)
    found = {}
    with store.writing(Scope.system()) as session:
        for role in ("operations", "finance", "claims", "admin"):
            person = staff.add(
                session, email=f"{role}@coverdesk.example", name=role, roles=[role], password="x" * 12, actor="tests"
            )
            found[role] = {"cookie": f"{sign_in.COOKIE}={staff.open_session(session, person)}"}
    return found


@pytest.mark.parametrize("role", ["operations", "finance", "admin"])
def test_who_has_the_purchases_screen_gets_the_file(
    client: Client, cookie: dict[str, dict[str, str]], role: str, store: Store
) -> None:
    receipt_id = ids.new()
    answer = client.get(f"{PATH}?receipt={receipt_id}", headers=cookie[role])
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["content-disposition"].startswith('attachment; filename="purchases-live-')
    assert len(list(csv.reader(io.StringIO(answer.text, newline="")))) == 21
    with store.reading(Scope.system()) as session:
        receipt = receipts.one(session, receipt_id)
    assert receipt
    assert (receipt.rows, receipt.who) == (20, f"{role}@coverdesk.example")


def test_strangers_and_other_roles_are_refused(client: Client, cookie: dict[str, dict[str, str]]) -> None:
    assert client.get(PATH).status_code == 401
    assert client.get(PATH, headers={"cookie": f"{sign_in.COOKIE}=made-up"}).status_code == 401
    assert client.get(PATH, headers=cookie["claims"]).status_code == 403


def test_an_api_key_opens_no_export(client: Client, cookie: dict[str, dict[str, str]], partner: Partner) -> None:
    assert client.get(PATH, key=partner.live_key).status_code == 401


def test_a_link_on_another_site_makes_no_file(client: Client, cookie: dict[str, dict[str, str]]) -> None:
    for site, status in (("cross-site", 403), ("same-site", 403), ("same-origin", 200), ("none", 200)):
        assert client.get(PATH, headers=cookie["finance"] | {"sec-fetch-site": site}).status_code == status


def test_only_get_makes_a_file(client: Client, cookie: dict[str, dict[str, str]]) -> None:
    for method in ("HEAD", "POST"):
        assert client.request(method, PATH, headers=cookie["finance"]).status_code == 405


def test_the_mode_of_the_address_is_the_mode_of_the_file(client: Client, cookie: dict[str, dict[str, str]]) -> None:
    answer = client.get(f"{PATH}?mode=test", headers=cookie["finance"])
    assert "purchases-test-" in answer.headers["content-disposition"]
    assert answer.text.count("\r\n") == 1


@pytest.mark.parametrize("query", ["from=2026-02-31", "provider=nope", "receipt=1", "from=2026-02-02&to=2026-02-01"])
def test_what_cannot_be_meant_is_refused_in_words(
    client: Client, cookie: dict[str, dict[str, str]], query: str
) -> None:
    answer = client.get(f"{PATH}?{query}", headers=cookie["finance"])
    assert answer.status_code == 400
    assert "must" in answer.text


def test_a_second_click_on_the_same_link_gets_a_receipt_of_its_own(
    client: Client, cookie: dict[str, dict[str, str]], store: Store
) -> None:
    link = f"{PATH}?receipt={ids.new()}"
    first, second = (client.get(link, headers=cookie["finance"]) for _ in range(2))
    assert first.content == second.content
    with store.reading(Scope.system()) as session:
        assert len(receipts.latest(session, 10)) == 2
