"""What claims can be narrowed by, and how each narrowing becomes a condition (contract P4, P6)."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services import filters
from core.services.filters import Span
from core.store.tables import Claim, Customer

_ANY_TIME: Final = Span()


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimFilter:
    """The search of claims; amounts in naira, `incident` spans days, names and the like match without case."""

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


def conditions_of(wanted: ClaimFilter) -> list[sa.ColumnElement[bool]]:
    """The conditions of a filter on claims."""
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
    ]


def _minor(amount: Decimal | None) -> int | None:
    return None if amount is None else money.to_minor(amount)


def _on_days(span: Span) -> list[sa.ColumnElement[bool]]:
    """The day of an incident is text: it lies at its midnight, and texts of ISO dates sort as dates do."""
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
    # SQLite folds only ASCII, so a name with accents is also compared as it was written.
    return sa.or_(sa.func.lower(column) == text.lower(), col(column) == text)


def _of_customer(condition: sa.ColumnElement[bool]) -> sa.ColumnElement[bool]:
    return col(Claim.customer_id).in_(sa.select(col(Customer.id)).where(condition))
