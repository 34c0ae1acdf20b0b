"""Links for people who cannot sign in: the first admin's form, a password to choose, or a clear no."""

from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core import ids
from core.services.people import accounts, credentials, sign_in, staff
from core.services.people.staff import Person
from core.settings import settings
from core.store.access import Scope, Store
from tests.ui.conftest import Screen, labels, press, texts

PASSWORD = "correct horse battery"


def ticket_of(link: str | None) -> str:
    return parse_qs(urlsplit(link or "").query)["t"][0]


@pytest.fixture
def first(store: Store) -> str:
    with store.reading(Scope.system()) as session:
        return ticket_of(accounts.create_set_up_link(session))


def html(at: AppTest) -> str:
    return "".join(element.proto.body for element in at.get("html"))


def answer(at: AppTest, *answers: str) -> AppTest:
    for field, text in zip(at.text_input, answers, strict=True):
        field.set_value(text)
    at.button[0].click().run()
    assert not at.exception
    return at


def test_the_first_admin_is_made_and_sent_on(screen: Screen, store: Store, first: str) -> None:
    at = screen(t=first)
    assert [field.label for field in at.text_input] == ["Name", "E-mail", "Password", "The same password again"]
    answer(at, "Ada", "ada@", "short", "short")
    assert "Must be an e-mail address" in texts(at)
    assert "Must have at least 12 characters" in texts(at)
    assert "Must be the same both times" in texts(answer(at, "Ada", "ada@x.example", PASSWORD, "other"))
    text = texts(answer(at, "Ada", "ada@x.example", "short", "other"))
    assert "Must have at least 12 characters" in text
    assert "Must be the same both times" in text
    answer(at, "Ada", "ada@x.example", PASSWORD, PASSWORD)
    assert sign_in.COMPLETE in html(at)
    with store.reading(Scope.system()) as session:
        assert credentials.verify_password(session, "ada@x.example", PASSWORD)
    assert sign_in.COMPLETE in html(at.run()), "a second click is sent on like the first"


def test_a_colleague_chooses_a_password(screen: Screen, store: Store) -> None:
    admin = Person(id=ids.new(), email="ada@x.example", name="Ada", roles=("admin",), claim_limit_minor=None)
    bola = ids.new()
    with store.writing(Scope.system()) as session:
        accounts.add_person(session, bola, {"email": "b@x.example", "name": "B*", "roles": ["operations"]}, by=admin)
        link = ticket_of(accounts.create_password_link(session, bola, by=admin) or "")
    at = screen(t=link)
    assert "b@x.example" in texts(at)
    assert sign_in.COMPLETE in html(answer(at, PASSWORD, PASSWORD))
    with store.reading(Scope.system()) as session:
        assert credentials.verify_password(session, "b@x.example", PASSWORD) == bola
    assert "This link has been used" in screen(t=link).error[0].value


def test_a_link_that_is_no_longer_good_says_so_and_leads_to_the_sign_in(screen: Screen, store: Store) -> None:
    at = screen(t="made-up")
    assert "This link has been used" in at.error[0].value
    assert not at.text_input
    press(at, "Go to the sign-in")
    assert [field.label for field in at.text_input] == ["E-mail", "Password"]


def test_a_new_desk_says_how_it_gets_its_first_admin(screen: Screen, store: Store) -> None:
    assert "set-up-link" in screen().info[0].value
    with store.writing(Scope.system()) as session:
        staff.add_or_update(
            session, email="ada@x.example", name="Ada", roles=["admin"], password=PASSWORD, actor="tests"
        )


def test_without_passwords_there_is_the_provider_alone(
    screen: Screen, store: Store, first: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in {
        "PASSWORDS": "false",
        "OIDC_METADATA_URL": "https://id.example/.well-known/openid-configuration",
        "OIDC_CLIENT_ID": "coverdesk",
        "OIDC_CLIENT_SECRET": "x",
        "OIDC_NAME": "Acme",
    }.items():
        monkeypatch.setenv(f"COVERDESK_{name}", value)
    settings.cache_clear()
    at = screen()
    assert not at.text_input
    assert labels(at) == ["Sign in with Acme"]
    at = screen(t=first)
    assert [field.label for field in at.text_input] == ["Name", "E-mail"]
    assert sign_in.COMPLETE in html(answer(at, "Ada", "ada@x.example"))
