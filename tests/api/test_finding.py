"""The address behind the command palette: for the signed-in, in their mode, and for nobody else."""

from uuid import UUID

import httpx
import pytest

from core.services.people import credentials, sign_in, staff
from core.store.access import Scope, Store
from tests.conftest import Partner
from tests.portfolio import Portfolio

PATH = "/desk/find"


@pytest.fixture
def token(store: Store) -> str:
    with store.writing(Scope.system()) as session:
        person: UUID = staff.add_or_update(
            session,
            email="o@x.example",
            name="O",
            roles=["operations"],
            password="correct horse battery",
            actor="tests",
        )
        return credentials.open_session(session, person)


def ask(client: httpx.Client, token: str | None, headers: dict[str, str] | None = None, **query: str) -> httpx.Response:
    cookies = {"cookie": f"{sign_in.COOKIE}={token}"} if token else {}
    return client.get(PATH, params=query, headers={**cookies, **(headers or {})})


@pytest.mark.both_databases
def test_records_are_found_in_the_mode_that_is_shown(
    client: httpx.Client, store: Store, partner: Partner, token: str
) -> None:
    Portfolio(seed=51, size=12, sellers=(partner.id,)).write(store)
    answer = ask(client, token, q="person0.51@example.com")
    assert answer.status_code == 200
    assert answer.headers["cache-control"] == "no-store"
    found = answer.json()["found"]
    assert {hit["kind"] for hit in found} <= {"policy", "customer"}
    assert found
    assert set(found[0]) == {"kind", "id", "title", "detail"}
    assert ask(client, token, q="person0.51@example.com", mode="test").json()["found"] == []


def test_nobody_else_is_answered(client: httpx.Client, token: str) -> None:
    assert ask(client, None, q="person0.51@example.com").status_code == 401
    assert ask(client, "not a token", q="person0.51@example.com").status_code == 401
    assert ask(client, token, {"sec-fetch-site": "cross-site"}, q="person0.51@example.com").status_code == 403


def test_a_text_that_cannot_be_searched_is_400_and_not_repeated(client: httpx.Client, token: str) -> None:
    answer = ask(client, token, q="?" * 101)
    assert answer.status_code == 400
    assert "???" not in answer.text
