"""SQL conditions of claims that more than comparing a column takes (contract P4, P6)."""

import re
from collections.abc import Callable, Sequence
from datetime import datetime
from typing import Any, Final, Literal

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.errors import InvalidInput
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow.clock import NEAR_DEADLINE, STATUTORY_PERIOD
from core.services.filters import expressions
from core.services.filters.field import Condition
from core.services.policies import numbering
from core.services.windows import Span
from core.states.claims import DECIDED, AskedRole, ClaimStatus
from core.store.schema.tables import Claim, ClaimPayment, ClaimReferral, Customer, Policy

# A claim's short reference, as formatted in `requirements`.
_REFERENCE: Final = re.compile(r"[Cc]-[0-9a-fA-F]{8}")
Stage = Literal["open", "unsettled", "near", "overdue", "waiting", "referred", "to_pay"]


def build_stage_condition(stage: Stage) -> Condition:
    """Return the condition of a stage (contract C9).

    `open`: not decided. `unsettled`: neither declined nor settled. `waiting`: open, with the clock stopped for the
    claimant. `referred`: a prepared decision waits for a supervisor. `to_pay`: an accepted offer. `overdue`: clock
    running, more than 60 days elapsed. `near`: clock running, at most 7 days left or overdue.
    """
    if stage == "open":
        return _IS_OPEN
    if stage == "unsettled":
        return col(Claim.claim_status).not_in((ClaimStatus.DECLINED, ClaimStatus.SETTLED))
    if stage == "to_pay":
        return col(Claim.claim_status) == ClaimStatus.OFFER_ACCEPTED
    if stage == "referred":
        return _build_referral_condition(AskedRole.SUPERVISOR)
    if stage == "waiting":
        return sa.and_(col(Claim.clock_stopped_at).is_not(None), _IS_OPEN)
    min_elapsed = STATUTORY_PERIOD - NEAR_DEADLINE if stage == "near" else STATUTORY_PERIOD
    since = (
        col(Claim.clock_from) <= clock.now() - min_elapsed
        if stage == "near"
        else col(Claim.clock_from) < clock.now() - min_elapsed
    )
    return sa.and_(col(Claim.clock_stopped_at).is_(None), since)


def _build_referral_condition(asks_role: AskedRole) -> Condition:
    """Return the condition of an open referral to a supervisor, or to finance."""
    query = sa.select(col(ClaimReferral.claim_id)).where(
        col(ClaimReferral.closed_at).is_(None), col(ClaimReferral.asks_role) == asks_role
    )
    return col(Claim.id).in_(query)


_IS_OPEN: Final = col(Claim.claim_status).not_in(sorted(DECIDED))


def build_search_condition(_: Any, text: str) -> Condition:
    """Return the condition of a text: an id or reference, a policy number, or a part of name, e-mail or phone."""
    text = text.strip()
    try:
        return col(Claim.id) == ids.parse(text.lower())
    except InvalidInput:
        if _REFERENCE.fullmatch(text):
            return sa.func.lower(sa.cast(col(Claim.id), sa.String)).like(f"%{text[2:].lower()}")
    policies_by_number = sa.select(col(Policy.id)).where(col(Policy.number_key) == numbering.key(text))
    # Concatenated so that lower() runs once; a typed text holds no newline, so no match spans two parts.
    name = col(Claim.claim_owner_first_name) + " " + col(Claim.claim_owner_last_name)
    searched_text = (
        name + "\n" + col(Claim.claim_owner_email) + "\n" + sa.func.coalesce(Claim.claim_owner_phone_number, "")
    )
    paid_by_reference = sa.select(col(ClaimPayment.claim_id)).where(
        col(ClaimPayment.reference_key) == claim_payments.reference_key(text)
    )
    return sa.or_(
        expressions.mentions(searched_text, text),
        col(Claim.policy_id).in_(policies_by_number),
        col(Claim.id).in_(paid_by_reference),
    )


def build_incident_condition(_: Any, span: Span) -> Condition:
    """Return the condition on the day of the incident, which is stored as ISO text and sorts like a date."""
    return sa.and_(*Span(*map(_format_incident, span.ends)).on(col(Claim.incident_date)))  # type: ignore[arg-type]


def _format_incident(instant: datetime | None) -> str | None:
    if instant is None:
        return None
    return instant.date().isoformat() if instant == clock.midnight(instant.date()) else instant.isoformat()


def build_decision_condition(_: Any, span: Span) -> Condition:
    """Return the condition on the time of the decision at which a claim stands."""
    return sa.and_(~_IS_OPEN, *span.on(col(Claim.clock_stopped_at)))


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
