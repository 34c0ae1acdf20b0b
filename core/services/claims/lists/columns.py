"""The list of claims, and that of what was paid on them: their columns and orders (contract A4)."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import date, datetime
from typing import Any

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core import clock
from core.services.claims.intake.requirements import FLAG_DESCRIPTIONS, NOT_DECLINED
from core.services.claims.intake.submitted import META_COLUMNS
from core.services.claims.lists import queue, totals
from core.services.claims.lists.filter import ClaimFilter, build_conditions
from core.services.claims.lists.queue import QueueRow
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import reserves as claim_reserves
from core.services.claims.workflow.clock import STATUTORY_PERIOD, Clock
from core.services.lists.columns import (
    Column,
    Context,
    Derived,
    Order,
    concatenate,
    mode_column,
    policy_number,
    sale_names,
)
from core.services.lists.dimensions import Choices
from core.services.lists.listing import Listing
from core.services.lists.spreadsheets import (
    COUNT,
    DATE,
    DAY,
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
from core.store.access import AnySelect
from core.store.expressions import print_id
from core.store.schema.tables import Claim, ClaimEvent, ClaimPayment, PaymentPayee, Policy, Staff, Transfer

_LODGED, _STOPPED, _STATUS = col(Claim.created_at), col(Claim.clock_stopped_at), col(Claim.claim_status)
# The same short reference as `requirements` formats, in SQL.
_REFERENCE = sa.literal_column("'C-'", sa.String) + sa.func.upper(sa.func.substr(print_id(col(Claim.id)), 29))
_DECIDED = sa.case((_STATUS.in_(sorted(claim_states.DECIDED)), _STOPPED))
_CLOCK = (_LODGED, col(Claim.clock_from), _STOPPED, _STATUS)
_CLAIMANT = concatenate(" ", col(Claim.claim_owner_first_name), col(Claim.claim_owner_last_name))


def _get_submitted(name: str) -> Any:
    """Return a submitted fact of the incident, whichever type of claim it is."""
    return sa.func.coalesce(*(col(getattr(Claim, meta))[name].as_string() for meta in META_COLUMNS))


def _find_first(*statuses: ClaimStatus) -> Any:
    """Return when a claim first came to one of these statuses."""
    query = sa.select(sa.func.min(col(ClaimEvent.created_at))).where(
        col(ClaimEvent.claim_id) == col(Claim.id), col(ClaimEvent.status).in_(statuses)
    )
    return query.correlate(Claim).scalar_subquery()


def _compute_clock(lodged_at: datetime, begins_at: datetime, stopped_at: datetime | None, status: str) -> Clock:
    return claim_clock.compute_from_stored(
        lodged_at=lodged_at, begins_at=begins_at, stopped_at=stopped_at, status=status, now=clock.now()
    )


def _of_clock(name: str) -> Derived:
    def work_out(_: Context, *stored: Any) -> Any:
        found = _compute_clock(*stored)
        days = {"age": found.age_days, "elapsed": found.elapsed.days, "left": found.days_left}
        return None if name == "left" and found.is_decided else days[name]

    return Derived(_CLOCK, work_out, is_cached=False)


def _orders(first: str, second: str) -> tuple[Order, Order]:
    """Return both orders of a header: the one that its first click gives, and the other way round."""
    one, other = (Order(name, queue.LABELS[name], queue.build_sort_keys(name)) for name in (first, second))
    return replace(one, is_descending=first in queue.DESCENDING), replace(
        other, is_descending=second in queue.DESCENDING
    )


def _read_day(row: QueueRow) -> date | None:
    try:
        return date.fromisoformat(row.incident_on or "")
    except ValueError:
        return None


_BY_TIME = _orders("newest", "oldest")
_BY_CLOCK = _orders("urgent", "relaxed")
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
        "policy": replace(policy_number(width=170)["policy"], of="policy_number"),
        "type": Column("Type", TEXT, col(Claim.claim_type), of="claim_type", machine="claim_type", width=85),
        "status": Column("Status", STATE, _STATUS),
        "incident": Column("Incident", TEXT, _get_submitted("incident_type"), machine="incident_type", width=115),
        "happened": Column("Incident on", DATE, col(Claim.incident_date), of=_read_day, machine="incident_date"),
        "claimed": Column(
            *("Claimed", MONEY, col(Claim.claim_amount_minor)),
            of=lambda row: row.claimed_minor or None,
            machine="claim_amount",
            says="Set when the review begins; until then nothing",
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
        "paid_amount": Column("Paid", MONEY, claim_payments.of_each()),
        "reserve": Column(
            *("Outstanding", MONEY, _OUTSTANDING),
            of=lambda row: row.outstanding_minor or None,
            machine="outstanding_amount",
            says="The reserve: what is expected to be paid still",
        ),
        "incurred_amount": Column("Incurred", MONEY, claim_payments.of_each() + claim_reserves.build_reserve_column()),
        "decided_at": Column("Decided", INSTANT, _DECIDED),
        "decided_on": Column("Decided on", DAY, _DECIDED),
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
            orders=_BY_CLOCK,
        ),
        "decline_reason": Column("Reason", TEXT, sa.func.nullif(col(Claim.decline_reason), NOT_DECLINED)),
        "payment_reference": Column("Payment reference", TEXT, col(Claim.payment_reference)),
        "claimant": Column(
            *("Claimant", TEXT, _CLAIMANT),
            machine="claimant_name",
            width=160,
            orders=_orders("claimant", "claimant-back"),
        ),
        "email": Column("E-mail", TEXT, col(Claim.claim_owner_email), machine="claimant_email", width=190),
        "phone": Column("Phone", PHONE, col(Claim.claim_owner_phone_number), machine="claimant_phone", width=130),
        "claimant_account": Column("Account", MASKED, _get_submitted("account_number")),
        "officer": Column("Assigned to", TEXT, col(Staff.email), machine="assigned_to", width=110, empty="Nobody"),
        **sale_names(Claim),
        **mode_column(),
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
        **sale_names(Claim),
        **mode_column(),
    },
    rows=_payment_rows,
    count=lambda session, criteria: totals.get_totals(session, criteria).payments,
    summed=col(ClaimPayment.amount_minor),
    sum_title="Paid",
    usual_order="",
)
