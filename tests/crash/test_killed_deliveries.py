"""No event is lost, and none told without its change, when those who make and deliver them are killed (contract W1)."""

import random
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core.covers import request as requests
from core.dispatch import webhooks
from core.services.events import derivation
from core.services.events.webhooks import endpoints
from core.services.events.webhooks.endpoints import EndpointRequest
from core.settings import settings
from core.store.access import Owner, Scope, ScopedSession, Store
from core.store.schema.events import DELIVERY_STATES
from core.store.schema.tables import Event, WebhookDelivery, WebhookEndpoint
from tests.crash import books
from tests.crash.chains import Ends
from tests.crash.conftest import Place
from tests.crash.selling import Crowd
from tests.crash.serving import Process, kill, loaded
from tests.crash.sizes import CRASHES, ON_POSTGRES, SALES
from tests.events.receivers import Received, Receiver, answers, receiving

pytestmark = pytest.mark.both_databases

_PATIENCE = 180
_AT_ONCE = 400
SYSTEM = Scope.system()


class Deliveries:
    """A worker that may be killed, and a receiver of everything that is told of the place's distributor."""

    def __init__(self, place: Place, store: Store, receiver: Receiver) -> None:
        self.place, self.store, self.receiver = place, store, receiver
        self.environment = {**place.server.environment, "COVERDESK_DEMO": "true"}
        webhooks.catch_up(store)
        self.begun, self.seen, self.looked_at = self._ends(), self._ends(), 0
        self._register()
        self.start()

    def start(self) -> None:
        self.worker: Process = loaded("worker", environment=self.environment, log=self.place.folder / "worker.log")

    def kill(self) -> None:
        """kill -9 of the worker; what it had leased is taken over at once, and not a minute later."""
        kill(self.worker)
        # In one try, as a command does, though the server goes on selling as fast as it can.
        with self.store.writing(SYSTEM) as session:
            mine = (col(WebhookDelivery.state) == "queued", col(WebhookDelivery.leased_until).is_not(None))
            leased = sa.update(WebhookDelivery).where(*mine)
            session.execute(leased.values(leased_until=None).execution_options(synchronize_session=False))
        self.start()

    def wait_for(self, is_over: Callable[[], bool]) -> None:
        until = time.monotonic() + _PATIENCE
        while not is_over():
            assert time.monotonic() < until, f"not delivered: {self.outstanding()}"
            time.sleep(0.05)

    def count_sales(self) -> int:
        return books.count_of_purchases(self.store)

    def is_idle(self) -> bool:
        with self.store.reading(SYSTEM) as session:
            # The states by name, as their index finds them: what was sent grows with every round.
            others = [each for each in DELIVERY_STATES if each != "sent"]
            waiting = sa.select(col(WebhookDelivery.id)).where(col(WebhookDelivery.state).in_(others)).limit(1)
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

    def new_faults(self, crowd: Crowd) -> list[str]:
        """List the faults of everything since the last look, while these clients were sold to."""
        with self.store.reading(SYSTEM) as session:
            events = self.seen.new_events(session)
            taken = self.receiver.received[self.looked_at :]
            found = self.seen.broken(session, events) + _foreign(session, taken)
        self.looked_at += len(taken)
        return found + _untold(events, taken, crowd)

    def all_faults(self, crowd: Crowd) -> list[str]:
        """Like `new_faults`, but of everything since the beginning, told to all clients."""
        with self.store.reading(SYSTEM) as session:
            events, taken = self.begun.new_events(session), self.receiver.received[:]
            count, last = session.execute(sa.select(sa.func.count(), sa.func.max(col(Event.position)))).one()
            found = self.begun.broken(session, events) + _foreign(session, taken)
        return found + ([] if count == last else ["the feed has a gap"]) + _untold(events, taken, crowd)

    def _register(self) -> None:
        owner = self.place.partner
        request = requests.validate(EndpointRequest, {"url": self.receiver.url, "events": ["*"]})
        with self.store.writing(SYSTEM) as session:
            made = endpoints.register(session, request, Owner(distributor_id=owner.id, is_live=False), actor="tests")
            session.get_one(WebhookEndpoint, made.endpoint.id).state = "active"
        self.endpoint_id = made.endpoint.id

    def close(self) -> None:
        kill(self.worker)
        with self.store.writing(SYSTEM) as session:
            endpoints.delete(session, self.endpoint_id, actor="tests")

    def _ends(self) -> Ends:
        with self.store.reading(SYSTEM) as session:
            return Ends.of(session)


def _foreign(session: ScopedSession, taken: Sequence[Received]) -> list[str]:
    """List deliveries without their event, or with other contents than are stored."""
    wrong = []
    for start in range(0, len(taken), _AT_ONCE):
        part = taken[start : start + _AT_ONCE]
        found = col(Event.id).in_([UUID(each.headers["webhook-id"]) for each in part])
        stored = {
            str(row.id): row.body for row in session.execute(sa.select(col(Event.id), col(Event.body)).where(found))
        }
        wrong += [each.headers["webhook-id"] for each in part if stored.get(each.headers["webhook-id"]) != each.body]
    return [f"delivered without its event: {key}" for key in wrong]


def _untold(events: Sequence[Any], taken: Sequence[Received], crowd: Crowd) -> list[str]:
    """The events that the receiver never got, and the sales that made no event or two, or that nobody was told of."""
    arrived = {each.headers["webhook-id"] for each in taken}
    lost = [f"never delivered: {row.type} {row.id}" for row in events if str(row.id) not in arrived]
    activated = [each.event for each in taken if each.headers["coverdesk-event"] == "policy.activated"]
    numbers = {each["data"]["policy_number"] for each in activated}
    lost += [f"{sale.key}: nobody was told" for sale in crowd.sold.values() if sale.number not in numbers]
    kinds = Counter(row.type for row in events)
    sold, in_force = kinds["purchase.created"], kinds["policy.activated"]
    return lost + (
        [] if sold == in_force == len(crowd.sold) else [f"{len(crowd.sold)} sales, {sold} and {in_force} events"]
    )


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


@pytest.mark.exhaustive
@ON_POSTGRES
def test_no_event_is_lost_and_none_made_up_when_worker_and_api_are_killed(place: Place) -> None:
    killed: list[str] = []
    with delivering(place) as deliveries:
        begun, everything = deliveries.count_sales(), place.crowd(uploaders=0)
        for _ in range(CRASHES):
            before = deliveries.count_sales()
            with place.crowd(uploaders=0) as crowd:
                crowd.wait_for(place.random.randrange(1, SALES))
                time.sleep(place.random.uniform(0, 0.3))
                killed.append(crash(place, deliveries, place.random))
            deliveries.wait_for(deliveries.is_idle)
            # After each kill only what it may have spoilt, or a hundred of them would take hours.
            assert deliveries.new_faults(crowd) == []
            assert books.faults_of_crowd(deliveries.store, crowd, before=before) == []
            everything.sold |= crowd.sold
        assert deliveries.all_faults(everything) == []
        assert books.faults(deliveries.store, everything, before=begun) == []
        taken = [each.headers["webhook-id"] for each in deliveries.receiver.received]
    print(
        f"\n{place.kind}: {len(killed)} kills ({killed.count('worker')} of the worker, {killed.count('api')} of the"
        f" API, {killed.count('both')} of both), {len(everything.sold):,} sales, {len(set(taken)):,} events delivered,"
        f" 0 lost, 0 made up, {len(taken) - len(set(taken)):,} a second time under their ids"
    )
