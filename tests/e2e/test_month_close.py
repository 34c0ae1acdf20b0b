"""A month is closed in a browser from its first statement to its journal, by two accounts of finance."""

import csv
import io
import re
from collections.abc import Callable, Iterator
from datetime import date, timedelta
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core import clock
from core.covers.insurers import insurer_a
from core.desk import store_check
from core.services.finance import journal
from core.services.people import credentials, sign_in, staff
from core.states.finance import MonthState
from core.store.access import Scope, Store
from tests.conftest import make_partner
from tests.e2e.conftest import PASSWORD, opened, settled, several_database
from tests.e2e.serving import Serving
from tests.services.selling import sell

LIVE = Scope.staff(is_live=True)
As = Callable[[str, str], Page]


@pytest.fixture(scope="module")
def books(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, Store]]:
    """The address of a desk whose only sale is of last month, and its store.

    It is on PostgreSQL, as the other journeys in a browser are on SQLite; the services are tested on both.
    """
    url, serving = several_database(request), Serving(tmp_path_factory.mktemp("books"))
    serving.environment["COVERDESK_DATABASE_URL"] = url
    with opened(url) as store:
        partner = make_partner(store, "Swift Lenders")
        with clock.freeze(clock.lagos_midnight(last_month()) + timedelta(days=9, hours=12)):
            sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
        with store.writing(Scope.system()) as session:
            for name in ("funmi", "femi"):
                given = {"email": f"{name}@coverdesk.example", "name": name.title(), "roles": ["finance"]}
                staff.add_or_update(session, **given, password=PASSWORD, actor="tests")
        with serving as address:
            yield address, store


@pytest.fixture(scope="module")
def address(books: tuple[str, Store]) -> str:
    return books[0]


@pytest.fixture
def as_person(visitor: Page, books: tuple[str, Store], tmp_path: Path) -> Iterator[As]:
    """Opens an address as one of the two, each with a session of their own; a trouble on a page fails the test."""
    url, store = books
    tokens: dict[str, str] = {}
    troubles: list[str] = []
    visitor.on("pageerror", lambda error: troubles.append(str(error)))

    def open_as(name: str, path: str) -> Page:
        if name not in tokens:
            with store.writing(Scope.system()) as session:
                person = staff.get_by_email(session, f"{name}@coverdesk.example")
                tokens[name] = credentials.open_session(session, person.id)
        visitor.context.clear_cookies()
        visitor.context.add_cookies([{"name": sign_in.COOKIE, "value": tokens[name], "url": url}])
        visitor.goto(path)
        visitor.get_by_role("button", name="Sign out").wait_for()
        settled(visitor)
        return visitor

    yield open_as
    visitor.screenshot(path=tmp_path / "last.png", full_page=True)
    assert not troubles


def last_month() -> date:
    return clock.add_months(clock.today().replace(day=1), -1)


def confirm(page: Page, opens: str | re.Pattern[str], confirms: str, **fields: str) -> None:
    """Open a dialog by its button, fill it in, and confirm it."""
    page.get_by_role("button", name=opens).first.click()
    dialog = page.get_by_role("dialog")
    for label, text in fields.items():
        dialog.get_by_label(label.replace("_", " ")).fill(text)
    dialog.get_by_role("button", name=confirms, exact=True).click()
    expect(dialog).to_have_count(0)
    settled(page)


@pytest.mark.exhaustive
@pytest.mark.postgres
def test_a_month_is_closed_from_its_statements_to_its_journal_by_two_accounts(
    books: tuple[str, Store], as_person: As
) -> None:
    _, store = books
    month = f"month={last_month():%Y-%m}"
    page = as_person("funmi", f"/close?{month}")
    confirm(page, "Start closing", "Start closing")
    page = as_person("funmi", f"/close?month={clock.today():%Y-%m}")
    page.get_by_role("link", name=re.compile("comes first")).click()
    # A link to the page that is open: the framework itself would leave the address as it is.
    expect(page).to_have_url(re.compile(month))
    expect(page.get_by_text("Every statement is approved and none is in dispute: 2")).to_be_visible()
    expect(page.get_by_role("button", name="Close the month")).to_have_count(0)
    confirm(as_person("funmi", f"/statements?{month}"), re.compile("Prepare 2 of"), "Prepare them")
    assert page.get_by_role("button", name="Approve").count() == 0
    confirm(as_person("funmi", f"/bordereaux?{month}"), re.compile("Issue 1 of"), "Issue them")
    confirm(as_person("femi", f"/statements?{month}"), "Approve 2", "Approve 2")
    page = as_person("femi", f"/close?{month}")
    expect(page.get_by_text("stands against it")).to_have_count(0)
    confirm(page, "Close the month", "Close the month", What_you_checked="The rates and the balances")
    expect(page.get_by_text("Closed", exact=True).first).to_be_visible()
    answer = page.request.get(f"/closes/{last_month():%Y-%m}/journal.csv")
    rows = list(csv.DictReader(io.StringIO(answer.text())))
    assert sum(float(row["debit"]) - float(row["credit"]) for row in rows) == 0
    assert {row["account"] for row in rows} >= {journal.WALLET, journal.INSURER, journal.DISTRIBUTOR, journal.INCOME}
    with store.reading(LIVE) as session:
        assert journal.state_of(session, last_month()) == MonthState.CLOSED
        last = journal.list_steps(session, last_month())[-1]
        assert (last.person, last.sha256) == ("Femi", journal.hash_of(session, last_month()))
    with store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []
