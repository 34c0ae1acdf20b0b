"""Matching our movements and payments with a list of another party by their keys, in kobo (contract F6)."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.services.finance.payments import bank_rows
from core.services.finance.payments.bank_rows import BankRow
from core.services.finance.statements.lines import transaction_of
from core.services.lists.windows import Window
from core.services.people.transfers import reference_key
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Movement, Policy, ProductVersion

AMOUNT, RATE, OURS, THEIRS, TIMING, UNCHECKED = (
    *("amount differs", "rate differs", "only ours"),
    *("only theirs", "timing", "not checked"),
)
# Shown without being a difference.
MATCHED: Final = "matched"


class Entry(NamedTuple):
    """One line of either side; `subject` is our id or the row of the file. An empty key cannot be matched."""

    key: str
    label: str
    transaction: str
    amount_minor: int
    on: date | None
    rate_bp: int | None
    subject: str


@dataclass(slots=True)
class Group:
    """The lines of both sides under one key and transaction: many of one side may make one of the other."""

    key: str
    transaction: str
    ours: list[Entry] = field(default_factory=list)
    theirs: list[Entry] = field(default_factory=list)

    @property
    def ours_minor(self) -> int:
        """The sum of our side."""
        return sum(each.amount_minor for each in self.ours)

    @property
    def theirs_minor(self) -> int:
        """The sum of their side."""
        return sum(each.amount_minor for each in self.theirs)

    @property
    def label(self) -> str:
        """The policy number or reference as it is written, ours if there is one."""
        return (self.ours or self.theirs)[0].label


@dataclass(frozen=True, slots=True)
class Found:
    """Result of matching one group."""

    group: Group
    result: str
    detail: str = ""

    @property
    def difference_minor(self) -> int:
        """Ours less theirs."""
        return self.group.ours_minor - self.group.theirs_minor


def match(
    ours: Iterable[Entry], theirs: Iterable[Entry], *, window: Window, tolerance_minor: int, timing_days: int
) -> list[Found]:
    """Compare both sides; ours may reach beyond the window, by which timing is told from what is missing."""
    within, outside = [], Counter[tuple[str, str]]()
    for entry in ours:
        if is_within(entry, window):
            within.append(entry)
        else:
            outside[entry.key, entry.transaction] += entry.amount_minor
    return [
        _judge(group, outside, window=window, tolerance_minor=tolerance_minor, timing_days=timing_days)
        for group in _group(within, theirs)
    ]


def bound_tolerated(found: Sequence[Found], most_minor: int) -> list[Found]:
    """Return the results with what the tolerance lets pass bounded by a sum; what is above it differs in amount."""
    passed, kept = 0, []
    for each in found:
        minor = abs(each.difference_minor) if each.result == MATCHED else 0
        if passed + minor > most_minor:
            reason = f"Within the tolerance, which lets at most {money.format_naira(most_minor)} of a file pass"
            kept.append(Found(each.group, AMOUNT, reason))
            continue
        passed += minor
        kept.append(each)
    return kept


def is_within(entry: Entry, window: Window) -> bool:
    """Return True for an entry of a window, or without a day."""
    return entry.on is None or window.start <= entry.on < window.end


def _group(ours: Iterable[Entry], theirs: Iterable[Entry]) -> Sequence[Group]:
    groups: dict[tuple[str, str], Group] = {}
    alone: list[Group] = []
    for side, entries in (("ours", ours), ("theirs", theirs)):
        for entry in entries:
            if not entry.key:
                alone.append(Group("", entry.transaction, **{side: [entry]}))
                continue
            place = (entry.key, entry.transaction)
            group = groups.setdefault(place, Group(*place))
            (group.ours if side == "ours" else group.theirs).append(entry)
    return [*groups.values(), *alone]


def _judge(
    group: Group, outside: Counter[tuple[str, str]], *, window: Window, tolerance_minor: int, timing_days: int
) -> Found:
    difference = group.ours_minor - group.theirs_minor
    if not group.key:
        return Found(group, UNCHECKED, "Without a number nothing can be compared")
    if not group.theirs:
        return _only_ours(group, window, timing_days)
    if not group.ours:
        if abs(outside[group.key, group.transaction] - group.theirs_minor) <= tolerance_minor:
            return Found(group, TIMING, "Ours is of a neighbouring month")
        return Found(group, THEIRS)
    rates = _rates(group)
    if abs(difference) <= tolerance_minor:
        # An equal sum at another rate is chance, and wrong next month.
        return Found(group, RATE, rates) if rates else Found(group, MATCHED)
    return Found(group, RATE if rates else AMOUNT, rates)


def _only_ours(group: Group, window: Window, timing_days: int) -> Found:
    if all(each.on and (window.end - each.on).days <= timing_days for each in group.ours):
        return Found(group, TIMING, f"Of the last {timing_days} days: it may be in their next file")
    return Found(group, OURS)


def _rates(group: Group) -> str:
    """Say which rates differ; empty when they are the same, or when the file has none."""
    ours = {each.rate_bp for each in group.ours if each.rate_bp is not None}
    theirs = {each.rate_bp for each in group.theirs if each.rate_bp is not None}
    if not ours or not theirs or ours == theirs:
        return ""
    return f"Ours at {_percents(ours)}, theirs at {_percents(theirs)}"


def _percents(rates: set[int]) -> str:
    return " and ".join(f"{rate / 100:.2f} %" for rate in sorted(rates))


def list_movements(
    session: ScopedSession, provider_id: UUID, window: Window, *, amount_is: str, by_transaction: bool
) -> list[Entry]:
    """List an insurer's movements of a window, gross or net of both commissions, by transaction where the file is."""
    amount = Movement.total_minor if amount_is == "gross" else Movement.provider_share_minor
    query: AnySelect = (
        sa.select(
            col(Movement.id),
            *(col(Movement.kind), col(Movement.created_at), col(amount).label("amount")),
            *(col(Policy.policy_number), col(Policy.number_key), col(Policy.declined_at)),
            (col(ProductVersion.mca_commission_bp) + col(ProductVersion.distributor_commission_bp)).label("rate"),
        )
        .join(Policy, col(Policy.purchase_id) == col(Movement.purchase_id))
        .join(ProductVersion, col(ProductVersion.id) == col(Movement.product_version_id))
        .where(col(Movement.provider_id) == provider_id, *window.span.on(col(Movement.created_at)))
        .order_by(col(Movement.created_at), col(Movement.id))
    )
    return [_movement(row, by_transaction=by_transaction) for row in session.execute(query)]


def _movement(row: Any, *, by_transaction: bool) -> Entry:
    transaction = transaction_of(row.kind, is_declined=row.declined_at is not None) if by_transaction else ""
    return Entry(
        key=row.number_key or "",
        label=row.policy_number or "",
        transaction=transaction,
        amount_minor=int(row.amount),
        on=clock.to_lagos_day(row.created_at),
        rate_bp=int(row.rate),
        subject=str(row.id),
    )


def list_payments(session: ScopedSession, window: Window) -> list[Entry]:
    """List the payments and returns of a window as our bank account has them: positive comes in."""
    found = bank_rows.list_rows(session, since=window.start, before=window.end)
    # Payments before returns.
    return [_payment(row) for row in sorted(found, key=lambda each: each.entry)]


def _payment(row: BankRow) -> Entry:
    return Entry(
        key=reference_key(row.reference),
        label=row.reference,
        transaction="",
        amount_minor=-row.amount_minor,
        on=row.value_on,
        rate_bp=None,
        subject=str(row.payment_id),
    )
