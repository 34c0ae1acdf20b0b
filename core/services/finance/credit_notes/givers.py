"""Refunds that a distributor gives back, as it holds the premium and has it back on its statement (contract K2)."""

from datetime import date
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.services.finance import agreements
from core.services.finance.parties import Party
from core.services.finance.statements import makers, statements
from core.services.finance.statements import reading as statement_reading
from core.states.finance import UNPAID
from core.store.access import AnySelect, ScopedSession
from core.store.schema.tables import Agreement, CreditNote, Distributor, Refund, Statement
from core.store.schema.tables import StatementLine as Line


def number_of(number: int) -> str:
    """Return the number within its insurer, such as CN-0003."""
    return f"CN-{number:04d}"


HOLDER: Final = "distributor"


def list_given_by_distributors(session: ScopedSession, *conditions: Any) -> dict[UUID, str]:
    """Return by credit note the distributor that gives the refund back, in words: "Ada Ltd, by CS-0007".

    It has the premium back on a statement, or will have it back by the terms that hold at the end of its month.
    """
    holders = sa.select(col(Agreement.distributor_id)).where(col(Agreement.collects) == HOLDER)
    found: dict[UUID, str] = {}
    held: dict[tuple[UUID, date], bool] = {}
    for row in session.execute(_build_query().where(col(CreditNote.distributor_id).in_(holders), *conditions)):
        if row.Statement is not None:
            if row.credited:
                found[row.id] = f"{row.business_name}, by {statement_reading.number_of(row.Statement)}"
            continue
        month = clock.to_lagos_day(row.created_at).replace(day=1)
        key = (row.distributor_id, month)
        if key not in held:
            held[key] = _holds(session, row.distributor_id, month)
        if held[key]:
            found[row.id] = f"{row.business_name}, by its next statement"
    return found


def list_unpaid_customers(session: ScopedSession, *conditions: Any) -> list[UUID]:
    """List the customers of live refunds that are ours to pay and are not paid, once for each refund."""
    unpaid = (col(CreditNote.is_live), col(CreditNote.state).in_(UNPAID), *conditions)
    given = list_given_by_distributors(session, *unpaid)
    query = (
        sa.select(col(CreditNote.id), col(Refund.customer_id))
        .join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        .where(*unpaid)
    )
    return [row.customer_id for row in session.execute(query) if row.id not in given]


def _build_query() -> AnySelect:
    """Return the query of live credit notes, each with the line of its refund on the distributor's account."""
    held = sa.and_(
        col(Line.movement_id) == col(CreditNote.refund_id),
        col(Line.account) == HOLDER,
        col(Line.released_by).is_(None),
    )
    known = (CreditNote.id, CreditNote.distributor_id, Refund.created_at, Distributor.business_name)
    return (
        sa.select(*(col(each) for each in known), makers.PREMIUM.label("credited"), Statement)
        .select_from(CreditNote)
        .join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        .join(Distributor, col(Distributor.id) == col(CreditNote.distributor_id))
        .outerjoin(Line, held)
        .outerjoin(Statement, col(Statement.id) == col(Line.statement_id))
        .where(col(CreditNote.is_live))
    )


def _holds(session: ScopedSession, distributor_id: UUID, month: date) -> bool:
    """True where the terms say so on the last day of the month whose statement a refund of a month comes on."""
    party = Party(HOLDER, distributor_id)
    due = statements.find_due_month(session, party)
    last = clock.add_days(clock.add_months(max(month, due or month), 1), -1)
    terms = agreements.get_in_force(session, party, last)
    return terms is not None and terms.collects == HOLDER
