"""`coverdesk api --workers 2`: two processes behind one port answer as one, and end as one."""

import itertools
import time
from collections.abc import Iterator
from contextlib import ExitStack

import httpx
import psutil
import pytest

from core import ids
from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT
from core.services.catalogue import keys
from core.store.access import Scope
from tests.covers import shipped
from tests.crash.conftest import Place
from tests.crash.rivals import EQUAL, Rivals, statuses
from tests.crash.selling import BUY, connection
from tests.crash.serving import executed
from tests.crash.sizes import ENDS_WITHIN, RACES

pytestmark = [pytest.mark.both_databases, pytest.mark.postgres, pytest.mark.exhaustive]
PATH = "/v1/genders"
# A revoked key stops working within a second (contract M3).
A_SECOND = 1.0


@pytest.fixture(scope="module")
def served(places: dict[str, Place]) -> Iterator[Place]:
    with places["postgres"].served_by("api", "--workers", "2"):
        yield places["postgres"]


@pytest.fixture
def place(served: Place) -> Place:
    """A store on PostgreSQL that two workers serve."""
    if not served.server.is_running:
        served.server.start(executed)
    return served


def workers_of(place: Place) -> list[psutil.Process]:
    """The processes of the server that listen."""
    assert place.server.process
    found = psutil.Process(place.server.process.pid).children()
    return [each for each in found if any(one.status == "LISTEN" for one in each.net_connections("tcp"))]


def by_worker(place: Place, answers: list[httpx.Response]) -> dict[int, list[int]]:
    """Return the places in the list of the answers that each worker gave."""
    ports = {
        answer.extensions["network_stream"].get_extra_info("client_addr")[1]: n for n, answer in enumerate(answers)
    }
    held = {
        worker.pid: [
            ports[one.raddr.port] for one in worker.net_connections("tcp") if one.raddr and one.raddr.port in ports
        ]
        for worker in workers_of(place)
    }
    return {pid: mine for pid, mine in held.items() if mine}


def test_a_key_that_is_revoked_is_refused_by_both_within_a_second(place: Place) -> None:
    with place.opened() as store, ExitStack() as open_:
        with store.writing(Scope.system()) as session:
            key = keys.issue_key(session, distributor_id=place.partner.id, is_live=False, name="lost", actor="tests")
        clients, answers = [], []
        while len(by_worker(place, answers)) < 2:
            clients.append(open_.enter_context(connection(place.server.url, key)))
            answers.append(clients[-1].get(PATH))
        assert statuses(answers) == {200: len(answers)}
        both = [clients[mine[0]] for mine in by_worker(place, answers).values()]
        with store.writing(Scope.system()) as session:
            keys.revoke_key(session, key, actor="tests")
        revoked_at = time.monotonic()
        for client in itertools.cycle(both):
            asked_at = time.monotonic()
            assert client.get(PATH).status_code == 401 or asked_at < revoked_at + A_SECOND
            if asked_at > revoked_at + A_SECOND:
                break
        assert [client.get(PATH).status_code for client in both] == [401, 401]


def connected_to_both(place: Place, open_: ExitStack) -> Rivals:
    """Open rivals until each worker has accepted some of them: one worker may take all that connect at once."""
    while True:
        rivals = open_.enter_context(Rivals(place, EQUAL))
        if len(by_worker(place, rivals.ask(PATH))) == 2:
            return rivals


def test_equal_requests_at_both_workers_are_one_purchase(place: Place) -> None:
    with ExitStack() as open_:
        rivals, before = connected_to_both(place, open_), place.sold()
        for n in range(RACES):
            body = shipped.body(PERSONAL_ACCIDENT, email=f"equal.workers.{n}@example.com")
            answers = rivals.send(BUY, body, ids.new_code())
            assert statuses(answers) == {201: EQUAL}
            assert len({answer.content for answer in answers}) == 1
            assert len(by_worker(place, answers)) == 2
    assert place.sold() - before == RACES
    print(f"\n{RACES} rounds of {EQUAL} equal requests at two workers at once: {RACES} purchases")


@pytest.mark.slow
def test_both_end_when_the_server_is_asked_to_and_answer_first(place: Place) -> None:
    before, workers = place.sold(), workers_of(place)
    with place.crowd() as crowd:
        crowd.wait_for(10)
        took = place.server.terminated(ENDS_WITHIN)
        assert [worker for worker in workers if worker.is_running()] == []
        assert place.unanswered(crowd) == set()
        place.server.start(executed)
        crowd.wait_for(1)
    assert place.faults(crowd, before=before) == []
    print(f"\ntwo workers ended under load in {took:.2f} s, all that was done was answered")
