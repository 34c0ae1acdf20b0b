"""A labelled demonstration: two years of invented business, deterministic and fast."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from core import clock
from core.store.access import Store


@dataclass(frozen=True, kw_only=True, slots=True)
class Summary:
    """Counts of the store; `already_there` when nothing had to be written."""

    purchases: int
    policies: int
    renewals: int
    customers: int
    claims: int
    seed: int
    until: datetime
    already_there: bool

    def __str__(self) -> str:
        counted = ("purchases", "policies", "renewals", "customers", "claims")
        facts = ", ".join(f"{getattr(self, name):,} {name}" for name in counted)
        verb = "Already there" if self.already_there else "Written"
        return f"{verb}: {facts}; two years up to {clock.format_lagos(self.until)}, seed {self.seed}."


def write(store: Store, **wishes: Any) -> Summary:
    """Write the demonstration, as `core.demo.portfolio.write` says."""
    # A server does without the two dozen modules that invent a business.
    from core.demo import portfolio  # noqa: PLC0415

    return portfolio.write(store, **wishes)
