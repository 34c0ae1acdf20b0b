"""Rate limits per minute with a burst of one minute's worth (contract E7)."""

import ipaddress
import math
import time
from collections.abc import Hashable
from functools import lru_cache
from typing import Final

from core import telemetry
from core.errors import TooManyRequests

_MINUTE: Final = 60.0
MAX_NAMES: Final = 20_000


class RateLimiter:
    """Counts requests by name with one number each (GCRA), so memory does not grow with their rate.

    The number is the time at which a name's requests are paid off at the allowed rate; a name more than a minute ahead
    has to wait. A name whose time has passed equals a new one and is dropped when room is needed.
    """

    def __init__(self) -> None:
        self._paid_at: dict[Hashable, float] = {}

    def consume(self, name: Hashable, *, per_minute: int) -> None:
        """Count one request; TooManyRequests (without counting) when the minute is used up. 0 means no limit."""
        if per_minute <= 0:
            return
        now = time.monotonic()
        paid_at = max(self._paid_at.get(name, now), now) + _MINUTE / per_minute
        if paid_at - now > _MINUTE:
            telemetry.count("requests_refused", "rate")
            raise TooManyRequests(math.ceil(paid_at - now - _MINUTE))
        if len(self._paid_at) >= MAX_NAMES:
            self._make_room(now)
        self._paid_at[name] = paid_at

    def check(self, name: Hashable, *, per_minute: int) -> None:
        """Raise TooManyRequests when another request would be refused; counts nothing."""
        ahead = self._paid_at.get(name, 0.0) - time.monotonic() + _MINUTE / max(per_minute, 1)
        if per_minute > 0 and ahead > _MINUTE:
            raise TooManyRequests(math.ceil(ahead - _MINUTE))

    def _make_room(self, now: float) -> None:
        """Drop names that are paid off; if that is not enough, the half that is least ahead."""
        recent = sorted(((at, name) for name, at in self._paid_at.items() if at > now), key=lambda each: each[0])
        self._paid_at = {name: at for at, name in recent[-MAX_NAMES // 2 :]}


@lru_cache(maxsize=4096)
def address_key(host: str) -> str:
    """The name under which an address is counted: an IPv6 address by its /64 network."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return host
    if isinstance(address, ipaddress.IPv4Address):
        return host
    return str(address.ipv4_mapped or ipaddress.ip_network((address, 64), strict=False))
