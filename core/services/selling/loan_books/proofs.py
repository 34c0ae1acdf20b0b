"""Loan book checks of `coverdesk check`: nothing was lost, nothing sold twice, and the sums agree (contract B6)."""

from collections.abc import Iterator
from typing import Any

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.states.loan_books import LoanBookState, RowOutcome
from core.store.access import ScopedSession
from core.store.schema.tables import LoanBook, LoanBookRow, Policy, Purchase

_DONE = col(LoanBookRow.outcome).in_([str(RowOutcome.COVERED), str(RowOutcome.ENDED)])


def find_book_faults(session: ScopedSession) -> Iterator[str]:
    """Books whose sums are not those of their rows, and sales of a book that no row or the wrong row has."""
    yield from _find_wrong_sums(session)
    yield from _find_left_rows(session)
    yield from _find_foreign_policies(session)
    yield from _find_sold_past_rows(session)


def _find_wrong_sums(session: ScopedSession) -> Iterator[str]:
    count, total = sa.func.count(col(LoanBookRow.line)), sa.func.coalesce(sa.func.sum(LoanBookRow.premium_minor), 0)
    query = (
        sa.select(col(LoanBook.id), col(LoanBook.done_rows), col(LoanBook.done_minor), count, total)
        .outerjoin(LoanBookRow, sa.and_(col(LoanBookRow.book_id) == col(LoanBook.id), _DONE))
        .group_by(col(LoanBook.id), col(LoanBook.done_rows), col(LoanBook.done_minor))
        .having(sa.or_(count != col(LoanBook.done_rows), total != col(LoanBook.done_minor)))
    )
    for book_id, rows, minor, found, summed in session.execute(query):
        yield (
            f"loan book {book_id} says {rows:,} rows and {money.format_naira(minor)},"
            f" its rows say {found:,} and {money.format_naira(int(summed))}"
        )


def _find_left_rows(session: ScopedSession) -> Iterator[str]:
    left = (
        sa.select(col(LoanBook.id), sa.func.count())
        .join(LoanBookRow, col(LoanBookRow.book_id) == col(LoanBook.id))
        .where(col(LoanBookRow.outcome) == RowOutcome.VALID)
        .where(
            sa.or_(
                col(LoanBook.state) == LoanBookState.DONE,
                col(LoanBookRow.line) <= col(LoanBook.done_to),
            )
        )
        .group_by(col(LoanBook.id))
    )
    for book_id, rows in session.execute(left):
        yield f"{rows:,} valid rows of loan book {book_id} were passed over"


def _find_foreign_policies(session: ScopedSession) -> Iterator[str]:
    owned: Any = sa.or_(
        col(Policy.distributor_id) != col(LoanBook.distributor_id),
        col(Policy.is_live) != col(LoanBook.is_live),
        col(Policy.product_id) != col(LoanBook.product_id),
    )
    other_sale = sa.and_(
        col(LoanBookRow.outcome) == RowOutcome.COVERED,
        sa.or_(col(Purchase.batch_id) != col(LoanBook.batch_id), col(Policy.risk_hash) != col(LoanBookRow.risk_hash)),
    )
    query = (
        sa.select(col(LoanBook.id), col(LoanBookRow.line))
        .join(LoanBookRow, col(LoanBookRow.book_id) == col(LoanBook.id))
        .join(Policy, col(Policy.id) == col(LoanBookRow.policy_id))
        .join(Purchase, col(Purchase.id) == col(Policy.purchase_id))
        .where(_DONE, sa.or_(owned, other_sale))
    )
    for book_id, line in session.execute(query.limit(20)):
        yield f"line {line:,} of loan book {book_id} has the policy of another sale"


def _find_sold_past_rows(session: ScopedSession) -> Iterator[str]:
    has_row = sa.exists().where(
        col(LoanBookRow.book_id) == col(LoanBook.id),
        col(LoanBookRow.policy_id) == col(Policy.id),
        col(LoanBookRow.outcome) == RowOutcome.COVERED,
    )
    query = (
        sa.select(col(LoanBook.id), col(Policy.id))
        .join(Purchase, col(Purchase.batch_id) == col(LoanBook.batch_id))
        .join(Policy, col(Policy.purchase_id) == col(Purchase.id))
        .where(sa.not_(has_row))
    )
    for book_id, policy_id in session.execute(query.limit(20)):
        yield f"policy {policy_id} was sold from loan book {book_id} without a line of it"
