"""A setting that cannot be read is refused with its name and what it wants."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from core import settings as environment
from core import settings as settings_module
from core.errors import InvalidSetting
from core.settings import ROOT, Insurer, Settings, settings
from tests.every_case import every_case


@pytest.fixture(autouse=True)
def _fresh() -> None:
    settings.cache_clear()


@every_case(
    ("name", "value", "wants"),
    [
        ("DATABASE_URL", "mysql://x", "must start with sqlite:/// or postgresql://"),
        ("REPLICA_URL", "postgresql://replica/coverdesk", "COVERDESK_DATABASE_URL must be one too"),
        ("BASE_URL", "ftp://x", "must be an http or https address"),
        ("INSURER_A_URL", "http://insurer.example", "must be https"),
        ("RATE_LIMIT", "-1", "greater than or equal to 0"),
        ("LOG_LEVEL", "LOUD", "DEBUG"),
        ("DEMO", "perhaps", "boolean"),
    ],
)
def test_unreadable_value_names_its_variable(name: str, value: str, wants: str) -> None:
    settings.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(f"COVERDESK_{name}", value)
        with pytest.raises(InvalidSetting, match=f"COVERDESK_{name}: .*{wants}"):
            settings()
    settings.cache_clear()


@every_case(
    "address",
    [
        "postgresql://desk:be@planted@db/coverdesk",
        "postgresql://desk:be@planted:5432/coverdesk@db/coverdesk",
        "postgresql+psycopg://desk:be/planted@db/coverdesk",
        "postgresql://desk:be#planted@db/coverdesk",
        "postgresql://desk:be?planted@db/coverdesk",
        "postgresql://desk:planted/coverdesk",
        "postgresql://desk:\u2100planted@db/coverdesk",
        "postgresql://desk:be[planted@db/coverdesk",
    ],
)
def test_password_that_is_not_percent_encoded_is_refused_without_a_part_of_it(address: str) -> None:
    settings.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COVERDESK_DATABASE_URL", address)
        with pytest.raises(InvalidSetting, match=r"COVERDESK_DATABASE_URL: .*percent-encoded") as refused:
            settings()
    assert "planted" not in str(refused.value)
    settings.cache_clear()


@every_case("address", ["u:p%40s%2Fs@h:5432/d", "u:p:s@h/d", "u:@/d?host=/run", "/d", "u:p@[::1]:5432/d"])
def test_address_of_a_database_that_is_percent_encoded_is_taken(address: str) -> None:
    assert Settings(database_url=f"postgresql://{address}").database_url == f"postgresql+psycopg://{address}"


def test_insurer_on_loopback_may_use_http() -> None:
    connected = Settings(insurers={"insurer-b": Insurer(url="http://127.0.0.1:9000/")})
    assert connected.insurer_url("insurer-b") == "http://127.0.0.1:9000"
    assert Settings().insurer_url("insurer-a") is None


@every_case("secret", ["short", "a" * 64])
def test_weak_secret_is_refused(secret: str) -> None:
    with pytest.raises(InvalidSetting, match="COVERDESK_SECRET_KEY"):
        Settings(secret_key=secret).get_secret()


def test_demonstration_makes_a_private_secret_that_commands_share(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(settings_module, "VAR", tmp_path / "var")
    with pytest.raises(InvalidSetting, match="COVERDESK_SECRET_KEY"):
        Settings(secret_key="").get_secret()
    made = Settings(secret_key="", demo=True).get_secret()
    assert made == Settings(secret_key="").get_secret()
    assert (tmp_path / "var" / "demonstration-secret").stat().st_mode & 0o077 == 0


def test_postgres_addresses_use_the_driver_that_is_installed() -> None:
    assert Settings(database_url="postgresql://u@h/d").database_url == "postgresql+psycopg://u@h/d"


@pytest.mark.parametrize(
    ("given", "named"),
    [
        ({"OIDC_CLIENT_ID": "coverdesk"}, "COVERDESK_OIDC_METADATA_URL"),
        ({"OIDC_METADATA_URL": "https://id.example/x", "OIDC_CLIENT_ID": "c"}, "COVERDESK_OIDC_CLIENT_SECRET"),
        ({"PASSWORDS": "false"}, "COVERDESK_PASSWORDS"),
    ],
)
def test_half_an_identity_provider_is_refused(
    monkeypatch: pytest.MonkeyPatch, given: dict[str, str], named: str
) -> None:
    for name, value in given.items():
        monkeypatch.setenv(f"COVERDESK_{name}", value)
    with pytest.raises(InvalidSetting, match=named):
        settings().check_safe_to_serve()
    settings.cache_clear()


@every_case(
    ("given", "sender"),
    [
        ({}, "coverdesk@localhost"),
        ({"base_url": "https://desk.example.com"}, "coverdesk@desk.example.com"),
        ({"base_url": "https://desk.example.com", "mail_from": "cover@example.com"}, "cover@example.com"),
    ],
)
def test_mail_comes_from_the_host_of_the_desk_where_no_sender_is_set(given: dict[str, str], sender: str) -> None:
    assert Settings(**given).get_sender() == sender


@every_case(
    ("name", "nearest"),
    [
        ("INSURER_A_ULR", "INSURER_A_URL"),
        ("INSURER_A_TESTURL", "INSURER_A_TEST_URL"),
        ("DATABASE", "DATABASE_URL"),
        ("SECRETKEY", "SECRET_KEY"),
        ("DEMO_PASWORD", "DEMO_PASSWORD"),
        ("BENCH_SIZE", None),
        ("INSURERS", None),
    ],
)
def test_unknown_variable_is_refused_with_the_nearest_real_one(name: str, nearest: str | None) -> None:
    settings.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(f"COVERDESK_{name}", "anything")
        with pytest.raises(InvalidSetting) as refused:
            settings()
    settings.cache_clear()
    assert f"COVERDESK_{name}: is no setting; the nearest is COVERDESK_{nearest or ''}" in str(refused.value)
    assert "anything" not in str(refused.value)


def test_every_unknown_variable_is_named_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COVERDESK_PROXYS", "x")
    monkeypatch.setenv("COVERDESK_LOGLEVEL", "x")
    with pytest.raises(InvalidSetting, match=r"(?s)LOGLEVEL: .*LOG_LEVEL\n.*PROXYS: .*PROXIES"):
        settings()
    settings.cache_clear()


def test_variables_of_tests_and_benchmarks_are_passed_over_and_are_exactly_those_that_are_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A new one is declared in core/settings.py, or no command would start beside it."""
    texts = [place.read_text() for place in (ROOT / "tests").rglob("*.py")]
    read = {name for text in texts for name in re.findall(r"environ(?:\.get\(|\[)\"(COVERDESK_[A-Z0-9_]+)\"", text)}
    real = {f"COVERDESK_{name.upper()}" for name in Settings.model_fields}
    of_insurers = environment.list_insurer_variables(Insurer.model_fields).keys()
    assert read - real - of_insurers == environment.READ_ELSEWHERE - {"COVERDESK_VERIFY_KEY"}
    for name in environment.READ_ELSEWHERE:
        monkeypatch.setenv(name, "1")
    settings()


def test_an_eighth_insurer_of_the_catalogue_is_connected_by_its_own_variables(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    shipped = json.loads(environment.PROVIDERS.read_text())
    (tmp_path / "providers.json").write_text(json.dumps([*shipped, {**shipped[0], "segment": "insurer-h"}]))
    monkeypatch.setattr(environment, "PROVIDERS", tmp_path / "providers.json")
    monkeypatch.setenv("COVERDESK_INSURER_H_URL", "https://eighth.example/")
    monkeypatch.setenv("COVERDESK_INSURER_H_KEY", "a-long-credential")
    found = settings()
    settings.cache_clear()
    assert found.insurer_url("insurer-h") == "https://eighth.example"
    assert found.insurer_key("insurer-h") == "a-long-credential"
    monkeypatch.setenv("COVERDESK_INSURER_I_URL", "https://ninth.example/")
    with pytest.raises(InvalidSetting, match="COVERDESK_INSURER_I_URL: is no setting"):
        settings()
    settings.cache_clear()


def _stores(**given: Any) -> tuple[str, str]:
    found = Settings(**given)
    return Path(found.database_url).name, Path(found.files_url).name


def test_a_demonstration_has_files_of_its_own_and_a_desk_with_a_secret_never_finds_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(settings_module, "VAR", tmp_path)
    monkeypatch.delenv("COVERDESK_SECRET_KEY")
    demonstration, own = ("demonstration.db", "demonstration-files"), ("coverdesk.db", "files")
    assert _stores() == own
    assert _stores(demo=True) == demonstration
    assert _stores(demo=True, secret_key="s" * 40) == demonstration
    assert _stores(demo=True, database_url="sqlite:////elsewhere/x.db") == ("x.db", "files")
    (tmp_path / "demonstration.db").touch()
    assert _stores() == demonstration
    assert Settings().is_demonstration_by_default
    assert _stores(secret_key="s" * 40) == own
    (tmp_path / "coverdesk.db").touch()
    assert _stores() == own
    assert not Settings().is_demonstration_by_default


@every_case(
    ("store", "address", "is_allowed"),
    [
        ("sqlite:///x.db", "http://127.0.0.1:8501", True),
        ("postgresql://coverdesk@localhost/x", "http://localhost:8501", True),
        ("postgresql:///x?host=/run/postgresql", "http://127.0.0.1:8501", True),
        ("postgresql://coverdesk@db/x", "http://127.0.0.1:8501", False),
        ("sqlite:///x.db", "https://desk.example.com", False),
    ],
)
def test_whole_traces_are_for_a_desk_that_nobody_else_is_served_from(
    store: str, address: str, is_allowed: bool
) -> None:
    configured = Settings(
        demo=True, debug=True, database_url=store, base_url=address, secret_key="k1-" + "qwertzuiopü" * 4
    )
    if is_allowed:
        configured.check_safe_to_serve()
    else:
        with pytest.raises(InvalidSetting, match="COVERDESK_DEBUG: must be false"):
            configured.check_safe_to_serve()
