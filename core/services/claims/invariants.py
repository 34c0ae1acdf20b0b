"""Invariants of claims across chains of acts, each named with its sum, for `coverdesk check` (contract K1-K14)."""

from collections.abc import Iterator, Mapping
from datetime import date
from decimal import Decimal
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core import clock, money
from core.covers.request_parts import normalise_registration
from core.seal import ERASED
from core.services.audit import demonstration
from core.services.audit import log as audit
from core.services.claims.intake import submitted
from core.services.claims.review import coverage_checks, related, twins
from core.services.claims.review.coverage_checks import DeskDates
from core.services.claims.workflow import changes as claim_changes
from core.services.claims.workflow import judgement as claim_judgement
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import moves as claim_moves
from core.services.people import approvals
from core.services.people.personal import build_phone_key
from core.services.policies import changes as policy_changes
from core.states.claims import DECIDED, ClaimStatus
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import sum_of
from core.store.schema.tables import (
    Approval,
    ApprovalLapse,
    AuditEntry,
    Claim,
    ClaimEvent,
    ClaimOverride,
    ClaimPayment,
    FileMark,
    PaymentPayee,
    Policy,
    Staff,
    UploadedFile,
)

_PAID: Any = sum_of(col(ClaimPayment.amount_minor))


def _name(claim_id: Any, minor: Any) -> str:
    return f"claim {submitted.format_reference(claim_id)}, {money.format_naira(int(minor or 0))}"


def _sum_paid() -> sa.Subquery:
    query = sa.select(col(ClaimPayment.claim_id), _PAID.label("minor")).group_by(col(ClaimPayment.claim_id))
    return query.having(_PAID > 0).subquery("paid")


def find_paid_for_an_earlier_loss(session: ScopedSession) -> Iterator[str]:
    """Claims that were paid for a loss from before the sale without a reason for that check (contract K1)."""
    paid = _sum_paid()
    explained = sa.exists().where(
        col(ClaimOverride.claim_id) == col(Claim.id), col(ClaimOverride.check_key) == coverage_checks.BOUGHT
    )
    query: AnySelect = (
        sa.select(col(Claim.id), col(Claim.incident_date), col(Policy.created_at), paid.c.minor)
        .join(paid, paid.c.claim_id == col(Claim.id))
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .where(col(Claim.incident_date).is_not(None), sa.not_(explained))
    )
    for row in session.execute(query):
        if date.fromisoformat(row.incident_date[:10]) < clock.to_lagos_day(row.created_at):
            yield f"{_name(row.id, row.minor)} paid: the loss was before the sale, and nobody gave a reason"


def find_paid_outside_cover(session: ScopedSession) -> Iterator[str]:
    """Claims that were paid for a loss outside the cover without a reason for that check (contract K1, K7).

    Outside are the days before and after it, those before the desk put it in force, and for a claim that came after a
    loan was said to be over, the days from then on.
    """
    paid, issued = _sum_paid(), policy_changes.load_issued_at_desk(session)
    refunded = policy_changes.load_refunded_from(session)
    explained = sa.exists().where(
        col(ClaimOverride.claim_id) == col(Claim.id), col(ClaimOverride.check_key) == coverage_checks.IN_FORCE
    )
    query: AnySelect = (
        sa.select(col(Claim.id), col(Claim.incident_date), col(Claim.created_at), Policy, paid.c.minor)
        .join(paid, paid.c.claim_id == col(Claim.id))
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .where(col(Claim.incident_date).is_not(None), sa.not_(explained))
    )
    for row in session.execute(query.execution_options(yield_per=1_000)):
        happened, subject = date.fromisoformat(row.incident_date[:10]), audit.subject_of("policy", row.Policy.id)
        is_later = row.Policy.cancelled_at is not None and row.created_at >= row.Policy.cancelled_at
        dates = DeskDates(issued.get(subject), refunded.get(subject) if is_later else None)
        if coverage_checks.check_in_force(row.Policy, happened, dates).passed is False:
            day, after = clock.format_day(happened), ""
            if coverage_checks.check_in_force(row.Policy, happened).passed is not False:
                issued_on, over_on = dates.issued_on, dates.refunded_from
                after = f", which the desk put in force on {clock.format_day(issued_on)}" if issued_on else ""
                after = f", whose loan was over on {clock.format_day(over_on)}" if over_on else after
            outside = f"its loss of {day} is outside the cover{after}, and nobody gave a reason"
            yield f"{_name(row.id, row.minor)} paid: {outside}"


def find_paid_on_a_lapse(session: ScopedSession) -> Iterator[str]:
    """Payments whose approval had lapsed before, with nobody having approved the claim anew (contract K3, K13)."""
    newer = orm.aliased(Approval)
    superseded = sa.exists().where(
        col(newer.subject_id) == col(Approval.subject_id),
        col(newer.approved_at) > col(Approval.approved_at),
        col(newer.approved_at) <= col(ClaimPayment.created_at),
    )
    query: AnySelect = (
        sa.select(col(ClaimPayment.claim_id), col(ClaimPayment.amount_minor), col(ApprovalLapse.reason))
        .join(Approval, col(Approval.subject_id) == col(ClaimPayment.claim_id))
        .join(ApprovalLapse, col(ApprovalLapse.approval_id) == col(Approval.id))
        .where(
            col(ClaimPayment.reverses).is_(None),
            col(Approval.approved_at) <= col(ClaimPayment.created_at),
            col(ApprovalLapse.lapsed_at) < col(ClaimPayment.created_at),
            sa.not_(superseded),
        )
    )
    for row in session.execute(query):
        yield f"{_name(row.claim_id, row.amount_minor)} was paid though its approval had lapsed: {row.reason}"


def find_paid_without_approval(session: ScopedSession) -> Iterator[str]:
    """Claims that were paid more than was ever approved on them, or without an approval (contract K3)."""
    paid = _sum_paid()
    approved = sa.func.max(col(Approval.amount_minor))
    query: AnySelect = (
        sa.select(paid.c.claim_id, paid.c.minor, approved.label("approved"))
        .outerjoin(Approval, col(Approval.subject_id) == paid.c.claim_id)
        .group_by(paid.c.claim_id, paid.c.minor)
        .having(sa.or_(approved.is_(None), paid.c.minor > approved))
    )
    for row in session.execute(query):
        yield f"{_name(row.claim_id, row.minor)} paid: {money.format_naira(row.approved or 0)} was approved"


def find_own_returns(session: ScopedSession) -> Iterator[str]:
    """Returns noted by who approved the claim, or paid what came back or what followed, with what was paid (K3).

    One of before there was the rule is none: nothing that anybody does would end what the check says of it.
    """
    back, other = orm.aliased(ClaimPayment), orm.aliased(ClaimPayment)
    approved = sa.exists().where(
        col(Approval.subject_id) == col(back.claim_id), col(Approval.staff_id) == col(back.paid_by)
    )
    is_near = sa.or_(col(other.id) == col(back.reverses), col(other.created_at) > col(back.created_at))
    paid = sa.exists().where(
        col(other.claim_id) == col(back.claim_id),
        col(other.paid_by) == col(back.paid_by),
        col(other.reverses).is_(None),
        is_near,
    )
    query: AnySelect = (
        sa.select(
            *(col(back.claim_id), col(back.amount_minor), col(Staff.name), col(Staff.email)), approved.label("approved")
        )
        .join(Staff, col(Staff.id) == col(back.paid_by))
        .where(col(back.reverses).is_not(None), sa.or_(approved, paid))
        .order_by(col(back.created_at), col(back.id))
    )
    for row in session.execute(query).all():
        if not _is_return_of_before(session, row.claim_id, f"staff {row.email}", money.to_wire(-row.amount_minor)):
            part = "approved" if row.approved else "paid"
            yield f"{_name(row.claim_id, -row.amount_minor)} was noted as returned by {row.name}, who {part} it"


def _is_return_of_before(session: ScopedSession, claim_id: UUID, actor: str, amount: str) -> bool:
    """True where the log has a return of this sum by this actor, and of none that it ended the approval."""
    history = audit.list_history(session, audit.subject_of("claim", claim_id))
    noted = [entry.after or {} for entry in history if entry.actor == actor and "reversed" in (entry.after or {})]
    same = [after for after in noted if after["reversed"] == amount]
    return bool(same) and not any("approval" in after for after in same)


def find_two_links(session: ScopedSession) -> Iterator[str]:
    """Payments by who ever approved the claim, or had set its payee or its estimate before (contract K3)."""
    parts: dict[str, AnySelect] = {
        "approved it": sa.select(col(Approval.subject_id), col(Approval.staff_id), col(Approval.approved_at)),
        "set a payee": sa.select(col(PaymentPayee.claim_id), col(PaymentPayee.staff_id), col(PaymentPayee.created_at)),
        "set the estimate": sa.select(
            col(ClaimEvent.claim_id), col(ClaimEvent.staff_id), col(ClaimEvent.created_at)
        ).where(col(ClaimEvent.status) == ClaimStatus.ESTIMATE_SUBMITTED),
    }
    for words, part in parts.items():
        of = part.subquery()
        claim_id, staff_id, at = of.c
        query: AnySelect = (
            sa.select(col(ClaimPayment.claim_id), col(ClaimPayment.amount_minor), col(Staff.name))
            .join(of, sa.and_(claim_id == col(ClaimPayment.claim_id), staff_id == col(ClaimPayment.paid_by)))
            .join(Staff, col(Staff.id) == col(ClaimPayment.paid_by))
            .where(col(ClaimPayment.reverses).is_(None))
            .distinct()
        )
        if words != "approved it":
            query = query.where(at <= col(ClaimPayment.created_at))
        for row in session.execute(query):
            yield f"{_name(row.claim_id, row.amount_minor)} was paid by {row.name}, who {words}"


_OWN: Mapping[str, str] = {
    claim_judgement.PAYEE_NAMED_BY: "named its payee",
    claim_judgement.COVER_MADE_BY: "sold, renewed or endorsed its cover, or put it in force",
}


def find_own_parts(session: ScopedSession) -> Iterator[str]:
    """Claims that somebody approved for a payee of their own naming, or on a cover of their own making (contract K3).

    Also where another set the payee again, and by a key or a password link.
    """
    facts = [col(AuditEntry.after)[fact].as_string().is_not(None) for fact in _OWN]
    query = (
        sa.select(col(AuditEntry.subject), col(AuditEntry.actor), col(AuditEntry.after))
        .where(col(AuditEntry.action).in_(claim_judgement.BY_APPROVAL), sa.or_(*facts))
        .order_by(col(AuditEntry.created_at))
    )
    for row in session.execute(query.execution_options(yield_per=1_000)):
        for fact, words in _OWN.items():
            if row.actor in row.after.get(fact, ()):
                claim = session.get_one(Claim, UUID(row.subject.rpartition(" ")[2]))
                by = row.actor.removeprefix("staff ")
                yield f"{_name(claim.id, claim.approved_amount_minor)} approved by {by}, who had {words}"


def find_raised_appeals(session: ScopedSession) -> Iterator[str]:
    """Approvals of more than before a decline, of which no new paper came, with both sums (contract K13)."""
    before = col(AuditEntry.after)[claim_judgement.BEFORE_DECLINE].as_string()
    query = (
        sa.select(col(AuditEntry.subject), col(AuditEntry.actor), col(AuditEntry.after))
        .where(col(AuditEntry.action).in_(claim_judgement.BY_APPROVAL), before.is_not(None))
        .order_by(col(AuditEntry.created_at))
    )
    for row in session.execute(query.execution_options(yield_per=1_000)):
        claim = session.get_one(Claim, UUID(row.subject.rpartition(" ")[2]))
        was = money.to_minor(Decimal(row.after[claim_judgement.BEFORE_DECLINE]))
        typed = row.after.get("approved_amount")
        approved = claim.approved_amount_minor if typed is None else money.to_minor(Decimal(typed))
        if approved > was:
            named = f"{_name(claim.id, approved)} approved by {row.actor.removeprefix('staff ')}"
            yield f"{named}: {money.format_naira(was)} was approved before it was declined, and no new paper came since"


def find_changed_since_approval(session: ScopedSession) -> Iterator[str]:
    """Open claims whose approval stands though the claim is not what was approved (contract K3, K7)."""
    query = sa.select(Claim).where(
        col(Claim.approved_by).is_not(None),
        col(Claim.claim_status).not_in(sorted(DECIDED)),
        col(Claim.deleted_at).is_(None),
    )
    for claim in session.execute(query).scalars().all():
        found = claim_changes.find_approval(session, claim)
        if found is None:
            yield f"{_name(claim.id, claim.approved_amount_minor)} approved: nobody has approved it on the desk"
        elif found.lapse is None:
            changed = approvals.list_changed(found, claim_changes.build_subject(session, claim))
            if changed:
                words = approvals.describe_changed(changed)
                yield f"{_name(claim.id, claim.approved_amount_minor)} approved: {words} since"


def find_more_than_owed(session: ScopedSession) -> Iterator[str]:
    """Policies with several claims that together come to more than is owed or insured (contract K5)."""
    has_money = sa.or_(
        col(Claim.approved_by).is_not(None), sa.exists().where(col(ClaimPayment.claim_id) == col(Claim.id))
    )
    several = (
        sa.select(col(Claim.policy_id))
        .where(has_money, col(Claim.deleted_at).is_(None))
        .group_by(col(Claim.policy_id))
        .having(sa.func.count() > 1)
    )
    query = sa.select(Claim).where(col(Claim.policy_id).in_(several), has_money, col(Claim.deleted_at).is_(None))
    for claim in session.execute(query).scalars().all():
        approval = claim_changes.find_approval(session, claim)
        is_standing = approval is None or approval.lapse is None
        if above := claim_limits.find_above_owed(session, claim, is_standing=is_standing):
            taken, most = above
            owed = f"{money.format_naira(most)} is owed with the other claims of its policy"
            yield f"{_name(claim.id, taken)} paid or approved: {owed}"


def find_second_losses(session: ScopedSession) -> Iterator[str]:
    """Claims for losses of one policy near each other that one person approved, those of a debt apart (contract K5)."""
    first = orm.aliased(Claim)
    query: AnySelect = (
        sa.select(Claim, first, col(Staff.name))
        .join(first, sa.and_(col(first.policy_id) == col(Claim.policy_id), col(first.id) < col(Claim.id)))
        .join(Staff, col(Staff.id) == col(Claim.approved_by))
        .where(col(first.approved_by) == col(Claim.approved_by))
        .where(col(Claim.deleted_at).is_(None), col(first.deleted_at).is_(None))
    )
    for claim, before, name in session.execute(query):
        # A claim of before an erasure is gone with it; what came after it may be for the same loss.
        may_be_same = related.is_gone(before) and not related.is_gone(claim)
        paid = [before] if before.claim_status in (ClaimStatus.PAID, ClaimStatus.SETTLED) else []
        loss = "a loss that was erased" if may_be_same else "a loss near it" if related.are_near(claim, before) else ""
        loss = loss or ("the loss of all that is insured" if related.find_lost_whole(session, claim, paid) else "")
        if submitted.get_line(claim) is not None and loss:
            reference = submitted.format_reference(before.id)
            words = f"{name}, who approved {reference} for {loss}"
            yield f"{_name(claim.id, claim.approved_amount_minor)} approved by {words}"


def find_approved_after_erasure(session: ScopedSession) -> Iterator[str]:
    """Claims that were approved after they were erased with their customer: nobody could tell whose (contract K12)."""
    logged = sa.select(col(AuditEntry.subject), sa.func.min(col(AuditEntry.created_at)).label("at")).where(
        col(AuditEntry.action) == "customer erased"
    )
    erased_at = {row.subject: row.at for row in session.execute(logged.group_by(col(AuditEntry.subject)))}
    query: AnySelect = (
        sa.select(Claim, col(Approval.approved_at))
        .join(Approval, col(Approval.subject_id) == col(Claim.id))
        .where(col(Claim.claim_description) == ERASED, col(Claim.approved_by).is_not(None))
        .order_by(col(Approval.approved_at))
    )
    late: dict[UUID, Claim] = {}
    for claim, approved_at in session.execute(query):
        at = erased_at.get(audit.subject_of("customer", claim.customer_id))
        # A claim that came after an erasure was known when it was approved, though another erasure took it since.
        if at is not None and claim.created_at < at < approved_at:
            late[claim.id] = claim
    for claim in late.values():
        yield f"{_name(claim.id, claim.approved_amount_minor)} approved after it was erased with its customer"


def find_losses_on_two_policies(session: ScopedSession) -> Iterator[str]:
    """Claims on two policies for one loss of a vehicle or loan that one person approved (contract K5).

    It is one by the number that both claims name, or the account of a borrower, with the kind and the day of the loss.
    """
    account = col(Policy.submitted)["loan_account_number"].as_string().label("account")
    query: AnySelect = (
        sa.select(Claim, col(Policy.email), col(Policy.phone), col(Policy.dob), account, col(Staff.name))
        .join(Policy, col(Policy.id) == col(Claim.policy_id))
        .join(Staff, col(Staff.id) == col(Claim.approved_by))
        .where(col(Claim.incident_date).is_not(None), col(Claim.deleted_at).is_(None))
        .order_by(col(Claim.created_at), col(Claim.id))
    )
    first: dict[tuple[Any, ...], tuple[UUID, UUID]] = {}
    for row in session.execute(query.execution_options(yield_per=1_000)):
        claim = row.Claim
        loss = (claim.approved_by, claim.is_live, claim.incident_date[:10])
        keys = [(*loss, *key) for key in _list_insured_keys(claim, row)]
        earlier = [first.setdefault(key, (claim.id, claim.policy_id)) for key in keys]
        other = next((claim_id for claim_id, policy_id in earlier if policy_id != claim.policy_id), None)
        if other is not None:
            who = f"{row.name}, who approved {submitted.format_reference(other)} on another policy for the same loss"
            yield f"{_name(claim.id, claim.approved_amount_minor)} approved by {who}"


def _list_insured_keys(claim: Claim, row: Any) -> list[tuple[str | None, ...]]:
    """List what a claim is of, with its kind: a vehicle, or a loan once for all that tells its borrower."""
    meta = submitted.get_meta(claim)
    kind = meta.get("incident_type")
    if plate := meta.get("registration_number"):
        return [(kind, normalise_registration(plate))]
    if claim.credit_life_claim_meta is None or not (loan := twins.fold_account(row.account)):
        return []
    phone = build_phone_key(row.phone) if row.phone else ""
    return [(kind, loan, known) for known in (row.email.lower(), phone, row.dob) if known]


def find_unexplained_estimates(session: ScopedSession) -> Iterator[str]:
    """Estimates above what was claimed to which nobody gave a note (contract K6)."""
    noted = sa.exists().where(
        col(ClaimEvent.claim_id) == col(Claim.id),
        col(ClaimEvent.status) == ClaimStatus.ESTIMATE_SUBMITTED,
        col(ClaimEvent.note).is_not(None),
    )
    query = sa.select(Claim).where(col(Claim.repair_estimate_minor) > 0, sa.not_(noted))
    for claim in session.execute(query.execution_options(yield_per=1_000)).scalars():
        claimed = claim_limits.get_amount_claimed(claim)
        if claimed is not None and claim.repair_estimate_minor > money.to_minor(claimed):
            was = money.format_naira(money.to_minor(claimed))
            yield f"{_name(claim.id, claim.repair_estimate_minor)} estimated: {was} was claimed"


def find_own_appeals(session: ScopedSession) -> Iterator[str]:
    """Claims that were approved by who had declined them before (contract K13)."""
    declined = orm.aliased(ClaimEvent)
    query: AnySelect = (
        sa.select(col(Approval.subject_id), col(Approval.amount_minor), col(Staff.name))
        .join(declined, col(declined.claim_id) == col(Approval.subject_id))
        .join(Staff, col(Staff.id) == col(Approval.staff_id))
        .where(
            col(declined.status) == ClaimStatus.DECLINED,
            col(declined.staff_id) == col(Approval.staff_id),
            col(declined.created_at) < col(Approval.approved_at),
        )
        .distinct()
    )
    for row in session.execute(query):
        yield f"{_name(row.subject_id, row.amount_minor)} was approved by {row.name}, who had declined it"


def find_paid_on_one_paper(session: ScopedSession) -> Iterator[str]:
    """Claims that were paid on a paper that another paid claim has too, without a word on it (contract K14)."""
    paid, mine, other, mark = _sum_paid(), orm.aliased(UploadedFile), orm.aliased(UploadedFile), orm.aliased(FileMark)
    explained = sa.exists().where(
        col(ClaimOverride.check_key) == coverage_checks.DUPLICATE,
        col(ClaimOverride.claim_id).in_((col(mine.claim_id), col(other.claim_id))),
    )
    query: AnySelect = (
        sa.select(col(mine.claim_id), paid.c.minor, col(mine.code))
        .join(paid, paid.c.claim_id == col(mine.claim_id))
        .join(FileMark, col(FileMark.code) == col(mine.code))
        .join(mark, sa.and_(col(mark.mark) == col(FileMark.mark), col(mark.code) != col(FileMark.code)))
        .join(other, col(other.code) == col(mark.code))
        .where(col(other.claim_id).is_not(None), col(other.claim_id) != col(mine.claim_id), sa.not_(explained))
        .where(col(other.claim_id).in_(sa.select(col(ClaimPayment.claim_id))), col(mine.is_live) == col(other.is_live))
        .distinct()
    )
    for row in session.execute(query):
        claim = session.get_one(Claim, row.claim_id)
        if any(each.is_same_loss for each in related.find_duplicates(session, claim)):
            yield f"{_name(row.claim_id, row.minor)} paid: another paid claim has the same paper, and nobody said why"


def find_paid_second_submissions(session: ScopedSession) -> Iterator[str]:
    """Claims that were closed as the second submission of a paid claim, and were paid themselves (contract K14)."""
    mine, first = _sum_paid(), _sum_paid().alias("paid_first")
    query: AnySelect = (
        sa.select(col(Claim.id), mine.c.minor, first.c.claim_id.label("first_id"), first.c.minor.label("first_minor"))
        .join(mine, mine.c.claim_id == col(Claim.id))
        .join(first, first.c.claim_id == col(Claim.second_of))
        .order_by(col(Claim.created_at), col(Claim.id))
    )
    for row in session.execute(query):
        yield f"{_name(row.id, row.minor)} paid: it is closed as the second submission of {_name(*row[2:])} paid"


def find_decided_by_command(session: ScopedSession) -> Iterator[str]:
    """Claims that the command line approved, offered or paid outside a demonstration, by the log (contract K11)."""
    if demonstration.is_demonstrating(session):
        return
    query = sa.select(AuditEntry).where(col(AuditEntry.action) == claim_moves.BY_COMMAND)
    for entry in session.execute(query).scalars():
        to = str((entry.after or {}).get("to"))
        if to not in claim_moves.NOT_BY_COMMAND:
            continue
        claim: Claim = session.get_one(Claim, UUID(entry.subject.rpartition(" ")[2]))
        officer = (entry.after or {}).get("officer")
        yield f"{_name(claim.id, claim.approved_amount_minor)}, was made {to} for {officer} by {entry.actor}"
