"""The stages that bring a month to its close: how far each is, and what it waits for (contract F7)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.closing import closing
from core.services.closing.checks import list_unreconciled
from core.services.finance import months, movements
from core.services.finance.bordereaux import bordereaux as bordereau_overview
from core.services.finance.movements import MovementFilter
from core.services.finance.reconciling import reading as reconciliation_reading
from core.services.finance.statements import reading as statement_overview
from core.services.finance.statements.reading import StatementSummary
from core.services.lists.windows import Window
from core.states.finance import IN_FORCE, BordereauState, MonthState, StatementState
from core.store.access import ScopedSession
from core.store.schema.tables import Policy


@dataclass(frozen=True, kw_only=True, slots=True)
class Stage:
    """One stage of a month: `done` of `total`, and in words what it waits for; nothing, once it is finished.

    `key` names the subject, by which a screen finds the rows; `figure` is what a person looks at first.
    """

    key: str
    name: str
    figure: str
    waits: tuple[str, ...] = ()

    @property
    def is_done(self) -> bool:
        """True when nothing is left to do."""
        return not self.waits


def list_stages(session: ScopedSession, month: date) -> list[Stage]:
    """List the stages of a month in their order; those after the first that waits may be begun all the same."""
    window = Window(month, clock.add_months(month, 1))
    statements = [
        row
        for row in statement_overview.list_month(session, month)
        if row.state != StatementState.VOID and not row.is_reversal
    ]
    return [
        *_sales(session, window),
        _statements(statements),
        _bordereaux(session, month),
        _payments(statements),
        _reconciled(session, window),
        _closed(session, month),
    ]


def _sales(session: ScopedSession, window: Window) -> tuple[Stage, Stage]:
    totals = movements.compute_totals(
        session, MovementFilter.read({"from": [str(window.start)], "to": [str(window.last)]})
    )
    runs = (f"runs until {window.last:%-d %b}",) if clock.lagos_midnight(window.end) > clock.now() else ()
    waiting = sa.select(sa.func.count(), sa.func.coalesce(sa.func.sum(col(Policy.genius_price_minor)), 0)).where(
        col(Policy.activated).is_(False),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        col(Policy.deleted_at).is_(None),
        *window.span.on(col(Policy.created_at)),
    )
    number, minor = session.execute(waiting).one()
    waits = (f"{number:,} without an answer, {money.format_naira(int(minor))}",) if number else ()
    return (
        Stage(key="sales", name="Sales in", figure=f"{movements.count(totals):,} movements", waits=runs),
        Stage(key="insurers", name="Answered", figure=f"{totals.sold - number:,} of {totals.sold:,}", waits=waits),
    )


def _statements(rows: Sequence[StatementSummary]) -> Stage:
    left = {
        statement_overview.DRAFT: "to prepare",
        StatementState.PREPARED: "to approve",
        StatementState.APPROVED: "to send",
        StatementState.DISPUTED: "in dispute",
    }
    return _of_states("statements", "Statements", [row.state for row in rows], left)


def _bordereaux(session: ScopedSession, month: date) -> Stage:
    left = {
        bordereau_overview.DRAFT: "to issue",
        BordereauState.ISSUED: "to send",
        BordereauState.QUERIED: "queried",
    }
    states = [row.state for row in bordereau_overview.list_month(session, month)]
    return _of_states("bordereaux", "Bordereaux", states, left)


def _of_states(key: str, name: str, states: Sequence[str], left: dict[str, str]) -> Stage:
    found = Counter(states)
    waits = tuple(f"{found[state]:,} {words}" for state, words in left.items() if found[state])
    done = sum(number for state, number in found.items() if state not in left)
    return Stage(key=key, name=name, figure=f"{done:,} of {len(states):,}", waits=waits)


def _payments(rows: Iterable[StatementSummary]) -> Stage:
    """Balances owed to parties are paid; what a party owes is carried to its next statement, or received."""
    owed = [row for row in rows if (row.closing_minor or 0) > 0 and row.state in (*IN_FORCE, StatementState.DISPUTED)]
    open_rows = [row for row in owed if row.state != StatementState.PAID]
    minor = sum(row.closing_minor or 0 for row in open_rows)
    waits = (f"{len(open_rows):,} to pay, {money.format_naira(minor)} stated",) if open_rows else ()
    return Stage(key="payments", name="Payouts", figure=f"{len(owed) - len(open_rows):,} of {len(owed):,}", waits=waits)


def _reconciled(session: ScopedSession, window: Window) -> Stage:
    made = reconciliation_reading.list_reconciliations(session, month=window.start)
    missing = list(list_unreconciled(session, window))
    parties = {row.provider_id for row in made}
    unexplained = sum(row.unexplained for row in made)
    waits = [f"{len(missing):,} without a file"] if missing else []
    waits += (
        [f"{unexplained:,} {'difference' if unexplained == 1 else 'differences'} not explained"] if unexplained else []
    )
    total = len(parties) + len(missing)
    return Stage(key="reconciled", name="Reconciled", figure=f"{len(parties):,} of {total:,}", waits=tuple(waits))


def _closed(session: ScopedSession, month: date) -> Stage:
    steps = months.list_steps(session, month)
    state = steps[-1].state if steps else MonthState.OPEN
    if state == MonthState.CLOSED:
        return Stage(key="closed", name="Closed", figure=state)
    if earlier := closing.get_earlier(session, month):
        return Stage(key="closed", name="Closed", figure=state, waits=(f"{earlier:%B %Y} comes first",))
    waits = "a second person" if state in (MonthState.CLOSING, MonthState.REOPENING) else "two people"
    return Stage(key="closed", name="Closed", figure=state, waits=(f"waits for {waits}",))
