"""Payment checks of `coverdesk check`: parts, batches, bank files, statements, credit notes, claims (F4, F8)."""

import csv
import hashlib
import io
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy import orm
from sqlmodel import col

from core import clock, money, reference
from core.services.audit import log as audit
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.lists.queue import CLAIM_PAYMENTS, CLAIMS
from core.services.finance import parties
from core.services.finance.credit_notes import deciding, givers, sellers
from core.services.finance.credit_notes.givers import number_of
from core.services.finance.payments import payouts, settlement
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.lists import exports
from core.services.lists.exports import Tally
from core.services.lists.listing import Listing
from core.services.lists.windows import Span
from core.services.people import approvals, role_grants, transfers
from core.services.sales import figures
from core.services.sales.filter import SalesFilter
from core.states.finance import IN_FORCE, BatchState, CreditNoteState, PaymentState
from core.states.loan_books import RowOutcome
from core.store.access import AnySelect, Scope, ScopedSession
from core.store.expressions import phone_key, print_id, sum_of
from core.store.schema.tables import (
    Adjustment,
    Approval,
    AuditEntry,
    BankAccount,
    ClaimPayment,
    CreditNote,
    CreditNotePayment,
    Customer,
    LoanBookRow,
    PartyPayment,
    Payment,
    PaymentPayee,
    PaymentSettlement,
    PayoutBatch,
    Policy,
    Provider,
    Refund,
    Staff,
    StaffDetail,
    Statement,
    Transfer,
)


def find_payment_faults(session: ScopedSession) -> Iterator[str]:
    """Payments that are not their settlements or rows, batches that are not their payments, and statements that are not
    in the state of their payments.
    """
    yield from _settlement_faults(session)
    yield from _bank_faults(session)
    for batch in session.execute(sa.select(PayoutBatch).order_by(col(PayoutBatch.number))).scalars().all():
        yield from _batch_faults(session, batch)
    names = dict(parties.list_parties(session))
    confirmed = (
        sa.select(col(PaymentSettlement.statement_id)).join(Payment).where(col(Payment.state) == PaymentState.CONFIRMED)
    )
    paid_on = set(session.execute(confirmed).scalars())
    for party, dues in settlement.list_dues(session):
        for due in dues:
            expected = settlement.state_of(due.net_minor, is_paid_on=due.statement_id in paid_on)
            if due.state in IN_FORCE and due.state != expected:
                yield f"statement {due.number} of {names[party]} is {due.state}, and by its payments {expected}"


def find_odd_references(session: ScopedSession) -> Iterator[str]:
    """Transfers under a reference that cannot be typed, with their amounts (contract K9)."""
    query = sa.select(col(Transfer.id), col(Transfer.reference), col(Transfer.amount_minor))
    typed = query.where(col(Transfer.reference_key).not_like(f"{transfers.ERASED_KEY}%"))
    for key, text, minor in session.execute(typed.execution_options(yield_per=2_000)):
        if fault := transfers.find_fault(text):
            yield f"transfer {key}, {money.format_naira(minor)}: its reference {fault}"


def find_transfer_faults(session: ScopedSession) -> Iterator[str]:
    """Transfers that are not the payments, or the return, that they were registered for (contract K9)."""
    made: list[AnySelect] = []
    for kind in (ClaimPayment, CreditNotePayment, PartyPayment):
        paid = sa.orm.aliased(kind)
        # A return under the reference of its payment adds nothing to that one's transfer.
        is_own = sa.or_(col(paid.id).is_(None), col(paid.transfer_id) != col(kind.transfer_id))
        rows: AnySelect = sa.select(col(kind.transfer_id).label("transfer_id"), col(kind.amount_minor).label("minor"))
        made.append(rows.outerjoin(paid, col(paid.id) == col(kind.reverses)).where(is_own))
    lines = sa.union_all(*made).subquery()
    number, total = sa.func.count(lines.c.minor), sum_of(lines.c.minor)
    query = (
        sa.select(Transfer, number.label("number"), total.label("total"))
        .outerjoin(lines, lines.c.transfer_id == col(Transfer.id))
        .group_by(*sa.inspect(Transfer).columns)
        .having(sa.or_(number != col(Transfer.lines), total != col(Transfer.amount_minor)))
    )
    for row, rows, minor in session.execute(query):
        amounts = money.format_naira(row.amount_minor), money.format_naira(int(minor))
        yield f"transfer {row.reference} of {amounts[0]} has {rows:,} payments of {amounts[1]}"


def find_received_twice(session: ScopedSession) -> Iterator[str]:
    """Payments received that one row of the bank was noted for twice, of one party or two, with their sums (F4)."""
    query = (
        sa.select(Payment)
        .where(col(Payment.direction) == "in", col(Payment.state) == PaymentState.CONFIRMED)
        .order_by(col(Payment.approved_at), col(Payment.id))
    )
    names, known = dict(parties.list_parties(session)), dict[tuple[Any, ...], Payment]()
    for row in session.execute(query).scalars():
        of_row = (transfers.strip_reference(row.received_reference or ""), row.received_on, row.net_minor)
        first = known.setdefault(of_row, row)
        if first is not row:
            both = f"{names[parties.party_of(first)]} and {names[parties.party_of(row)]}"
            amount = money.format_naira(-row.net_minor)
            yield f"payment {row.id}, {amount}: {row.received_reference} is one transfer, received of {both}"


def find_own_answers(session: ScopedSession) -> Iterator[str]:
    """Payments whose confirmation or return was noted by who prepared them, with their amounts (contract K16)."""
    noted = sa.exists().where(
        col(PartyPayment.payment_id) == col(Payment.id), col(PartyPayment.paid_by) == col(Payment.prepared_by)
    )
    own = sa.or_(noted, col(Payment.refused_by) == col(Payment.prepared_by))
    query = sa.select(Payment, col(Staff.name)).join(Staff, col(Staff.id) == col(Payment.prepared_by)).where(own)
    for row, person in session.execute(query):
        amount = money.format_naira(row.net_minor)
        yield f"payment {row.id}, {amount}: {person} prepared it and noted what the bank said of it"


def find_own_accounts(session: ScopedSession) -> Iterator[str]:
    """Payments of a payout that was prepared or approved by who proposed the account, with their amounts (contract K3).

    Those of before the rule have an approval in the log that does not say who proposed the accounts.
    """
    proposer = col(BankAccount.proposed_by)
    query: AnySelect = (
        sa.select(Payment, PayoutBatch, col(Staff.name))
        .join(PayoutBatch, col(PayoutBatch.id) == col(Payment.batch_id))
        .join(BankAccount, col(BankAccount.id) == col(Payment.bank_account_id))
        .join(Staff, col(Staff.id) == proposer)
        .where(sa.or_(col(PayoutBatch.approved_by) == proposer, col(PayoutBatch.prepared_by) == proposer))
    )
    found = set[UUID]()
    for payment, batch, person in session.execute(query):
        approved = _find_approval(session, batch)
        if approved is None or payouts.PROPOSED_BY in approved:
            found.add(batch.id)
            named = f"payment of {money.format_naira(payment.net_minor)} in payout {payouts.number_of(batch)}"
            yield f"{named}: {person} proposed the account, and prepared or approved it"
    yield from _find_earlier_proposers(session, found)


def _find_earlier_proposers(session: ScopedSession, found: Collection[UUID]) -> Iterator[str]:
    """Payouts by who had proposed the account before another proposed it again, as the log of the approval says."""
    by_people = sa.or_(*(col(Staff.id) == col(getattr(PayoutBatch, name)) for name in ("prepared_by", "approved_by")))
    query = sa.select(PayoutBatch, col(Staff.name), col(Staff.email)).join(Staff, by_people)
    approved = query.where(col(PayoutBatch.approved_by).is_not(None), col(PayoutBatch.id).not_in(found))
    for batch, name, email in session.execute(approved.order_by(col(PayoutBatch.number))).all():
        if email in (_find_approval(session, batch) or {}).get(payouts.PROPOSED_BY, "").split(", "):
            named = f"payout {payouts.number_of(batch)}, {money.format_naira(batch.net_minor)}"
            yield f"{named}: {name} had proposed an account of it, and prepared or approved it"


def _find_approval(session: ScopedSession, batch: PayoutBatch) -> Mapping[str, Any] | None:
    """Return what the log says of the last approval of a payout."""
    log = audit.list_history(session, audit.subject_of(payouts.KIND, batch.id))
    return next((entry.after or {} for entry in reversed(log) if entry.action.startswith("payout approved")), None)


def find_own_returns(session: ScopedSession) -> Iterator[str]:
    """Payouts that were prepared or approved by who had noted that the same came back, with their sums (contract K16).

    Those of before the rule have an approval in the log that does not say who noted returns.
    """
    paid = sa.select(PayoutBatch).where(col(PayoutBatch.state) == BatchState.APPROVED)
    for batch in session.execute(paid.order_by(col(PayoutBatch.number))).scalars().all():
        both = {by for by, _ in payouts.load_returners(session, batch)} & {batch.prepared_by, batch.approved_by}
        if not both:
            continue
        approved = _find_approval(session, batch)
        if approved is None or payouts.RETURNED_BY in approved:
            names = sa.select(col(Staff.name)).where(col(Staff.id).in_(both)).order_by(col(Staff.name))
            people = " and ".join(session.execute(names).scalars())
            named = f"payout {payouts.number_of(batch)}, {money.format_naira(batch.net_minor)}"
            yield f"{named}: {people} had noted that it came back before, and prepared or approved it"


def find_unapproved(session: ScopedSession) -> Iterator[str]:
    """Statements and payouts that are not what was approved, and files opened on no approval (contract K3)."""
    stated = sa.select(Statement).where(col(Statement.approved_by).is_not(None)).order_by(col(Statement.prepared_at))
    for row in session.execute(stated).scalars().all():
        subject = statements.build_subject(row)
        approval = approvals.find_latest(session, statements.KIND, row.id)
        if why := approvals.describe_difference(approval, subject):
            named = f"statement {statement_reading.number_of(row)} of {row.facts.get('party')}"
            yield f"{named}, {money.format_naira(row.closing_minor)}: {why}"
    paid = sa.select(PayoutBatch).where(col(PayoutBatch.state) == BatchState.APPROVED)
    for batch in session.execute(paid.order_by(col(PayoutBatch.number))).scalars().all():
        approval = approvals.find_latest(session, payouts.KIND, batch.id)
        if why := approvals.describe_difference(approval, payouts.build_subject(session, batch)):
            yield f"payout {payouts.number_of(batch)}, {money.format_naira(batch.net_minor)}: {why}"


def _settlement_faults(session: ScopedSession) -> Iterator[str]:
    parts = {col(getattr(Payment, name)): sum_of(col(getattr(PaymentSettlement, name))) for name in settlement.PARTS}
    query = (
        sa.select(col(Payment.id))
        .outerjoin(PaymentSettlement, col(PaymentSettlement.payment_id) == col(Payment.id))
        .group_by(col(Payment.id), *parts)
        .having(sa.or_(*(total != part for part, total in parts.items())))
    )
    for payment_id in session.execute(query).scalars():
        yield f"payment {payment_id} does not have the sums of what it settles"


def _bank_faults(session: ScopedSession) -> Iterator[str]:
    """Payments whose rows of the bank are not what their state says, with what those come to."""
    moved, number = sum_of(col(PartyPayment.amount_minor)), sa.func.count(col(PartyPayment.id))
    of_state = sa.case(
        (col(Payment.state) == PaymentState.CONFIRMED, 1),
        (sa.and_(col(Payment.state) == PaymentState.RETURNED, col(Payment.refused_on).is_(None)), 2),
        else_=0,
    )
    query = (
        sa.select(Payment, moved.label("moved"))
        .outerjoin(PartyPayment, col(PartyPayment.payment_id) == col(Payment.id))
        .group_by(*sa.inspect(Payment).columns)
        .having(sa.or_(number != of_state, moved != sa.case((of_state == 1, col(Payment.net_minor)), else_=0)))
    )
    for row, minor in session.execute(query):
        amounts = money.format_naira(row.net_minor), money.format_naira(int(minor))
        yield f"payment {row.id} of {amounts[0]} is {row.state}, and the bank moved {amounts[1]} by its rows"


def _batch_faults(session: ScopedSession, batch: PayoutBatch) -> Iterator[str]:
    mine = col(Payment.batch_id) == batch.id
    if session.count_and_sum(col(Payment.net_minor), mine) != (batch.payments, batch.net_minor):
        yield f"payout {payouts.number_of(batch)} does not have the number and sum of its payments"
    if batch.state != BatchState.APPROVED:
        return
    if hashlib.sha256(payouts.bank_file(session, batch.id)).hexdigest() != batch.sha256:
        yield f"the bank file of payout {payouts.number_of(batch)} is not what its hash says"
    if session.count_rows(Payment, mine, col(Payment.state).in_((PaymentState.PREPARED, PaymentState.WITHDRAWN))):
        yield f"payout {payouts.number_of(batch)} is approved, and a payment of it is not"


def find_credit_note_faults(session: ScopedSession) -> Iterator[str]:
    """Refunds without a credit note of their amount, and gaps in the numbers of an insurer."""
    differs = sa.or_(
        col(CreditNote.id).is_(None),
        col(CreditNote.total_minor) != col(Refund.total_minor),
        col(CreditNote.provider_id) != col(Refund.provider_id),
        col(CreditNote.is_live) != col(Refund.is_live),
    )
    query = (
        sa.select(sa.func.count())
        .select_from(Refund)
        .outerjoin(CreditNote, col(CreditNote.refund_id) == col(Refund.id))
        .where(col(Refund.total_minor) > 0, differs)
    )
    if wrong := session.execute(query).scalar_one():
        yield f"{wrong:,} refunds without a credit note of their amount"
    ends = (sa.func.min(col(CreditNote.number)), sa.func.max(col(CreditNote.number)), sa.func.count())
    keys = (col(CreditNote.provider_id), col(CreditNote.is_live))
    for provider_id, is_live, first, last, number in session.execute(sa.select(*keys, *ends).group_by(*keys)):
        if (first, last) != (1, number):
            mode = "live" if is_live else "test"
            yield f"the numbers of the {mode} credit notes of insurer {provider_id} have a gap"
    yield from _payment_faults(session)


def _select_notes(*more: Any) -> AnySelect:
    """Return a query of credit notes, each with its insurer's name and more columns."""
    return sa.select(CreditNote, col(Provider.company_name).label("provider"), *more).join(
        Provider, col(Provider.id) == col(CreditNote.provider_id)
    )


def _name(row: Any) -> str:
    note: CreditNote = row.CreditNote
    return f"credit note {number_of(note.number)} of {row.provider}, {money.format_naira(note.total_minor)}"


def _payment_faults(session: ScopedSession) -> Iterator[str]:
    """Notes that were paid more than once, or whose state is not that of their payments (contract K2)."""
    mine = col(CreditNotePayment.credit_note_id) == col(CreditNote.id)
    rows = sa.select(sum_of(col(CreditNotePayment.amount_minor))).where(mine)
    paid = rows.correlate(CreditNote).scalar_subquery()
    due_now = sa.case((col(CreditNote.state) == CreditNoteState.PAID, col(CreditNote.total_minor)), else_=0)
    for note, provider, minor in session.execute(_select_notes(paid).where(paid != due_now)):
        name = f"credit note {number_of(note.number)} of {provider}"
        due, got = money.format_naira(note.total_minor), money.format_naira(int(minor))
        yield f"{name} is {note.state.lower()}, and of {due} it was paid {got}"
    approver = sa.select(col(Approval.staff_id)).where(
        col(Approval.subject_id) == col(CreditNotePayment.credit_note_id)
    )
    both = sa.select(CreditNotePayment).where(
        col(CreditNotePayment.amount_minor) > 0,
        col(CreditNotePayment.paid_by).in_(approver.correlate(CreditNotePayment)),
    )
    for row in session.execute(both).scalars():
        amount = money.format_naira(row.amount_minor)
        yield f"the payment of {amount} on credit note {row.credit_note_id} was noted by who approved it"


def find_corrected_faults(session: ScopedSession) -> Iterator[str]:
    """Credit notes paid whose refund was corrected away (contract K2)."""
    paid = sa.select(sa.func.sum(col(CreditNotePayment.amount_minor)))
    paid_minor = paid.where(col(CreditNotePayment.credit_note_id) == col(CreditNote.id)).correlate(CreditNote)
    made = sa.select(sa.func.sum(col(Adjustment.total_minor))).where(
        col(Adjustment.corrects_id) == col(CreditNote.refund_id)
    )
    corrected = made.correlate(CreditNote).scalar_subquery()
    paid_sum = paid_minor.scalar_subquery()
    query = _select_notes(paid_sum, corrected).where(paid_sum > 0, corrected > 0)
    for note, provider, *minors in session.execute(query):
        got, back = (money.format_naira(int(minor)) for minor in minors)
        both = f"was paid {got}, and its refund was corrected by {back}"
        yield f"credit note {number_of(note.number)} of {provider} {both}"


def find_given_back_twice(session: ScopedSession) -> Iterator[str]:
    """Credit notes that we paid though the distributor has the refund back on its statement (contract K2)."""
    paid = sa.func.sum(col(CreditNotePayment.amount_minor))
    sums = sa.select(col(CreditNotePayment.credit_note_id)).group_by(col(CreditNotePayment.credit_note_id))
    given = givers.list_given_by_distributors(session, col(CreditNote.id).in_(sums.having(paid > 0)))
    query = _select_notes().where(col(CreditNote.id).in_(list(given)))
    for row in session.execute(query.order_by(col(CreditNote.created_at), col(CreditNote.id))):
        yield f"{_name(row)}, was paid, and the distributor has it back as well: {given[row.CreditNote.id]}"


def find_split_limits(session: ScopedSession) -> Iterator[str]:
    """Credit notes that one person approved alone, above a limit with those of the customer before (contract K2)."""
    earlier, before = orm.aliased(CreditNote), orm.aliased(Refund)
    several = sa.exists().where(
        col(earlier.id) != col(CreditNote.id),
        col(earlier.refund_id) == col(before.id),
        col(before.customer_id) == col(Refund.customer_id),
        col(earlier.first_by).is_(None),
        col(earlier.approved_at) <= col(CreditNote.approved_at),
    )
    query = (
        _select_notes(col(Staff.name).label("approver"))
        .join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        .join(Staff, col(Staff.id) == col(CreditNote.approved_by))
        .where(col(CreditNote.first_by).is_(None), col(CreditNote.approved_at).is_not(None), several)
    )
    for row in session.execute(query):
        note = row.CreditNote
        given = approvals.find_latest(session, deciding.KIND, note.id)
        together = note.total_minor + deciding.sum_alone(session, note, until=note.approved_at)
        limit = (given.limit_minor if given else None) or deciding.LIMIT
        if together > limit and not _is_from_before(session, note, fact="alone"):
            with_it = f"with {money.format_naira(together)} of the customer within 30 days: {money.format_naira(limit)}"
            yield f"{_name(row)}, was approved by {row.approver} alone, {with_it} is the limit"
    yield from _find_above_in_all(session)


def _find_above_in_all(session: ScopedSession) -> Iterator[str]:
    """Refunds approved alone above what one person, or anybody of a distributor's sales, approves alone in 30 days.

    The log says how much that was; of approvals from before there was the limit it does not.
    """
    after, note = col(AuditEntry.after), col(CreditNote.id)
    query = (
        _select_notes(col(Staff.name).label("approver"), col(Approval.role))
        .add_columns(after[deciding.IN_ALL].as_string().label("in_all"))
        .join(AuditEntry, col(AuditEntry.subject) == sa.literal("credit_note ") + print_id(note))
        .join(Approval, sa.and_(col(Approval.subject_id) == note, col(Approval.approved_at) == CreditNote.approved_at))
        .join(Staff, col(Staff.id) == col(CreditNote.approved_by))
        .where(col(AuditEntry.action) == "credit note approved", col(CreditNote.first_by).is_(None))
        .order_by(col(AuditEntry.created_at))
    )
    for row in {row.CreditNote.id: row for row in session.execute(query) if row.in_all}.values():
        together, limit = money.to_minor(Decimal(row.in_all)), reference.get_finance_limit("refunds_alone", [row.role])
        if together > limit:
            with_it = f"with {money.format_naira(together)} by one person or of one distributor within 30 days"
            words = f"was approved by {row.approver} alone, {with_it}: {money.format_naira(limit)} is the limit"
            yield f"{_name(row)}, {words}"


def find_other_payees(session: ScopedSession) -> Iterator[str]:
    """Credit notes that nobody approved first for another payee or account than the customer's (contract K2).

    Those that were approved before it took two have an approval in the log that does not say how many approved.
    """
    earlier, theirs = orm.aliased(PaymentPayee), orm.aliased(Policy)
    note, refund = orm.aliased(CreditNote), orm.aliased(Refund)
    shared = (
        sa.exists()
        .select_from(earlier)
        .where(
            col(earlier.credit_note_id) == col(note.id),
            col(note.refund_id) == col(refund.id),
            col(refund.policy_id) == col(theirs.id),
            col(earlier.account_key) == col(PaymentPayee.account_key),
            col(earlier.created_at) < col(PaymentPayee.created_at),
            col(theirs.customer_id) != col(Policy.customer_id),
        )
        .correlate(PaymentPayee, Policy)
    )
    query = (
        _select_notes(col(PaymentPayee.name).label("payee"), col(Staff.name).label("approver"))
        .add_columns(col(Policy.first_name), col(Policy.last_name), col(Policy.id).label("policy_id"))
        .add_columns(shared.label("is_shared"))
        .join(PaymentPayee, col(PaymentPayee.id) == col(CreditNote.payee_id))
        .join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        .join(Policy, col(Policy.id) == col(Refund.policy_id))
        .join(Staff, col(Staff.id) == col(CreditNote.approved_by))
        # An erasure takes the names and the account away: then nobody can tell who was paid.
        .where(col(CreditNote.first_by).is_(None), col(PaymentPayee.hint).is_not(None))
    )
    for row in session.execute(query):
        is_other = not deciding.is_customer(row.payee, f"{row.first_name} {row.last_name}")
        is_renamed = bool(deciding.list_renamed_by(session, row.policy_id))
        if not (is_other or row.is_shared or is_renamed) or _is_from_before(session, row.CreditNote):
            continue
        why = "who is not the customer" if is_other else "on an account that was another customer's before"
        if is_renamed and not (is_other or row.is_shared):
            why = "by which name the customer did not buy"
        yield f"{_name(row)}, was approved by {row.approver} alone for {row.payee}, {why}"


def find_sold_and_ended(session: ScopedSession) -> Iterator[str]:
    """Credit notes that one person approved who had sold the policy, or that another one had sold and ended (K2).

    So had who uploaded the loan book that did; approvals of before that was asked do not say how many books there were.
    """
    by_book = sa.exists().where(
        col(LoanBookRow.policy_id) == col(Refund.policy_id), col(LoanBookRow.outcome) == RowOutcome.COVERED
    )
    query = (
        _select_notes(col(Staff.name).label("approver"), col(Staff.email).label("email"))
        .join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        .join(Staff, col(Staff.id) == col(CreditNote.approved_by))
        .where(col(CreditNote.first_by).is_(None), sa.or_(col(CreditNote.made_by).like("staff %"), by_book))
        .order_by(col(CreditNote.created_at), col(CreditNote.id))
    )
    for row in session.execute(query).all():
        note = row.CreditNote
        both, fact = sellers.find_seller_and_ender(session, note, by_book=False), "approvers"
        if both is None:
            both, fact = sellers.find_seller_and_ender(session, note), sellers.BOOKS
        named = f"{_name(row)}, was approved by {row.approver} alone"
        if both and not _is_from_before(session, note, fact=fact):
            yield f"{named}, of a policy that {both.removeprefix('staff ')} had sold and ended"
        elif f"staff {row.email}" in _list_who_sold(session, note) and not _is_from_before(
            session, note, fact=sellers.BOOKS
        ):
            yield f"{named}, who had sold the policy, or issued the key or made the link of who did"


def _list_who_sold(session: ScopedSession, note: CreditNote) -> set[str]:
    sold = sellers.list_sellers(session, note)
    return sold | role_grants.list_holders(session, sold)


def _is_from_before(session: ScopedSession, note: CreditNote, *, fact: str = "approvers") -> bool:
    """True where the log of the approval lacks a fact that it has had since there is the rule."""
    approved = [
        entry.after or {}
        for entry in audit.list_history(session, audit.subject_of("credit_note", note.id))
        if entry.action == "credit note approved"
    ]
    return bool(approved) and fact not in approved[-1]


def find_own_decisions(session: ScopedSession) -> Iterator[str]:
    """Credit notes that somebody approved or paid whose own the refund is (contract K12)."""
    holder = (col(Policy.email), col(Customer.email))
    phones = (col(Policy.phone), col(Customer.phone_number))
    accounts = sa.select(col(PaymentPayee.account_key)).where(col(PaymentPayee.credit_note_id) == col(CreditNote.id))
    is_own = sa.or_(
        *(sa.func.lower(email) == sa.func.lower(col(Staff.email)) for email in holder),
        *(phone_key(phone) == phone_key(col(StaffDetail.phone_number)) for phone in phones),
        col(StaffDetail.account_key).in_(accounts.correlate(CreditNote)),
    )
    noted = sa.select(col(CreditNotePayment.paid_by)).where(col(CreditNotePayment.credit_note_id) == col(CreditNote.id))
    is_payer = col(Staff.id).in_(noted.correlate(CreditNote))
    decided = (col(CreditNote.first_by), col(CreditNote.approved_by))
    query = (
        _select_notes(col(Staff.name).label("person"))
        .join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        .join(Policy, col(Policy.id) == col(Refund.policy_id))
        .join(Customer, col(Customer.id) == col(Policy.customer_id))
        .join(Staff, sa.or_(*(column == col(Staff.id) for column in decided), is_payer))
        .outerjoin(StaffDetail, col(StaffDetail.staff_id) == col(Staff.id))
        .where(is_own)
        .distinct()
    )
    for row in session.execute(query):
        yield f"{_name(row)}, was decided on by {row.person}, whose own it is"


Sums = Mapping[str, int]


def find_claim_payment_faults(session: ScopedSession) -> Iterator[str]:
    """Compare the rows of payments with figures and exports, by claim and by day; needs the system's scope.

    The exports are written as they are for people, and their lines are read again.
    """
    for is_live in (True, False):
        with ScopedSession(session.connection(), Scope.staff(is_live=is_live)) as desk:
            yield from _find_differences(session, desk, "live" if is_live else "test")


def _find_differences(session: ScopedSession, desk: ScopedSession, mode: str) -> Iterator[str]:
    by_claim, by_day = _sum_rows(session, is_live=mode == "live")
    of_claims, of_payments = _read_export(desk, CLAIMS), _read_export(desk, CLAIM_PAYMENTS)
    yield from _compare(mode, "claim", by_claim, _sum(of_claims, "id", "paid_amount"), "the export of claims")
    yield from _compare(mode, "claim", by_claim, _sum(of_payments, "claim_id", "amount"), "the export of payments")
    days = _sum(({**row, "day": _to_day(row["created_at"])} for row in of_payments), "day", "amount")
    yield from _compare(mode, "day", by_day, days, "the export of payments")
    shown = figures.sum_claims_paid_by_day(desk, Span(), SalesFilter())
    named = {day.isoformat(): minor for day, minor in shown.items() if minor}
    yield from _compare(mode, "day", by_day, named, "the figures on claims and the dashboard")
    queued = {"all": claim_totals.get_totals(desk, ClaimFilter()).paid_minor}
    yield from _compare(mode, "total", {"all": sum(by_claim.values())}, queued, "the queue")


def _sum_rows(session: ScopedSession, *, is_live: bool) -> tuple[Sums, Sums]:
    """Add up the rows of a mode by claim and by day in Lagos, past every filter."""
    columns = (ClaimPayment.claim_id, ClaimPayment.created_at, ClaimPayment.amount_minor)
    query = sa.select(*map(col, columns)).where(col(ClaimPayment.is_live).is_(is_live))
    by_claim, by_day = Counter[str](), Counter[str]()
    for row in session.execute(query):
        by_claim[str(row.claim_id)] += row.amount_minor
        by_day[clock.to_lagos_day(row.created_at).isoformat()] += row.amount_minor
    return _drop_zeros(by_claim), _drop_zeros(by_day)


def _read_export(desk: ScopedSession, kind: Listing[Any]) -> list[dict[str, str]]:
    lines = b"".join(exports.stream_lines(desk, kind, kind.filter(), Tally())).decode()
    return list(csv.DictReader(io.StringIO(lines, newline="")))


def _sum(rows: Any, name: str, amount: str) -> Sums:
    sums = Counter[str]()
    for row in rows:
        sums[row[name]] += money.to_minor(Decimal(row[amount]))
    return _drop_zeros(sums)


def _drop_zeros(sums: Sums) -> Sums:
    return {name: minor for name, minor in sums.items() if minor}


def _to_day(instant: str) -> str:
    return clock.to_lagos_day(datetime.fromisoformat(instant)).isoformat()


def _compare(mode: str, what: str, rows: Sums, receipt: Sums, where: str) -> Iterator[str]:
    for name in sorted({*rows, *receipt}):
        if rows.get(name, 0) != receipt.get(name, 0):
            paid, stated = (money.format_naira(sums.get(name, 0)) for sums in (rows, receipt))
            yield f"claim payments of the {mode} mode, {what} {name}, are {paid} by their rows and {stated} in {where}"
