"""The audit log: who did what to what, before and after, each entry chained to the one before."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, seal
from core.store.scope import ScopedSession
from core.store.tables import AuditEntry, AuditHead

CHAINS = 16


def write(
    session: ScopedSession,
    *,
    actor: str,
    action: str,
    subject: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Add one entry; `subject` is a kind and an id ("policy 0190…"), values are plain data."""
    chain = chain_of(subject)
    head = session.execute(
        sa.select(col(AuditHead.position), col(AuditHead.hash)).where(col(AuditHead.chain) == chain).with_for_update()
    ).one()
    entry = AuditEntry(
        id=ids.new(),
        chain=chain,
        position=head.position + 1,
        actor=actor,
        action=action,
        subject=subject,
        before=dict(before) if before is not None else None,
        after=dict(after) if after is not None else None,
        created_at=clock.now(),
        hash="",
    )
    entry.hash = link(head.hash, entry)
    session.insert(entry)
    session.execute(
        sa.update(AuditHead)
        .where(col(AuditHead.chain) == chain)
        .values(position=entry.position, hash=entry.hash)
        .execution_options(synchronize_session=False)
    )


def chain_of(subject: str) -> int:
    """The chain that holds everything about a subject; several chains, so that sales seldom wait."""
    return hashlib.blake2b(subject.encode(), digest_size=1).digest()[0] % CHAINS


def link(previous: str, entry: AuditEntry) -> str:
    """The hash that ties an entry to the one before it; only this server can compute it."""
    content = [
        previous,
        entry.chain,
        entry.position,
        entry.actor,
        entry.action,
        entry.subject,
        entry.before,
        entry.after,
        clock.wire(entry.created_at),
    ]
    return seal.keyed_hash("audit", json.dumps(content, sort_keys=True, separators=(",", ":")))


def history(session: ScopedSession, subject: str) -> list[AuditEntry]:
    """Every entry about a subject, oldest first."""
    found = session.execute(
        sa.select(AuditEntry)
        .where(col(AuditEntry.subject) == subject)
        .order_by(col(AuditEntry.created_at), col(AuditEntry.position))
    )
    return list(found.scalars())


def broken_links(session: ScopedSession) -> list[str]:
    """What does not fit in any chain: a changed, missing or foreign entry; empty when all is well."""
    faults: list[str] = []
    ends: dict[int, tuple[int, str]] = dict.fromkeys(range(CHAINS), (0, ""))
    entries = session.execute(
        sa.select(AuditEntry)
        .order_by(col(AuditEntry.chain), col(AuditEntry.position))
        .execution_options(yield_per=5_000)
    ).scalars()
    for entry in entries:
        position, previous = ends[entry.chain]
        if entry.position != position + 1 or entry.hash != link(previous, entry):
            faults.append(f"audit chain {entry.chain} breaks at {entry.position}")
        ends[entry.chain] = (entry.position, entry.hash)
    for head in session.execute(sa.select(AuditHead)).scalars():
        if ends[head.chain] != (head.position, head.hash):
            faults.append(f"audit chain {head.chain} does not end at {head.position}")
    return faults


def subject_of(kind: str, record_id: UUID) -> str:
    """The name of a record in the log."""
    return f"{kind} {record_id}"
