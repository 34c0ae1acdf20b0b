"""The feed misses nothing and repeats nothing, however its writers meet (contract W6)."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import orjson
import pytest
import sqlalchemy as sa
from alembic import command
from sqlmodel import col

from core import clock
from core.covers.insurers import insurer_f
from core.dispatch import webhooks
from core.errors import InvalidInput
from core.services.audit import log as audit
from core.services.events import derivation, feed
from core.services.events.feed import FeedFilter
from core.services.selling import buying
from core.store.access import Scope, ScopedSession, Store
from core.store.audit_chain import chain_of
from core.store.schema import migrating
from core.store.schema.tables import AuditEntry, Event, Policy
from tests.conftest import Partner, fresh_store, make_partner
from tests.covers import shipped
from tests.services.selling import sell

pytestmark = pytest.mark.both_databases

COVER = insurer_f.PERSONAL_ACCIDENT
WRITERS, SALES = 16, 12


def sold(store: Store, partner: Partner, number: int) -> str:
    request = shipped.request(COVER, email=f"holder{number}@example.com")
    sale = store.transact(partner.scope(), lambda s: buying.sell(s, COVER, request, partner.seller()))
    return str(sale.purchase_id)


def follow(store: Store, partner: Partner, until: Callable[[], bool], criteria: FeedFilter) -> list[dict[str, Any]]:
    """Return everything that a reader gets who follows the cursor by small pages until nothing is left."""
    found: list[dict[str, Any]] = []
    cursor: UUID | None = None
    while True:
        over = until()
        webhooks.catch_up(store)
        with store.reading(partner.scope()) as session:
            page = feed.read_page(session, criteria, after=cursor, limit=7)
        found += [orjson.loads(body) for body in page.bodies]
        cursor = UUID(page.cursor) if page.cursor else None
        if over and not page.bodies:
            return found


def test_a_reader_that_follows_the_cursor_gets_each_event_once_while_sixteen_sell(
    store: Store, partner: Partner
) -> None:
    finished = threading.Event()
    with ThreadPoolExecutor(WRITERS + 2) as threads:
        readers = [threads.submit(follow, store, partner, finished.is_set, FeedFilter()) for _ in range(2)]
        purchases = list(threads.map(lambda number: sold(store, partner, number), range(WRITERS * SALES), chunksize=1))
        finished.set()
        seen, again = (reader.result() for reader in readers)
    ids = [event["id"] for event in seen]
    assert len(ids) == len(set(ids))
    assert ids == [event["id"] for event in again]
    reported = [event["object"]["id"] for event in seen if event["type"] == "purchase.created"]
    assert sorted(reported) == sorted(purchases)
    for object_id in {event["object"]["id"] for event in seen}:
        sequences = [event["sequence"] for event in seen if event["object"]["id"] == object_id]
        assert sequences == list(range(1, len(sequences) + 1))


@pytest.fixture
def postgres_store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Store]:
    with fresh_store(request, "postgres", tmp_path, monkeypatch) as made:
        yield made


@pytest.mark.postgres
def test_who_commits_last_is_not_skipped_though_it_wrote_first(postgres_store: Store) -> None:
    # The order of ids is the order of writing: a cursor over it would pass the first writer, who commits last.
    store = postgres_store
    partner = make_partner(store, "Swift Lenders")
    policies = [sell(store, partner, COVER, email=f"{name}@example.com").policy_id for name in "abcdefghij"]
    webhooks.catch_up(store)
    first = policies[0]
    second = next(p for p in policies if chain_of(f"policy {p}") != chain_of(f"policy {first}"))
    written, read = threading.Event(), threading.Event()

    def slow(session: ScopedSession) -> None:
        note(session, first)
        session.flush()
        _ = session.connection().exec_driver_sql("SELECT 1").scalar_one()
        written.set()
        assert read.wait(60)

    with ThreadPoolExecutor(1) as threads:
        writing = threads.submit(store.transact, partner.scope(), slow)
        assert written.wait(60)
        store.transact(partner.scope(), lambda session: note(session, second))
        early = naive(store)
        assert updates(store, partner) == [str(second)]
        read.set()
        writing.result()
    assert updates(store, partner) == [str(second), str(first)]
    # What follows the newest id that was seen, as a serial cursor does, lacks the first for ever.
    assert [each for each in naive(store) if each > early[-1]] == []
    assert len(naive(store)) == len(early) + 1


def note(session: ScopedSession, policy_id: UUID) -> None:
    audit.write(session, actor="tests", action="policy accepted", subject=f"policy {policy_id}", after={})


def updates(store: Store, partner: Partner) -> list[str]:
    found = follow(store, partner, lambda: True, FeedFilter(types=("policy.updated",)))
    return [event["object"]["id"] for event in found]


def naive(store: Store) -> list[UUID]:
    with store.reading(Scope.system()) as session:
        query = sa.select(col(AuditEntry.id)).where(col(AuditEntry.action) == "policy accepted")
        return list(session.execute(query.order_by(col(AuditEntry.id))).scalars())


def test_two_who_read_the_log_at_once_make_each_event_once(store: Store, partner: Partner) -> None:
    sell(store, partner, COVER)
    with store.reading(Scope.system()) as session:
        batch = derivation.collect(session)
    add = [store.transact(Scope.system(), lambda s: len(feed.append_batch(s, batch))) for _ in range(2)]
    assert add == [len(batch.drafts), 0]
    assert webhooks.catch_up(store) == 0


def test_a_batch_that_failed_half_way_is_read_again_whole(store: Store, partner: Partner) -> None:
    sell(store, partner, COVER)
    with store.reading(Scope.system()) as session:
        batch = derivation.collect(session)

    def dies(session: ScopedSession) -> None:
        feed.append_batch(session, batch)
        raise KeyError("killed")

    with pytest.raises(KeyError):
        store.transact(Scope.system(), dies)
    assert webhooks.catch_up(store) == len(batch.drafts)


def test_more_than_one_batch_is_read_to_the_end(store: Store, partner: Partner, monkeypatch: Any) -> None:
    monkeypatch.setattr(derivation.collect, "__defaults__", (3,))
    for number in range(5):
        sold(store, partner, number)
    webhooks.catch_up(store)
    found = follow(store, partner, lambda: True, FeedFilter(types=("purchase.*",)))
    assert len(found) == 5


def test_a_foreign_cursor_is_refused(store: Store, partner: Partner, stranger: Partner) -> None:
    sell(store, partner, COVER)
    event = follow(store, partner, lambda: True, FeedFilter())[0]
    with store.reading(stranger.scope()) as session, pytest.raises(InvalidInput, match="after must be the cursor"):
        feed.read_page(session, FeedFilter(), after=UUID(event["id"]), limit=1)


def test_one_object_and_some_types_can_be_followed(store: Store, partner: Partner) -> None:
    sale = sell(store, partner, COVER)
    sell(store, partner, COVER, email="other@example.com")
    of_policy = follow(store, partner, lambda: True, FeedFilter(object_id=sale.policy_id))
    assert {event["object"]["id"] for event in of_policy} == {str(sale.policy_id)}
    with store.reading(Scope.system()) as session:
        assert session.get(Policy, sale.policy_id) is not None
    with pytest.raises(InvalidInput, match="types must be types"):
        feed.parse_types("claim.*,nothing.*")


def test_events_of_an_earlier_store_get_the_time_that_stands_in_them(store: Store, partner: Partner) -> None:
    def times() -> dict[UUID, Any]:
        with store.reading(Scope.system()) as session:
            return {
                row.id: row.occurred_at for row in session.execute(sa.select(col(Event.id), col(Event.occurred_at)))
            }

    sold(store, partner, 1)
    webhooks.catch_up(store)
    known = times()
    store.drop_idle_connections()
    with store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0064-1")
    migrating.migrate(store)
    store.drop_idle_connections()
    assert len(known) > 2
    assert times() == known
    with store.reading(partner.scope()) as session:
        bodies = feed.read_page(session, FeedFilter(), after=None, limit=50).bodies
    assert sorted(orjson.loads(body)["timestamp"] for body in bodies) == sorted(map(clock.to_wire, known.values()))
