"""The hash chains of the audit log: each entry's hash covers itself and the entry before it."""

import hashlib
import json
from datetime import datetime
from typing import Any

from core import clock, seal

CHAINS = 16
_PLAIN = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def chain_of(subject: str) -> int:
    """The chain for a subject; there are several, so that sales seldom wait for each other."""
    return hashlib.blake2b(subject.encode(), digest_size=1).digest()[0] % CHAINS


def link(previous: str, created_at: datetime, *content: Any) -> str:
    """The keyed hash that links an entry to the one before it.

    `content` is chain, position, actor, action, subject, before and after, as plain data.
    """
    return seal.keyed_hash("audit", _PLAIN.encode([previous, *content, clock.to_wire(created_at)]))
