"""Signing in: a provider's fresh word about a verified e-mail, and limits for a place that guesses."""

from typing import Any

import pytest
import sqlalchemy as sa

from core import clock
from core.errors import TooManyRequests, Unauthorized
from core.services.people import credentials, sign_in, staff
from core.store.access import Scope, Store
from core.store.schema.tables import SignInAttempt
from tests.every_case import every_case

SYSTEM = Scope.system()
EMAIL = "ada@x.example"


@pytest.fixture
def ada(store: Store) -> None:
    with store.writing(SYSTEM) as session:
        staff.add_or_update(session, email=EMAIL, name="Ada", roles=["admin"], password="x" * 12, actor="tests")
        staff.add_or_update(
            session, email="eze@x.example", name="Eze", roles=["admin"], password="x" * 12, actor="tests"
        )
        staff.disable(session, "eze@x.example", actor="tests")


def make_token(**changed: Any) -> dict[str, Any]:
    fresh = {"iss": "https://id.example", "sub": "1", "nonce": "n", "iat": int(clock.now().timestamp())}
    return {**fresh, "email": EMAIL.upper(), "email_verified": True, **changed}


def test_a_provider_vouches_for_a_person_once(store: Store, ada: None) -> None:
    token = make_token()
    with store.writing(SYSTEM) as session:
        assert sign_in.authenticate_token(session, token) == staff.get_by_email(session, EMAIL).id
    with store.writing(SYSTEM) as session, pytest.raises(Unauthorized, match="used before"):
        sign_in.authenticate_token(session, token)
    with store.writing(SYSTEM) as session:
        assert sign_in.authenticate_token(session, make_token(nonce="another"))


@pytest.mark.both_databases
@every_case(
    ("changed", "why"),
    [
        ({"email_verified": False}, "verified"),
        ({"email_verified": None}, "verified"),
        ({"email": None}, "verified"),
        ({"email": "nobody@x.example"}, "has no account"),
        ({"email": "eze@x.example"}, "has no account"),
        ({"iat": 1_000_000_000}, "too long"),
        ({"iat": None}, "too long"),
    ],
)
def test_a_word_that_does_not_count_is_refused_and_says_why(
    store: Store, ada: None, changed: dict[str, Any], why: str
) -> None:
    with pytest.raises(Unauthorized, match=why), store.writing(SYSTEM) as session:
        sign_in.authenticate_token(session, make_token(**changed))


def test_a_place_that_guesses_at_many_accounts_waits_and_others_do_not(store: Store) -> None:
    with store.writing(SYSTEM) as session:
        for number in range(credentials.FREE_FAILURES_PER_ADDRESS):
            credentials.record_failure(session, f"a{number}@x.example", address="192.0.2.1")
        with pytest.raises(TooManyRequests):
            sign_in.admit_attempt(session, EMAIL, address="192.0.2.1")
        sign_in.admit_attempt(session, EMAIL, address="192.0.2.2")
        kept = session.execute(sa.select(SignInAttempt.email_hash)).scalars().all()
    assert "192.0.2.1" not in str(kept)


@pytest.mark.both_databases
def test_the_slips_of_an_office_never_add_up(store: Store) -> None:
    with store.writing(SYSTEM) as session:
        for _ in range(credentials.FREE_FAILURES_PER_ADDRESS * 2):
            sign_in.admit_attempt(session, EMAIL, address="192.0.2.1")
            sign_in.admit_attempt(session, EMAIL, address="192.0.2.1")
            credentials.clear_failures(session, EMAIL, address="192.0.2.1")
