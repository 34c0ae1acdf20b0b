"""The checks of events go red when what they guard is broken on purpose: one that cannot fail proves nothing."""

import asyncio
import json
import socket
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import httpcore
import pytest
import sqlalchemy as sa
from sqlmodel import col
from standardwebhooks import Webhook, WebhookVerificationError

from core.covers.insurers import insurer_f
from core.dispatch import webhooks
from core.outbound import signing
from core.outbound.addresses import GuardedNetwork
from core.outbound.webhook_client import SendLimits, WebhookClient
from core.services.audit import log as audit
from core.services.events import derivation, feed
from core.services.events.derivation import Batch
from core.services.events.feed import FeedFilter
from core.services.events.webhooks import log
from core.store.access import Scope, ScopedSession, Store
from core.store.audit_chain import chain_of
from core.store.schema.tables import AuditEntry
from tests.conftest import Partner, fresh_store, make_partner
from tests.events.conftest import Hooks
from tests.events.receivers import receiving
from tests.services.selling import sell

Patch = pytest.MonkeyPatch
only_sqlite = pytest.mark.parametrize("database", ["sqlite"])


def caught(check: Callable[[], None], patch: Patch, *sabotage: tuple[Any, str, Any]) -> None:
    """The check is green as things are, red once the sabotage is in place, and green after it."""
    check()
    with patch.context() as broken:
        for owner, name, value in sabotage:
            broken.setattr(owner, name, value)
        with pytest.raises(AssertionError):
            check()
    check()


def purchases_told(store: Store, partner: Partner) -> set[str]:
    webhooks.catch_up(store)
    with store.reading(partner.scope()) as session:
        page = feed.read_page(session, FeedFilter(types=("purchase.created",)), after=None, limit=500)
    return {json.loads(body)["object"]["id"] for body in page.bodies}


@only_sqlite
def test_an_event_noted_in_a_second_transaction_is_noticed(hooks: Hooks, monkeypatch: Patch) -> None:
    def event_survives_the_death_of_the_process_after_the_commit() -> None:
        sale = hooks.sell()
        assert str(sale.purchase_id) in purchases_told(hooks.store, hooks.partner), "a sale without its event"

    # What would have been written by the second transaction is gone with the process.
    lost: list[Any] = []
    later = lambda _, **entry: lost.append(entry)  # noqa: E731
    caught(event_survives_the_death_of_the_process_after_the_commit, monkeypatch, (audit, "write", later))
    assert [entry["action"] for entry in lost] == ["policy sold"]


@only_sqlite
def test_deliveries_queued_in_a_second_transaction_are_noticed(hooks: Hooks, monkeypatch: Patch) -> None:
    def deliveries_are_queued_after_a_death_half_way() -> None:
        before = len(hooks.log(made))
        hooks.sell()
        with monkeypatch.context() as crash:
            crash.setattr(log, "queue_deliveries", lambda *_: {}["the process is gone"])
            with pytest.raises(KeyError):
                webhooks.catch_up(hooks.store)
        webhooks.catch_up(hooks.store)
        assert len(hooks.log(made)) == before + 1, "an event without its delivery"

    def in_two(store: Store) -> int:
        """Like `catch_up`, but queues the deliveries in a transaction of their own."""
        while (batch := webhooks._next_batch(store)) is not None:
            events = store.transact(
                Scope.system(), lambda session, batch=batch: webhooks.feed.append_batch(session, batch)
            )
            store.transact(Scope.system(), lambda session, events=events: log.queue_deliveries(session, events))
        return 0

    with receiving() as receiver:
        made = hooks.register(receiver.url)
        caught(deliveries_are_queued_after_a_death_half_way, monkeypatch, (webhooks, "catch_up", in_two))


@only_sqlite
def test_a_signature_over_json_that_was_encoded_again_is_noticed(hooks: Hooks, monkeypatch: Patch) -> None:
    def verified_as_received() -> None:
        hooks.sell()
        hooks.drain()
        taken = receiver.received[-1]
        assert taken.headers["coverdesk-event"] == "purchase.created"
        try:
            Webhook(made.secret).verify(taken.body, taken.headers)
        except WebhookVerificationError as error:
            raise AssertionError("the verifier does not accept the bytes that came") from error

    honest = signing.sign_standard
    again = lambda secrets, key, at, body: honest(secrets, key, at, json.dumps(json.loads(body)).encode())  # noqa: E731
    with receiving() as receiver:
        made = hooks.register(receiver.url)
        caught(verified_as_received, monkeypatch, (signing, "sign_standard", again))


class SerialCursor:
    """The log followed by the newest id that was seen, as a serial column would be."""

    def __init__(self) -> None:
        self.last = UUID(int=0)

    def is_behind(self, session: ScopedSession) -> bool:
        return session.execute(self._newer(col(AuditEntry.id)).limit(1)).first() is not None

    def collect(self, session: ScopedSession) -> Batch:
        columns = [
            col(getattr(AuditEntry, name))
            for name in ("id", "action", "subject", "before", "after", "created_at", "trace_id")
        ]
        entries = session.execute(self._newer(*columns)).all()
        self.last = entries[-1].id
        subjects = derivation._load_subjects(session, entries)
        drafts = [draft for entry in entries for draft in derivation.derive(entry, subjects.get(entry.subject))]
        read = derivation.read_cursors(session)
        return Batch(drafts, read, read)

    def _newer(self, *columns: Any) -> Any:
        return sa.select(*columns).where(col(AuditEntry.id) > self.last).order_by(col(AuditEntry.id))


@pytest.fixture
def postgres_store(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: Patch) -> Iterator[Store]:
    with fresh_store(request, "postgres", tmp_path, monkeypatch) as made:
        yield made


class LateCommit:
    """Two who note something at once: the first to write is the last to commit."""

    def __init__(self, store: Store) -> None:
        self.store, self.partner = store, make_partner(store, "Swift Lenders")
        cover, seller = insurer_f.PERSONAL_ACCIDENT, self.partner
        sold = [sell(store, seller, cover, email=f"{number}@example.com").policy_id for number in range(8)]
        self.first = sold[0]
        self.second = next(each for each in sold if chain_of(f"policy {each}") != chain_of(f"policy {self.first}"))

    def check(self) -> None:
        """Both are told, whenever somebody reads."""
        written, read, before = threading.Event(), threading.Event(), self._count()

        def slow(session: ScopedSession) -> None:
            self._note(session, self.first)
            session.flush()
            written.set()
            assert read.wait(60)

        with ThreadPoolExecutor(1) as threads:
            writing = threads.submit(self.store.transact, self.partner.scope(), slow)
            assert written.wait(60)
            self.store.transact(self.partner.scope(), lambda session: self._note(session, self.second))
            between = self._count()
            read.set()
            writing.result()
        assert between == before + 1
        assert self._count() == before + 2, "who committed last was passed over"

    def _note(self, session: ScopedSession, policy_id: UUID) -> None:
        audit.write(session, actor="tests", action="policy accepted", subject=f"policy {policy_id}", after={})

    def _count(self) -> int:
        webhooks.catch_up(self.store)
        with self.store.reading(self.partner.scope()) as session:
            page = feed.read_page(session, FeedFilter(types=("policy.updated",)), after=None, limit=500)
        return len(page.bodies)


@pytest.mark.postgres
def test_a_cursor_from_a_serial_is_noticed(postgres_store: Store, monkeypatch: Patch) -> None:
    late = LateCommit(postgres_store)
    late.check()
    serial = SerialCursor()
    with postgres_store.reading(Scope.system()) as session:
        newest = sa.select(col(AuditEntry.id)).order_by(col(AuditEntry.id).desc()).limit(1)
        serial.last = session.execute(newest).scalar_one()
    monkeypatch.setattr(derivation, "is_behind", serial.is_behind)
    monkeypatch.setattr(derivation, "collect", serial.collect)
    with pytest.raises(AssertionError, match="passed over"):
        late.check()


def test_an_address_that_is_judged_once_is_noticed(monkeypatch: Patch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        port = server.getsockname()[1]

        def never_led_inside(*answers: Sequence[str]) -> None:
            remaining = list(answers)

            async def resolve(_: str, __: int) -> Sequence[str]:
                return remaining.pop(0) if len(remaining) > 1 else remaining[0]

            async def once() -> None:
                limits = SendLimits(connect=0.2, read=0.2, total=5)
                async with WebhookClient(limits, GuardedNetwork(resolving=resolve)) as client:
                    await client.send(f"https://hooks.example.com:{port}/", b"{}", {})

            asyncio.run(once())
            try:
                came, _ = server.accept()
            except BlockingIOError:
                return
            came.close()
            raise AssertionError("a name led to this machine")

        async def resolves_again(self: Any, host: str, port: int, *given: Any, **also: Any) -> Any:
            """Like `connect_tcp`, but connects to what the name says after the judgement."""
            await self._admit(host, port)
            (address,) = await self._resolve(host, port)
            return await httpcore.AnyIOBackend().connect_tcp(address, port, *given, **also)

        rebinding = lambda: never_led_inside(["203.0.114.1"], ["127.0.0.1"])  # noqa: E731
        caught(rebinding, monkeypatch, (GuardedNetwork, "connect_tcp", resolves_again))
        # Judged when it was registered, and never at a connection.
        inner = lambda: never_led_inside(["127.0.0.1"])  # noqa: E731
        caught(inner, monkeypatch, (GuardedNetwork, "_refuse", lambda *_: None))
