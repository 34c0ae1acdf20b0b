"""Several processes of everything on one PostgreSQL, through a proxy that gives them requests by turns (contract O7).

`COVERDESK_E2E_SEVERAL=yes pytest tests/e2e` runs every other journey of this folder through the same deployment.
"""

import time
from collections.abc import Iterator

import httpx
import pytest
import sqlalchemy as sa
from playwright.sync_api import Browser, Page, expect
from sqlmodel import col

from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT
from core.desk import status
from core.services.audit import log as audit
from core.services.catalogue import keys
from core.store.access import Scope, Store
from core.store.schema.tables import Policy, Submission
from tests.covers import shipped
from tests.e2e.conftest import PASSWORD, PATIENCE, email, opened, populate, settled, several_database
from tests.e2e.deployment import Deployment, deployed

pytestmark = pytest.mark.postgres
BUY = f"/v1{PERSONAL_ACCIDENT.path}"
SALES = 12
WITHIN_SECONDS = 120


@pytest.fixture(scope="module")
def several(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Deployment, Store, str]]:
    """The deployment, its store, and a live key."""
    url = several_database(request)
    with opened(url) as store:
        seller, _ = populate(store)
        with store.writing(Scope.system()) as session:
            key = keys.issue_key(session, distributor_id=seller, is_live=True, name="tests", actor="tests")
        with deployed(tmp_path_factory.mktemp("several"), url) as deployment:
            yield deployment, store, key


@pytest.mark.exhaustive
def test_what_one_process_sells_the_other_knows_and_the_worker_sends(
    several: tuple[Deployment, Store, str],
) -> None:
    deployment, store, key = several
    sold = {}
    with httpx.Client(base_url=deployment.url, trust_env=False, timeout=60) as client:
        for number in range(SALES):
            body = shipped.body(
                PERSONAL_ACCIDENT, email=f"client.{number}@example.com", address=f"{number} Marina Road, Lagos"
            )
            headers = {"Authorization": f"Bearer {key}", "Idempotency-Key": f"several-{number}"}
            # The same request goes to either process, and is one sale.
            answers = [client.post(BUY, json=body, headers=headers) for _ in range(2)]
            assert [answer.status_code for answer in answers] == [201, 201], answers[0].text
            assert answers[0].content == answers[1].content
            sold[number] = answers[0].json()["data"]["meta"]["policy_number"]
        found = client.get(f"/v1/policies?limit={SALES}", headers={"Authorization": f"Bearer {key}"}).json()
    assert all(deployment.proxy.taken[port] >= SALES for port in deployment.api)
    assert len(set(sold.values())) == SALES
    assert found["data"]
    _wait_until_sent(store)
    with store.reading(Scope.system()) as session:
        assert [beat.is_fresh for beat in status.list_beats(session)] == [True]
        # Every process writes to the one chain.
        assert audit.find_broken_links(session) == []


def _wait_until_sent(store: Store) -> None:
    until = time.monotonic() + WITHIN_SECONDS
    states: dict[str, int] = {}
    while states.get("accepted", 0) < SALES:
        assert time.monotonic() < until, states
        with store.reading(Scope.system()) as session:
            query = (
                sa.select(col(Submission.state), sa.func.count())
                .join(Policy, col(Policy.id) == col(Submission.policy_id))
                .where(col(Policy.is_live))
                .group_by(col(Submission.state))
            )
            states = {row[0]: row[1] for row in session.execute(query)}
        time.sleep(0.2)


def sign_in(browser: Browser, url: str) -> Page:
    visitor = browser.new_context(base_url=url, locale="en-GB")
    visitor.set_default_timeout(PATIENCE)
    page = visitor.new_page()
    page.goto("/purchases")
    page.get_by_label("E-mail", exact=True).fill(email("operations"))
    page.get_by_label("Password", exact=True).fill(PASSWORD)
    page.get_by_role("button", name="Sign in", exact=True).click()
    page.get_by_role("button", name="Sign out").wait_for()
    settled(page)
    return page


@pytest.mark.exhaustive
def test_two_visitors_work_on_two_processes_and_see_one_business(
    browser: Browser, several: tuple[Deployment, Store, str]
) -> None:
    deployment, _, _ = several
    deployment.serve_screens()
    pages = [sign_in(browser, deployment.url) for _ in range(2)]
    places = [
        next(kept["value"] for kept in page.context.cookies() if kept["name"] == "coverdesk_app") for page in pages
    ]
    assert sorted(map(int, places)) == sorted(deployment.screens)
    for page in pages:
        expect(page.get_by_role("heading", name="Purchases")).to_be_visible()
        page.reload()
        expect(page.get_by_role("heading", name="Purchases")).to_be_visible()
    # Whoever signs out does so on every process.
    cookies = pages[0].context.cookies()
    pages[0].get_by_role("button", name="Sign out").click()
    expect(pages[0].get_by_label("E-mail", exact=True)).to_be_visible()
    elsewhere = browser.new_context(base_url=deployment.url)
    elsewhere.set_default_timeout(PATIENCE)
    other = {**next(dict(kept) for kept in cookies if kept["name"] == "coverdesk_app"), "value": places[1]}
    elsewhere.add_cookies([*(kept for kept in cookies if kept["name"] != "coverdesk_app"), other])  # type: ignore[list-item]
    page = elsewhere.new_page()
    page.goto("/purchases")
    expect(page.get_by_label("E-mail", exact=True)).to_be_visible()
    for each in (pages[0], pages[1], page):
        each.context.close()
