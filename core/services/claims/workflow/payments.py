"""Payees and payments of claims: append-only rows, their sums, and the limits that remain (contract C10)."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core import clock, money, seal
from core.covers import tariff
from core.covers.request import refuse_unless
from core.services.claims.intake import submitted
from core.services.claims.review import related as duplicates
from core.services.claims.workflow import offers as claim_offers
from core.services.claims.workflow.inputs import PaymentInput
from core.services.claims.workflow.offers import Limits
from core.services.people import approvals, transfers
from core.services.people.four_eyes import refuse_same
from core.services.people.staff import Person
from core.services.people.transfers import TypedReference
from core.services.policies import refunds
from core.services.policies.refunds import PaidTerm
from core.states.claims import ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import (
    Adjustment,
    Approval,
    Claim,
    ClaimEvent,
    ClaimPayment,
    CreditNote,
    CreditNotePayment,
    Distributor,
    PaymentPayee,
    Policy,
    ProductVersion,
    Purchase,
    Refund,
    Staff,
    Transfer,
)

AS_SUBMITTED: Final = "As submitted with the claim"
ACCOUNT_NUMBER: Final = transfers.ACCOUNT


@dataclass(frozen=True, kw_only=True, slots=True)
class Payee:
    """A payee with the last four digits of the account; `by` is who set it, None where it is as submitted."""

    name: str
    bank_name: str | None
    hint: str | None
    reason: str
    by: str | None = None
    set_by: UUID | None = None
    at: datetime | None = None


def list_payees(session: ScopedSession, claim: Claim) -> list[Payee]:
    """List every payee of a claim, the one as submitted first and the one of now last."""
    query: AnySelect = (
        sa.select(
            *(col(PaymentPayee.name), col(PaymentPayee.bank_name), col(PaymentPayee.hint), col(PaymentPayee.reason)),
            *(col(PaymentPayee.staff_id).label("set_by"), col(PaymentPayee.created_at).label("at")),
            col(Staff.name).label("by"),
        )
        .outerjoin(Staff, col(Staff.id) == col(PaymentPayee.staff_id))
        .where(col(PaymentPayee.claim_id) == claim.id)
        .order_by(col(PaymentPayee.created_at), col(PaymentPayee.id))
    )
    found = [Payee(**row._mapping) for row in session.execute(query)]
    first = [] if any(payee.set_by is None for payee in found) else [_build_submitted_payee(session, claim)]
    return [*first, *found]


def is_claimant_paid(claim: Claim) -> bool:
    """True where the claim names no payee: whoever claims is paid by name, but of a loan its lender is."""
    return submitted.get_line(claim) is not None and not submitted.get_meta(claim).get("account_name")


def _build_submitted_payee(session: ScopedSession, claim: Claim) -> Payee:
    """Return the account that the claim named; without one the lender is paid, or the claimant."""
    meta = submitted.get_meta(claim)
    owner = f"{claim.claim_owner_first_name} {claim.claim_owner_last_name}"
    lender = sa.select(col(Distributor.business_name)).where(col(Distributor.id) == claim.distributor_id)
    default = owner if submitted.get_line(claim) else session.execute(lender).scalar_one()
    number = str(meta.get(ACCOUNT_NUMBER) or "")
    return Payee(
        name=str(meta.get("account_name") or default),
        bank_name=meta.get("bank_name"),
        hint=number[-4:] or None,
        reason=AS_SUBMITTED,
    )


def get_payee_for_payment(session: ScopedSession, claim: Claim, *, person: Person, at: datetime) -> UUID:
    """Return the id of the payee's row, made of what was submitted where there is none.

    NotAllowed where the payer has set the payee.
    """
    row = refuse_setter(session, claim, person)
    if row is not None:
        return row.id
    payee = _build_submitted_payee(session, claim)
    return insert_payee(session, claim, payee, number=find_submitted_number(claim), at=at)


def find_account(session: ScopedSession, claim: Claim) -> str | None:
    """Return the whole number of the account that is paid to; None where none is named."""
    row = _find_newest_payee(session, claim)
    return transfers.open_account(row.sealed) if row else find_submitted_number(claim)


def find_other_payee(session: ScopedSession, claim: Claim) -> PaymentPayee | None:
    """Return the newest payee where it is another one than the claim named; None where it is as submitted."""
    row = _find_newest_payee(session, claim)
    if row is None or row.staff_id is not None:
        return row
    named = _build_submitted_payee(session, claim)
    is_same = (row.name, row.bank_name, row.hint) == (named.name, named.bank_name, named.hint)
    is_same_number = transfers.open_account(row.sealed) == find_submitted_number(claim)
    return None if is_same and is_same_number else row


def find_submitted_number(claim: Claim) -> str | None:
    """Return the account number that the claim named."""
    return next((value for path, value in seal.unseal(claim.sealed).items() if path.endswith(ACCOUNT_NUMBER)), None)


def _find_newest_payee(session: ScopedSession, claim: Claim) -> PaymentPayee | None:
    query = sa.select(PaymentPayee).where(col(PaymentPayee.claim_id) == claim.id)
    newest = query.order_by(col(PaymentPayee.created_at).desc(), col(PaymentPayee.id).desc()).limit(1)
    row: PaymentPayee | None = session.execute(newest).scalar_one_or_none()
    return row


def refuse_setter(session: ScopedSession, claim: Claim, person: Person) -> PaymentPayee | None:
    """Return the payee's row, if there is one; NotAllowed for who has set the payee."""
    row = _find_newest_payee(session, claim)
    refuse_same(row.staff_id if row else None, person, "Paying needs another than who has set the payee")
    return row


def insert_payee(session: ScopedSession, claim: Claim, payee: Payee, *, number: str | None, at: datetime) -> UUID:
    """Write a payee, which is the one of the claim from then on; returns the id of its row."""
    given: dict[str, Any] = {"name": payee.name, "bank_name": payee.bank_name, "hint": payee.hint}
    given |= {"reason": payee.reason, "staff_id": payee.set_by, "created_at": at}
    return transfers.keep_payee(session, claim, "claim_id", number, **given)


_FIELD: Final = "payment_reference"
# Where a sale names what is insured, if its price does not: the loan, or the value of the device.
_INSURED: Final = ("loan_amount", "device_value")
AMOUNT: Final = col(ClaimPayment.amount_minor)
_REVERSED: Final = orm.aliased(ClaimPayment)
RELATED_PERIOD: Final = timedelta(days=90)
_OFFERED: Final = frozenset({ClaimStatus.OFFER_SENT, ClaimStatus.OFFER_ACCEPTED, ClaimStatus.OFFER_REJECTED})


@dataclass(frozen=True, kw_only=True, slots=True)
class Payment:
    """One payment as a review shows it."""

    at: datetime
    amount_minor: int
    reference: str
    by: str | None
    payee: str | None
    hint: str | None
    method: str | None
    value_on: date | None


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


@dataclass(frozen=True, slots=True)
class Source:
    """Origin of a payment that is one of several: a file, or a transfer that pays several claims."""

    file_id: UUID | None = None
    transfer_id: UUID | None = None


def pay(
    session: ScopedSession,
    claim: Claim,
    *,
    amount_minor: int,
    reference: str,
    details: PaymentInput,
    person: Person,
    at: datetime,
    source: Source | None = None,
) -> None:
    """Pay an amount to the payee of the claim.

    NotAllowed where the payer has set the payee; InvalidInput names a reference that another payment has.
    """
    _refuse_early(session, claim, details)
    of = source or Source()
    transfers.pay(
        session,
        ClaimPayment,
        TypedReference(reference, _FIELD),
        transfer_id=of.transfer_id,
        distributor_id=claim.distributor_id,
        is_live=claim.is_live,
        claim_id=claim.id,
        provider_id=claim.provider_id,
        amount_minor=amount_minor,
        payee_id=get_payee_for_payment(session, claim, person=person, at=at),
        method=details.method,
        value_on=details.value_on,
        file_id=of.file_id,
        paid_by=person.id,
        created_at=at,
    )


def check_free(session: ScopedSession, claim: Claim, *, reference: str, details: PaymentInput, person: Person) -> None:
    """Raise what `pay` would raise for this payee, day and reference; `pay` alone knows of whoever pays meanwhile."""
    _refuse_early(session, claim, details)
    refuse_setter(session, claim, person)
    transfers.check_free(session, TypedReference(reference, _FIELD), is_live=claim.is_live)


def _refuse_early(session: ScopedSession, claim: Claim, details: PaymentInput) -> None:
    """InvalidInput for a day before the claim was lodged, or before its payee was set: the bank paid another one."""
    lodged_on, payee = clock.to_lagos_day(claim.created_at), list_payees(session, claim)[-1]
    set_on = clock.to_lagos_day(payee.at) if payee.set_by and payee.at else lodged_on
    words = f"must not be before {set_on:%-d %B %Y}, on which the payee was set: the bank paid another one then"
    refuse_unless(
        [
            (details.value_on >= lodged_on, "value_on", "must not be before the claim was lodged"),
            (details.value_on >= set_on, "value_on", words),
            (details.value_on >= _find_approved_on(session, claim), "value_on", "must not be before it was approved"),
        ]
    )


def _find_approved_on(session: ScopedSession, claim: Claim) -> date:
    """Return the day of the first approval since the claim was declined last, if it was; the lodging without one."""
    declined = sa.select(sa.func.max(col(ClaimEvent.created_at))).where(
        col(ClaimEvent.claim_id) == claim.id, col(ClaimEvent.status) == ClaimStatus.DECLINED
    )
    declined_at = session.execute(declined).scalar_one() or claim.created_at
    first = sa.select(sa.func.min(col(Approval.approved_at))).where(
        col(Approval.subject_id) == claim.id, col(Approval.approved_at) >= declined_at
    )
    return clock.to_lagos_day(session.execute(first).scalar_one() or claim.created_at)


def get_balance(claim: Claim, limits: Limits) -> int:
    """Return the part of a claim's offer that is not paid yet, in kobo."""
    return claim.offer_amount_minor - limits.offer_paid_minor


def reverse_last(
    session: ScopedSession, claim: Claim, *, reference: str, reason: str | None, person: Person, at: datetime
) -> int:
    """Write the return of the last payment that stands and return its amount in kobo; StateForbids without one.

    `reference` is that of the return: no other payment may have it, but the one that came back.
    """
    payment = transfers.find_standing(session, ClaimPayment, col(ClaimPayment.claim_id) == claim.id)
    typed = TypedReference(reference, _FIELD)
    transfers.take_back(session, payment, typed, reason=(reason or "")[:500] or None, by=person.id, at=at)
    return payment.amount_minor


def of_claim(session: ScopedSession, claim: Claim) -> Sequence[Payment]:
    """Every payment of a claim, oldest first."""
    query: AnySelect = (
        sa.select(
            *(col(ClaimPayment.created_at).label("at"), AMOUNT, col(Transfer.reference), col(Staff.name).label("by")),
            *(col(PaymentPayee.name).label("payee"), col(PaymentPayee.hint)),
            *(col(ClaimPayment.method), col(ClaimPayment.value_on)),
        )
        .join(Transfer, col(Transfer.id) == col(ClaimPayment.transfer_id))
        .outerjoin(PaymentPayee, col(PaymentPayee.id) == col(ClaimPayment.payee_id))
        .outerjoin(Staff, col(Staff.id) == col(ClaimPayment.paid_by))
        .where(col(ClaimPayment.claim_id) == claim.id)
        .order_by(col(ClaimPayment.created_at), col(ClaimPayment.id))
    )
    return [Payment(**row._mapping) for row in session.execute(query)]


def of_each() -> sa.ScalarSelect[int]:
    """Column for `select(Claim)`: the amount paid on each claim, in kobo."""
    mine = sa.select(sa.func.coalesce(sa.func.sum(AMOUNT), 0)).where(col(ClaimPayment.claim_id) == col(Claim.id))
    return mine.correlate(Claim).scalar_subquery()


def limits(session: ScopedSession, claim: Claim, *, for_update: bool = False) -> Limits:
    """Return the current limits of a claim.

    The caller holds the lock of the claim's row. With `for_update` the policy's row is locked too, so that concurrent
    payments on two claims of one policy are counted one after the other.
    """
    query = sa.select(Policy).where(col(Policy.id) == claim.policy_id)
    policy: Policy = session.execute(query.with_for_update() if for_update else query).scalar_one()
    others = _load_others(session, claim, policy)
    given_back = _find_given_back(session, claim, policy)
    # It came off the first claim that was paid, and bounds all claims of the term together.
    came_off = given_back if any(other.paid_minor > 0 for other in others) else 0
    owed = _find_owed(session, claim, _load_payments(session, claim), others, came_off)
    # The ceiling of a product bounds what is owed; alone it is no reason to pay anything.
    insured = insured_minor(policy) if owed is None else find_ceiling(session, policy, submitted.get_loss_day(claim))
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

    def sum_since(self, at: datetime) -> int:
        """Return what was paid from an instant on, with what is approved and not paid yet."""
        return sum(minor for paid_at, minor in self.payments if paid_at >= at) + self.approved_minor


def _find_given_back(session: ScopedSession, claim: Claim, policy: Policy) -> int:
    """Return the premium in kobo that went back of the term of a loss (contract K6).

    We paid it to the customer, or the distributor that holds it has it back on its statement, paid or not.
    """
    if policy.cancelled_at is None:
        return 0
    terms = refunds.list_paid_terms(session, policy)
    term = _find_term(terms, submitted.get_loss_day(claim))
    if refunds.is_given_by_distributor(session, policy):
        corrected = sa.select(sa.func.coalesce(sa.func.sum(col(Adjustment.total_minor)), 0))
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
    same = [other for other in claims if _find_term(terms, submitted.get_loss_day(other)) == term]
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


def find_above_owed(session: ScopedSession, claim: Claim, *, is_standing: bool) -> tuple[int, int] | None:
    """Return what is paid and, where its approval stands, to be paid on a claim, and the most, where it is above it."""
    found = limits(session, claim)
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
    stated = claim_offers.get_amount_owed(claim)
    if stated is None:
        return None
    is_debt = claim.credit_life_claim_meta is not None
    related = [other for other in others if is_debt or _is_same_loss(session, claim, other.claim)]
    bounds = [money.to_minor(stated) - sum(_sum_since(other, claim, is_debt=is_debt) for other in related)]
    for named in related:
        debt = claim_offers.get_amount_owed(named.claim)
        if debt is not None and (named.payments or named.approved_minor):
            since = sum(_sum_since(other, named.claim, is_debt=is_debt) for other in related)
            before = sum(minor for at, minor in payments if is_debt and at < named.claim.created_at)
            bounds.append(money.to_minor(debt) - since + before - came_off_minor)
    return max(0, min(bounds))


def _is_same_loss(session: ScopedSession, claim: Claim, other: Claim) -> bool:
    """True for two claims of a policy with the same day and kind, or with the same bill or photo of the damage."""
    return _get_event(claim) == _get_event(other) or duplicates.share_damage(session, claim, other)


def _get_event(claim: Claim) -> tuple[date, str | None]:
    return submitted.get_loss_day(claim), submitted.get_meta(claim).get("incident_type")


def _sum_since(other: _Other, named: Claim, *, is_debt: bool) -> int:
    """Return what of another claim came after a claim named its debt; of another line all of it."""
    return other.sum_since(named.created_at) if is_debt else other.paid_minor + other.approved_minor


def sum_related(session: ScopedSession, claim: Claim) -> RelatedApprovals:
    """Return what was approved on other claims of this policy, claimant or account within 90 days (contract K5)."""
    recent = sa.exists().where(
        col(Approval.subject_id) == col(Claim.id), col(Approval.approved_at) > clock.now() - RELATED_PERIOD
    )
    approved, paid = col(Claim.approved_amount_minor), of_each()
    is_more = sa.and_(col(Claim.approved_by).is_not(None), approved > paid)
    # A claim that was opened again, or declined after a part of it was paid, has the authority that paid it.
    figure = sa.case((is_more, approved), else_=paid)
    query = sa.select(figure.label("minor")).where(
        sa.or_(col(Claim.policy_id) == claim.policy_id, *duplicates.build_same_person(claim)),
        *duplicates.build_others(claim),
        sa.or_(col(Claim.approved_by).is_not(None), paid > 0),
        recent,
    )
    with session.across_distributors():
        found = [int(minor) for minor in session.execute(query.select_from(Claim)).scalars()]
    return RelatedApprovals(amount_minor=sum(found), claims=len(found))


def _find_term(terms: Sequence[PaidTerm], day: date) -> PaidTerm | None:
    """Return the term of a day; the first one for a day outside all of them, so that no payment is left out."""
    return next((term for term in terms if term.start_on <= day < term.expiration_on), terms[0] if terms else None)


def find_ceiling(session: ScopedSession, policy: Policy, day: date) -> int:
    """Return the most that claims of the term of a day come to, in kobo: the sum insured, or the product's (K6).

    That of the product is the one in the rates at which the term was bought.
    """
    insured = insured_minor(policy)
    if insured is not None:
        return insured
    term = _find_term(refunds.list_paid_terms(session, policy), day)
    version_id = term.version_id if term else session.get_one(Purchase, policy.purchase_id).product_version_id
    rules = session.get_one(ProductVersion, version_id).meta
    return money.to_minor(Decimal(str(tariff.get_claim_rule(rules, tariff.CLAIM_CEILING))))


def insured_minor(policy: Policy) -> int | None:
    """Return the sum insured of a policy in kobo, or None if neither its price nor its request states one."""
    if policy.sum_insured_minor is not None:
        return policy.sum_insured_minor
    named = next((policy.submitted[name] for name in _INSURED if policy.submitted.get(name)), None)
    return None if named is None else money.to_minor(money.round_half_up(Decimal(str(named))))
