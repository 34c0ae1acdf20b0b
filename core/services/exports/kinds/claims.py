"""Export of claims: amounts, decision and duration; account numbers are masked."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.claims.intake.requirements import NOT_DECLINED
from core.services.claims.intake.submitted import META_COLUMNS
from core.services.claims.lists import orderings
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter, build_conditions
from core.services.claims.workflow import clock as claim_clock
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import reserves as claim_reserves
from core.services.dimensions import Choices
from core.services.exports.column_parts import (
    computed_columns,
    concatenate,
    masked_column,
    mode_columns,
    printed_columns,
    sale_name_columns,
    text_column,
)
from core.services.exports.exports import ExportKind
from core.services.spreadsheets.columns import COUNT, DATE, DAY, ID, INSTANT, MONEY, WORD
from core.states import claims as claim_states
from core.states.claims import ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import print_id
from core.store.schema.tables import Claim, ClaimEvent, Policy, Staff

_STOPPED, _STATUS = col(Claim.clock_stopped_at), col(Claim.claim_status)
# The same short reference as `requirements` formats, in SQL.
_REFERENCE = sa.literal_column("'C-'", sa.String) + sa.func.upper(sa.func.substr(print_id(col(Claim.id)), 29))
_DECIDED = sa.case((_STATUS.in_(sorted(claim_states.DECIDED)), _STOPPED))


def _get_submitted(name: str) -> Any:
    """Return a submitted fact of the incident, whichever type of claim it is."""
    return sa.func.coalesce(*(col(getattr(Claim, meta))[name].as_string() for meta in META_COLUMNS))


def _find_first(*statuses: ClaimStatus) -> Any:
    """Return when a claim first came to one of these statuses."""
    query = sa.select(sa.func.min(col(ClaimEvent.created_at))).where(
        col(ClaimEvent.claim_id) == col(Claim.id), col(ClaimEvent.status).in_(statuses)
    )
    return query.correlate(Claim).scalar_subquery()


def _days(lodged: str, begins: str, stopped: str, status: str) -> list[str]:
    """Return days to the decision or now, days elapsed of the 60, and days left while the claim is open."""
    claim_state = claim_clock.compute_from_stored(
        lodged_at=datetime.fromisoformat(lodged),
        begins_at=datetime.fromisoformat(begins),
        stopped_at=datetime.fromisoformat(stopped) if stopped else None,
        status=status,
        now=clock.now(),
    )
    return [
        str(claim_state.age_days),
        str(claim_state.elapsed.days),
        "" if claim_state.is_decided else str(claim_state.days_left),
    ]


def _rows(columns: Sequence[Any], criteria: ClaimFilter, _: Choices) -> AnySelect:
    return (
        sa.select(*columns)
        .select_from(Claim)
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .outerjoin(Staff, col(Staff.id) == col(Claim.assigned_to))
        .where(*build_conditions(criteria))
    )


def _count(session: ScopedSession, criteria: ClaimFilter) -> int:
    return claim_totals.get_totals(session, criteria).count


def _amounts(*names: str) -> list[tuple[str, Any, Any]]:
    return [(name, MONEY, col(getattr(Claim, f"{name}_minor"))) for name in names]


CLAIMS = ExportKind(
    name="claims",
    title="Claims",
    noun=("claim", "claims"),
    roles=("claims", "supervisor"),
    filter=ClaimFilter,
    parts=(
        printed_columns(
            ("id", ID, col(Claim.id)),
            ("reference", WORD, _REFERENCE),
            ("created_at", INSTANT, col(Claim.created_at)),
            ("created_on", DAY, col(Claim.created_at)),
        ),
        text_column("policy_number", col(Policy.policy_number), width=26),
        text_column("claim_type", col(Claim.claim_type)),
        printed_columns(("status", WORD, _STATUS)),
        text_column("incident_type", _get_submitted("incident_type"), width=22),
        text_column("incident_date", col(Claim.incident_date), column_type=DATE),
        printed_columns(
            *_amounts(
                *("claim_amount", "estimate_amount", "repair_estimate", "approved_amount"),
                *("excess_deduction_amount", "betterment_deduction_amount", "offer_amount"),
            ),
            ("paid_amount", MONEY, claim_payments.of_each()),
            ("outstanding_amount", MONEY, claim_reserves.build_reserve_column()),
            ("incurred_amount", MONEY, claim_payments.of_each() + claim_reserves.build_reserve_column()),
            ("decided_at", INSTANT, _DECIDED),
            ("decided_on", DAY, _DECIDED),
            ("first_viewed_at", INSTANT, _find_first(ClaimStatus.VIEWED)),
            ("first_decided_at", INSTANT, _find_first(ClaimStatus.APPROVED, ClaimStatus.DECLINED)),
            ("first_paid_at", INSTANT, _find_first(ClaimStatus.PAID)),
        ),
        computed_columns(
            [("days", COUNT), ("days_counted", COUNT), ("days_left", COUNT)],
            [(INSTANT, col(Claim.created_at)), (INSTANT, col(Claim.clock_from)), (INSTANT, _STOPPED), (WORD, _STATUS)],
            _days,
        ),
        text_column("decline_reason", sa.func.nullif(col(Claim.decline_reason), NOT_DECLINED), width=20),
        text_column("payment_reference", col(Claim.payment_reference)),
        text_column(
            "claimant_name",
            concatenate(" ", col(Claim.claim_owner_first_name), col(Claim.claim_owner_last_name)),
            width=26,
        ),
        text_column("claimant_email", col(Claim.claim_owner_email), width=30),
        text_column("claimant_phone", col(Claim.claim_owner_phone_number)),
        masked_column("claimant_account", _get_submitted("account_number")),
        text_column("assigned_to", col(Staff.email), width=30),
        sale_name_columns(Claim),
        mode_columns(),
    ),
    rows=_rows,
    count=_count,
    summed=col(Claim.claim_amount_minor),
    sum_title="Amount claimed",
    orders={order: orderings.build_sort_keys(order) for order in orderings.ORDER_NAMES},
    # The signals are worked out for the rows of a page: they are in no file.
    listed={
        "left": ("days_left",),
        "status": ("status",),
        "claimant": ("claimant_name",),
        "incident": ("incident_type",),
        "claimed": ("claim_amount",),
        "signals": (),
        "officer": ("assigned_to",),
        "policy": ("policy_number",),
        "type": ("claim_type",),
        "lodged": ("created_on",),
        "age": ("days",),
        "reference": ("reference",),
        "happened": ("incident_date",),
        "email": ("claimant_email",),
        "phone": ("claimant_phone",),
        "offered": ("offer_amount",),
        "reserve": ("outstanding_amount",),
        "why": (),
    },
)
