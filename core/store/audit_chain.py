"""How audit entries are tied: several chains, each entry's hash over itself and the one before it."""

import hashlib
import json
from datetime import datetime
from typing import Any

from core import clock, seal

CHAINS = 16
_PLAIN = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def chain_of(subject: str) -> int:
    """The chain that holds everything about a subject; several chains, so that sales seldom wait."""
    return hashlib.blake2b(subject.encode(), digest_size=1).digest()[0] % CHAINS


def link(previous: str, created_at: datetime, *content: Any) -> str:
    """The hash that ties an entry to the one before it; only this server can compute it.

    `content` is chain, position, actor, action, subject, before and after, as plain data.
    """
    return seal.keyed_hash("audit", _PLAIN.encode([previous, *content, clock.wire(created_at)]))
