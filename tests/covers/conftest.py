"""Fixtures of the tests of covers: the clock held still, and the rewriting of golden files."""

from collections.abc import Iterator
from datetime import datetime

import pytest

from core import clock
from tests.covers.shipped import STILL


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="rewrite the golden files of covers (pytest tests/covers)")


@pytest.fixture
def golden_is_rewritten(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("golden", default=False))


@pytest.fixture(autouse=True)
def still() -> Iterator[datetime]:
    """The clock stands at this instant in every test of covers."""
    with clock.freeze(STILL):
        yield STILL
