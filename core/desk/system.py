"""The installation as an admin sees it: release, store, files, queues and settings."""

import os
import platform
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from pydantic import SecretStr
from sqlmodel import col

from core import clock
from core.desk import status
from core.desk.queues import QueueHealth, count_endpoints, list_queues
from core.desk.status import Beat
from core.services.audit import demonstration, search
from core.services.mail import mail
from core.services.mail.mail import MailLine
from core.services.people import role_grants
from core.settings import VERSION, Settings, get_commit, settings
from core.store.access import ScopedSession, store, wal_is_safe
from core.store.schema import versions
from core.store.schema.tables import KeptAnswer, Submission, UploadedFile

_SHOWN_MAIL = 5
_RECENT = timedelta(days=30)


@dataclass(frozen=True, kw_only=True, slots=True)
class StoreFacts:
    """The database: kind, address (never with its password), size, and whether its schema fits this release."""

    kind: str
    version: str
    address: str
    size_bytes: int
    journal: str | None
    journal_is_safe: bool
    migration: str | None
    newest_migration: str | None
    replica: str | None

    @property
    def is_current(self) -> bool:
        """True when the schema is the newest migration of this release."""
        return self.migration == self.newest_migration


@dataclass(frozen=True, kw_only=True, slots=True)
class FilesFacts:
    """The folder of uploaded files: counts from the store, free space from the disk."""

    folder: str
    count: int
    size_bytes: int
    writable: bool
    free_bytes: int


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueLine:
    """Submissions to insurers in one state: number, and creation time of the oldest."""

    state: str
    count: int
    oldest_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class SystemFacts:
    """State of the installation at one instant."""

    release: str
    python: str
    store: StoreFacts
    files: FilesFacts
    queue: Sequence[QueueLine]
    outbox: Sequence[QueueHealth]
    endpoints: Mapping[str, int]
    mail: Sequence[MailLine]
    commit: str | None
    workers: Sequence[Beat]
    backup_at: datetime | None
    kept_answers: int
    oldest_answer_at: datetime | None
    unconfirmed: Sequence[str]
    restores: Sequence[str]


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as displayed; a secret shows only whether it is set."""

    name: str
    value: str
    is_default: bool


def get_system_facts(session: ScopedSession) -> SystemFacts:
    """Return the state of the installation; needs the system's scope."""
    answer_count, oldest = session.execute(sa.select(sa.func.count(), sa.func.min(col(KeptAnswer.created_at)))).one()
    return SystemFacts(
        release=VERSION,
        python=platform.python_version(),
        store=_store(session),
        files=_files(session),
        queue=_queue(session),
        outbox=list_queues(session),
        endpoints=count_endpoints(session),
        mail=mail.list_latest(session, _SHOWN_MAIL),
        commit=get_commit(),
        workers=status.list_beats(session),
        backup_at=status.newest_backup(session),
        kept_answers=int(answer_count),
        oldest_answer_at=oldest,
        unconfirmed=[]
        if demonstration.is_demonstrating(session)
        else role_grants.list_unconfirmed(session, since=clock.now() - _RECENT),
        restores=search.list_restores(session, since=clock.now() - _RECENT),
    )


def list_settings() -> list[Setting]:
    """List every setting by its environment variable, secrets hidden."""
    current = settings()
    return [
        Setting(f"COVERDESK_{name.upper()}", _format_setting(value), value == Settings.model_fields[name].default)
        for name, value in ((name, getattr(current, name)) for name in Settings.model_fields)
    ]


def _store(session: ScopedSession) -> StoreFacts:
    connection, here = session.connection(), store()

    def query_value(statement: str) -> Any:
        return connection.exec_driver_sql(statement).scalar_one()

    is_sqlite = here.is_sqlite
    journal = str(query_value("PRAGMA journal_mode")) if is_sqlite else None
    return StoreFacts(
        kind="SQLite" if is_sqlite else "PostgreSQL",
        version=str(query_value("SELECT sqlite_version()" if is_sqlite else "SHOW server_version")),
        address=here.url.render_as_string(hide_password=True),
        size_bytes=status.measure_store(session),
        journal=journal,
        journal_is_safe=journal != "wal" or wal_is_safe(),
        migration=versions.version_of(connection),
        newest_migration=versions.newest(),
        replica=status.describe_replica(),
    )


def _files(session: ScopedSession) -> FilesFacts:
    count, size = session.count_and_sum(col(UploadedFile.size))
    folder = settings().files_folder
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return FilesFacts(
        folder=str(folder),
        count=count,
        size_bytes=size,
        writable=os.access(existing, os.W_OK | os.X_OK),
        free_bytes=status.free_bytes(),
    )


def _queue(session: ScopedSession) -> list[QueueLine]:
    # Grouped in index order; grouping by state alone would need a sort.
    rows = session.execute(
        sa.select(col(Submission.state), sa.func.count(), sa.func.min(col(Submission.created_at))).group_by(
            col(Submission.is_live), col(Submission.state)
        )
    ).all()
    by_state = {state: [row for row in rows if row.state == state] for state in sorted({row.state for row in rows})}
    return [
        QueueLine(state=state, count=sum(row[1] for row in found), oldest_at=min(row[2] for row in found))
        for state, found in by_state.items()
    ]


def _format_setting(value: object) -> str:
    if isinstance(value, SecretStr):
        return "set" if value.get_secret_value() else "not set"
    if isinstance(value, bool):
        return "true" if value else "false"
    if value in (None, ""):
        return "–"
    return _strip_url(value) if isinstance(value, str) and "://" in value else str(value)


def _strip_url(value: str) -> str:
    """Return a URL without user, password and query, any of which may be secret."""
    if value.startswith("sqlite"):
        return value
    parts = urlsplit(value)
    host = parts.netloc.rpartition("@")[2]
    return f"{parts.scheme}://{host}{parts.path}"
