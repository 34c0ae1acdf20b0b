"""Requests and their statements are spans of OpenTelemetry where that is asked for; else nothing of it is imported."""

import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from structlog.testing import capture_logs

from core import cli, telemetry
from core import settings as settings_module
from core.covers.insurers import insurer_f
from core.errors import InvalidSetting
from core.settings import EXPORTER, ROOT, settings
from core.store.access import Store
from tests.api.conftest import Client
from tests.collector import Collector, collecting
from tests.conftest import SECRET, Partner
from tests.covers import shipped
from tests.crash.serving import Server

TRACE, CALLER = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"
GIVEN = {"traceparent": f"00-{TRACE}-{CALLER}-01"}
COVER = insurer_f.PERSONAL_ACCIDENT
PERSONAL = "very.private@example.com"


def test_a_sale_continues_the_span_of_its_caller_and_its_statements_stand_below_it_without_values(
    client: Client, store: Store, partner: Partner, collector: Collector
) -> None:
    body = shipped.body(COVER, email=PERSONAL)
    sent = client.post(f"/v1{COVER.path}", key=partner.test_key, json=body, headers=GIVEN)
    listed = client.get(f"/v1/purchase?email={PERSONAL}", key=partner.test_key, headers=GIVEN)
    assert (sent.status_code, listed.status_code) == (201, 200)
    telemetry.stop_spans()
    (sale,) = collector.named(f"POST {COVER.path}")
    (question,) = collector.named("GET /purchase")
    for each, status in ((sale, 201), (question, 200)):
        assert (each.trace_id, each.parent_id, each.kind) == (TRACE, CALLER, "server")
        assert each.facts["http.response.status_code"] == status
        assert not each.is_failed
    assert sale.facts["coverdesk.request_id"] == sent.headers["x-request-id"]
    statements = [each for each in collector.spans if "db.query.text" in each.facts]
    assert {each.trace_id for each in statements} == {TRACE}
    assert {each.facts["db.system.name"] for each in statements} == {"sqlite" if store.is_sqlite else "postgresql"}
    written = [each for each in statements if "INSERT INTO purchase" in each.facts["db.query.text"]]
    assert [each.parent_id for each in written] == [sale.span_id]
    assert question.span_id in {each.parent_id for each in statements if each.name in {"SELECT", "BEGIN"}}
    assert all(0 <= each.seconds <= sale.seconds + question.seconds for each in statements)
    assert collector.services == {"coverdesk"}
    for value in (PERSONAL, partner.test_key, sent.json()["data"]["id"], "very.private"):
        assert value.encode() not in b"".join(collector.bodies)


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_request_without_a_caller_begins_a_trace_which_its_log_names_and_one_that_is_not_sampled_is_not_exported(
    client: Client, collector: Collector, partner: Partner
) -> None:
    with capture_logs() as log:
        client.get("/v1/genders", key=partner.test_key)
        client.get("/v1/states", key=partner.test_key, headers={"traceparent": f"00-{TRACE}-{CALLER}-00"})
        client.get(f"/v1/{PERSONAL}", key=partner.test_key)
    telemetry.stop_spans()
    logged = [line["trace_id"] for line in log if line["event"] == "request"]
    (own,) = collector.named("GET /genders")
    assert (own.trace_id, own.parent_id) == (logged[0], "")
    assert logged[1] == TRACE
    assert collector.named("GET /states") == []
    assert [each.facts["http.route"] for each in collector.named("GET none")] == ["none"]
    assert PERSONAL.encode() not in b"".join(collector.bodies)


@pytest.mark.exhaustive
@pytest.mark.long
@pytest.mark.parametrize("database", ["sqlite"])
def test_a_server_exports_until_its_end_and_does_not_wait_for_a_collector_that_is_away(
    store: Store, tmp_path: Path
) -> None:
    environment = {
        "COVERDESK_DATABASE_URL": str(store.url),
        "COVERDESK_FILES_URL": str(tmp_path / "files"),
        "COVERDESK_SECRET_KEY": SECRET,
    }
    with collecting() as found:
        server = Server({**environment, "COVERDESK_OTLP_URL": found.url}, tmp_path)
        server.start()
        assert httpx.get(f"{server.url}/v1/genders", headers=GIVEN, trust_env=False).status_code == 401
        server.terminated(within=60)
    # One without a key has not come as far as a route.
    assert [each.trace_id for each in found.spans] == [TRACE]
    server = Server({**environment, "COVERDESK_OTLP_URL": found.url}, tmp_path)
    server.start()
    assert httpx.get(f"{server.url}/v1/genders", trust_env=False).status_code == 401
    server.terminated(within=60)
    assert '"spans not exported"' in server.log.read_text()
    assert "Traceback" not in server.log.read_text()


def test_an_address_without_the_extra_is_refused_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVERDESK_OTLP_URL", "http://collector:4318")
    settings_module.settings.cache_clear()
    assert settings().otlp_url == "http://collector:4318"
    settings_module.settings.cache_clear()
    with monkeypatch.context() as patch:
        patch.setitem(sys.modules, EXPORTER, None)
        with pytest.raises(
            InvalidSetting, match=r"COVERDESK_OTLP_URL: .*pip install '\./coverdesk-[0-9.]+-py3-none-any\.whl\[otel\]'"
        ):
            settings()
    monkeypatch.setenv("COVERDESK_OTLP_URL", "http://ada:secret@collector:4318")
    settings_module.settings.cache_clear()
    with pytest.raises(InvalidSetting, match="COVERDESK_OTLP_URL: must be a bare address") as refused:
        settings()
    assert "secret" not in str(refused.value)
    settings_module.settings.cache_clear()


def test_a_refusal_of_a_command_keeps_its_brackets(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def refuse() -> None:
        raise InvalidSetting("pip install './coverdesk.whl[otel]'")

    monkeypatch.setattr(cli, "app", refuse)
    with pytest.raises(SystemExit):
        cli.run()
    assert "pip install './coverdesk.whl[otel]'" in capsys.readouterr().err


@pytest.mark.long
def test_nothing_of_it_is_imported_where_nobody_asks_for_it() -> None:
    script = (
        "import sys; from core import telemetry; from core.api import app; telemetry.start_spans()\n"
        "with telemetry.open_span('GET', 'server'): telemetry.note_span({}); telemetry.fail_span('x')\n"
        "telemetry.stop_spans()\n"
        "print([n for n in sys.modules if n.startswith(('opentelemetry.sdk', 'opentelemetry.exporter'))])"
    )
    completed = subprocess.run(
        [sys.executable, "-c", script], cwd=ROOT, env=os.environ, check=True, capture_output=True, text=True
    )
    assert completed.stdout == "[]\n"
