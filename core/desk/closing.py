"""The close of a month: its stages, what blocks it, and its steps, each by a second person (contract F7)."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.desk import store_check
from core.errors import InvalidInput, StateForbids
from core.services.audit import log as audit
from core.services.audit import search
from core.services.finance import agreements, journal, movements, parties
from core.services.finance.bordereaux import bordereaux
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.journal import Step
from core.services.finance.movements import MovementFilter
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments import settlement
from core.services.finance.reconciling import matching, reconciliations
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements.reading import StatementSummary
from core.services.lists.windows import Window
from core.services.people import role_grants
from core.services.people.four_eyes import FirstStep, require_other
from core.services.people.staff import Person
from core.states.finance import (
    IN_FORCE,
    MONTH_TRANSITIONS,
    SHUT,
    BordereauState,
    MonthState,
    PaymentState,
    StatementState,
)
from core.store.access import Scope, ScopedSession, reading
from core.store.expressions import sum_of
from core.store.schema.tables import Adjustment, MonthStep, Movement, Policy, Product, ProductVersion

# In kobo: single movements above it are looked at.
LARGE_MINOR: Final = 500_000_000
_LATE_DAYS: Final = 14
_SHOWN: Final = 50


@dataclass(frozen=True, kw_only=True, slots=True)
class Check:
    """One line of the check list with its rows in words; a blocking one has to have none.

    `key` names its subject, by which a screen leads to the rows. The rows of the others are looked at by whoever closes
    the month, who says so. `unproved` says why a line without rows proves nothing.
    """

    key: str
    name: str
    is_blocking: bool
    rows: tuple[str, ...]
    unproved: str = ""

    @property
    def stands_against(self) -> bool:
        """True when the month cannot be closed because of it."""
        return self.is_blocking and bool(self.rows)


def run(session: ScopedSession, month: date) -> list[Check]:
    """Return the check list of a month but for the audit of the whole store, which `of_store` makes a line of it."""
    window = Window.of_month(month)
    return [
        Check(
            key=key,
            name=name,
            is_blocking=is_blocking,
            rows=_some(rows(session, window)),
            unproved=_find_unproved(session, key, month),
        )
        for found, is_blocking in ((_BLOCKING, True), (_REVIEWED, False))
        for key, (name, rows) in found.items()
    ]


def of_store(faults: Iterable[str], *, unproved: str = "") -> Check:
    """Return the line of the audit of the whole store."""
    rows = _some(iter(faults))
    return Check(
        key="store", name="The check of the whole store is clean", is_blocking=True, rows=rows, unproved=unproved
    )


def _find_unproved(session: ScopedSession, key: str, month: date) -> str:
    if key != "differences" or reconciliations.list_reconciliations(session, month=month):
        return ""
    return "no file was reconciled with this month"


def _some(rows: Iterator[str]) -> tuple[str, ...]:
    found = list(rows)
    more = len(found) - _SHOWN
    return (*found[:_SHOWN], *([f"and {more:,} more"] if more > 0 else []))


def _totals(session: ScopedSession, window: Window) -> Iterator[str]:
    """The tile is read from the roll-ups, and the movements and their export from the rows."""
    criteria = MovementFilter(created=window.span)
    tile = movements.compute_totals(session, criteria)
    amounts = ("total_minor", "mca_profit_minor", "distributor_profit_minor")
    sums = [sum_of(col(getattr(Movement, name))) for name in amounts]
    query = sa.select(sa.func.count(), *sums).select_from(Movement).where(*criteria.conditions(Movement))
    number, *minors = (int(value) for value in session.execute(query).one())
    shown = [movements.count(tile), *(getattr(tile.net, name) for name in amounts)]
    for name, one, other in zip(
        ("movements", "premium", "platform", "distributor"), shown, [number, *minors], strict=True
    ):
        if one != other:
            yield f"{name}: the dashboard has {one}, the rows have {other}"


def _late(window: Window) -> datetime:
    """Return before when something of a month, or of an earlier one, has waited for too long now."""
    return clock.lagos_midnight(min(window.end, clock.add_days(clock.today(), -_LATE_DAYS)))


def _refunds(session: ScopedSession, window: Window) -> Iterator[str]:
    for row in credit_note_reading.list_unpaid(session, _late(window)):
        amount, made = money.format_naira(row.total_minor), clock.to_lagos_day(row.created_at)
        yield f"{row.number} of {row.provider}, {amount} of {made}: {row.state.lower()}"


def _pending(session: ScopedSession, window: Window) -> Iterator[str]:
    query = sa.select(Policy).where(*movements.UNANSWERED, col(Policy.created_at) < _late(window))
    for row in session.execute(query.order_by(col(Policy.created_at))).scalars():
        yield f"{money.format_naira(row.genius_price_minor)} sold on {clock.to_lagos_day(row.created_at)}: {row.id}"


def _differences(session: ScopedSession, window: Window) -> Iterator[str]:
    for row in reconciliations.list_reconciliations(session, month=window.start):
        if row.unexplained:
            yield f"{row.party}, {row.file_name}: {row.unexplained} not explained"


def list_unreconciled(session: ScopedSession, window: Window) -> Iterator[str]:
    """Whoever has money of the month on our side, and no file that it was compared with."""
    done = {row.provider_id for row in reconciliations.list_reconciliations(session, month=window.start)}
    query = sa.select(col(Movement.provider_id)).where(*window.span.on(col(Movement.created_at))).distinct()
    moved = set(session.execute(query).scalars())
    for provider_id, name in parties.list_insurers(session):
        if provider_id in moved - done:
            yield f"{name}: no file of {window.start:%B %Y} was reconciled"
    if None not in done and matching.list_payments(session, window):
        yield f"Our bank: no file of {window.start:%B %Y} was reconciled"


def _replaced(session: ScopedSession, window: Window) -> Iterator[str]:
    yield from reconciliations.list_replaced(session, window.start)


def _bordereaux(session: ScopedSession, window: Window) -> Iterator[str]:
    for row in bordereaux.list_month(session, window.start):
        if row.bordereau_id is None:
            yield f"{row.party}: the {row.kind_label.lower()} bordereau is not issued"


def _statements(session: ScopedSession, window: Window) -> Iterator[str]:
    for row in statement_reading.list_month(session, window.start):
        if row.state in {statement_reading.DRAFT, StatementState.PREPARED}:
            yield f"{row.name}: the statement is {'not prepared' if row.number is None else 'not approved'}"
        elif row.state == StatementState.DISPUTED:
            yield f"{row.name}: {row.number} is in dispute"


def _negative(session: ScopedSession, _: Window) -> Iterator[str]:
    for balance in settlement.list_balances(session):
        if balance.amount_minor < 0:
            yield f"{balance.name}: {money.format_naira(balance.amount_minor)}"


def _rates(session: ScopedSession, window: Window) -> Iterator[str]:
    query = (
        sa.select(col(Product.name), col(ProductVersion.effective_at), col(ProductVersion.withdrawn_at))
        .join(Product, col(Product.id) == col(ProductVersion.product_id))
        .where(
            *window.span.on(col(ProductVersion.effective_at)),
            col(ProductVersion.share_id).is_(None),
        )
        .order_by(col(ProductVersion.effective_at))
    )
    for name, at, withdrawn_at in session.execute(query):
        # One admin withdraws what two confirmed.
        withdrawn = f": withdrawn on {clock.to_lagos_day(withdrawn_at)}" if withdrawn_at else ""
        yield f"{name}, from {clock.to_lagos_day(at)}{withdrawn}"


def _large(session: ScopedSession, window: Window) -> Iterator[str]:
    query = sa.select(Movement).where(
        *window.span.on(col(Movement.created_at)), sa.func.abs(col(Movement.total_minor)) > LARGE_MINOR
    )
    for row in session.execute(query.order_by(col(Movement.created_at))).scalars():
        yield f"{row.kind} of {money.format_naira(row.total_minor)} on {clock.to_lagos_day(row.created_at)}: {row.id}"


def _adjustments(session: ScopedSession, window: Window) -> Iterator[str]:
    query = sa.select(Adjustment).where(*window.span.on(col(Adjustment.created_at)))
    for row in session.execute(query.order_by(col(Adjustment.created_at))).scalars():
        yield f"{money.format_naira(row.total_minor)} on {clock.to_lagos_day(row.created_at)}: {row.reason}"


def _accounts(session: ScopedSession, window: Window) -> Iterator[str]:
    start, end = clock.lagos_midnight(window.start), clock.lagos_midnight(window.end)
    yield from role_grants.list_unconfirmed(session, since=start, until=end)


def _terms(session: ScopedSession, window: Window) -> Iterator[str]:
    start, end = clock.lagos_midnight(window.start), clock.lagos_midnight(window.end)
    yield from agreements.list_changed(session, since=start, until=end)


def _restores(session: ScopedSession, window: Window) -> Iterator[str]:
    start, end = clock.lagos_midnight(window.start), clock.lagos_midnight(window.end)
    yield from search.list_restores(session, since=start, until=end)


_Rows = Callable[[ScopedSession, Window], Iterator[str]]
_BLOCKING: Final[dict[str, tuple[str, _Rows]]] = {
    "totals": ("Tiles, movements and exports have the same totals", _totals),
    "insurers": ("No sale awaits its insurer for more than 14 days", _pending),
    "refunds": ("No refund has been unpaid for more than 14 days", _refunds),
    "differences": ("Every difference of a reconciliation is explained", _differences),
    "bordereaux": ("Every bordereau is issued", _bordereaux),
    "statements": ("Every statement is approved and none is in dispute", _statements),
}
_REVIEWED: Final[dict[str, tuple[str, _Rows]]] = {
    "reconciled": ("Insurers and banks whose file was not reconciled", list_unreconciled),
    "replaced": ("Differences that a newer file does not have", _replaced),
    "balances": ("Negative balances", _negative),
    "rates": ("Rates that changed in the month", _rates),
    "large": ("Movements above ₦5,000,000.00", _large),
    "adjustments": ("Adjustments by hand", _adjustments),
    "terms": ("Terms with distributors that changed", _terms),
    "accounts": ("Accounts and terms changed without a second admin", _accounts),
    "restores": ("Backups that took the place of the store", _restores),
}


_SHORTEST: Final = 10
_ACTIONS: Final = {
    MonthState.CLOSING: "month closing begun",
    MonthState.OPEN: "month closing given up",
    MonthState.CLOSED: "month closed",
    MonthState.REOPENING: "month reopening asked",
    MonthState.REOPENED: "month reopened",
}


def list_checks(session: ScopedSession, month: date) -> list[Check]:
    """Return the check list of a month as it stands now."""
    with reading(Scope.system()) as whole:
        faults = store_check.list_faults(whole)
    return [of_store(faults), *run(session, month)]


def begin(session: ScopedSession, month: date, *, by: Person) -> None:
    """Begin to close a month that is over; StateForbids while a month before it, with movements, is not closed."""
    _require(session, by)
    if month.day != 1 or not Window.of_month(month).is_over:
        raise StateForbids(f"{month:%B %Y} is not over yet")
    _refuse_before_earlier(session, month)
    add_step(session, month, MonthState.CLOSING, by=by)


def _refuse_before_earlier(session: ScopedSession, month: date) -> None:
    if earlier := get_earlier(session, month):
        raise StateForbids(f"{earlier:%B %Y} comes first: months are closed one after the other")


def find_next(session: ScopedSession, newest: date) -> date:
    """Return the month that is closed next; the newest that is over, where all before it are closed."""
    return get_earlier(session, newest) or newest


def get_earlier(session: ScopedSession, month: date) -> date | None:
    """Return the month that has to be closed before this one: the first that is not, since months are closed."""
    states = {step.month: step.state for step in journal.list_steps(session)}
    each = min(states, default=month)
    while each < month and states.get(each) == MonthState.CLOSED:
        each = clock.add_months(each, 1)
    return each if each < month else None


def give_up(session: ScopedSession, month: date, *, by: Person) -> None:
    """Take a closing that was begun, or a reopening that was asked for, back."""
    _require(session, by)
    steps = journal.list_steps(session, month)
    if steps and steps[-1].state == MonthState.REOPENING:
        closed = next(step for step in reversed(steps) if step.state == MonthState.CLOSED)
        add_step(session, month, MonthState.CLOSED, by=by, sha256=closed.sha256, facts=closed.facts, facts_kept=True)
        return
    add_step(session, month, MonthState.OPEN, by=by)


def close(session: ScopedSession, month: date, *, by: Person, note: str = "") -> None:
    """Close a month that somebody else has begun to close; its journal's hash is kept.

    StateForbids for a check that stands against it, or where there are rows to look at and no note says so.
    """
    _require(session, by)
    journal.hold_months(session)
    _require_step(session, month, MonthState.CLOSED, by)
    # One before it may have been reopened since this closing was begun.
    _refuse_before_earlier(session, month)
    found = list_checks(session, month)
    against = [check.name for check in found if check.stands_against]
    if against:
        raise StateForbids(f"It cannot be closed yet: {'; '.join(against)}")
    looked_at = [check.name for check in found if check.rows]
    if looked_at and len(note.strip()) < _SHORTEST:
        names = "; ".join(looked_at)
        raise InvalidInput.for_field("note", f"must say in at least ten characters that you checked: {names}")
    facts = {check.name: len(check.rows) for check in found}
    digest = journal.hash_of(session, month)
    add_step(session, month, MonthState.CLOSED, by=by, note=note.strip(), sha256=digest, facts=facts)


def ask_reopening(session: ScopedSession, month: date, *, by: Person, note: str) -> None:
    """Ask a second person to reopen a closed month, with the reason."""
    _require(session, by)
    if len(note.strip()) < _SHORTEST:
        raise InvalidInput.for_field("note", "must say in at least ten characters why the month has to be open again")
    add_step(session, month, MonthState.REOPENING, by=by, note=note.strip())


def reopen(session: ScopedSession, month: date, *, by: Person) -> None:
    """Reopen what somebody else asked for; StateForbids while a later month is closed."""
    _require(session, by)
    later = {step.month: step.state for step in journal.list_steps(session) if step.month > month}
    if any(state in SHUT for state in later.values()):
        raise StateForbids("A later month is closed: it is reopened first")
    add_step(session, month, MonthState.REOPENED, by=by)


def list_allowed(steps: Sequence[Step], by: Person) -> list[MonthState]:
    """List the states that this person may bring a month to now."""
    if not by.has_role("finance"):
        return []
    state = steps[-1].state if steps else MonthState.OPEN
    return [each.to for each in MONTH_TRANSITIONS.list_from(state) if not each.needs_other or steps[-1].by != by.id]


def _require(session: ScopedSession, by: Person) -> None:
    by.require_role("finance", otherwise="Only finance closes months")
    if session.scope.is_live is not True:
        raise StateForbids("The books are of live records only")


def _require_step(session: ScopedSession, month: date, to: MonthState, by: Person) -> Sequence[Step]:
    steps = journal.list_steps(session, month)
    state = steps[-1].state if steps else MonthState.OPEN
    if MONTH_TRANSITIONS.get(state, to).needs_other:
        last = FirstStep(by=steps[-1].by, at=steps[-1].at, did="made the last step", does="makes this one")
        require_other(session, last, by, second="somebody else of finance")
    return steps


def add_step(session: ScopedSession, month: date, state: MonthState, *, by: Person, **more: Any) -> None:
    """Write a step that the table of transitions allows this person; the check list is the caller's."""
    steps = _require_step(session, month, state, by)
    row = MonthStep(
        id=ids.new(),
        month=month,
        position=len(steps) + 1,
        state=state,
        by=by.id,
        before_by=steps[-1].by if steps else None,
        at=clock.now(),
        **more,
    )
    if not session.insert_if_absent(row):
        raise StateForbids("Somebody else has just changed this month: open it again")
    facts = {name: more[name] for name in ("note", "sha256") if more.get(name)}
    month_of = f"{month:%Y-%m}"
    audit.note(session, "month", row.id, _ACTIONS[state], actor=by.actor, month=month_of, state=state, **facts)


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


# What is left to do with papers in these states.
_STATEMENTS_LEFT: Final = {
    statement_reading.DRAFT: "to prepare",
    StatementState.PREPARED: "to approve",
    StatementState.APPROVED: "to send",
    StatementState.DISPUTED: "in dispute",
}
_BORDEREAUX_LEFT: Final = {
    bordereaux.DRAFT: "to issue",
    BordereauState.ISSUED: "to send",
    BordereauState.QUERIED: "queried",
}


def list_stages(session: ScopedSession, month: date) -> list[Stage]:
    """List the stages of a month in their order; those after the first that waits may be begun all the same."""
    window = Window.of_month(month)
    statements = [
        row
        for row in statement_reading.list_month(session, month)
        if row.state != StatementState.VOID and not row.is_reversal
    ]
    reported = [row.state for row in bordereaux.list_month(session, month)]
    return [
        *_sales(session, window),
        _of_states("statements", "Statements", [row.state for row in statements], _STATEMENTS_LEFT),
        _of_states("bordereaux", "Bordereaux", reported, _BORDEREAUX_LEFT),
        _payments(statements, payment_reading.load_under_way(session)),
        _reconciled(session, window),
        _closed(session, month),
    ]


def _sales(session: ScopedSession, window: Window) -> tuple[Stage, Stage]:
    totals = movements.compute_totals(session, MovementFilter(created=window.span))
    runs = () if window.is_over else (f"runs until {window.last:%-d %b}",)
    waiting = (*movements.UNANSWERED, *window.span.on(col(Policy.created_at)))
    number, minor = session.count_and_sum(col(Policy.genius_price_minor), *waiting)
    waits = (f"{number:,} without an answer, {money.format_naira(minor)}",) if number else ()
    return (
        Stage(key="sales", name="Sales in", figure=f"{movements.count(totals):,} movements", waits=runs),
        Stage(key="insurers", name="Answered", figure=f"{totals.sold - number:,} of {totals.sold:,}", waits=waits),
    )


def _of_states(key: str, name: str, states: Sequence[str], left: dict[str, str]) -> Stage:
    found = Counter(states)
    waits = tuple(f"{found[state]:,} {words}" for state, words in left.items() if found[state])
    done = sum(number for state, number in found.items() if state not in left)
    return Stage(key=key, name=name, figure=f"{done:,} of {len(states):,}", waits=waits)


def _payments(rows: Collection[StatementSummary], under_way: Mapping[UUID | None, str]) -> Stage:
    """Balances owed to parties are paid; what a party owes is carried to its next statement, or received."""
    owed = [row for row in rows if (row.closing_minor or 0) > 0 and row.state in (*IN_FORCE, StatementState.DISPUTED)]
    open_rows = [row for row in owed if row.state != StatementState.PAID]
    # What is in dispute is paid once that is settled.
    payable = [row for row in open_rows if row.state != StatementState.DISPUTED]
    unpaid = [row.closing_minor or 0 for row in payable if row.statement_id not in under_way]
    found = Counter(under_way.get(row.statement_id) for row in payable)
    waits: tuple[str, ...] = (f"{len(unpaid):,} to pay, {money.format_naira(sum(unpaid))} stated",) if unpaid else ()
    if number := found[PaymentState.PREPARED]:
        waits += (f"{number:,} in a payout to approve",)
    if number := found[PaymentState.APPROVED]:
        waits += (f"{number:,} {'waits' if number == 1 else 'wait'} for the bank",)
    if number := len(open_rows) - len(payable):
        waits += (f"{number:,} in dispute",)
    if not waits and any(row.state in _STATEMENTS_LEFT for row in rows):
        waits = ("waits for the statements",)
    return Stage(key="payments", name="Payouts", figure=f"{len(owed) - len(open_rows):,} of {len(owed):,}", waits=waits)


def _reconciled(session: ScopedSession, window: Window) -> Stage:
    made = reconciliations.list_reconciliations(session, month=window.start)
    missing = list(list_unreconciled(session, window))
    parties = {row.provider_id for row in made}
    unexplained = sum(row.unexplained for row in made)
    waits = [f"{len(missing):,} without a file"] if missing else []
    if unexplained:
        waits.append(f"{unexplained:,} {'difference' if unexplained == 1 else 'differences'} not explained")
    total = len(parties) + len(missing)
    return Stage(key="reconciled", name="Reconciled", figure=f"{len(parties):,} of {total:,}", waits=tuple(waits))


def _closed(session: ScopedSession, month: date) -> Stage:
    state = journal.state_of(session, month)
    if state == MonthState.CLOSED:
        return Stage(key="closed", name="Closed", figure=state)
    if earlier := get_earlier(session, month):
        return Stage(key="closed", name="Closed", figure=state, waits=(f"{earlier:%B %Y} comes first",))
    waits = "a second person" if state in (MonthState.CLOSING, MonthState.REOPENING) else "two people"
    return Stage(key="closed", name="Closed", figure=state, waits=(f"waits for {waits}",))
