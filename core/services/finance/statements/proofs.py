"""Statement checks of `coverdesk check`: sums, opening balances, numbers, hashes and completeness."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.finance import parties, redactions
from core.services.finance.statements import paid_lines
from core.services.finance.statements import reading as statement_reading
from core.states.finance import StatementState
from core.store.access import ScopedSession
from core.store.schema.tables import CommissionShare, Movement, Staff, Statement, StatementLine

STATEMENT_KIND = "statement"
_BACK = ("cancellation", "decline")
_REVERSED = (
    *("premium_minor", "earned_minor", "clawback_minor", "adjusted_minor", "vat_minor", "withheld_minor"),
    "paid_minor",
)


def find_statement_faults(session: ScopedSession) -> Iterator[str]:
    """Statements that are not their lines, not their hash, or not in the chain of their party."""
    yield from _line_faults(session)
    yield from _find_own_shares(session)
    query = sa.select(Statement).order_by(col(Statement.account), _owner(), col(Statement.number))
    for _, found in groupby(session.execute(query).scalars().all(), key=parties.party_of):
        rows = list(found)
        yield from _chain_faults(rows)
        for row in rows:
            yield from _sum_faults(session, row)
        if last := [row for row in rows if _counts(row)]:
            yield from _left_out(session, last)


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
            closing = money.format_naira(row.closing_minor)
            yield f"{_named(row)}, {closing}: {name} proposed a commission share of its month, and approved it"


def digest_of(session: ScopedSession, row: Statement) -> str:
    """Return the SHA-256 of a statement's CSV as its lines are now."""
    digest = hashlib.sha256()
    for chunk in statement_reading.csv_of(session, row):
        digest.update(chunk)
    return digest.hexdigest()


def _owner() -> Any:
    return sa.func.coalesce(col(Statement.distributor_id), col(Statement.provider_id))


def _counts(row: Statement) -> bool:
    return row.state != StatementState.VOID and row.reverses_id is None


def _named(row: Statement) -> str:
    return f"statement {statement_reading.number_of(row)} of {row.facts.get('party')}"


def _chain_faults(rows: Sequence[Statement]) -> Iterator[str]:
    for place, row in enumerate(rows, 1):
        if row.number != place:
            yield f"the numbers of statements have a gap before {_named(row)}"
            return
    chained = sorted(filter(_counts, rows), key=lambda row: row.month)
    for before, row in zip([None, *chained], chained, strict=False):
        if row.opening_minor != (before.closing_minor if before else 0):
            yield f"{_named(row)} does not open with the balance at which the one before closed"
        if before and clock.add_months(before.month, 1) != row.month:
            yield f"{_named(row)} leaves out a month after the statement before"


def _sum_faults(session: ScopedSession, row: Statement) -> Iterator[str]:
    digest = digest_of(session, row)
    if digest != row.sha256 and not redactions.is_redacted(session, STATEMENT_KIND, row.id, row.sha256, digest):
        yield f"{_named(row)} is not what its hash says"
    if row.reverses_id is not None:
        if not _undoes(row, session.get_one(Statement, row.reverses_id)):
            yield f"{_named(row)} does not undo what it reverses"
        return
    back = col(StatementLine.kind).in_(_BACK)
    commission = col(StatementLine.commission_minor)
    adjusted = col(StatementLine.kind) == "adjustment"
    sums: Iterable[Any] = (
        sa.func.count(),
        _sum(col(StatementLine.net_minor)),
        _sum(sa.case((back, commission), else_=0)),
        _sum(sa.case((adjusted, commission), else_=0)),
        _sum(sa.case((sa.or_(back, adjusted), 0), else_=commission)),
        _sum(col(StatementLine.vat_minor)),
        _sum(col(StatementLine.withheld_minor)),
    )
    found = session.execute(sa.select(*sums).where(col(StatementLine.statement_id) == row.id)).one()
    net = row.closing_minor - row.opening_minor + row.paid_minor
    if row.paid_minor != sum(line.amount_minor for line in paid_lines.list_printed(session, row.id)):
        yield f"{_named(row)} does not have the sum of its payments"
    stated = (
        *(row.lines, net, row.clawback_minor, row.adjusted_minor, row.earned_minor),
        *(row.vat_minor, row.withheld_minor),
    )
    if tuple(map(int, found)) != stated:
        yield f"{_named(row)} does not have the sums of its lines"


def _undoes(row: Statement, original: Statement) -> bool:
    """Return True if a reversal has the negated amounts of its original, and leads back to its opening balance."""
    is_negated = all(getattr(row, name) == -getattr(original, name) for name in _REVERSED)
    return is_negated and (row.opening_minor, row.closing_minor) == (original.closing_minor, original.opening_minor)


def _line_faults(session: ScopedSession) -> Iterator[str]:
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
            yield f"{_named(row)} has lines that are not their movements"


def _left_out(session: ScopedSession, rows: Sequence[Statement]) -> Iterator[str]:
    """Movements of stated months that are on no statement of the account; those of the last month may still come."""
    newest = max(rows, key=lambda row: row.month)
    party = parties.party_of(newest)
    stated = sa.exists().where(
        col(StatementLine.movement_id) == col(Movement.id),
        col(StatementLine.account) == party.account,
        col(StatementLine.released_by).is_(None),
    )
    before = clock.lagos_midnight(newest.month)
    missing = session.execute(
        sa.select(sa.func.count())
        .select_from(Movement)
        .where(party.owns(Movement), col(Movement.is_live), col(Movement.created_at) < before, ~stated)
    ).scalar_one()
    if paid_lines.find_left_out(session, party, newest.month):
        yield f"payments before the month of {_named(newest)} are on no statement"
    if missing:
        yield f"{missing:,} movements before the month of {_named(newest)} are on no statement"


def _sum(value: Any) -> Any:
    return sa.func.coalesce(sa.func.sum(value), 0)
