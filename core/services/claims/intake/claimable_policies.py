"""Policies on which a claim can be lodged, found by number or by anything that a caller says (contract C2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import Any, Final
from uuid import UUID

from sqlmodel import col

from core import clock
from core.covers.claims import lines
from core.covers.claims.line import ClaimLine
from core.covers.credit_life import CREDIT_LIFE
from core.errors import InvalidInput
from core.services.claims.intake import lodging
from core.services.claims.intake.new_claims import CreditLifeDeskRequest
from core.services.claims.review import fraud_flags
from core.services.claims.workflow import payments as claim_payments
from core.services.lists.filters.fields import Condition
from core.services.policies import certificates, policies
from core.services.sales import filter as sales_filter
from core.store.access import ScopedSession
from core.store.schema.tables import Distributor, Policy, Product, Provider

MAX_POLICIES: Final = 10
# A certificate says more of the thing insured than a caller is asked.
_MOST_INSURED: Final = 4
_ENDPOINTS: Final = ((CREDIT_LIFE.prefix, CREDIT_LIFE.route), *lines.list_endpoints())


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimablePolicy:
    """A policy with the facts a claim starts from; the loan is as insured, in naira, `line` None for credit life.

    `known` are fields of the claim's request that the policy answers already: plate, traveller, device, phone.
    """

    id: UUID
    number: str
    product_id: UUID
    distributor_id: UUID
    distributor: str
    provider: str
    holder: str
    email: str
    phone: str | None
    known: Mapping[str, str]
    stage: str
    cover: Sequence[tuple[str, str]]
    line: ClaimLine | None
    incidents: Sequence[str]
    product: str
    insured_minor: int | None
    benefits: Sequence[str]
    loan_amount: Decimal | None
    loan_start_on: date | None
    loan_end_on: date | None


def find_policies(session: ScopedSession, text: str) -> list[ClaimablePolicy]:
    """Find policies in the session's mode by number; without one, by any part of a number, plate, name or phone.

    At most 10, the newest first; none for a text that cannot be searched.
    """
    if not text.strip():
        return []
    if found := _list(session, lodging.has_number(text)):
        return found
    try:
        return _list(session, col(Policy.id).in_(sales_filter.select_policies(Policy.id, text)))
    except InvalidInput:
        return []


def _list(session: ScopedSession, condition: Condition) -> list[ClaimablePolicy]:
    query = lodging.build_policy_query(condition, _ENDPOINTS).add_columns(
        col(Distributor.business_name), col(Provider.company_name), col(Product.name).label("product")
    )
    query = query.where(col(Policy.policy_number).is_not(None))
    query = query.join(Distributor, col(Distributor.id) == col(Policy.distributor_id))
    query = query.join(Provider, col(Provider.id) == col(Policy.provider_id)).limit(MAX_POLICIES)
    return [_claimable(row) for row in session.execute(query)]


def _claimable(row: Any) -> ClaimablePolicy:
    policy, submitted = row.Policy, row.Policy.submitted
    first, last = fraud_flags.get_cover_days(policy)
    start, line = submitted.get("loan_start_date"), lines.get_line_of((row.prefix, row.route_name))
    starts_on = date.fromisoformat(start[:10]) if start else first
    tenure = submitted.get("loan_tenure")
    holder = f"{policy.first_name} {policy.last_name}"
    insured = certificates.list_certificate_lines(submitted)
    phone = submitted.get("phone_number") or submitted.get("phone")
    return ClaimablePolicy(
        id=policy.id,
        number=policy.policy_number,
        product_id=policy.product_id,
        distributor_id=policy.distributor_id,
        distributor=row.business_name,
        provider=row.company_name,
        holder=holder,
        email=policy.email,
        phone=phone,
        known=_list_known(line, submitted, holder, phone),
        stage=policies.get_stage(policy),
        cover=[
            *islice(insured, _MOST_INSURED),
            *fraud_flags.describe_cover(policy),
        ],
        line=line,
        incidents=sorted(line.covers[row.prefix, row.route_name]) if line else (),
        product=row.product,
        insured_minor=claim_payments.insured_minor(policy),
        benefits=submitted.get("benefit_coverage", ()),
        loan_amount=Decimal(str(submitted["loan_amount"])) if submitted.get("loan_amount") else None,
        loan_start_on=starts_on,
        loan_end_on=clock.add_months(starts_on, int(tenure)) if starts_on and tenure else last,
    )


def _list_known(
    line: ClaimLine | None, submitted: Mapping[str, Any], holder: str, phone: str | None
) -> Mapping[str, str]:
    """Return what of the claim's request the policy answers already."""
    found = {
        "registration_number": submitted.get("registration_number") or submitted.get("vehicle_registration_number"),
        "traveller_name": holder,
        "injured_person": holder,
        "incident_country": submitted.get("destination"),
        "device_serial_number": submitted.get("device_serial_number"),
        "claimant_phone_number": phone,
    }
    fields = (line.request if line else CreditLifeDeskRequest).model_fields
    return {name: str(value) for name, value in found.items() if value and name in fields}
