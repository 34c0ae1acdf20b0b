"""SQL conditions of claims that more than comparing a column takes (contract P4, P6)."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.services.claims.workflow.clock import NEAR_DEADLINE, STATUTORY_PERIOD
from core.services.customers.customers import has_phone_part, has_words
from core.services.lists.filters import expressions
from core.services.lists.filters.fields import Condition
from core.services.lists.windows import Span
from core.services.sales import filter as sales_filter
from core.services.transfers import reference_key
from core.states.claims import CLOSED, DECIDED, AskedRole, ClaimStatus
from core.store.access import AnySelect
from core.store.expressions import last_digits
from core.store.schema.tables import (
    Approval,
    ApprovalLapse,
    Claim,
    ClaimPayment,
    ClaimReferral,
    Customer,
    Staff,
    Transfer,
)

# A claim's short reference, as formatted in `requirements`, or the beginning of one.
_REFERENCE: Final = re.compile(r"[Cc]-[0-9a-fA-F]{4,8}")
_digits: Final = last_digits(col(Claim.id))
Deadline = Literal["near", "overdue"]
Stage = Literal["open", "unsettled", "near", "overdue", "waiting", "referred", "lapsed", "to_pay"]


def build_stage_condition(stage: Stage) -> Condition:
    """Return the condition of a stage (contract C9).

    `open`: not decided. `unsettled`: neither declined nor settled. `waiting`: open, with the clock stopped for the
    claimant. `referred`: a prepared decision waits for a supervisor. `lapsed`: open, with an approval that does not
    stand any more. `to_pay`: an accepted offer. `overdue`: clock running, more than 60 days elapsed. `near`: clock
    running, at most 7 days left or overdue.
    """
    if stage != "near" and stage != "overdue":  # noqa: PLR1714 - the types of both are told apart by this form
        return _STAGES[stage]()
    latest, clock_from = compute_latest_start(stage), col(Claim.clock_from)
    return sa.and_(
        col(Claim.clock_stopped_at).is_(None), clock_from <= latest if stage == "near" else clock_from < latest
    )


def compute_latest_start(stage: Deadline) -> datetime:
    """Return the instant until which a clock that is near its deadline now began, or before which an overdue one."""
    return clock.now() - (STATUTORY_PERIOD - NEAR_DEADLINE if stage == "near" else STATUTORY_PERIOD)


def _build_referral_condition(asks_role: AskedRole) -> Condition:
    """Return the condition of an open referral to a supervisor, or to finance."""
    query = sa.select(col(ClaimReferral.claim_id)).where(
        col(ClaimReferral.closed_at).is_(None), col(ClaimReferral.asks_role) == asks_role
    )
    return col(Claim.id).in_(query)


def _build_lapsed_condition() -> Condition:
    """Return the condition of an open claim whose approval has lapsed, or whose approver's account is disabled."""
    newer = sa.orm.aliased(Approval)
    is_replaced = sa.exists().where(
        col(newer.subject_id) == col(Approval.subject_id), col(newer.approved_at) > col(Approval.approved_at)
    )
    lapsed = (
        sa.select(col(Approval.subject_id))
        .join(ApprovalLapse, col(ApprovalLapse.approval_id) == col(Approval.id))
        .where(sa.not_(is_replaced))
    )
    left = sa.select(col(Staff.id)).where(col(Staff.disabled_at).is_not(None))
    is_lapsed = sa.or_(col(Claim.id).in_(lapsed), col(Claim.approved_by).in_(left))
    return sa.and_(IS_OPEN, col(Claim.approved_by).is_not(None), is_lapsed)


# As the partial index of unsettled claims has it: a bound value would not match, so the statuses are spelled out.
_IS_UNSETTLED: Final = col(Claim.claim_status).not_in([sa.literal_column(f"'{status}'") for status in sorted(CLOSED)])
IS_OPEN: Final = sa.and_(_IS_UNSETTLED, col(Claim.claim_status).not_in(sorted(DECIDED)))


def build_search_condition(_: Any, text: str, policy_ids: Sequence[UUID] | None = None) -> Condition:
    """Return the condition of a text, whose form decides which indexed columns are searched.

    An id or the beginning of a reference; else a payment reference in full, or a part of a policy number, plate, phone,
    name or e-mail. Who has the policies with such a number or plate already says so.
    """
    bare = " ".join(text.split())
    if _REFERENCE.fullmatch(bare):
        digits = bare[2:].lower()
        # No hexadecimal digit follows g.
        found = sa.select(col(Claim.id)).where(_digits >= digits, _digits < f"{digits}g")
        return col(Claim.id).in_(found.correlate(None))
    kinds = sales_filter.detect_kinds(bare)
    if kinds == ("id",):
        return col(Claim.id) == ids.parse(bare.lower())
    # One query per kind: with OR all claims are walked. Not correlated: it is claims that they narrow.
    return col(Claim.id).in_(
        sa.union_all(*(query.correlate(None) for query in _build_searches(bare, kinds, policy_ids)))
    )


def _build_searches(
    text: str, kinds: Sequence[sales_filter.Kind], policy_ids: Sequence[UUID] | None
) -> Iterator[AnySelect]:
    if of_policy := [kind for kind in kinds if kind in sales_filter.ON_POLICY]:
        found = sales_filter.select_by_kind(text, of_policy) if policy_ids is None else policy_ids
        yield sa.select(col(Claim.id)).where(col(Claim.policy_id).in_(found))
    yield (
        sa.select(col(ClaimPayment.claim_id))
        .join(Transfer, col(Transfer.id) == col(ClaimPayment.transfer_id))
        .where(col(Transfer.reference_key) == reference_key(text))
    )
    if "phone" in kinds:
        yield sa.select(col(Claim.id)).where(has_phone_part(col(Claim.claim_owner_phone_number), text))
    if "e-mail" in kinds:
        is_mentioned = expressions.mentions(col(Claim.claim_owner_email), text)
        yield sa.select(col(Claim.id)).where(is_mentioned, col(Claim.deleted_at).is_(None))
    if "name" in kinds:
        is_named = has_words(col(Claim.claim_owner_name_key), text)
        yield sa.select(col(Claim.id)).where(is_named, col(Claim.deleted_at).is_(None))


def build_incident_condition(_: Any, span: Span) -> Condition:
    """Return the condition on the day of the incident, which is stored as ISO text and sorts like a date."""
    return sa.and_(*Span(*map(_format_incident, span.ends)).on(col(Claim.incident_date)))  # type: ignore[arg-type]


def _format_incident(instant: datetime | None) -> str | None:
    if instant is None:
        return None
    return instant.date().isoformat() if instant == clock.midnight(instant.date()) else instant.isoformat()


def build_decision_condition(_: Any, span: Span) -> Condition:
    """Return the condition on the time of the decision at which a claim stands."""
    return sa.and_(~IS_OPEN, *span.on(col(Claim.clock_stopped_at)))


def build_person_condition(on_claim: Any, on_customer: Any) -> Callable[[Any, str], Condition]:
    """Return the condition of a text that is the claimant's or the customer's."""

    def condition(_: Any, text: str) -> Condition:
        return sa.or_(
            equals_ignoring_case(on_claim, text), _build_customer_condition(equals_ignoring_case(on_customer, text))
        )

    return condition


def build_email_condition(_: Any, email: str) -> Condition:
    """Return the condition on the customer's e-mail."""
    return _build_customer_condition(col(Customer.email_key) == email)


def build_owner_condition(_: Any, text: str) -> Condition:
    """Return the condition that the owner's role or name contains a text."""
    name = col(Claim.claim_owner_first_name) + " " + col(Claim.claim_owner_last_name)
    pattern = expressions.containing(text)
    return sa.or_(*(sa.func.lower(part).like(pattern, escape="\\") for part in (col(Claim.claim_owner), name)))


def build_type_condition(_: Any, types: Sequence[str]) -> Condition:
    """Return the condition of any of several types."""
    return sa.or_(*(equals_ignoring_case(Claim.claim_type, text) for text in types))


def equals_ignoring_case(column: Any, text: str) -> Condition:
    """Return the condition that a column has a text in any case."""
    # SQLite's lower() handles only ASCII, so a name with accents is also compared unchanged.
    return sa.or_(sa.func.lower(column) == text.lower(), col(column) == text)


def _build_customer_condition(condition: Condition) -> Condition:
    return col(Claim.customer_id).in_(sa.select(col(Customer.id)).where(condition))


_STAGES: Final[Mapping[str, Callable[[], Condition]]] = {
    "open": lambda: IS_OPEN,
    "unsettled": lambda: _IS_UNSETTLED,
    "to_pay": lambda: sa.and_(_IS_UNSETTLED, col(Claim.claim_status) == ClaimStatus.OFFER_ACCEPTED),
    "referred": lambda: _build_referral_condition(AskedRole.SUPERVISOR),
    "lapsed": _build_lapsed_condition,
    "waiting": lambda: sa.and_(col(Claim.clock_stopped_at).is_not(None), IS_OPEN),
}
