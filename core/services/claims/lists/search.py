"""Filters of claims and the SQL conditions they become (contract P4, P6)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.errors import InvalidInput
from core.services import filters
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow.clock import NEAR_DEADLINE, STATUTORY_PERIOD
from core.services.filters import Span
from core.services.policies import numbering
from core.states.claims import DECIDED, ClaimStatus
from core.store.schema.tables import Claim, ClaimPayment, ClaimReferral, Customer, Policy

_ANY_TIME: Final = Span()
Unassigned = Literal["nobody"]
NOBODY: Final = "nobody"
# A claim's short reference, as formatted in `requirements`.
_REFERENCE: Final = re.compile(r"[Cc]-[0-9a-fA-F]{8}")
Stage = Literal["open", "unsettled", "near", "overdue", "waiting", "referred"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimFilter:
    """Filter of claims; amounts in naira, `incident` spans days, names and similar texts ignore case.

    `search` is a claim's id or reference, a payment reference, a policy number, or any part of the claimant's name,
    e-mail or phone.
    `stage` is one of the stages defined below, and `decided` the time of the decision at which the claim stands.
    """

    status: str | None = None
    created: Span = _ANY_TIME
    incident: Span = _ANY_TIME
    customer_id: UUID | None = None
    policy_id: UUID | None = None
    customer_email: str | None = None
    first_name: str | None = None
    last_name: str | None = None
    phone_number: str | None = None
    claim_type: str | None = None
    claim_owner: str | None = None
    claim_amount: Decimal | None = None
    offer_amount: Decimal | None = None
    repair_estimate: Decimal | None = None
    statuses: Sequence[str] = ()
    claim_types: Sequence[str] = ()
    distributor_ids: Sequence[UUID] = ()
    assigned_to: UUID | Unassigned | None = None
    search: str | None = None
    stage: Stage | None = None
    decline_reasons: Sequence[str] = ()
    decided: Span = _ANY_TIME


def build_conditions(criteria: ClaimFilter) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a filter on claims."""
    equal = (
        (Claim.claim_status, criteria.status),
        (Claim.customer_id, criteria.customer_id),
        (Claim.policy_id, criteria.policy_id),
        (Claim.claim_amount_minor, _minor(criteria.claim_amount)),
        (Claim.offer_amount_minor, _minor(criteria.offer_amount)),
        (Claim.repair_estimate_minor, _minor(criteria.repair_estimate)),
    )
    return [
        col(Claim.deleted_at).is_(None),
        *criteria.created.on(col(Claim.created_at)),
        *_build_incident_conditions(criteria.incident),
        *(col(column) == value for column, value in equal if value is not None),
        *_build_person_conditions(criteria),
        *_build_desk_conditions(criteria),
    ]


def _build_desk_conditions(criteria: ClaimFilter) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of the desk-only fields, which the API search does not have."""
    conditions: list[sa.ColumnElement[bool]] = []
    if criteria.statuses:
        conditions.append(col(Claim.claim_status).in_(criteria.statuses))
    if criteria.claim_types:
        conditions.append(sa.or_(*(_equals_ignoring_case(Claim.claim_type, text) for text in criteria.claim_types)))
    if criteria.distributor_ids:
        conditions.append(col(Claim.distributor_id).in_(criteria.distributor_ids))
    if criteria.assigned_to:
        is_unassigned = criteria.assigned_to == NOBODY
        conditions.append(
            col(Claim.assigned_to).is_(None) if is_unassigned else col(Claim.assigned_to) == criteria.assigned_to
        )
    if criteria.search:
        conditions.append(_build_search_condition(criteria.search.strip()))
    if criteria.stage:
        conditions.append(build_stage_condition(criteria.stage))
    if criteria.decline_reasons:
        conditions.append(col(Claim.decline_reason).in_(criteria.decline_reasons))
    if criteria.decided:
        conditions += [~_IS_OPEN, *criteria.decided.on(col(Claim.clock_stopped_at))]
    return conditions


def build_stage_condition(stage: Stage) -> sa.ColumnElement[bool]:
    """Return the condition of a stage (contract C9).

    `open`: not decided. `unsettled`: neither declined nor settled. `waiting`: open, with the clock stopped for the
    claimant. `referred`: a prepared decision waits for a supervisor. `overdue`: clock running, more than 60 days
    elapsed. `near`: clock running, at most 7 days left or overdue.
    """
    if stage == "open":
        return _IS_OPEN
    if stage == "unsettled":
        return col(Claim.claim_status).not_in((ClaimStatus.DECLINED, ClaimStatus.SETTLED))
    if stage == "referred":
        return col(Claim.id).in_(sa.select(col(ClaimReferral.claim_id)).where(col(ClaimReferral.closed_at).is_(None)))
    if stage == "waiting":
        return sa.and_(col(Claim.clock_stopped_at).is_not(None), _IS_OPEN)
    min_elapsed = STATUTORY_PERIOD - NEAR_DEADLINE if stage == "near" else STATUTORY_PERIOD
    since = (
        col(Claim.clock_from) <= clock.now() - min_elapsed
        if stage == "near"
        else col(Claim.clock_from) < clock.now() - min_elapsed
    )
    return sa.and_(col(Claim.clock_stopped_at).is_(None), since)


_IS_OPEN: Final = col(Claim.claim_status).not_in(sorted(DECIDED))


def _build_search_condition(text: str) -> sa.ColumnElement[bool]:
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
        filters.mentions(searched_text, text),
        col(Claim.policy_id).in_(policies_by_number),
        col(Claim.id).in_(paid_by_reference),
    )


def _minor(amount: Decimal | None) -> int | None:
    return None if amount is None else money.to_minor(amount)


def _build_incident_conditions(span: Span) -> list[sa.ColumnElement[bool]]:
    """Return the incident conditions; incident dates are stored as ISO text, which sorts like dates."""
    return Span(_format_incident(span.start), _format_incident(span.end)).on(col(Claim.incident_date))  # type: ignore[arg-type]


def _format_incident(instant: datetime | None) -> str | None:
    if instant is None:
        return None
    return instant.date().isoformat() if instant == clock.midnight(instant.date()) else instant.isoformat()


def _build_person_conditions(criteria: ClaimFilter) -> list[sa.ColumnElement[bool]]:
    conditions = [
        sa.or_(
            _equals_ignoring_case(on_claim, text), _build_customer_condition(_equals_ignoring_case(on_customer, text))
        )
        for on_claim, on_customer, text in (
            (Claim.claim_owner_first_name, Customer.first_name, criteria.first_name),
            (Claim.claim_owner_last_name, Customer.last_name, criteria.last_name),
            (Claim.claim_owner_phone_number, Customer.phone_number, criteria.phone_number),
        )
        if text
    ]
    if criteria.customer_email:
        conditions.append(_build_customer_condition(col(Customer.email_key) == criteria.customer_email.lower()))
    if criteria.claim_type:
        conditions.append(_equals_ignoring_case(Claim.claim_type, criteria.claim_type))
    if criteria.claim_owner:
        name = col(Claim.claim_owner_first_name) + " " + col(Claim.claim_owner_last_name)
        pattern = filters.containing(criteria.claim_owner)
        conditions.append(
            sa.or_(*(sa.func.lower(part).like(pattern, escape="\\") for part in (col(Claim.claim_owner), name)))
        )
    return conditions


def _equals_ignoring_case(column: Any, text: str) -> sa.ColumnElement[bool]:
    # SQLite's lower() handles only ASCII, so a name with accents is also compared unchanged.
    return sa.or_(sa.func.lower(column) == text.lower(), col(column) == text)


def _build_customer_condition(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return col(Claim.customer_id).in_(sa.select(col(Customer.id)).where(condition))
