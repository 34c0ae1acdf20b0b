"""The client that speaks to the application itself, and the API behind a real socket."""

import logging
from collections.abc import Iterator

import pytest
import structlog

from tests.api.conftest import client, portal, server
from tests.ui.conftest import screen

__all__ = ["client", "portal", "quiet", "screen", "server"]


@pytest.fixture(autouse=True)
def quiet() -> Iterator[None]:
    """A log line for each of thousands of refusals takes longer than they do, and a planned defect's trace longer."""
    before = structlog.get_config()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    yield
    structlog.configure(**before)
