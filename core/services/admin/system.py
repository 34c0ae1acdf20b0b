"""The installation as an admin sees it: release, store, files, queue, settings, and daily jobs (contract R4)."""

import os
import platform
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from urllib.parse import urlsplit
from uuid import UUID

import sqlalchemy as sa
from pydantic import SecretStr
from sqlmodel import col

from core import clock
from core.errors import NotAllowed, NotFound
from core.services.admin import status
from core.services.admin.status import Beat
from core.services.audit import log as audit
from core.services.mail import mail
from core.services.mail.mail import MailLine
from core.services.outbox.queue import QueueHealth, count_endpoints, list_queues
from core.services.people import role_grants
from core.services.people.staff import Person
from core.settings import VERSION, Settings, get_commit, settings
from core.store.access import ScopedSession, store, wal_is_safe
from core.store.schema import versions
from core.store.schema.tables import Automation, KeptAnswer, Submission, UploadedFile

_SHOWN_MAIL = 5
_UNCONFIRMED = timedelta(days=30)


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
        unconfirmed=[] if settings().demo else role_grants.list_unconfirmed(session, since=clock.now() - _UNCONFIRMED),
    )


def list_settings() -> list[Setting]:
    """List every setting by its environment variable, secrets hidden."""
    current = settings()
    return [
        Setting(
            f"COVERDESK_{name.upper()}",
            _format_setting(getattr(current, name)),
            getattr(current, name) == field.default,
        )
        for name, field in Settings.model_fields.items()
    ]


def _store(session: ScopedSession) -> StoreFacts:
    connection, here = session.connection(), store()

    def query_value(statement: str) -> Any:
        return connection.exec_driver_sql(statement).scalar_one()

    is_sqlite = here.is_sqlite
    size = "SELECT page_count * page_size FROM pragma_page_count, pragma_page_size" if is_sqlite else _POSTGRES_SIZE_SQL
    journal = str(query_value("PRAGMA journal_mode")) if is_sqlite else None
    return StoreFacts(
        kind="SQLite" if is_sqlite else "PostgreSQL",
        version=str(query_value("SELECT sqlite_version()" if is_sqlite else "SHOW server_version")),
        address=here.url.render_as_string(hide_password=True),
        size_bytes=int(query_value(size)),
        journal=journal,
        journal_is_safe=journal != "wal" or wal_is_safe(),
        migration=versions.version_of(connection),
        newest_migration=versions.newest(),
        replica=status.describe_replica(),
    )


_POSTGRES_SIZE_SQL = "SELECT pg_database_size(current_database())"


def _files(session: ScopedSession) -> FilesFacts:
    count, size = session.execute(
        sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(col(UploadedFile.size)), 0))
    ).one()
    folder = settings().files_folder
    existing = next(path for path in (folder, *folder.parents) if path.exists())
    return FilesFacts(
        folder=str(folder),
        count=int(count),
        size_bytes=int(size),
        writable=os.access(existing, os.W_OK | os.X_OK),
        free_bytes=shutil.disk_usage(existing).free,
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


RENEWAL_REMINDERS: Final = "renewal reminders"
NAMES: Final = (RENEWAL_REMINDERS,)
# Nobody is written to at night: hours of Lagos, the first included.
FIRST_HOUR, LAST_HOUR = 8, 20


@dataclass(frozen=True, kw_only=True, slots=True)
class AutomationState:
    """One job: whether it is on, who switched it last, and what its pass of `day` has done so far."""

    name: str
    is_on: bool
    changed_by: str | None
    changed_at: datetime | None
    day: date | None
    is_finished: bool
    done: int


def list_states(session: ScopedSession) -> list[AutomationState]:
    """Return every job, also those that nobody has switched yet."""
    rows: Mapping[str, Automation] = {row.name: row for row in session.execute(sa.select(Automation)).scalars()}
    return [_build(name, rows.get(name)) for name in NAMES]


def get_state(session: ScopedSession, name: str) -> AutomationState:
    """Return one job."""
    return next(state for state in list_states(session) if state.name == name)


def _build(name: str, row: Automation | None) -> AutomationState:
    if row is None:
        return AutomationState(
            name=name, is_on=False, changed_by=None, changed_at=None, day=None, is_finished=False, done=0
        )
    kept = {field: getattr(row, field) for field in AutomationState.__dataclass_fields__}
    return AutomationState(**kept)


def switch(session: ScopedSession, name: str, *, on: bool, by: Person) -> None:
    """Switch a job on or off; the state that it has already changes nothing."""
    if not by.has_role():
        raise NotAllowed("Automatic tasks is switched by an admin")
    if name not in NAMES:
        raise NotFound("No such job")
    session.insert_if_absent(Automation(name=name))
    row = _lock(session, name)
    if row is None or row.is_on == on:
        return
    row.is_on, row.changed_by, row.changed_at = on, by.actor, clock.now()
    session.flush()
    action = "automation switched on" if on else "automation switched off"
    audit.write(session, actor=by.actor, action=action, subject=f"automation {name.replace(' ', '-')}")


def is_due(session: ScopedSession, name: str) -> bool:
    """Return True while a job is on, the hour is one at which people are written to, and today's pass is not over."""
    hour = int(clock.format_lagos(clock.now(), "%H"))
    row = session.execute(sa.select(Automation).where(col(Automation.name) == name)).scalar_one_or_none()
    return bool(row and row.is_on and FIRST_HOUR <= hour < LAST_HOUR and not _is_over(row))


def _is_over(row: Automation) -> bool:
    return row.day == clock.today() and row.is_finished


def lock_pass(session: ScopedSession, name: str) -> Automation | None:
    """Return the row of a job, locked, at the place where today's pass goes on; None when there is nothing to do."""
    row = _lock(session, name)
    if row is None or not row.is_on or _is_over(row):
        return None
    if row.day != clock.today():
        row.day, row.is_finished, row.done = clock.today(), False, 0
        row.after_at = row.after_id = None
    return row


def advance(row: Automation, *, after: tuple[datetime, UUID] | None, done: int) -> None:
    """Note how far a pass has come; `after` None ends it."""
    row.done += done
    row.after_at, row.after_id = after or (None, None)
    row.is_finished = after is None


def _lock(session: ScopedSession, name: str) -> Automation | None:
    query = sa.select(Automation).where(col(Automation.name) == name).with_for_update()
    found: Automation | None = session.execute(query).scalar_one_or_none()
    return found
