"""Settings of this installation: its folders and release, the variables of its environment, and what each must be."""

import contextlib
import difflib
import ipaddress
import json
import os
import re
import secrets
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Any, Final, Literal
from urllib.parse import urlsplit

from pydantic import (
    AfterValidator,
    BaseModel,
    ConfigDict,
    Field,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
)
from pydantic_settings import BaseSettings, SettingsConfigDict

from core.errors import InvalidSetting

# A wheel carries app.py, pages, data and docs here (pyproject.toml); a checkout has them beside `core`.
_SHIPPED: Final = Path(__file__).parent / "shipped"
IS_CHECKOUT: Final = not _SHIPPED.is_dir()
ROOT: Final = Path(__file__).parents[1] if IS_CHECKOUT else _SHIPPED
# Where a store goes that nobody named. An installed wheel is not written to: it belongs to root, and the next release
# replaces it.
VAR: Final = (ROOT if IS_CHECKOUT else Path.cwd()) / "data" / "var"

# The release: its version stands in pyproject.toml, its commit in the wheel or in the checkout.

VERSION: Final = version("coverdesk")
_HASH = re.compile(r"[0-9a-f]{40}")


def get_commit(root: Path = ROOT) -> str | None:
    """Return the commit of a wheel (`commit`, written by deploy/build_hook.py) or of a checkout; None if unknown."""
    with contextlib.suppress(OSError):
        return _read_hash(root / "commit")
    with contextlib.suppress(OSError):
        return _read_checkout(root / ".git")
    return None


def _read_checkout(git: Path) -> str | None:
    """Read HEAD without calling git, which a server does not have."""
    if git.is_file():  # a linked worktree
        git = (git.parent / git.read_text().removeprefix("gitdir:").strip()).resolve()
    head = (git / "HEAD").read_text().strip()
    if not head.startswith("ref: "):
        return head if _HASH.fullmatch(head) else None
    main = git / (git / "commondir").read_text().strip() if (git / "commondir").exists() else git
    reference = head.removeprefix("ref: ")
    for folder in (git, main):
        if (folder / reference).exists():
            return _read_hash(folder / reference)
    packed = re.search(rf"^([0-9a-f]{{40}}) {re.escape(reference)}$", (main / "packed-refs").read_text(), re.MULTILINE)
    return packed[1] if packed else None


def _read_hash(path: Path) -> str | None:
    text = path.read_text().strip()
    return text if _HASH.fullmatch(text) else None


# The variables of the environment that are ours: which exist, and which is meant by one that does not.

PREFIX: Final = "COVERDESK_"
PROVIDERS = ROOT / "data" / "catalogue" / "providers.json"
# Read by `coverdesk verify`, tests and benchmarks: a server passes over exactly these.
READ_ELSEWHERE: Final = frozenset(
    f"{PREFIX}{name}"
    for name in (
        *("VERIFY_KEY", "TESTS_REQUIRE", "TESTS_DATABASES", "GENERATE_CLIENT", "BENCH_EMAIL", "BENCH_FOLDER"),
        *("BENCH_ONLY", "BENCH_SIZES", "BENCH_STORE", "CORPUS_TRIES", "CRASHES", "DISHONEST_SEED", "DISHONEST_STEPS"),
        *("E2E_SEVERAL", "FUZZ_CASES", "OVERLOAD_SECONDS", "LOANS", "RACES", "RANDOM_MONTHS", "RANDOM_SALES"),
        *("SELL_EVERY_COVER", "SOAK_PURCHASES", "SOAK_REQUESTS", "SOAK_SECONDS", "SOAK_VISITS", "TENANCY_TRIES"),
    )
)


def read_variables() -> dict[str, str]:
    """Our variables as this process has them, in capitals."""
    return {name.upper(): value for name, value in os.environ.items() if name.upper().startswith(PREFIX)}


def list_insurer_variables(parts: Iterable[str]) -> dict[str, tuple[str, str]]:
    """Return the insurer of the shipped catalogue and the part of its connection that each variable sets."""
    parts = list(parts)
    segments = [row["segment"] for row in json.loads(PROVIDERS.read_text(encoding="utf-8"))]
    return {
        f"{PREFIX}{segment}_{part}".replace("-", "_").upper(): (segment, part) for segment in segments for part in parts
    }


def group_by_insurer(variables: Mapping[str, str], places: Mapping[str, tuple[str, str]]) -> dict[str, dict[str, str]]:
    """The parts of each insurer's connection that are given."""
    found: dict[str, dict[str, str]] = {}
    for name, (segment, part) in places.items():
        if name in variables:
            found.setdefault(segment, {})[part] = variables[name]
    return found


def find_unknown_variables(variables: Iterable[str], real: Iterable[str]) -> list[str]:
    """A line for each variable that nothing reads, with the nearest that exists."""
    names = sorted(real)
    return [
        f"{name}: is no setting; the nearest is {difflib.get_close_matches(name, names, n=1, cutoff=0)[0]}"
        for name in sorted(set(variables) - set(names) - READ_ELSEWHERE)
    ]


# Validation of the values of settings: addresses, networks, numbers.

# What the extra `otel` brings.
EXPORTER = "opentelemetry.exporter.otlp.proto.http"
LOOPBACK_HOSTS = frozenset({"127.0.0.1", "::1", "localhost"})


def _check_web_address(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ValueError("must be an http or https address")
    return value.rstrip("/")


def _check_safe_address(value: str) -> str:
    address = _check_web_address(value)
    parts = urlsplit(address)
    if parts.scheme == "http" and parts.hostname not in LOOPBACK_HOSTS:
        raise ValueError("must be https (http only on loopback)")
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must be a bare address; a credential goes into COVERDESK_INSURER_X_KEY")
    return address


def _check_insurer_key(value: SecretStr) -> SecretStr:
    secret = value.get_secret_value()
    if not 8 <= len(secret) <= 4096 or not all("!" <= character <= "~" for character in secret):
        raise ValueError("must be 8 to 4,096 visible ASCII characters without blanks")
    return value


def _check_database_url(value: str) -> str:
    if not value.startswith(("sqlite:///", "postgresql://", "postgresql+psycopg://")):
        raise ValueError("must start with sqlite:/// or postgresql://")
    if value.startswith("postgresql") and not _is_well_encoded(value):
        raise ValueError(
            "must be postgresql://user:password@host:5432/database, with @, /, #, ?, : and % of a password"
            " percent-encoded (@ as %40)"
        )
    return value.replace("postgresql://", "postgresql+psycopg://", 1)


def _is_well_encoded(address: str) -> bool:
    """Return False where a part of a password would be read as host, port or path, and shown as such in messages."""
    try:
        parts = urlsplit(address)
        # A port that is no number is an error where it is read.
        is_port = parts.port is None or parts.port > 0
    except ValueError:
        return False
    return is_port and address.count("@") == parts.netloc.count("@") <= 1


def _check_mail_server(value: SecretStr) -> SecretStr:
    parts = urlsplit(value.get_secret_value())
    if value.get_secret_value() and (parts.scheme not in {"smtp", "smtps"} or not parts.hostname):
        raise ValueError("must be smtp://user:password@host:587 or smtps://user:password@host")
    return value


def _check_proxies(value: str) -> str:
    try:
        return ",".join(str(ipaddress.ip_network(each.strip())) for each in value.split(",") if each.strip())
    except ValueError:
        raise ValueError("must be addresses or networks with commas between them, as 10.0.0.7,fd00::/8") from None


def _check_collector_address(value: str) -> str:
    address = _check_web_address(value)
    if not _is_installed(EXPORTER):
        # The name alone would be looked for on a public index, where it may be anybody's.
        wheel = f"./coverdesk-{VERSION}-py3-none-any.whl[otel]"
        raise ValueError(
            f"must be unset, or OpenTelemetry installed with the release's own file: pip install '{wheel}'"
        )
    parts = urlsplit(address)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise ValueError("must be a bare address; a credential goes into OTEL_EXPORTER_OTLP_HEADERS")
    return address


def _is_installed(module: str) -> bool:
    """Return True for a module that can be imported; does not import it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:
        return False


WebAddress = Annotated[str, AfterValidator(_check_web_address)]
CollectorAddress = Annotated[str, AfterValidator(_check_collector_address)]
SafeAddress = Annotated[str, AfterValidator(_check_safe_address)]
InsurerKey = Annotated[SecretStr, AfterValidator(_check_insurer_key)]
Count = Annotated[int, Field(ge=0)]
Percent = Annotated[Decimal, Field(ge=0, le=100, decimal_places=2)]
MailServer = Annotated[SecretStr, AfterValidator(_check_mail_server)]
Proxies = Annotated[str, AfterValidator(_check_proxies)]
DatabaseUrl = Annotated[str, AfterValidator(_check_database_url)]
Port = Annotated[int, Field(ge=0, le=65_535)]
# Ports with a comma between them.
Ports = Annotated[str, Field(pattern=r"^([0-9]{1,5}(,[0-9]{1,5})*)?$")]

# All settings, read from environment variables with the prefix COVERDESK_.

MIN_SECRET_LENGTH = 32
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
    smtp_url: MailServer = SecretStr("")
    mail_from: str = ""
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

    def get_sender(self) -> str:
        """Return the address from which e-mail comes: one at the host of the desk where none is set."""
        host = urlsplit(self.base_url).hostname
        return self.mail_from or f"coverdesk@{'localhost' if host in LOOPBACK_HOSTS else host}"

    def insurer_url(self, segment: str, *, is_live: bool = True) -> str | None:
        """Return the URL of an insurer ("insurer-a"); None means delegated authority.

        Test records go to the insurer's test URL. Without one they go to its live URL only if that is on loopback, a
        sandbox: an insurer must not take a test for a policy (contract M1, N1).
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
    def files_folder(self) -> Path:
        """The folder of uploaded files, whether it is set as a path or as a `file://` address."""
        return Path(self.files_url.removeprefix("file://"))

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
    given, places = read_variables(), list_insurer_variables(Insurer.model_fields)
    real = {f"{PREFIX}{name.upper()}" for name in Settings.model_fields if name != "insurers"} | places.keys()
    if unknown := find_unknown_variables(given, real):
        raise InvalidSetting("\n".join(unknown))
    try:
        return Settings(insurers=group_by_insurer(given, places))
    except ValidationError as error:
        names: dict[tuple[int | str, ...], str] = {("insurers", *place): name for name, place in places.items()}
        lines = [
            f"{_get_variable(e['loc'], names)}: {e['msg'].removeprefix('Value error, ')}"
            for e in error.errors(include_input=False, include_url=False)
        ]
        raise InvalidSetting("\n".join(lines)) from None


def _get_variable(place: tuple[int | str, ...], insurers: Mapping[tuple[int | str, ...], str]) -> str:
    return insurers.get(place) or f"{PREFIX}{place[0]}".upper()
