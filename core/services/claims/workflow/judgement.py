"""Judgement of a claim at this moment: limits, checks, duplicates, and who did what on it (contract C8, C13, K3)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from datetime import datetime
from decimal import Decimal
from enum import StrEnum
from functools import cached_property
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money, seal
from core.covers import tariff
from core.covers.claims.line import OWNER
from core.services.audit import log as audit
from core.services.claims.intake import submitted
from core.services.claims.review import coverage_checks, officers, related
from core.services.claims.review.coverage_checks import CoverageCheck, CoverTerms, DeskDates
from core.services.claims.review.related import Duplicate
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow.limits import Limits, RelatedApprovals
from core.services.people import approvals, four_eyes, role_grants
from core.services.people.four_eyes import Parties
from core.services.people.personal import build_phone_key
from core.services.people.staff import Person, join_names
from core.services.policies import changes as policy_changes
from core.services.policies import policies, sellers
from core.states.claims import AskedRole, ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import (
    Approval,
    AuditEntry,
    Claim,
    ClaimEvent,
    ClaimOverride,
    ClaimPayment,
    ClaimReferral,
    Customer,
    PaymentPayee,
    Policy,
    Product,
    Staff,
)


class Act(StrEnum):
    """Acts on a claim that lead to its payment; a decision has the word of its status."""

    LODGED = "Lodged"
    ESTIMATED = "Estimate set"
    CORRECTED = "Amounts corrected"
    DEDUCTED = "Deductions set"
    APPROVED = ClaimStatus.APPROVED.value
    OFFERED = ClaimStatus.OFFER_SENT.value
    PAYEE_SET = "Payee set"
    CLAIMANT_SET = "Claimant set"
    KEY_ISSUED = "Key issued"
    LINK_MADE = "Link made"
    HANDED_OVER = "Handed to finance"
    DECLINED = ClaimStatus.DECLINED.value
    PAID = ClaimStatus.PAID.value
    RETURNED = "Return noted"


_STATUSES: Final[Mapping[str, Act]] = {
    ClaimStatus.ESTIMATE_SUBMITTED: Act.ESTIMATED,
    ClaimStatus.APPROVED: Act.APPROVED,
    ClaimStatus.OFFER_SENT: Act.OFFERED,
    ClaimStatus.DECLINED: Act.DECLINED,
}
_BY_LODGING: Final = "claim lodged"
_BY_CLAIMANT: Final = "claimant set"
_BY_MOVE, _BY_RENEWAL = BY_APPROVAL = ("claim moved", "claim approved anew")
_AUDITED: Final[Mapping[str, Act]] = {
    _BY_LODGING: Act.LODGED,
    "claim corrected": Act.CORRECTED,
    "claim deductions set": Act.DEDUCTED,
    _BY_CLAIMANT: Act.CLAIMANT_SET,
    _BY_RENEWAL: Act.APPROVED,
}
# What ends an approval, beside an estimate.
_CHANGES: Final = frozenset(
    {"claim corrected", "claim incident dated", "claim payee set", "claim document added", _BY_CLAIMANT}
)
_FIGURES: Final = frozenset({"claim corrected", _BY_CLAIMANT})


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """One act on a claim that leads to its payment; `by` is a name, or the distributor's key.

    `as_one` are others who may have acted so, or act so now, by a password link (contract A2). Of one who named a payee
    `account_key` is the hash of the account.
    """

    act: Act
    actor: str
    by: str
    at: datetime
    as_one: AbstractSet[str] = frozenset()
    account_key: str | None = None

    def is_of(self, person: Person) -> bool:
        """True for the actor, and for who counts as the actor."""
        return person.actor == self.actor or person.actor in self.as_one


def list_links(session: ScopedSession, claim: Claim) -> list[Link]:
    """List every act that leads to the payment of a claim, oldest first."""
    found = [*_list_rows(session, claim), *_list_audited(session, claim), *_list_renamed(session, claim)]
    named = [link for link in found if link.act in (Act.PAYEE_SET, Act.CLAIMANT_SET)]
    # The distributor that named who is paid has no part in what follows; who issued its key may have.
    kept = [link for link in found if link not in named or not link.actor.startswith("key ")]
    as_one = four_eyes.list_as_one(session, {(link.actor, link.at) for link in kept})
    counted = [replace(link, as_one=as_one.get((link.actor, link.at), frozenset())) for link in kept]
    return sorted([*counted, *_list_holders(session, named)], key=lambda each: each.at)


def _list_rows(session: ScopedSession, claim: Claim) -> Iterator[Link]:
    moved = _with_staff(ClaimEvent).where(
        col(ClaimEvent.claim_id) == claim.id, col(ClaimEvent.status).in_(list(_STATUSES))
    )
    for row in session.execute(moved):
        yield _build_link(_STATUSES[row.ClaimEvent.status], row, row.ClaimEvent.created_at)
    for row in session.execute(_with_staff(PaymentPayee).where(col(PaymentPayee.claim_id) == claim.id)):
        yield _build_link(Act.PAYEE_SET, row, row.PaymentPayee.created_at, row.PaymentPayee.account_key)
    handed = _with_staff(ClaimReferral).where(
        col(ClaimReferral.claim_id) == claim.id, col(ClaimReferral.asks_role) == AskedRole.FINANCE
    )
    for row in session.execute(handed):
        yield _build_link(Act.HANDED_OVER, row, row.ClaimReferral.created_at)

    paid = sa.select(ClaimPayment, col(Staff.name), col(Staff.email)).join(Staff, col(Staff.id) == ClaimPayment.paid_by)
    for row in session.execute(paid.where(col(ClaimPayment.claim_id) == claim.id)):
        act = Act.PAID if row.ClaimPayment.amount_minor > 0 else Act.RETURNED
        yield _build_link(act, row, row.ClaimPayment.created_at)


def _with_staff(table: Any) -> AnySelect:
    return sa.select(table, col(Staff.name), col(Staff.email)).join(Staff, col(Staff.id) == col(table.staff_id))


def _build_link(act: Act, row: Any, at: datetime, account_key: str | None = None) -> Link:
    return Link(act=act, actor=f"staff {row.email}", by=row.name, at=at, account_key=account_key)


def _list_audited(session: ScopedSession, claim: Claim) -> Iterator[Link]:
    query = (
        sa.select(AuditEntry, col(Staff.name))
        .outerjoin(Staff, sa.literal("staff ") + col(Staff.email) == col(AuditEntry.actor))
        .where(
            col(AuditEntry.subject) == audit.subject_of("claim", claim.id), col(AuditEntry.action).in_(list(_AUDITED))
        )
    )
    for row in session.execute(query):
        entry = row.AuditEntry
        if entry.action == _BY_CLAIMANT and not claim_payments.is_claimant_paid(claim):
            continue
        name = row.name or ("the distributor" if entry.actor.startswith("key ") else entry.actor)
        yield Link(act=_AUDITED[entry.action], actor=entry.actor, by=name, at=entry.created_at)
        named = _find_named(session, claim) if entry.action == _BY_LODGING else None
        if named:
            # Whoever typed the claim at the desk typed who is paid; who issued a key can send one by it.
            number = claim_payments.find_submitted_number(claim)
            key = seal.build_account_key(number) if number else None
            yield Link(act=named, actor=entry.actor, by=name, at=entry.created_at, account_key=key)


def _list_renamed(session: ScopedSession, claim: Claim) -> Iterator[Link]:
    """Yield who gave the holder of the policy another name or phone before a claim came that names no account."""
    if claim.claim_owner != OWNER or not claim_payments.is_claimant_paid(claim):
        return
    for row in policies.find_rows(session, claim.policy_id):
        is_of_payee = policies.changes_any(row, policies.NAMES | policies.PHONES)
        if is_of_payee and row.created_at <= claim.created_at:
            person = session.get_one(Staff, row.made_by)
            yield Link(act=Act.CLAIMANT_SET, actor=f"staff {person.email}", by=person.name, at=row.created_at)


def _find_named(session: ScopedSession, claim: Claim) -> Act | None:
    """Return what a claim names of who is paid as it is lodged: an account, or whom to call for one.

    That is a claimant other than the holder of the policy, or a phone that the policy does not have.
    """
    if claim_payments.find_submitted_number(claim):
        return Act.PAYEE_SET
    if not claim_payments.is_claimant_paid(claim):
        return None
    phones = (claim.claim_owner_phone_number, session.get_one(Policy, claim.policy_id).phone)
    called, known = (build_phone_key(phone or "") for phone in phones)
    return Act.CLAIMANT_SET if claim.claim_owner != OWNER or (called and called != known) else None


def _list_holders(session: ScopedSession, links: Iterable[Link]) -> Iterator[Link]:
    """Yield who of the staff may have named who is paid as somebody else: by a key, or by an account."""
    for named in links:
        holders = role_grants.list_holders(session, {named.actor})
        people = sa.select(Staff).where((sa.literal("staff ") + col(Staff.email)).in_(holders)).order_by(col(Staff.id))
        act = Act.KEY_ISSUED if named.actor.startswith("key ") else Act.LINK_MADE
        for person in session.execute(people).scalars() if holders else ():
            who = {"actor": f"staff {person.email}", "by": person.name}
            yield Link(act=act, **who, at=named.at, account_key=named.account_key)


# In the log of an approval: who had named the payee, who had made the cover, and what was approved before a decline
# since which no paper came.
PAYEE_NAMED_BY: Final = "payee_named_by"
COVER_MADE_BY: Final = "cover_made_by"
BEFORE_DECLINE: Final = "before_decline_amount"
NAMES_PAYEE: Final = (Act.PAYEE_SET, Act.CLAIMANT_SET, Act.KEY_ISSUED, Act.LINK_MADE)


def list_payee_setters(links: Sequence[Link]) -> list[Link]:
    """List who named the payee of now: last, or before with the same account, or the claimant.

    Somebody else who writes the name of a payee in another way has not looked for the account, and who asks the
    claimant for it is told what they say.
    """
    named = [link for link in links if link.act in NAMES_PAYEE]
    last = named[-1] if named else None
    return [link for link in named if last and _names_same(link, last)]


def _names_same(link: Link, last: Link) -> bool:
    is_same = link.account_key is not None and link.account_key == last.account_key
    return link.at == last.at or link.act == Act.CLAIMANT_SET or is_same


def list_changers(session: ScopedSession, claim: Claim, *, figures_only: bool = False) -> set[str]:
    """Return who changed what was approved since the newest approval, also after the first had ended it.

    So does who counts as one of them (contract A2). Of figures that are corrected it is nobody where the claim was not
    approved before, or was declined since: it is decided for the first time then. An estimate is a step of its own.
    """
    kinds, found = (_FIGURES if figures_only else _CHANGES), set()
    for entry in reversed(audit.list_history(session, audit.subject_of("claim", claim.id))):
        after = entry.after or {}
        status = after.get("claim_status") if entry.action == _BY_MOVE else None
        if entry.action == _BY_RENEWAL or status == ClaimStatus.APPROVED:
            break
        if figures_only and status == ClaimStatus.DECLINED:
            return set()
        if entry.action in kinds or (not figures_only and entry.action == _BY_MOVE and "repair_estimate" in after):
            found.add((entry.actor, entry.created_at))
    else:
        if figures_only:
            return set()
    as_one = four_eyes.list_as_one(session, found)
    return {actor for actor, _ in found}.union(*as_one.values())


def list_shown_links(links: Sequence[Link]) -> list[Link]:
    """Return the latest of each act, in the order in which they were done: what a payer sees before paying."""
    left_out = (Act.DECLINED, Act.PAID, Act.KEY_ISSUED, Act.LINK_MADE)
    latest = {link.act: link for link in links if link.act not in left_out}
    return sorted(latest.values(), key=lambda each: each.at)


@dataclass(frozen=True, kw_only=True, slots=True)
class Override:
    """A check that was not met at an approval, with the reason given."""

    key: str
    is_failed: bool
    detail: str
    reason: str
    by: str
    at: datetime


@dataclass(frozen=True, eq=False)
class Judgement:
    """A claim as it is judged; each part is read when a move first needs it, and is kept."""

    session: ScopedSession = field(repr=False)
    claim: Claim = field(repr=False)
    policy: Policy = field(repr=False)

    @cached_property
    def _of_sale(self) -> tuple[Customer, Product]:
        # Held while it is judged, as the policy is: each part asks for them by key, and a session forgets a row that
        # nobody refers to, and would read it each time.
        session, claim = self.session, self.claim
        return session.get_one(Customer, claim.customer_id), session.get_one(Product, claim.product_id)

    @cached_property
    def limits(self) -> Limits:
        """The limits of the claim."""
        return claim_limits.load(self.session, self.claim)

    @cached_property
    def duplicates(self) -> Sequence[Duplicate]:
        """Other claims with the same incident, document, account or phone."""
        _ = self._of_sale
        return related.find_duplicates(self.session, self.claim)

    @cached_property
    def new_duplicates(self) -> Sequence[Duplicate]:
        """Those for the same loss that the approval did not know of."""
        known = _list_known_duplicates(self.session, self.claim)
        return [each for each in self.duplicates if each.is_same_loss and str(each.id) not in known]

    @cached_property
    def terms(self) -> CoverTerms:
        """The paid terms of the cover, and the rules of claims at the loss."""
        return coverage_checks.load(self.session, self.claim, self.policy)

    @cached_property
    def checks(self) -> Sequence[CoverageCheck]:
        """Every coverage check with its answer."""
        return _run_checks(self)

    @property
    def unmet(self) -> list[CoverageCheck]:
        """The checks that failed or that the records cannot answer."""
        return [check for check in self.checks if not check.passed]

    @property
    def failed_checks(self) -> list[CoverageCheck]:
        """The checks that failed."""
        return [check for check in self.checks if check.passed is False]

    @cached_property
    def links(self) -> Sequence[Link]:
        """The acts that lead to a payment."""
        return list_links(self.session, self.claim)

    @cached_property
    def changers(self) -> AbstractSet[str]:
        """The actors who corrected a figure or set the claimant since it was approved."""
        return list_changers(self.session, self.claim, figures_only=True)

    @cached_property
    def cover_makers(self) -> AbstractSet[str]:
        """The staff who sold, renewed or endorsed the cover, or put it in force, and who may have as another."""
        return sellers.list_makers(self.session, self.claim.policy_id)

    @cached_property
    def parties(self) -> Parties:
        """The people and accounts that the claim is of."""
        return officers.load_parties(self.session, self.claim)

    @cached_property
    def related(self) -> RelatedApprovals:
        """The approvals of related claims."""
        return claim_limits.sum_related(self.session, self.claim)

    @cached_property
    def _approval(self) -> approvals.Approval | None:
        return claim_changes.find_approval(self.session, self.claim)

    @cached_property
    def approval_fault(self) -> str | None:
        """The reason why the approval does not stand, in words; None where it does."""
        return claim_changes.describe_approval_fault(self.session, self.claim, self._approval)

    @cached_property
    def broken_checks(self) -> Sequence[CoverageCheck]:
        """The checks that failed since the approval was given.

        What failed then was known to the approval that was given against it, and duplicates have a need of their own.
        """
        if self._approval is None:
            return []
        known = {coverage_checks.DUPLICATE, *_list_accepted(self.session, self.claim, self._approval.at)}
        return [check for check in self.failed_checks if check.key not in known]

    @cached_property
    def appeal_minor(self) -> int | None:
        """The amount in kobo that was approved before a decline, where no paper came since."""
        return _find_first_figure(self.session, self.claim, self.links)

    @property
    def backdated_minor(self) -> int | None:
        """The most in kobo that a supervisor approves where the cover was bought after the loss."""
        if all(check.key != coverage_checks.BOUGHT for check in self.failed_checks):
            return None
        rule = Decimal(str(tariff.get_claim_rule(self.terms.rules, tariff.BACKDATED_LIMIT)))
        # No limit is split over several claims of a policy.
        return max(0, money.to_minor(rule) - self.limits.elsewhere_minor)


def judge(session: ScopedSession, claim: Claim, *, for_update: bool = False) -> Judgement:
    """Judge a claim as it stands; with `for_update` its policy is locked against other claims on it.

    The caller holds the lock of the claim's row: concurrent payments on two claims of one policy are then counted one
    after the other. What is read later than a change of the claim knows of that change.
    """
    query = sa.select(Policy).where(col(Policy.id) == claim.policy_id)
    # Read anew: the judgement of an earlier claim in this transaction may hold the policy as it was then.
    query = query.execution_options(populate_existing=True)
    return Judgement(session, claim, session.execute(query.with_for_update() if for_update else query).scalar_one())


def _find_first_figure(session: ScopedSession, claim: Claim, links: Sequence[Link]) -> int | None:
    declined_at = max((link.at for link in links if link.act == Act.DECLINED), default=None)
    if declined_at is None:
        return None
    if related.has_new_paper(session, claim, declined_at):
        return None
    figure = sa.select(sa.func.max(col(Approval.amount_minor))).where(
        col(Approval.subject_id) == claim.id, col(Approval.approved_at) < declined_at
    )
    found: int | None = session.execute(figure).scalar_one()
    return found


def _run_checks(judgement: Judgement) -> list[CoverageCheck]:
    """Run every check, that the cover was in force first and then those of its paid terms."""
    session, claim, policy, found = judgement.session, judgement.claim, judgement.policy, judgement.duplicates
    product = session.get_one(Product, claim.product_id)
    recent_count = related.count_recent(session, claim)
    endpoint = (product.prefix, product.route_name)
    insured = policies.get_insured_for_claim(session, policy, submitted.get_loss_day(claim))
    declined = coverage_checks.check_declined(related.list_declined(session, claim))
    dates = DeskDates(
        policy_changes.find_issued_at_desk(session, policy), policy_changes.find_refunded_from(session, policy)
    )
    in_force, *others = coverage_checks.run_checks(claim, policy, endpoint, found, recent_count, insured, dates)
    return [in_force, *coverage_checks.check_terms(claim, judgement.terms), *others, declined]


def record_overrides(
    session: ScopedSession,
    claim: Claim,
    judgement: Judgement,
    reasons: Mapping[str, str],
    *,
    event_id: UUID,
    person: Person,
    at: datetime,
) -> None:
    """Write one row for each check that is not met, with its reason."""
    known = [str(each.id) for each in judgement.duplicates]
    rows = (
        claim_changes.new_row(
            ClaimOverride,
            claim,
            event_id=event_id,
            check_key=check.key,
            is_failed=check.passed is False,
            detail=f"{check.question}: {check.detail}",
            reason=" ".join(reasons[check.key].split()),
            duplicates=known if check.key == coverage_checks.DUPLICATE else [],
            staff_id=person.id,
            created_at=at,
        )
        for check in judgement.unmet
    )
    session.insert(*rows)


def list_overrides(session: ScopedSession, claim_id: UUID) -> list[Override]:
    """List every override of a claim, oldest first."""
    query: AnySelect = (
        sa.select(
            *(col(ClaimOverride.check_key).label("key"), col(ClaimOverride.is_failed), col(ClaimOverride.detail)),
            *(col(ClaimOverride.reason), col(ClaimOverride.created_at).label("at")),
        )
        .where(col(ClaimOverride.claim_id) == claim_id)
        .order_by(col(ClaimOverride.created_at), col(ClaimOverride.id))
    )
    return [Override(**row._mapping) for row in session.execute(join_names(query, by=ClaimOverride.staff_id))]


def _list_accepted(session: ScopedSession, claim: Claim, since: datetime) -> set[str]:
    """Return the keys of the checks that were failed when the claim was approved, and approved against."""
    query = sa.select(col(ClaimOverride.check_key)).where(
        col(ClaimOverride.claim_id) == claim.id, col(ClaimOverride.is_failed), col(ClaimOverride.created_at) >= since
    )
    return set(session.execute(query).scalars())


def _list_known_duplicates(session: ScopedSession, claim: Claim) -> set[str]:
    """Return the ids of the duplicates that the latest override of the check named."""
    query = sa.select(col(ClaimOverride.duplicates)).where(
        col(ClaimOverride.claim_id) == claim.id, col(ClaimOverride.check_key) == coverage_checks.DUPLICATE
    )
    latest = query.order_by(col(ClaimOverride.created_at).desc(), col(ClaimOverride.id).desc()).limit(1)
    return set(session.execute(latest).scalar_one_or_none() or ())
