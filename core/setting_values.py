"""Validation of the values of settings: addresses, networks, numbers."""

import ipaddress
from decimal import Decimal
from importlib.util import find_spec
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, SecretStr

from core.version import VERSION

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
    return value.replace("postgresql://", "postgresql+psycopg://", 1)


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
Proxies = Annotated[str, AfterValidator(_check_proxies)]
DatabaseUrl = Annotated[str, AfterValidator(_check_database_url)]
Port = Annotated[int, Field(ge=0, le=65_535)]
# Ports with a comma between them.
Ports = Annotated[str, Field(pattern=r"^([0-9]{1,5}(,[0-9]{1,5})*)?$")]
