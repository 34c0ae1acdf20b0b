"""A labelled demonstration: two years of invented business, deterministic and fast."""

from core.demo.marker import Mark, find, refuse_business
from core.demo.portfolio import Summary, write

__all__ = ["Mark", "Summary", "find", "refuse_business", "write"]
