"""Frozen papers whose lines named a person that was erased: what remains of them is sealed (contract D2)."""

from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import seal
from core.store.access import ScopedSession
from core.store.schema.tables import Redaction


def seal_redacted(record_id: UUID, printed_sha256: str, digest: str) -> str:
    """Return the keyed hash that ties what remains of a paper to the hash that it was printed with."""
    return seal.keyed_hash("redaction", f"{record_id} {printed_sha256} {digest}")


def is_redacted(session: ScopedSession, kind: str, record_id: UUID, printed_sha256: str, digest: str) -> bool:
    """Return True when an erasure left the paper as it is now."""
    query = sa.select(col(Redaction.seal)).where(col(Redaction.kind) == kind, col(Redaction.record_id) == record_id)
    return session.execute(query).scalar_one_or_none() == seal_redacted(record_id, printed_sha256, digest)
