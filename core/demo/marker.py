"""The mark of a demonstration in a store: the two entries of the audit log that tell it from a business of its own.

Every server asks for it, so that it stands apart from what invents the business.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import StateForbids
from core.store.access import ScopedSession
from core.store.schema.admin import AuditEntry
from core.store.schema.parties import ApiKey, Distributor, Staff
from core.store.schema.sales import Purchase

SUBJECT = "store demonstration"
BEGUN, WRITTEN = "demonstration begun", "demonstration written"
ACTOR = "command line"
_OF_A_BUSINESS = (Staff, Distributor, ApiKey, Purchase)


@dataclass(frozen=True, kw_only=True, slots=True)
class Mark:
    """The parameters of a demonstration; `written` once it is complete."""

    purchases: int
    seed: int
    until: datetime
    written: bool

    @property
    def facts(self) -> dict[str, Any]:
        """The values of the audit entry."""
        return {"purchases": self.purchases, "seed": self.seed, "until": self.until.isoformat()}


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


def find(session: ScopedSession) -> Mark | None:
    """The demonstration of this store; none when it has its own business."""
    lines = session.execute(
        sa.select(col(AuditEntry.action), col(AuditEntry.after)).where(col(AuditEntry.subject) == SUBJECT)
    )
    found = {line.action: line.after for line in lines}
    if BEGUN not in found:
        return None
    facts = found[BEGUN]
    until = datetime.fromisoformat(facts["until"])
    return Mark(purchases=facts["purchases"], seed=facts["seed"], until=until, written=WRITTEN in found)


def refuse_business(session: ScopedSession) -> None:
    """StateForbids when the store is no demonstration and belongs to somebody: it has a person, a distributor, a key
    or a sale.
    """
    # By table alone: the store may be of an earlier release.
    if find(session) is None and any(
        session.execute(sa.select(sa.literal(1)).select_from(entity).limit(1)).first() for entity in _OF_A_BUSINESS
    ):
        raise StateForbids(
            "This store has business of its own, and a demonstration never enters it:"
            " leave COVERDESK_DATABASE_URL out, or name another store"
        )
