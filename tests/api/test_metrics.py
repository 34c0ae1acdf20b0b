"""Metrics: who may read them, what they say, and that they say nothing of anybody (contract O3)."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from urllib.request import Request, urlopen

import httpx
import pytest

from core import clock, telemetry
from core.api.outside import health
from core.desk import gauges, status
from core.errors import InvalidSetting
from core.services.audit import log as audit
from core.settings import Settings, settings
from core.store.access import Scope, Store
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.every_case import every_case
from tests.ports import free_port

TOKEN = "abcdefghijklmnopqrstuvwxyz-0123456789"
BEARER = {"Authorization": f"Bearer {TOKEN}"}


@pytest.fixture
def counting(client: Client, monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    """The API with metrics behind a token."""
    monkeypatch.setenv("COVERDESK_METRICS", "true")
    monkeypatch.setenv("COVERDESK_METRICS_TOKEN", TOKEN)
    settings.cache_clear()
    telemetry.enable_metrics()
    yield client
    telemetry.disable_metrics()
    settings.cache_clear()


def series(text: str) -> dict[str, float]:
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines)}


def scraped(client: Client) -> dict[str, float]:
    answer = client.get("/metrics", headers=BEARER)
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain")
    return series(answer.text)


def test_there_are_no_metrics_unless_they_are_asked_for(client: Client) -> None:
    assert client.get("/metrics", headers=BEARER).status_code == 404


@every_case("header", [None, "", "Bearer ", f"Bearer {TOKEN}x", TOKEN, f"Basic {TOKEN}", "Bearer é"])
def test_nobody_reads_them_without_the_token(counting: Client, header: str | None) -> None:
    given = {} if header is None else {"Authorization": header.encode()}
    answer = counting.get("/metrics", headers=given)
    assert (answer.status_code, answer.text) == (401, "Unauthorized")


@every_case("token", ["short", "a" * 40])
def test_a_weak_token_is_refused(token: str) -> None:
    with pytest.raises(InvalidSetting, match="COVERDESK_METRICS_TOKEN: must be at least"):
        Settings(demo=True, metrics=True, metrics_token=token).check_safe_to_serve()


def test_metrics_are_never_open_to_everybody() -> None:
    with pytest.raises(InvalidSetting, match="COVERDESK_METRICS_TOKEN: must be set"):
        Settings(demo=True, metrics=True).check_safe_to_serve()


def test_requests_are_counted_by_route_and_status(counting: Client, partner: Partner) -> None:
    key = {"Authorization": f"Bearer {partner.live_key}"}
    for path in ("purchase", "purchase", "purchase/018f0000-0000-7000-8000-000000000000", "nothing/of/the/kind"):
        counting.get(f"/v1/{path}", headers=key)
    found = scraped(counting)
    assert found['coverdesk_requests_total{route="/purchase",status="200"}'] == 2
    assert found['coverdesk_requests_total{route="/purchase/{purchase_id}",status="404"}'] == 1
    assert found['coverdesk_requests_total{route="none",status="404"}'] == 1
    assert found['coverdesk_request_seconds_count{route="/purchase"}'] == 2


def test_the_state_of_the_store_is_read_at_each_scrape(counting: Client, store: Store) -> None:
    before = scraped(counting)
    assert before["coverdesk_up"] == 1
    assert before['coverdesk_queue_depth{queue="insurers"}'] == 0
    assert before["coverdesk_workers"] == 0
    assert "coverdesk_backup_age_seconds" not in before
    with store.writing(Scope.system()) as session:
        status.record(session, "here:1")
        audit.write(session, actor="tests", action=audit.BACKED_UP, subject="backup x")
    after = scraped(counting)
    assert after["coverdesk_workers"] == 1
    assert 0 <= after["coverdesk_backup_age_seconds"] < 600
    assert after["coverdesk_audit_entries"] == before["coverdesk_audit_entries"] + 1
    (version,) = [name for name in after if name.startswith("coverdesk_schema_current")]
    assert after[version] == 1


@pytest.mark.parametrize("database", [pytest.param("postgres", marks=pytest.mark.postgres)])
def test_a_clock_that_is_behind_that_of_the_database_is_told(store: Store) -> None:
    with clock.freeze(datetime.now(UTC) - timedelta(hours=1)), store.reading(Scope.system()) as session:
        (skew,) = [gauge.value for gauge in gauges.list_gauges(session) if gauge.name == "clock_skew_seconds"]
    assert skew >= 3_600


def test_a_worker_that_is_silent_is_no_longer_counted(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.writing(Scope.system()) as session:
        status.record(session, "here:1")
    later = clock.now() + status.FRESH * 2
    monkeypatch.setattr(clock, "now", lambda: later)
    with store.reading(Scope.system()) as session:
        found = {gauge.name: gauge.value for gauge in gauges.list_gauges(session)}
    assert found["workers"] == 0
    assert found["worker_beat_age_seconds"] >= status.FRESH.total_seconds()


def test_a_worker_that_ended_is_forgotten(store: Store) -> None:
    with store.writing(Scope.system()) as session:
        status.record(session, "here:1")
        status.record(session, "here:2")
        status.record(session, "here:1")
    with store.writing(Scope.system()) as session:
        status.forget(session, "here:1")
        assert [beat.name for beat in status.list_beats(session)] == ["here:2"]


def test_counters_are_told_when_the_store_does_not_answer(counting: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(gauges, "list_gauges", lambda _: 1 / 0)
    telemetry.count("idempotent_replays")
    found = scraped(counting)
    assert found["coverdesk_up"] == 0
    assert found["coverdesk_idempotent_replays_total"] == 1


def test_no_counter_is_doubled_by_the_time_at_which_it_began(counting: Client) -> None:
    telemetry.count("requests", "/v1/purchase", "200")
    telemetry.observe("webhook_seconds", 0.2)
    assert [name for name in scraped(counting) if "_created" in name] == []


def test_labels_name_nobody_and_cannot_grow_without_bound(counting: Client, partner: Partner) -> None:
    key = {"Authorization": f"Bearer {partner.live_key}"}
    for number in range(400):
        counting.get(f"/v1/purchase/018f0000-0000-7000-8000-{number:012}", headers=key)
        telemetry.count("requests", f"/planted/{number}", "200")
    found = scraped(counting)
    assert len(found) < 2_000
    text = "\n".join(found)
    assert "Swift" not in text
    assert not re.search(r"[0-9a-f]{8}-[0-9a-f]{4}-", text)


def test_a_port_of_their_own_takes_them_away_from_the_public_one(
    counting: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    port = free_port()
    monkeypatch.setenv("COVERDESK_METRICS_PORT", str(port))
    settings.cache_clear()
    server = health.serve_apart("127.0.0.1")
    assert server is not None
    try:
        address = f"http://127.0.0.1:{port}/metrics"
        with urlopen(Request(address, headers=BEARER), timeout=20) as answer:
            assert b"coverdesk_up 1" in answer.read()
        assert httpx.get(address, trust_env=False).status_code == 401
        assert httpx.get(f"http://127.0.0.1:{port}/v1/purchase", trust_env=False).status_code == 404
        assert counting.get("/metrics", headers=BEARER).status_code == 404
    finally:
        server.shutdown()
        server.server_close()


def test_nothing_is_counted_while_they_are_off(store: Store) -> None:
    telemetry.count("idempotent_replays")
    telemetry.observe("screen_seconds", 1.0, "home")
    assert b"coverdesk" not in health.render()[0].split(b"# HELP coverdesk_up")[0]
