"""Every setting, from environment variables with the prefix COVERDESK_."""

import contextlib
import secrets
from functools import cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT = Path(__file__).parents[1]
VAR = ROOT / "data" / "var"
SHORTEST_SECRET = 32


class UnreadableSetting(Exception):
    """A variable holds something unusable; the text names it and says what it wants."""


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http or https address")
    return value.rstrip("/")


def _insurer_address(value: str) -> str:
    address = _web_address(value)
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in {"127.0.0.1", "::1", "localhost"}:
        raise ValueError("must be https (http only on loopback)")
    return address


def _database(value: str) -> str:
    if not value.startswith(("sqlite:///", "postgresql://", "postgresql+psycopg://")):
        raise ValueError("must start with sqlite:/// or postgresql://")
    return value.replace("postgresql://", "postgresql+psycopg://", 1)


WebAddress = Annotated[str, AfterValidator(_web_address)]
InsurerAddress = Annotated[str, AfterValidator(_insurer_address)]
DatabaseUrl = Annotated[str, AfterValidator(_database)]


class Settings(BaseSettings):
    """What can be set from outside; the defaults run a demonstration on one machine."""

    model_config = SettingsConfigDict(env_prefix="COVERDESK_", extra="ignore", frozen=True)

    database_url: DatabaseUrl = f"sqlite:///{VAR / 'coverdesk.db'}"
    replica_url: DatabaseUrl | None = None
    files_url: str = str(VAR / "files")
    secret_key: SecretStr = SecretStr("")
    base_url: WebAddress = "http://127.0.0.1:8501"
    insurer_a_url: InsurerAddress | None = None
    insurer_b_url: InsurerAddress | None = None
    insurer_c_url: InsurerAddress | None = None
    insurer_d_url: InsurerAddress | None = None
    insurer_e_url: InsurerAddress | None = None
    insurer_f_url: InsurerAddress | None = None
    insurer_g_url: InsurerAddress | None = None
    rate_limit: Annotated[int, Field(ge=0)] = 0
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    demo: bool = False
    demo_password: SecretStr = SecretStr("coverdesk-demo")

    def insurer_url(self, segment: str) -> str | None:
        """Where an insurer ("insurer-a") takes policies; none means delegated authority."""
        address: str | None = getattr(self, f"{segment.replace('-', '_')}_url", None)
        return address

    def secret(self) -> str:
        """The server secret: from the environment, or in a demonstration from a private file.

        Raises UnreadableSetting when there is none, or when it is too short to be one.
        """
        given = self.secret_key.get_secret_value()
        if given and (len(given) < SHORTEST_SECRET or len(set(given)) < 8):
            raise UnreadableSetting(f"COVERDESK_SECRET_KEY: must be at least {SHORTEST_SECRET} random characters")
        return given or demonstration_secret(create=self.demo)

    def refuse_unsafe(self) -> None:
        """UnreadableSetting when a server must not start: outside a demonstration it needs its own secret."""
        if not self.demo and not self.secret_key.get_secret_value():
            raise UnreadableSetting(
                f"COVERDESK_SECRET_KEY: must be set to at least {SHORTEST_SECRET} random characters"
                " outside a demonstration"
            )
        self.secret()


def demonstration_secret(*, create: bool) -> str:
    """The secret of a demonstration, kept beside its store so that commands and server agree."""
    path = VAR / "demonstration-secret"
    if not path.exists():
        if not create:
            raise UnreadableSetting(
                f"COVERDESK_SECRET_KEY: must be set to at least {SHORTEST_SECRET} random characters"
            )
        path.parent.mkdir(parents=True, exist_ok=True)
        # Written aside and linked in place: of two commands that start at once, one secret wins whole.
        draft = path.with_suffix(f".{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(48))
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    return path.read_text()


@cache
def settings() -> Settings:
    """The settings of this process; UnreadableSetting names the variable that cannot be read."""
    try:
        return Settings()
    except ValidationError as error:
        lines = [
            f"COVERDESK_{str(e['loc'][0]).upper()}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors(include_input=False, include_url=False)
        ]
        raise UnreadableSetting("\n".join(lines)) from None
