"""The rows of the claims queue (contract C9)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core import clock
from core.services.claims.intake import requirements
from core.services.claims.intake.submitted import META_COLUMNS
from core.services.claims.lists import orderings
from core.services.claims.lists.filter import ClaimFilter, build_conditions
from core.services.claims.lists.search import build_search_condition
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow import reserves as claim_reserves
from core.services.claims.workflow.clock import Clock
from core.services.lists.paging import Paging
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Claim, Policy, Staff

_INCIDENT: Final = "incident_type"


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueRow:
    """A claim in the queue, with the names of its fraud flags (keys of the flag descriptions in `requirements`)."""

    id: UUID
    version: int
    reference: str
    policy_number: str | None
    claimant: str
    email: str
    phone: str | None
    claim_type: str
    incident: str | None
    incident_on: str | None
    status: str
    claimed_minor: int
    offered_minor: int
    outstanding_minor: int
    lodged_at: datetime
    clock: Clock
    assigned_to: UUID | None
    officer: str | None
    fraud_flags: tuple[str, ...]


def list_rows(
    session: ScopedSession,
    criteria: ClaimFilter,
    *,
    order: str = "urgent",
    paging: Paging = Paging(),
    policy_ids: Sequence[UUID] | None = None,
) -> list[QueueRow]:
    """Return a page of claims in one of the named orders; the default order is by days left of the 60.

    Who has the policies whose number or plate the search finds already gives their ids.
    """
    fetch = orderings.fetch_matches if criteria.search else orderings.fetch_page
    conditions = build_conditions(criteria if policy_ids is None else replace(criteria, search=None))
    if policy_ids is not None and criteria.search:
        conditions.append(build_search_condition(Claim, criteria.search, policy_ids))
    page = fetch(session, conditions, order, paging)
    now = clock.now()
    rows_by_id = {row.id: _row(row, now) for row in session.execute(_build_row_query().where(col(Claim.id).in_(page)))}
    return [rows_by_id[claim_id] for claim_id in page if claim_id in rows_by_id]


def _build_row_query() -> AnySelect:
    other = orm.aliased(Claim)
    same = (col(other.account_key) == col(Claim.account_key), col(other.id) != col(Claim.id))
    shares_account = sa.exists().where(*same, col(other.deleted_at).is_(None))
    names = (
        *("id", "version", "claim_type", "claim_status", "claim_owner_first_name", "claim_owner_last_name"),
        *("claim_owner_email", "claim_owner_phone_number", "incident_date", "claim_amount_minor"),
        *("offer_amount_minor", "created_at", "clock_from", "clock_stopped_at", "assigned_to", "flags"),
    )
    incident = sa.func.coalesce(*(col(getattr(Claim, name))[_INCIDENT].as_string() for name in META_COLUMNS))
    return (
        sa.select(
            *(col(getattr(Claim, name)) for name in names),
            incident.label("incident"),
            shares_account.label("shares"),
            claim_reserves.build_reserve_column().label("outstanding"),
            col(Policy.policy_number),
            col(Staff.name).label("officer"),
        )
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .outerjoin(Staff, col(Staff.id) == col(Claim.assigned_to))
    )


def _row(row: Any, now: datetime) -> QueueRow:
    flags = {*row.flags, *(["same_account"] if row.shares else [])}
    return QueueRow(
        id=row.id,
        version=row.version,
        reference=requirements.format_reference(row.id),
        policy_number=row.policy_number,
        claimant=f"{row.claim_owner_first_name} {row.claim_owner_last_name}",
        email=row.claim_owner_email,
        phone=row.claim_owner_phone_number,
        claim_type=row.claim_type,
        incident=row.incident,
        incident_on=row.incident_date,
        status=row.claim_status,
        claimed_minor=row.claim_amount_minor,
        offered_minor=row.offer_amount_minor,
        outstanding_minor=row.outstanding,
        lodged_at=row.created_at,
        clock=claim_clock.compute_from_stored(
            lodged_at=row.created_at,
            begins_at=row.clock_from,
            stopped_at=row.clock_stopped_at,
            status=row.claim_status,
            now=now,
        ),
        assigned_to=row.assigned_to,
        officer=row.officer,
        fraud_flags=tuple(name for name in requirements.FLAG_DESCRIPTIONS if name in flags),
    )
