"""The sale: priced by its cover, written as purchase, policy, certificate, submission and audit entry."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from core import ids, money
from core.covers import request_parts
from core.covers.cover import Cover, Price, Term
from core.covers.pricing import offer, refuse_far_start
from core.errors import InvalidInput, run_checks
from core.services.audit import log as audit
from core.services.catalogue import distributor_terms, for_sale
from core.services.catalogue.for_sale import ProductForSale
from core.services.customers import buyers
from core.services.customers.buyers import StoredCustomer
from core.services.files import links as file_links
from core.services.lists.records import PolicyRecord
from core.services.people import personal
from core.services.policies import issuing, policies
from core.services.selling import duplicate_guard
from core.services.selling.duplicate_guard import EarlierPolicy
from core.store import policy_numbers
from core.store.access import Owner, ScopedSession
from core.store.schema.tables import Certificate, Policy, Purchase, Submission

# Columns that a policy copies from its purchase.
_COPIED_FIELDS: Final = (
    *("distributor_id", "is_live", "created_at", "updated_at", "customer_id"),
    *("product_id", "product_category_id", "provider_id"),
    *("payment_option", "payment_channel", "request_source"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Seller(Owner):
    """The seller: the owner of what is sold, and the actor and source recorded with the sale."""

    actor: str
    source: str = "api"
    batch_id: UUID | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Sale:
    """The result of a sale: the policy's record, its price, and a possible duplicate."""

    policy_id: UUID
    purchase_id: UUID
    policy: PolicyRecord
    price: Price
    possible_duplicate_of: UUID | None


def quote(session: ScopedSession, cover: Cover[Any], request: Any, distributor_id: UUID) -> Price:
    """Return the price of a request now, by the function that the sale uses; InvalidInput as there."""
    product = for_sale.get_product(session, cover, request.product_id, distributor_id)
    price, _ = run_checks(
        lambda: cover.premium(request, product.rates),
        lambda: refuse_far_start(cover.starts_by, product.rates.meta, cover.term(request, product.rates).start_on),
    )
    return above_zero(cover, price)


def above_zero(cover: Cover[Any], price: Price) -> Price:
    """The price, unless it is nothing: InvalidInput names the amount that it was worked out from (contract S4)."""
    if not price.total:
        raise InvalidInput.for_field(cover.rated_on, "must come to a premium: what costs nothing is not covered")
    return price


def sell(session: ScopedSession, cover: Cover[Any], request: Any, seller: Seller) -> Sale:
    """Sell one policy, in the session's transaction.

    Refuses with InvalidInput for a product or plan that this endpoint does not sell, somebody too young for it, a
    premium of nothing or a link to somebody else's file, with DuplicateRisk when the same thing is insured for these
    dates, and with StateForbids for a distributor that is switched off or whose licence has ended (contract S4, S12,
    S15, S17, F2, M3).
    """
    distributor_terms.refuse_barred(session, seller, seller.source)
    product, _ = run_checks(
        lambda: for_sale.get_product(session, cover, request.product_id, seller.distributor_id),
        lambda: file_links.require_own_files(session, request, seller),
    )
    sale = prepare(cover, request, product, for_sale.get_sold_version(session, product), seller)
    purchase, policy = sale.purchase, sale.policy
    if policy.risk_hash is not None:
        duplicate_guard.lock_risk(session, product.id, policy.risk_hash, sale.term, seller)
    customer = buyers.get_or_create(session, sale.holder, seller)
    purchase.customer_id = policy.customer_id = policy.buyer_id = customer.id
    policy.possible_duplicate_of = duplicate_guard.find_possible_duplicate(session, cover, request, customer.id)
    _number(session, cover, product, [policy], is_live=seller.is_live)
    session.insert(purchase, policy, *sale.certificates)
    session.insert(sale.submission)
    record = policies.build_record(policy, cover)
    entry = _audit(policy, seller, customer)
    audit.write(session, actor=entry.actor, action=entry.action, subject=entry.subject, after=entry.after)
    return Sale(
        policy_id=policy.id,
        purchase_id=purchase.id,
        policy=record,
        price=sale.price,
        possible_duplicate_of=policy.possible_duplicate_of,
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class PreparedSale:
    """The rows of a sale before it is written: what is not known yet is its customer and its number."""

    price: Price
    term: Term
    holder: request_parts.Policyholder
    purchase: Purchase
    policy: Policy
    certificates: Sequence[Certificate]
    submission: Submission


def prepare(cover: Cover[Any], request: Any, product: ProductForSale, version_id: UUID, seller: Seller) -> PreparedSale:
    """Price a request and build the rows of its sale; nothing is read or written."""
    offered = offer(cover, request, product.rates)
    price, holder = above_zero(cover, offered.price), request_parts.get_policyholder(request)
    risk = cover.risk_key(request)
    purchase = _build_purchase(product, version_id, price, seller)
    purchase.premium_frequency = getattr(request, "premium_frequency", None)
    policy = _build_policy(cover, request, price, offered.term, purchase, holder)
    policy.risk_hash = None if risk is None else duplicate_guard.hash_risk(risk)
    return PreparedSale(
        price=price,
        term=offered.term,
        holder=holder,
        purchase=purchase,
        policy=policy,
        certificates=_build_certificates(policy),
        submission=issuing.build_submission(policy, product.provider_segment),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Written:
    """Several sales whose rows are written: `account_for` enters them in the roll-ups and the log.

    `refused` are the policies that stand in the way of the others, by the id that the policy of those would have had.
    """

    purchases: Sequence[Purchase]
    policies: Sequence[Policy]
    entries: Sequence[audit.Draft]
    refused: Mapping[UUID, EarlierPolicy]


def write_many(
    session: ScopedSession,
    cover: Cover[Any],
    product: ProductForSale,
    sales: Sequence[PreparedSale],
    seller: Seller,
    when_locked: Callable[[], None] = lambda: None,
) -> Written:
    """Write sales of one product and distributor: the rows of `sell`, together; `account_for` does the rest.

    Those whose risk is insured by now are not sold. StateForbids for a distributor that is switched off or whose
    licence has ended. No other sale waits for what is locked here but those of the same risks and customers;
    `when_locked` is called when all of them are locked: whoever locks theirs after it never holds up this transaction.
    """
    distributor_terms.refuse_barred(session, seller, seller.source)
    terms = {each.policy.risk_hash: each.term for each in sales if each.policy.risk_hash}
    insured = duplicate_guard.lock_risks(session, product.id, terms, seller)
    refused = {each.policy.id: insured[each.policy.risk_hash] for each in sales if each.policy.risk_hash in insured}
    sold = [each for each in sales if each.policy.id not in refused]
    found = buyers.get_or_create_many(session, [each.holder for each in sold], seller)
    _number(session, cover, product, [each.policy for each in sold], is_live=seller.is_live)
    when_locked()
    for each in sold:
        customer_id = found[each.holder.email.lower()].id
        each.purchase.customer_id = each.policy.customer_id = each.policy.buyer_id = customer_id
    purchases, policies = [each.purchase for each in sold], [each.policy for each in sold]
    for rows in (purchases, policies):
        session.insert_many(rows, is_counted=False)
    session.insert_many([each for one in sold for each in one.certificates])
    session.insert_many([each.submission for each in sold])
    entries = [_audit(each.policy, seller, found[each.holder.email.lower()]) for each in sold]
    return Written(purchases=purchases, policies=policies, entries=entries, refused=refused)


def account_for(session: ScopedSession, written: Written) -> None:
    """Enter written sales in the roll-ups and the log; call it last, as others wait for these until the commit."""
    session.count(*written.purchases, *written.policies)
    audit.write_many(session, written.entries)


# Stands in the rows for the customer, who is found in the transaction of the sale.
_NOBODY: Final = UUID(int=0)


def _number(
    session: ScopedSession, cover: Cover[Any], product: ProductForSale, sold: Sequence[Policy], *, is_live: bool
) -> None:
    """Give policies that are active at once the next numbers of their insurer."""
    if not cover.initial_state.active or not sold:
        return
    series = policy_numbers.series(product.provider_segment, product.number_series, is_live=is_live)
    for policy, number in zip(sold, policy_numbers.take(session, series, len(sold)), strict=True):
        policy.policy_number, policy.number_key = number, policy_numbers.key(number)


def _audit(policy: Policy, seller: Seller, customer: StoredCustomer) -> audit.Draft:
    """The entry "policy sold", with what the events of this sale are made of besides ids (contract W2)."""
    after = {
        "purchase_id": str(policy.purchase_id),
        "product_id": str(policy.product_id),
        "total": money.to_wire(policy.genius_price_minor),
        "activated": policy.activated,
        "customer": customer.change,
    }
    return audit.Draft(
        actor=seller.actor, action="policy sold", subject=audit.subject_of("policy", policy.id), after=after
    )


def _build_purchase(product: ProductForSale, version_id: UUID, price: Price, seller: Seller) -> Purchase:
    split = money.split(
        money.to_minor(price.total), mca_bp=product.mca_commission_bp, distributor_bp=product.distributor_commission_bp
    )
    return Purchase.to_insert(
        distributor_id=seller.distributor_id,
        is_live=seller.is_live,
        customer_id=_NOBODY,
        product_id=product.id,
        product_version_id=version_id,
        product_category_id=product.product_category_id,
        provider_id=product.provider_id,
        batch_id=seller.batch_id or ids.new(),
        total_minor=split.total_minor,
        mca_profit_minor=split.mca_profit_minor,
        distributor_profit_minor=split.distributor_profit_minor,
        payment_option="wallet",
        payment_channel=seller.source,
        request_source=seller.source,
    )


def _build_policy(
    cover: Cover[Any], request: Any, price: Price, term: Term, purchase: Purchase, holder: request_parts.Policyholder
) -> Policy:
    numbers = personal.find_personal_numbers(request)
    submitted, payload = request.model_dump(mode="json", exclude_none=True), cover.payload(request, price)
    return Policy.to_insert(
        # Timestamps are copied too: the daily rollup counts by the purchase's, and policy lists are ordered by them.
        **{name: getattr(purchase, name) for name in _COPIED_FIELDS},
        purchase_id=purchase.id,
        buyer_id=purchase.customer_id,
        first_name=holder.first_name,
        last_name=holder.last_name,
        email=holder.email,
        phone=holder.phone,
        dob=holder.dob.isoformat() if holder.dob else None,
        start_at=term.start_at,
        activation_at=term.activation_at,
        expiration_at=term.expiration_at,
        activated=cover.initial_state.active,
        submitted_to_provider=cover.initial_state.submitted,
        plate_key=cover.registration(request),
        device_serial_number=cover.device_number(request),
        twin_key=cover.duplicate_key(request),
        sum_insured_minor=None if price.sum_insured is None else money.to_minor(price.sum_insured),
        market_price_minor=purchase.total_minor,
        genius_price_minor=purchase.total_minor,
        profit_minor=purchase.mca_profit_minor,
        submitted=personal.mask_personal_numbers(submitted, numbers),
        payload=personal.mask_personal_numbers(payload, numbers),
        sealed=personal.seal_personal_numbers({"submitted": submitted, "payload": payload}, numbers),
        explained=price.explain,
    )


def _build_certificates(policy: Policy) -> list[Certificate]:
    if not policy.activated or policy.start_at is None or policy.expiration_at is None:
        return []
    return [
        issuing.build_certificate(
            policy, start_at=policy.start_at, expiration_at=policy.expiration_at, at=policy.created_at
        )
    ]
