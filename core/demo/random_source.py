"""Chance that repeats itself: seeded dice, and ids and codes thrown with them."""

from bisect import bisect
from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache
from random import Random
from typing import TypeVar

from core import ids

T = TypeVar("T")
_DIGITS_TO_LETTERS = str.maketrans("0123456789abcdef", "acdefhjkmnpqrtwx")


def dice(seed: int, purpose: str) -> Random:
    """Dice that fall the same way for the same seed and purpose."""
    return Random(f"{seed} {purpose}")  # noqa: S311 - a demonstration has no secrets


def pick(dice: Random, options: Sequence[T], cumulative: Sequence[float]) -> T:
    """One of the options by their cumulative weights: what `choices` draws, at a third of its cost."""
    return options[bisect(cumulative, dice.random() * cumulative[-1], 0, len(cumulative) - 1)]


# The rows of a sale share its instant.
@lru_cache(1_024)
def _milliseconds(at: datetime) -> int:
    return int(at.timestamp() * 1000)


def new_id(dice: Random, at: datetime) -> str:
    """A UUIDv7 of the row's own time, as its 32 digits."""
    return f"{ids.build_int(_milliseconds(at), dice.getrandbits(12), dice.getrandbits(62)):032x}"


def dashed_id(digits: str) -> str:
    """An id of 32 digits as people and the audit log read it."""
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"


def code(dice: Random, at: datetime) -> str:
    """26 letters as certificates and files have them; in the order of time, and nobody's secret."""
    return f"{_milliseconds(at):012x}{dice.getrandbits(56):014x}".translate(_DIGITS_TO_LETTERS)
