"""The next term of one policy or many, or the reason why it cannot be renewed (contract R1-R4)."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, NoReturn
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers import ages, registry
from core.covers import request as requests
from core.covers.cover import Cover, Price, Term
from core.errors import InvalidInput, NotRenewable
from core.services import personal
from core.services.policies import paid_terms, policies
from core.services.policies.paid_terms import PaidTerm
from core.services.products import products
from core.services.products.products import OnSale
from core.services.renewals import windows as renewal_windows
from core.services.renewals.windows import RenewalWindow, policy_year, window
from core.store.access.scope import ScopedSession
from core.store.schema.tables import Policy, Product, ProductBlock


@dataclass(frozen=True, kw_only=True, slots=True)
class NextTerm:
    """The term after the last one, with its rates and its price."""

    cover: Cover[Any]
    last: PaidTerm
    sale: OnSale
    price: Price
    term: Term
    start_at: datetime


@dataclass(frozen=True, slots=True)
class _Rates:
    """Sources of rates: those of a product version, and today's; None for a product no longer sold."""

    as_sold: Callable[[UUID], OnSale]
    today: Callable[[Cover[Any], Policy], OnSale | None]


def preview(session: ScopedSession, policy_id: UUID) -> NextTerm:
    """Return the next term of a policy; nothing is written. Raises the same errors as `renewals.renew`."""
    return of(session, policies.row(session, policy_id))


def of(session: ScopedSession, policy: Policy, wanted: Cover[Any] | None = None) -> NextTerm:
    """Return the next term of a policy; NotRenewable if there is none, or if `required_cover` is another cover."""
    product = session.get_one(Product, policy.product_id)
    return _next(policy, product, wanted, paid_terms.of(session, policy), _rates_of_one(session))


def refusal(session: ScopedSession, policy: Policy) -> str | None:
    """Return why a policy cannot be renewed now; None if it can."""
    try:
        of(session, policy)
    except NotRenewable as error:
        return str(error)
    return None


def of_many(session: ScopedSession, policy_ids: Sequence[UUID]) -> dict[UUID, NextTerm | NotRenewable]:
    """Return each policy's next term or the error that renewing it would raise, in a fixed number of queries."""
    query = sa.select(Policy).where(col(Policy.id).in_(policy_ids), col(Policy.deleted_at).is_(None))
    rows = list(session.execute(query).scalars())
    catalogue = {product.id: product for product in session.execute(sa.select(Product)).scalars()}
    terms = paid_terms.of_all(session, rows)
    rates = _rates_of_all(session, {term.version_id for paid in terms.values() for term in paid[-1:]})

    def attempt(policy: Policy) -> NextTerm | NotRenewable:
        try:
            return _next(policy, catalogue[policy.product_id], None, terms[policy.id], rates)
        except NotRenewable as refusal:
            return refusal

    return {policy.id: attempt(policy) for policy in rows}


def refuse(policy: Policy, reason: str, **facts: Any) -> NoReturn:
    """Raise NotRenewable with the reason and the dates of the policy."""
    dates = {"start_date": clock.wire(policy.start_at), "expiration_date": clock.wire(policy.expiration_at)}
    raise NotRenewable(reason, detail={"reason": reason, "policy_id": str(policy.id), **dates, **facts})


def _rates_of_one(session: ScopedSession) -> _Rates:
    def today(cover: Cover[Any], policy: Policy) -> OnSale | None:
        try:
            return products.on_sale(session, cover, str(policy.product_id), policy.distributor_id)
        except InvalidInput:
            return None

    return _Rates(lambda version_id: products.as_sold(session, version_id), today)


def _rates_of_all(session: ScopedSession, version_ids: Collection[UUID]) -> _Rates:
    kept, shelved = products.all_as_sold(session, version_ids), products.on_shelf(session)
    blocks = sa.select(col(ProductBlock.product_id), col(ProductBlock.distributor_id))
    blocked = {(row.product_id, row.distributor_id) for row in session.execute(blocks)}

    def today(_: Cover[Any], policy: Policy) -> OnSale | None:
        return None if (policy.product_id, policy.distributor_id) in blocked else shelved.get(policy.product_id)

    return _Rates(kept.__getitem__, today)


def _next(
    policy: Policy, product: Product, wanted: Cover[Any] | None, paid: Sequence[PaidTerm], rates: _Rates
) -> NextTerm:
    sold = _cover_of(policy, product, wanted)
    if not (policy.activated and paid):
        refuse(policy, "This policy is not active yet")
    last = paid[-1]
    start_at = max(clock.now(), last.expiration_at)
    start_on = clock.lagos_day(start_at)
    sale = _sale(policy, sold, last, start_on, rates)
    if policy.is_live:
        _refuse_outside(policy, last, window(last.start_on, last.expiration_on, sale.rates.meta))
    else:
        _refuse_far_ahead(policy, last)
    price, term = _price(policy, sold, sale, start_on), sold.next_term(policy.submitted, sale.rates, start_on)
    return NextTerm(cover=sold, last=last, sale=sale, price=price, term=term, start_at=start_at)


def _cover_of(policy: Policy, product: Product, wanted: Cover[Any] | None) -> Cover[Any]:
    sold = registry.cover_of(product.prefix, product.route_name)
    if wanted is not None and sold is not wanted:
        refuse(policy, f"This policy is not {wanted.title.lower()} of {wanted.insurer}")
    if policy.cancelled_at is not None:
        refuse(policy, "This policy was cancelled", cancelled_at=clock.wire(policy.cancelled_at))
    if policy.declined_at is not None:
        refuse(policy, "This policy was declined", declined_at=clock.wire(policy.declined_at))
    if sold is None or not product.renewable:
        refuse(policy, "This product cannot be renewed")
    return sold


def _sale(policy: Policy, cover: Cover[Any], last: PaidTerm, start_on: date, rates: _Rates) -> OnSale:
    """Return today's rates; within a policy year, those of the last term: it is one annual premium in parts."""
    first_on = clock.lagos_day(policy.start_at or last.start_at)
    if policy_year(first_on, start_on) == policy_year(first_on, last.start_on):
        return rates.as_sold(last.version_id)
    return rates.today(cover, policy) or refuse(policy, "This product is no longer sold")


def _refuse_outside(policy: Policy, last: PaidTerm, allowed: RenewalWindow) -> None:
    today = clock.today()
    if allowed.holds(today):
        return
    dates = {"renewable_from": str(allowed.opens_on), "renewable_until": str(allowed.closes_on)}
    if today > allowed.closes_on:
        refuse(policy, f"This policy could be renewed until {allowed.closes_on}", **dates)
    if last.renewal_id is not None:
        text = f"This policy was renewed already, it can be renewed again from {allowed.opens_on}"
        refuse(policy, text, **dates, renewal_id=str(last.renewal_id))
    refuse(policy, f"This policy can be renewed from {allowed.opens_on}", **dates)


def _refuse_far_ahead(policy: Policy, last: PaidTerm) -> None:
    """In test mode any day will do, or a renewal could not be tried for months after a sale (contract R1)."""
    if renewal_windows.is_far_ahead(last.expiration_on, clock.today()):
        years = renewal_windows.TEST_YEARS_AHEAD
        refuse(policy, f"This test policy is already renewed for more than {years} years ahead")


def _price(policy: Policy, cover: Cover[Any], sale: OnSale, start_on: date) -> Price:
    """The premium of what was submitted, at these rates and for a term from this day."""
    submitted = personal.restored(policy.submitted, policy.sealed, "submitted")
    try:
        request = requests.read(cover.request, submitted, sold=True)
        ages.refuse_younger(cover, request, sale.rates, start_on)
        return cover.premium(request, sale.rates)
    except InvalidInput as error:
        refuse(policy, "What was submitted no longer fits this product", faults=error.detail)
