"""The real application in a real browser: one server, a store of its own, and no error on the console."""

import os
import re
import shutil
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, Playwright, expect, sync_playwright

from core import clock
from core.services.catalogue import keys
from core.services.people import credentials, sign_in, staff
from core.store.access import Scope, Store
from tests.e2e.deployment import deployed
from tests.e2e.presses import COUNT, Presses
from tests.e2e.serving import Serving
from tests.portfolio import Portfolio

PASSWORD = "correct horse battery"
ROLES = ("operations", "claims", "finance", "supervisor", "compliance", "admin")
WITHOUT = (
    # Scripts would be parsed anew as they arrive, though the profile has them compiled.
    *("ScriptStreaming", "BackgroundResourceFetch"),
    # This list takes the place of Playwright's own, which has these.
    *("AvoidUnnecessaryBeforeUnloadCheckSync", "DestroyProfileOnBrowserClose", "HttpsUpgrades", "LensOverlay"),
    *("HttpsFirstBalancedModeAutoEnable", "MediaRouter", "PaintHolding", "ThirdPartyStoragePartitioning"),
    *("OptimizationHints", "NetworkTimeServiceQuerying", "AimEnabled", "PreconnectToSearch"),
)
CHROMIUM = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    # All visitors of one address share a process, which compiles the scripts of the page once.
    "--process-per-site",
    f"--disable-features={','.join(WITHOUT)}",
    # No page lives long enough for its scripts to be optimised, or for what it leaves to be collected often.
    "--js-flags=--no-opt --no-maglev --min-semi-space-size=64 --max-semi-space-size=64",
]
# On a busy machine a screen takes a while; who waits for something that comes loses nothing by waiting longer.
PATIENCE = 90_000
expect.set_options(timeout=PATIENCE)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Every test of this folder needs a browser."""
    for item in items:
        if Path(__file__).parent in item.path.parents:
            item.add_marker(pytest.mark.browser)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Tell that there is no browser before a server is started for it."""
    if {"browser", "windows"} & set(getattr(item, "fixturenames", ())):
        _chromium()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """A test that fails tells what its page showed and what the server logged last."""
    report = yield
    shown = getattr(item, "funcargs", {})
    if call.when == "call" and report.failed:
        if isinstance(page := shown.get("page"), Page):
            report.sections.append((f"the page at {page.url}", page.locator("body").inner_text()))
            if folder := shown.get("tmp_path"):
                page.screenshot(path=folder / "last.png", full_page=True)
        if isinstance(desk := shown.get("desk"), Desk):
            report.sections.append(("the server's log", desk.log.read_text()[-3000:]))
    return report


@dataclass(frozen=True)
class Desk:
    """A running application: its address and log, its store, its distributor, and one person for each role."""

    url: str
    log: Path
    store: Store
    seller: UUID
    people: Mapping[str, UUID]


@pytest.fixture(scope="session")
def desk(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    """The application on a store with staff, one distributor and a small portfolio.

    With COVERDESK_E2E_SEVERAL every journey of this folder goes through a proxy to several processes on PostgreSQL.
    """
    folder = tmp_path_factory.mktemp("desk")
    if os.environ.get("COVERDESK_E2E_SEVERAL"):
        url = several_database(request)
        with opened(url) as store, deployed(folder, url) as all_of_it:
            all_of_it.serve_screens()
            yield Desk(all_of_it.url, all_of_it.log, store, *populate(store))
        return
    shutil.copy(request.getfixturevalue("sqlite_template"), folder / "store.db")
    with opened(f"sqlite:///{folder / 'store.db'}") as store:
        seller, people = populate(store)
        serving = Serving(folder)
        with serving as url:
            yield Desk(url, serving.log, store, seller, people)


def several_database(request: pytest.FixtureRequest) -> str:
    """The address of a database with the catalogue, for a deployment of several processes."""
    database = request.getfixturevalue("postgres_database")
    database.renew()
    return str(database.url.render_as_string(hide_password=False))


@contextmanager
def opened(url: str) -> Iterator[Store]:
    store = Store(url)
    try:
        yield store
    finally:
        store.close()


def populate(store: Store) -> tuple[UUID, Mapping[str, UUID]]:
    """One person for each role, a distributor and its sales."""
    with store.writing(Scope.system()) as session:
        seller = keys.get_or_create_distributor(session, "Swift Lenders")
        people = {
            role: staff.add_or_update(
                session,
                email=email(role),
                name=role.title(),
                roles=[role],
                password=PASSWORD,
                actor="tests",
                claim_limit="1000000" if role == "claims" else None,
            )
            for role in ROLES
        }
    Portfolio(seed=7, size=60, sellers=(seller,), now=clock.now()).write(store)
    return seller, people


def email(role: str) -> str:
    return f"{role}@coverdesk.example"


def _chromium() -> str:
    """Return the path of the browser; without one the test is skipped, or fails where browser tests are required.

    The one without windows of its own takes a sixth less of the processor.
    """
    found = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if found is None:
        if "browser" in os.environ.get("COVERDESK_TESTS_REQUIRE", "").split(","):
            pytest.fail("browser tests are required and Chromium is not installed")
        pytest.skip("SKIPPED LOUDLY: no Chromium on this machine")
    return found


@pytest.fixture(scope="package")
def playwright() -> Iterator[Playwright]:
    """Drive browsers for the tests of this folder alone: the event loop would disturb those of other folders."""
    with sync_playwright() as driving:
        yield driving


@pytest.fixture(scope="module")
def browser(playwright: Playwright) -> Iterator[Browser]:
    """Chromium for tests that need several visitors at once, each in a context of their own."""
    started = playwright.chromium.launch(executable_path=_chromium(), args=FLAGS)
    yield started
    started.close()


@pytest.fixture(scope="module")
def address(desk: Desk) -> str:
    """The address of the application that this file's tests visit."""
    return desk.url


@pytest.fixture(scope="package")
def windows(
    playwright: Playwright, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Callable[[str], BrowserContext]]:
    """Chromium for the visitors of an address one after the other, in which scripts stay compiled from test to test."""

    @cache
    def window_of(address: str) -> BrowserContext:
        context = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=_chromium(),
            args=FLAGS,
            base_url=address,
            locale="en-GB",
            viewport={"width": 1280, "height": 900},
        )
        context.set_default_timeout(PATIENCE)
        context.pages[0].goto("/healthz")  # the process lasts as long as one page of the address is open
        opened.append(context)
        return context

    opened: list[BrowserContext] = []
    yield window_of
    for each in opened:
        each.close()


@pytest.fixture
def visitor(windows: Callable[[str], BrowserContext], address: str) -> Iterator[Page]:
    """A page of somebody who has never been here: without cookies or anything else that a page can store."""
    window = windows(address)
    first = window.pages[0]  # the browser ends with its last page
    window.clear_cookies()
    page = window.new_page()
    stored = {"origin": address, "storageTypes": "local_storage,indexeddb,cache_storage,service_workers"}
    devtools = window.new_cdp_session(page)
    devtools.send("Storage.clearDataForOrigin", stored)
    devtools.detach()
    yield page
    for each in window.pages:
        if each is not first:
            each.close()


@pytest.fixture
def page(visitor: Page, desk: Desk, tmp_path: Path) -> Iterator[Page]:
    """A new visitor; the test fails on an error of the page, and on a request that leaves our own address.

    The folder of a test that fails keeps a picture of the page.
    """
    troubles = list[str]()
    visitor.on("pageerror", lambda error: troubles.append(str(error)))
    visitor.on("console", lambda message: troubles.append(message.text) if message.type == "error" else None)
    visitor.on("request", lambda sent: troubles.append(sent.url) if _elsewhere(sent.url, desk.url) else None)
    yield visitor
    visitor.locator("html").wait_for(state="attached")  # the answer comes after every event of the page
    assert not troubles


def _elsewhere(url: str, ours: str) -> bool:
    # The browser's own viewer of a PDF is made of files that come with it.
    viewer = ("chrome-extension://", "chrome://")
    return not url.startswith((ours, ours.replace("http", "ws", 1), "data:", "blob:", *viewer))


# Between two runs that follow each other the script stands still for an instant, and a place that is held for a part
# of the page means that a run is still to come.
RESTS = """isAnyPage => new Promise(rests => {
  let frames = 0;
  (function look() {
    const app = document.querySelector('[data-testid="stApp"]')
    const runs = app ? app.dataset.testScriptState !== "notRunning" || app.querySelector('[data-testid="stSkeleton"]')
      : !isAnyPage
    frames = runs ? 0 : frames + 1
    if (frames > 5) rests(true)
    else requestAnimationFrame(look)
  })()
})"""


def settled(page: Page) -> None:
    """Wait until the script has run to its end, and no other run follows."""
    page.wait_for_function(RESTS)


@pytest.fixture(autouse=True, scope="session")
def clicks_on_what_rests() -> Iterator[None]:
    """A click waits for the end of a run: what a run replaces between press and release takes no click."""
    click = Locator.click

    def click_later(place: Locator, **options: Any) -> None:
        place.page.wait_for_function(RESTS, arg=True)
        click(place, **options)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Locator, "click", click_later)
        yield


def twice(button: Locator) -> None:
    """Press a button as a hasty hand does: both clicks reach it, however soon the first one changes the page.

    A double click by the mouse would press whatever lies at that place by then.
    """
    expect(button).to_be_enabled()
    button.evaluate("button => { button.focus(); button.click(); button.click(); }")


@pytest.fixture
def presses(page: Page) -> Presses:
    page.add_init_script(COUNT)
    return Presses(page)


Visit = Callable[..., Page]


@pytest.fixture
def visit(page: Page, desk: Desk) -> Visit:
    """Opens an address as a person with a role, whose session is already open."""

    def visit(role: str, path: str = "/") -> Page:
        with desk.store.writing(Scope.system()) as session:
            token = credentials.open_session(session, desk.people[role])
        page.context.add_cookies([{"name": sign_in.COOKIE, "value": token, "url": desk.url}])
        page.goto(path)
        page.get_by_role("button", name="Sign out").wait_for()
        # The address and the title are the screen's own when it begins.
        expect(page).to_have_title(re.compile("· Coverdesk$"))
        settled(page)
        return page

    return visit


@pytest.fixture
def signed_in(page: Page) -> Visit:
    """Opens an address and signs in there with the form, as a person with a role."""

    def sign_in_as(role: str, path: str = "/", password: str = PASSWORD) -> Page:
        page.goto(path)
        page.get_by_label("E-mail", exact=True).fill(email(role))
        page.get_by_label("Password", exact=True).fill(password)
        page.get_by_role("button", name="Sign in", exact=True).click()
        if password == PASSWORD:
            page.get_by_role("button", name="Sign out").wait_for()
            settled(page)
        return page

    return sign_in_as
