"""All settings, read from environment variables with the prefix COVERDESK_."""

import contextlib
import re
import secrets
from collections.abc import Mapping
from decimal import Decimal
from functools import cache
from typing import Any, Literal
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from core import environment, paths, setting_values
from core.environment import PREFIX
from core.errors import InvalidSetting
from core.setting_values import (
    CollectorAddress,
    Count,
    DatabaseUrl,
    InsurerKey,
    Percent,
    Port,
    Ports,
    Proxies,
    SafeAddress,
    WebAddress,
)

ROOT, VAR = paths.ROOT, paths.VAR
MIN_SECRET_LENGTH = 32
LOOPBACK_HOSTS = setting_values.LOOPBACK_HOSTS


_PLACEHOLDER_SECRET = re.compile("change.?me|placeholder|your.?secret|insecure", re.IGNORECASE)


def _is_weak(secret: str) -> bool:
    return len(secret) < MIN_SECRET_LENGTH or len(set(secret)) < 8


class Insurer(BaseModel):
    """Connection of an insurer: addresses for live and test policies, and the credential sent."""

    model_config = ConfigDict(frozen=True)

    url: SafeAddress | None = None
    test_url: SafeAddress | None = None
    key: InsurerKey | None = None


def _default_database(before: dict[str, Any]) -> str:
    """The store that nobody named: a demonstration has a file of its own.

    Commands find the demonstration without COVERDESK_DEMO where there is nothing else to be meant.
    """
    secret, own, demonstration = before.get("secret_key"), VAR / "coverdesk.db", VAR / "demonstration.db"
    is_alone = not (secret and secret.get_secret_value()) and demonstration.exists() and not own.exists()
    return f"sqlite:///{demonstration if before.get('demo') or is_alone else own}"


def _default_files(before: dict[str, Any]) -> str:
    is_demonstration = str(before.get("database_url")) == f"sqlite:///{VAR / 'demonstration.db'}"
    return str(VAR / ("demonstration-files" if is_demonstration else "files"))


class Settings(BaseSettings):
    """All settings; the defaults run a demonstration on one machine."""

    model_config = SettingsConfigDict(env_prefix=PREFIX, extra="ignore", frozen=True)

    demo: bool = False
    one_admin: bool = False
    demo_password: SecretStr = SecretStr("coverdesk-demo")
    secret_key: SecretStr = SecretStr("")
    database_url: DatabaseUrl = Field(default_factory=_default_database)
    replica_url: DatabaseUrl | None = None
    files_url: str = Field(default_factory=_default_files)
    erasures_folder: str = ""
    sealing_keys: SecretStr = SecretStr("")
    base_url: WebAddress = "http://127.0.0.1:8501"
    worker: bool = True
    oidc_metadata_url: SafeAddress | None = None
    oidc_client_id: str = ""
    oidc_client_secret: SecretStr = SecretStr("")
    oidc_name: str = "your organisation"
    passwords: bool = True
    rate_limit: Count = 600_000
    rate_limit_address: Count = 600_000
    rate_limit_failures: Count = 12_000
    concurrency: Count = 256
    connections: Count = 1_000
    proxies: Proxies = ""
    insurer_share_floor: Percent = Decimal(50)
    licence_blocks_sales: bool = False
    metrics: bool = False
    metrics_token: SecretStr = SecretStr("")
    metrics_port: Port = 0
    otlp_url: CollectorAddress | None = None
    webhook_ports: Ports = ""
    smtp_url: SecretStr = SecretStr("")
    mail_from: str = "coverdesk@localhost"
    debug: bool = False
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    # By the insurer's segment of the path; the variables are called COVERDESK_INSURER_A_URL, ..._TEST_URL and ..._KEY.
    insurers: Mapping[str, Insurer] = Field(default_factory=dict)

    @field_validator("replica_url")
    @classmethod
    def _check_replica_url(cls, value: str | None, rest: ValidationInfo) -> str | None:
        addresses = (value, rest.data.get("database_url"))
        if value and any(address and address.startswith("sqlite") for address in addresses):
            raise ValueError("only a PostgreSQL database has replicas, and COVERDESK_DATABASE_URL must be one too")
        return value

    def insurer_url(self, segment: str, *, is_live: bool = True) -> str | None:
        """Return the URL of an insurer ("insurer-a"); None means delegated authority.

        Test records go to the insurer's test URL. Without one they go to its live URL only if that is on loopback, a
        sandbox: an
        insurer must not take a test for a policy (contract M1, N1).
        """
        insurer = self.insurers.get(segment, Insurer())
        if is_live:
            return insurer.url
        sandbox = insurer.url if insurer.url and urlsplit(insurer.url).hostname in LOOPBACK_HOSTS else None
        return insurer.test_url or sandbox

    def insurer_key(self, segment: str) -> str | None:
        """The credential that an insurer is shown, if it wants one."""
        key = self.insurers.get(segment, Insurer()).key
        return key.get_secret_value() if key else None

    @property
    def webhook_port_numbers(self) -> frozenset[int]:
        """The ports beside 443 on which receivers may be called."""
        return frozenset(int(each) for each in self.webhook_ports.split(",") if each)

    @property
    def is_demonstration_by_default(self) -> bool:
        """True when nobody asked for the demonstration, and it is the only store that there is to be meant."""
        return not self.demo and self.database_url == f"sqlite:///{VAR / 'demonstration.db'}"

    @property
    def has_identity_provider(self) -> bool:
        """True if sign-in with an identity provider is configured (contract A2)."""
        return self.oidc_metadata_url is not None

    def get_secret(self) -> str:
        """Return the server secret: from the environment, or in a demonstration from a private file.

        Raises UnreadableSetting if there is none, or if it is too weak.
        """
        secret = self.secret_key.get_secret_value()
        if secret and _is_weak(secret):
            raise InvalidSetting(f"COVERDESK_SECRET_KEY: must be at least {MIN_SECRET_LENGTH} random characters")
        return secret or get_demonstration_secret(create=self.demo)

    def get_sealing_secrets(self) -> list[str]:
        """Return the encryption keys for personal numbers, newest first; empty means the server secret is used.

        Raises UnreadableSetting if one is too weak.
        """
        keys = [each.strip() for each in self.sealing_keys.get_secret_value().split(",") if each.strip()]
        if any(_is_weak(each) for each in keys):
            raise InvalidSetting(
                f"COVERDESK_SEALING_KEYS: each must be at least {MIN_SECRET_LENGTH} random characters, commas between"
            )
        return keys

    def check_safe_to_serve(self) -> None:
        """Raise UnreadableSetting if a server must not start with these settings.

        Outside a demonstration it needs its own secret, and an https address.
        """
        if not self.demo:
            self._check_public()
        self.get_secret()
        self.get_sealing_secrets()
        self._check_provider_complete()
        self._check_metrics_private()
        self._check_debug_private()

    def _check_debug_private(self) -> None:
        """Whole traces hold values of people: they are for a store that nobody else is served from."""
        parts = urlsplit(self.database_url)
        is_here = parts.scheme.startswith("sqlite") or (parts.hostname or "localhost") in LOOPBACK_HOSTS
        if self.debug and not (is_here and urlsplit(self.base_url).hostname in LOOPBACK_HOSTS):
            raise InvalidSetting(
                "COVERDESK_DEBUG: must be false unless store and COVERDESK_BASE_URL are on this machine alone:"
                " whole traces hold personal data"
            )

    def _check_metrics_private(self) -> None:
        token = self.metrics_token.get_secret_value()
        if token and _is_weak(token):
            raise InvalidSetting(f"COVERDESK_METRICS_TOKEN: must be at least {MIN_SECRET_LENGTH} random characters")
        if self.metrics and not token and not self.metrics_port:
            raise InvalidSetting(
                "COVERDESK_METRICS_TOKEN: must be set where COVERDESK_METRICS is true, or COVERDESK_METRICS_PORT:"
                " figures of the business are not for everybody"
            )

    def refuse_borrowed_secret(self) -> None:
        """UnreadableSetting when a store would be made or served under a secret that is the demonstration's."""
        if not self.demo and not self.secret_key.get_secret_value():
            raise InvalidSetting(
                f"COVERDESK_SECRET_KEY: must be set to at least {MIN_SECRET_LENGTH} random characters"
                " outside a demonstration"
            )

    def _check_public(self) -> None:
        self.refuse_borrowed_secret()
        secret = self.secret_key.get_secret_value()
        if _PLACEHOLDER_SECRET.search(secret):
            raise InvalidSetting("COVERDESK_SECRET_KEY: must be random, this one stands in a manual")
        parts = urlsplit(self.base_url)
        if parts.scheme == "http" and parts.hostname not in LOOPBACK_HOSTS:
            raise InvalidSetting(
                f"COVERDESK_BASE_URL: must be the https address at which people reach this server, not {self.base_url}:"
                " passwords and sessions would cross the network in the clear"
            )

    def _check_provider_complete(self) -> None:
        parts = {
            "COVERDESK_OIDC_METADATA_URL": self.oidc_metadata_url,
            "COVERDESK_OIDC_CLIENT_ID": self.oidc_client_id,
            "COVERDESK_OIDC_CLIENT_SECRET": self.oidc_client_secret.get_secret_value(),
        }
        missing = [name for name, value in parts.items() if not value]
        if missing and len(missing) < len(parts):
            raise InvalidSetting(f"{missing[0]}: must be set too, as an identity provider is")
        if missing and not self.passwords:
            raise InvalidSetting("COVERDESK_PASSWORDS: nobody could sign in without an identity provider")


def get_demonstration_secret(*, create: bool) -> str:
    """Return the secret of a demonstration, stored in a file so that commands and server share it."""
    path = VAR / "demonstration-secret"
    if not path.exists():
        if not create:
            raise InvalidSetting(f"COVERDESK_SECRET_KEY: must be set to at least {MIN_SECRET_LENGTH} random characters")
        path.parent.mkdir(parents=True, exist_ok=True)
        # Write to a draft and hard-link it: if two commands start at once, one complete secret wins.
        draft = path.with_suffix(f".{secrets.token_hex(4)}")
        draft.touch(mode=0o600)
        draft.write_text(secrets.token_urlsafe(48))
        with contextlib.suppress(FileExistsError):
            path.hardlink_to(draft)
        draft.unlink()
    return path.read_text()


@cache
def settings() -> Settings:
    """The settings of this process; UnreadableSetting names each variable that is unknown or cannot be read."""
    given, places = environment.coverdesk_variables(), environment.insurer_variables(Insurer.model_fields)
    real = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields if name != "insurers"} | places.keys()
    if unknown := environment.unknown(given, real):
        raise InvalidSetting("\n".join(unknown))
    try:
        return Settings(insurers=environment.by_insurer(given, places))
    except ValidationError as error:
        names: dict[tuple[int | str, ...], str] = {("insurers", *place): name for name, place in places.items()}
        lines = [
            f"{_get_variable(e['loc'], names)}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors(include_input=False, include_url=False)
        ]
        raise InvalidSetting("\n".join(lines)) from None


def _get_variable(place: tuple[int | str, ...], insurers: Mapping[tuple[int | str, ...], str]) -> str:
    return insurers.get(place) or f"{PREFIX}{place[0]}".upper()
