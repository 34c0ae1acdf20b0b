"""The state of the installation as numbers, read from the store when Prometheus asks (contract O3)."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.desk import status
from core.desk.queues import list_queues
from core.services.audit import log as audit
from core.services.claims.reports import figures
from core.services.people import credentials
from core.settings import VERSION, get_commit
from core.store.access import ScopedSession, store
from core.store.schema import versions
from core.store.schema.rollups import DaybookLine
from core.store.schema.tables import InsurerConnection, Product, Provider, StaffSession


@dataclass(frozen=True, slots=True)
class Gauge:
    """A number with the values of its labels."""

    name: str
    value: float
    labels: tuple[str, ...] = ()


# Each with its help text and the names of its labels; `_total` is a number that only grows.
GAUGES: dict[str, tuple[str, tuple[str, ...]]] = {
    "up": ("1 if the store answered this scrape.", ()),
    "sales_total": ("Purchases and renewals since the store began.", ("product", "mode")),
    "claims_open": ("Claims that are not decided, by days since they were lodged.", ("bucket",)),
    "queue_depth": ("Work that waits.", ("queue",)),
    "queue_dead": (
        "Work that was given up and needs a person here; what a receiver refused is not counted.",
        ("queue",),
    ),
    "queue_oldest_seconds": ("How long the oldest work has been due.", ("queue",)),
    "breaker_open": ("1 from several failures in a row until the insurer answers again.", ("insurer",)),
    "staff_sessions": ("People signed in.", ()),
    "workers": ("Workers heard of in the last minutes.", ()),
    "worker_beat_age_seconds": ("Time since any worker was heard of.", ()),
    "database_connections": ("Connections of this process to the store.", ("state",)),
    "database_bytes": ("Size of the store.", ()),
    "clock_skew_seconds": ("How far the database's clock is ahead of this machine's.", ()),
    "disk_free_bytes": ("Room left on the disk of the uploaded files.", ()),
    "replica_used": ("1 while figures are read from the replica.", ()),
    "replica_lag_seconds": ("How old the figures of the replica are, once more than a second.", ()),
    "audit_entries": ("Entries of the audit log.", ()),
    "backup_age_seconds": ("Time since the newest backup was written.", ()),
    "schema_current": ("1 if the store has the version that this release wants.", ("version",)),
    "build_info": ("The release that runs.", ("version", "commit")),
}


def list_gauges(session: ScopedSession) -> list[Gauge]:
    """Every gauge; needs the system's scope. A number that nobody knows yet (no backup, no replica) is left out."""
    return [
        gauge
        for part in (_sales, _claims, _queues, _breakers, _people, _workers, _audit, _database, _replica, _release)
        for gauge in part(session)
    ]


def _age(moment: datetime | None) -> float:
    return 0.0 if moment is None else max(0.0, (clock.now() - moment).total_seconds())


def _sales(session: ScopedSession) -> Iterator[Gauge]:
    sold = sa.func.sum(col(DaybookLine.sold) + col(DaybookLine.renewed))
    query = (
        sa.select(col(Product.name), col(DaybookLine.is_live), sold)
        .join(Product, col(Product.id) == col(DaybookLine.product_id))
        .where(col(DaybookLine.grain) == "month")
        .group_by(col(Product.name), col(DaybookLine.is_live))
    )
    for name, is_live, number in session.execute(query):
        yield Gauge("sales_total", int(number), (name, "live" if is_live else "test"))


def _claims(session: ScopedSession) -> Iterator[Gauge]:
    for bucket in figures.count_by_age(session):
        last = "" if bucket.days.last is None else f"-{bucket.days.last}"
        yield Gauge("claims_open", bucket.number, (f"{bucket.days.first}{last or '+'}",))


def _queues(session: ScopedSession) -> Iterator[Gauge]:
    for queue in list_queues(session):
        name = (queue.name.lower(),)
        yield Gauge("queue_depth", queue.queued + queue.held, name)
        yield Gauge("queue_dead", queue.dead, name)
        yield Gauge("queue_oldest_seconds", _age(queue.oldest_due_at), name)


def _breakers(session: ScopedSession) -> Iterator[Gauge]:
    query = (
        sa.select(col(Provider.segment), col(InsurerConnection.rests_until))
        .join(Provider, col(Provider.id) == col(InsurerConnection.provider_id))
        .order_by(col(Provider.segment))
    )
    for segment, rests_until in session.execute(query):
        yield Gauge("breaker_open", rests_until is not None, (segment,))


def _people(session: ScopedSession) -> Iterator[Gauge]:
    since = clock.now() - credentials.IDLE_LIMIT
    is_open = col(StaffSession.ended_at).is_(None), col(StaffSession.seen_at) > since
    yield Gauge("staff_sessions", session.count_rows(StaffSession, *is_open))


def _workers(session: ScopedSession) -> Iterator[Gauge]:
    beats = status.list_beats(session)
    yield Gauge("workers", sum(beat.is_fresh for beat in beats))
    if beats:
        yield Gauge("worker_beat_age_seconds", _age(max(beat.seen_at for beat in beats)))


def _audit(session: ScopedSession) -> Iterator[Gauge]:
    yield Gauge("audit_entries", audit.count_entries(session))
    if (newest := status.newest_backup(session)) is not None:
        yield Gauge("backup_age_seconds", _age(newest))


def _database(session: ScopedSession) -> Iterator[Gauge]:
    pool = store().engine.pool
    if isinstance(pool, sa.QueuePool):
        yield Gauge("database_connections", pool.checkedout(), ("used",))
        yield Gauge("database_connections", pool.checkedin(), ("idle",))
    yield Gauge("database_bytes", status.measure_store(session))
    yield Gauge("disk_free_bytes", status.free_bytes())
    if not store().is_sqlite:
        yield Gauge("clock_skew_seconds", status.measure_clock_skew(session))


def _replica(_: ScopedSession) -> Iterator[Gauge]:
    if (replica := store().replica) is None:
        return
    found = replica.status()
    yield Gauge("replica_used", found.fault is None)
    if found.fault is None:
        yield Gauge("replica_lag_seconds", _age(found.as_of))


def _release(session: ScopedSession) -> Iterator[Gauge]:
    version = versions.version_of(session.connection()) or "none"
    yield Gauge("schema_current", version == versions.newest(), (version,))
    yield Gauge("build_info", 1, (VERSION, (get_commit() or "unknown")[:12]))
