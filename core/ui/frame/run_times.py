"""Duration of screen runs, for the metrics and as spans."""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from core import telemetry
from core.ui.frame import menu

_ADDRESSES = frozenset(screen.address for screen in menu.SCREENS)


@contextmanager
def measure_run(address: str) -> Iterator[None]:
    """Measure one run of a screen; an address that is no screen's may be anything and is not told."""
    began = time.perf_counter()
    page = address if address in _ADDRESSES else "other" if address else "home"
    try:
        with telemetry.open_span(f"screen {page}", "internal"):
            yield
    finally:
        telemetry.observe("screen_seconds", time.perf_counter() - began, page)
