"""The refund of one policy: which rule applies, over which paid terms, and the row that keeps it."""

from decimal import Decimal

from core import clock, ids, money
from core.covers import refunds
from core.covers.refunds import Refund, Stretch
from core.services.policies import paid_terms
from core.services.policies.paid_terms import PaidTerm
from core.services.products import products
from core.store import tables
from core.store.scope import ScopedSession
from core.store.tables import Policy, Purchase


def refund_of(session: ScopedSession, policy: Policy, *, by_insurer: bool) -> Refund:
    """What goes back when a policy ends today.

    All of it when the policy was never in force, the months left of a loan, otherwise the unexpired days of
    every term that was paid for: pro rata when the insurer ends it, at short rate when the customer does.
    """
    purchase = session.get_one(Purchase, policy.purchase_id)
    terms = paid_terms.of(session, policy) if policy.activated else []
    if not terms:
        return refunds.full([money.to_naira(purchase.total_minor)])
    sale = products.as_sold(session, purchase.product_version_id)
    if "loan_tenure" in policy.submitted:
        return _of_loan(terms[0], int(policy.submitted["loan_tenure"]), sale.rates.meta.get("basis", "single"))
    stretches = [
        Stretch(premium=money.to_naira(t.total_minor), start_at=t.start_at, expiration_at=t.expiration_at)
        for t in terms
        if t.expiration_at > clock.now()
    ]
    rule = refunds.pro_rata if by_insurer else refunds.short_rate
    return rule(stretches, clock.today())


def _of_loan(term: PaidTerm, months: int, basis: str) -> Refund:
    left = refunds.months_left(clock.today(), term.expiration_on, months)
    premium: Decimal = money.to_naira(term.total_minor)
    rule = refunds.decreasing if basis == "reducing" else refunds.level
    return rule(premium, left, months)


def give_back(session: ScopedSession, policy: Policy, *, reason: str, by_insurer: bool) -> Refund:
    """Note the refund of a policy that ends today; the row is never changed again."""
    refund = refund_of(session, policy, by_insurer=by_insurer)
    session.insert(
        tables.Refund(
            id=ids.new(),
            distributor_id=policy.distributor_id,
            is_live=policy.is_live,
            policy_id=policy.id,
            purchase_id=policy.purchase_id,
            amount_minor=refund.amount_minor,
            method=refund.method,
            reason=reason,
            explained=refund.price.explained,
            created_at=clock.now(),
        )
    )
    return refund
