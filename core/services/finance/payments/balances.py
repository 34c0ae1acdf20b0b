"""Balance with each party: its valid statements less the confirmed payments that settled them (contract F4)."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core.errors import StateForbids
from core.services.finance import parties
from core.services.finance.parties import Party
from core.services.finance.payments.allocation import Balance, Due, balance_of
from core.services.finance.statements import reading as statement_reading
from core.states.finance import UNDER_WAY, PaymentState, StatementState
from core.store.access import ScopedSession
from core.store.schema.tables import Payment, PaymentSettlement, Statement

_PARTS = ("net_minor", "vat_minor", "withheld_minor")


def list_balances(session: ScopedSession) -> list[Balance]:
    """List every party with something due, distributors first, by name."""
    names = dict(parties.list_parties(session))
    found = {party: balance_of(party, names[party], dues) for party, dues in _dues(session)}
    return [found[party] for party in names if party in found and found[party].amount_minor]


def get_balance(session: ScopedSession, party: Party) -> Balance:
    """Return the balance of one party; NotFound for one that does not exist."""
    name = parties.get_name(session, party)
    dues = next((found for _, found in _dues(session, party.owns(Statement))), [])
    return balance_of(party, name, dues)


def require_payable(session: ScopedSession, party: Party) -> Balance:
    """Return the balance of a party that can be paid now; StateForbids says what stands against it."""
    if session.scope.is_live is not True:
        raise StateForbids("Payments are made of live records only")
    balance = get_balance(session, party)
    if balance.hindrance:
        raise StateForbids(f"{balance.name}: {balance.hindrance}")
    refuse_under_way(session, party)
    return balance


def refuse_under_way(session: ScopedSession, party: Party) -> None:
    """StateForbids while a payment of this party waits for its approval or for the bank."""
    query = sa.select(col(Payment.id)).where(party.owns(Payment), col(Payment.state).in_(UNDER_WAY)).limit(1)
    if session.execute(query).first() is not None:
        raise StateForbids("A payment of this party is under way: it is confirmed, returned or given up first")


def _dues(session: ScopedSession, *conditions: Any) -> Iterator[tuple[Party, Sequence[Due]]]:
    settled = (
        sa.select(
            col(PaymentSettlement.statement_id),
            *(sa.func.sum(col(getattr(PaymentSettlement, n))).label(n) for n in _PARTS),
        )
        .join(Payment, col(Payment.id) == col(PaymentSettlement.payment_id))
        .where(col(Payment.state) == PaymentState.CONFIRMED)
        .group_by(col(PaymentSettlement.statement_id))
        .subquery()
    )
    owner = sa.func.coalesce(col(Statement.distributor_id), col(Statement.provider_id))
    query = (
        sa.select(Statement, *(sa.func.coalesce(settled.c[name], 0).label(name) for name in _PARTS))
        .outerjoin(settled, settled.c.statement_id == col(Statement.id))
        .where(col(Statement.state) != StatementState.VOID, col(Statement.reverses_id).is_(None), *conditions)
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
