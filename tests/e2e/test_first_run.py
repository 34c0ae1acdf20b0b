"""The first run for real: a link makes the first admin, a link lets a colleague in, a provider vouches for people."""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from core.services.people import sign_in, staff
from core.store.access import Scope, Store
from tests.commands.command_line import coverdesk
from tests.e2e.conftest import PASSWORD, settled
from tests.e2e.identity_provider import CLIENT, CLIENT_SECRET, IdentityProvider
from tests.e2e.serving import Serving
from tests.ports import free_port

BOLA, UNVERIFIED, STRANGER, FORGED = (f"{name}@x.example" for name in ("bola", "uche", "stranger", "musa"))
VERIFIED = {"email_verified": True}
AGAIN = "The same password again"


@dataclass(frozen=True)
class NewDesk:
    """An application on a store without anybody, which trusts a provider; its own address and the provider's."""

    url: str
    store: Store
    provider: str


@pytest.fixture(scope="module")
def new_desk(sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[NewDesk]:
    folder = tmp_path_factory.mktemp("new desk")
    shutil.copy(sqlite_template, folder / "store.db")
    serving, store = Serving(folder), Store(f"sqlite:///{folder / 'store.db'}")
    port = free_port()
    accounts = {BOLA: VERIFIED, UNVERIFIED: {"email_verified": False}, STRANGER: VERIFIED, FORGED: VERIFIED}
    with IdentityProvider(port, f"{serving.url}/oauth2callback", accounts, forged={FORGED}) as provider:
        serving.environment |= {
            "COVERDESK_OIDC_METADATA_URL": provider.metadata_url,
            "COVERDESK_OIDC_CLIENT_ID": CLIENT,
            "COVERDESK_OIDC_CLIENT_SECRET": CLIENT_SECRET,
            "COVERDESK_OIDC_NAME": "Acme",
            # Otherwise a colleague who works claims takes a second admin.
            "COVERDESK_ONE_ADMIN": "true",
        }
        with serving as url:
            yield NewDesk(url, store, provider.issuer)
    store.close()


@pytest.fixture(scope="module")
def address(new_desk: NewDesk) -> str:
    return new_desk.url


@pytest.fixture
def page(visitor: Page, new_desk: NewDesk) -> Iterator[Page]:
    """A new visitor; the test fails on an error of the page, or a request to anywhere but here and the provider."""
    troubles, known = list[str](), (new_desk.url, new_desk.url.replace("http", "ws", 1), new_desk.provider, "data:")
    visitor.on("pageerror", lambda error: troubles.append(str(error)))
    visitor.on(
        "console",
        lambda message: (
            troubles.append(message.text)
            if message.type == "error" and "/_stcore/" not in message.location.get("url", "")
            else None
        ),
    )
    visitor.on("request", lambda sent: None if sent.url.startswith((*known, "blob:")) else troubles.append(sent.url))
    yield visitor
    visitor.locator("html").wait_for(state="attached")  # the answer comes after every event of the page
    # The provider has no icon for its pages.
    assert not [trouble for trouble in troubles if "favicon" not in trouble and "404" not in trouble]


def fill(page: Page, answers: dict[str, str]) -> None:
    for label, answer in answers.items():
        page.get_by_label(label, exact=True).fill(answer)


def set_up_link(desk: NewDesk) -> str:
    """Return the link that `coverdesk init` prints for a new store."""
    output = coverdesk(
        "init", COVERDESK_DATABASE_URL=desk.store.url.render_as_string(), COVERDESK_BASE_URL=desk.url
    ).stdout
    return next(line for line in output.splitlines() if line.startswith(desk.url))


def become_admin(page: Page, link: str) -> None:
    page.goto(link)
    fill(page, {"Name": "Ada Obi", "E-mail": "ada@x.example", "Password": PASSWORD, AGAIN: "another"})
    page.get_by_role("button", name="Create the account and sign in").click()
    expect(page.get_by_text("Must be the same both times")).to_be_visible()
    fill(page, {AGAIN: PASSWORD})
    page.get_by_role("button", name="Create the account and sign in").click()
    page.get_by_role("button", name="Sign out").wait_for()


def add_colleague(page: Page) -> str:
    page.get_by_role("link", name="Staff").click()
    page.get_by_text("Add a person").click()
    fill(page, {"E-mail": "colleague@x.example", "Name": "Chidi"})
    role = page.get_by_role("button", name="Claims", exact=True)
    # The run of the last field may draw the form anew as it is pressed: a person presses again.
    for _ in range(5):
        role.click()
        settled(page)
        if role.get_attribute("aria-pressed") == "true":
            break
    expect(role).to_have_attribute("aria-pressed", "true")
    page.get_by_role("button", name="Add", exact=True).click()
    expect(page.get_by_text("Send this link to the person")).to_be_visible()
    return page.get_by_test_id("stCode").inner_text().strip()


@pytest.mark.exhaustive
def test_a_link_makes_the_first_admin_who_lets_a_colleague_in(page: Page, new_desk: NewDesk) -> None:
    page.goto("/staff")
    expect(page.get_by_text("no administrator yet")).to_be_visible()
    link = set_up_link(new_desk)
    become_admin(page, link)
    invitation = add_colleague(page)
    page.get_by_role("button", name="Sign out").click()
    page.get_by_label("E-mail", exact=True).wait_for()
    page.goto(invitation)
    expect(page.get_by_text("colleague@x.example")).to_be_visible()
    fill(page, {"Password": "another long password", AGAIN: "another long password"})
    page.get_by_role("button", name="Save the password and sign in").click()
    page.get_by_role("button", name="Sign out").wait_for()
    expect(page.get_by_role("link", name="Policy search")).to_be_visible()
    expect(page.get_by_role("link", name="Staff")).not_to_be_visible()
    for used in (link, invitation):
        page.goto(used)
        expect(page.get_by_text("This link has been used")).to_be_visible()


def cookies(page: Page) -> set[str]:
    names = {str(cookie["name"]) for cookie in page.context.cookies()}
    return {name for name in names if name == sign_in.COOKIE or name.startswith("_streamlit_user")}


def come_back_as(page: Page, account: str) -> None:
    page.get_by_role("button", name="Sign in with Acme").click()
    page.get_by_role("link", name=account).click()


@pytest.mark.exhaustive
def test_a_provider_vouches_for_people_who_have_an_account(page: Page, new_desk: NewDesk) -> None:
    with new_desk.store.writing(Scope.system()) as session:
        staff.add_or_update(session, email=BOLA, name="Bola", roles=["claims"], password=PASSWORD, actor="tests")
    page.goto("/search?find=Ada")
    come_back_as(page, BOLA)
    page.get_by_role("button", name="Sign out").wait_for()
    settled(page)
    assert "/search?find=Ada" in page.url
    assert cookies(page) == {sign_in.COOKIE}, "the provider's word has opened a session of ours, and is one no longer"
    page.reload()
    page.get_by_role("button", name="Sign out").click()
    page.get_by_role("button", name="Sign in with Acme").wait_for()
    assert cookies(page) == set()
    for account, why in (
        (UNVERIFIED, "does not say that your e-mail address is verified"),
        (STRANGER, "has no account"),
    ):
        come_back_as(page, account)
        expect(page.get_by_text(why)).to_be_visible()
        assert sign_in.COOKIE not in cookies(page)
    come_back_as(page, FORGED)
    expect(page.get_by_text("did not let you in")).to_be_visible()
    assert cookies(page) == set()
