"""Detail view of one policy: state, terms, refunds, submission and renewal window."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.money import Split
from core.services.audit import log as audit
from core.services.catalogue import products
from core.services.finance.bordereaux import bordereaux as bordereau_reading
from core.services.finance.bordereaux.bordereaux import Reported
from core.services.finance.statements import reading as statement_reading
from core.services.insurers import resending
from core.services.insurers.resending import SubmissionDetail
from core.services.mail import mail
from core.services.mail.mail import MailLine
from core.services.policies import policies, refunds
from core.services.policies.policies import Endorsement, PolicyState
from core.services.renewals import renewals as next_terms
from core.services.renewals.renewals import RenewalWindow
from core.services.selling.loan_books import records as loan_books
from core.services.selling.loan_books.records import BookLine
from core.services.views import sale as sale_view
from core.services.views.sale import SaleDetail
from core.states.policies import PolicyAction
from core.store.access import ScopedSession
from core.store.schema.tables import Adjustment, Certificate, Policy, Purchase, Refund, Renewal


@dataclass(frozen=True, kw_only=True, slots=True)
class Papers:
    """The statements (id, number, party, month) and premium bordereaux of a policy, and movements that none has."""

    statements: list[tuple[UUID, str, str, date]]
    bordereaux: list[Reported]
    unreported: int


def list_of_policy(session: ScopedSession, policy_id: UUID) -> Papers:
    """Return the papers that hold the movements of a policy."""
    movement_ids = _list_movement_ids(session, policy_id)
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
    sent = {name: sale_view.hide_links(value) for name, value in policy.payload.items()}
    return PolicyDetail(
        id=policy.id,
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        state=state,
        sale=sale_view.get_sale(session, policy.purchase_id),
        is_for_beneficiary=policy.buyer_id != policy.customer_id,
        date_of_birth=policy.dob,
        registration=policy.plate_key,
        sum_insured_minor=policy.sum_insured_minor,
        activation_at=policy.activation_at,
        certificate_code=policy.certificate_code,
        possible_duplicate_of=policy.possible_duplicate_of,
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
        TermLine(
            start_at=term.start_at,
            expiration_at=term.expiration_at,
            total_minor=term.total_minor,
            is_renewal=term.renewal_id is not None,
            certificate_code=codes.get(term.start_at),
        )
        for term in refunds.list_paid_terms(session, policy)
    ]


def _refunds(session: ScopedSession, policy_id: UUID) -> list[RefundLine]:
    query = sa.select(Refund).where(col(Refund.policy_id) == policy_id).order_by(col(Refund.created_at))
    return [
        RefundLine(
            created_at=row.created_at,
            parts=Split(row.total_minor, row.mca_profit_minor, row.distributor_profit_minor),
            of_renewal=row.renewal_id is not None,
            method=row.method,
            reason=row.reason,
            explained=row.explained,
        )
        for row in session.execute(query).scalars()
    ]


def _get_renewal_window(session: ScopedSession, policy: Policy) -> RenewalWindow | None:
    """Return the days on which the newest term can be renewed, by the rates it was paid at; none for a test policy."""
    terms = refunds.list_paid_terms(session, policy)
    if not (policy.is_live and terms):
        return None
    meta = products.get_as_sold(session, terms[-1].version_id).rates.meta
    return next_terms.compute_window(terms[-1].start_on, terms[-1].expiration_on, meta)
