"""The refund of a policy that ends: what goes back of each term, how it divides, and its rows (contract S19)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.covers import refunds
from core.covers.refunds import PaidPeriod, Refund
from core.errors import StateForbids
from core.money import Split
from core.services.policies import credit_notes, paid_terms, refund_holds
from core.services.policies.paid_terms import PaidTerm
from core.services.policies.refund_holds import PolicyClaim
from core.services.products import products
from core.store.access import ScopedSession
from core.store.schema import tables
from core.store.schema.tables import Adjustment, Policy, Purchase

_PARTS: Final = ("total_minor", "mca_profit_minor", "distributor_profit_minor")
# In kobo: what the rounding of a refund may leave of a commission.
ROUNDING: Final = 2


@dataclass(frozen=True, kw_only=True, slots=True)
class TermRefund:
    """Refund of one paid term, a renewal or else the purchase, with its three parts, and what was paid for the term."""

    renewal_id: UUID | None
    version_id: UUID
    refund: Refund
    parts: Split
    paid: Split


def compute_cancellation_refunds(session: ScopedSession, policy: Policy, *, by_insurer: bool) -> list[TermRefund]:
    """List the refund of each term if the policy is cancelled today; StateForbids while a claim on it is open.

    Everything if the policy was never in force, the remaining months of a loan, otherwise the unexpired days of every
    paid term: pro rata if the insurer cancels, at short rate if the customer does. Nothing of a term on which a claim
    was paid.
    """
    claims = refund_holds.of(session, policy.id)
    refund_holds.refuse_while_open(claims)
    terms = paid_terms.list_paid_terms(session, policy) if policy.activated else []
    if not terms:
        return _within_corrected(session, policy, [_unused(session, policy, claims)])
    found = [
        _divided(session, term, _unless_paid(term, terms, claims, refund))
        for term, refund in _by_term(session, policy, terms, by_insurer=by_insurer)
    ]
    return _within_corrected(session, policy, found)


def on_declining(session: ScopedSession, policy: Policy) -> list[TermRefund]:
    """The whole premium of a policy that its insurer never took; StateForbids where a claim is open or was paid."""
    claims = refund_holds.of(session, policy.id)
    refund_holds.refuse_while_open(claims)
    refund_holds.refuse_paid(claims)
    return _within_corrected(session, policy, [_unused(session, policy, [])])


def _within_corrected(session: ScopedSession, policy: Policy, found: list[TermRefund]) -> list[TermRefund]:
    """Return the refunds; StateForbids where a term that was corrected would keep more commission than premium (K10).

    A refund is of what the customer paid. A correction of the sale is taken back by the two people that it takes.
    """
    sums = [sa.func.coalesce(sa.func.sum(col(getattr(Adjustment, name))), 0) for name in _PARTS]
    for each in found:
        renewal = col(Adjustment.renewal_id)
        query = sa.select(*sums).where(
            col(Adjustment.policy_id) == policy.id,
            renewal.is_(None) if each.renewal_id is None else renewal == each.renewal_id,
        )
        corrected = [int(minor) for minor in session.execute(query).one()]
        if any(corrected):
            paid, back = each.paid, each.parts
            left = [
                getattr(paid, name) + minor - getattr(back, name) for name, minor in zip(_PARTS, corrected, strict=True)
            ]
            premium, *commissions = left
            if max(-premium, -min(commissions), sum(commissions) - premium) > ROUNDING:
                raise StateForbids(
                    "Its sale was corrected: once the premium goes back,"
                    f" {money.format_naira(sum(commissions))} of commission would be left on"
                    f" {money.format_naira(premium)} of premium. Finance takes the correction back first"
                )
    return found


def together(found: Sequence[TermRefund]) -> Refund:
    """The refunds of all terms as one sum with its steps."""
    return refunds.together([each.refund for each in found])


def record_refund(
    session: ScopedSession, policy: Policy, found: Sequence[TermRefund], *, reason: str, actor: str
) -> Refund:
    """Note the refunds of a policy that ends today, one for each term, and their credit notes."""
    now = clock.now()
    for each in found:
        refund = tables.Refund(
            id=ids.new(),
            distributor_id=policy.distributor_id,
            is_live=policy.is_live,
            policy_id=policy.id,
            purchase_id=policy.purchase_id,
            renewal_id=each.renewal_id,
            customer_id=policy.customer_id,
            product_id=policy.product_id,
            product_version_id=each.version_id,
            product_category_id=policy.product_category_id,
            provider_id=policy.provider_id,
            total_minor=each.parts.total_minor,
            mca_profit_minor=each.parts.mca_profit_minor,
            distributor_profit_minor=each.parts.distributor_profit_minor,
            method=each.refund.method,
            reason=reason,
            explained=each.refund.price.explain,
            created_at=now,
        )
        session.insert(refund)
        credit_notes.issue(session, refund, actor=actor)
    return together(found)


def _unused(session: ScopedSession, policy: Policy, claims: Sequence[PolicyClaim]) -> TermRefund:
    """The purchase of a policy that was never in force, which goes back whole; nothing where a claim was paid."""
    purchase = session.get_one(Purchase, policy.purchase_id)
    paid = [claim.reference for claim in claims if claim.was_paid]
    refund = (
        refunds.none(_used_up(", ".join(paid))) if paid else refunds.compute_full(money.to_naira(purchase.total_minor))
    )
    return _split(session, None, purchase.product_version_id, paid=paid_terms.get_paid_split(purchase), refund=refund)


def _by_term(
    session: ScopedSession, policy: Policy, terms: Sequence[PaidTerm], *, by_insurer: bool
) -> Iterator[tuple[PaidTerm, Refund]]:
    if "loan_tenure" in policy.submitted:
        yield terms[0], _compute_loan_refund(session, terms[0], int(policy.submitted["loan_tenure"]))
        return
    rule = refunds.compute_pro_rata if by_insurer else refunds.compute_short_rate
    for term in terms:
        if term.expiration_at > clock.now():
            premium = money.to_naira(term.total_minor)
            stretch = PaidPeriod(premium=premium, start_at=term.start_at, expiration_at=term.expiration_at)
            yield term, rule(stretch, clock.today())


def _compute_loan_refund(session: ScopedSession, term: PaidTerm, months: int) -> Refund:
    basis = products.get_as_sold(session, term.version_id).rates.meta.get("basis", "single")
    rule = refunds.compute_decreasing if basis == "reducing" else refunds.compute_level
    months_left = refunds.count_months_left(clock.today(), term.expiration_on, months)
    return rule(money.to_naira(term.total_minor), months_left, months)


def _unless_paid(term: PaidTerm, terms: Sequence[PaidTerm], claims: Sequence[PolicyClaim], refund: Refund) -> Refund:
    paid = refund_holds.paid_on(term, terms, claims)
    return refunds.none(_used_up(paid)) if paid else refund


def _used_up(claims: str) -> str:
    return f"{claims} was paid out of this term: nothing goes back"


def _divided(session: ScopedSession, term: PaidTerm, refund: Refund) -> TermRefund:
    return _split(session, term.renewal_id, term.version_id, paid=term.paid, refund=refund)


def _split(
    session: ScopedSession, renewal_id: UUID | None, version_id: UUID, *, paid: Split, refund: Refund
) -> TermRefund:
    if refund.amount_minor > paid.total_minor:
        raise StateForbids("The refund is above what was paid for the term: nothing was written")
    sale = products.get_as_sold(session, version_id)
    parts = money.refund_split(
        refund.amount_minor, paid, mca_bp=sale.mca_commission_bp, distributor_bp=sale.distributor_commission_bp
    )
    return TermRefund(renewal_id=renewal_id, version_id=version_id, refund=refund, parts=parts, paid=paid)
