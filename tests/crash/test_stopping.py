"""A server that is asked to end answers first what it has accepted."""

import time
from collections.abc import Callable

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core.store.access import Scope
from core.store.schema.tables import KeptAnswer
from tests.crash.conftest import Place
from tests.crash.selling import Crowd
from tests.crash.serving import executed
from tests.crash.sizes import CRASHES, ON_SQLITE

ENDS_WITHIN = 60


@ON_SQLITE
def test_what_was_accepted_is_answered_before_the_server_ends(place: Place) -> None:
    _ended_under_load(place, min(CRASHES, 20), place.server.start)


@pytest.mark.slow
def test_screens_and_api_in_one_process_end_as_well(on_sqlite: Place) -> None:
    on_sqlite.server.terminated(ENDS_WITHIN)
    with on_sqlite.served_by("serve"):
        _ended_under_load(on_sqlite, 3, lambda: on_sqlite.server.start(executed))


def _ended_under_load(place: Place, times: int, start: Callable[[], object]) -> None:
    before, took = place.sold(), []
    with place.crowd() as crowd:
        for _ in range(times):
            crowd.wait_for(place.random.randrange(1, 60))
            took.append(place.server.terminated(ENDS_WITHIN))
            assert unanswered(place, crowd) == set()
            start()
        crowd.wait_for(1)
    assert place.faults(crowd, before=before) == []
    print(
        f"\n`{place.server.words[0]}` on {place.kind}: {len(took)} ends while {crowd.clients} clients sold, all that"
        f" was done was answered; ended in {max(took):.2f} s at most"
    )


def unanswered(place: Place, crowd: Crowd) -> set[str]:
    """What the store says was done and its client was not told of; a client may take a moment to read."""
    with place.opened() as store, store.reading(Scope.system()) as session:
        done = set(
            session.execute(sa.select(col(KeptAnswer.key)).where(col(KeptAnswer.key).like(f"{crowd.name}-%"))).scalars()
        )
    until = time.monotonic() + 5
    while (missing := done - crowd.sold.keys() - crowd.uploaded.keys()) and time.monotonic() < until:
        time.sleep(0.02)
    return missing
