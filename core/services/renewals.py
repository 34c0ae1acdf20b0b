"""Renewing: one more term of a policy, paid for once, by the same service at both doors (contract R1-R4)."""

from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NoReturn
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers import request as requests
from core.covers import shelf
from core.covers.cover import Cover, Price, Term
from core.errors import InvalidInput, NotRenewable, StaleVersion
from core.services import audit, certificates, paid_terms, personal, policies, products, risks
from core.services.buying import Seller
from core.services.paid_terms import PaidTerm
from core.services.products import OnSale
from core.services.renewal_windows import RenewalWindow, policy_year, window
from core.services.shapes import PolicyRecord
from core.store.scope import ScopedSession
from core.store.tables import Policy, Product, Renewal


@dataclass(frozen=True, kw_only=True, slots=True)
class Renewed:
    """What a renewal did: its own id, its price, and the policy as it stands now."""

    renewal_id: UUID
    policy: PolicyRecord
    price: Price


@dataclass(frozen=True, kw_only=True, slots=True)
class NextTerm:
    """What a renewal would buy now: the term after the last one, its rates and its price."""

    cover: Cover[Any]
    last: PaidTerm
    sale: OnSale
    price: Price
    term: Term
    start_at: datetime


def renew(
    session: ScopedSession,
    policy_id: UUID,
    seller: Seller,
    *,
    cover: Cover[Any] | None = None,
    expected_version: int | None = None,
) -> Renewed:
    """Renew a policy for one more term; with `cover`, only a policy of that cover.

    NotFound when the policy is unknown here; NotRenewable, with the reason and the dates in its detail, when
    this term cannot be renewed now; DuplicateRisk when another policy covers the same thing by now;
    StaleVersion when somebody changed the policy since it had the expected version.
    """
    policy = policies.locked(session, policy_id)
    if expected_version not in (None, policy.version):
        raise StaleVersion(detail={"version": policy.version})
    after = _next(session, policy, cover)
    risks.claim_again(session, policy, after.term)
    renewal = _renewal(policy, after, seller=seller)
    if not session.insert_once(renewal):
        _refuse(policy, "This term was renewed already", renewal_id=_renewal_of(session, policy))
    _extend(session, policy, renewal)
    _write_down(session, seller.actor, renewal)
    return Renewed(renewal_id=renewal.id, policy=policies.record_of(policy, after.cover), price=after.price)


def preview(session: ScopedSession, policy_id: UUID) -> NextTerm:
    """What a renewal would buy now, by the same sum; nothing is written. Refuses as `renew` does."""
    return _next(session, policies.row(session, policy_id), None)


def _next(session: ScopedSession, policy: Policy, wanted: Cover[Any] | None) -> NextTerm:
    sold = _cover_of(session, policy, wanted)
    last = _newest_term(session, policy)
    start_at = max(clock.now(), last.expiration_at)
    start_on = clock.lagos_day(start_at)
    sale = _rates(session, policy, sold, last, start_on)
    _refuse_outside(policy, last, window(last.start_on, last.expiration_on, sale.rates.meta))
    price, term = _price(policy, sold, sale), sold.next_term(policy.submitted, sale.rates, start_on)
    return NextTerm(cover=sold, last=last, sale=sale, price=price, term=term, start_at=start_at)


def _newest_term(session: ScopedSession, policy: Policy) -> PaidTerm:
    terms = paid_terms.of(session, policy) if policy.activated else []
    if not terms:
        _refuse(policy, "This policy is not active yet")
    return terms[-1]


def _cover_of(session: ScopedSession, policy: Policy, wanted: Cover[Any] | None) -> Cover[Any]:
    product = session.get_one(Product, policy.product_id)
    sold = shelf.cover_of(product.prefix, product.route_name)
    if wanted is not None and sold is not wanted:
        _refuse(policy, f"This policy is not {wanted.title.lower()} of {wanted.insurer}")
    if policy.cancelled_at is not None:
        _refuse(policy, "This policy was cancelled", cancelled_at=clock.wire(policy.cancelled_at))
    if policy.declined_at is not None:
        _refuse(policy, "This policy was declined", declined_at=clock.wire(policy.declined_at))
    if sold is None or not product.renewable:
        _refuse(policy, "This product cannot be renewed")
    return sold


def _rates(session: ScopedSession, policy: Policy, cover: Cover[Any], last: PaidTerm, start_on: date) -> OnSale:
    """Today's rates; within a policy year, those that the year was sold at: it is one annual premium in parts."""
    first_on = clock.lagos_day(policy.start_at or last.start_at)
    if policy_year(first_on, start_on) == policy_year(first_on, last.start_on):
        return products.as_sold(session, last.version_id)
    try:
        return products.on_sale(session, cover, str(policy.product_id), policy.distributor_id)
    except InvalidInput:
        _refuse(policy, "This product is no longer sold")


def _refuse_outside(policy: Policy, last: PaidTerm, allowed: RenewalWindow) -> None:
    today = clock.today()
    if allowed.holds(today):
        return
    dates = {"renewable_from": str(allowed.opens_on), "renewable_until": str(allowed.closes_on)}
    if today > allowed.closes_on:
        _refuse(policy, f"This policy could be renewed until {allowed.closes_on}", **dates)
    if last.renewal_id is not None:
        text = f"This policy was renewed already, it can be renewed again from {allowed.opens_on}"
        _refuse(policy, text, **dates, renewal_id=str(last.renewal_id))
    _refuse(policy, f"This policy can be renewed from {allowed.opens_on}", **dates)


def _price(policy: Policy, cover: Cover[Any], sale: OnSale) -> Price:
    """The premium of what was submitted, at these rates."""
    submitted = personal.restored(policy.submitted, policy.sealed, "submitted")
    try:
        return cover.premium(requests.read(cover.request, submitted), sale.rates)
    except InvalidInput as error:
        _refuse(policy, "What was submitted no longer fits this product", faults=error.detail)


def _renewal(policy: Policy, after: NextTerm, *, seller: Seller) -> Renewal:
    sale = after.sale
    split = money.split(
        money.to_minor(after.price.total), mca_bp=sale.mca_commission_bp, distributor_bp=sale.distributor_commission_bp
    )
    return Renewal(
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        policy_id=policy.id,
        purchase_id=policy.purchase_id,
        customer_id=policy.customer_id,
        product_id=policy.product_id,
        product_version_id=sale.version_id,
        product_category_id=policy.product_category_id,
        provider_id=policy.provider_id,
        total_minor=split.total_minor,
        mca_profit_minor=split.mca_profit_minor,
        distributor_profit_minor=split.distributor_profit_minor,
        previous_expiration_at=after.last.expiration_at,
        start_at=after.start_at,
        expiration_at=_end(after.term),
        payment_option="wallet",
        payment_channel=seller.source,
        request_source=seller.source,
    )


def _extend(session: ScopedSession, policy: Policy, renewal: Renewal) -> None:
    policy.expiration_at = renewal.expiration_at
    policy.version += 1
    policy.updated_at = renewal.created_at
    certificate = certificates.issued(
        policy, start_at=renewal.start_at, expiration_at=renewal.expiration_at, at=renewal.created_at
    )
    session.flush()
    session.insert(certificate)


def _write_down(session: ScopedSession, actor: str, renewal: Renewal) -> None:
    audit.write(
        session,
        actor=actor,
        action="policy renewed",
        subject=audit.subject_of("policy", renewal.policy_id),
        before={"expiration_date": clock.wire(renewal.previous_expiration_at)},
        after={
            "expiration_date": clock.wire(renewal.expiration_at),
            "renewal_id": str(renewal.id),
            "total": money.wire(renewal.total_minor),
        },
    )


def _renewal_of(session: ScopedSession, policy: Policy) -> str:
    rival = sa.select(col(Renewal.id)).where(
        col(Renewal.policy_id) == policy.id, col(Renewal.previous_expiration_at) == policy.expiration_at
    )
    return str(session.execute(rival).scalar_one())


def _refuse(policy: Policy, reason: str, **facts: Any) -> NoReturn:
    dates = {"start_date": clock.wire(policy.start_at), "expiration_date": clock.wire(policy.expiration_at)}
    raise NotRenewable(reason, detail={"reason": reason, "policy_id": str(policy.id), **dates, **facts})


def _end(term: Term) -> datetime:
    assert term.expiration_at is not None, "a term that was paid for has an end"  # noqa: S101 - next_term's promise
    return term.expiration_at
