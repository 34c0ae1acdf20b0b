"""Fixtures of the tests of covers: the clock held still."""

from collections.abc import Iterator
from datetime import datetime

import pytest

from core import clock
from tests.covers.shipped import STILL


@pytest.fixture(autouse=True)
def still() -> Iterator[datetime]:
    """The clock stands at this instant in every test of covers."""
    with clock.freeze(STILL):
        yield STILL
