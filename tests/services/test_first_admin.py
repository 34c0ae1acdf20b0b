"""The first admin of a new store comes by a link, and there is one first admin."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest

from core import clock
from core.errors import InvalidInput, Unauthorized
from core.services.people import accounts, credentials, staff
from core.store.access import Scope, Store
from tests.services.sign_in_links import PASSWORD, ticket_of

SYSTEM = Scope.system()


def ticket(store: Store) -> str | None:
    with store.reading(SYSTEM) as session:
        link = accounts.create_set_up_link(session)
    return None if link is None else ticket_of(link)


def set_up(store: Store, with_: str, *, email: str = "ada@x.example", password: str | None = PASSWORD) -> bool:
    try:
        with store.writing(SYSTEM) as session:
            accounts.set_up_admin(session, with_, email=email, name="Ada", password=password)
    except Unauthorized:
        return False
    return True


def test_a_link_makes_the_first_admin_once_and_is_void_from_then_on(store: Store) -> None:
    first, second = ticket(store), ticket(store)
    assert first
    assert second
    with store.reading(SYSTEM) as session:
        assert accounts.open_invitation(session, first).kind == "set-up"
    assert set_up(store, first)
    with store.reading(SYSTEM) as session:
        assert staff.get_by_email(session, "ada@x.example").roles == ("admin",)
        assert credentials.verify_password(session, "ada@x.example", PASSWORD)
        with pytest.raises(Unauthorized):
            accounts.open_invitation(session, second)
    assert not set_up(store, first)
    assert not set_up(store, second, email="eve@x.example")
    assert ticket(store) is None


def test_two_who_hold_links_make_one_admin(store: Store) -> None:
    links = [ticket(store) or "" for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        won = list(pool.map(lambda n: set_up(store, links[n], email=f"a{n}@x.example"), range(4)))
    assert sorted(won) == [False, False, False, True]


def test_everything_wrong_is_said_at_once_and_the_link_stays_good(store: Store) -> None:
    link = ticket(store) or ""
    with pytest.raises(InvalidInput) as refusal:
        set_up(store, link, email="ada@", password="short")
    assert {fault.field for fault in refusal.value.faults} == {"email", "password"}
    assert set_up(store, link, password=None), "with an identity provider alone there is no password"
    with store.reading(SYSTEM) as session, pytest.raises(Unauthorized):
        credentials.verify_password(session, "ada@x.example", "")


def test_a_link_lasts_a_day_and_no_other_ticket_is_one(store: Store) -> None:
    link = ticket(store) or ""
    with clock.freeze(clock.now() + timedelta(hours=24, minutes=1)):
        assert not set_up(store, link)
    assert not set_up(store, f"{link}x")
    assert not set_up(store, "")
