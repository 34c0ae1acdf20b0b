"""Readiness of the store, and its newest backup."""

import shutil
from datetime import datetime
from pathlib import Path

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import StoreUnavailable
from core.settings import settings
from core.store.access import Scope, ScopedSession, store, writing
from core.store.operations import local_files
from core.store.schema import versions
from core.store.schema.tables import AuditEntry, OneTimeTicket

# What is raised here when the store does not answer at all.
UNANSWERED = (StoreUnavailable, sa.exc.SQLAlchemyError, OSError)
BACKED_UP = "store backed up"
MIN_FREE_BYTES = 64 * 1024 * 1024


def find_fault() -> str | None:
    """Describe why the store is not ready, None when it is.

    Raises one of `UNANSWERED` when the store does not answer at all.
    """
    if versions.version(store()) != versions.newest():
        return "the store has another version: run `coverdesk init`"
    with writing(Scope.system()) as session:
        _verify_writable(session)
        local_files.require_space(session.connection())
    folder = Path(settings().files_url)
    folder.mkdir(parents=True, exist_ok=True)
    if shutil.disk_usage(folder).free < MIN_FREE_BYTES:
        return "the disk is nearly full"
    return None


def describe_replica() -> str | None:
    """Describe the replica: "in use", or why it is not; None where none is configured.

    Not a fault: the primary answers while the replica is not in use.
    """
    if (there := store().replica) is None:
        return None
    return there.status().fault or "in use"


def _verify_writable(session: ScopedSession) -> None:
    """Write and delete a row: a read-only store is not ready."""
    ticket_hash = f"readiness {ids.new_code()}"
    session.insert(OneTimeTicket(ticket_hash=ticket_hash, used_at=clock.now()))
    session.execute(sa.delete(OneTimeTicket).where(col(OneTimeTicket.ticket_hash) == ticket_hash))


def newest_backup(session: ScopedSession) -> datetime | None:
    """Return the time of the newest backup in the audit log, or None."""
    query = sa.select(sa.func.max(col(AuditEntry.created_at))).where(col(AuditEntry.action) == BACKED_UP)
    found: datetime | None = session.execute(query).scalar_one()
    return found
