"""Makers of what a statement pays a distributor for, who do not approve it: who sold, and who ended (contract K3)."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.errors import NotAllowed
from core.services.people.four_eyes import refuse_one_with
from core.services.people.staff import Person
from core.services.policies import sellers
from core.states.loan_books import RowOutcome
from core.store.access import ScopedSession
from core.store.schema.tables import (
    CreditNote,
    LoanBook,
    LoanBookRow,
    Policy,
    Purchase,
    Refund,
    Renewal,
    Staff,
    Statement,
    StatementLine,
)

# The source of what somebody at the desk sold or renewed.
DESK: Final = "desk"
# What a line changes of the premium that a distributor owes; nothing where we hold the premium.
PREMIUM: Final[Any] = (
    col(StatementLine.net_minor)
    - col(StatementLine.commission_minor)
    - col(StatementLine.vat_minor)
    + col(StatementLine.withheld_minor)
)
_MOVEMENT: Final = col(StatementLine.movement_id)
Acts = set[tuple[UUID, datetime]]


def refuse_makers(session: ScopedSession, row: Statement, by: Person) -> None:
    """NotAllowed for who made what a distributor is stated a commission of, or a premium that it has back.

    The commission may be one on premium that nobody paid: it is made by who sold or renewed at the desk, and by who
    uploaded or confirmed the loan book that sold. Where the distributor holds the premium, whoever ended a policy, or
    uploaded or confirmed the loan book that did, gives it back: nobody approves that besides.
    """
    for did, acts in (
        ("sold or renewed at the desk what it states a commission of", _list_sales(session, row)),
        ("uploaded or confirmed a loan book that it states a commission of", _list_books_sold(session, row)),
        ("ended a policy of which it gives the distributor premium back", _list_ends(session, row)),
    ):
        if by.id in {staff_id for staff_id, _ in acts}:
            raise NotAllowed(f"You {did}: somebody else of finance approves it")
        refuse_one_with(session, acts, by, did=did, does="approves it")


def _list_sales(session: ScopedSession, row: Statement) -> Acts:
    of_line = col(StatementLine.statement_id) == row.id
    sold = sa.select(col(Policy.id)).join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
    sold = sold.join(StatementLine, col(Purchase.id) == _MOVEMENT)
    renewed = sa.select(col(Renewal.policy_id)).join(StatementLine, col(Renewal.id) == _MOVEMENT)
    at_desk = (sold.where(of_line, _is_of_desk(Purchase)), renewed.where(of_line, _is_of_desk(Renewal)))
    found = zip((sellers.SOLD, sellers.RENEWED), at_desk, strict=True)
    return {
        act for action, query in found for act in sellers.list_acts(session, session.execute(query).scalars(), action)
    }


def _is_of_desk(entity: Any) -> sa.ColumnElement[bool]:
    is_of_desk: sa.ColumnElement[bool] = col(entity.request_source) == DESK
    return is_of_desk


def _list_books_sold(session: ScopedSession, row: Statement) -> Acts:
    batches = sa.select(col(Purchase.batch_id)).join(StatementLine, col(Purchase.id) == _MOVEMENT)
    is_stated = col(LoanBook.batch_id).in_(batches.where(col(StatementLine.statement_id) == row.id))
    return set(_list_people(session, row, is_stated))


def _list_ends(session: ScopedSession, row: Statement) -> Acts:
    given_back = (col(StatementLine.statement_id) == row.id, PREMIUM != 0)
    ended = sa.select(col(Staff.id), col(CreditNote.created_at)).join(
        CreditNote, sa.literal(sellers.STAFF) + col(Staff.email) == col(CreditNote.made_by)
    )
    ended = ended.join(StatementLine, col(CreditNote.refund_id) == _MOVEMENT).where(*given_back)
    books = sa.select(col(LoanBookRow.book_id)).join(Refund, col(Refund.policy_id) == col(LoanBookRow.policy_id))
    books = books.join(StatementLine, col(Refund.id) == _MOVEMENT)
    books = books.where(*given_back, col(LoanBookRow.outcome) == RowOutcome.ENDED)
    by_person = {(each.id, each.created_at) for each in session.execute(ended)}
    return {*by_person, *_list_people(session, row, col(LoanBook.id).in_(books))}


def _list_people(
    session: ScopedSession, row: Statement, is_meant: sa.ColumnElement[bool]
) -> Iterator[tuple[UUID, datetime]]:
    """Yield the staff who uploaded or confirmed these loan books of the distributor, and when."""
    query = sa.select(LoanBook).where(col(LoanBook.distributor_id) == row.distributor_id, is_meant)
    books: Iterable[LoanBook] = session.execute(query).scalars()
    for book in books:
        for staff_id, at in ((book.uploader_id, book.created_at), (book.confirmer_id, book.confirmed_at)):
            if staff_id and at:
                yield staff_id, at
