"""Renewal of a policy for another term, one or many at a time, or why it cannot be renewed (contract R1-R4)."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final, NoReturn
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers import ages, registry
from core.covers import request as requests
from core.covers.cover import Cover, Price, Term
from core.errors import DuplicateRisk, InvalidInput, NotFound, NotRenewable, StaleVersion
from core.services.audit import log as audit
from core.services.catalogue import for_sale
from core.services.catalogue.for_sale import ProductForSale
from core.services.lists.records import PolicyRecord
from core.services.people import personal
from core.services.people.staff import Person
from core.services.policies import issuing, policies, refunds
from core.services.policies.policies import BulkResult
from core.services.policies.refunds import PaidTerm
from core.services.selling import duplicate_guard
from core.services.selling.buying import Seller
from core.store.access import Owner, ScopedSession
from core.store.schema.tables import Policy, Product, ProductBlock, Renewal

DAYS_BEFORE, DAYS_AFTER = 90, 30
# A test policy is renewed at any time; a bound keeps a loop from running off the calendar.
TEST_YEARS_AHEAD = 10


@dataclass(frozen=True, slots=True)
class RenewalWindow:
    """The days on which a term can be renewed, both ends included."""

    opens_on: date
    closes_on: date

    def contains(self, day: date) -> bool:
        """Return True on a day of the window."""
        return self.opens_on <= day <= self.closes_on


def compute_window(start_on: date, expiration_on: date, meta: Mapping[str, Any]) -> RenewalWindow:
    """Return the renewal window of a term; the product's `meta` may set `renewal_window: {days_before, days_after}`.

    It opens no earlier than half-way through the term: otherwise a renewed monthly instalment would be in its own
    window again at once, and a renewal must close it.
    """
    days = {"days_before": DAYS_BEFORE, "days_after": DAYS_AFTER, **meta.get("renewal_window", {})}
    before = min(int(days["days_before"]), (expiration_on - start_on).days // 2)
    return RenewalWindow(clock.add_days(expiration_on, -before), clock.add_days(expiration_on, int(days["days_after"])))


def compute_policy_year(first_on: date, day: date) -> int:
    """Return how many whole years after the first day of a policy a day is."""
    years = day.year - first_on.year
    return years if clock.add_months(first_on, 12 * years) <= day else years - 1


@dataclass(frozen=True, kw_only=True, slots=True)
class NextTerm:
    """The term after the last one, with its rates and its price."""

    cover: Cover[Any]
    last: PaidTerm
    sale: ProductForSale
    price: Price
    term: Term
    start_at: datetime


@dataclass(frozen=True, slots=True)
class _RateSources:
    """Sources of rates: those of a product version, and today's; None for a product no longer sold."""

    get_as_sold: Callable[[UUID], ProductForSale]
    get_current: Callable[[Cover[Any], Policy], ProductForSale | None]


def preview_next_term(session: ScopedSession, policy_id: UUID) -> NextTerm:
    """Return the next term of a policy; nothing is written. Raises the same errors as `renewals.renew`."""
    return get_next_term(session, policies.get_row(session, policy_id))


def get_next_term(session: ScopedSession, policy: Policy, required_cover: Cover[Any] | None = None) -> NextTerm:
    """Return the next term of a policy; NotRenewable if there is none, or if `required_cover` is another cover."""
    product = session.get_one(Product, policy.product_id)
    return _compute_next_term(
        policy, product, required_cover, refunds.list_paid_terms(session, policy), _build_rates_for_one(session)
    )


def find_refusal(session: ScopedSession, policy: Policy) -> str | None:
    """Return why a policy cannot be renewed now; None if it can."""
    try:
        get_next_term(session, policy)
    except NotRenewable as error:
        return str(error)
    return None


def get_next_terms(session: ScopedSession, policy_ids: Sequence[UUID]) -> dict[UUID, NextTerm | NotRenewable]:
    """Return each policy's next term or the error that renewing it would raise, in a fixed number of queries."""
    query = sa.select(Policy).where(col(Policy.id).in_(policy_ids), col(Policy.deleted_at).is_(None))
    rows = list(session.execute(query).scalars())
    catalogue = {product.id: product for product in session.execute(sa.select(Product)).scalars()}
    terms = refunds.list_by_policy(session, rows)
    rates = _build_rates_for_many(session, {term.version_id for paid in terms.values() for term in paid[-1:]})

    def attempt(policy: Policy) -> NextTerm | NotRenewable:
        try:
            return _compute_next_term(policy, catalogue[policy.product_id], None, terms[policy.id], rates)
        except NotRenewable as refusal:
            return refusal

    return {policy.id: attempt(policy) for policy in rows}


def raise_not_renewable(policy: Policy, reason: str, **facts: Any) -> NoReturn:
    """Raise NotRenewable with the reason and the dates of the policy."""
    dates = {"start_date": clock.to_wire(policy.start_at), "expiration_date": clock.to_wire(policy.expiration_at)}
    raise NotRenewable(reason, detail={"reason": reason, "policy_id": str(policy.id), **dates, **facts})


def _build_rates_for_one(session: ScopedSession) -> _RateSources:
    def today(cover: Cover[Any], policy: Policy) -> ProductForSale | None:
        try:
            return for_sale.get_product(session, cover, str(policy.product_id), policy.distributor_id)
        except InvalidInput:
            return None

    return _RateSources(lambda version_id: for_sale.get_as_sold(session, version_id), today)


def _build_rates_for_many(session: ScopedSession, version_ids: Collection[UUID]) -> _RateSources:
    sold, active = for_sale.load_as_sold(session, version_ids), for_sale.load_active(session)
    blocks = sa.select(col(ProductBlock.product_id), col(ProductBlock.distributor_id))
    blocked = {(row.product_id, row.distributor_id) for row in session.execute(blocks)}

    def today(_: Cover[Any], policy: Policy) -> ProductForSale | None:
        return None if (policy.product_id, policy.distributor_id) in blocked else active.get(policy.product_id)

    return _RateSources(sold.__getitem__, today)


def _compute_next_term(
    policy: Policy, product: Product, required_cover: Cover[Any] | None, paid: Sequence[PaidTerm], rates: _RateSources
) -> NextTerm:
    cover = _require_cover(policy, product, required_cover)
    if not (policy.activated and paid):
        raise_not_renewable(policy, "This policy is not active yet")
    last = paid[-1]
    start_at = max(clock.now(), last.expiration_at)
    start_on = clock.to_lagos_day(start_at)
    sale = _get_sale(policy, cover, last, start_on, rates)
    if policy.is_live:
        _require_window(policy, last, compute_window(last.start_on, last.expiration_on, sale.rates.meta))
    else:
        _refuse_far_ahead(policy, last)
    price, term = _compute_price(policy, cover, sale, start_on), cover.next_term(policy.submitted, sale.rates, start_on)
    return NextTerm(cover=cover, last=last, sale=sale, price=price, term=term, start_at=start_at)


def _require_cover(policy: Policy, product: Product, required_cover: Cover[Any] | None) -> Cover[Any]:
    cover = registry.get_cover(product.prefix, product.route_name)
    if required_cover is not None and cover is not required_cover:
        raise_not_renewable(policy, f"This policy is not {required_cover.title.lower()} of {required_cover.insurer}")
    if policy.cancelled_at is not None:
        raise_not_renewable(policy, "This policy was cancelled", cancelled_at=clock.to_wire(policy.cancelled_at))
    if policy.declined_at is not None:
        raise_not_renewable(policy, "This policy was declined", declined_at=clock.to_wire(policy.declined_at))
    if cover is None or not product.renewable:
        raise_not_renewable(policy, "This product cannot be renewed")
    return cover


def _get_sale(policy: Policy, cover: Cover[Any], last: PaidTerm, start_on: date, rates: _RateSources) -> ProductForSale:
    """Return today's rates; within a policy year, those of the last term: it is one annual premium in parts."""
    first_on = clock.to_lagos_day(policy.start_at or last.start_at)
    if compute_policy_year(first_on, start_on) == compute_policy_year(first_on, last.start_on):
        return rates.get_as_sold(last.version_id)
    return rates.get_current(cover, policy) or raise_not_renewable(policy, "This product is no longer sold")


def _require_window(policy: Policy, last: PaidTerm, allowed: RenewalWindow) -> None:
    today = clock.today()
    if allowed.contains(today):
        return
    dates = {"renewable_from": str(allowed.opens_on), "renewable_until": str(allowed.closes_on)}
    if today > allowed.closes_on:
        raise_not_renewable(policy, f"This policy could be renewed until {allowed.closes_on}", **dates)
    if last.renewal_id is not None:
        text = f"This policy was renewed already, it can be renewed again from {allowed.opens_on}"
        raise_not_renewable(policy, text, **dates, renewal_id=str(last.renewal_id))
    raise_not_renewable(policy, f"This policy can be renewed from {allowed.opens_on}", **dates)


def _refuse_far_ahead(policy: Policy, last: PaidTerm) -> None:
    """In test mode any day will do, or a renewal could not be tried for months after a sale (contract R1)."""
    if last.expiration_on > clock.add_months(clock.today(), 12 * TEST_YEARS_AHEAD):
        years = TEST_YEARS_AHEAD
        raise_not_renewable(policy, f"This test policy is already renewed for more than {years} years ahead")


def _compute_price(policy: Policy, cover: Cover[Any], sale: ProductForSale, start_on: date) -> Price:
    """The premium of what was submitted, at these rates and for a term from this day."""
    submitted = personal.restore_personal_numbers(policy.submitted, policy.sealed, "submitted")
    try:
        request = requests.validate(cover.request, submitted, sold=True)
        ages.refuse_younger(cover, request, sale.rates, start_on)
        return cover.premium(request, sale.rates)
    except InvalidInput as error:
        raise_not_renewable(policy, "What was submitted no longer fits this product", faults=error.detail)


@dataclass(frozen=True, kw_only=True, slots=True)
class RenewalResult:
    """The result of a renewal: its id, its price, and the updated policy."""

    renewal_id: UUID
    policy: PolicyRecord
    price: Price


def renew(
    session: ScopedSession,
    policy_id: UUID,
    seller: Seller,
    *,
    cover: Cover[Any] | None = None,
    expected_version: int | None = None,
) -> RenewalResult:
    """Renew a policy for one more term; with `cover`, only a policy of that cover.

    NotFound if the policy is unknown in this scope; NotRenewable, with the reason and the dates in its detail, if the
    term cannot be renewed now; DuplicateRisk if another policy now covers the same risk; StaleVersion if the policy
    does not have the expected version.
    """
    policy = policies.get_for_update(session, policy_id)
    if expected_version not in (None, policy.version):
        raise StaleVersion(detail={"version": policy.version})
    next_term = get_next_term(session, policy, cover)
    duplicate_guard.lock_risk_again(session, policy, next_term.term)
    version_id = for_sale.get_sold_version(session, next_term.sale)
    renewal = _build_renewal(policy, next_term, version_id, seller=seller)
    if not session.insert_if_absent(renewal):
        raise_not_renewable(policy, "This term was renewed already", renewal_id=_get_existing_id(session, policy))
    _extend_policy(session, policy, renewal)
    _record(session, seller.actor, renewal)
    return RenewalResult(
        renewal_id=renewal.id, policy=policies.build_record(policy, next_term.cover), price=next_term.price
    )


def _build_renewal(policy: Policy, next_term: NextTerm, version_id: UUID, *, seller: Seller) -> Renewal:
    sale = next_term.sale
    split = money.split(
        money.to_minor(next_term.price.total),
        mca_bp=sale.mca_commission_bp,
        distributor_bp=sale.distributor_commission_bp,
    )
    return Renewal(
        distributor_id=policy.distributor_id,
        is_live=policy.is_live,
        policy_id=policy.id,
        purchase_id=policy.purchase_id,
        customer_id=policy.customer_id,
        product_id=policy.product_id,
        product_version_id=version_id,
        product_category_id=policy.product_category_id,
        provider_id=policy.provider_id,
        total_minor=split.total_minor,
        mca_profit_minor=split.mca_profit_minor,
        distributor_profit_minor=split.distributor_profit_minor,
        previous_expiration_at=next_term.last.expiration_at,
        start_at=next_term.start_at,
        expiration_at=_get_end(next_term.term),
        payment_option="wallet",
        payment_channel=seller.source,
        request_source=seller.source,
    )


def _extend_policy(session: ScopedSession, policy: Policy, renewal: Renewal) -> None:
    policy.expiration_at = renewal.expiration_at
    policy.version += 1
    policy.updated_at = renewal.created_at
    certificate = issuing.build_certificate(
        policy, start_at=renewal.start_at, expiration_at=renewal.expiration_at, at=renewal.created_at
    )
    session.flush()
    session.insert(certificate)


def _record(session: ScopedSession, actor: str, renewal: Renewal) -> None:
    audit.write(
        session,
        actor=actor,
        action="policy renewed",
        subject=audit.subject_of("policy", renewal.policy_id),
        before={"expiration_date": clock.to_wire(renewal.previous_expiration_at)},
        after={
            "expiration_date": clock.to_wire(renewal.expiration_at),
            "renewal_id": str(renewal.id),
            "total": money.to_wire(renewal.total_minor),
        },
    )


def _get_existing_id(session: ScopedSession, policy: Policy) -> str:
    query = sa.select(col(Renewal.id)).where(
        col(Renewal.policy_id) == policy.id, col(Renewal.previous_expiration_at) == policy.expiration_at
    )
    return str(session.execute(query).scalar_one())


def _get_end(term: Term) -> datetime:
    assert term.expiration_at is not None, "a term that was paid for has an end"  # noqa: S101 - next_term's promise
    return term.expiration_at


# Renewing several policies at once, each at the price and from the end that were shown (contract R4).

ROLES: Final = ("operations",)
RENEWED, REPRICED = "it was renewed meanwhile", "its price has changed: look at it again"


@dataclass(frozen=True, kw_only=True, slots=True)
class ShownTerm:
    """One policy as its preview showed it: the end of its cover, and what one more term costs in kobo."""

    policy_id: UUID
    expiration_at: datetime
    total_minor: int


@dataclass(frozen=True, kw_only=True, slots=True)
class BulkRenewal(BulkResult):
    """The number of policies renewed, for how much in kobo, and of those left out by reason."""

    total_minor: int


def renew_each(session: ScopedSession, shown: Sequence[ShownTerm], *, by: Person) -> BulkRenewal:
    """Renew these policies in one transaction; one that is not any more as it was shown is left out, with the reason.

    Asked for again, it renews nothing: the end that was shown is past. InvalidInput for none or too many.
    """
    by.require_role(*ROLES, otherwise="Policies are renewed by operations")
    by_policy, totals = {each.policy_id: each for each in shown}, list[int]()
    # Sorted, so that two callers with the same policies cannot deadlock.
    chosen = sorted(policies.choose_several(by_policy))
    terms = get_next_terms(session, chosen)

    def renew_one(policy_id: UUID) -> str | None:
        each = by_policy[policy_id]
        reason = _renew_one(session, each, terms.get(policy_id), by)
        totals.extend([each.total_minor] if reason is None else [])
        return reason

    found = policies.act_on_each(chosen, renew_one)
    return BulkRenewal(done=found.done, left_out=found.left_out, total_minor=sum(totals))


def _renew_one(
    session: ScopedSession, shown: ShownTerm, term: NextTerm | NotRenewable | None, by: Person
) -> str | None:
    """Renew one policy, or return why not; everything is checked before anything is written."""
    try:
        policy = policies.get_for_update(session, shown.policy_id)
        if policy.expiration_at != shown.expiration_at:
            return RENEWED
        if term is None or isinstance(term, NotRenewable):
            return str(term or NotFound("Policy not found"))
        if money.to_minor(term.price.total) != shown.total_minor:
            return REPRICED
        seller = Seller(**Owner.of(policy).columns, actor=by.actor, source="desk")
        renew(session, policy.id, seller, expected_version=policy.version)
    except (NotRenewable, DuplicateRisk, NotFound) as error:
        return str(error)
    return None
