"""How many requests a minute a name may make: a steady rate that lets a minute's worth come at once (contract E7)."""

import ipaddress
import math
import time
from collections.abc import Hashable
from functools import lru_cache
from typing import Final

from core.errors import TooManyRequests

_MINUTE: Final = 60.0
MOST_NAMES: Final = 20_000


class Allowance:
    """Counts requests by name: one number for each, so a million requests take no more memory than one.

    The number is the instant at which a name's requests are paid off at the allowed rate; who is more than a minute
    ahead waits. A name whose instant has passed stands like a new one and is forgotten when room is needed.
    """

    def __init__(self) -> None:
        self._paid_at: dict[Hashable, float] = {}

    def take(self, name: Hashable, *, per_minute: int) -> None:
        """Count one request; TooManyRequests, counting nothing, when the minute is used up. 0 allows any number."""
        if per_minute <= 0:
            return
        now = time.monotonic()
        paid_at = max(self._paid_at.get(name, now), now) + _MINUTE / per_minute
        if paid_at - now > _MINUTE:
            raise TooManyRequests(math.ceil(paid_at - now - _MINUTE))
        if len(self._paid_at) >= MOST_NAMES:
            self._make_room(now)
        self._paid_at[name] = paid_at

    def refuse_spent(self, name: Hashable, *, per_minute: int) -> None:
        """TooManyRequests when another request would be refused; counts nothing."""
        ahead = self._paid_at.get(name, 0.0) - time.monotonic() + _MINUTE / max(per_minute, 1)
        if per_minute > 0 and ahead > _MINUTE:
            raise TooManyRequests(math.ceil(ahead - _MINUTE))

    def _make_room(self, now: float) -> None:
        """Forget who is paid off; when that is not enough, the half that is least ahead."""
        kept = sorted(((at, name) for name, at in self._paid_at.items() if at > now), key=lambda each: each[0])
        self._paid_at = {name: at for at, name in kept[-MOST_NAMES // 2 :]}


@lru_cache(maxsize=4096)
def place(host: str) -> str:
    """The name under which an address is counted: of IPv6 the network of 64 bits, which one subscriber has."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))
