"""The sign-in screen: what it says, and where it sends a browser."""

from urllib.parse import parse_qs, urlsplit

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core.errors import TooManyRequests, Unauthorized
from core.services.people import credentials, sign_in, staff
from core.store.access import Scope, Store
from core.store.schema.tables import SignInAttempt, Staff
from core.ui.sign_in import gate as sign_in_gate
from tests.every_case import every_case
from tests.ui.conftest import Screen, texts

EMAIL, PASSWORD = "ada@coverdesk.example", "correct horse battery"


@pytest.fixture(autouse=True)
def ada(store: Store) -> None:
    with store.writing(Scope.system()) as session:
        staff.add_or_update(session, email=EMAIL, name="Ada", roles=["operations"], password=PASSWORD, actor="tests")


def attempt(at: AppTest, email: str, password: str) -> AppTest:
    at.text_input[0].set_value(email)
    at.text_input[1].set_value(password)
    return at.button[0].click().run()


def html(at: AppTest) -> str:
    return "".join(element.proto.body for element in at.get("html"))


def test_a_correct_password_hands_the_browser_over(screen: Screen) -> None:
    at = attempt(screen(mode="test"), EMAIL, PASSWORD)
    assert not at.error
    assert sign_in.COMPLETE in html(at)
    assert "next=%2F%3Fmode%3Dtest" in html(at)


@every_case("email", [EMAIL, "nobody@coverdesk.example"])
def test_known_and_unknown_people_hear_the_same(screen: Screen, email: str) -> None:
    at = attempt(screen(), email, "wrong password")
    assert [error.value for error in at.error] == [f"{credentials.WRONG_CREDENTIALS}."]
    assert not html(at)


def test_what_was_typed_stays_after_a_refusal(screen: Screen) -> None:
    assert attempt(screen(), EMAIL, "wrong").text_input[0].value == EMAIL


def test_guessing_is_slowed_down_even_for_the_right_password(screen: Screen) -> None:
    at = screen()
    for _ in range(5):
        attempt(at, EMAIL, "wrong")
    assert "Too many attempts" in attempt(at, EMAIL, PASSWORD).error[0].value
    assert not html(at)


def test_failures_are_counted_and_a_success_clears_them(store: Store) -> None:
    for _ in range(2):
        with pytest.raises(Unauthorized):
            sign_in_gate.hand_over(EMAIL, "wrong", "/")
    assert failures(store) == [2]
    query = parse_qs(urlsplit(sign_in_gate.hand_over(f" {EMAIL.upper()} ", PASSWORD, "/")).query)
    with store.writing(Scope.system()) as session:
        sign_in.complete_sign_in(session, query["t"][0])
    assert failures(store) == []


def failures(store: Store) -> list[int]:
    with store.reading(Scope.system()) as session:
        return list(session.execute(sa.select(SignInAttempt.failures)).scalars())


def test_a_try_counts_before_its_password_is_looked_at(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Many guesses that arrive at once are counted at once."""
    seen: list[list[int]] = []
    monkeypatch.setattr(
        credentials, "verify_password", lambda *_: seen.append(failures(store)) or (_ for _ in ()).throw(Unauthorized)
    )
    with pytest.raises(Unauthorized):
        sign_in_gate.hand_over(EMAIL, "guess", "/")
    assert seen == [[1]]


def test_a_late_ticket_is_explained(screen: Screen) -> None:
    assert "took too long" in texts(screen(sign_in="again"))


def test_an_account_without_a_password_cannot_be_guessed(store: Store) -> None:
    with store.writing(Scope.system()) as session:
        session.execute(sa.update(Staff).values(password_hash=None))
    with pytest.raises(Unauthorized):
        sign_in_gate.hand_over(EMAIL, PASSWORD, "/")
    with pytest.raises((Unauthorized, TooManyRequests)):
        sign_in_gate.hand_over(EMAIL, "", "/")
