"""Every setting, from environment variables with the prefix COVERDESK_."""

import contextlib
import ipaddress
import re
import secrets
from decimal import Decimal
from functools import cache
from pathlib import Path
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr, ValidationError, ValidationInfo, field_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

ROOT = Path(__file__).parents[1]
VAR = ROOT / "data" / "var"
SHORTEST_SECRET = 32
LOOPBACK = frozenset({"127.0.0.1", "::1", "localhost"})


_FROM_A_MANUAL = re.compile("change.?me|placeholder|your.?secret|insecure", re.IGNORECASE)


class UnreadableSetting(Exception):
    """A variable holds something unusable; the text names it and says what it wants."""


def _is_weak(secret: str) -> bool:
    return len(secret) < SHORTEST_SECRET or len(set(secret)) < 8


def _web_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http or https address")
    return value.rstrip("/")


def _safe_address(value: str) -> str:
    address = _web_address(value)
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK:
        raise ValueError("must be https (http only on loopback)")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must be a bare address; a credential goes into COVERDESK_INSURER_X_KEY")
    return address


def _insurer_key(value: SecretStr) -> SecretStr:
    secret = value.get_secret_value()
    if not 8 <= len(secret) <= 4096 or not all("!" <= character <= "~" for character in secret):
        raise ValueError("must be 8 to 4,096 visible ASCII characters without blanks")
    return value


def _database(value: str) -> str:
    if not value.startswith(("sqlite:///", "postgresql://", "postgresql+psycopg://")):
        raise ValueError("must start with sqlite:/// or postgresql://")
    return value.replace("postgresql://", "postgresql+psycopg://", 1)


def _proxies(value: str) -> str:
    try:
        return ",".join(str(ipaddress.ip_network(each.strip())) for each in value.split(",") if each.strip())
    except ValueError:
        raise ValueError("must be addresses or networks with commas between them, as 10.0.0.7,fd00::/8") from None


WebAddress = Annotated[str, AfterValidator(_web_address)]
SafeAddress = Annotated[str, AfterValidator(_safe_address)]
InsurerKey = Annotated[SecretStr, AfterValidator(_insurer_key)]
Count = Annotated[int, Field(ge=0)]
Percent = Annotated[Decimal, Field(ge=0, le=100, decimal_places=2)]
Proxies = Annotated[str, AfterValidator(_proxies)]
DatabaseUrl = Annotated[str, AfterValidator(_database)]


class Settings(BaseSettings):
    """What can be set from outside; the defaults run a demonstration on one machine."""

    model_config = SettingsConfigDict(env_prefix="COVERDESK_", extra="ignore", frozen=True)

    database_url: DatabaseUrl = f"sqlite:///{VAR / 'coverdesk.db'}"
    replica_url: DatabaseUrl | None = None
    files_url: str = str(VAR / "files")
    secret_key: SecretStr = SecretStr("")
    sealing_keys: SecretStr = SecretStr("")
    base_url: WebAddress = "http://127.0.0.1:8501"
    insurer_a_url: SafeAddress | None = None
    insurer_b_url: SafeAddress | None = None
    insurer_c_url: SafeAddress | None = None
    insurer_d_url: SafeAddress | None = None
    insurer_e_url: SafeAddress | None = None
    insurer_f_url: SafeAddress | None = None
    insurer_g_url: SafeAddress | None = None
    insurer_a_test_url: SafeAddress | None = None
    insurer_b_test_url: SafeAddress | None = None
    insurer_c_test_url: SafeAddress | None = None
    insurer_d_test_url: SafeAddress | None = None
    insurer_e_test_url: SafeAddress | None = None
    insurer_f_test_url: SafeAddress | None = None
    insurer_g_test_url: SafeAddress | None = None
    insurer_a_key: InsurerKey | None = None
    insurer_b_key: InsurerKey | None = None
    insurer_c_key: InsurerKey | None = None
    insurer_d_key: InsurerKey | None = None
    insurer_e_key: InsurerKey | None = None
    insurer_f_key: InsurerKey | None = None
    insurer_g_key: InsurerKey | None = None
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
    log_level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    demo: bool = False
    demo_password: SecretStr = SecretStr("coverdesk-demo")

    @field_validator("replica_url")
    @classmethod
    def _of_postgres(cls, value: str | None, rest: ValidationInfo) -> str | None:
        addresses = (value, rest.data.get("database_url"))
        if value and any(address and address.startswith("sqlite") for address in addresses):
            raise ValueError("only a PostgreSQL database has replicas, and COVERDESK_DATABASE_URL must be one too")
        return value

    def insurer_url(self, segment: str, *, is_live: bool = True) -> str | None:
        """Where an insurer ("insurer-a") takes policies; none means delegated authority.

        Test records go to the insurer's test address. Without one they go to its address only where that is on
        loopback, a sandbox: an insurer must not take a test for a policy (contract M1, N1).
        """
        name = segment.replace("-", "_")
        address: str | None = getattr(self, f"{name}_url", None)
        if is_live:
            return address
        sandbox = address if address and urlsplit(address).hostname in LOOPBACK else None
        return getattr(self, f"{name}_test_url", None) or sandbox

    @property
    def connected(self) -> bool:
        """True when any insurer has an address, so that there is something for a worker to do."""
        names = [f"insurer_{letter}{kind}" for letter in "abcdefg" for kind in ("_url", "_test_url")]
        return any(getattr(self, name) for name in names)

    def insurer_key(self, segment: str) -> str | None:
        """The credential that an insurer is shown, if it wants one."""
        key: SecretStr | None = getattr(self, f"{segment.replace('-', '_')}_key", None)
        return key.get_secret_value() if key else None

    @property
    def has_provider(self) -> bool:
        """True when people may sign in with an identity provider (contract A2)."""
        return self.oidc_metadata_url is not None

    def secret(self) -> str:
        """The server secret: from the environment, or in a demonstration from a private file.

        Raises UnreadableSetting when there is none, or when it is too short to be one.
        """
        given = self.secret_key.get_secret_value()
        if given and _is_weak(given):
            raise UnreadableSetting(f"COVERDESK_SECRET_KEY: must be at least {SHORTEST_SECRET} random characters")
        return given or demonstration_secret(create=self.demo)

    def sealing_secrets(self) -> list[str]:
        """The keys for personal numbers, newest first; none means that the server secret is the one.

        Raises UnreadableSetting when one is too short to be one.
        """
        given = [each.strip() for each in self.sealing_keys.get_secret_value().split(",") if each.strip()]
        if any(_is_weak(each) for each in given):
            raise UnreadableSetting(
                f"COVERDESK_SEALING_KEYS: each must be at least {SHORTEST_SECRET} random characters, commas between"
            )
        return given

    def refuse_unsafe(self) -> None:
        """UnreadableSetting when a server must not start.

        Outside a demonstration it needs a secret of its own, and an address that nobody can listen in on.
        """
        if not self.demo:
            self._refuse_public()
        self.secret()
        self.sealing_secrets()
        self._refuse_half_a_provider()

    def _refuse_public(self) -> None:
        given = self.secret_key.get_secret_value()
        if not given:
            raise UnreadableSetting(
                f"COVERDESK_SECRET_KEY: must be set to at least {SHORTEST_SECRET} random characters"
                " outside a demonstration"
            )
        if _FROM_A_MANUAL.search(given):
            raise UnreadableSetting("COVERDESK_SECRET_KEY: must be random, this one stands in a manual")
        parts = urlsplit(self.base_url)
        if parts.scheme == "http" and parts.hostname not in LOOPBACK:
            raise UnreadableSetting(
                f"COVERDESK_BASE_URL: must be the https address at which people reach this server, not {self.base_url}:"
                " passwords and sessions would cross the network in the clear"
            )

    def _refuse_half_a_provider(self) -> None:
        parts = {
            "COVERDESK_OIDC_METADATA_URL": self.oidc_metadata_url,
            "COVERDESK_OIDC_CLIENT_ID": self.oidc_client_id,
            "COVERDESK_OIDC_CLIENT_SECRET": self.oidc_client_secret.get_secret_value(),
        }
        missing = [name for name, value in parts.items() if not value]
        if missing and len(missing) < len(parts):
            raise UnreadableSetting(f"{missing[0]}: must be set too, as an identity provider is")
        if missing and not self.passwords:
            raise UnreadableSetting("COVERDESK_PASSWORDS: nobody could sign in without an identity provider")


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
