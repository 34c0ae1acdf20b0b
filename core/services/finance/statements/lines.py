"""The lines of a statement: movements of its month with their commission and taxes, and payments (contract F3)."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import date, datetime
from typing import Any, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.finance.parties import Party
from core.services.finance.payments import bank_rows
from core.services.finance.statements.files import PaidLine
from core.services.finance.tax import MonthTax, Spread
from core.services.lists.windows import Window
from core.store.access import ScopedSession
from core.store.rows import build_row
from core.store.schema.tables import Movement, Payment, Policy, ProductVersion, Renewal, StatementLine, StatementPayment

# What a distributor's earlier days may still bring: rows that were committed while the month before was prepared.
_DAYS_BEFORE = 31
_AT_ONCE = 2_000
_READ = ("id", "kind", "created_at", "product_id", "total_minor", "mca_profit_minor", "distributor_profit_minor")


def _with_late(window: Window) -> Window:
    return Window(clock.add_days(window.start, -_DAYS_BEFORE), window.end)


class Line(NamedTuple):
    """One line: amounts in kobo as they change what we owe the party, negative where it owes us."""

    movement_id: UUID
    kind: str
    occurred_at: datetime
    policy_number: str | None
    customer: str
    product_id: UUID
    other_id: UUID
    effective_at: datetime | None
    expires_at: datetime | None
    premium_minor: int
    rate_bp: int
    commission_minor: int
    vat_minor: int = 0
    withheld_minor: int = 0
    net_minor: int = 0


class Unstated(NamedTuple):
    """The movements of a party that a statement would take: their number, and the distributor's commission in kobo."""

    rows: int
    commission_minor: int


def measure_unstated(session: ScopedSession, party: Party, window: Window) -> Unstated:
    """Return what is unstated until the end of a window."""
    return Unstated(
        *session.count_and_sum(col(Movement.distributor_profit_minor), *_unstated(party, _with_late(window)))
    )


def stream_lines(
    session: ScopedSession, party: Party, window: Window, taxed: MonthTax, *, collects: str, rows: int
) -> Iterator[list[Line]]:
    """Yield the lines of a window in the order of time: at once where they are few, otherwise a day at a time."""
    vat, withheld = Spread(taxed.vat_bp), Spread(taxed.withheld_bp)
    late = Window(_with_late(window).start, window.start)
    by_day = (late, *(Window.from_days(each, each) for each in window.days))
    for day in by_day if rows > _AT_ONCE else (_with_late(window),):
        found = session.execute(_select_movements(*_unstated(party, day))).all()
        if found:
            yield [_build_line(party, row, vat=vat, withheld=withheld, collects=collects) for row in found]


def load_movements(session: ScopedSession, window: Window) -> Mapping[Party, Sequence[Any]]:
    """Return every movement of a window, stated or not, by the two parties that have it, in the order of time."""
    found: dict[Party, list[Any]] = {}
    for row in session.execute(_select_movements(*window.span.on(col(Movement.created_at)))):
        for party in (Party("distributor", row.distributor_id), Party("provider", row.provider_id)):
            found.setdefault(party, []).append(row)
    return found


def build_lines(party: Party, rows: Sequence[Any], taxed: MonthTax, *, collects: str) -> list[Line]:
    """Return the lines of a party's movements, over which its taxes are spread."""
    vat, withheld = Spread(taxed.vat_bp), Spread(taxed.withheld_bp)
    return [_build_line(party, row, vat=vat, withheld=withheld, collects=collects) for row in rows]


def is_stated(party: Party) -> sa.ColumnElement[bool]:
    """Return the condition that a movement is on a statement of a kind of party."""
    return sa.exists().where(
        col(StatementLine.movement_id) == col(Movement.id),
        col(StatementLine.account) == party.account,
        col(StatementLine.released_by).is_(None),
    )


def _unstated(party: Party, window: Window) -> list[sa.ColumnElement[bool]]:
    return [party.owns(Movement), *window.span.on(col(Movement.created_at)), ~is_stated(party)]


def _select_movements(*conditions: Any) -> Any:
    term = sa.case((col(Movement.renewal_id).is_not(None), col(Renewal.start_at)), else_=col(Policy.start_at))
    end = sa.case((col(Movement.renewal_id).is_not(None), col(Renewal.expiration_at)), else_=col(Policy.expiration_at))
    return (
        sa.select(
            # As columns and not as records: nine of ten ids of a movement are not read.
            *(col(getattr(Movement, name)) for name in _READ),
            *(col(Movement.distributor_id), col(Movement.provider_id)),
            *(col(Policy.policy_number), col(Policy.first_name), col(Policy.last_name)),
            *(col(Policy.declined_at), term.label("effective_at"), end.label("expires_at")),
            *(col(ProductVersion.mca_commission_bp), col(ProductVersion.distributor_commission_bp)),
        )
        .join(Policy, col(Policy.purchase_id) == col(Movement.purchase_id))
        .join(ProductVersion, col(ProductVersion.id) == col(Movement.product_version_id))
        .outerjoin(Renewal, col(Renewal.id) == col(Movement.renewal_id))
        .where(*conditions)
        .order_by(col(Movement.created_at), col(Movement.id))
    )


def _build_line(party: Party, row: Any, *, vat: Spread, withheld: Spread, collects: str) -> Line:
    is_seller = party.account == "distributor"
    commission = row.distributor_profit_minor if is_seller else -(row.mca_profit_minor + row.distributor_profit_minor)
    # A premium is owed to an insurer, and by a distributor that collects it.
    owed = (-row.total_minor if collects == "distributor" else 0) if is_seller else row.total_minor
    taxed = commission if is_seller else 0
    added, kept = vat.next(taxed), withheld.next(taxed)
    return Line(
        movement_id=row.id,
        kind=transaction_of(row.kind, is_declined=row.declined_at is not None),
        occurred_at=row.created_at,
        policy_number=row.policy_number,
        customer=f"{row.first_name} {row.last_name}",
        product_id=row.product_id,
        other_id=row.provider_id if is_seller else row.distributor_id,
        effective_at=row.effective_at,
        expires_at=row.expires_at,
        premium_minor=row.total_minor,
        rate_bp=row.distributor_commission_bp + (0 if is_seller else row.mca_commission_bp),
        commission_minor=commission,
        vat_minor=added,
        withheld_minor=kept,
        net_minor=owed + commission + added - kept,
    )


def transaction_of(kind: str, *, is_declined: bool) -> str:
    """Return the transaction that a statement prints for a movement."""
    if kind == "refund":
        return "decline" if is_declined else "cancellation"
    return {"purchase": "new"}.get(kind, kind)


@dataclass(slots=True)
class Sums:
    """The running sums of a statement's lines."""

    lines: int = 0
    net_minor: int = 0
    earned_minor: int = 0
    clawback_minor: int = 0
    adjusted_minor: int = 0
    vat_minor: int = 0
    withheld_minor: int = 0
    seen: set[UUID] = field(default_factory=set)

    def add(self, lines: Sequence[Line]) -> None:
        """Add a batch of lines."""
        for line in lines:
            self._add(line)

    def _add(self, line: Line) -> None:
        self.lines += 1
        self.net_minor += line.net_minor
        self.vat_minor += line.vat_minor
        self.withheld_minor += line.withheld_minor
        self.seen.add(line.product_id)
        self.seen.add(line.other_id)
        if line.kind in {"cancellation", "decline"}:
            self.clawback_minor += line.commission_minor
        elif line.kind == "adjustment":
            self.adjusted_minor += line.commission_minor
        else:
            self.earned_minor += line.commission_minor

    @property
    def premium_minor(self) -> int:
        """Change of our debt by premiums: the rest of the net amount."""
        commissions = self.earned_minor + self.clawback_minor + self.adjusted_minor
        return self.net_minor - commissions - self.vat_minor + self.withheld_minor


def _order(line: PaidLine) -> tuple[date, str, str]:
    return line.value_on, str(line.payment_id), line.entry


def list_payments(session: ScopedSession, party: Party, last_on: date) -> list[PaidLine]:
    """List the payments and returns of a party until a day that no statement holds, oldest first."""
    return sorted((line for _, line in _load_payments(session, last_on, party.owns(Payment))), key=_order)


def load_payments(session: ScopedSession, last_on: date) -> Mapping[Party, Sequence[PaidLine]]:
    """Return what `list_payments` lists, of every party."""
    found: dict[Party, list[PaidLine]] = {}
    for party, line in _load_payments(session, last_on):
        found.setdefault(party, []).append(line)
    return {party: sorted(lines, key=_order) for party, lines in found.items()}


def write_payments(session: ScopedSession, statement_id: UUID, lines: Sequence[PaidLine]) -> None:
    """Write the payments of a statement in their order."""
    for position, line in enumerate(lines, 1):
        session.insert(StatementPayment.to_insert(statement_id=statement_id, position=position, **asdict(line)))


def _load_payments(session: ScopedSession, last_on: date, *conditions: Any) -> Iterator[tuple[Party, PaidLine]]:
    stated = sa.exists().where(
        col(StatementPayment.payment_id) == col(Payment.id),
        col(StatementPayment.entry) == bank_rows.ENTRY,
        col(StatementPayment.released_by).is_(None),
    )
    for row in bank_rows.list_rows(session, *conditions, ~stated, before=clock.add_days(last_on, 1)):
        yield row.party, build_row(PaidLine, row)
