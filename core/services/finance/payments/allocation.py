"""Allocation of a payment to the statements that it settles: pure functions on kobo (contract F4)."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import date
from uuid import UUID

from core.errors import StateForbids
from core.money import format_naira
from core.services.finance.parties import Party
from core.states.finance import IN_FORCE, StatementState

# In these states a statement was told to its party and may be paid.


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """The unpaid part of one statement's own change of the balance, with its taxes; negative where the party owes
    us.
    """

    statement_id: UUID
    number: str
    month: date
    state: str
    net_minor: int
    vat_minor: int
    withheld_minor: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Balance:
    """The amount due with a party up to its newest sent statement; `hindrance` is the reason why it cannot be paid."""

    party: Party
    name: str
    dues: tuple[Due, ...]
    hindrance: str | None = None

    @property
    def amount_minor(self) -> int:
        """The sum that would settle everything; positive where we owe it."""
        return sum(due.net_minor for due in self.dues)

    @property
    def newest(self) -> Due | None:
        """The newest statement that a payment settles."""
        return self.dues[-1] if self.dues else None

    @property
    def oldest_month(self) -> date | None:
        """The month of the oldest statement of which something remains."""
        return next((due.month for due in self.dues if due.net_minor), None)


def balance_of(party: Party, name: str, statements: Sequence[Due]) -> Balance:
    """Return the balance of a party from its valid statements, oldest first."""
    stated = [place for place, due in enumerate(statements) if due.state in (*IN_FORCE, StatementState.DISPUTED)]
    dues = tuple(statements[: stated[-1] + 1]) if stated else ()
    return Balance(party=party, name=name, dues=dues, hindrance=_hindrance(dues))


def _hindrance(dues: Sequence[Due]) -> str | None:
    for due in dues:
        if due.state == StatementState.DISPUTED:
            return f"{due.number} is in dispute"
        if due.state not in IN_FORCE:
            return f"{due.number} was not sent yet"
    return None if dues else "No statement was sent yet"


def allocate(dues: Sequence[Due], amount_minor: int) -> list[Due]:
    """Divide an amount over statements: the oldest first, each with its part of the taxes; all of them if it pays all.

    StateForbids for an amount that is zero, of the other sign, or above what is due.
    """
    due_minor = sum(due.net_minor for due in dues)
    if amount_minor == due_minor and due_minor:
        return [due for due in dues if due.net_minor or due.vat_minor or due.withheld_minor]
    sign = -1 if due_minor < 0 else 1
    if not 0 < amount_minor * sign < due_minor * sign:
        raise StateForbids(f"At most {format_naira(abs(due_minor))} can be paid now: that is what is due")
    parts, rest = [], amount_minor * sign
    for due in dues:
        taken = min(rest, due.net_minor * sign)
        if taken > 0:
            parts.append(_part(due, taken * sign))
            rest -= taken
    return parts


def _part(due: Due, net_minor: int) -> Due:
    """Return a part of a due; the taxes round towards zero, so that the last part takes what remains of them."""

    def share(tax_minor: int) -> int:
        whole = abs(tax_minor * net_minor) // abs(due.net_minor)
        return whole if tax_minor > 0 else -whole

    return replace(due, net_minor=net_minor, vat_minor=share(due.vat_minor), withheld_minor=share(due.withheld_minor))
