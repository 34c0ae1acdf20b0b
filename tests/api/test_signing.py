"""The routes that open and close a person's session, and the headers on every answer."""

from datetime import timedelta
from urllib.parse import quote

import httpx
import pytest

from core import clock, settings
from core.api.http import middleware
from core.services.people import sign_in, staff
from core.store.access import Scope, Store
from tests.api.conftest import Client
from tests.every_case import every_case

SYSTEM = Scope.system()
OURS = {"origin": "http://testserver"}


@pytest.fixture
def address(store: Store) -> str:
    """Return the address to which a correct password sends the browser."""
    with store.writing(SYSTEM) as session:
        ada = staff.add_or_update(
            session, email="ada@coverdesk.example", name="Ada", roles=["claims"], password="x" * 12, actor="tests"
        )
    return sign_in.build_completion_url(ada, "/purchases?mode=test")


def token_in(answer: httpx.Response) -> str:
    return answer.cookies[sign_in.COOKIE]


def signed_in(store: Store, token: str) -> bool:
    with store.reading(SYSTEM) as session:
        return staff.get_by_token(session, token) is not None


@pytest.fixture
def session_token(client: Client, address: str) -> str:
    """Return the token of a session that has just begun."""
    return token_in(client.get(address))


def test_a_ticket_opens_a_session_and_goes_on_to_the_page(client: Client, store: Store, address: str) -> None:
    answer = client.get(address)
    assert (answer.status_code, answer.headers["location"]) == (303, "/purchases?mode=test")
    assert answer.headers["cache-control"] == "no-store"
    assert signed_in(store, token_in(answer))


def test_the_cookie_is_out_of_reach_of_scripts_and_other_sites(client: Client, address: str) -> None:
    cookie = client.get(address).headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert "path=/" in cookie
    assert "secure" not in cookie


def test_the_cookie_is_secure_where_the_desk_is_reached_by_https(
    client: Client, address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COVERDESK_BASE_URL", "https://desk.example.com")
    settings.settings.cache_clear()
    assert "; secure" in client.get(address).headers["set-cookie"].lower()


def test_a_ticket_works_once(client: Client, address: str) -> None:
    client.get(address)
    again = client.get(address)
    assert (again.status_code, again.headers["location"]) == (303, "/?sign_in=again")
    assert "set-cookie" not in again.headers


@every_case("ticket", ["", "made-up", "WyJhIiwiYiIsMV0.c2ln"])
def test_a_made_up_ticket_opens_nothing(client: Client, ticket: str) -> None:
    answer = client.get(f"{sign_in.COMPLETE}?t={ticket}")
    assert answer.headers["location"] == "/?sign_in=again"
    assert "set-cookie" not in answer.headers


def test_a_ticket_lasts_half_a_minute(client: Client, address: str) -> None:
    with clock.freeze(clock.now() + timedelta(seconds=31)):
        assert "set-cookie" not in client.get(address).headers


def test_another_sites_link_signs_nobody_in(client: Client, address: str) -> None:
    for site in ("cross-site", "same-site", "none"):
        assert "set-cookie" not in client.get(address, headers={"sec-fetch-site": site}).headers
    assert "set-cookie" in client.get(address, headers={"sec-fetch-site": "same-origin"}).headers


@pytest.mark.parametrize("elsewhere", ["//evil.example", "https://evil.example", "/\\evil.example", "evil"])
def test_the_way_on_never_leaves_our_pages(client: Client, address: str, elsewhere: str) -> None:
    ticket = address.partition("&next=")[0]
    assert client.get(f"{ticket}&next={quote(elsewhere)}").headers["location"] == "/"


def test_signing_in_again_ends_the_session_that_the_browser_had(client: Client, store: Store, address: str) -> None:
    with store.writing(SYSTEM) as session:
        ada = staff.add_or_update(
            session, email="b@coverdesk.example", name="B", roles=["claims"], password="x" * 12, actor="tests"
        )
    first = token_in(client.get(address))
    answer = client.get(sign_in.build_completion_url(ada, "/"), headers={"cookie": f"{sign_in.COOKIE}={first}"})
    assert token_in(answer) != first
    assert not signed_in(store, first)
    assert signed_in(store, token_in(answer))


def test_signing_out_ends_the_session_and_clears_the_cookie(client: Client, store: Store, address: str) -> None:
    token = token_in(client.get(address))
    answer = client.post(sign_in.SIGN_OUT, headers={**OURS, "cookie": f"{sign_in.COOKIE}={token}"})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    assert f'{sign_in.COOKIE}=""' in answer.headers["set-cookie"]
    assert not signed_in(store, token)


@pytest.mark.parametrize("path", ["complete", "sign out"])
def test_a_providers_word_is_forgotten_once_it_has_opened_a_session_or_that_ended(
    client: Client, address: str, path: str
) -> None:
    sent = {**OURS, "cookie": "_streamlit_user=word; _streamlit_user_1=more; _streamlit_user_tokens=t; other=kept"}
    answer = client.get(address, headers=sent) if path == "complete" else client.post(sign_in.SIGN_OUT, headers=sent)
    cleared = [cookie for cookie in answer.headers.get_list("set-cookie") if "Max-Age=0" in cookie]
    names = {cookie.partition("=")[0] for cookie in cleared}
    assert names >= {"_streamlit_user", "_streamlit_user_1", "_streamlit_user_tokens"}
    assert "other" not in names


@every_case("origin", ["https://evil.example", "null", "", "http://testserver.evil.example"])
def test_another_site_cannot_sign_anybody_out(client: Client, store: Store, session_token: str, origin: str) -> None:
    cookie = f"{sign_in.COOKIE}={session_token}"
    answer = client.post(sign_in.SIGN_OUT, headers={"origin": origin, "cookie": cookie})
    assert answer.status_code == 403
    assert signed_in(store, session_token)


def test_the_public_address_counts_as_ours_behind_a_proxy(client: Client) -> None:
    assert client.post(sign_in.SIGN_OUT, headers={"origin": settings.settings().base_url}).status_code == 303


def test_signing_out_takes_a_post(client: Client) -> None:
    assert client.get(sign_in.SIGN_OUT).status_code == 405


@every_case("path", ["/healthz", sign_in.SIGN_OUT, "/v1/nope", "/nowhere"])
def test_every_answer_carries_the_security_headers(client: Client, path: str) -> None:
    answer = client.get(path)
    for name in middleware._EVERYWHERE:
        assert name in answer.headers
    assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
    assert answer.headers["x-content-type-options"] == "nosniff"


def test_what_the_api_says_is_kept_by_no_cache(client: Client) -> None:
    assert client.get("/v1/products").headers["cache-control"] == "no-store"
    assert "cache-control" not in client.get("/healthz").headers
