"""PostgreSQL that stops at once under load: clients are told to try again, and nothing acknowledged is lost."""

import time

import pytest

from tests.crash import books
from tests.crash.conftest import Place
from tests.crash.sizes import CRASHES, SALES

pytestmark = [pytest.mark.both_databases, pytest.mark.postgres]
HEALS_WITHIN = 60


def test_database_that_stops_at_once_costs_nothing_but_time(on_postgres: Place) -> None:
    place, postgres, healed = on_postgres, on_postgres.postgres, []
    assert postgres
    before, process = place.sold(), place.server.process
    with place.crowd(connected=True) as crowd:
        for _ in range(CRASHES):
            crowd.wait_for(place.random.randrange(1, SALES))
            time.sleep(place.random.uniform(0, 0.3))
            postgres.stop_at_once()
            assert {place.server.ready() for _ in range(3)} == {503}
            time.sleep(place.random.uniform(0, 0.5))
            postgres.start()
            healed.append(place.server.healed(HEALS_WITHIN))
        crowd.wait_for(20)
    assert (place.server.process, place.server.is_running) == (process, True)
    assert crowd.seen["503"] > 0
    assert place.faults(crowd, before=before) == []
    assert books.replays(crowd, most=20 * CRASHES) == []
    print(
        f"\n{CRASHES} stops of PostgreSQL at once under {crowd.clients} clients, {len(crowd.sold):,} sales"
        f" acknowledged, 0 lost, 0 doubled, 0 half; ready again in {sum(healed) / len(healed):.2f} s (at most"
        f" {max(healed):.2f} s) after PostgreSQL was; seen {dict(crowd.seen)}"
    )
