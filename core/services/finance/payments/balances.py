"""Balance with each party: its valid statements less confirmed payments, and which a payment settles (contract F4)."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import date
from itertools import groupby
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import StateForbids
from core.money import format_naira
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.statements import reading as statement_reading
from core.states.finance import IN_FORCE, UNDER_WAY, PaymentState, StatementState
from core.store.access import ScopedSession
from core.store.schema.tables import Payment, PaymentSettlement, Statement


@dataclass(frozen=True, kw_only=True, slots=True)
class Due:
    """A part of one statement's own change of the balance, with its taxes; negative if the party owes us.

    It is what was not paid yet, or what a payment settles.
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


# Into what a payment of a statement is divided: the amount, and the taxes in it.
PARTS = ("net_minor", "vat_minor", "withheld_minor")


def list_balances(session: ScopedSession) -> list[Balance]:
    """List every party with something due, distributors first, by name."""
    names = dict(parties.list_parties(session))
    found = {party: balance_of(party, names[party], dues) for party, dues in list_dues(session)}
    return [found[party] for party in names if party in found and found[party].amount_minor]


def get_balance(session: ScopedSession, party: Party) -> Balance:
    """Return the balance of one party; NotFound for one that does not exist."""
    name = parties.get_name(session, party)
    dues = next((found for _, found in list_dues(session, party.owns(Statement))), [])
    return balance_of(party, name, dues)


def load_balances(session: ScopedSession, which: Collection[Party]) -> Mapping[Party, Balance]:
    """Return the balance of each of these parties; of one that does not exist there is none."""
    names = dict(parties.list_parties(session))
    is_theirs = sa.or_(*(party.owns(Statement) for party in which), sa.false())
    dues = dict(list_dues(session, is_theirs))
    return {party: balance_of(party, names[party], dues.get(party, ())) for party in which if party in names}


def require_payable(session: ScopedSession, party: Party) -> Balance:
    """Return the balance of a party that can be paid now; StateForbids says what stands against it.

    Whoever takes a statement or a payment of the party on at this instant waits here, or is waited for.
    """
    if session.scope.is_live is not True:
        raise StateForbids("Payments are made of live records only")
    parties.lock(session, party)
    balance = get_balance(session, party)
    if balance.hindrance:
        raise StateForbids(f"{balance.name}: {balance.hindrance}")
    refuse_under_way(session, party)
    return balance


def refuse_under_way(session: ScopedSession, party: Party) -> None:
    """StateForbids while a payment of this party waits for its approval or for the bank."""
    if session.count_rows(Payment, party.owns(Payment), col(Payment.state).in_(UNDER_WAY)):
        raise StateForbids("A payment of this party is under way: it is confirmed, returned or given up first")


def list_dues(session: ScopedSession, *conditions: Any) -> Iterator[tuple[Party, Sequence[Due]]]:
    """Yield each party that was sent or prepared a statement with what is due by each of them."""
    settled = (
        sa.select(
            col(PaymentSettlement.statement_id),
            *(sa.func.sum(col(getattr(PaymentSettlement, n))).label(n) for n in PARTS),
        )
        .join(Payment, col(Payment.id) == col(PaymentSettlement.payment_id))
        .where(col(Payment.state) == PaymentState.CONFIRMED)
        .group_by(col(PaymentSettlement.statement_id))
        .subquery()
    )
    owner = sa.func.coalesce(col(Statement.distributor_id), col(Statement.provider_id))
    query = (
        sa.select(Statement, *(sa.func.coalesce(settled.c[name], 0).label(name) for name in PARTS))
        .outerjoin(settled, settled.c.statement_id == col(Statement.id))
        .where(*statement_reading.IS_VALID, *conditions)
        .order_by(col(Statement.account), owner, col(Statement.month))
    )
    rows = session.execute(query).all()
    for party, found in groupby(rows, key=lambda row: parties.party_of(row.Statement)):
        yield party, [_due(row) for row in found]


def _due(row: Any) -> Due:
    stated: Statement = row.Statement
    return Due(
        statement_id=stated.id,
        number=statement_reading.number_of(stated),
        month=stated.month,
        state=stated.state,
        net_minor=stated.closing_minor - stated.opening_minor + stated.paid_minor - int(row.net_minor),
        vat_minor=stated.vat_minor - int(row.vat_minor),
        withheld_minor=stated.withheld_minor - int(row.withheld_minor),
    )
