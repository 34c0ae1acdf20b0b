"""Money checks of `coverdesk check`: movements and roll-ups, statements, journal, bordereaux and reconciliations."""

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money, reference, seal
from core.services.audit import log as audit
from core.services.finance import adjustments, journal, movements, parties
from core.services.finance.bordereaux import bordereaux, columns, premium_rows
from core.services.finance.payments import bank_rows
from core.services.finance.reconciling import differences
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.lines import is_stated, list_payments
from core.services.lists.spreadsheets import hash_chunks
from core.states.finance import DifferenceState, StatementState
from core.store.access import AnySelect, ScopedSession
from core.store.expressions import lagos_day, sum_of
from core.store.schema.tables import (
    Adjustment,
    AuditEntry,
    Bordereau,
    BordereauLine,
    ClaimPayment,
    ClaimPaymentFile,
    CommissionShare,
    DaybookLine,
    Difference,
    Distributor,
    Movement,
    Provider,
    Purchase,
    Reconciliation,
    Redaction,
    Refund,
    Renewal,
    Staff,
    Statement,
    StatementLine,
    TaxRate,
)


def seal_redacted(record_id: UUID, printed_sha256: str, digest: str) -> str:
    """Return the keyed hash that ties what remains of a paper to the hash that it was printed with."""
    return seal.keyed_hash("redaction", f"{record_id} {printed_sha256} {digest}")


def is_redacted(session: ScopedSession, kind: str, record_id: UUID, printed_sha256: str, digest: str) -> bool:
    """Return True when an erasure left the paper as it is now."""
    query = sa.select(col(Redaction.seal)).where(col(Redaction.kind) == kind, col(Redaction.record_id) == record_id)
    return session.execute(query).scalar_one_or_none() == seal_redacted(record_id, printed_sha256, digest)


STATEMENT_KIND = "statement"
_BACK = ("cancellation", "decline")
_REVERSED = (
    *("premium_minor", "earned_minor", "clawback_minor", "adjusted_minor", "vat_minor", "withheld_minor"),
    "paid_minor",
)


def find_statement_faults(session: ScopedSession) -> Iterator[str]:
    """Statements that are not their lines, not their hash, or not in the chain of their party."""
    yield from _statement_line_faults(session)
    yield from _find_own_shares(session)
    yield from _find_own_rates(session)
    owner = sa.func.coalesce(col(Statement.distributor_id), col(Statement.provider_id))
    query = sa.select(Statement).order_by(col(Statement.account), owner, col(Statement.number))
    for _, found in groupby(session.execute(query).scalars().all(), key=parties.party_of):
        rows = list(found)
        yield from _chain_faults(rows)
        for row in rows:
            yield from _statement_faults(session, row)
        if last := [row for row in rows if _counts(row)]:
            yield from _left_out_of_statements(session, last)


def _find_own_shares(session: ScopedSession) -> Iterator[str]:
    """Statements approved by who proposed a commission share that began in their month (contract K3)."""
    query = (
        sa.select(Statement, col(Staff.name), col(CommissionShare.effective_at))
        .join(CommissionShare, col(CommissionShare.distributor_id) == col(Statement.distributor_id))
        .join(Staff, col(Staff.id) == col(Statement.approved_by))
        .where(
            col(CommissionShare.state) == "confirmed",
            col(CommissionShare.proposed_by) == col(Statement.approved_by),
            col(CommissionShare.decided_at) < col(Statement.approved_at),
            col(Statement.reverses_id).is_(None),
        )
        .order_by(col(Statement.id))
    )
    for row, name, effective_at in session.execute(query):
        if clock.to_lagos_day(effective_at).replace(day=1) == row.month:
            statement = f"{_statement_named(row)}, {money.format_naira(row.closing_minor)}"
            yield f"{statement}: {name} proposed a commission share of its month, and approved it"


def _find_own_rates(session: ScopedSession) -> Iterator[str]:
    """Statements approved by who proposed a rate of tax that began in their month (contract K3)."""
    query = (
        sa.select(Statement, col(Staff.name))
        .join(TaxRate, col(TaxRate.effective_on) == col(Statement.month))
        .join(Staff, col(Staff.id) == col(Statement.approved_by))
        .where(
            col(TaxRate.state) == "confirmed",
            col(TaxRate.proposed_by) == col(Statement.approved_by),
            # One that was void again by then was approved by other rates.
            col(TaxRate.decided_at) <= col(Statement.approved_at),
            col(Statement.distributor_id).is_not(None),
            col(Statement.reverses_id).is_(None),
        )
        .order_by(col(Statement.id))
    )
    for row, name in session.execute(query):
        statement = f"{_statement_named(row)}, {money.format_naira(row.closing_minor)}"
        yield f"{statement}: {name} proposed a rate of tax of its month, and approved it"


def digest_of(session: ScopedSession, row: Statement) -> str:
    """Return the SHA-256 of a statement's CSV as its lines are now."""
    return hash_chunks(statement_reading.csv_of(session, row))


def _counts(row: Statement) -> bool:
    return row.state != StatementState.VOID and row.reverses_id is None


def _statement_named(row: Statement) -> str:
    return f"statement {statement_reading.number_of(row)} of {row.facts.get('party')}"


def _chain_faults(rows: Sequence[Statement]) -> Iterator[str]:
    for place, row in enumerate(rows, 1):
        if row.number != place:
            yield f"the numbers of statements have a gap before {_statement_named(row)}"
            return
    chained = sorted(filter(_counts, rows), key=lambda row: row.month)
    for before, row in zip([None, *chained], chained, strict=False):
        if row.opening_minor != (before.closing_minor if before else 0):
            yield f"{_statement_named(row)} does not open with the balance at which the one before closed"
        if before and clock.add_months(before.month, 1) != row.month:
            yield f"{_statement_named(row)} leaves out a month after the statement before"


def _statement_faults(session: ScopedSession, row: Statement) -> Iterator[str]:
    digest = digest_of(session, row)
    if digest != row.sha256 and not is_redacted(session, STATEMENT_KIND, row.id, row.sha256, digest):
        yield f"{_statement_named(row)} is not what its hash says"
    if row.reverses_id is not None:
        if not _undoes(row, session.get_one(Statement, row.reverses_id)):
            yield f"{_statement_named(row)} does not undo what it reverses"
        return
    back = col(StatementLine.kind).in_(_BACK)
    commission = col(StatementLine.commission_minor)
    adjusted = col(StatementLine.kind) == "adjustment"
    sums: Iterable[Any] = (
        sa.func.count(),
        sum_of(col(StatementLine.net_minor)),
        sum_of(sa.case((back, commission), else_=0)),
        sum_of(sa.case((adjusted, commission), else_=0)),
        sum_of(sa.case((sa.or_(back, adjusted), 0), else_=commission)),
        sum_of(col(StatementLine.vat_minor)),
        sum_of(col(StatementLine.withheld_minor)),
    )
    found = session.execute(sa.select(*sums).where(col(StatementLine.statement_id) == row.id)).one()
    net = row.closing_minor - row.opening_minor + row.paid_minor
    if row.paid_minor != sum(line.amount_minor for line in statement_reading.list_printed(session, row.id)):
        yield f"{_statement_named(row)} does not have the sum of its payments"
    stated = (
        *(row.lines, net, row.clawback_minor, row.adjusted_minor, row.earned_minor),
        *(row.vat_minor, row.withheld_minor),
    )
    if tuple(map(int, found)) != stated:
        yield f"{_statement_named(row)} does not have the sums of its lines"


def _undoes(row: Statement, original: Statement) -> bool:
    """Return True if a reversal has the negated amounts of its original, and leads back to its opening balance."""
    is_negated = all(getattr(row, name) == -getattr(original, name) for name in _REVERSED)
    return is_negated and (row.opening_minor, row.closing_minor) == (original.closing_minor, original.opening_minor)


def _statement_line_faults(session: ScopedSession) -> Iterator[str]:
    """Lines that do not have the premium and the commission of their movement.

    By EXCEPT: a join with the view of movements is one pass or a pass for each line, as old statistics have it.
    """
    seller = col(Movement.distributor_profit_minor)
    kept = -(col(Movement.mca_profit_minor) + seller)
    for account, commission in (("distributor", seller), ("provider", kept)):
        held = col(StatementLine.account) == account, col(StatementLine.released_by).is_(None)
        printed = (StatementLine.movement_id, StatementLine.premium_minor, StatementLine.commission_minor)
        lines = sa.select(*(col(column) for column in printed)).where(*held)
        differing = lines.except_(sa.select(col(Movement.id), col(Movement.total_minor), commission)).subquery()
        query = (
            sa.select(Statement)
            .join(StatementLine, col(StatementLine.statement_id) == col(Statement.id))
            .where(*held, col(StatementLine.movement_id).in_(sa.select(differing.c.movement_id)))
            .order_by(col(Statement.id))
        )
        for row in session.execute(query).scalars().unique():
            yield f"{_statement_named(row)} has lines that are not their movements"


def _left_out_of_statements(session: ScopedSession, rows: Sequence[Statement]) -> Iterator[str]:
    """Movements of stated months that are on no statement of the account; those of the last month may still come."""
    newest = max(rows, key=lambda row: row.month)
    party = parties.party_of(newest)
    before = col(Movement.created_at) < clock.lagos_midnight(newest.month)
    missing = session.count_rows(Movement, party.owns(Movement), col(Movement.is_live), before, ~is_stated(party))
    if list_payments(session, party, clock.add_days(newest.month, -1)):
        yield f"payments before the month of {_statement_named(newest)} are on no statement"
    if missing:
        yield f"{missing:,} movements before the month of {_statement_named(newest)} are on no statement"


_AMOUNTS = ("total_minor", "mca_profit_minor", "distributor_profit_minor")
_SOURCES: dict[str, tuple[Any, tuple[Any, ...]]] = {
    "purchase": (Purchase, (col(Purchase.deleted_at).is_(None),)),
    "renewal": (Renewal, (col(Renewal.deleted_at).is_(None), col(Renewal.status))),
    "refund": (Refund, ()),
    "adjustment": (Adjustment, ()),
}


def find_movement_faults(session: ScopedSession) -> Iterator[str]:
    """Movements whose shares do not make their premium, or that are not the rows behind them."""
    shares = (
        col(Movement.provider_share_minor) + col(Movement.mca_profit_minor) + col(Movement.distributor_profit_minor)
    )
    if wrong := session.count_rows(Movement, col(Movement.total_minor) != shares):
        yield f"{wrong:,} movements whose shares do not make their premium"
    for kind, (entity, conditions) in _SOURCES.items():
        sign = -1 if kind == "refund" else 1
        listed = session.execute(sa.select(*_of(Movement)).where(col(Movement.kind) == kind)).one()
        stored = session.execute(sa.select(*_of(entity, sign)).where(*conditions)).one()
        if tuple(listed) != tuple(stored):
            yield f"the movements of kind {kind} do not have the number and sums of their rows"


def find_adjustment_faults(session: ScopedSession) -> Iterator[str]:
    """Corrections that change a movement by more than itself, and those of a correction (contract K10)."""
    sums = [_whole(col(getattr(Adjustment, name))).label(name) for name in _AMOUNTS]
    made = sa.select(col(Adjustment.corrects_id), *sums).group_by(col(Adjustment.corrects_id)).subquery()
    query = sa.select(Movement, *(made.c[name].label(f"by_{name}") for name in _AMOUNTS)).join(
        made, made.c.corrects_id == col(Movement.id)
    )
    for row in session.execute(query):
        movement, by = row.Movement, money.format_naira(row.by_total_minor)
        if movement.kind == "adjustment":
            yield f"adjustment {movement.id} is adjusted itself, by {by}"
            continue
        sign = -1 if movement.total_minor < 0 else 1
        left = [sign * (getattr(movement, name) + getattr(row, f"by_{name}")) for name in _AMOUNTS]
        if not 0 <= left[0] <= 2 * abs(movement.total_minor):
            of = money.format_naira(movement.total_minor)
            yield f"the adjustments of {movement.kind} {movement.id} change its premium of {of} by {by}"
        if min(left[1:]) < 0 or sum(left[1:]) > left[0]:
            yield f"the adjustments of {movement.kind} {movement.id} leave commissions beyond its premium, by {by}"
    yield from _split_limits(session)


def _split_limits(session: ScopedSession) -> Iterator[str]:
    """Policies whose corrections come to more than anybody may confirm, in however many acts."""
    sizes = [_whole(sa.func.abs(col(getattr(Adjustment, name)))) for name in _AMOUNTS]
    limit = reference.get_finance_limit("adjustment", ("admin",))
    above = sa.or_(*(size > limit for size in sizes))
    query = sa.select(col(Adjustment.policy_id), *sizes).group_by(col(Adjustment.policy_id)).having(above)
    for policy_id, *minors in session.execute(query):
        together = money.format_naira(max(map(int, minors)))
        yield f"the adjustments of policy {policy_id} come to {together}, more than anybody confirms"


def find_split_limits(session: ScopedSession) -> Iterator[str]:
    """Parties of whom finance wrote off or corrected more within 30 days than it may without an admin (K8, K10).

    What was decided before the log had the role is left out; what the log does not know counts as of finance.
    """
    limit = differences.WRITE_OFF_LIMIT
    minor = sa.func.abs(col(Difference.difference_minor))
    party = sa.func.coalesce(col(Provider.company_name), "the bank")
    query: AnySelect = (
        sa.select(col(Difference.id), col(Reconciliation.provider_id), party, col(Difference.changed_at), minor)
        .join(Reconciliation, col(Reconciliation.id) == col(Difference.reconciliation_id))
        .outerjoin(Provider, col(Provider.id) == col(Reconciliation.provider_id))
        .where(col(Difference.state) == DifferenceState.WRITTEN_OFF)
        .order_by(col(Reconciliation.provider_id), col(Difference.changed_at))
    )
    written_off = _by_finance(session, query, "difference written off", "difference", limit)
    yield from _find_above("what was written off of", written_off, differences.COUNTS_FOR)
    limit = reference.get_finance_limit("adjustment", adjustments.ROLES)
    sizes = [sa.func.abs(col(getattr(Adjustment, name))) for name in _AMOUNTS]
    query = (
        sa.select(col(Adjustment.proposal_id), col(Adjustment.distributor_id), col(Distributor.business_name))
        .add_columns(col(Adjustment.created_at), *sizes)
        .join(Distributor, col(Distributor.id) == col(Adjustment.distributor_id))
        .order_by(col(Adjustment.distributor_id), col(Adjustment.created_at))
    )
    adjusted = _by_finance(session, query, "adjustment confirmed", "adjustment", limit)
    yield from _find_above("the adjustments of", adjusted, adjustments.COUNTS_FOR)


class _Decided(NamedTuple):
    """A decision of finance without an admin: its party, time, amounts, and the limit in kobo."""

    party_id: UUID | None
    party: str
    at: datetime
    minors: tuple[int, ...]
    limit_minor: int


def _by_finance(session: ScopedSession, query: AnySelect, action: str, kind: str, limit_minor: int) -> list[_Decided]:
    """Return what of a query was decided by finance; its columns are subject, party with its id, time and amounts."""
    entries = sa.select(col(AuditEntry.subject), col(AuditEntry.after)).where(col(AuditEntry.action) == action)
    logged: dict[str, dict[str, Any]] = {row.subject: row.after or {} for row in session.execute(entries)}
    found = []
    for subject, party_id, party, at, *minors in session.execute(query):
        facts = logged.get(audit.subject_of(kind, subject))
        if facts is None or facts.get("role") == adjustments.ROLES[0]:
            limit = limit_minor if facts is None else money.to_minor(Decimal(facts["limit"]))
            found.append(_Decided(party_id, party, at, tuple(map(int, minors)), limit))
    return found


def _find_above(what: str, found: Sequence[_Decided], period: timedelta) -> Iterator[str]:
    for _, rows in groupby(found, key=lambda each: each.party_id):
        window, worst = deque[_Decided](), (0, 0, "")
        for row in rows:
            window.append(row)
            while window[0].at <= row.at - period:
                window.popleft()
            together = max(map(sum, zip(*(each.minors for each in window), strict=True)))
            worst = max(worst, (together - row.limit_minor, together, row.party))
        above, together, party = worst
        if above > 0:
            comes_to = f"comes to {money.format_naira(together)} within {period.days} days without an admin"
            yield f"{what} {party} {comes_to}: finance decides on {money.format_naira(together - above)}"


def find_rollup_faults(session: ScopedSession) -> Iterator[str]:
    """Days on which the movements of a distributor and mode do not sum to the daybook."""
    moment = lagos_day(col(Movement.created_at))
    keys = (col(Movement.is_live), col(Movement.distributor_id), moment)
    written = sa.select(*keys, *_of(Movement)).group_by(*keys)
    book = (col(DaybookLine.is_live), col(DaybookLine.distributor_id), col(DaybookLine.day))
    sums = [_net(part) for part in ("", "_mca", "_distributor")]
    number = sum(
        (col(getattr(DaybookLine, name)) for name in ("renewed", "refunds", "adjustments")), col(DaybookLine.sold)
    )
    kept = sa.select(*book, _whole(number), *map(_whole, sums)).where(col(DaybookLine.grain) == "day").group_by(*book)
    days = set()
    for missing in (sa.except_(written, kept), sa.except_(kept, written)):
        days |= {row[2] for row in session.execute(missing) if any(row[3:])}
    yield from (f"the movements of {day} do not have the sums of the daybook" for day in sorted(days))


def _of(entity: Any, sign: int = 1) -> list[Any]:
    amounts = [sign * col(getattr(entity, name)) for name in _AMOUNTS]
    return [sa.func.count(), *map(_whole, amounts)]


def _whole(value: Any) -> Any:
    return sa.cast(sum_of(value), sa.BigInteger)


def _net(part: str) -> Any:
    """Build the net sum of one share from a roll-up line, with the signs of movements."""
    amounts = {verb: col(getattr(DaybookLine, f"{verb}{part}_minor")) for verb in movements.VERBS.values()}
    return amounts["sold"] + amounts["renewed"] - amounts["refunded"] + amounts["adjusted"]


JOURNAL_KIND = "journal"


def list_journals(session: ScopedSession, transfer_ids: Sequence[UUID]) -> Iterator[tuple[UUID, str, str]]:
    """Yield the closings of months whose journal may have the reference of some transfers: id, hash, and hash by now.

    What was noted late is in a later month than that of its day.
    """
    since = min((day.replace(day=1) for day in bank_rows.list_days(session, transfer_ids)), default=None)
    for month, closed in journal.list_closings(session).items():
        if since and month >= since and closed.sha256:
            yield closed.id, closed.sha256, journal.hash_of(session, month, sha256=closed.sha256)


def find_month_faults(session: ScopedSession) -> Iterator[str]:
    """Closed months whose journal changed, or does not balance on a day."""
    for month, closed in journal.list_closings(session).items():
        digest = journal.hash_of(session, month, sha256=closed.sha256)
        if digest != closed.sha256 and not is_redacted(session, JOURNAL_KIND, closed.id, closed.sha256 or "", digest):
            yield f"the journal of {month:%B %Y}, a closed month, is not what it was"
        days: Counter[object] = Counter()
        for entry in journal.list_entries(session, month):
            days[entry.on] += entry.amount_minor
        yield from (f"debit and credit differ in the journal of {day}" for day, sum_ in days.items() if sum_)


def find_file_faults(session: ScopedSession) -> Iterator[str]:
    """Files whose number and sum are not those of the payments made from them, and payments of no file."""
    number, total = sa.func.count(col(ClaimPayment.id)), sum_of(col(ClaimPayment.amount_minor))
    query = (
        sa.select(col(ClaimPaymentFile.id))
        .outerjoin(ClaimPayment, col(ClaimPayment.file_id) == col(ClaimPaymentFile.id))
        .group_by(col(ClaimPaymentFile.id))
        .having(sa.or_(number != col(ClaimPaymentFile.payments), total != col(ClaimPaymentFile.amount_minor)))
    )
    for file_id in session.execute(query).scalars():
        yield f"the payments made from file {file_id} are not those that it was kept with"
    files = sa.select(col(ClaimPaymentFile.id))
    strays = sa.select(col(ClaimPayment.id)).where(
        col(ClaimPayment.file_id).is_not(None), col(ClaimPayment.file_id).not_in(files)
    )
    for payment_id in session.execute(strays).scalars():
        yield f"claim payment {payment_id} names a file that was never kept"


def find_reconciliation_faults(session: ScopedSession) -> Iterator[str]:
    """Reconciliations whose differences do not make both sides equal, or with a tolerance above every role's."""
    total = sum_of(col(Difference.difference_minor))
    both = col(Reconciliation.ours_minor) - col(Reconciliation.theirs_minor) - col(Reconciliation.tolerated_minor)
    query = (
        sa.select(col(Reconciliation.id), col(Reconciliation.month))
        .outerjoin(Difference, col(Difference.reconciliation_id) == col(Reconciliation.id))
        .group_by(col(Reconciliation.id))
        .having(total != both)
    )
    for reconciliation_id, month in session.execute(query):
        yield f"the differences of reconciliation {reconciliation_id} of {month:%B %Y} do not make both sides equal"
    row, file = (reference.get_finance_limit(name, ("admin",)) for name in ("tolerance_row", "tolerance_file"))
    beyond = sa.or_(col(Reconciliation.tolerance_minor) > row, col(Reconciliation.passed_minor) > file)
    wide = sa.select(Reconciliation).where(col(Reconciliation.passed_minor).is_not(None), beyond)
    for found in session.execute(wide).scalars():
        let = f"{money.format_naira(found.passed_minor or 0)} within {money.format_naira(found.tolerance_minor)} a row"
        yield f"the tolerance of reconciliation {found.id} of {found.month:%B %Y} let pass {let}, above every limit"


REDACTED_KIND = "bordereau"


def find_bordereau_faults(session: ScopedSession) -> Iterator[str]:
    """Bordereaux that are not their rows, not their hash, out of order, or that leave movements out."""
    query = sa.select(Bordereau).order_by(col(Bordereau.provider_id), col(Bordereau.kind), col(Bordereau.number))
    rows = session.execute(query).scalars().all()
    yield from _bordereau_line_faults(session)
    for _, found in groupby(rows, key=lambda row: (row.provider_id, row.kind)):
        before: Bordereau | None = None
        for row in found:
            if row.number != (before.number if before else 0) + 1:
                yield f"the numbers of bordereaux have a gap before {_bordereau_named(row)}"
            if before and clock.add_months(before.month, 1) != row.month:
                yield f"{_bordereau_named(row)} leaves out a month after the bordereau before"
            yield from _bordereau_faults(session, row)
            before = row
        if before and before.kind == "premium":
            yield from _left_out_of_bordereaux(session, before)


def _bordereau_named(row: Bordereau) -> str:
    return f"bordereau {bordereaux.number_of(row.kind, row.number)} of {row.facts.get('party')}"


def _bordereau_faults(session: ScopedSession, row: Bordereau) -> Iterator[str]:
    found = session.count_and_sum(col(BordereauLine.amount_minor), col(BordereauLine.bordereau_id) == row.id)
    if found != (row.rows, row.totals.get(columns.MAIN[row.kind])):
        yield f"{_bordereau_named(row)} does not have the number and sum of its rows"
    digest = bordereaux.hash_of(session, row)
    if digest != row.sha256 and not is_redacted(session, REDACTED_KIND, row.id, row.sha256, digest):
        yield f"{_bordereau_named(row)} is not what its hash says"


def _bordereau_line_faults(session: ScopedSession) -> Iterator[str]:
    """Premium bordereaux with rows that do not have the premium of their movement."""
    query = (
        sa.select(col(Bordereau.id))
        .join(BordereauLine, col(BordereauLine.bordereau_id) == col(Bordereau.id))
        .outerjoin(Movement, col(Movement.id) == col(BordereauLine.subject_id))
        .where(
            col(Bordereau.kind) == "premium",
            sa.or_(col(Movement.id).is_(None), col(Movement.total_minor) != col(BordereauLine.amount_minor)),
        )
        .distinct()
    )
    for bordereau_id in session.execute(query).scalars().all():
        yield f"{_bordereau_named(session.get_one(Bordereau, bordereau_id))} has rows that are not their movements"


def _left_out_of_bordereaux(session: ScopedSession, newest: Bordereau) -> Iterator[str]:
    """Movements of reported months that no bordereau has; those of the last one may still come."""
    missing = session.count_rows(
        Movement,
        col(Movement.provider_id) == newest.provider_id,
        col(Movement.is_live),
        col(Movement.created_at) < clock.lagos_midnight(newest.month),
        ~premium_rows.IS_REPORTED,
    )
    if missing:
        yield f"{missing:,} movements before the month of {_bordereau_named(newest)} are in no bordereau"
