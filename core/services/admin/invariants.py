"""Invariants of the stored sales, each as a query of the rows that violate it."""

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.states.claims import DECIDED, ClaimStatus
from core.states.policies import SubmissionState
from core.store.access import AnySelect
from core.store.schema.tables import (
    Certificate,
    Claim,
    ClaimEvent,
    ClaimPayment,
    ClaimReserve,
    Customer,
    KeptAnswer,
    Policy,
    ProductVersion,
    Purchase,
    Refund,
    Renewal,
    Submission,
)


@dataclass(frozen=True, slots=True)
class Invariant:
    """One invariant: the violation in words, and the query of the violating ids."""

    description: str
    violations: AnySelect


def _find_wrong_splits(entity: type[Purchase] | type[Renewal]) -> AnySelect:
    """Amounts that are not the split of their total by the rates they were sold at (contract S7)."""
    return (
        sa.select(col(entity.id))
        .join(ProductVersion, col(ProductVersion.id) == col(entity.product_version_id))
        .where(_divides_otherwise(entity))
    )


def _divides_otherwise(entity: type[Purchase] | type[Renewal] | type[Refund]) -> sa.ColumnElement[bool]:
    total, mca, distributor = (
        col(entity.total_minor),
        col(entity.mca_profit_minor),
        col(entity.distributor_profit_minor),
    )
    platform = _share(total, col(ProductVersion.mca_commission_bp))
    partner = _share(total, col(ProductVersion.distributor_commission_bp))
    return sa.or_(
        mca != platform,
        distributor != sa.case((partner > total - mca, total - mca), else_=partner),
        mca + distributor > total,
    )


_AMOUNTS = ("total_minor", "mca_profit_minor", "distributor_profit_minor")
_PAID = {name: sa.func.coalesce(col(getattr(Renewal, name)), col(getattr(Purchase, name))) for name in _AMOUNTS}


def _refunds(*wrong: sa.ColumnElement[bool]) -> AnySelect:
    """Refunds beside the term that each belongs to: its renewal, or its purchase where there is none."""
    return (
        sa.select(col(Refund.id))
        .join(Policy, col(Policy.id) == col(Refund.policy_id))
        .join(Purchase, col(Purchase.id) == col(Refund.purchase_id))
        .outerjoin(Renewal, col(Renewal.id) == col(Refund.renewal_id))
        .join(ProductVersion, col(ProductVersion.id) == col(Refund.product_version_id))
        .where(*wrong)
    )


def _any_more_than_paid() -> sa.ColumnElement[bool]:
    return sa.or_(*(col(getattr(Refund, name)) > paid for name, paid in _PAID.items()))


def _not_whole() -> sa.ColumnElement[bool]:
    """A refund of everything that does not reverse each part of its term."""
    differs = sa.or_(*(col(getattr(Refund, name)) != paid for name, paid in _PAID.items()))
    return sa.and_(col(Refund.total_minor) == _PAID["total_minor"], differs)


def _share(total: Any, basis_points: object) -> Any:
    return (total * basis_points + 5_000) // 10_000


def _find_duplicates(*columns: Any) -> AnySelect:
    return sa.select(*columns).where(columns[-1].is_not(None)).group_by(*columns).having(sa.func.count() > 1)


def _terms() -> sa.Subquery:
    """Return every renewal with the expiration of the previous renewal of the same policy."""
    before = sa.func.lag(col(Renewal.expiration_at)).over(
        partition_by=col(Renewal.policy_id), order_by=col(Renewal.start_at)
    )
    return (
        sa.select(col(Renewal.id), col(Renewal.previous_expiration_at), before.label("before"))
        .where(col(Renewal.status), col(Renewal.deleted_at).is_(None))
        .subquery("terms")
    )


def _per_policy(total: Any, entity: type[Renewal] | type[Refund]) -> sa.Subquery:
    return sa.select(col(entity.policy_id), total.label("value")).group_by(col(entity.policy_id)).subquery()


_TERMS = _terms()
_LAST_TERM = _per_policy(sa.func.max(col(Renewal.expiration_at)), Renewal)
_RENEWED = _per_policy(sa.func.sum(col(Renewal.total_minor)), Renewal)
_REFUNDED = _per_policy(sa.func.sum(col(Refund.total_minor)), Refund)
_PAYMENTS = (
    sa.select(sa.func.count())
    .where(col(ClaimPayment.claim_id) == col(ClaimEvent.claim_id))
    .correlate(ClaimEvent)
    .scalar_subquery()
)
_RESERVE = sa.func.sum(col(ClaimReserve.change_minor))
_OF_PURCHASE = col(Policy.purchase_id) == col(Purchase.id)
_POLICIES = sa.select(col(Policy.id))
_SALES = _POLICIES.join(Purchase, _OF_PURCHASE)


def _any_differs(one: type[object], other: type[object], *names: str) -> sa.ColumnElement[bool]:
    return sa.or_(*(getattr(one, name) != getattr(other, name) for name in names))


_OWNER = ("distributor_id", "is_live")
INVARIANTS = (
    Invariant("purchases whose parts are not those of their total", _find_wrong_splits(Purchase)),
    Invariant("renewals whose parts are not those of their total", _find_wrong_splits(Renewal)),
    Invariant(
        "purchases without a policy",
        sa.select(col(Purchase.id)).outerjoin(Policy, _OF_PURCHASE).where(col(Policy.id).is_(None)),
    ),
    Invariant(
        "policies without a purchase", _POLICIES.outerjoin(Purchase, _OF_PURCHASE).where(col(Purchase.id).is_(None))
    ),
    Invariant("purchases with several policies", _find_duplicates(col(Policy.purchase_id))),
    Invariant(
        "policies that differ from their purchase",
        _SALES.where(
            sa.or_(
                _any_differs(Policy, Purchase, *_OWNER, "product_id", "provider_id", "customer_id", "created_at"),
                col(Policy.genius_price_minor) != col(Purchase.total_minor),
                col(Policy.profit_minor) != col(Purchase.mca_profit_minor),
            )
        ),
    ),
    Invariant(
        "policies of another distributor's customer",
        _POLICIES.join(Customer, col(Customer.id) == col(Policy.customer_id)).where(
            _any_differs(Policy, Customer, *_OWNER)
        ),
    ),
    Invariant(
        "policy numbers that stand twice at one insurer",
        _find_duplicates(col(Policy.provider_id), col(Policy.number_key)),
    ),
    Invariant(
        "active policies without a number or dates",
        _POLICIES.where(
            col(Policy.activated),
            sa.or_(
                col(Policy.number_key).is_(None), col(Policy.start_at).is_(None), col(Policy.expiration_at).is_(None)
            ),
        ),
    ),
    Invariant(
        "active policies whose certificate is missing",
        _POLICIES.outerjoin(Certificate, col(Certificate.code) == col(Policy.certificate_code)).where(
            col(Policy.activated),
            sa.or_(col(Certificate.code).is_(None), col(Certificate.policy_id) != col(Policy.id)),
        ),
    ),
    Invariant(
        "policies that no submission accounts for",
        _POLICIES.outerjoin(Submission, col(Submission.policy_id) == col(Policy.id)).where(
            col(Submission.policy_id).is_(None)
        ),
    ),
    Invariant(
        "submissions settled otherwise than their policy",
        _POLICIES.join(Submission, col(Submission.policy_id) == col(Policy.id)).where(
            sa.or_(
                sa.and_(col(Submission.state) == SubmissionState.ACCEPTED, sa.not_(col(Policy.activated))),
                sa.and_(col(Submission.state) == SubmissionState.DECLINED, col(Policy.declined_at).is_(None)),
            )
        ),
    ),
    Invariant(
        "renewals whose dates run backwards",
        sa.select(col(Renewal.id)).where(
            sa.or_(
                col(Renewal.expiration_at) <= col(Renewal.start_at),
                col(Renewal.start_at) < col(Renewal.previous_expiration_at),
            )
        ),
    ),
    Invariant(
        "terms that were renewed twice", _find_duplicates(col(Renewal.policy_id), col(Renewal.previous_expiration_at))
    ),
    Invariant(
        "renewals that do not follow the term before them",
        sa.select(_TERMS.c.id).where(_TERMS.c.before != _TERMS.c.previous_expiration_at),
    ),
    Invariant(
        "policies that do not end with their last term",
        _POLICIES.join(_LAST_TERM, _LAST_TERM.c.policy_id == col(Policy.id)).where(
            col(Policy.expiration_at) != _LAST_TERM.c.value
        ),
    ),
    Invariant(
        "renewals that differ from their policy",
        sa.select(col(Renewal.id))
        .join(Policy, col(Policy.id) == col(Renewal.policy_id))
        .where(_any_differs(Renewal, Policy, *_OWNER, "purchase_id", "customer_id", "product_id")),
    ),
    Invariant(
        "policies refunded by more than was paid",
        _SALES.join(_REFUNDED, _REFUNDED.c.policy_id == col(Policy.id))
        .outerjoin(_RENEWED, _RENEWED.c.policy_id == col(Policy.id))
        .where(_REFUNDED.c.value > col(Purchase.total_minor) + sa.func.coalesce(_RENEWED.c.value, 0)),
    ),
    Invariant("refunds above what was paid for their term", _refunds(_any_more_than_paid())),
    Invariant(
        "refunds whose parts are not those of their total",
        _refunds(
            sa.or_(
                _not_whole(),
                sa.and_(col(Refund.total_minor) != _PAID["total_minor"], _divides_otherwise(Refund)),
            )
        ),
    ),
    Invariant(
        "refunds that differ from the term they belong to",
        _refunds(
            sa.or_(
                _any_differs(Refund, Policy, *_OWNER, "purchase_id", "customer_id", "product_id", "provider_id"),
                _any_differs(Refund, Purchase, "product_category_id"),
                col(Renewal.policy_id) != col(Refund.policy_id),
                sa.and_(col(Refund.renewal_id).is_not(None), sa.not_(col(Renewal.status))),
                col(Refund.product_version_id)
                != sa.func.coalesce(col(Renewal.product_version_id), col(Purchase.product_version_id)),
            )
        ),
    ),
    Invariant(
        "declined policies whose premium and commissions did not go back whole",
        _SALES.outerjoin(_REFUNDED, _REFUNDED.c.policy_id == col(Policy.id)).where(
            col(Policy.declined_at).is_not(None),
            sa.func.coalesce(_REFUNDED.c.value, 0) != col(Purchase.total_minor),
        ),
    ),
    Invariant(
        "cancelled policies without a refund, not even one of nothing",
        _POLICIES.outerjoin(_REFUNDED, _REFUNDED.c.policy_id == col(Policy.id)).where(
            col(Policy.cancelled_at).is_not(None), _REFUNDED.c.policy_id.is_(None)
        ),
    ),
    Invariant(
        "refunds of policies that never ended",
        sa.select(col(Refund.id))
        .join(Policy, col(Policy.id) == col(Refund.policy_id))
        .where(col(Policy.cancelled_at).is_(None), col(Policy.declined_at).is_(None)),
    ),
    Invariant(
        "claims that differ from their policy",
        sa.select(col(Claim.id))
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .where(_any_differs(Claim, Policy, *_OWNER, "customer_id", "product_id", "provider_id")),
    ),
    Invariant(
        "payments that differ from their claim",
        sa.select(col(ClaimPayment.id))
        .join(Claim, col(Claim.id) == col(ClaimPayment.claim_id))
        .where(_any_differs(ClaimPayment, Claim, *_OWNER, "provider_id")),
    ),
    Invariant(
        "claims that came to Paid more often than they have payments",
        sa.select(col(ClaimEvent.claim_id))
        .join(Claim, col(Claim.id) == col(ClaimEvent.claim_id))
        .where(col(ClaimEvent.status) == ClaimStatus.PAID, col(Claim.offer_amount_minor) > 0)
        .group_by(col(ClaimEvent.claim_id))
        .having(sa.func.count() > _PAYMENTS),
    ),
    Invariant(
        "claims with a reserve below zero, or with one after their decision",
        sa.select(col(Claim.id))
        .join(ClaimReserve, col(ClaimReserve.claim_id) == col(Claim.id))
        .group_by(col(Claim.id), col(Claim.claim_status))
        .having(sa.or_(_RESERVE < 0, sa.and_(_RESERVE != 0, col(Claim.claim_status).in_(sorted(DECIDED))))),
    ),
    Invariant("answers kept without their work", sa.select(col(KeptAnswer.key)).where(col(KeptAnswer.status) == 0)),
)
