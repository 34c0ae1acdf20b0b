"""The insurers, and the health of the connection of each: whether policies reach it, and how many wait for it."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import first_of
from core.services.insurers import connections, sending
from core.services.sales import totals
from core.services.sales.distributors import get_last_year
from core.services.sales.filter import SalesFilter
from core.settings import settings
from core.states.policies import OPEN, SubmissionState
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import InsurerConnection, Product, Provider, Submission

Health = Literal["Delegated", "Not used yet", "Working", "Failing", "Paused", "Checking"]


@dataclass(frozen=True, kw_only=True, slots=True)
class InsurerHealth:
    """The connection of one insurer in one mode, and what is queued for it."""

    id: UUID
    segment: str
    name: str
    health: Health
    queued: int
    dead: int
    oldest_at: datetime | None
    rests_until: datetime | None
    last_success_at: datetime | None
    last_error: str | None

    @property
    def is_connected(self) -> bool:
        """True if it has a URL, so that policies can be sent."""
        return self.health != "Delegated"


def load_healths(session: ScopedSession) -> Mapping[UUID, Health]:
    """Return the health of each insurer's connection in the session's mode."""
    return {row.id: health for row, _, health in _load_connections(session)}


def list_health(session: ScopedSession) -> Sequence[InsurerHealth]:
    """Return every insurer in the session's mode, by name."""
    counts = _count_by_state(session)
    found = sorted(_load_connections(session), key=lambda each: each[0].company_name.lower())
    return [_build_health(*each, counts) for each in found]


def _load_connections(session: ScopedSession) -> list[tuple[Any, InsurerConnection | None, Health]]:
    """Return each insurer with its connection in the session's mode; without a URL there it is delegated."""
    kept = {row.provider_id: row for row in session.execute(sa.select(InsurerConnection)).scalars()}
    live = bool(session.scope.is_live)
    query = sa.select(col(Provider.id), col(Provider.segment), col(Provider.company_name))
    return [
        (
            row,
            kept.get(row.id),
            _get_health(kept.get(row.id)) if settings().insurer_url(row.segment, is_live=live) else "Delegated",
        )
        for row in session.execute(query)
    ]


def _count_by_state(session: ScopedSession) -> Mapping[tuple[UUID, str], Any]:
    columns = (col(Submission.provider_id), col(Submission.state))
    query = sa.select(
        *columns, sa.func.count().label("policies"), sa.func.min(col(Submission.created_at)).label("oldest_at")
    )
    found = session.execute(query.where(col(Submission.state).in_(OPEN)).group_by(*columns))
    return {(row.provider_id, row.state): row for row in found}


def _build_health(
    row: Any, connection: InsurerConnection | None, health: Health, counts: Mapping[Any, Any]
) -> InsurerHealth:
    queued, dead = (counts.get((row.id, state)) for state in (SubmissionState.QUEUED, SubmissionState.DEAD))
    resting = connection is not None and sending.is_resting(connection)
    return InsurerHealth(
        id=row.id,
        segment=row.segment,
        name=row.company_name,
        health=health,
        queued=queued.policies if queued else 0,
        dead=dead.policies if dead else 0,
        oldest_at=min((found.oldest_at for found in (queued, dead) if found), default=None),
        rests_until=connection.rests_until if connection and resting else None,
        last_success_at=connection.last_success_at if connection else None,
        last_error=connection.last_error if connection and connection.failures else None,
    )


def _get_health(connection: InsurerConnection | None) -> Health:
    if connection is None:
        return "Not used yet"
    return name_health(
        connection.last_success_at, connection.last_failure_at, connection.rests_until, connection.failures
    )


def name_health(
    succeeded_at: datetime | None, failed_at: datetime | None, rests_until: datetime | None, failures: int
) -> Health:
    """Return the health of the connection of an insurer that has one."""
    if not (succeeded_at or failed_at):
        return "Not used yet"
    if sending.is_paused(rests_until):
        return "Paused"
    if failures >= sending.FAILURES_TO_TRIP:
        return "Checking"
    return "Failing" if failures else "Working"


DELEGATED = "Delegated authority"


@dataclass(frozen=True, kw_only=True, slots=True)
class InsurerRow:
    """One insurer in the session's mode; premium is for the last twelve months.

    `connection` is the host that accepts its policies, never the whole URL, or delegated authority.
    """

    id: UUID
    name: str
    segment: str
    business_type: str | None
    connection: str
    health: InsurerHealth
    products: int
    policies: int
    premium_minor: int
    first_name: str
    last_name: str
    email: str
    phone_number: str
    business_email: str | None
    claim_email: str | None
    support_email: str | None
    updated_at: datetime


def list_insurers(session: ScopedSession) -> list[InsurerRow]:
    """Return every insurer, by name."""
    health = {each.id: each for each in list_health(session)}
    provider_by_product = {
        row.id: row.provider_id for row in session.execute(sa.select(col(Product.id), col(Product.provider_id)))
    }
    policies, premium = _sum_sales(session, provider_by_product)
    rows: Sequence[Provider] = session.execute(sa.select(Provider)).scalars().all()
    return [
        build_row(
            InsurerRow,
            row,
            name=row.company_name,
            connection=get_connection_host(row.segment, is_live=bool(session.scope.is_live)),
            health=health[row.id],
            products=list(provider_by_product.values()).count(row.id),
            policies=policies[row.id],
            premium_minor=premium[row.id],
        )
        for row in sorted(rows, key=lambda row: row.company_name.lower())
    ]


def get_insurer(session: ScopedSession, provider_id: UUID) -> InsurerRow:
    """Return one insurer; NotFound for an unknown id."""
    found = [row for row in list_insurers(session) if row.id == provider_id]
    return first_of(found, otherwise="There is no such insurer")


def get_connection_host(segment: str, *, is_live: bool) -> str:
    """Return the host of an insurer's URL; the rest of the URL may contain credentials."""
    return connections.find_host(segment, is_live=is_live) or DELEGATED


def _sum_sales(session: ScopedSession, provider_by_product: dict[UUID, UUID]) -> tuple[Counter[UUID], Counter[UUID]]:
    policies, premium = Counter[UUID](), Counter[UUID]()
    for (product_id,), sums in totals.group_totals(session, SalesFilter(), "product_id", measures=("sold",)).items():
        policies[provider_by_product[product_id]] += sums.sold
    recent = SalesFilter(created=get_last_year().span)
    for (product_id,), sums in totals.group_totals(
        session, recent, "product_id", measures=("sold_minor", "renewed_minor")
    ).items():
        premium[provider_by_product[product_id]] += sums.premium_minor
    return policies, premium
