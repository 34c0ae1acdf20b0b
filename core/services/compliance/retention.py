"""Retention: what each class of records is kept for, what is due, and what stands against an erasure (contract D2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers import request
from core.errors import NotFound, StateForbids
from core.services.audit import log as audit
from core.services.compliance import figures
from core.services.compliance.personal_values import ERASED_DOMAIN
from core.services.finance.credit_notes import givers
from core.services.people.four_eyes import require_second
from core.services.people.staff import Person
from core.states.claims import DECIDED
from core.store.access import ScopedSession
from core.store.schema.tables import (
    Claim,
    Customer,
    LegalHold,
    Policy,
    Purchase,
    Refund,
    Staff,
    StaffSession,
    WebhookTry,
)

# People of one erasure: all of them are looked for in every text of the store.
MOST_AT_ONCE: Final = 25
LOGS: Final[Mapping[str, tuple[str, Any, Any]]] = {
    "staff_session": ("session_days", StaffSession, StaffSession.seen_at),
    "delivery_log": ("delivery_log_days", WebhookTry, WebhookTry.started_at),
}
CLASSES: Final[Mapping[str, tuple[str, str]]] = {
    "person": ("Policies, premiums, claims and identification", "The end of the last cover or claim"),
    "lead": ("People who bought nothing", "Their record"),
    "staff_session": ("Sign-ins of staff", "Their last use"),
    "delivery_log": ("Tries of deliveries to webhooks", "The try"),
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Preview:
    """Records of a class that are due for erasure: their number, the oldest, and the customers erased next."""

    record_class: str
    label: str
    trigger: str
    period: str
    before_at: datetime
    count: int
    oldest_at: datetime | None
    customers: Sequence[UUID] = ()


@dataclass(frozen=True, slots=True)
class Obstacles:
    """Reasons why people cannot be erased now, and the day until which the law wants their records kept."""

    reasons: Sequence[str]
    keep_until: date | None


@dataclass(frozen=True, kw_only=True, slots=True)
class Hold:
    """A legal hold on a customer's records."""

    id: UUID
    customer_id: UUID
    customer: str
    reason: str
    set_by: UUID
    setter: str
    set_at: datetime


def list_previews(session: ScopedSession) -> list[Preview]:
    """Return what is due of every class."""
    return [preview(session, name) for name in CLASSES]


def preview(session: ScopedSession, record_class: str) -> Preview:
    """Return what is due of one class; NotFound for an unknown one."""
    if record_class not in CLASSES:
        raise NotFound("There is no such class of records")
    label, trigger = CLASSES[record_class]
    if record_class in LOGS:
        name, entity, column = LOGS[record_class]
        days = figures.get_figure(session, name)
        before, unit = clock.now() - timedelta(days=days), f"{days} days"
        query = sa.select(sa.func.count(), sa.func.min(col(column))).select_from(entity).where(col(column) < before)
        count, oldest = session.execute(query).one()
        customers: list[UUID] = []
    else:
        months = figures.get_figure(session, f"{record_class}_months")
        before = clock.lagos_midnight(clock.add_months(clock.today(), -months))
        unit = f"{months} months"
        count, oldest, customers = _find_people(session, record_class, before)
    return Preview(
        record_class=record_class,
        label=label,
        trigger=trigger,
        period=unit,
        before_at=before,
        count=count,
        oldest_at=oldest,
        customers=customers,
    )


def _find_people(
    session: ScopedSession, record_class: str, before: datetime
) -> tuple[int, datetime | None, list[UUID]]:
    due = _due_people(record_class, before)
    if unpaid := givers.list_unpaid_customers(session, col(Refund.created_at) < before):
        due.append(col(Customer.id).not_in(unpaid))
    count, oldest = session.execute(sa.select(sa.func.count(), sa.func.min(col(Customer.created_at))).where(*due)).one()
    query = sa.select(col(Customer.id)).where(*due).order_by(col(Customer.created_at), col(Customer.id))
    return count, oldest, list(session.execute(query.limit(MOST_AT_ONCE)).scalars())


def _due_people(record_class: str, before: datetime) -> list[Any]:
    """The conditions of people who are due; sets, so that no row is looked up for each customer."""
    is_running = sa.or_(_ended_at().is_(None), _ended_at() >= before)
    parties = (col(Policy.customer_id), col(Policy.buyer_id))
    held = sa.select(col(LegalHold.customer_id)).where(col(LegalHold.lifted_at).is_(None))
    common = [
        sa.not_(col(Customer.email).endswith(f"@{ERASED_DOMAIN}")),
        col(Customer.id).not_in(held),
        col(Customer.created_at) < before,
    ]
    if record_class == "lead":
        anybody = (*parties, col(Purchase.customer_id))
        return [*common, *(col(Customer.id).not_in(sa.select(party)) for party in anybody)]
    claimed = sa.select(col(Claim.customer_id)).where(sa.or_(_is_open_claim(), col(Claim.updated_at) >= before))
    return [
        *common,
        sa.or_(*(col(Customer.id).in_(sa.select(party)) for party in parties)),
        *(col(Customer.id).not_in(sa.select(party).where(is_running)) for party in parties),
        col(Customer.id).not_in(claimed),
    ]


def _ended_at() -> Any:
    """The instant at which a policy ended or ends; none while it has no term and was not ended."""
    ended = sa.func.coalesce(col(Policy.cancelled_at), col(Policy.declined_at), col(Policy.expiration_at))
    return sa.type_coerce(ended, Policy.__table__.c.expiration_at.type)  # type: ignore[attr-defined]


def _is_open_claim() -> Any:
    return col(Claim.claim_status).not_in(sorted(DECIDED))


def delete_log(session: ScopedSession, record_class: str, before: datetime | None) -> dict[str, int]:
    """Delete the rows of a technical log that are older; the number of them by table."""
    _, entity, column = LOGS[record_class]
    done: Any = session.execute(
        sa.delete(entity).where(col(column) < before).execution_options(synchronize_session=False)
    )
    return {str(entity.__tablename__): int(done.rowcount)}


def with_same_email(session: ScopedSession, customers: Sequence[UUID]) -> list[UUID]:
    """Return these customers and those with the same e-mail at other distributors and in the other mode."""
    keys = sa.select(col(Customer.email_key)).where(col(Customer.id).in_(customers))
    return list(session.execute(sa.select(col(Customer.id)).where(col(Customer.email_key).in_(keys))).scalars())


# One and several of each thing that stands against an erasure, in the order in which they are counted.
_OBSTACLES: Final = (
    ("policy in force or awaiting its insurer", "policies in force or awaiting their insurer"),
    ("open claim", "open claims"),
    ("legal hold", "legal holds"),
    ("refund that is not paid yet", "refunds that are not paid yet"),
)


def find_obstacles(session: ScopedSession, customers: Sequence[UUID]) -> Obstacles:
    """Return what stands against erasing these people."""
    mine = sa.or_(col(Policy.customer_id).in_(customers), col(Policy.buyer_id).in_(customers))
    against: tuple[tuple[Any, ...], ...] = (
        (Policy, mine, sa.or_(_ended_at().is_(None), _ended_at() > clock.now())),
        (Claim, col(Claim.customer_id).in_(customers), _is_open_claim()),
        (LegalHold, col(LegalHold.customer_id).in_(customers), col(LegalHold.lifted_at).is_(None)),
    )
    counts = [session.count_rows(entity, *which) for entity, *which in against]
    # Money that is still to be paid needs the name and the account that it was promised to.
    counts.append(len(givers.list_unpaid_customers(session, col(Refund.customer_id).in_(customers))))
    reasons = [f"{count:,} {words[count > 1]}" for words, count in zip(_OBSTACLES, counts, strict=True) if count]
    if not customers:
        reasons = ["no record of a person is named"]
    return Obstacles(reasons, _keep_until(session, customers, mine))


def _keep_until(session: ScopedSession, customers: Sequence[UUID], mine: Any) -> date | None:
    last_cover = sa.select(sa.func.max(_ended_at())).where(mine)
    last_claim = sa.select(sa.func.max(col(Claim.updated_at))).where(col(Claim.customer_id).in_(customers))
    found = [session.execute(query).scalar_one() for query in (last_cover, last_claim)]
    ends = [instant for instant in found if instant is not None]
    months = figures.get_figure(session, "person_months")
    return clock.add_months(clock.to_lagos_day(max(ends)), months) if ends else None


def set_hold(session: ScopedSession, customer_id: UUID, *, reason: str, by: Person) -> UUID:
    """Hold a customer's records: nothing erases them until somebody else lifts it."""
    figures.require_role(by)
    reason = request.validate_text("reason", reason, least=10, most=500)
    session.find_scalar(
        sa.select(col(Customer.id)).where(col(Customer.id) == customer_id), otherwise="There is no such customer"
    )
    row = LegalHold(id=ids.new(), customer_id=customer_id, reason=reason, set_by=by.id, set_at=clock.now())
    session.insert(row)
    facts = {"hold_id": str(row.id), "reason": reason}
    audit.note(session, "customer", customer_id, "legal hold set", actor=by.actor, **facts)
    return row.id


def lift_hold(session: ScopedSession, hold_id: UUID, *, by: Person) -> None:
    """Lift a hold that somebody else set; NotAllowed for who set it."""
    row = figures.get_for_update(session, LegalHold, hold_id, noun="hold", by=by)
    if row.lifted_at is not None:
        raise StateForbids("This hold was lifted already")
    require_second(row.set_by, by, "You set this hold: somebody else lifts it")
    row.lifted_by, row.lifted_at = by.id, clock.now()
    session.flush()
    audit.note(session, "customer", row.customer_id, "legal hold lifted", actor=by.actor, hold_id=str(row.id))


def list_holds(session: ScopedSession) -> list[Hold]:
    """List the holds that stand, the oldest first."""
    names = ("id", "customer_id", "reason", "set_by", "set_at")
    customer = col(Customer.first_name) + " " + col(Customer.last_name)
    query = (
        sa.select(
            *(col(getattr(LegalHold, name)) for name in names),
            *(customer.label("customer"), col(Staff.name).label("setter")),
        )
        .join(Customer, col(Customer.id) == col(LegalHold.customer_id))
        .join(Staff, col(Staff.id) == col(LegalHold.set_by))
        .where(col(LegalHold.lifted_at).is_(None))
        .order_by(col(LegalHold.set_at))
    )
    return [Hold(**row._mapping) for row in session.execute(query)]
