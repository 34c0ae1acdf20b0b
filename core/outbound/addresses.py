"""Judges the addresses of receivers: at registration by what they say, at each connection by where they lead (W5)."""

import asyncio
import ipaddress
import re
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence
from ipaddress import IPv4Address, IPv6Address
from typing import Final
from urllib.parse import urlsplit

import httpcore
from httpcore import SOCKET_OPTION, AsyncNetworkBackend, AsyncNetworkStream

from core.settings import LOOPBACK_HOSTS, settings

Address = IPv4Address | IPv6Address
MAX_URL_LENGTH: Final = 2_000
_HTTPS_PORT: Final = 443
_LONGEST_NAME, _LONGEST_LABEL = 253, 63  # in DNS
_NUMBER: Final = re.compile("[0-9]+|0x[0-9a-f]*", re.IGNORECASE)
_NAT64: Final = tuple(ipaddress.IPv6Network(each) for each in ("64:ff9b::/96", "64:ff9b:1::/48"))
_EMBEDDING: Final = (*_NAT64, ipaddress.IPv6Network("::/96"), ipaddress.IPv6Network("fec0::/10"))


class ForbiddenAddress(Exception):
    """A receiver that must not be called; the text gives the reason and never the address."""


def find_url_fault(url: str) -> str | None:
    """Return what is wrong with the address of a receiver, to follow its field's name; None when it may be tried."""
    try:
        parts = urlsplit(url)
        host = parts.hostname
    except ValueError:
        return "must be an address such as https://example.com/hooks"
    if len(url) > MAX_URL_LENGTH or not url.isascii() or any(not "!" <= each <= "~" for each in url) or "\\" in url:
        return "must be visible ASCII characters, at most 2,000"
    if not host or parts.scheme not in {"https", "http"}:
        return "must be an https address"
    if parts.username is not None or parts.password is not None:
        return "must not hold a user or a password"
    if parts.fragment:
        return "must not have a fragment"
    try:
        port = parts.port
    except ValueError:
        port = 0
    return _find_host_fault(parts.scheme, host, port)


def _find_host_fault(scheme: str, host: str, port: int | None) -> str | None:
    if is_desk(host, port or (_HTTPS_PORT if scheme == "https" else 80)):
        return "must not be this desk itself"
    if is_demonstration_loopback(host) and port != 0:
        return None
    if scheme != "https":
        return "must be an https address"
    if fault := _find_port_fault(port):
        return fault
    try:
        return find_address_fault(ipaddress.ip_address(host.strip("[]")))
    except ValueError:
        return None if _is_public_name(host) else "must be a host name that the internet knows"


def _find_port_fault(port: int | None) -> str | None:
    allowed = sorted({_HTTPS_PORT, *settings().webhook_port_numbers})
    if port is None or port in allowed:
        return None
    if port == 0:
        return f"must have a port from 1 to 65535, or none, which is port {_HTTPS_PORT}"
    return f"must be on port {' or '.join(map(str, allowed))}, not {port}"


def _is_public_name(host: str) -> bool:
    """Return True for a name with a dot that DNS can hold and no system takes for a number, as "127.1" and "10.0x1"."""
    name = host.removesuffix(".")
    labels = name.split(".")
    fits = len(name) <= _LONGEST_NAME and all(0 < len(label) <= _LONGEST_LABEL for label in labels)
    return fits and len(labels) > 1 and not _NUMBER.fullmatch(labels[-1])


def is_demonstration_loopback(host: str) -> bool:
    """Return True for loopback in a demonstration, where receivers may be tried without https."""
    return settings().demo and host in LOOPBACK_HOSTS


def is_desk(host: str, port: int) -> bool:
    """Return True when an address is where this desk is reached."""
    own = urlsplit(settings().base_url)
    own_port = own.port or (_HTTPS_PORT if own.scheme == "https" else 80)
    mine = {own.hostname, *(LOOPBACK_HOSTS if own.hostname in LOOPBACK_HOSTS else ())}
    return host in mine and (port == own_port or host not in LOOPBACK_HOSTS)


def find_address_fault(address: Address) -> str | None:
    """Return why an address must not be connected to; None when it is globally routable, with all it embeds."""
    embedded = _get_embedded(address)
    if embedded is None and isinstance(address, IPv6Address) and any(address in each for each in _EMBEDDING):
        return _PRIVATE
    for each in (address,) if embedded is None else (embedded,):
        if not each.is_global or each.is_multicast or each.is_reserved or each.is_unspecified:
            return _PRIVATE
    return None


_PRIVATE: Final = "must lead to an address that is routable on the whole internet"


def _get_embedded(address: Address) -> IPv4Address | None:
    """Return the IPv4 address that a gateway makes of an IPv6 address."""
    if not isinstance(address, IPv6Address):
        return None
    if any(address in each for each in _NAT64):
        return IPv4Address(address.packed[-4:])
    if address.teredo is not None:
        return address.teredo[1]
    return address.ipv4_mapped or address.sixtofour


Resolve = Callable[[str, int], Awaitable[Sequence[str]]]


async def resolve(host: str, port: int) -> Sequence[str]:
    """Return every address of a host, in the order of preference of this machine."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(each[4][0]) for each in found))


class GuardedNetwork(AsyncNetworkBackend):
    """Connects to what `addresses` admits; a name is never resolved a second time between judging and connecting."""

    def __init__(self, *, resolving: Resolve = resolve, own_host: str | None = None) -> None:
        self._resolve, self._own_host = resolving, own_host
        self._network: AsyncNetworkBackend = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[SOCKET_OPTION] | None = None,
    ) -> AsyncNetworkStream:
        """Resolve, judge and connect; ForbiddenAddress before any packet is sent to an address that is not admitted."""
        last: Exception = httpcore.ConnectError("no address")
        for address in await self._admit(host, port):
            try:
                return await self._network.connect_tcp(address, port, timeout, local_address, socket_options)
            except (httpcore.ConnectError, httpcore.ConnectTimeout) as error:
                last = error
        raise last

    async def sleep(self, seconds: float) -> None:
        """Wait, as the pool does between tries."""
        await self._network.sleep(seconds)

    async def _admit(self, host: str, port: int) -> Sequence[str]:
        if is_desk(host, port):
            raise ForbiddenAddress("The address is this desk itself")
        try:
            found = await self._resolve(host, port)
        except (OSError, UnicodeError):
            raise httpcore.ConnectError("The name of the receiver cannot be resolved") from None
        judged = [ipaddress.ip_address(each.partition("%")[0]) for each in found]
        self._refuse(host, judged, await self._own_addresses(host))
        return found

    def _refuse(self, host: str, judged: Sequence[Address], own: set[str]) -> None:
        # One that is not admitted refuses all: which of them is connected to is for others to choose.
        if is_demonstration_loopback(host) and all(each.is_loopback for each in judged):
            return
        for each in judged:
            if find_address_fault(each) is not None:
                raise ForbiddenAddress("The name of the receiver leads to an address that is not public")
            if str(each) in own:
                raise ForbiddenAddress("The address is this desk itself")

    async def _own_addresses(self, host: str) -> set[str]:
        if self._own_host is None or self._own_host == host:
            return set()
        try:
            return set(await self._resolve(self._own_host, 443))
        except OSError:
            return set()
