"""The list of claims: its rows, its columns, and its orders, each read from an index (contract A4, C9).

An order is a row of segments, one after the other: claims that run, wait or are decided each stand in an order of their
own, which no single index has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlalchemy.sql import operators
from sqlmodel import col

from core.services.claims.intake import submitted
from core.services.claims.intake.submitted import FLAG_DESCRIPTIONS, META_COLUMNS, NOT_DECLINED
from core.services.claims.lists import filter as claim_filter
from core.services.claims.lists import totals
from core.services.claims.lists.filter import ClaimFilter, build_conditions, build_search_condition
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import reserves as claim_reserves
from core.services.claims.workflow.clock import STATUTORY_PERIOD, Clock
from core.services.lists import listing
from core.services.lists.dimensions import Choices
from core.services.lists.filters.fields import Condition
from core.services.lists.listing import Column, Context, Derived, Listing, Order
from core.services.lists.paging import Paging
from core.services.lists.spreadsheets import (
    COUNT,
    DATE,
    DAY,
    EMAIL,
    ID,
    INSTANT,
    MASKED,
    MONEY,
    PHONE,
    SIGNED_MONEY,
    STATE,
    TEXT,
)
from core.states import claims as claim_states
from core.states.claims import ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import milliseconds_between, print_id
from core.store.rows import build_row
from core.store.schema.tables import (
    Claim,
    ClaimEvent,
    ClaimPayment,
    ClaimReferral,
    PaymentPayee,
    Policy,
    Staff,
    Transfer,
)

_created_at, _id = col(Claim.created_at), col(Claim.id)
_claimed, _offered = col(Claim.claim_amount_minor), col(Claim.offer_amount_minor)
_clock_from, _clock_stopped_at = col(Claim.clock_from), col(Claim.clock_stopped_at)
_claimant = (col(Claim.claim_owner_name_key), col(Claim.claim_owner_email), _id)
_remaining = milliseconds_between(_clock_from, _clock_stopped_at)
_is_open = claim_filter.build_stage_condition("open")


class Segment(NamedTuple):
    """Claims of one condition, and their order."""

    conditions: tuple[Condition, ...]
    order: tuple[Any, ...]


class Ordering(NamedTuple):
    """An order of the list: how people read it, and the claims of which it is made, one after the other."""

    label: str
    segments: tuple[Segment, ...]
    is_descending: bool = False


def _of_all(label: str, columns: tuple[Any, ...], *, is_descending: bool = False) -> Ordering:
    order = tuple(column.desc() for column in columns) if is_descending else columns
    return Ordering(label, (Segment((), order),), is_descending)


_RUNNING, _WAITING = (_clock_stopped_at.is_(None),), (_clock_stopped_at.is_not(None), _is_open)
_DECIDED = Segment(
    (_clock_stopped_at.is_not(None), sa.not_(_is_open)), (_clock_stopped_at.desc(), _clock_from.desc(), _id.desc())
)
# The first column is null in all of them: with it the order is the index's.
_BY_CLOCK = (_clock_stopped_at, _clock_from, _id)
_LEAST_LEFT = Segment(_WAITING, (_remaining.desc(), _clock_stopped_at.desc(), _id))
_MOST_LEFT = Segment(_WAITING, (_remaining, _clock_stopped_at.desc(), _id))
# Urgent order: running clocks first, by clock start (the same order as days left); then stopped clocks, least time
# left first; decided claims last, latest decision first. Relaxed is the same the other way round within those whose
# clock runs: what stands still or is decided stays behind.
_URGENT = (Segment(_RUNNING, _BY_CLOCK), _LEAST_LEFT, _DECIDED)
_RELAXED = (Segment(_RUNNING, tuple(column.desc() for column in _BY_CLOCK)), _MOST_LEFT, _DECIDED)
ORDERINGS: Final[Mapping[str, Ordering]] = {
    "urgent": Ordering("Most urgent first", _URGENT),
    "relaxed": Ordering("Most days left first", _RELAXED, is_descending=True),
    "newest": _of_all("Newest first", (_created_at, _id), is_descending=True),
    "oldest": _of_all("Oldest first", (_created_at, _id)),
    "largest": _of_all("Largest claim first", (_claimed, _id), is_descending=True),
    "smallest": _of_all("Smallest claim first", (_claimed, _id)),
    "highest-offer": _of_all("Highest offer first", (_offered, _id), is_descending=True),
    "lowest-offer": _of_all("Lowest offer first", (_offered, _id)),
    "claimant": _of_all("Claimants from A to Z", _claimant),
    "claimant-back": _of_all("Claimants from Z to A", _claimant, is_descending=True),
}


def build_sort_keys(order: str) -> tuple[Any, ...]:
    """Return an order as keys of one ORDER BY, for what is read whole; no index has it where there are several."""
    segments = [(sa.and_(sa.true(), *segment.conditions), segment.order) for segment in ORDERINGS[order].segments]
    if len(segments) == 1:
        return segments[0][1]
    place = sa.case(*((condition, number) for number, (condition, _) in enumerate(segments)))
    return (place, *(_build_key_of_segment(condition, key) for condition, keys in segments for key in keys))


def _build_key_of_segment(is_of_segment: Any, key: Any) -> Any:
    """Return a sort key that is null outside its segment."""
    if getattr(key, "modifier", None) is operators.desc_op:
        return sa.case((is_of_segment, key.element)).desc()
    return sa.case((is_of_segment, key))


def fetch_page(session: ScopedSession, conditions: Sequence[Condition], order: str, paging: Paging) -> list[UUID]:
    """Return the ids of a page of claims, segment by segment: every claim is near the beginning of an index."""
    found: list[UUID] = []
    offset = paging.offset
    for segment, query in _build_queries(conditions, order):
        ids = list(session.execute(query.limit(paging.limit - len(found)).offset(offset)).scalars())
        found += ids
        if len(found) == paging.limit:
            break
        if not ids and offset:
            offset -= session.count_rows(Claim, *conditions, *segment.conditions)
        else:
            offset = 0
    return found


def fetch_matches(session: ScopedSession, conditions: Sequence[Condition], order: str, paging: Paging) -> list[UUID]:
    """Like `fetch_page`, for conditions that find few claims by themselves, or go through all of them."""
    query = sa.select(_id).where(*conditions).order_by(*build_sort_keys(order))
    return list(session.execute(query.limit(paging.limit).offset(paging.offset)).scalars())


def build_first(conditions: Sequence[Condition], *columns: Any) -> Iterator[AnySelect]:
    """Yield queries of the most urgent claim, to be asked in turn until one answers."""
    for _, query in _build_queries(conditions, "urgent", *columns):
        yield query.limit(1)


def _build_queries(conditions: Sequence[Condition], order: str, *columns: Any) -> Iterator[tuple[Segment, AnySelect]]:
    for segment in ORDERINGS[order].segments:
        query: AnySelect = sa.select(*(columns or (_id,))).where(*conditions, *segment.conditions)
        yield segment, query.order_by(*segment.order)


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
    referred_to: str | None
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
    fetch = fetch_matches if criteria.search else fetch_page
    conditions = build_conditions(criteria if policy_ids is None else replace(criteria, search=None))
    if policy_ids is not None and criteria.search:
        conditions.append(build_search_condition(Claim, criteria.search, policy_ids))
    page = fetch(session, conditions, order, paging)
    rows_by_id = {row.id: _row(row) for row in session.execute(_build_row_query().where(col(Claim.id).in_(page)))}
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
    return (
        sa.select(
            *(col(getattr(Claim, name)) for name in names),
            _get_submitted("incident_type").label("incident"),
            shares_account.label("shares"),
            claim_reserves.build_reserve_column().label("outstanding"),
            _build_referred_column().label("referred_to"),
            col(Policy.policy_number),
            col(Staff.name).label("officer"),
        )
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .outerjoin(Staff, col(Staff.id) == col(Claim.assigned_to))
    )


def _build_referred_column() -> Any:
    """Return the status to which a supervisor is asked to move a claim; null where nothing is asked."""
    query = sa.select(sa.func.max(col(ClaimReferral.to_status))).where(
        col(ClaimReferral.claim_id) == col(Claim.id),
        col(ClaimReferral.closed_at).is_(None),
        col(ClaimReferral.asks_role) == claim_states.AskedRole.SUPERVISOR,
    )
    return query.correlate(Claim).scalar_subquery()


def _row(row: Any) -> QueueRow:
    flags = {*row.flags, *(["same_account"] if row.shares else [])}
    return build_row(
        QueueRow,
        row,
        reference=submitted.format_reference(row.id),
        claimant=f"{row.claim_owner_first_name} {row.claim_owner_last_name}",
        email=row.claim_owner_email,
        phone=row.claim_owner_phone_number,
        incident_on=row.incident_date,
        status=row.claim_status,
        claimed_minor=row.claim_amount_minor,
        offered_minor=row.offer_amount_minor,
        outstanding_minor=row.outstanding,
        lodged_at=row.created_at,
        clock=claim_clock.compute_from_stored(row.created_at, row.clock_from, row.clock_stopped_at, row.claim_status),
        fraud_flags=tuple(name for name in submitted.FLAG_DESCRIPTIONS if name in flags),
    )


_LODGED, _STOPPED, _STATUS = col(Claim.created_at), col(Claim.clock_stopped_at), col(Claim.claim_status)
# The same short reference as `requirements` formats, in SQL.
_REFERENCE = sa.literal_column("'C-'", sa.String) + sa.func.upper(sa.func.substr(print_id(col(Claim.id)), 29))
_DECIDED_AT = sa.case((_STATUS.in_(sorted(claim_states.DECIDED)), _STOPPED))
_CLOCK = (_LODGED, col(Claim.clock_from), _STOPPED, _STATUS)
_CLAIMANT = listing.concatenate(" ", col(Claim.claim_owner_first_name), col(Claim.claim_owner_last_name))


def _get_submitted(name: str) -> Any:
    return sa.func.coalesce(*(col(getattr(Claim, meta))[name].as_string() for meta in META_COLUMNS))


def _find_first(*statuses: ClaimStatus) -> Any:
    query = sa.select(sa.func.min(col(ClaimEvent.created_at))).where(
        col(ClaimEvent.claim_id) == col(Claim.id), col(ClaimEvent.status).in_(statuses)
    )
    return query.correlate(Claim).scalar_subquery()


def _of_clock(name: str) -> Derived:
    def work_out(_: Context, *stored: Any) -> Any:
        found = claim_clock.compute_from_stored(*stored)
        days = {"age": found.age_days, "elapsed": found.elapsed.days, "left": found.days_left}
        return None if name == "left" and found.is_decided else days[name]

    return Derived(_CLOCK, work_out, is_cached=False)


def _orders(*names: str) -> tuple[Order, ...]:
    """Return both orders of a header: the one that its first click gives, and the other way round."""
    found = ((name, ORDERINGS[name]) for name in names)
    return tuple(Order(name, each.label, build_sort_keys(name), each.is_descending) for name, each in found)


def _read_day(row: QueueRow) -> date | None:
    try:
        return date.fromisoformat(row.incident_on or "")
    except ValueError:
        return None


_BY_TIME = _orders("newest", "oldest")
_CLOCK_ORDERS = _orders("urgent", "relaxed")
_OUTSTANDING = claim_reserves.build_reserve_column()
CLAIMS: Listing[ClaimFilter] = Listing(
    name="claims",
    title="Claims",
    noun=("claim", "claims"),
    roles=("claims", "supervisor"),
    filter=ClaimFilter,
    key=col(Claim.id),
    usual=("claimant", "left", "status", "incident", "claimed", "signals", "officer", "reference"),
    usual_order="urgent",
    row_type=QueueRow,
    columns={
        "id": Column("Whole reference", ID, col(Claim.id)),
        "reference": Column("Reference", TEXT, _REFERENCE, width=100),
        "created_at": Column("Lodged at", INSTANT, _LODGED, of="lodged_at"),
        "lodged": Column("Lodged", DAY, _LODGED, of="lodged_at", machine="created_on", orders=_BY_TIME),
        "policy": replace(listing.policy_number(width=170)["policy"], of="policy_number"),
        "type": Column("Type", TEXT, col(Claim.claim_type), of="claim_type", machine="claim_type", width=85),
        "status": Column("Status", STATE, _STATUS),
        "incident": Column("Incident", TEXT, _get_submitted("incident_type"), machine="incident_type", width=115),
        "happened": Column("Incident on", DATE, col(Claim.incident_date), of=_read_day, machine="incident_date"),
        "claimed": Column(
            *("Claimed", MONEY, col(Claim.claim_amount_minor)),
            of=lambda row: row.claimed_minor or None,
            machine="claim_amount",
            says="Of a loan what is owed, set when the review begins; until then nothing",
            orders=_orders("largest", "smallest"),
        ),
        "estimate_amount": Column("Estimate", MONEY, col(Claim.estimate_amount_minor)),
        "repair_estimate": Column("Repair estimate", MONEY, col(Claim.repair_estimate_minor)),
        "approved_amount": Column("Approved", MONEY, col(Claim.approved_amount_minor)),
        "excess_deduction_amount": Column("Excess", MONEY, col(Claim.excess_deduction_amount_minor)),
        "betterment_deduction_amount": Column("Betterment", MONEY, col(Claim.betterment_deduction_amount_minor)),
        "offered": Column(
            *("Offered", MONEY, col(Claim.offer_amount_minor)),
            of=lambda row: row.offered_minor or None,
            machine="offer_amount",
            orders=_orders("highest-offer", "lowest-offer"),
        ),
        "paid_amount": Column("Paid", MONEY, claim_payments.build_paid_column()),
        "reserve": Column(
            *("Outstanding", MONEY, _OUTSTANDING),
            of=lambda row: row.outstanding_minor or None,
            machine="outstanding_amount",
            says="The reserve: what is expected to be paid still",
        ),
        "incurred_amount": Column(
            "Incurred", MONEY, claim_payments.build_paid_column() + claim_reserves.build_reserve_column()
        ),
        "decided_at": Column("Decided", INSTANT, _DECIDED_AT),
        "decided_on": Column("Decided on", DAY, _DECIDED_AT),
        "first_viewed_at": Column("First viewed", INSTANT, _find_first(ClaimStatus.VIEWED)),
        "first_decided_at": Column("First decided", INSTANT, _find_first(ClaimStatus.APPROVED, ClaimStatus.DECLINED)),
        "first_paid_at": Column("First paid", INSTANT, _find_first(ClaimStatus.PAID)),
        "age": Column(
            *("Age, days", COUNT, _of_clock("age")),
            of="clock.age_days",
            machine="days",
            orders=tuple(replace(order, is_descending=not order.is_descending) for order in _BY_TIME),
        ),
        "days_counted": Column("Days counted", COUNT, _of_clock("elapsed"), of="clock.elapsed.days"),
        "left": Column(
            *("Days left", COUNT, _of_clock("left")),
            of="clock.days_left",
            machine="days_left",
            says=f"Of the {STATUTORY_PERIOD.days} days from lodging to Paid or Declined. They stand still while the"
            " claimant has to act",
            orders=_CLOCK_ORDERS,
        ),
        "decline_reason": Column("Reason", TEXT, sa.func.nullif(col(Claim.decline_reason), NOT_DECLINED)),
        "payment_reference": Column("Payment reference", TEXT, col(Claim.payment_reference)),
        "claimant": Column(
            *("Claimant", TEXT, _CLAIMANT),
            machine="claimant_name",
            width=160,
            orders=_orders("claimant", "claimant-back"),
        ),
        "email": Column("E-mail", EMAIL, col(Claim.claim_owner_email), machine="claimant_email", width=190),
        "phone": Column("Phone", PHONE, col(Claim.claim_owner_phone_number), machine="claimant_phone", width=130),
        "claimant_account": Column("Account", MASKED, _get_submitted("account_number")),
        "officer": Column("Assigned to", TEXT, col(Staff.email), machine="assigned_to", width=110, empty="Nobody"),
        "referred": Column(
            *("Referred for", STATE, _build_referred_column()),
            of="referred_to",
            machine="referred_to",
            width=100,
            says="The status to which a supervisor is asked to move it",
        ),
        **listing.sale_names(Claim),
        **listing.mode_column(),
        "signals": Column(
            *("Signals", COUNT),
            of=lambda row: len(row.fraud_flags) or None,
            says="What an officer should look twice at",
        ),
        "why": Column(
            *("What to look at", TEXT),
            of=lambda row: "; ".join(FLAG_DESCRIPTIONS[name] for name in row.fraud_flags),
            width=260,
        ),
    },
    rows=lambda columns, criteria, _: _join(columns).where(*build_conditions(criteria)),
    count=lambda session, criteria: totals.get_totals(session, criteria).count,
    summed=col(Claim.claim_amount_minor),
    sum_title="Amount claimed",
)


def _join(columns: Sequence[Any]) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Claim)
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .outerjoin(Staff, col(Staff.id) == col(Claim.assigned_to))
    )


_PAYER = orm.aliased(Staff)


def _payment_rows(columns: Sequence[Any], criteria: ClaimFilter, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(ClaimPayment)
        .join(Claim, col(Claim.id) == col(ClaimPayment.claim_id))
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .join(Transfer, col(Transfer.id) == col(ClaimPayment.transfer_id))
        .outerjoin(PaymentPayee, col(PaymentPayee.id) == col(ClaimPayment.payee_id))
        .outerjoin(_PAYER, col(_PAYER.id) == col(ClaimPayment.paid_by))
        .where(*build_conditions(criteria))
        .order_by(col(ClaimPayment.created_at).desc(), col(ClaimPayment.id).desc())
    )


# One line for each payment and each that came back.
CLAIM_PAYMENTS: Listing[ClaimFilter] = Listing(
    name="claim-payments",
    title="Payments of claims",
    noun=("payment", "payments"),
    roles=("claims", "supervisor", "finance"),
    filter=ClaimFilter,
    columns={
        "id": Column("Payment", ID, col(ClaimPayment.id)),
        "created_at": Column("Recorded", INSTANT, col(ClaimPayment.created_at)),
        "claim_id": Column("Claim", ID, col(Claim.id)),
        "policy_number": Column("Policy number", TEXT, col(Policy.policy_number)),
        "claim_type": Column("Type", TEXT, col(Claim.claim_type)),
        "status": Column("Status", STATE, _STATUS),
        "amount": Column("Amount", SIGNED_MONEY, col(ClaimPayment.amount_minor)),
        "reference": Column("Bank reference", TEXT, col(Transfer.reference)),
        "method": Column("Method", TEXT, col(ClaimPayment.method)),
        "value_date": Column("Value date", DATE, sa.cast(col(ClaimPayment.value_on), sa.String)),
        "payee": Column("Payee", TEXT, col(PaymentPayee.name)),
        "payee_bank": Column("Payee's bank", TEXT, col(PaymentPayee.bank_name)),
        "payee_account": Column("Payee's account", MASKED, col(PaymentPayee.hint)),
        "paid_by": Column("Paid by", TEXT, col(_PAYER.email)),
        "reverses": Column("Returns", ID, col(ClaimPayment.reverses)),
        **listing.sale_names(Claim),
        **listing.mode_column(),
    },
    rows=_payment_rows,
    count=lambda session, criteria: totals.get_totals(session, criteria).payments,
    summed=col(ClaimPayment.amount_minor),
    sum_title="Paid",
    usual_order="",
)
