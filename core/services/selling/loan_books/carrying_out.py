"""Carrying out a confirmed book: loans sold or ended in chunks, each in a transaction of its own (contract B6).

The line that was reached stands in the book and is written with the chunk's sales: whoever goes on after a crash begins
behind it, and of two workers one finds that the other was first.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from typing import Annotated, Any, Final

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money, seal
from core.covers import fields
from core.covers.credit_life import CREDIT_LIFE
from core.covers.request import Request
from core.errors import InvalidInput, StateForbids
from core.services.catalogue import for_sale
from core.services.catalogue.for_sale import ProductForSale
from core.services.selling import buying
from core.services.selling.buying import PreparedSale, Seller, Written
from core.services.selling.loan_books import books, judging, reading, row_values
from core.services.selling.loan_books.reading import Job
from core.states.loan_books import LoanBookState, RowOutcome
from core.store.access import ScopedSession
from core.store.schema.tables import LoanBook, LoanBookRow

# On SQLite everybody who writes waits for a chunk, on PostgreSQL only who sells the same loan.
CHUNKS: Final = {"sqlite": 40, "postgresql": 500}
SOURCE: Final = "bulk"
_ACTOR: Final = "system"


class BookLoan(Request):
    """A loan of a book as the cover reads it; the attestation stands for the picture of an identity document."""

    benefit_coverage: list[str]
    first_name: str
    last_name: str
    email: str
    date_of_birth: date
    loan_amount: Decimal
    loan_tenure: int
    loan_start_date: date
    product_id: str
    loan_account_number: str
    id_image_url: str | None = None
    phone_number: str | None = None
    gender: str | None = None
    nin: Annotated[str | None, fields.Personal()] = None
    bvn: Annotated[str | None, fields.Personal()] = None
    branch: str | None = None
    reference: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Chunk:
    """The rows of a book behind a line with the drafts of their sales, made before the transaction that writes them."""

    after: int
    product: ProductForSale | None
    rows: Sequence[LoanBookRow]
    drafts: Sequence[PreparedSale]

    @property
    def last(self) -> int:
        """The line behind which the next chunk begins."""
        return self.rows[-1].line if self.rows else self.after


def prepare(session: ScopedSession, book: LoanBook, size: int, after: int) -> Chunk:
    """Read the rows behind a line and draft their sales; writes nothing. No rows are left in an empty one."""
    rows = _list_next(session, book, size, after)
    if book.kind != row_values.ADDITIONS or not rows:
        return Chunk(after=after, product=None, rows=rows, drafts=[])
    product = _get_product(session, book)
    version_id, seller = book.product_version_id, _seller(book)
    assert version_id is not None, "it was confirmed with the version of its rates"  # noqa: S101 for the type checker
    drafts = [buying.prepare(CREDIT_LIFE, _build_request(book, row), product, version_id, seller) for row in rows]
    return Chunk(after=after, product=product, rows=rows, drafts=drafts)


# What is read or written of a row: not the lender's cells, which are most of it.
_COLUMNS: Final = (
    *("distributor_id", "is_live", "book_id", "line", "facts", "sealed"),
    *("outcome", "code", "reason", "policy_id", "premium_minor"),
)


def _list_next(session: ScopedSession, book: LoanBook, size: int, after: int) -> list[LoanBookRow]:
    query = (
        sa.select(*(col(getattr(LoanBookRow, name)) for name in _COLUMNS))
        .where(
            col(LoanBookRow.book_id) == book.id,
            col(LoanBookRow.outcome) == RowOutcome.VALID,
            col(LoanBookRow.line) > after,
        )
        .order_by(col(LoanBookRow.line))
        .limit(size)
    )
    return [LoanBookRow.to_insert(**dict(zip(_COLUMNS, row, strict=True))) for row in session.execute(query)]


def _get_product(session: ScopedSession, book: LoanBook) -> ProductForSale:
    """Return the product as it is sold now; StateForbids where it is not what was confirmed."""
    try:
        product = for_sale.get_product(session, CREDIT_LIFE, str(book.product_id), book.distributor_id)
    except InvalidInput:
        raise StateForbids("The product was taken off sale") from None
    if [str(product.version_id), str(product.share_id or "")] != list(book.preview["rates"]):
        raise StateForbids("The rates have changed: cancel what is left, and upload it again")
    return product


def _seller(book: LoanBook) -> Seller:
    return Seller(
        distributor_id=book.distributor_id,
        is_live=book.is_live,
        actor=str(book.confirmed_by),
        source=SOURCE,
        batch_id=book.batch_id,
    )


def _build_request(book: LoanBook, row: LoanBookRow) -> BookLoan:
    """Return a row as a request; its values were checked when the book was read."""
    facts: dict[str, Any] = {**row.facts, **seal.unseal(row.sealed)}
    days: dict[str, Any] = {name: date.fromisoformat(facts[name]) for name in ("date_of_birth", "loan_start_date")}
    given: dict[str, Any] = {
        name: facts.get(name) for name in ("gender", "phone_number", "nin", "bvn", "branch", "reference")
    }
    return BookLoan.model_construct(
        **given,
        **days,
        benefit_coverage=facts.get("benefit_coverage") or book.benefits,
        first_name=facts["first_name"],
        last_name=facts["last_name"],
        email=facts.get("email") or _address(book, facts["loan_account_number"]),
        loan_amount=Decimal(facts["loan_amount"]),
        loan_tenure=facts["loan_tenure_months"],
        product_id=str(book.product_id),
        loan_account_number=facts["loan_account_number"],
        id_image_url=book.attestation_url,
    )


def _address(book: LoanBook, account: str) -> str:
    """An address that is none, for a borrower without e-mail: customers are known by it, and nothing is sent there."""
    borrower = seal.keyed_hash("borrower", f"{book.distributor_id} {account}")[:20]
    return f"loan-{borrower}@no-email.invalid"


@dataclass(frozen=True, kw_only=True, slots=True)
class WrittenChunk:
    """A chunk whose sales are written; `account_for` enters them in the book, the roll-ups and the log."""

    chunk: Chunk
    sales: Written


class BookTaken(Exception):
    """The book is not this worker's any more: what was written of the chunk must be rolled back."""


def carry_out(session: ScopedSession, job: Job, chunk: Chunk) -> Job | None:
    """Sell or end the rows of a chunk; None where the book is not this worker's any more, or is done."""
    found = _hold(session, job, chunk)
    if found is None:
        return None
    book, held = found
    if not chunk.rows:
        books.move(session, book, LoanBookState.DONE, leased_until=None, done_at=clock.now())
        premium = money.to_wire(book.done_minor)
        books.note(session, book, "loan book done", actor=_ACTOR, rows=book.done_rows, premium=premium)
        return None
    if chunk.product:
        _account_for(session, book, write(session, book, chunk))
    else:
        _end(session, book, chunk.rows)
    return held


def write(
    session: ScopedSession, book: LoanBook, chunk: Chunk, when_locked: Callable[[], None] = lambda: None
) -> WrittenChunk:
    """Write the sales of a chunk, perhaps while the one before it is not committed yet.

    `when_locked` is called when its loans and borrowers are locked: the next chunk may lock its own.
    """
    assert chunk.product is not None, "the caller has looked"  # noqa: S101 for the type checker
    sales = buying.write_many(session, CREDIT_LIFE, chunk.product, chunk.drafts, _seller(book), when_locked)
    for row, draft in zip(chunk.rows, chunk.drafts, strict=True):
        if earlier := sales.refused.get(draft.policy.id):
            row.outcome, row.code, row.policy_id = str(RowOutcome.REJECTED), "ALREADY_COVERED", earlier.id
            row.reason = f"this loan is covered by policy {earlier.number or 'that waits for its number'}"
        else:
            row.outcome, row.policy_id = str(RowOutcome.COVERED), draft.policy.id
            row.premium_minor = draft.policy.genius_price_minor
    session.update_many(chunk.rows, "outcome", "code", "reason", "policy_id", "premium_minor")
    return WrittenChunk(chunk=chunk, sales=sales)


def account_for(session: ScopedSession, job: Job, written: WrittenChunk) -> Job:
    """Enter a written chunk, once the one before it is committed; BookTaken where the book is somebody else's."""
    found = _hold(session, job, written.chunk)
    if found is None:
        raise BookTaken
    book, held = found
    _account_for(session, book, written)
    return held


def _account_for(session: ScopedSession, book: LoanBook, written: WrittenChunk) -> None:
    _advance(session, book, written.chunk.rows)
    buying.account_for(session, written.sales)


def _hold(session: ScopedSession, job: Job, chunk: Chunk) -> tuple[LoanBook, Job] | None:
    """Return the locked book if this worker has it, and the chunk is the next one."""
    found = reading.hold(session, job)
    return found if found and found[0].done_to == chunk.after else None


def _advance(session: ScopedSession, book: LoanBook, rows: Sequence[LoanBookRow]) -> None:
    done = [row for row in rows if row.outcome in {RowOutcome.COVERED, RowOutcome.ENDED}]
    book.done_to = rows[-1].line
    book.done_rows += len(done)
    book.done_minor += sum(row.premium_minor or 0 for row in done)
    session.flush()


def _end(session: ScopedSession, book: LoanBook, rows: Sequence[LoanBookRow]) -> None:
    for row in rows:
        judging.end(session, row, actor=str(book.confirmed_by))
    session.update_many(rows, "outcome", "code", "reason", "premium_minor")
    _advance(session, book, rows)
