"""Whatever was acknowledged is there once and whole, also when the server is killed under load."""

import time

import pytest

from tests.crash import books
from tests.crash.conftest import Place
from tests.crash.serving import executed
from tests.crash.sizes import CRASHES, SALES

pytestmark = pytest.mark.both_databases

READY_WITHIN = 60  # seconds on a machine that also runs other things; alone it takes a few


def test_acknowledged_sales_survive_a_server_that_is_killed(place: Place) -> None:
    before, starts = place.sold(), []
    with place.crowd() as crowd:
        for _ in range(CRASHES):
            crowd.wait_for(place.random.randrange(1, SALES))
            time.sleep(place.random.uniform(0, 0.3))
            place.server.kill()
            starts.append(place.server.start())
        crowd.wait_for(20)
    assert place.faults(crowd, before=before) == []
    assert books.replays(crowd, most=20 * CRASHES) == []
    assert max(starts) < READY_WITHIN
    print(
        f"\n{place.kind}: {CRASHES} kills under {crowd.clients} clients, {len(crowd.sold):,} sales and"
        f" {len(crowd.uploaded):,} uploads acknowledged, 0 lost, 0 doubled, 0 half; ready again in"
        f" {sum(starts) / len(starts):.1f} s (at most {max(starts):.1f} s); seen {dict(crowd.seen)}"
    )


@pytest.mark.slow
def test_killed_server_is_soon_ready_again(place: Place) -> None:
    before, starts = place.sold(), []
    with place.crowd() as crowd:
        for _ in range(5):
            crowd.wait_for(10)
            place.server.kill()
            starts.append(place.server.start(executed))
    assert place.faults(crowd, before=before) == []
    assert max(starts) < READY_WITHIN
    print(
        f"\n{place.kind}: a killed server, started as an operator does, is ready again under {crowd.clients} clients in"
        f" {', '.join(f'{seconds:.1f}' for seconds in starts)} s"
    )
