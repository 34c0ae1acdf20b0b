"""No event is lost, and none told without its change, when those who make and deliver them are killed (contract W1)."""

import random
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import sqlalchemy as sa
import stamina
from sqlmodel import col

from core.covers import request as requests
from core.dispatch import events as event_dispatch
from core.errors import StoreUnavailable
from core.services.audit import log as audit
from core.services.events import derivation
from core.services.webhooks import endpoints
from core.services.webhooks.requests import EndpointRequest
from core.settings import settings
from core.store.access import Scope, Store
from core.store.schema.tables import Event, WebhookDelivery, WebhookEndpoint
from tests.crash import books
from tests.crash.conftest import Place
from tests.crash.serving import Process, kill, loaded
from tests.crash.sizes import CRASHES, ON_POSTGRES, SALES
from tests.events.receivers import Receiver, answers, receiving

_PATIENCE = 180
SYSTEM = Scope.system()


class Deliveries:
    """A worker that may be killed, and a receiver of everything that is told of the place's distributor."""

    def __init__(self, place: Place, store: Store, receiver: Receiver) -> None:
        self.place, self.store, self.receiver = place, store, receiver
        self.environment = {**place.server.environment, "COVERDESK_DEMO": "true"}
        event_dispatch.catch_up(store)
        self.before = self._last_position()
        self._register()
        self.start()

    def start(self) -> None:
        self.worker: Process = loaded("worker", environment=self.environment, log=self.place.folder / "worker.log")

    def kill(self) -> None:
        """kill -9 of the worker; what it had leased is taken over at once, and not a minute later."""
        kill(self.worker)
        # The server goes on selling as fast as it can, and SQLite does not queue those who wait for its lock.
        for attempt in stamina.retry_context(on=StoreUnavailable, attempts=10, timeout=_PATIENCE):
            with attempt, self.store.writing(SYSTEM) as session:
                leased = sa.update(WebhookDelivery).where(col(WebhookDelivery.leased_until).is_not(None))
                session.execute(leased.values(leased_until=None).execution_options(synchronize_session=False))
        self.start()

    def wait_for(self, is_over: Callable[[], bool]) -> None:
        until = time.monotonic() + _PATIENCE
        while not is_over():
            assert time.monotonic() < until, f"not delivered: {self.outstanding()}"
            time.sleep(0.05)

    def numbers(self) -> set[str]:
        """The numbers of the policies that the receiver was told of."""
        taken = [each for each in list(self.receiver.received) if each.headers["coverdesk-event"] == "policy.activated"]
        return {each.event["data"]["policy_number"] for each in taken}

    def count_sales(self) -> int:
        return books.count_of_purchases(self.store)

    def is_idle(self) -> bool:
        with self.store.reading(SYSTEM) as session:
            waiting = sa.select(col(WebhookDelivery.id)).where(col(WebhookDelivery.state) != "sent").limit(1)
            return not derivation.is_behind(session) and session.execute(waiting).first() is None

    def outstanding(self) -> list[Any]:
        """Return the deliveries that are still to be made, and the end of the worker's log, for the message of a
        failure.
        """
        kinds = (WebhookDelivery.state, WebhookDelivery.failures, WebhookDelivery.last_error)
        times = (sa.func.min(col(WebhookDelivery.next_try_at)), sa.func.max(col(WebhookDelivery.leased_until)))
        columns = [col(each) for each in kinds]
        with self.store.reading(SYSTEM) as session:
            found = session.execute(sa.select(*columns, *times, sa.func.count()).group_by(*columns)).all()
        return [*found, (self.place.folder / "worker.log").read_text()[-500:]]

    def faults(self) -> list[str]:
        """List deliveries without their event, and breaks of the audit log and of the feed."""
        taken = [(each.headers["webhook-id"], each.body) for each in list(self.receiver.received)]
        with self.store.reading(SYSTEM) as session:
            stored = {str(row.id): row.body for row in session.execute(sa.select(col(Event.id), col(Event.body)))}
            positions = session.execute(sa.select(col(Event.position)).order_by(col(Event.position))).scalars().all()
            broken = audit.find_broken_links(session)
        foreign = [f"delivered without its event: {key}" for key, body in taken if stored.get(key) != body]
        gaps = [] if list(positions) == list(range(1, len(positions) + 1)) else ["the feed has a gap"]
        return foreign + gaps + broken

    def untold(self) -> list[str]:
        """The events that the receiver never got, and the sales that made no event or two."""
        taken = {each.headers["webhook-id"] for each in self.receiver.received}
        with self.store.reading(SYSTEM) as session:
            rows = session.execute(sa.select(col(Event.id), col(Event.type)).where(col(Event.position) > self.before))
            events = [(str(row.id), row.type) for row in rows]
        sold = sum(kind == "purchase.created" for _, kind in events)
        told = sum(kind == "policy.activated" for _, kind in events)
        lost = [f"never delivered: {kind} {key}" for key, kind in events if key not in taken]
        return lost + ([f"{sold} sales, {told} policies"] if sold != told else [])

    def _register(self) -> None:
        owner = self.place.partner
        request = requests.validate(EndpointRequest, {"url": self.receiver.url, "events": ["*"]})
        with self.store.writing(SYSTEM) as session:
            made = endpoints.register(session, request, distributor_id=owner.id, is_live=False, actor="tests")
            session.get_one(WebhookEndpoint, made.endpoint.id).state = "active"
        self.endpoint_id = made.endpoint.id

    def close(self) -> None:
        kill(self.worker)
        with self.store.writing(SYSTEM) as session:
            endpoints.delete(session, self.endpoint_id, actor="tests")

    def _last_position(self) -> int:
        with self.store.reading(SYSTEM) as session:
            return int(session.execute(sa.select(sa.func.coalesce(sa.func.max(col(Event.position)), 0))).scalar_one())


@contextmanager
def delivering(place: Place) -> Iterator[Deliveries]:
    with place.opened() as store, receiving(answers(204, b"")) as receiver, pytest.MonkeyPatch.context() as patch:
        # Receivers on loopback are for demonstrations.
        patch.setenv("COVERDESK_DEMO", "true")
        settings.cache_clear()
        made = Deliveries(place, store, receiver)
        try:
            yield made
        finally:
            made.close()


def crash(place: Place, deliveries: Deliveries, chance: random.Random) -> str:
    """kill -9 of the worker, of the API that sells, or of both."""
    victim = chance.choice(("worker", "worker", "api", "both"))
    if victim != "worker":
        place.server.kill()
    if victim != "api":
        deliveries.kill()
    if victim != "worker":
        place.server.start()
    return victim


@ON_POSTGRES
def test_no_event_is_lost_and_none_made_up_when_worker_and_api_are_killed(place: Place) -> None:
    killed, sold = [], 0
    with delivering(place) as deliveries:
        for _ in range(CRASHES):
            before = deliveries.count_sales()
            with place.crowd(uploaders=0) as crowd:
                crowd.wait_for(place.random.randrange(1, SALES))
                time.sleep(place.random.uniform(0, 0.3))
                killed.append(crash(place, deliveries, place.random))
            deliveries.wait_for(deliveries.is_idle)
            assert deliveries.faults() == []
            assert deliveries.untold() == []
            assert {sale.number for sale in crowd.sold.values()} <= deliveries.numbers()
            assert books.faults(deliveries.store, crowd, before=before) == []
            sold += len(crowd.sold)
        taken: list[Any] = [each.headers["webhook-id"] for each in deliveries.receiver.received]
    print(
        f"\n{place.kind}: {len(killed)} kills ({killed.count('worker')} of the worker, {killed.count('api')} of the"
        f" API, {killed.count('both')} of both), {sold:,} sales, {len(set(taken)):,} events delivered,"
        f" 0 lost, 0 made up, {len(taken) - len(set(taken)):,} a second time under their ids"
    )
