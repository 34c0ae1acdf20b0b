"""The check list of a month: what blocks its closing, and what somebody has to have looked at (contract F7)."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.errors import NotFound
from core.services.admin import store_check
from core.services.finance import movements, parties
from core.services.finance.bordereaux import bordereaux as bordereau_overview
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.movements import MovementFilter
from core.services.finance.payments import balances
from core.services.finance.reconciling import matching
from core.services.finance.reconciling import reading as reconciliation_reading
from core.services.finance.statements import reading as statement_overview
from core.services.lists.windows import Window
from core.services.people import role_grants
from core.states.finance import StatementState
from core.store.access import ScopedSession
from core.store.schema.tables import Adjustment, Movement, Policy, Product, ProductVersion

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
    window = Window(month, clock.add_months(month, 1))
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
    if key != "differences" or reconciliation_reading.list_reconciliations(session, month=month):
        return ""
    return "no file was reconciled with this month"


def find_faults(session: ScopedSession) -> list[str]:
    """Return the faults of the whole store; needs the system's scope, and minutes at a million purchases."""
    if not session.scope.unlimited:
        raise NotFound("The check reads the whole store")
    return store_check.list_faults(session)


def _some(rows: Iterator[str]) -> tuple[str, ...]:
    found = list(rows)
    more = len(found) - _SHOWN
    return (*found[:_SHOWN], *([f"and {more:,} more"] if more > 0 else []))


def _totals(session: ScopedSession, window: Window) -> Iterator[str]:
    """The tile is read from the roll-ups, and the movements and their export from the rows."""
    address = {"from": [str(window.start)], "to": [str(window.last)]}
    criteria = MovementFilter.read(address)
    tile = movements.compute_totals(session, criteria)
    amounts = ("total_minor", "mca_profit_minor", "distributor_profit_minor")
    sums: list[Any] = [sa.func.coalesce(sa.func.sum(col(getattr(Movement, name))), 0) for name in amounts]
    query = sa.select(sa.func.count(), *sums).select_from(Movement).where(*movements.build_conditions(criteria))
    number, *minors = (int(value) for value in session.execute(query).one())
    shown = [movements.count(tile), *(getattr(tile.net, name) for name in amounts)]
    for name, one, other in zip(
        ("movements", "premium", "platform", "distributor"), shown, [number, *minors], strict=True
    ):
        if one != other:
            yield f"{name}: the dashboard has {one}, the rows have {other}"


def _refunds(session: ScopedSession, window: Window) -> Iterator[str]:
    before = min(clock.lagos_midnight(window.end), clock.lagos_midnight(clock.add_days(clock.today(), -_LATE_DAYS)))
    for row in credit_note_reading.list_unpaid(session, before):
        amount, made = money.format_naira(row.total_minor), clock.to_lagos_day(row.created_at)
        yield f"{row.number} of {row.provider}, {amount} of {made}: {row.state.lower()}"


def _pending(session: ScopedSession, window: Window) -> Iterator[str]:
    before = min(clock.lagos_midnight(window.end), clock.lagos_midnight(clock.add_days(clock.today(), -_LATE_DAYS)))
    query = sa.select(Policy).where(
        col(Policy.activated).is_(False),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        col(Policy.deleted_at).is_(None),
        col(Policy.created_at) < before,
    )
    for row in session.execute(query.order_by(col(Policy.created_at))).scalars():
        yield f"{money.format_naira(row.genius_price_minor)} sold on {clock.to_lagos_day(row.created_at)}: {row.id}"


def _differences(session: ScopedSession, window: Window) -> Iterator[str]:
    for row in reconciliation_reading.list_reconciliations(session, month=window.start):
        if row.unexplained:
            yield f"{row.party}, {row.file_name}: {row.unexplained} not explained"


def list_unreconciled(session: ScopedSession, window: Window) -> Iterator[str]:
    """Whoever has money of the month on our side, and no file that it was compared with."""
    done = {row.provider_id for row in reconciliation_reading.list_reconciliations(session, month=window.start)}
    query = sa.select(col(Movement.provider_id)).where(*window.span.on(col(Movement.created_at))).distinct()
    moved = set(session.execute(query).scalars())
    for party, name in parties.list_parties(session):
        if party.account == "provider" and party.id in moved - done:
            yield f"{name}: no file of {window.start:%B %Y} was reconciled"
    if None not in done and matching.list_payments(session, window):
        yield f"Our bank: no file of {window.start:%B %Y} was reconciled"


def _bordereaux(session: ScopedSession, window: Window) -> Iterator[str]:
    for row in bordereau_overview.list_month(session, window.start):
        if row.bordereau_id is None:
            yield f"{row.party}: the {row.kind_name.lower()} bordereau is not issued"


def _statements(session: ScopedSession, window: Window) -> Iterator[str]:
    for row in statement_overview.list_month(session, window.start):
        if row.state in {statement_overview.DRAFT, StatementState.PREPARED}:
            yield f"{row.name}: the statement is {'not prepared' if row.number is None else 'not approved'}"
        elif row.state == StatementState.DISPUTED:
            yield f"{row.name}: {row.number} is in dispute"


def _negative(session: ScopedSession, _: Window) -> Iterator[str]:
    for balance in balances.list_balances(session):
        if balance.amount_minor < 0:
            yield f"{balance.name}: {money.format_naira(balance.amount_minor)}"


def _rates(session: ScopedSession, window: Window) -> Iterator[str]:
    query = (
        sa.select(col(Product.name), col(ProductVersion.effective_at))
        .join(Product, col(Product.id) == col(ProductVersion.product_id))
        .where(
            *window.span.on(col(ProductVersion.effective_at)),
            col(ProductVersion.withdrawn_at).is_(None),
            col(ProductVersion.share_id).is_(None),
        )
        .order_by(col(ProductVersion.effective_at))
    )
    for name, at in session.execute(query):
        yield f"{name}, from {clock.to_lagos_day(at)}"


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
    "balances": ("Negative balances", _negative),
    "rates": ("Rates that changed in the month", _rates),
    "large": ("Movements above 5,000,000 naira", _large),
    "adjustments": ("Adjustments by hand", _adjustments),
    "accounts": ("Accounts changed without a second admin", _accounts),
}
