"""A setting that cannot be read is refused with its name and what it wants."""

from pathlib import Path

import pytest

from core import settings as settings_module
from core.settings import Settings, UnreadableSetting, settings


@pytest.fixture(autouse=True)
def _fresh() -> None:
    settings.cache_clear()


@pytest.mark.parametrize(
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
def test_unreadable_value_names_its_variable(
    monkeypatch: pytest.MonkeyPatch, name: str, value: str, wants: str
) -> None:
    monkeypatch.setenv(f"COVERDESK_{name}", value)
    with pytest.raises(UnreadableSetting, match=f"COVERDESK_{name}: .*{wants}"):
        settings()
    settings.cache_clear()


def test_insurer_on_loopback_may_use_http() -> None:
    assert Settings(insurer_b_url="http://127.0.0.1:9000/").insurer_url("insurer-b") == "http://127.0.0.1:9000"
    assert Settings().insurer_url("insurer-a") is None


@pytest.mark.parametrize("secret", ["short", "a" * 64])
def test_weak_secret_is_refused(secret: str) -> None:
    with pytest.raises(UnreadableSetting, match="COVERDESK_SECRET_KEY"):
        Settings(secret_key=secret).secret()


def test_demonstration_makes_a_private_secret_that_commands_share(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(settings_module, "VAR", tmp_path / "var")
    with pytest.raises(UnreadableSetting, match="COVERDESK_SECRET_KEY"):
        Settings(secret_key="").secret()
    made = Settings(secret_key="", demo=True).secret()
    assert made == Settings(secret_key="").secret()
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
    with pytest.raises(UnreadableSetting, match=named):
        settings().refuse_unsafe()
    settings.cache_clear()
