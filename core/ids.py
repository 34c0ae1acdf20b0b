"""The only source of ids and secrets: UUIDv7 (time-ordered), random codes and tokens."""

import os
import re
import secrets
import threading
from uuid import UUID, SafeUUID

from core import clock
from core.errors import InvalidInput

_lock = threading.Lock()
_CODE_LETTERS = b"abcdefghijklmnopqrstuvwxyz234567" * 8
_last = [0]


def new() -> UUID:
    """Return a UUIDv7 that sorts after every earlier one of this process (contract P7).

    The 48 bits of milliseconds are followed by 12 bits that count within the millisecond.
    """
    with _lock:
        ticks = max(clock.milliseconds() << 12, _last[0] + 1)
        _last[0] = ticks
    return from_parts(ticks >> 12, ticks & 0xFFF, int.from_bytes(os.urandom(8)) >> 2)


def from_parts(milliseconds: int, counter: int, random_bits: int) -> UUID:
    """Build a UUIDv7 from its parts: 48 bits of time, 12 of counter, 62 of randomness (RFC 9562)."""
    # Its constructor checks what is known here, and takes four times as long.
    made = object.__new__(UUID)
    object.__setattr__(made, "int", build_int(milliseconds, counter, random_bits))
    object.__setattr__(made, "is_safe", SafeUUID.unknown)
    return made


def build_int(milliseconds: int, counter: int, random_bits: int) -> int:
    """Like `from_parts`, but returns the 128-bit integer; for bulk generation."""
    return milliseconds << 80 | 7 << 76 | counter << 64 | 2 << 62 | random_bits


def parse(value: str, field: str = "id") -> UUID:
    """Parse a UUID in the usual 36-character form; InvalidInput on `field` for anything else."""
    try:
        parsed = UUID(value)
    except ValueError:
        parsed = None
    if parsed is None or str(parsed) != value.lower():
        raise InvalidInput.for_field(field, "must be a UUID")
    return parsed


def find(value: str) -> UUID | None:
    """Return the UUID that a text is, in whatever form; None for any other text."""
    try:
        return UUID(value)
    except ValueError:
        return None


def new_code() -> str:
    """Return a 130-bit random code of 26 letters and digits: for certificates and stored files."""
    return secrets.token_bytes(26).translate(_CODE_LETTERS).decode()


def new_request_id() -> str:
    """Return 64 random bits in 16 hex digits: the request id in the log."""
    return secrets.token_hex(8)


def is_code(value: str) -> bool:
    """Return True if the text has the format of `new_code`."""
    return re.fullmatch(r"[a-z2-7]{26}", value) is not None


def new_token() -> str:
    """Return a 256-bit random URL-safe token: for sessions and one-time links."""
    return secrets.token_urlsafe(32)
