"""How each insurer's connection does: when it is asked, when it rests after failures, how many at once (contract N4).

The state stands in the store, so that every worker and every screen see the same one.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.insurers.faults import InsurerFault
from core.settings import settings
from core.store.access.scope import ScopedSession
from core.store.schema.tables import InsurerConnection, Provider, Submission

# So many failures in a row, and the connection rests; then one policy tries it again.
TRIPS_AT = 5
RESTS = tuple(timedelta(seconds=seconds) for seconds in (5, 10, 15))


@dataclass(frozen=True, kw_only=True, slots=True)
class Insurer:
    """An insurer that takes policies over the network, and for which modes."""

    id: UUID
    segment: str
    modes: tuple[bool, ...]


def connected(session: ScopedSession) -> Sequence[Insurer]:
    """Every insurer that has an address, in the order of their names."""
    query = sa.select(col(Provider.id), col(Provider.segment)).order_by(col(Provider.segment))
    found = (Insurer(id=row.id, segment=row.segment, modes=modes_of(row.segment)) for row in session.execute(query))
    return [insurer for insurer in found if insurer.modes]


def modes_of(segment: str) -> tuple[bool, ...]:
    """The modes, live and test, in which an insurer is sent anything."""
    return tuple(live for live in (True, False) if settings().insurer_url(segment, is_live=live))


def held(session: ScopedSession, provider_id: UUID) -> InsurerConnection:
    """The row of one connection, held until the transaction ends; made when there is none yet."""
    query = sa.select(InsurerConnection).where(col(InsurerConnection.provider_id) == provider_id).with_for_update()
    query = query.execution_options(populate_existing=True)
    found: InsurerConnection | None = session.execute(query).scalar_one_or_none()
    if found is None:
        session.insert_if_absent(InsurerConnection(provider_id=provider_id))
        found = session.execute(query).scalar_one()
    return found


def resting(connection: InsurerConnection | None) -> bool:
    """True while nothing is sent because of failures in a row."""
    return connection is not None and connection.rests_until is not None and connection.rests_until > clock.now()


def room(connection: InsurerConnection, *, under_way: int, at_once: int) -> int:
    """How many more policies may be sent now; just one where it has to prove itself again."""
    if resting(connection):
        return 0
    return max(0, (1 if connection.failures >= TRIPS_AT else at_once) - under_way)


def succeeded(session: ScopedSession, provider_id: UUID) -> None:
    """The insurer gave a usable answer; what waited for its recovery becomes due."""
    connection = held(session, provider_id)
    recovered = connection.failures >= TRIPS_AT
    connection.failures, connection.rests_until = 0, None
    connection.last_success_at = clock.now()
    session.flush()
    if recovered:
        _bring_forward(session, provider_id)


def failed(session: ScopedSession, provider_id: UUID, fault: InsurerFault) -> None:
    """One more failure in a row; a set-up that is wrong needs no second one to rest."""
    connection = held(session, provider_id)
    connection.last_failure_at, connection.last_error = clock.now(), str(fault)
    # What was under way when it tripped says nothing new.
    if not resting(connection):
        connection.failures = max(connection.failures + 1, TRIPS_AT if fault.of_the_setup else 0)
        if connection.failures >= TRIPS_AT:
            connection.rests_until = clock.now() + RESTS[min(connection.failures - TRIPS_AT, len(RESTS) - 1)]
    session.flush()


def wake(session: ScopedSession, provider_id: UUID) -> None:
    """Let a resting connection be tried at once: somebody says that it is well again."""
    connection = held(session, provider_id)
    if connection.rests_until is not None:
        connection.rests_until = clock.now()
    session.flush()


def _bring_forward(session: ScopedSession, provider_id: UUID) -> None:
    """Make due what failed before; rows that another worker holds are left to it."""
    now = clock.now()
    waiting = (
        sa.select(col(Submission.policy_id))
        .where(
            col(Submission.state) == "queued",
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
