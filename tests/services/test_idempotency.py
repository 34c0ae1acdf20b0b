"""One key, one effect: also when equal requests meet (contract S13)."""

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import sqlalchemy as sa

from core import clock
from core.covers.credit_life import CREDIT_LIFE
from core.covers.fields import build_example
from core.covers.request import validate
from core.errors import KeyReused
from core.services.audit.idempotency import WireResponse, fingerprint, run_once
from core.services.sales import api_purchases
from core.services.selling import buying
from core.store.access import Scope, Store
from core.store.schema.tables import KeptAnswer
from tests.conftest import Partner
from tests.portfolio import NOW

pytestmark = pytest.mark.both_databases


def sell_once(store: Store, partner: Partner, key: str, print_: str = "same") -> WireResponse:
    request = validate(CREDIT_LIFE.request, build_example(CREDIT_LIFE.request))
    scope = partner.scope()
    return store.transact(
        scope,
        lambda session: run_once(
            session,
            scope,
            key,
            print_,
            lambda: WireResponse(
                201, str(buying.sell(session, CREDIT_LIFE, request, partner.seller()).policy_id).encode()
            ),
        ),
    )


def test_fifty_equal_requests_at_once_sell_one_policy(store: Store, partner: Partner) -> None:
    with ThreadPoolExecutor(16) as pool:
        answers = list(pool.map(lambda _: sell_once(store, partner, "k"), range(50)))
    assert len({answer.body for answer in answers}) == 1
    assert sum("Idempotent-Replayed" not in answer.headers for answer in answers) == 1
    with store.reading(partner.scope()) as session:
        assert api_purchases.list_purchases(session).total_count == 1


def test_key_with_another_request_is_refused(store: Store, partner: Partner) -> None:
    sell_once(store, partner, "k")
    with pytest.raises(KeyReused, match="send each request with a key of its own"):
        sell_once(store, partner, "k", "another")


def test_failed_work_leaves_the_key_free(store: Store, partner: Partner) -> None:
    scope = partner.scope()

    def fail() -> WireResponse:
        raise KeyError("the work failed")

    with pytest.raises(KeyError):
        store.transact(scope, lambda session: run_once(session, scope, "k", "same", fail))
    assert sell_once(store, partner, "k").status == 201


def test_keys_belong_to_a_distributor(store: Store, partner: Partner, stranger: Partner) -> None:
    first, second = sell_once(store, partner, "k"), sell_once(store, stranger, "k")
    assert first.body != second.body


def test_fingerprint_tells_parts_apart() -> None:
    assert fingerprint(b"ab", b"c") != fingerprint(b"a", b"bc")


def test_answers_that_nobody_may_ask_for_any_more_are_cleared_away(store: Store, partner: Partner) -> None:
    with clock.freeze(NOW):
        for number in range(70):
            kept_under(store, partner, f"early {number}")
    with clock.freeze(NOW + timedelta(hours=47)):
        for number in range(64):
            kept_under(store, partner, f"late {number}")
        assert len(keys_of(store)) == 134
    with clock.freeze(NOW + timedelta(hours=49)):
        for number in range(64):
            kept_under(store, partner, f"last {number}")
        assert keys_of(store) == {f"{when} {number}" for when in ("late", "last") for number in range(64)}


def kept_under(store: Store, partner: Partner, key: str) -> None:
    """An answer that is kept."""
    scope = partner.scope()
    store.transact(scope, lambda session: run_once(session, scope, key, "same", lambda: WireResponse(201, b"{}")))


def keys_of(store: Store) -> set[str]:
    """Under which keys an answer is kept."""
    with store.reading(Scope.system()) as session:
        return set(session.execute(sa.select(KeptAnswer.key)).scalars())
