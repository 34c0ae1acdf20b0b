"""Refunds of policies that end early: the terms paid, claims that hold them back, and the credit note."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.covers import refunds
from core.covers.refunds import PaidPeriod, Refund
from core.errors import StateForbids
from core.money import Split
from core.services.catalogue import distributor_terms, for_sale
from core.services.lists import records
from core.states.claims import DECIDED, ClaimStatus
from core.store.access import ScopedSession
from core.store.expressions import sum_of
from core.store.policy_numbers import credit_note_series
from core.store.schema import tables
from core.store.schema.tables import (
    Adjustment,
    Agreement,
    Approval,
    Claim,
    ClaimEvent,
    ClaimPayment,
    CreditNote,
    Policy,
    Purchase,
    Renewal,
)


@dataclass(frozen=True, kw_only=True, slots=True)
class PaidTerm:
    """One paid period of cover, the product version it was priced with, and the renewal that created it.

    `sold_at` is when it was bought, which may be after its start.
    """

    start_at: datetime
    expiration_at: datetime
    paid: Split
    version_id: UUID
    renewal_id: UUID | None = None
    sold_at: datetime | None = None

    @property
    def total_minor(self) -> int:
        """The premium of the term in kobo."""
        return self.paid.total_minor

    @property
    def start_on(self) -> date:
        """The first day in Lagos."""
        return clock.to_lagos_day(self.start_at)

    @property
    def sold_on(self) -> date:
        """The day in Lagos on which it was bought; its first day where that is not known."""
        return clock.to_lagos_day(self.sold_at) if self.sold_at else self.start_on

    @property
    def expiration_on(self) -> date:
        """The day in Lagos on which cover ends."""
        return clock.to_lagos_day(self.expiration_at)

    @property
    def last_on(self) -> date:
        """The last day of cover: the day before an expiration at midnight (contract S8)."""
        ends_at_midnight = self.expiration_at == clock.midnight(self.expiration_on)
        return clock.add_days(self.expiration_on, -1) if ends_at_midnight else self.expiration_on


def get_paid_split(row: Purchase | Renewal) -> Split:
    """Return the amount paid for a term and its three parts."""
    return Split(row.total_minor, row.mca_profit_minor, row.distributor_profit_minor)


def find_term(terms: Sequence[PaidTerm], day: date | None) -> PaidTerm | None:
    """Return the term that holds a day, its expiration day left out as soon as the next one begins; else None."""
    holding = [term for term in terms if day is not None and term.start_on <= day <= term.last_on]
    return holding[-1] if holding else None


def list_paid_terms(session: ScopedSession, policy: Policy) -> list[PaidTerm]:
    """Return every paid term of a policy, oldest first; empty while the insurer has not set its dates."""
    return list_by_policy(session, [policy])[policy.id]


def list_by_policy(session: ScopedSession, policies: Sequence[Policy]) -> dict[UUID, list[PaidTerm]]:
    """Like `list_paid_terms`, for several policies by their ids, in two queries."""
    dated = [policy for policy in policies if policy.start_at is not None and policy.expiration_at is not None]
    renewals = _load_renewals(session, [policy.id for policy in dated])
    sales = _load_purchases(session, [policy.purchase_id for policy in dated])
    terms: dict[UUID, list[PaidTerm]] = {policy.id: [] for policy in policies}
    for policy in dated:
        later = renewals.get(policy.id, [])
        terms[policy.id] = [_build_first(policy, sales[policy.purchase_id], later), *map(_build_renewed, later)]
    return terms


def _build_first(policy: Policy, sale: Purchase, later: Sequence[Renewal]) -> PaidTerm:
    assert policy.start_at is not None and policy.expiration_at is not None, "it has dates"  # noqa: S101, PT018
    return PaidTerm(
        start_at=policy.start_at,
        expiration_at=later[0].previous_expiration_at if later else policy.expiration_at,
        paid=get_paid_split(sale),
        version_id=sale.product_version_id,
        sold_at=sale.created_at,
    )


def _load_purchases(session: ScopedSession, purchase_ids: Sequence[UUID]) -> dict[UUID, Purchase]:
    found = session.execute(sa.select(Purchase).where(col(Purchase.id).in_(purchase_ids))).scalars()
    return {sale.id: sale for sale in found}


def _load_renewals(session: ScopedSession, policy_ids: Sequence[UUID]) -> dict[UUID, list[Renewal]]:
    query = (
        sa.select(Renewal)
        .where(col(Renewal.policy_id).in_(policy_ids), col(Renewal.status), col(Renewal.deleted_at).is_(None))
        .order_by(col(Renewal.start_at))
    )
    found: dict[UUID, list[Renewal]] = {}
    for renewal in session.execute(query).scalars():
        found.setdefault(renewal.policy_id, []).append(renewal)
    return found


def _build_renewed(renewal: Renewal) -> PaidTerm:
    return PaidTerm(
        start_at=renewal.start_at,
        expiration_at=renewal.expiration_at,
        paid=get_paid_split(renewal),
        version_id=renewal.product_version_id,
        renewal_id=renewal.id,
        sold_at=renewal.created_at,
    )


# Claims that stand against a refund: open ones hold it back, paid ones use the premium up (contract S19).

_NAMED = 3


@dataclass(frozen=True, kw_only=True, slots=True)
class PolicyClaim:
    """A claim on a policy as far as a refund depends on it; the day is that of the loss, or of the lodging."""

    id: UUID
    status: str
    happened_on: date
    is_open: bool
    was_paid: bool

    @property
    def reference(self) -> str:
        """The claim as people name it."""
        return records.claim_reference(self.id)

    def falls_in(self, term: PaidTerm) -> bool:
        """True for a loss on a day of the term."""
        return term.start_on <= self.happened_on <= term.last_on


def list_policy_claims(session: ScopedSession, policy_id: UUID) -> list[PolicyClaim]:
    """The claims on a policy, oldest first. One that was paid stays paid, whatever was decided after.

    So does one of which a part was paid and did not come back. That it did is the word of one person, until somebody
    else has approved the claim since (contract K3).
    """
    whole = sa.exists().where(col(ClaimEvent.claim_id) == col(Claim.id), col(ClaimEvent.status) == ClaimStatus.PAID)
    is_confirmed = sa.exists().where(
        col(Approval.subject_id) == col(ClaimPayment.claim_id), col(Approval.approved_at) > col(ClaimPayment.created_at)
    )
    counts = sa.or_(col(ClaimPayment.reverses).is_(None), is_confirmed)
    parts = sa.select(sum_of(sa.case((counts, col(ClaimPayment.amount_minor)), else_=0)))
    mine = parts.where(col(ClaimPayment.claim_id) == col(Claim.id)).correlate(Claim).scalar_subquery()
    paid = sa.or_(whole, mine > 0)
    columns = (Claim.id, Claim.claim_status, Claim.incident_date, Claim.created_at)
    query = sa.select(*(col(column) for column in columns), paid.label("was_paid"))
    rows = session.execute(
        query.where(col(Claim.policy_id) == policy_id, col(Claim.deleted_at).is_(None)).order_by(
            col(Claim.created_at), col(Claim.id)
        )
    )
    return [
        PolicyClaim(
            id=row.id,
            status=row.claim_status,
            happened_on=_day(row.incident_date) or clock.to_lagos_day(row.created_at),
            is_open=row.claim_status not in DECIDED,
            was_paid=row.was_paid,
        )
        for row in rows
    ]


def _day(written: str | None) -> date | None:
    return date.fromisoformat(written[:10]) if written else None


def refuse_while_open(claims: Sequence[PolicyClaim]) -> None:
    """StateForbids, with the claims that have to be decided first."""
    if waiting := [claim for claim in claims if claim.is_open]:
        verb = "is" if len(waiting) == 1 else "are"
        _refuse(f"{_named(waiting)} {verb} still open: what goes back is known once that is decided", waiting)


def refuse_paid(claims: Sequence[PolicyClaim]) -> None:
    """StateForbids, with the claims that were paid: such a policy cannot be undone as if it had never been."""
    if paid := [claim for claim in claims if claim.was_paid]:
        _refuse(f"{_named(paid)} was paid: the premium cannot go back whole. Cancel the policy instead", paid)


def paid_on(term: PaidTerm, terms: Sequence[PaidTerm], claims: Sequence[PolicyClaim]) -> str | None:
    """The claims that were paid out of a term, in words; one whose day lies in no term counts for every term."""
    found = [
        claim
        for claim in claims
        if claim.was_paid and (claim.falls_in(term) or not any(claim.falls_in(each) for each in terms))
    ]
    return _named(found) if found else None


def _refuse(text: str, claims: Sequence[PolicyClaim]) -> None:
    detail = [{"claim_id": str(claim.id), "reference": claim.reference, "status": claim.status} for claim in claims]
    raise StateForbids(text, detail={"claims": detail})


def _named(claims: Sequence[PolicyClaim]) -> str:
    named = ", ".join(f"{claim.reference} ({claim.status})" for claim in claims[:_NAMED])
    more = f" and {len(claims) - _NAMED} more" if len(claims) > _NAMED else ""
    return f"{'Claim' if len(claims) == 1 else 'Claims'} {named}{more}"


def is_given_by_distributor(session: ScopedSession, policy: Policy) -> bool:
    """True where the distributor of a live policy that was ended holds its premium: its statement has the refund (K2).

    That is by the terms of the end of the month in which it was cancelled or declined.
    """
    ended_at = policy.cancelled_at or policy.declined_at
    if ended_at is None or not policy.is_live:
        return False
    first_on = clock.to_lagos_day(ended_at).replace(day=1)
    last_on = clock.add_days(clock.add_months(first_on, 1), -1)
    terms = distributor_terms.select_agreement(policy.distributor_id, last_on).with_only_columns(
        col(Agreement.collects)
    )
    return session.execute(terms).scalar() == "distributor"


# The credit note of a refund, numbered within its insurer; what becomes of it is finance's (contract F8).


def issue_credit_note(session: ScopedSession, refund: tables.Refund, *, actor: str) -> None:
    """Write the credit note of a refund; a refund of nothing has none."""
    if not refund.total_minor:
        return
    session.insert(
        CreditNote(
            # One for each refund: the same id says so.
            id=refund.id,
            refund_id=refund.id,
            distributor_id=refund.distributor_id,
            is_live=refund.is_live,
            provider_id=refund.provider_id,
            number=session.next_in_transaction(credit_note_series(refund.provider_id, is_live=refund.is_live)),
            total_minor=refund.total_minor,
            created_at=refund.created_at,
            made_by=actor[:120],
        )
    )


# The refund of a policy that ends: what goes back of each term, how it divides, and its rows (contract S19).

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


def compute_cancellation_refunds(
    session: ScopedSession, policy: Policy, *, by_insurer: bool, ended_on: date | None = None
) -> list[TermRefund]:
    """List the refund of each term if the policy is cancelled today; StateForbids while a claim on it is open.

    The loan behind it may have ended before, on `ended_on`: its months count from there.

    Everything if the policy was never in force, the remaining months of a loan, otherwise the unexpired days of every
    paid term: pro rata if the insurer cancels, at short rate if the customer does. Nothing of a term on which a claim
    was paid.
    """
    claims = list_policy_claims(session, policy.id)
    refuse_while_open(claims)
    terms = list_paid_terms(session, policy) if policy.activated else []
    if not terms:
        return _within_corrected(session, policy, [_unused(session, policy, claims)])
    found = [
        _divided(session, term, _unless_paid(term, terms, claims, refund))
        for term, refund in _by_term(session, policy, terms, by_insurer=by_insurer, on=ended_on or clock.today())
    ]
    return _within_corrected(session, policy, found)


def compute_declined_refunds(session: ScopedSession, policy: Policy) -> list[TermRefund]:
    """The whole premium of a policy that its insurer never took; StateForbids where a claim is open or was paid."""
    claims = list_policy_claims(session, policy.id)
    refuse_while_open(claims)
    refuse_paid(claims)
    return _within_corrected(session, policy, [_unused(session, policy, [])])


def _within_corrected(session: ScopedSession, policy: Policy, found: list[TermRefund]) -> list[TermRefund]:
    """Return the refunds; StateForbids where a term that was corrected would keep more commission than premium (K10).

    A refund is of what the customer paid. A correction of the sale is taken back by the two people that it takes.
    """
    sums = [sum_of(col(getattr(Adjustment, name))) for name in _PARTS]
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


def add_refunds(found: Sequence[TermRefund]) -> Refund:
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
        issue_credit_note(session, refund, actor=actor)
    return add_refunds(found)


def _unused(session: ScopedSession, policy: Policy, claims: Sequence[PolicyClaim]) -> TermRefund:
    """The purchase of a policy that was never in force, which goes back whole; nothing where a claim was paid."""
    purchase = session.get_one(Purchase, policy.purchase_id)
    paid = [claim.reference for claim in claims if claim.was_paid]
    refund = (
        refunds.none(_used_up(", ".join(paid))) if paid else refunds.compute_full(money.to_naira(purchase.total_minor))
    )
    return _split(session, None, purchase.product_version_id, paid=get_paid_split(purchase), refund=refund)


def _by_term(
    session: ScopedSession, policy: Policy, terms: Sequence[PaidTerm], *, by_insurer: bool, on: date
) -> Iterator[tuple[PaidTerm, Refund]]:
    if "loan_tenure" in policy.submitted:
        yield terms[0], _compute_loan_refund(session, terms[0], int(policy.submitted["loan_tenure"]), on)
        return
    rule = refunds.compute_pro_rata if by_insurer else refunds.compute_short_rate
    for term in terms:
        if term.expiration_at > clock.now():
            premium = money.to_naira(term.total_minor)
            stretch = PaidPeriod(premium=premium, start_at=term.start_at, expiration_at=term.expiration_at)
            yield term, rule(stretch, on)


def _compute_loan_refund(session: ScopedSession, term: PaidTerm, months: int, on: date) -> Refund:
    basis = for_sale.get_as_sold(session, term.version_id).rates.meta.get("basis", "single")
    rule = refunds.compute_decreasing if basis == "reducing" else refunds.compute_level
    months_left = refunds.count_months_left(on, term.expiration_on, months)
    return rule(money.to_naira(term.total_minor), months_left, months)


def _unless_paid(term: PaidTerm, terms: Sequence[PaidTerm], claims: Sequence[PolicyClaim], refund: Refund) -> Refund:
    paid = paid_on(term, terms, claims)
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
    sale = for_sale.get_as_sold(session, version_id)
    parts = money.refund_split(
        refund.amount_minor, paid, mca_bp=sale.mca_commission_bp, distributor_bp=sale.distributor_commission_bp
    )
    return TermRefund(renewal_id=renewal_id, version_id=version_id, refund=refund, parts=parts, paid=paid)
