"""Chance that repeats itself: seeded dice, and ids and codes thrown with them."""

from base64 import b32encode
from datetime import datetime
from random import Random

from core import ids


def dice(seed: int, purpose: str) -> Random:
    """Dice that fall the same way for the same seed and purpose."""
    return Random(f"{seed} {purpose}")  # noqa: S311 - a demonstration has no secrets


def new_id(dice: Random, at: datetime) -> str:
    """A UUIDv7 of the row's own time, as its 32 digits."""
    return ids.from_parts(int(at.timestamp() * 1000), dice.getrandbits(12), dice.getrandbits(62)).hex


def code(dice: Random) -> str:
    """128 bits in 26 letters and digits, as certificates and files have them."""
    return b32encode(dice.randbytes(16)).decode().rstrip("=").lower()
