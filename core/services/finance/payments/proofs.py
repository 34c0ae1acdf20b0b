"""Payment checks of `coverdesk check`: parts, batches, bank files, and the states of statements (contract F4)."""

import hashlib
from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.services import transfers
from core.services.audit import log as audit
from core.services.finance import parties
from core.services.finance.payments import balances, batches, transitions
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements as statement_states
from core.services.people import approvals
from core.states.finance import IN_FORCE, BatchState, PaymentState
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import (
    BankAccount,
    ClaimPayment,
    CreditNotePayment,
    PartyPayment,
    Payment,
    PaymentSettlement,
    PayoutBatch,
    Staff,
    Statement,
    Transfer,
)

_PARTS = ("net_minor", "vat_minor", "withheld_minor")


def find_payment_faults(session: ScopedSession) -> Iterator[str]:
    """Payments that are not their settlements or rows, batches that are not their payments, and statements that are not
    in the state of their payments.
    """
    yield from _settlement_faults(session)
    yield from _bank_faults(session)
    for batch in session.execute(sa.select(PayoutBatch).order_by(col(PayoutBatch.number))).scalars().all():
        yield from _batch_faults(session, batch)
    for party, name in parties.list_parties(session):
        for due in balances.get_balance(session, party).dues:
            expected = transitions.state_of(session, due.statement_id, due.net_minor)
            if due.state in IN_FORCE and due.state != expected:
                yield f"statement {due.number} of {name} is {due.state}, and by its payments {expected}"


def find_odd_references(session: ScopedSession) -> Iterator[str]:
    """Transfers under a reference that cannot be typed, with their amounts (contract K9)."""
    query = sa.select(col(Transfer.id), col(Transfer.reference), col(Transfer.amount_minor))
    for key, text, minor in session.execute(query.execution_options(yield_per=2_000)):
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
    number, total = sa.func.count(lines.c.minor), sa.func.coalesce(sa.func.sum(lines.c.minor), 0)
    query = (
        sa.select(Transfer, number.label("number"), total.label("total"))
        .outerjoin(lines, lines.c.transfer_id == col(Transfer.id))
        .group_by(*sa.inspect(Transfer).columns)
        .having(sa.or_(number != col(Transfer.lines), total != col(Transfer.amount_minor)))
    )
    for row, rows, minor in session.execute(query):
        amounts = money.format_naira(row.amount_minor), money.format_naira(int(minor))
        yield f"transfer {row.reference} of {amounts[0]} has {rows:,} payments of {amounts[1]}"


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
    for payment, batch, person in session.execute(query):
        log = audit.list_history(session, audit.subject_of(batches.KIND, batch.id))
        approved = [entry.after or {} for entry in log if entry.action.startswith("payout approved")]
        if not approved or batches.PROPOSED_BY in approved[-1]:
            named = f"payment of {money.format_naira(payment.net_minor)} in payout {batches.number_of(batch)}"
            yield f"{named}: {person} proposed the account, and prepared or approved it"


def find_unapproved(session: ScopedSession) -> Iterator[str]:
    """Statements and payouts that are not what was approved, and files opened on no approval (contract K3)."""
    stated = sa.select(Statement).where(col(Statement.approved_by).is_not(None)).order_by(col(Statement.prepared_at))
    for row in session.execute(stated).scalars().all():
        subject = statement_states.build_subject(row)
        approval = approvals.find_latest(session, statement_states.KIND, row.id)
        if why := approvals.describe_difference(approval, subject):
            named = f"statement {statement_reading.number_of(row)} of {row.facts.get('party')}"
            yield f"{named}, {money.format_naira(row.closing_minor)}: {why}"
    paid = sa.select(PayoutBatch).where(col(PayoutBatch.state) == BatchState.APPROVED)
    for batch in session.execute(paid.order_by(col(PayoutBatch.number))).scalars().all():
        approval = approvals.find_latest(session, batches.KIND, batch.id)
        if why := approvals.describe_difference(approval, batches.build_subject(session, batch)):
            yield f"payout {batches.number_of(batch)}, {money.format_naira(batch.net_minor)}: {why}"


def _settlement_faults(session: ScopedSession) -> Iterator[str]:
    sums: list[Any] = [sa.func.coalesce(sa.func.sum(col(getattr(PaymentSettlement, name))), 0) for name in _PARTS]
    query = (
        sa.select(col(Payment.id))
        .outerjoin(PaymentSettlement, col(PaymentSettlement.payment_id) == col(Payment.id))
        .group_by(col(Payment.id), *(col(getattr(Payment, name)) for name in _PARTS))
        .having(sa.or_(*(total != col(getattr(Payment, name)) for total, name in zip(sums, _PARTS, strict=True))))
    )
    for payment_id in session.execute(query).scalars():
        yield f"payment {payment_id} does not have the sums of what it settles"


def _bank_faults(session: ScopedSession) -> Iterator[str]:
    """Payments whose rows of the bank are not what their state says, with what those come to."""
    moved, number = (
        sa.func.coalesce(sa.func.sum(col(PartyPayment.amount_minor)), 0),
        sa.func.count(col(PartyPayment.id)),
    )
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
    sums = (sa.func.count(), sa.func.coalesce(sa.func.sum(col(Payment.net_minor)), 0))
    rows, minor = session.execute(sa.select(*sums).where(col(Payment.batch_id) == batch.id)).one()
    if (int(rows), int(minor)) != (batch.payments, batch.net_minor):
        yield f"payout {batches.number_of(batch)} does not have the number and sum of its payments"
    if batch.state != BatchState.APPROVED:
        return
    if hashlib.sha256(batches.bank_file(session, batch.id)).hexdigest() != batch.sha256:
        yield f"the bank file of payout {batches.number_of(batch)} is not what its hash says"
    open_ = sa.select(sa.func.count()).where(
        col(Payment.batch_id) == batch.id, col(Payment.state).in_((PaymentState.PREPARED, PaymentState.WITHDRAWN))
    )
    if session.execute(open_).scalar_one():
        yield f"payout {batches.number_of(batch)} is approved, and a payment of it is not"
