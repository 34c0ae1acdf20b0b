"""Circuit breaker of each insurer's connection: pauses after failures, limits concurrency (contract N4).

The state is in the database, so that every worker and every screen see the same one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.insurers.answers import InsurerFault
from core.settings import settings
from core.states.policies import SubmissionState
from core.store.access import ScopedSession
from core.store.schema.tables import InsurerConnection, Provider, Submission

# Consecutive failures after which the connection pauses; then a single policy tries it again.
FAILURES_TO_TRIP = 5
REST_PERIODS = tuple(timedelta(seconds=seconds) for seconds in (5, 10, 15))


@dataclass(frozen=True, kw_only=True, slots=True)
class Insurer:
    """An insurer that accepts policies over the network, and in which modes."""

    id: UUID
    segment: str
    modes: tuple[bool, ...]


def list_connected(session: ScopedSession) -> Sequence[Insurer]:
    """Return every insurer that has a URL, by segment."""
    query = sa.select(col(Provider.id), col(Provider.segment)).order_by(col(Provider.segment))
    found = (Insurer(id=row.id, segment=row.segment, modes=get_modes(row.segment)) for row in session.execute(query))
    return [insurer for insurer in found if insurer.modes]


def get_modes(segment: str) -> tuple[bool, ...]:
    """Return the modes (is_live) in which an insurer has a URL."""
    return tuple(live for live in (True, False) if settings().insurer_url(segment, is_live=live))


def get_for_update(session: ScopedSession, provider_id: UUID) -> InsurerConnection:
    """Return the row of one connection locked for update; created if there is none yet."""
    query = sa.select(InsurerConnection).where(col(InsurerConnection.provider_id) == provider_id).with_for_update()
    query = query.execution_options(populate_existing=True)
    found: InsurerConnection | None = session.execute(query).scalar_one_or_none()
    if found is None:
        session.insert_if_absent(InsurerConnection(provider_id=provider_id))
        found = session.execute(query).scalar_one()
    return found


def is_resting(connection: InsurerConnection | None) -> bool:
    """Return True while sending is paused because of consecutive failures."""
    return connection is not None and connection.rests_until is not None and connection.rests_until > clock.now()


def get_capacity(connection: InsurerConnection, *, in_flight: int, concurrency: int) -> int:
    """Return how many more policies may be sent now; only one while the connection is on trial."""
    if is_resting(connection):
        return 0
    return max(0, (1 if connection.failures >= FAILURES_TO_TRIP else concurrency) - in_flight)


def record_success(session: ScopedSession, provider_id: UUID) -> None:
    """Record a usable answer; after a recovery, submissions that failed before become due."""
    connection = get_for_update(session, provider_id)
    recovered = connection.failures >= FAILURES_TO_TRIP
    connection.failures, connection.rests_until = 0, None
    connection.last_success_at = clock.now()
    session.flush()
    if recovered:
        _make_due(session, provider_id)


def record_failure(session: ScopedSession, provider_id: UUID, fault: InsurerFault) -> None:
    """Record one more consecutive failure; a configuration fault pauses the connection at once."""
    connection = get_for_update(session, provider_id)
    connection.last_failure_at, connection.last_error = clock.now(), str(fault)
    # Calls that were in progress when it tripped do not count.
    if not is_resting(connection):
        connection.failures = max(connection.failures + 1, FAILURES_TO_TRIP if fault.is_setup_fault else 0)
        if connection.failures >= FAILURES_TO_TRIP:
            connection.rests_until = (
                clock.now() + REST_PERIODS[min(connection.failures - FAILURES_TO_TRIP, len(REST_PERIODS) - 1)]
            )
    session.flush()


def end_rest(session: ScopedSession, provider_id: UUID) -> None:
    """End the pause of a connection: somebody reports that it works again."""
    connection = get_for_update(session, provider_id)
    if connection.rests_until is not None:
        connection.rests_until = clock.now()
    session.flush()


def _make_due(session: ScopedSession, provider_id: UUID) -> None:
    """Make failed submissions due now; rows locked by another worker are skipped."""
    now = clock.now()
    waiting = (
        sa.select(col(Submission.policy_id))
        .where(
            col(Submission.state) == SubmissionState.QUEUED,
            col(Submission.provider_id) == provider_id,
            col(Submission.next_try_at) > now,
            col(Submission.failures) > 0,
            col(Submission.leased_until).is_(None),
        )
        .with_for_update(skip_locked=True)
    )
    session.execute(
        sa.update(Submission)
        .where(col(Submission.policy_id).in_(waiting))
        .values(next_try_at=now)
        .execution_options(synchronize_session=False)
    )
