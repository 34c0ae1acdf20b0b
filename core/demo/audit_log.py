"""The demonstration's audit log: entries are kept until their time comes, then chained as real ones are.

Two of its lines are the mark of a demonstration: they can be neither changed nor taken out.
"""

import json
from collections.abc import Mapping
from datetime import datetime
from heapq import heappop, heappush
from random import Random
from typing import Any, NamedTuple

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.demo.bulk_rows import Rows, stamp
from core.demo.random_source import dashed_id, dice, new_id
from core.demo.sales.policy_lives import Ended
from core.demo.sales.sales import DESK, Sale
from core.errors import StateForbids
from core.services.audit.demonstration import ACTOR, BEGUN, SUBJECT, Mark, find, refuse_business
from core.store.access import ScopedSession
from core.store.audit_chain import chain_of, link
from core.store.schema.admin import AuditEntry, AuditHead
from core.store.schema.events import EventCursor

# Of two years of business, the newest entries of each chain become events when the store is served.
_NEWEST = 20


class Entry(NamedTuple):
    """One entry that waits; entries of one instant keep the order in which they were noted."""

    at: datetime
    order: int
    entry_id: str
    actor: str
    action: str
    subject: str
    before: Mapping[str, Any] | None
    after: Mapping[str, Any] | None


class Log:
    """Entries in the order of their time, whatever the order in which their rows are made."""

    def __init__(self, dice: Random) -> None:
        self.dice = dice
        self._noted = 0
        self._waiting: list[Entry] = []

    def add(
        self,
        at: datetime,
        actor: str,
        action: str,
        subject: str,
        *,
        before: Mapping[str, Any] | None = None,
        after: Mapping[str, Any] | None = None,
    ) -> None:
        """Keep an entry until its time comes."""
        self._noted += 1
        entry_id = new_id(self.dice, at)
        heappush(self._waiting, Entry(at, self._noted, entry_id, actor, action, subject, before, after))

    def entries_until(self, until: datetime) -> list[Entry]:
        """The entries up to an instant, oldest first."""
        found = []
        while self._waiting and self._waiting[0].at <= until:
            found.append(heappop(self._waiting))
        return found


def chain(session: ScopedSession, rows: Rows, entries: list[Entry]) -> None:
    """Tie entries to the ends of the store's chains and add them to the rows; the ends move in this transaction."""
    ends = sa.select(col(AuditHead.chain), col(AuditHead.position), col(AuditHead.hash)).with_for_update()
    heads = {row.chain: (row.position, row.hash) for row in session.execute(ends)}
    for entry in entries:
        number = chain_of(entry.subject)
        position, previous = heads[number]
        facts = (number, position + 1, entry.actor, entry.action, entry.subject)
        heads[number] = position + 1, link(previous, entry.at, *facts, entry.before, entry.after)
        rows.add(AuditEntry, {**_row(entry), "chain": number, "position": position + 1, "hash": heads[number][1]})
    for number, (position, last) in heads.items():
        session.change(AuditHead, col(AuditHead.chain) == number, position=position, hash=last)
        reached = max(0, position - _NEWEST)
        session.change(EventCursor, col(EventCursor.chain) == number, position=reached)


def _row(entry: Entry) -> dict[str, Any]:
    return {
        "id": entry.entry_id,
        "actor": entry.actor,
        "action": entry.action,
        "subject": entry.subject,
        "before": json.dumps(entry.before) if entry.before else "null",
        "after": json.dumps(entry.after),
        "created_at": stamp(entry.at),
    }


def add_entries(sale: Sale, log: Log) -> None:
    """Note the sale and each change after it, each at its own time."""
    subject = f"policy {dashed_id(sale.policy_id)}"
    total = money.to_wire(sale.variant.split.total_minor)
    log.add(
        sale.at,
        sale.actor,
        "policy sold",
        subject,
        after={"purchase_id": dashed_id(sale.purchase_id), "product_id": sale.offer.product_id, "total": total},
    )
    if sale.life.accepted_at:
        _note_activation(sale, log, subject)
    for paid, renewal_id in zip(sale.life.renewals, sale.renewal_ids, strict=True):
        log.add(
            paid.at,
            DESK if paid.source == "desk" else sale.actor,
            "policy renewed",
            subject,
            before={"expiration_date": clock.to_wire(paid.previous_expiration_at)},
            after={
                "expiration_date": clock.to_wire(paid.expiration_at),
                "renewal_id": dashed_id(renewal_id),
                "total": total,
            },
        )
    if sale.life.ended:
        _note_end(sale, log, subject, sale.life.ended)


def _note_activation(sale: Sale, log: Log, subject: str) -> None:
    life = sale.life
    first_end = life.stretches[0][1]
    log.add(
        life.accepted_at or sale.at,
        f"insurer {sale.offer.segment}",
        "policy activated",
        subject,
        before={"version": 1},
        after={
            "policy_number": sale.policy_number,
            "start_date": clock.to_wire(life.start_at),
            "expiration_date": clock.to_wire(first_end),
            "insurer_accepted": True,
        },
    )


def _note_end(sale: Sale, log: Log, subject: str, ended: Ended) -> None:
    refund = money.to_wire(ended.refund.amount_minor)
    after: dict[str, object] = {"reason": ended.reason, "refund": refund}
    if sale.life.cancelled:
        after |= {"by_insurer": ended.by_insurer, "method": ended.refund.method}
    action = "policy cancelled" if sale.life.cancelled else "policy declined"
    log.add(ended.at, DESK, action, subject, before={"version": len(sale.changes)}, after=after)


def begin(session: ScopedSession, wanted: Mark) -> Log | None:
    """A log with the first line of a new demonstration; none when the same one was begun before.

    StateForbids when the store holds another demonstration, or business of its own.
    """
    known = find(session)
    if known is None:
        refuse_business(session)
        log = Log(dice(wanted.seed, "mark"))
        log.add(wanted.until, ACTOR, BEGUN, SUBJECT, after=wanted.facts)
        return log
    if (known.purchases, known.seed) != (wanted.purchases, wanted.seed):
        raise StateForbids(f"This store holds the demonstration of {known.purchases:,} purchases, seed {known.seed}")
    return None
