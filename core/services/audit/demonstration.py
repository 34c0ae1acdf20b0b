"""The mark of a demonstration in a store: the two entries of the audit log that tell it from a business of its own.

Every server asks for it, so that it stands apart from what invents the business.
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.errors import StateForbids
from core.settings import settings
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


def is_demonstration(session: ScopedSession) -> bool:
    """Return True when the store holds the demo portfolio, so that every screen can say so."""
    return find(session) is not None


def is_demonstrating(session: ScopedSession) -> bool:
    """Return True in demonstration mode on a store that is a demonstration: whoever has a shell sets the mode alone."""
    return settings().demo and is_demonstration(session)
