"""Requests that meet: one key, one risk, one term; two processes on one store."""

import itertools
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest

from core import clock, ids
from core.covers.insurers.insurer_a import THIRD_PARTY
from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT
from core.services.selling import buying
from core.store.access import Store
from tests.covers import shipped
from tests.crash.conftest import Place
from tests.crash.rivals import EQUAL, RIVALS, Rivals, statuses
from tests.crash.selling import BUY
from tests.crash.sizes import CLIENTS, ON_POSTGRES, RACES

pytestmark = pytest.mark.both_databases

RENEW = "/v1/products/insurer-a/renew-third-party"
_plates = itertools.count(1)


def own_keys(many: int) -> list[str]:
    return [ids.new_code() for _ in range(many)]


def plate() -> str:
    return f"CRA{next(_plates):05d}{ids.new_code()[:4]}".upper()


def test_equal_requests_at_once_with_one_key_are_one_purchase(place: Place) -> None:
    before = place.sold()
    with Rivals(place, EQUAL) as rivals:
        for n in range(RACES):
            body = shipped.body(PERSONAL_ACCIDENT, email=f"equal.{n}@example.com")
            answers = rivals.send(BUY, body, ids.new_code())
            assert statuses(answers) == {201: EQUAL}
            assert len({answer.content for answer in answers}) == 1
    assert place.sold() - before == RACES
    print(f"\n{place.kind}: {RACES} rounds of {EQUAL} equal requests at once with one key: {RACES} purchases")


def test_one_risk_sold_by_several_at_once_is_sold_once(place: Place) -> None:
    before = place.sold()
    with Rivals(place, RIVALS) as rivals:
        for _ in range(RACES):
            body = shipped.body(THIRD_PARTY, registration_number=plate())
            answers = rivals.send(f"/v1{THIRD_PARTY.path}", body, *own_keys(RIVALS))
            assert statuses(answers) == {201: 1, 409: RIVALS - 1}
    assert place.sold() - before == RACES
    print(f"\n{place.kind}: {RACES} rounds of {RIVALS} sales of one risk at once: {RACES} purchases")


def test_one_term_renewed_by_several_at_once_is_renewed_once(place: Place) -> None:
    with place.opened() as store, clock.freeze(clock.now() - timedelta(days=350)):
        # A test policy can be renewed again at once.
        policies = [
            str(sold(store, place, THIRD_PARTY, is_live=True, registration_number=plate())) for _ in range(RACES)
        ]
    with Rivals(place, RIVALS, is_live=True) as rivals:
        for policy_id in policies:
            answers = rivals.send(RENEW, {"policy_id": policy_id}, *own_keys(RIVALS))
            assert statuses(answers) == {201: 1, 409: RIVALS - 1}
    before = place.sold()
    with place.crowd(clients=1, uploaders=0) as crowd:
        pass
    assert place.faults(crowd, before=before) == []
    print(f"\n{place.kind}: {RACES} rounds of {RIVALS} renewals of one term at once: {RACES} renewals")


def sold(store: Store, place: Place, cover: Any, *, is_live: bool = False, **changed: Any) -> Any:
    """A sale as a screen makes it: by the service, in a transaction of this process."""
    request = shipped.request(cover, **changed)
    seller = place.partner.seller(is_live=is_live)
    return store.transact(
        place.partner.scope(is_live=is_live), lambda session: buying.sell(session, cover, request, seller).policy_id
    )


@ON_POSTGRES
def test_a_screen_and_the_api_sell_from_one_store(place: Place) -> None:
    _both_sell(place, RACES * 4)


@pytest.mark.slow
@pytest.mark.postgres
def test_two_workers_and_a_screen_sell_from_one_store(on_postgres: Place) -> None:
    with on_postgres.served_by("api", "--workers", "2"):
        _both_sell(on_postgres, RACES * 4)


def _both_sell(place: Place, many: int) -> None:
    before = place.sold()
    with place.opened() as store, place.crowd(clients=CLIENTS // 2) as crowd, ThreadPoolExecutor(4) as screens:
        made = set(
            screens.map(lambda n: sold(store, place, PERSONAL_ACCIDENT, email=f"screen.{n}@example.com"), range(many))
        )
        crowd.wait_for(10)
    assert len(made) == many
    assert place.faults(crowd, before=before + many) == []
    print(f"\n{place.kind}: {len(crowd.sold):,} sales over the API and {many:,} by a screen at once, numbers unique")
