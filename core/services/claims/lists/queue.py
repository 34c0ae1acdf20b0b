"""The claims queue of the desk: views with counts, and sorted rows (contract C9)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core import clock
from core.services.claims.intake import requirements
from core.services.claims.intake.submitted import META_COLUMNS
from core.services.claims.lists import search as claim_search
from core.services.claims.lists.filter import VIEWS, ClaimFilter, View, build_conditions
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import reserves as claim_reserves
from core.services.claims.workflow.clock import Clock
from core.services.paging import Paging
from core.services.people.staff import Person
from core.states.claims import DECIDED
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import milliseconds_between
from core.store.schema.tables import Claim, ClaimPayment, ClaimReserve, Policy, Staff

_status, _clock_from, _clock_stopped_at = col(Claim.claim_status), col(Claim.clock_from), col(Claim.clock_stopped_at)
_is_decided = _status.in_(sorted(DECIDED))
_urgency_group: Final = sa.case((_clock_stopped_at.is_(None), 0), (_is_decided, 2), else_=1)
_claimed, _offered = col(Claim.claim_amount_minor), col(Claim.offer_amount_minor)
_claimant = tuple(sa.func.lower(col(name)) for name in (Claim.claim_owner_first_name, Claim.claim_owner_last_name))
_remaining = milliseconds_between(_clock_from, _clock_stopped_at)
_INCIDENT: Final = "incident_type"
# Urgent order: running clocks first, by clock start (the same order as days left); then stopped clocks, least time
# left first; decided claims last, latest decision first.
ORDERINGS: Final[Mapping[str, tuple[Any, ...]]] = {
    "urgent": (
        _urgency_group,
        sa.case((_urgency_group == 0, _clock_from)),
        sa.case((_urgency_group == 1, _remaining)).desc(),
        _clock_stopped_at.desc(),
        col(Claim.id),
    ),
    # The same the other way round within those whose clock runs: what stands still or is decided stays behind.
    "relaxed": (
        _urgency_group,
        sa.case((_urgency_group == 0, _clock_from)).desc(),
        sa.case((_urgency_group == 1, _remaining)),
        _clock_stopped_at.desc(),
        col(Claim.id),
    ),
    "newest": (col(Claim.created_at).desc(), col(Claim.id).desc()),
    "oldest": (col(Claim.created_at), col(Claim.id)),
    "largest": (_claimed.desc(), col(Claim.id)),
    "smallest": (_claimed, col(Claim.id)),
    "highest-offer": (_offered.desc(), col(Claim.id)),
    "lowest-offer": (_offered, col(Claim.id)),
    "claimant": (*_claimant, col(Claim.id)),
    "claimant-back": (*(name.desc() for name in _claimant), col(Claim.id)),
}
ORDER_NAMES: Final = tuple(ORDERINGS)


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueCounts:
    """Number of claims per view, how many of `near` are overdue, and the latest change of any claim."""

    views: Mapping[View, int]
    overdue: int
    changed_at: datetime | None


@dataclass(frozen=True, kw_only=True, slots=True)
class QueueTotal:
    """Totals of a filter: number of claims, and the amounts claimed, offered, paid and outstanding in kobo."""

    count: int = 0
    claimed_minor: int = 0
    offered_minor: int = 0
    paid_minor: int = 0
    outstanding_minor: int = 0

    @property
    def incurred_minor(self) -> int:
        """Paid plus outstanding reserve, in kobo."""
        return self.paid_minor + self.outstanding_minor


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


def count_views(session: ScopedSession, person: Person) -> QueueCounts:
    """Count the claims of every view for this person, in one statement on one index."""
    parts = {
        view: _count_where(
            claim_search.build_stage_condition(stage) if stage else sa.true(),
            *_build_assignment_conditions(view, person),
        )
        for view, stage in VIEWS.items()
    }
    query = sa.select(
        *(part.label(view) for view, part in parts.items()),
        _count_where(claim_search.build_stage_condition("overdue")).label("overdue"),
        sa.func.max(col(Claim.updated_at)).label("changed_at"),
    ).where(col(Claim.deleted_at).is_(None))
    row = session.execute(query).one()
    views = {view: getattr(row, view) or 0 for view in VIEWS}
    return QueueCounts(views=views, overdue=row.overdue or 0, changed_at=row.changed_at)


def count_unassigned(session: ScopedSession) -> int:
    """Return the number of open claims that nobody has yet."""
    query = sa.select(sa.func.count()).select_from(Claim).where(*build_conditions(ClaimFilter(view="unassigned")))
    return int(session.execute(query).scalar_one())


def _build_assignment_conditions(view: View, person: Person) -> list[sa.ColumnElement[bool]]:
    if view == "mine":
        return [col(Claim.assigned_to) == person.id]
    return [col(Claim.assigned_to).is_(None)] if view == "unassigned" else []


def _count_where(*conditions: sa.ColumnElement[bool]) -> sa.ColumnElement[int]:
    return sa.func.sum(sa.case((sa.and_(*conditions), 1), else_=0))


def get_totals(session: ScopedSession, criteria: ClaimFilter) -> QueueTotal:
    """The whole of a selection, whatever page of it is shown."""
    matching = build_conditions(criteria)
    sums = (sa.func.sum(col(Claim.claim_amount_minor)), sa.func.sum(col(Claim.offer_amount_minor)))
    query = sa.select(sa.func.count(), *sums).select_from(Claim).where(*matching)
    count, claimed, offers = session.execute(query).one()
    payments = sa.select(sa.func.sum(claim_payments.AMOUNT)).select_from(ClaimPayment)
    payments = payments.join(Claim, col(Claim.id) == col(ClaimPayment.claim_id))
    paid = session.execute(payments.where(*matching)).scalar_one()
    reserves = sa.select(sa.func.sum(claim_reserves.CHANGE)).select_from(ClaimReserve)
    reserves = reserves.join(Claim, col(Claim.id) == col(ClaimReserve.claim_id))
    outstanding = session.execute(reserves.where(*matching)).scalar_one()
    return QueueTotal(
        count=count,
        claimed_minor=int(claimed or 0),
        offered_minor=int(offers or 0),
        paid_minor=int(paid or 0),
        outstanding_minor=int(outstanding or 0),
    )


def count_payments(session: ScopedSession, criteria: ClaimFilter) -> int:
    """Return the number of payments, reversals included, of the claims in a filter."""
    query = sa.select(sa.func.count()).select_from(ClaimPayment)
    query = query.join(Claim, col(Claim.id) == col(ClaimPayment.claim_id)).where(*build_conditions(criteria))
    return int(session.execute(query).scalar_one())


def list_rows(
    session: ScopedSession, criteria: ClaimFilter, *, order: str = "urgent", paging: Paging = Paging()
) -> list[QueueRow]:
    """Return a page of claims in one of the named orders; the default order is by days left of the 60."""
    query = sa.select(col(Claim.id)).where(*build_conditions(criteria)).order_by(*ORDERINGS[order])
    page = list(session.execute(query.limit(paging.limit).offset(paging.offset)).scalars())
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
