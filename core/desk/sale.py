"""Detail views of a purchase and of its policy: customer, split of the premium, state, terms, refunds and history."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import reference
from core.desk import pii_reveal
from core.desk.pii_reveal import HIDDEN_PLACEHOLDER, HiddenValue
from core.money import Split
from core.services.audit import log as audit
from core.services.audit import search
from core.services.audit.log import AuditEvent
from core.services.catalogue import for_sale
from core.services.finance.bordereaux import bordereaux as bordereau_reading
from core.services.finance.bordereaux.bordereaux import Reported
from core.services.finance.statements import reading as statement_reading
from core.services.insurers import resending
from core.services.insurers.resending import SubmissionDetail
from core.services.lists.records import certificate_url
from core.services.mail import mail
from core.services.mail.mail import MailLine
from core.services.policies import certificates, policies, refunds
from core.services.policies.policies import Endorsement, PolicyState
from core.services.renewals import renewals as next_terms
from core.services.renewals.renewals import RenewalWindow
from core.services.sales import totals
from core.services.selling.loan_books import records as loan_books
from core.services.selling.loan_books.records import BookLine
from core.states.policies import PolicyAction
from core.store.access import AnySelect, ScopedSession
from core.store.rollups.daily_rollup import ONCE
from core.store.rows import build_row
from core.store.schema.tables import (
    Adjustment,
    Certificate,
    Customer,
    Distributor,
    Policy,
    Product,
    ProductCategory,
    ProductVersion,
    Provider,
    Purchase,
    Refund,
    Renewal,
)

# Shown masked, among what was submitted.
_SERIALS = frozenset({"Chassis number", "Engine number", "Device serial number"})


@dataclass(frozen=True, kw_only=True, slots=True)
class PremiumShare:
    """One party's part of the money, in kobo; `basis_points` of the total, none for what remains.

    `refunded_minor` is what it gave back of that.
    """

    name: str
    amount_minor: int
    basis_points: int | None = None
    refunded_minor: int = 0

    @property
    def net_minor(self) -> int:
        """Amount that the party keeps, in kobo."""
        return self.amount_minor - self.refunded_minor


@dataclass(frozen=True, kw_only=True, slots=True)
class SaleDetail:
    """Everything that the screen of one purchase shows.

    `ended_at` is when its policy was cancelled or declined, as `stage` says; `expiration_at` stays that of the term.
    `refunded_minor` is what went back of this purchase; refunds of later renewals are not in it. `insured` says what is
    covered now, as the certificate does: label and value of each line; `submitted` stays as it was sold.
    """

    id: UUID
    created_at: datetime
    total_minor: int
    premium_shares: Sequence[PremiumShare]
    refunded_minor: int
    product: str
    provider: str
    category: str
    distributor: str
    premium_frequency: str
    payment: Sequence[str]
    request_source: str | None
    policy_id: UUID
    policy_number: str | None
    stage: str
    start_at: datetime | None
    expiration_at: datetime | None
    ended_at: datetime | None
    certificate_url: str | None
    insured: Sequence[tuple[str, str]]
    possible_duplicate_of: UUID | None
    customer_id: UUID
    customer: str
    email: str
    phone: str | None
    place: str | None
    submitted: Mapping[str, Any]
    hidden: Sequence[HiddenValue]
    explained: Sequence[Mapping[str, str]]
    history: Sequence[AuditEvent]


def get_sale(session: ScopedSession, purchase_id: UUID) -> SaleDetail:
    """Return the detail view of a purchase; NotFound when it does not exist in this mode."""
    row = session.find_row(_sale(purchase_id), otherwise="There is no such purchase in this mode")
    sale, policy, customer = row.Purchase, row.Policy, row.Customer
    back = totals.sum_refunds(session, col(Refund.purchase_id) == sale.id, col(Refund.renewal_id).is_(None))
    now_insured = policies.apply(policy.submitted, policies.find_rows(session, policy.id))
    return build_row(
        SaleDetail,
        sale,
        policy,
        premium_shares=_parts(sale, back, row.ProductVersion, row.company_name, row.business_name),
        refunded_minor=back.total_minor,
        product=row.product,
        provider=row.company_name,
        category=row.category,
        distributor=row.business_name,
        premium_frequency=sale.premium_frequency or ONCE,
        payment=[word for word in (sale.payment_option, sale.payment_channel) if word],
        policy_id=policy.id,
        stage=policies.get_stage(policy),
        ended_at=policy.cancelled_at or policy.declined_at,
        certificate_url=certificate_url(policy.certificate_code),
        insured=[
            line
            for line in certificates.list_certificate_lines((row.prefix, row.route_name), now_insured, is_shown=True)
            if line[0] not in _SERIALS
        ],
        customer_id=customer.id,
        customer=f"{policy.first_name} {policy.last_name}",
        place=", ".join(filter(None, (customer.city, customer.state_of_residence))) or None,
        submitted={
            name: _get_lookup_name(name, hide_links(value))
            for name, value in policy.submitted.items()
            if name != "product_id"
        },
        hidden=pii_reveal.list_hidden_values(policy),
        history=_history(session, sale.id, policy.id, product=row.product),
    )


def _sale(purchase_id: UUID) -> AnySelect:
    return (
        sa.select(
            Purchase,
            Policy,
            Customer,
            ProductVersion,
            col(Product.name).label("product"),
            col(Product.prefix),
            col(Product.route_name),
            col(Provider.company_name),
            col(ProductCategory.name).label("category"),
            col(Distributor.business_name),
        )
        .join(Policy, col(Policy.purchase_id) == col(Purchase.id))
        .join(Customer, col(Customer.id) == col(Purchase.customer_id))
        .join(ProductVersion, col(ProductVersion.id) == col(Purchase.product_version_id))
        .join(Product, col(Product.id) == col(Purchase.product_id))
        .join(Provider, col(Provider.id) == col(Purchase.provider_id))
        .join(ProductCategory, col(ProductCategory.id) == col(Purchase.product_category_id))
        .join(Distributor, col(Distributor.id) == col(Purchase.distributor_id))
        .where(col(Purchase.id) == purchase_id, col(Purchase.deleted_at).is_(None))
    )


def _parts(sale: Purchase, back: Split, version: ProductVersion, provider: str, distributor: str) -> list[PremiumShare]:
    rest = sale.total_minor - sale.mca_profit_minor - sale.distributor_profit_minor
    return [
        PremiumShare(name=f"{provider} (insurer)", amount_minor=rest, refunded_minor=back.provider_share_minor),
        PremiumShare(
            name="Platform commission",
            amount_minor=sale.mca_profit_minor,
            basis_points=version.mca_commission_bp,
            refunded_minor=back.mca_profit_minor,
        ),
        PremiumShare(
            name=f"{distributor} (distributor)",
            amount_minor=sale.distributor_profit_minor,
            basis_points=version.distributor_commission_bp,
            refunded_minor=back.distributor_profit_minor,
        ),
    ]


def hide_links(value: object) -> Any:
    """Return a submitted value with links hidden: pictures and papers of a person are not linked (contract A3)."""
    if isinstance(value, str) and value.startswith(("http://", "https://")):
        return HIDDEN_PLACEHOLDER
    if isinstance(value, list):
        return [hide_links(part) for part in value]
    return {name: hide_links(part) for name, part in value.items()} if isinstance(value, dict) else value


def _get_lookup_name(field: str, value: object) -> Any:
    """Return the name behind an id of the vehicle lookups, which some insurers require (contract S14)."""
    lookup = {"vehicle_make": reference.find_make_by_id, "vehicle_model": reference.find_model_by_id}.get(field)
    found = lookup(value) if lookup and isinstance(value, str) else None
    return found.name if found else value


def _history(session: ScopedSession, purchase_id: UUID, policy_id: UUID, *, product: str) -> list[AuditEvent]:
    """Load the audit events of a sale; a product id in them is replaced by the product's name."""
    entries = [
        entry
        for kind, key in (("purchase", purchase_id), ("policy", policy_id))
        for entry in audit.list_history(session, audit.subject_of(kind, key))
    ]
    entries.sort(key=lambda entry: entry.created_at)
    names = search.get_actor_names(session, {entry.actor for entry in entries})
    events = []
    for entry in entries:
        facts = dict(entry.after or {})
        if facts.pop("product_id", None):
            facts = {"product": product, **facts}
        event = build_row(AuditEvent, entry, at=entry.created_at, facts=facts, actor_name=names[entry.actor])
        events.append(event)
    return events


@dataclass(frozen=True, kw_only=True, slots=True)
class Papers:
    """The statements (id, number, party, month) and premium bordereaux of movements, and how many none has."""

    statements: list[tuple[UUID, str, str, date]]
    bordereaux: list[Reported]
    unreported: int


def list_of_policy(session: ScopedSession, policy_id: UUID) -> Papers:
    """Return the papers that hold the movements of a policy."""
    return list_papers(session, _list_movement_ids(session, policy_id))


def list_papers(session: ScopedSession, movement_ids: Sequence[UUID]) -> Papers:
    """Return the papers that hold some movements."""
    return Papers(
        statements=statement_reading.list_of_policy(session, movement_ids),
        bordereaux=bordereau_reading.list_of_policy(session, movement_ids),
        unreported=len(movement_ids) - bordereau_reading.count_reported(session, movement_ids),
    )


def _list_movement_ids(session: ScopedSession, policy_id: UUID) -> list[UUID]:
    """Return the ids of a policy's movements, each table by its own key.

    The view of movements has the policy of a purchase as a subquery, so that it would look at every purchase.
    """
    renewals = sa.and_(col(Renewal.deleted_at).is_(None), col(Renewal.status))
    queries = (
        sa.select(col(Purchase.id))
        .join(Policy, col(Policy.purchase_id) == col(Purchase.id))
        .where(col(Policy.id) == policy_id, col(Purchase.deleted_at).is_(None)),
        sa.select(col(Renewal.id)).where(col(Renewal.policy_id) == policy_id, renewals),
        sa.select(col(Refund.id)).where(col(Refund.policy_id) == policy_id),
        sa.select(col(Adjustment.id)).where(col(Adjustment.policy_id) == policy_id),
    )
    return [key for query in queries for key in session.execute(query).scalars()]


@dataclass(frozen=True, kw_only=True, slots=True)
class TermLine:
    """A paid term of cover and the code of its certificate."""

    start_at: datetime
    expiration_at: datetime
    total_minor: int
    is_renewal: bool
    certificate_code: str | None


@dataclass(frozen=True, kw_only=True, slots=True)
class RefundLine:
    """Premium of one term that went back, how it divides, by which rule, why, and the steps that led to it."""

    created_at: datetime
    of_renewal: bool
    parts: Split
    method: str
    reason: str
    explained: Sequence[Mapping[str, str]]


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyDetail:
    """Everything that the screen of one policy shows; `sale` is the detail view of its purchase.

    `not_renewable` says why a policy that has renewals cannot be renewed now; a test policy has no window, as any
    day will do (contract R1).
    """

    id: UUID
    distributor_id: UUID
    is_live: bool
    state: PolicyState
    sale: SaleDetail
    is_for_beneficiary: bool
    date_of_birth: str | None
    registration: str | None
    sum_insured_minor: int | None
    activation_at: datetime | None
    certificate_code: str | None
    possible_duplicate_of: UUID | None
    insurer_payload: Mapping[str, Any]
    submission: SubmissionDetail | None
    terms: Sequence[TermLine]
    refunds: Sequence[RefundLine]
    renewal_window: RenewalWindow | None
    not_renewable: str | None
    letters: Sequence[MailLine]
    endorsements: Sequence[Endorsement]
    book_line: BookLine | None

    @property
    def refunded_minor(self) -> int:
        """Amount refunded of all its terms, in kobo."""
        return sum(refund.parts.total_minor for refund in self.refunds)


def get_policy(session: ScopedSession, policy_id: UUID) -> PolicyDetail:
    """Return the detail view of a policy; NotFound when it does not exist in this mode."""
    policy, state = policies.get_row(session, policy_id), policies.get_state(session, policy_id)
    sent = {name: hide_links(value) for name, value in policy.payload.items()}
    return build_row(
        PolicyDetail,
        policy,
        state=state,
        sale=get_sale(session, policy.purchase_id),
        is_for_beneficiary=policy.buyer_id != policy.customer_id,
        date_of_birth=policy.dob,
        registration=policy.plate_key,
        insurer_payload=sent,
        submission=resending.get_submission(session, policy_id, activated=policy.activated),
        terms=_terms(session, policy),
        refunds=_refunds(session, policy_id),
        renewal_window=_get_renewal_window(session, policy) if PolicyAction.RENEW in state.actions else None,
        not_renewable=next_terms.find_refusal(session, policy) if PolicyAction.RENEW in state.actions else None,
        letters=mail.list_about(session, audit.subject_of("policy", policy.id)),
        endorsements=policies.list_endorsements(session, policy.id),
        book_line=loan_books.find_line(session, policy.id),
    )


def _terms(session: ScopedSession, policy: Policy) -> list[TermLine]:
    if not policy.activated:
        return []
    query = sa.select(col(Certificate.start_at), col(Certificate.code)).where(col(Certificate.policy_id) == policy.id)
    codes = {row.start_at: row.code for row in session.execute(query)}
    return [
        build_row(TermLine, term, is_renewal=term.renewal_id is not None, certificate_code=codes.get(term.start_at))
        for term in refunds.list_paid_terms(session, policy)
    ]


def _refunds(session: ScopedSession, policy_id: UUID) -> list[RefundLine]:
    query = sa.select(Refund).where(col(Refund.policy_id) == policy_id).order_by(col(Refund.created_at))
    return [
        build_row(RefundLine, row, parts=build_row(Split, row), of_renewal=row.renewal_id is not None)
        for row in session.execute(query).scalars()
    ]


def _get_renewal_window(session: ScopedSession, policy: Policy) -> RenewalWindow | None:
    """Return the days on which the newest term can be renewed, by the rates it was paid at; none for a test policy."""
    terms = refunds.list_paid_terms(session, policy)
    if not (policy.is_live and terms):
        return None
    meta = for_sale.get_as_sold(session, terms[-1].version_id).rates.meta
    return next_terms.compute_window(terms[-1].start_on, terms[-1].expiration_on, meta)
