"""Rows appended to the audit log and to the feed since the last look, and breaks in either."""

from dataclasses import dataclass, field
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.store.access import ScopedSession
from core.store.audit_chain import link
from core.store.schema.tables import AuditEntry, AuditHead, Event

_HASHED = ("created_at", "chain", "position", "actor", "action", "subject", "before", "after")


@dataclass
class Ends:
    """The ends of the audit chains and of the feed as they were last seen, and sound until there."""

    position: int
    chains: dict[int, tuple[int, str]] = field(default_factory=dict)

    @classmethod
    def of(cls, session: ScopedSession) -> "Ends":
        last = session.execute(sa.select(sa.func.coalesce(sa.func.max(col(Event.position)), 0))).scalar_one()
        return cls(int(last), _heads(session))

    def new_events(self, session: ScopedSession) -> list[Any]:
        """Events with a later position, in their order, which are then seen; call it once for each look."""
        columns = (col(Event.position), col(Event.id), col(Event.type), col(Event.body))
        query = sa.select(*columns).where(col(Event.position) > self.position).order_by(col(Event.position))
        return list(session.execute(query))

    def broken(self, session: ScopedSession, events: list[Any]) -> list[str]:
        """List the rows that do not follow upon these ends; the ends are moved to the newest."""
        wanted = range(self.position + 1, self.position + 1 + len(events))
        found = [] if [row.position for row in events] == list(wanted) else ["the feed has a gap"]
        for chain, (position, head) in _heads(session).items():
            found += self._follow(session, chain, position, head)
            self.chains[chain] = (position, head)
        self.position += len(events)
        return found

    def _follow(self, session: ScopedSession, chain: int, last: int, head: str) -> list[str]:
        position, previous = self.chains[chain]
        query = sa.select(col(AuditEntry.hash), *(col(getattr(AuditEntry, name)) for name in _HASHED)).where(
            col(AuditEntry.chain) == chain, col(AuditEntry.position) > position
        )
        for entry in session.execute(query.order_by(col(AuditEntry.position))):
            position += 1
            if entry.position != position or entry.hash != link(previous, *entry[1:]):
                return [f"audit chain {chain} breaks at {entry.position}"]
            previous = entry.hash
        return [] if (position, previous) == (last, head) else [f"audit chain {chain} does not end at {last}"]


def _heads(session: ScopedSession) -> dict[int, tuple[int, str]]:
    rows = session.execute(sa.select(col(AuditHead.chain), col(AuditHead.position), col(AuditHead.hash)))
    return {row.chain: (row.position, row.hash) for row in rows}
