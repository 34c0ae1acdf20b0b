"""The audit log: actor, action, subject, and values before and after; entries form hash chains."""

import json
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, seal, telemetry
from core.errors import CoverdeskError, InvalidInput, NotAllowed, StaleVersion, StateForbids
from core.store.access import Query, ScopedSession
from core.store.audit_chain import CHAINS, chain_of, link
from core.store.schema import tables
from core.store.schema.tables import AuditEntry, AuditHead

_HEAD = Query(
    sa.select(col(AuditHead.position), col(AuditHead.hash))
    .where(col(AuditHead.chain) == sa.bindparam("chain"))
    .with_for_update()
)
AUDIT_KIND = "audit entry"
# The action of the entry of a backup, by which the newest one is found.
BACKED_UP = "store backed up"
RESTORED = "store restored"
REVEALED = "personal value shown"
KEY_ISSUED: Final = "key issued"
# How the actor of what was done by a command begins.
COMMAND_LINE: Final = "command line"
_HASHED_FIELDS = ("created_at", "chain", "position", "actor", "action", "subject", "before", "after")


@dataclass(frozen=True, kw_only=True, slots=True)
class AuditEvent:
    """One entry of the audit log; `who` is the actor's display name, if looked up."""

    at: datetime
    actor: str
    action: str
    facts: Mapping[str, Any]
    actor_name: str | None = None


def write(
    session: ScopedSession,
    *,
    actor: str,
    action: str,
    subject: str,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> None:
    """Append an entry; `subject` is a kind and an id ("policy 0190…"), values are plain data."""
    chain = chain_of(subject)
    position, previous = _HEAD.one(session, chain=chain)
    entry = AuditEntry.to_insert(
        id=ids.new(),
        chain=chain,
        position=position + 1,
        actor=actor,
        action=action,
        subject=subject,
        before=dict(before) if before is not None else None,
        after=dict(after) if after is not None else None,
        created_at=clock.now(),
        hash="",
        trace_id=telemetry.current_trace(),
    )
    entry.hash = link(previous, *(getattr(entry, name) for name in _HASHED_FIELDS))
    session.insert(entry)
    session.update_columns(
        AuditHead.to_insert(chain=chain, position=entry.position, hash=entry.hash), "position", "hash"
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Draft:
    """The content of an entry; `write_many` gives it its place in the log."""

    actor: str
    action: str
    subject: str
    after: Mapping[str, Any]


def note(session: ScopedSession, kind: str, record_id: UUID, action: str, /, *, actor: str, **facts: Any) -> None:
    """Append an entry about a record with these facts, for what needs no state before and after."""
    write(session, actor=actor, action=action, subject=subject_of(kind, record_id), after=facts)


def write_many(session: ScopedSession, drafts: Sequence[Draft]) -> None:
    """Append several entries; call it last, as others wait for the chains until this transaction ends."""
    now, trace = clock.now(), telemetry.current_trace()
    chains = [chain_of(draft.subject) for draft in drafts]
    ends = _lock_heads(session, set(chains))
    entries: list[AuditEntry] = []
    for chain, draft in zip(chains, drafts, strict=True):
        position, previous = ends[chain]
        facts = (chain, position + 1, draft.actor, draft.action, draft.subject, None, dict(draft.after))
        found = link(previous, now, *facts)
        ends[chain] = position + 1, found
        names = ("chain", "position", "actor", "action", "subject", "before", "after")
        values: dict[str, Any] = dict(zip(names, facts, strict=True))
        entries.append(AuditEntry.to_insert(id=ids.new(), created_at=now, hash=found, trace_id=trace, **values))
    session.insert_many(entries)
    heads = [AuditHead.to_insert(chain=chain, position=position, hash=last) for chain, (position, last) in ends.items()]
    session.update_many(heads, "position", "hash")


def _lock_heads(session: ScopedSession, chains: Collection[int]) -> dict[int, tuple[int, str]]:
    """Lock the ends of chains, in one order, so that two such transactions do not hold each other up crosswise."""
    query = sa.select(col(AuditHead.chain), col(AuditHead.position), col(AuditHead.hash))
    query = query.where(col(AuditHead.chain).in_(chains)).order_by(col(AuditHead.chain)).with_for_update()
    return {row.chain: (row.position, row.hash) for row in session.execute(query)} if chains else {}


@contextmanager
def keep_refusal(*, actor: str, action: str, subject: str, **facts: Any) -> Iterator[None]:
    """Keep a refused attempt in the log: "credit note payment" becomes "credit note payment refused", with the reason.

    The refused transaction is rolled back; the store writes the entry in one of its own. The innermost block counts.
    A stale version is no refusal: nobody was kept from anything.
    """
    try:
        yield
    except (NotAllowed, StateForbids, InvalidInput) as error:
        if error.kept is None and not isinstance(error, StaleVersion):
            after = {"refused": str(error), **facts}
            error.kept = partial(write, actor=actor, action=f"{action} refused", subject=subject, after=after)
        raise


@contextmanager
def keep_command_refusal(*, terminal: str, action: str, subject: str, officer: str, **facts: Any) -> Iterator[None]:
    """Keep a refusal as that of `terminal`, the machine's user and host, and not of the officer whom it named (K11)."""
    with keep_refusal(actor=terminal, action=action, subject=subject, officer=officer, **facts):
        try:
            yield
        except CoverdeskError as error:
            error.kept = None
            raise


def count_entries(session: ScopedSession) -> int:
    """Return the number of entries; it grows with every write."""
    return int(session.execute(sa.select(sa.func.sum(col(AuditHead.position)))).scalar_one() or 0)


def list_history(session: ScopedSession, subject: str) -> list[AuditEntry]:
    """List every entry about a subject, oldest first."""
    found = session.execute(
        sa.select(AuditEntry)
        .where(col(AuditEntry.subject) == subject)
        .order_by(col(AuditEntry.created_at), col(AuditEntry.position))
    )
    return list(found.scalars())


def list_decided_as(session: ScopedSession, action: str, *roles: str, since: datetime) -> set[UUID]:
    """Return the ids of the records on which an act was done since an instant in one of these roles, by the log.

    Whoever did it may have another role by now: what counts in a limit is the authority of then.
    """
    query = sa.select(col(AuditEntry.subject)).where(
        col(AuditEntry.action) == action,
        col(AuditEntry.created_at) > since,
        col(AuditEntry.after)["role"].as_string().in_(roles),
    )
    return {UUID(subject.rpartition(" ")[2]) for subject in session.execute(query).scalars()}


def find_broken_links(session: ScopedSession) -> list[str]:
    """Verify all chains and describe changed, missing or foreign entries; empty when all is well."""
    faults: list[str] = []
    before, start = _heads(session), (0, "")
    ends = dict.fromkeys(before, start)
    redacted = _redactions(session)
    for entry in _entries(session):
        position, previous = ends.get(entry.chain, start)
        if entry.position != position + 1 or not _is_whole(entry, previous, redacted.get(entry.id)):
            faults.append(f"audit chain {entry.chain} breaks at {entry.position}")
        ends[entry.chain] = (entry.position, entry.hash)
    # On PostgreSQL entries may be appended meanwhile: a chain then ends between the heads read before and after.
    after = _heads(session)
    for chain, end in ends.items():
        first, last = before.get(chain, start), after.get(chain, start)
        if not first[0] <= end[0] <= last[0] or (end[0] == last[0] and end != last):
            faults.append(f"audit chain {chain} does not end at {last[0]}")
    return faults


def seal_redacted(entry_hash: str, before: object, after: object) -> str:
    """Return the keyed hash of what an erasure left of an entry; the entry's own hash stays a link of its chain."""
    return seal.keyed_hash("redaction", json.dumps([entry_hash, before, after], sort_keys=True))


def _is_whole(entry: Any, previous: str, redaction: str | None) -> bool:
    """True when an entry is what was written, or what an erasure left of it."""
    return redaction == seal_redacted(entry.hash, entry.before, entry.after) or entry.hash == link(previous, *entry[2:])


def _redactions(session: ScopedSession) -> dict[UUID, str]:
    redaction = tables.Redaction
    query = sa.select(col(redaction.record_id), col(redaction.seal)).where(col(redaction.kind) == AUDIT_KIND)
    return {row.record_id: row.seal for row in session.execute(query)}


def _heads(session: ScopedSession) -> dict[int, tuple[int, str]]:
    rows = session.execute(sa.select(col(AuditHead.chain), col(AuditHead.position), col(AuditHead.hash)))
    return dict.fromkeys(range(CHAINS), (0, "")) | {row.chain: (row.position, row.hash) for row in rows}


def _entries(session: ScopedSession) -> Iterator[Any]:
    """Yield id, hash and hashed fields of every entry, chain by chain, without loading all of them."""
    facts = [col(getattr(AuditEntry, name)) for name in _HASHED_FIELDS]
    query = sa.select(col(AuditEntry.id), col(AuditEntry.hash), *facts).order_by(
        col(AuditEntry.chain), col(AuditEntry.position)
    )
    yield from session.execute(query.execution_options(yield_per=5_000))


def subject_of(kind: str, record_id: UUID) -> str:
    """Return the subject of a record in the log."""
    return f"{kind} {record_id}"
