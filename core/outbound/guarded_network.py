"""A network for httpcore that resolves at each connection, judges every address, and connects to a judged one (W5)."""

import asyncio
import ipaddress
import socket
from collections.abc import Awaitable, Callable, Iterable, Sequence

import httpcore
from httpcore import SOCKET_OPTION, AsyncNetworkBackend, AsyncNetworkStream

from core.outbound import addresses
from core.outbound.addresses import Address, ForbiddenAddress

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
        if addresses.is_desk(host, port):
            raise ForbiddenAddress("The address is this desk itself")
        try:
            found = await self._resolve(host, port)
        except OSError:
            raise httpcore.ConnectError("The name of the receiver cannot be resolved") from None
        judged = [ipaddress.ip_address(each.partition("%")[0]) for each in found]
        self._refuse(host, judged, await self._own_addresses(host))
        return found

    def _refuse(self, host: str, judged: Sequence[Address], own: set[str]) -> None:
        # One that is not admitted refuses all: which of them is connected to is for others to choose.
        if addresses.is_demonstration_loopback(host) and all(each.is_loopback for each in judged):
            return
        for each in judged:
            if addresses.find_address_fault(each) is not None:
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
