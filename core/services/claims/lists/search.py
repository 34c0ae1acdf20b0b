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
from core.services.claims.workflow.clock import ALLOWED, DECIDED, NEAR
from core.services.filters import Span
from core.services.selling import numbering
from core.store.schema.tables import Claim, Customer, Policy

_ANY_TIME: Final = Span()
Unassigned = Literal["nobody"]
NOBODY: Final = "nobody"
# A claim's short reference, as formatted in `requirements`.
_REFERENCE: Final = re.compile(r"[Cc]-[0-9a-fA-F]{8}")
Stage = Literal["open", "unsettled", "near", "overdue", "waiting"]


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimFilter:
    """Filter of claims; amounts in naira, `incident` spans days, names and similar texts ignore case.

    `search` is a claim's id or reference, a policy number, or any part of the claimant's name, e-mail or phone.
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


def conditions_of(wanted: ClaimFilter) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of a filter on claims."""
    equal = (
        (Claim.claim_status, wanted.status),
        (Claim.customer_id, wanted.customer_id),
        (Claim.policy_id, wanted.policy_id),
        (Claim.claim_amount_minor, _minor(wanted.claim_amount)),
        (Claim.offer_amount_minor, _minor(wanted.offer_amount)),
        (Claim.repair_estimate_minor, _minor(wanted.repair_estimate)),
    )
    return [
        col(Claim.deleted_at).is_(None),
        *wanted.created.on(col(Claim.created_at)),
        *_on_days(wanted.incident),
        *(col(column) == value for column, value in equal if value is not None),
        *_on_people(wanted),
        *_of_desk(wanted),
    ]


def _of_desk(wanted: ClaimFilter) -> list[sa.ColumnElement[bool]]:
    """Return the conditions of the desk-only fields, which the API search does not have."""
    conditions: list[sa.ColumnElement[bool]] = []
    if wanted.statuses:
        conditions.append(col(Claim.claim_status).in_(wanted.statuses))
    if wanted.claim_types:
        conditions.append(sa.or_(*(_same(Claim.claim_type, text) for text in wanted.claim_types)))
    if wanted.distributor_ids:
        conditions.append(col(Claim.distributor_id).in_(wanted.distributor_ids))
    if wanted.assigned_to:
        free = wanted.assigned_to == NOBODY
        conditions.append(col(Claim.assigned_to).is_(None) if free else col(Claim.assigned_to) == wanted.assigned_to)
    if wanted.search:
        conditions.append(_found(wanted.search.strip()))
    if wanted.stage:
        conditions.append(in_stage(wanted.stage))
    if wanted.decline_reasons:
        conditions.append(col(Claim.decline_reason).in_(wanted.decline_reasons))
    if wanted.decided:
        conditions += [~_OPEN, *wanted.decided.on(col(Claim.clock_stopped_at))]
    return conditions


def in_stage(stage: Stage) -> sa.ColumnElement[bool]:
    """Return the condition of a stage (contract C9).

    `open`: not decided. `unsettled`: neither declined nor settled. `waiting`: open, with the clock stopped for the
    claimant. `overdue`: clock running, more than 60 days elapsed. `near`: clock running, at most 7 days left or
    overdue.
    """
    if stage == "open":
        return _OPEN
    if stage == "unsettled":
        return col(Claim.claim_status).not_in(("Declined", "Settled"))
    if stage == "waiting":
        return sa.and_(col(Claim.clock_stopped_at).is_not(None), _OPEN)
    ran = ALLOWED - NEAR if stage == "near" else ALLOWED
    since = col(Claim.clock_from) <= clock.now() - ran if stage == "near" else col(Claim.clock_from) < clock.now() - ran
    return sa.and_(col(Claim.clock_stopped_at).is_(None), since)


_OPEN: Final = col(Claim.claim_status).not_in(sorted(DECIDED))


def _found(text: str) -> sa.ColumnElement[bool]:
    try:
        return col(Claim.id) == ids.parse(text.lower())
    except InvalidInput:
        if _REFERENCE.fullmatch(text):
            return sa.func.lower(sa.cast(col(Claim.id), sa.String)).like(f"%{text[2:].lower()}")
    numbered = sa.select(col(Policy.id)).where(col(Policy.number_key) == numbering.key(text))
    # Concatenated so that lower() runs once; a typed text holds no newline, so no match spans two parts.
    name = col(Claim.claim_owner_first_name) + " " + col(Claim.claim_owner_last_name)
    searched = name + "\n" + col(Claim.claim_owner_email) + "\n" + sa.func.coalesce(Claim.claim_owner_phone_number, "")
    return sa.or_(filters.mentions(searched, text), col(Claim.policy_id).in_(numbered))


def _minor(amount: Decimal | None) -> int | None:
    return None if amount is None else money.to_minor(amount)


def _on_days(span: Span) -> list[sa.ColumnElement[bool]]:
    """Return the incident conditions; incident dates are stored as ISO text, which sorts like dates."""
    return Span(_text(span.start), _text(span.end)).on(col(Claim.incident_date))  # type: ignore[arg-type]


def _text(instant: datetime | None) -> str | None:
    if instant is None:
        return None
    return instant.date().isoformat() if instant == clock.midnight(instant.date()) else instant.isoformat()


def _on_people(wanted: ClaimFilter) -> list[sa.ColumnElement[bool]]:
    conditions = [
        sa.or_(_same(on_claim, text), _of_customer(_same(on_customer, text)))
        for on_claim, on_customer, text in (
            (Claim.claim_owner_first_name, Customer.first_name, wanted.first_name),
            (Claim.claim_owner_last_name, Customer.last_name, wanted.last_name),
            (Claim.claim_owner_phone_number, Customer.phone_number, wanted.phone_number),
        )
        if text
    ]
    if wanted.customer_email:
        conditions.append(_of_customer(col(Customer.email_key) == wanted.customer_email.lower()))
    if wanted.claim_type:
        conditions.append(_same(Claim.claim_type, wanted.claim_type))
    if wanted.claim_owner:
        name = col(Claim.claim_owner_first_name) + " " + col(Claim.claim_owner_last_name)
        pattern = filters.containing(wanted.claim_owner)
        conditions.append(
            sa.or_(*(sa.func.lower(part).like(pattern, escape="\\") for part in (col(Claim.claim_owner), name)))
        )
    return conditions


def _same(column: Any, text: str) -> sa.ColumnElement[bool]:
    # SQLite's lower() handles only ASCII, so a name with accents is also compared unchanged.
    return sa.or_(sa.func.lower(column) == text.lower(), col(column) == text)


def _of_customer(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return col(Claim.customer_id).in_(sa.select(col(Customer.id)).where(condition))
