"""Figures and exports are read from a replica while it is fit, and from the primary in every other case."""

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
import sqlalchemy as sa
import structlog
from sqlalchemy import event
from starlette.requests import Request
from streamlit.testing.v1 import AppTest

from core import clock, ids
from core.api.outside import health
from core.covers.insurers.insurer_f import PERSONAL_ACCIDENT
from core.desk import export_runs
from core.desk.export_runs import ExportOrder
from core.services.lists.exports import CSV, Tally
from core.services.lists.windows import Window
from core.services.sales import figures
from core.services.sales.purchases import PURCHASES, PurchaseFilter
from core.settings import ROOT
from core.store.access import Scope, Store
from core.store.access.replica import AWAY, REPLICA_STATUS, Bounds, Replica
from tests.conftest import Partner, fresh_store
from tests.postgres_database import PostgresDatabase, administering
from tests.services import selling
from tests.store.standby import Standby
from tests.ui.conftest import person_of, sent, texts

pytestmark = [pytest.mark.both_databases, pytest.mark.postgres]
STAFF = Scope.staff(is_live=True)
# Everything is looked at anew each time, and a moment is worth saying.
AT_ONCE = Bounds(shown_from=timedelta(0), believed=0, retry_seconds=0)
WAITS = replace(AT_ONCE, catch_up_seconds=30)
Log = list[Any]


@pytest.fixture(scope="module")
def standby(postgres_database: PostgresDatabase) -> Iterator[Standby]:
    # What is acknowledged is sent on at once, as on a server that is not hurried for tests.
    with administering(postgres_database.url.set(database="postgres")) as connection:
        connection.exec_driver_sql("ALTER ROLE postgres SET synchronous_commit = on")
        made = Standby(postgres_database.url)
        yield made
        made.remove()
        connection.exec_driver_sql("ALTER ROLE postgres RESET synchronous_commit")


@pytest.fixture
def store(
    request: pytest.FixtureRequest, standby: Standby, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:
    """A store on PostgreSQL with its replica, which shows all of it when a test begins."""
    monkeypatch.setenv("COVERDESK_REPLICA_URL", standby.url)
    with fresh_store(request, "postgres", tmp_path, monkeypatch) as made:
        bounded(made, standby, WAITS)
        # After a quiet time, all that is known of a replica that lacks one write is that its last one is old.
        until = time.monotonic() + WAITS.catch_up_seconds
        while made.replica.status().fault and time.monotonic() < until:
            pass
        yield made
        made.replica.close()


def bounded(store: Store, standby: Standby, bounds: Bounds) -> Store:
    if store.replica:
        store.replica.close()
    store.replica = Replica(standby.url, store.engine, bounds)
    return store


@pytest.fixture
def held_up(store: Store, standby: Standby, sell: Callable[[], object]) -> Iterator[Store]:
    """One sale that the replica shows, and another that it does not."""
    sell()
    with store.reading_replica(STAFF, exact=True) as session:
        assert REPLICA_STATUS in session.info
    standby.hold_up()
    try:
        sell()
        yield store
    finally:
        standby.let_go()


@pytest.fixture
def sell(store: Store, partner: Partner) -> Callable[[], object]:
    return lambda: selling.sell(store, partner, PERSONAL_ACCIDENT, is_live=True, email=f"{ids.new_code()}@example.com")


@pytest.fixture
def log() -> Iterator[Log]:
    with structlog.testing.capture_logs() as lines:
        yield lines


def sold(store: Store, **wanted: bool) -> int:
    """The number of the dashboard's tile for today."""
    today = Window.from_days(clock.today(), clock.today())
    with store.reading_replica(STAFF, **wanted) as session:
        return figures.build_summary(session, today).current.totals.sold


def exported(store: Store) -> Tally:
    order = ExportOrder(
        id=ids.new(), kind=PURCHASES, format=CSV, selection=PurchaseFilter(), is_live=True, actor="tests"
    )
    tally = Tally()
    for _ in export_runs.stream(order, tally):
        pass
    with store.reading(Scope.system()) as session:
        assert export_runs.get_receipt(session, order.id)
    return tally


def ready() -> Any:
    return json.loads(health.readyz(Request({"type": "http"})).body)


def test_figures_come_from_the_replica_and_say_as_of_when(held_up: Store) -> None:
    assert sold(held_up) == 1
    with held_up.reading_replica(STAFF) as session:
        as_of = session.info[REPLICA_STATUS].as_of
    assert clock.now() - timedelta(minutes=1) < as_of < clock.now()
    with held_up.reading(STAFF) as session:
        assert figures.build_summary(session, Window.from_days(clock.today(), clock.today())).current.totals.sold == 2


def test_the_dashboard_shows_them_with_that_moment(held_up: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("core.ui.frame.frame.current", lambda: person_of("operations"))
    at = AppTest.from_file(str(ROOT / "pages" / "_main.py"), default_timeout=60).run()
    assert not at.exception
    (tiles,) = (payload["tiles"] for payload in sent(at) if "tiles" in payload)
    assert next(tile["value"] for tile in tiles if tile["label"] == "Policies sold") == "1"
    assert "Figures as of" in texts(at)


def test_a_replica_that_lags_too_far_is_left_for_the_primary(held_up: Store, standby: Standby, log: Log) -> None:
    bounded(held_up, standby, replace(AT_ONCE, max_lag=timedelta(0)))
    assert sold(held_up) == 2
    assert [line["error"] for line in log] == ["the replica is behind"]
    standby.let_go()
    while held_up.replica.status().fault:
        pass
    assert log[-1]["event"] == "figures and exports are read from the replica again"


def test_an_export_waits_for_what_was_just_written_and_reads_the_replica(
    store: Store, sell: Callable[[], object]
) -> None:
    statements: list[str] = []
    event.listen(store.replica.engine, "before_cursor_execute", lambda *arguments: statements.append(arguments[2]))
    sell()
    assert exported(store).rows == 1
    assert [statement for statement in statements if "pg_is_in_recovery" not in statement]


def test_an_export_that_waited_in_vain_is_whole_all_the_same(held_up: Store, standby: Standby, log: Log) -> None:
    bounded(held_up, standby, replace(AT_ONCE, catch_up_seconds=0))
    assert exported(held_up).rows == 2
    assert "an export is read from the primary" in [line["event"] for line in log]


def test_a_replica_that_is_away_is_done_without_until_it_is_back(
    store: Store, standby: Standby, sell: Callable[[], object], log: Log
) -> None:
    sell()
    assert sold(store, exact=True) == 1
    standby.stop()
    sell()
    assert sold(store) == 2
    assert exported(store).rows == 2
    assert ready() == {"status": "ready", "replica": AWAY}
    standby.start()
    assert ready() == {"status": "ready", "replica": "in use"}
    assert sold(store, exact=True) == 2
    assert [line.get("error") for line in log if line["event"].startswith("figures")] == ["the replica is away", None]


def test_a_server_that_does_not_follow_this_store_is_no_replica(store: Store, log: Log) -> None:
    store.replica.close()
    store.replica = Replica(store.url.render_as_string(hide_password=False), store.engine)
    with store.reading_replica(STAFF) as session:
        assert REPLICA_STATUS not in session.info
    assert [line["error"] for line in log] == ["the replica is no replica of this store"]


def test_nothing_is_written_through_a_look_back(store: Store) -> None:
    with (
        pytest.raises(sa.exc.DBAPIError, match="read-only transaction"),
        store.reading_replica(Scope.system()) as session,
    ):
        session.execute(sa.text("DELETE FROM kept_answer"))
