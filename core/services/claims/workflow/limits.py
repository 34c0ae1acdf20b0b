"""Limits of a claim by its debt, sum insured and other claims, and the offer within them (contract C8, K5, K6)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Final

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core import clock, money
from core.covers import tariff
from core.covers.cover import Price, Step
from core.services.claims.intake import submitted
from core.services.claims.review import related
from core.services.claims.workflow.payments import AMOUNT, build_paid_column
from core.services.people import approvals, transfers
from core.services.policies import refunds
from core.services.policies.refunds import PaidTerm
from core.states.claims import DECIDED, ClaimStatus
from core.store.access import ScopedSession
from core.store.expressions import sum_of
from core.store.schema.tables import (
    Adjustment,
    Approval,
    Claim,
    ClaimEvent,
    ClaimPayment,
    CreditNote,
    CreditNotePayment,
    Policy,
    ProductVersion,
    Purchase,
    Refund,
)

RELATED_PERIOD: Final = timedelta(days=90)
_REVERSED: Final = orm.aliased(ClaimPayment)
_OFFERED: Final = frozenset({ClaimStatus.OFFER_SENT, ClaimStatus.OFFER_ACCEPTED, ClaimStatus.OFFER_REJECTED})


@dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Upper limits of a claim's total, in kobo: owed and insured amounts, None where the records do not say.

    `paid_minor` was paid on the claim before and counts towards its total. `elsewhere_minor` was paid or is approved on
    other claims of the policy in the same term; it is already deducted from the insured amount, and from the owed
    amount as far as the debt did not know of it. `offer_paid_minor` was paid of the offer that stands, in parts.
    `given_back_minor` is premium of the term that went back to the customer and came off no other claim.
    """

    owed_minor: int | None = None
    insured_minor: int | None = None
    paid_minor: int = 0
    elsewhere_minor: int = 0
    offer_paid_minor: int = 0
    given_back_minor: int = 0

    @property
    def most_minor(self) -> int | None:
        """The lower of owed and insured; none where neither is known."""
        return min((each for each in (self.owed_minor, self.insured_minor) if each is not None), default=None)

    @property
    def describe(self) -> str:
        """The lower of both with what makes it so: "₦75,000.00, what is still owed"."""
        return f"{money.format_naira(self.most_minor or 0)}, {self.source}"

    @property
    def source(self) -> str:
        """Name the lower of the two limits."""
        source = "what is still owed" if self.most_minor == self.owed_minor else "what is insured"
        if not self.elsewhere_minor:
            return source
        elsewhere = money.format_naira(self.elsewhere_minor)
        return f"{source} after the {elsewhere} paid or approved on other claims of the policy"


@dataclass(frozen=True, kw_only=True, slots=True)
class RelatedApprovals:
    """The sum in kobo approved on other claims of a policy, claimant or account within 90 days, and on how many."""

    amount_minor: int = 0
    claims: int = 0

    @property
    def text(self) -> str:
        """The claims in words: "on 2 other claims of this policy, claimant or account within 90 days"."""
        which = "another claim" if self.claims == 1 else f"{self.claims} other claims"
        return f"on {which} of this policy, claimant or account within {RELATED_PERIOD.days} days"


def load(session: ScopedSession, claim: Claim) -> Limits:
    """Return the current limits of a claim."""
    policy = session.get_one(Policy, claim.policy_id)
    others = _load_others(session, claim, policy)
    given_back = _find_given_back(session, claim, policy)
    # It came off the first claim that was paid, and bounds all claims of the term together.
    came_off = given_back if any(other.paid_minor > 0 for other in others) else 0
    owed = _find_owed(session, claim, _load_payments(session, claim), others, came_off)
    # The ceiling of a product bounds what is owed; alone it is no reason to pay anything.
    day = submitted.get_loss_day(claim)
    insured = related.insured_minor(policy) if owed is None else find_ceiling(session, policy, day)
    elsewhere = sum(other.paid_minor + other.approved_minor for other in others)
    return Limits(
        owed_minor=owed,
        insured_minor=None if insured is None else max(0, insured - elsewhere - came_off),
        paid_minor=transfers.sum_paid(session, ClaimPayment, col(ClaimPayment.claim_id) == claim.id),
        elsewhere_minor=elsewhere,
        offer_paid_minor=_sum_of_offer(session, claim),
        given_back_minor=given_back - came_off,
    )


def _sum_of_offer(session: ScopedSession, claim: Claim) -> int:
    """Return what was paid since the offer that stands was sent, without what came back of it."""
    sent_at = (
        sa.select(sa.func.max(col(ClaimEvent.created_at)))
        .where(col(ClaimEvent.claim_id) == claim.id, col(ClaimEvent.status) == ClaimStatus.OFFER_SENT)
        .scalar_subquery()
    )
    query = (
        sa.select(sa.func.sum(AMOUNT))
        .outerjoin(_REVERSED, col(_REVERSED.id) == col(ClaimPayment.reverses))
        .where(
            col(ClaimPayment.claim_id) == claim.id,
            sa.func.coalesce(col(_REVERSED.created_at), col(ClaimPayment.created_at)) >= sent_at,
        )
    )
    return int(session.execute(query).scalar_one() or 0)


_Payments = Sequence[tuple[datetime, int]]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Other:
    """Another claim for a loss of the same term, with what was paid on it, and approved and not paid yet, in kobo."""

    claim: Claim
    payments: _Payments
    approved_minor: int

    @property
    def paid_minor(self) -> int:
        return sum(minor for _, minor in self.payments)


def _find_given_back(session: ScopedSession, claim: Claim, policy: Policy) -> int:
    """Return the premium in kobo that went back of the term of a loss (contract K6).

    We paid it to the customer, or the distributor that holds it has it back on its statement, paid or not.
    """
    if policy.cancelled_at is None and policy.declined_at is None:
        return 0
    terms = refunds.list_paid_terms(session, policy)
    term = _find_term(terms, submitted.get_loss_day(claim))
    if refunds.is_given_by_distributor(session, policy):
        corrected = sa.select(sum_of(col(Adjustment.total_minor)))
        corrected = corrected.where(col(Adjustment.corrects_id) == col(Refund.id)).correlate(Refund)
        query = sa.select(sa.func.sum(col(Refund.total_minor) - corrected.scalar_subquery()))
    else:
        query = (
            sa.select(sa.func.sum(col(CreditNotePayment.amount_minor)))
            .join(CreditNote, col(CreditNote.id) == col(CreditNotePayment.credit_note_id))
            .join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        )
    query = query.where(col(Refund.policy_id) == policy.id)
    if term:
        renewal = col(Refund.renewal_id)
        query = query.where(renewal.is_(None) if term.renewal_id is None else renewal == term.renewal_id)
    return int(session.execute(query).scalar_one() or 0)


def _load_others(session: ScopedSession, claim: Claim, policy: Policy) -> list[_Other]:
    query = sa.select(Claim).where(
        col(Claim.policy_id) == policy.id, col(Claim.id) != claim.id, col(Claim.deleted_at).is_(None)
    )
    claims = session.execute(query).scalars().all()
    if not claims:
        return []
    terms = refunds.list_paid_terms(session, policy)
    term = _find_term(terms, submitted.get_loss_day(claim))
    # The day of a loss that was erased before this one came is not known: it counts in every term.
    gone = [] if related.is_gone(claim) else [other.id for other in claims if related.is_gone(other)]
    same = [each for each in claims if each.id in gone or _find_term(terms, submitted.get_loss_day(each)) == term]
    lapsed = approvals.list_lapsed(session, [other.id for other in same if other.approved_by is not None])
    return [_build_other(session, other, is_lapsed=other.id in lapsed) for other in same]


def _build_other(session: ScopedSession, claim: Claim, *, is_lapsed: bool) -> _Other:
    payments = _load_payments(session, claim)
    offer_paid = _sum_of_offer(session, claim) if payments else 0
    unpaid = get_unpaid(claim, paid_minor=sum(minor for _, minor in payments), offer_paid_minor=offer_paid)
    # What lapsed is paid by nobody before it is judged anew.
    return _Other(claim=claim, payments=payments, approved_minor=0 if is_lapsed else unpaid)


def _load_payments(session: ScopedSession, claim: Claim) -> _Payments:
    query = sa.select(col(ClaimPayment.created_at), AMOUNT).where(col(ClaimPayment.claim_id) == claim.id)
    return [(row.created_at, row.amount_minor) for row in session.execute(query)]


def get_unpaid(claim: Claim, *, paid_minor: int, offer_paid_minor: int) -> int:
    """Return what is to be paid on a claim yet, in kobo: of its offer once there is one, else of what was approved.

    A claim that went back to review is promised nothing: it is approved again before anything is paid.
    """
    if claim.approved_by is None:
        return 0
    if claim.claim_status in _OFFERED:
        return max(0, claim.offer_amount_minor - offer_paid_minor)
    return max(0, claim.approved_amount_minor - paid_minor) if claim.claim_status == ClaimStatus.APPROVED else 0


def get_balance(claim: Claim, limits: Limits) -> int:
    """Return the part of a claim's offer that is not paid yet, in kobo."""
    return claim.offer_amount_minor - limits.offer_paid_minor


def find_above_owed(session: ScopedSession, claim: Claim, *, is_standing: bool) -> tuple[int, int] | None:
    """Return what is paid and, where its approval stands, to be paid on a claim, and the most, where it is above it."""
    found = load(session, claim)
    unpaid = get_unpaid(claim, paid_minor=found.paid_minor, offer_paid_minor=found.offer_paid_minor)
    taken = found.paid_minor + (unpaid if is_standing else 0)
    return (taken, found.most_minor) if found.most_minor is not None and taken > found.most_minor else None


def _find_owed(
    session: ScopedSession, claim: Claim, payments: _Payments, others: Sequence[_Other], came_off_minor: int
) -> int | None:
    """Return what is owed in kobo, less what other claims of the same loss or debt were paid or approved (contract K5).

    What a lender states as owed knows of what was paid before, and stands for every claim of the term; the least that
    was stated counts, less the premium that came off a claim. The loss of another line is owed once, whoever claims it.
    """
    stated = get_amount_owed(claim)
    if stated is None:
        return None
    is_debt = claim.credit_life_claim_meta is not None
    same = [other for other in others if is_debt or _is_same_loss(session, claim, other.claim)]
    bounds = [money.to_minor(stated) - sum(_sum_since(other, claim, is_debt=is_debt) for other in same)]
    for named in same:
        debt = get_amount_owed(named.claim)
        if debt is not None and (named.payments or named.approved_minor):
            since = sum(_sum_since(other, named.claim, is_debt=is_debt) for other in same)
            before = sum(minor for at, minor in payments if is_debt and at < named.claim.created_at)
            bounds.append(money.to_minor(debt) - since + before - came_off_minor)
    return max(0, min(bounds))


def get_amount_owed(claim: Claim) -> Decimal | None:
    """Return the amount owed in naira: pending repayment, at most the loan; else the estimate, or what is claimed."""
    if submitted.get_line(claim) is not None and claim.repair_estimate_minor:
        return money.to_naira(claim.repair_estimate_minor)
    return get_amount_claimed(claim)


def get_amount_claimed(claim: Claim) -> Decimal | None:
    """Return what was submitted as the loss in naira, whatever was estimated since."""
    line, meta = submitted.get_line(claim), submitted.get_meta(claim)
    names = submitted.LOAN_AMOUNTS if line is None else (line.amount,)
    return min((Decimal(str(meta[name])) for name in names if meta.get(name) is not None), default=None)


def _is_same_loss(session: ScopedSession, claim: Claim, other: Claim) -> bool:
    """True for two claims of a policy with the same day and kind, or with the same bill or photo of the damage."""
    return _get_event(claim) == _get_event(other) or related.share_damage(session, claim, other)


def _get_event(claim: Claim) -> tuple[date, str | None]:
    return submitted.get_loss_day(claim), submitted.get_meta(claim).get("incident_type")


def _sum_since(other: _Other, named: Claim, *, is_debt: bool) -> int:
    """Return what of another claim came after a claim named its debt; of another line all of it."""
    paid = (minor for paid_at, minor in other.payments if not is_debt or paid_at >= named.created_at)
    return sum(paid) + other.approved_minor


def sum_related(session: ScopedSession, claim: Claim) -> RelatedApprovals:
    """Return what was approved within 90 days on other claims of this policy, customer, claimant or account (K5)."""
    recent = sa.exists().where(
        col(Approval.subject_id) == col(Claim.id), col(Approval.approved_at) > clock.now() - RELATED_PERIOD
    )
    approved, paid = col(Claim.approved_amount_minor), build_paid_column()
    is_more = sa.and_(col(Claim.approved_by).is_not(None), approved > paid)
    # A claim that was opened again, or declined after a part of it was paid, has the authority that paid it.
    figure = sa.case((is_more, approved), else_=paid)
    query = sa.select(figure.label("minor")).where(
        *related.build_others(claim), sa.or_(col(Claim.approved_by).is_not(None), paid > 0), recent
    )
    with session.across_distributors():
        same = sa.or_(col(Claim.policy_id) == claim.policy_id, *related.build_same_customer(session, claim))
        found = [int(minor) for minor in session.execute(query.select_from(Claim).where(same)).scalars()]
    return RelatedApprovals(amount_minor=sum(found), claims=len(found))


def _find_term(terms: Sequence[PaidTerm], day: date) -> PaidTerm | None:
    """Return the term of a day; the first one for a day outside all of them, so that no payment is left out."""
    return refunds.find_term(terms, day) or (terms[0] if terms else None)


def find_ceiling(session: ScopedSession, policy: Policy, day: date) -> int:
    """Return the most that claims of the term of a day come to, in kobo: the sum insured, or the product's (K6).

    That of the product is the one in the rates at which the term was bought.
    """
    insured = related.insured_minor(policy)
    if insured is not None:
        return insured
    term = _find_term(refunds.list_paid_terms(session, policy), day)
    version_id = term.version_id if term else session.get_one(Purchase, policy.purchase_id).product_version_id
    rules = session.get_one(ProductVersion, version_id).meta
    return money.to_minor(Decimal(str(tariff.get_claim_rule(rules, tariff.CLAIM_CEILING))))


# Where what comes off an offer does not change any more: the claimant has agreed to it, or it is paid.
OFFER_FIXED: Final = DECIDED | {ClaimStatus.OFFER_ACCEPTED}
_STANDING: Final = OFFER_FIXED | {ClaimStatus.OFFER_SENT}
# Where an offer was made of the amount that is approved now.
_WITH_OFFER: Final = _STANDING | {ClaimStatus.OFFER_REJECTED}


def compute_offer(
    *,
    approved: Decimal,
    owed: Decimal | None,
    insured: Decimal | None = None,
    excess: Decimal = money.ZERO,
    betterment: Decimal = money.ZERO,
    given_back: Decimal = money.ZERO,
    paid: Decimal = money.ZERO,
) -> Price:
    """The lowest of approved, owed and insured, less what comes off it, in naira and never below zero.

    Excess, betterment, premium that went back and what was paid come off. What is not known (None) does not bound it.
    """
    steps = [Step("Approved amount", "as approved", approved)]
    amount = approved
    if owed is not None:
        steps.append(Step("Owed", "what is still owed", owed))
    if insured is not None and insured < min(approved, approved if owed is None else owed):
        steps.append(Step("Insured", "what is insured", insured))
    if len(steps) > 1:
        amount = min(step.amount for step in steps)
        lower = " and ".join(f"{step.amount:,.2f}" for step in steps)
        steps.append(Step("Lower of both" if len(steps) == 2 else "Lowest of all", f"the lower of {lower}", amount))
    less = (excess, betterment, given_back, paid)
    for label, deduction in zip(("excess", "betterment", "premium that went back", "what was paid"), less, strict=True):
        if deduction:
            steps.append(Step(f"Less {label}", f"{amount:,.2f} - {deduction:,.2f}", amount - deduction))
            amount -= deduction
    total = max(amount, money.ZERO)
    steps.append(Step("Offer", "never below zero" if amount < 0 else "what remains", total))
    return Price(total=total, steps=steps)


def get_max_offer(claim: Claim, limits: Limits) -> int:
    """The most that may be offered on a claim as it stands, in kobo: what the rule gives."""
    return money.to_minor(compute_claim_offer(claim, limits).total)


def describe_max_offer(claim: Claim, limits: Limits) -> str:
    """The most that may be offered, with what makes it so: "₦12,499.75, what remains after excess and betterment"."""
    limit = get_max_offer(claim, limits)
    if limits.paid_minor:
        why = f"what remains after the {money.format_naira(limits.paid_minor)} that was paid"
    elif limits.given_back_minor:
        why = f"what remains after the {money.format_naira(limits.given_back_minor)} of premium that went back"
    elif claim.excess_deduction_amount_minor or claim.betterment_deduction_amount_minor:
        why = "what remains after excess and betterment"
    elif limit < claim.approved_amount_minor:
        why = limits.source
    else:
        return f"the approved amount, {money.format_naira(limit)}"
    return f"{money.format_naira(limit)}, {why}"


def compute_claim_offer(claim: Claim, limits: Limits) -> Price:
    """The offer on a claim as it stands."""
    return compute_offer_within(
        limits,
        approved=money.to_naira(claim.approved_amount_minor),
        excess_minor=claim.excess_deduction_amount_minor,
        betterment_minor=claim.betterment_deduction_amount_minor,
    )


def compute_standing_offer(claim: Claim, limits: Limits) -> Price:
    """Like `compute_claim_offer`, but what was paid of an offer that stands does not come off that offer."""
    if claim.claim_status in _STANDING:
        limits = replace(limits, paid_minor=limits.paid_minor - limits.offer_paid_minor)
    return compute_claim_offer(claim, limits)


def list_offer_steps(rule: Price, *, status: str, offer_minor: int, note: str | None) -> list[Step]:
    """The steps of the rule and, where the offer that was made is another amount, that offer with the note of why."""
    offer, last = money.to_naira(offer_minor), rule.steps[-1]
    if status not in _WITH_OFFER or not offer_minor or offer == rule.total:
        return list(rule.steps)
    return [
        *rule.steps[:-1],
        replace(last, label="At most"),
        Step("Offer", " ".join((note or "as it was sent").split()), offer),
    ]


def compute_offer_within(limits: Limits, *, approved: Decimal, excess_minor: int, betterment_minor: int) -> Price:
    """The offer that an approved amount in naira leads to."""
    return compute_offer(
        approved=approved,
        owed=None if limits.owed_minor is None else money.to_naira(limits.owed_minor),
        insured=None if limits.insured_minor is None else money.to_naira(limits.insured_minor),
        excess=money.to_naira(excess_minor),
        betterment=money.to_naira(betterment_minor),
        given_back=money.to_naira(limits.given_back_minor),
        paid=money.to_naira(limits.paid_minor),
    )
