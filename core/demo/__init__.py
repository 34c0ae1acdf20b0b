"""A labelled demonstration: two years of invented business, deterministic and fast."""

from typing import Any

from core.demo.marker import Mark, Summary, find, refuse_business
from core.store.access import Store

__all__ = ["Mark", "Summary", "find", "refuse_business", "write"]


def write(store: Store, **wishes: Any) -> Summary:
    """Write the demonstration, as `core.demo.portfolio.write` says."""
    # A server that only asks for the mark does without the two dozen modules that invent a business.
    from core.demo import portfolio  # noqa: PLC0415

    return portfolio.write(store, **wishes)
