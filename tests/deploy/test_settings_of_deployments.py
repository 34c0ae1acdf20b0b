"""The deployments set variables that exist, all that are required, and refuse to start with what is left empty."""

import os
import re
import signal
import subprocess
from contextlib import suppress
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import yaml

from core.cli import COMMANDS, LazyCommand
from core.commands.serve import serve
from core.errors import InvalidSetting
from core.settings import ROOT, Insurer, Settings, list_insurer_variables, read_variables, settings
from tests.every_case import every_case

DEPLOY = ROOT / "deploy"
COMPOSE: dict[str, Any] = yaml.safe_load((DEPLOY / "compose.yaml").read_text())
SERVICES: dict[str, dict[str, Any]] = COMPOSE["services"]
OURS = {name: each for name, each in SERVICES.items() if "build" in each}
REFERENCE = re.compile(r"\$\{(?P<name>\w+)(?P<how>:[?-])?(?P<rest>[^}]*)\}")


def example() -> dict[str, str]:
    lines = (DEPLOY / ".env.example").read_text().splitlines()
    return dict(line.split("=", 1) for line in lines if line and not line.startswith("#"))


def filled(text: str, values: dict[str, str]) -> str:
    """A value as `docker compose` fills it in; ValueError where it would refuse."""

    def one(match: re.Match[str]) -> str:
        value = values.get(match["name"], "")
        if not value and match["how"] == ":?":
            raise ValueError(match["name"])
        return value or (match["rest"] if match["how"] == ":-" else "")

    return REFERENCE.sub(one, str(text))


def given_to(service: str, values: dict[str, str]) -> dict[str, str]:
    return {name: filled(value, values) for name, value in SERVICES[service].get("environment", {}).items()}


def test_every_variable_of_the_composition_stands_in_the_example_and_none_is_left_over() -> None:
    named = {match["name"] for match in REFERENCE.finditer((DEPLOY / "compose.yaml").read_text())}
    assert named == set(example())


@every_case("missing", ["DESK_HOST", "COVERDESK_SECRET_KEY", "POSTGRES_PASSWORD"])
def test_what_is_left_empty_is_refused_before_anything_starts(missing: str) -> None:
    values = {**example(), "COVERDESK_SECRET_KEY": "x", "POSTGRES_PASSWORD": "x", missing: ""}
    with pytest.raises(ValueError, match=missing):
        _ = [given_to(service, values) for service in SERVICES]


@pytest.mark.parametrize("service", sorted(OURS))
def test_the_services_start_with_the_example_once_it_is_filled_in(
    service: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    values = {
        **example(),
        "COVERDESK_SECRET_KEY": "kjhGF75-qwertzuiop-0987654321-yxcvbnm",
        "POSTGRES_PASSWORD": "abc123",
    }
    for name in read_variables():
        monkeypatch.delenv(name)
    for name, value in given_to(service, values).items():
        if value:
            monkeypatch.setenv(name, value)
    settings.cache_clear()
    settings().check_safe_to_serve()
    assert settings().database_url == "postgresql+psycopg://coverdesk:abc123@db/coverdesk"
    assert settings().base_url == f"https://{example()['DESK_HOST']}"
    settings.cache_clear()


@every_case("service", sorted(OURS))
def test_the_services_run_commands_with_the_options_that_these_have(service: str) -> None:
    health = OURS[service].get("healthcheck", {}).get("test", ())
    for words in (OURS[service]["command"], health[2:] if health[1:2] == ["coverdesk"] else ()):
        if words:
            LazyCommand(words[0], *COMMANDS[words[0]]).load().make_context(words[0], list(words[1:]))


def test_the_proxy_and_the_health_checks_ask_the_ports_that_are_served() -> None:
    image = (DEPLOY / "Dockerfile").read_text()
    served = {
        "app": (str(signature(serve).parameters["port"].default), image[image.index("HEALTHCHECK") :]),
        "api": (SERVICES["api"]["command"][4], str(SERVICES["api"]["healthcheck"]["test"])),
    }
    proxy = (DEPLOY / "Caddyfile").read_text()
    for name, (port, health) in served.items():
        assert set(re.findall(rf"\b{name}:(\d+)", proxy)) == {port}, name
        assert re.findall(r"127\.0\.0\.1:(\d+)/readyz", health)[:1] == [port], name


@every_case("service", sorted(SERVICES))
def test_what_a_service_writes_lies_in_a_volume_that_is_kept(service: str) -> None:
    mounted = dict(each.split(":", 2)[:2] for each in SERVICES[service].get("volumes", ()))
    assert {name for name in mounted if not name.startswith(".")} <= set(COMPOSE["volumes"])
    written = [value for name, value in SERVICES[service].get("environment", {}).items() if str(value).startswith("/")]
    written += [word for word in SERVICES[service].get("entrypoint", ()) if word.startswith("/data")]
    for path in written:
        assert any(Path(path).is_relative_to(target) for target in mounted.values()), path


def test_insurers_are_known_to_who_sells_and_to_who_sends() -> None:
    files = [service["env_file"] for service in OURS.values()]
    assert files == [[{"path": ".env.settings", "required": False}]] * len(OURS)
    given = {name for service in OURS.values() for name in service["environment"]}
    assert not {name for name in given if name.startswith("COVERDESK_INSURER")}, "they would hide those of the file"


@every_case("secret", [".env", ".env.settings"])
def test_files_with_secrets_enter_neither_history_nor_image(secret: str) -> None:
    rules = (DEPLOY / "Dockerfile.dockerignore").read_text().splitlines()
    # The last rule that fits decides.
    assert rules.index("deploy/.env*") > rules.index("!deploy")
    assert f"deploy/{secret}" in (ROOT / ".gitignore").read_text().splitlines()


def test_an_example_that_was_not_filled_in_is_no_secret() -> None:
    with pytest.raises(InvalidSetting):
        Settings(secret_key=example()["COVERDESK_SECRET_KEY"]).check_safe_to_serve()


def test_our_services_are_read_only_and_without_rights() -> None:
    assert set(OURS) == {"init", "app", "api", "worker", "backup"}
    for each in OURS.values():
        assert each["read_only"] is True
        assert each["cap_drop"] == ["ALL"]
        assert each["security_opt"] == ["no-new-privileges:true"]
        assert "ports" not in each, "the proxy alone is reached from outside"


def test_every_service_has_a_bounded_log_and_an_image_of_one_version() -> None:
    for name, each in SERVICES.items():
        assert each["logging"]["options"] == {"max-size": "20m", "max-file": "5"}, name
        assert re.fullmatch(r"[a-z]+:\d+\.\d+(\.\d+)?|coverdesk:\$\{IMAGE_TAG:\?.*\}", each["image"]), name


def test_the_worker_has_a_health_check_and_is_asked_for_its_metrics() -> None:
    worker = SERVICES["worker"]
    assert worker["healthcheck"]["test"] == ["CMD", "coverdesk", "status", "--worker"]
    assert worker["command"] == ["worker", "--host", "0.0.0.0"]
    configuration = yaml.safe_load((DEPLOY / "monitoring" / "prometheus.yaml").read_text())
    (targets,) = configuration["scrape_configs"][0]["static_configs"]
    assert f"worker:{worker['environment']['COVERDESK_METRICS_PORT']}" in targets["targets"]
    assert {each.partition(":")[0] for each in targets["targets"]} == {"app", "api", "worker"}


def test_the_proxy_never_shows_the_metrics() -> None:
    text = (DEPLOY / "Caddyfile").read_text()
    assert "@metrics path /metrics /metrics/*" in text
    assert "\thandle @metrics {\n\t\trespond 404\n\t}\n" in text, "beside a `handle`, `respond` is never reached"


UNITS = sorted((DEPLOY / "systemd").glob("*.service"))


@every_case("unit", UNITS, ids=lambda path: path.name)
def test_units_are_confined(unit: Path) -> None:
    lines = unit.read_text().splitlines()
    assert {"NoNewPrivileges=yes", "ProtectSystem=strict", "User=coverdesk", "PrivateTmp=yes"} <= set(lines)
    assert any(line.startswith("MemoryMax=") for line in lines)
    assert len(UNITS) == 3


def test_units_run_commands_that_exist() -> None:
    text = "".join(unit.read_text() for unit in UNITS)
    assert set(re.findall(r"bin/coverdesk (\w+)", text)) <= set(COMMANDS)
    assert (DEPLOY / "backup.sh").read_text().count("coverdesk backup") == 1


def test_a_nightly_backup_that_is_stopped_leaves_nothing_behind(tmp_path: Path) -> None:
    waiting = tmp_path / "sleep"
    waiting.write_text("#!/bin/sh\necho waiting\nexec /bin/sleep 3600\n")
    waiting.chmod(0o700)
    words = ["sh", DEPLOY / "backup.sh", tmp_path, "3", "nightly"]
    path = {"PATH": f"{tmp_path}:{os.defpath}"}
    with subprocess.Popen(words, env=path, stdout=subprocess.PIPE, text=True, start_new_session=True) as nightly:
        assert nightly.stdout is not None
        assert nightly.stdout.readline() == "waiting\n"
        nightly.terminate()
        try:
            # It ends once nobody has the other end of the pipe any more.
            assert nightly.communicate(timeout=30)[0] == ""
        finally:
            with suppress(ProcessLookupError):
                os.killpg(nightly.pid, signal.SIGKILL)
    assert nightly.returncode == 0


def test_every_variable_in_the_operators_page_exists() -> None:
    real = {f"COVERDESK_{name.upper()}" for name in Settings.model_fields}
    real |= list_insurer_variables(Insurer.model_fields).keys()
    for page in ("docs/operations.md", "deploy/compose.yaml", "deploy/.env.example"):
        named = set(re.findall(r"\bCOVERDESK_[A-Z_]*[A-Z]\b", (ROOT / page).read_text()))
        # The one that a cluster injects is named as what is none of ours.
        assert named - real - {"COVERDESK_PORT"} == set(), page
