"""One key, one effect: also when equal requests meet (contract S13)."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from core.covers.credit_life import CREDIT_LIFE
from core.covers.fields import example
from core.covers.request import read
from core.errors import KeyReused
from core.services.idempotency import Answer, fingerprint, once
from core.services.sales import purchases
from core.services.selling import buying
from core.store.engine import Store
from tests.conftest import Partner


def sell_once(store: Store, partner: Partner, key: str, print_: str = "same") -> Answer:
    request = read(CREDIT_LIFE.request, example(CREDIT_LIFE.request))
    scope = partner.scope()
    return store.transact(
        scope,
        lambda session: once(
            session,
            scope,
            key,
            print_,
            lambda: Answer(201, str(buying.sell(session, CREDIT_LIFE, request, partner.seller()).policy_id).encode()),
        ),
    )


def test_fifty_equal_requests_at_once_sell_one_policy(store: Store, partner: Partner) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: sell_once(store, partner, "k"), range(50)))
    assert len({answer.body for answer in answers}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in answers) == 1
    with store.reading(partner.scope()) as session:
        assert purchases.page(session).total_count == 1


def test_key_with_another_request_is_refused(store: Store, partner: Partner) -> None:
    sell_once(store, partner, "k")
    with pytest.raises(KeyReused):
        sell_once(store, partner, "k", "another")


def test_failed_work_leaves_the_key_free(store: Store, partner: Partner) -> None:
    scope = partner.scope()

    def fail() -> Answer:
        raise KeyError("the work failed")

    with pytest.raises(KeyError):
        store.transact(scope, lambda session: once(session, scope, "k", "same", fail))
    assert sell_once(store, partner, "k").status == 201


def test_keys_belong_to_a_distributor(store: Store, partner: Partner, stranger: Partner) -> None:
    first, second = sell_once(store, partner, "k"), sell_once(store, stranger, "k")
    assert first.body != second.body


def test_fingerprint_tells_parts_apart() -> None:
    assert fingerprint(b"ab", b"c") != fingerprint(b"a", b"bc")
