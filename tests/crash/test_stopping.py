"""A server that is asked to end answers first what it has accepted."""

from collections.abc import Callable

import pytest

from tests.crash.conftest import Place
from tests.crash.serving import executed
from tests.crash.sizes import CRASHES, ENDS_WITHIN, ON_SQLITE

pytestmark = pytest.mark.both_databases


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
            assert place.unanswered(crowd) == set()
            start()
        crowd.wait_for(1)
    assert place.faults(crowd, before=before) == []
    print(
        f"\n`{place.server.words[0]}` on {place.kind}: {len(took)} ends while {crowd.clients} clients sold, all that"
        f" was done was answered; ended in {max(took):.2f} s at most"
    )
