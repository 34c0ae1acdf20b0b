"""The reading of a book: leased, read by another process, judged in chunks, and previewed (contract B2 to B5, B8)."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money, seal
from core.covers.cover import Term
from core.covers.credit_life import CREDIT_LIFE
from core.errors import InvalidInput
from core.services.catalogue import for_sale
from core.services.files import table_reader
from core.services.files.table_reader import LONGEST_CELL, MAX_ROWS, TOO_MANY
from core.services.selling import duplicate_guard
from core.services.selling.loan_books import books, judging, row_values
from core.services.selling.loan_books.judging import Judged, Rules, Tally
from core.services.selling.loan_books.row_values import Heading
from core.states.loan_books import LoanBookState, RowOutcome
from core.store.access import Owner, ScopedSession
from core.store.expressions import sum_of
from core.store.schema.tables import Customer, LoanBook, LoanBookFile, LoanBookRow, Policy

CHUNK: Final = 1_000
# A file of up to so many rows reads in each of them that its days are in another order than was said; a longer one is
# refused whole.
_SMALL: Final = 20
LEASE: Final = timedelta(seconds=90)
_HEADING_ROWS: Final = 20
_ACTOR: Final = "system"
_SHOWN_CELL: Final = 120
_RED: Final = 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Job:
    """A book that a worker holds; `leased_until` is what the row says as long as nobody else took it."""

    book: LoanBook
    leased_until: datetime

    @property
    def id(self) -> UUID:
        """The book's id."""
        return self.book.id


def lease(session: ScopedSession, states: Sequence[LoanBookState]) -> Job | None:
    """Take the oldest book in one of the states that nobody works at; needs the system's scope."""
    now = clock.now()
    free = sa.or_(col(LoanBook.leased_until).is_(None), col(LoanBook.leased_until) < now)
    query = (
        sa.select(LoanBook)
        .where(col(LoanBook.state).in_([str(state) for state in states]), free)
        .order_by(col(LoanBook.created_at), col(LoanBook.id))
        .limit(1)
        .with_for_update(skip_locked=True)
    )
    book = session.execute(query).scalar_one_or_none()
    if book is None:
        return None
    if book.state == LoanBookState.UPLOADED:
        books.move(session, book, LoanBookState.READING)
    elif book.state == LoanBookState.CONFIRMED:
        books.move(session, book, LoanBookState.SELLING)
    book.leased_until = now + LEASE
    session.flush()
    return Job(book=book, leased_until=book.leased_until)


def hold(session: ScopedSession, job: Job) -> tuple[LoanBook, Job] | None:
    """Return the locked book with a longer lease; None where it was cancelled, paused or taken by another worker."""
    book = books.get(session, job.id, for_update=True)
    if book.leased_until != job.leased_until or book.state not in {LoanBookState.READING, LoanBookState.SELLING}:
        return None
    book.leased_until = max(clock.now() + LEASE, job.leased_until + timedelta(milliseconds=1))
    session.flush()
    return book, Job(book=book, leased_until=book.leased_until)


def release(session: ScopedSession, job: Job) -> None:
    """Let the next worker take the book at once."""
    if found := hold(session, job):
        found[0].leased_until = None
        session.flush()


def get_content(session: ScopedSession, job: Job) -> bytes:
    """Return the bytes of the file."""
    query = sa.select(col(LoanBookFile.content)).where(col(LoanBookFile.book_id) == job.id)
    return bytes(session.execute(query).scalar_one())


def begin(session: ScopedSession, job: Job) -> Job | None:
    """Forget what an interrupted reading has left."""
    found = hold(session, job)
    if found:
        books.drop_rows(session, job.id)
        found[0].rows = 0
        session.flush()
    return found[1] if found else None


def list_chunks(
    kind: str, date_order: str, rows: Iterator[tuple[int, list[str]]]
) -> Iterator[tuple[Heading, list[Judged]]]:
    """Yield chunks of rows, each judged by itself.

    InvalidInput for a heading that lacks a column, no rows, or days that are written otherwise than was said.
    """
    heading = _find_heading(kind, rows)
    judged = _judge_rows(kind, heading, rows, date_order)
    chunk = list(islice(judged, CHUNK))
    if not chunk:
        raise InvalidInput.for_field("file", "has no rows below its heading")
    if len(chunk) > _SMALL:
        _refuse_other_order(heading, chunk, date_order)
    while chunk:
        yield heading, chunk
        chunk = list(islice(judged, CHUNK))


def _find_heading(kind: str, rows: Iterator[tuple[int, list[str]]]) -> Heading:
    """Take rows up to the heading; InvalidInput where there is none, or one that lacks a column."""
    for place, (_, cells) in enumerate(rows, 1):
        if heading := row_values.find_heading(kind, cells, is_last=place == _HEADING_ROWS):
            return heading
    raise InvalidInput.for_field(
        "file", f"has no heading: it needs the columns {', '.join(row_values.list_missing(kind))}"
    )


def _judge_rows(
    kind: str, heading: Heading, rows: Iterator[tuple[int, list[str]]], date_order: str
) -> Iterator[Judged]:
    seen: dict[str, int] = {}
    for count, (line, cells) in enumerate(rows, 1):
        if count > MAX_ROWS:
            raise InvalidInput.for_field("file", TOO_MANY)
        yield judging.judge_values(line, cells, row_values.read(kind, heading, cells, date_order), seen)


def _refuse_other_order(heading: Heading, chunk: Sequence[Judged], date_order: str) -> None:
    """InvalidInput where the days of a column are all in another order than was said: the right one is not guessed."""
    if found := row_values.find_other_order(heading, [row.cells for row in chunk], date_order):
        name, text = found
        raise InvalidInput.for_field(
            "file",
            f"writes its days otherwise than was said: {name} is {text[:20]}, not {date_order}. Upload it again with"
            " the order in which it writes them, DD/MM/YYYY where the day comes first",
        )


def get_rules(session: ScopedSession, book: LoanBook) -> Rules:
    """Return what the rows of a book are judged by now."""
    try:
        product, is_open = for_sale.get_product(session, CREDIT_LIFE, str(book.product_id), book.distributor_id), True
    except InvalidInput:
        assert book.product_version_id is not None, "a book is of a product"  # noqa: S101 for the type checker
        product, is_open = for_sale.get_as_sold(session, book.product_version_id), False
    agreed = books.get_agreed_from(session, book.distributor_id)
    return Rules(
        product=product,
        is_open=is_open,
        agreed_from=agreed,
        free_cover_minor=book.free_cover_minor,
        benefits=book.benefits,
    )


def judge(session: ScopedSession, book: LoanBook, rules: Rules, rows: Sequence[Judged]) -> None:
    """Judge a chunk by what is insured already; writes nothing."""
    if book.kind == row_values.EXITS:
        judging.judge(session, book, rows)
        return
    terms = {row.risk_hash: judging.term_of(row.facts) or Term.undated() for row in rows if row.risk_hash}
    insured = duplicate_guard.find_insured_many(session, book.product_id, terms, Owner.of(book))
    if book.kind == row_values.SNAPSHOT:
        for row in rows:
            found = insured.get(row.risk_hash or "")
            row.insured = RowOutcome.INSURED if found else RowOutcome.UNINSURED
            row.policy_id = found.id if found and row.code is None else None
        return
    others = _list_borrowers(session, book, rows)
    for row in rows:
        email = str(row.facts.get("email", "")).lower()
        judging.judge_addition(row, rules, insured.get(row.risk_hash or ""), has_other=email in others)


def _list_borrowers(session: ScopedSession, book: LoanBook, rows: Sequence[Judged]) -> set[str]:
    """Return the e-mails of a chunk whose owner has a policy of the product in force."""
    emails = [str(row.facts["email"]).lower() for row in rows if "email" in row.facts]
    if not emails:
        return set()
    query = (
        sa.select(col(Customer.email_key))
        .join(Policy, col(Policy.customer_id) == col(Customer.id))
        .where(
            *Owner.of(book).owns(Customer),
            col(Customer.email_key).in_(emails),
            col(Policy.product_id) == book.product_id,
            col(Policy.expiration_at) > clock.now(),
            col(Policy.cancelled_at).is_(None),
        )
    )
    return set(session.execute(query).scalars())


def keep(session: ScopedSession, job: Job, heading: Heading, rows: Sequence[Judged]) -> Job | None:
    """Write a chunk of judged rows; None where the book is not this worker's any more."""
    found = hold(session, job)
    if found is None:
        return None
    book, held = found
    session.insert_many([_build_row(book, heading, row) for row in rows])
    book.heading, book.unknown, book.rows = list(heading.names), list(heading.unknown), book.rows + len(rows)
    session.flush()
    return held


def _build_row(book: LoanBook, heading: Heading, row: Judged) -> LoanBookRow:
    sealed: dict[str, str] = {name: row.facts[name] for name in row_values.PERSONAL if name in row.facts}
    facts = {name: value for name, value in row.facts.items() if name not in sealed}
    hidden = {heading.places[name] for name in row_values.PERSONAL if name in heading.places}
    cells = [
        seal.mask(cell) or "" if place in hidden else cell if len(cell) <= LONGEST_CELL else f"{cell[:_SHOWN_CELL]}…"
        for place, cell in enumerate(row.cells)
    ]
    return LoanBookRow.to_insert(
        distributor_id=book.distributor_id,
        is_live=book.is_live,
        book_id=book.id,
        line=row.line,
        cells=cells,
        outcome=str(row.outcome),
        code=row.code,
        also=row.also,
        reason=row.reason,
        account=row.facts.get("loan_account_number"),
        risk_hash=row.risk_hash,
        facts=facts,
        sealed=seal.seal(sealed),
        premium_minor=row.premium_minor,
        policy_id=row.policy_id,
    )


def finish(session: ScopedSession, job: Job, tally: Tally, rules: Rules) -> None:
    """Write the preview: the book waits for its confirmation, and a snapshot is done."""
    found = hold(session, job)
    if found is None:
        return
    book = found[0]
    unusual = tally.find_unusual()
    for start in range(0, len(unusual), CHUNK):
        _mark_unusual(session, book.id, unusual[start : start + CHUNK])
    tally.warnings.update(["UNUSUAL_AMOUNT"] * len(unusual))
    figures, digest = tally.build(rules.product, _compare(session, book, tally))
    is_over = book.kind == row_values.SNAPSHOT
    books.move(
        session,
        book,
        LoanBookState.DONE if is_over else LoanBookState.VALIDATED,
        preview=figures,
        preview_hash=digest,
        leased_until=None,
        expires_at=None if is_over else clock.now() + books.EXPIRES_AFTER,
        done_at=clock.now() if is_over else None,
    )
    if is_over:
        books.drop_file(session, book.id)
    books.note(
        session,
        book,
        "loan book done" if is_over else "loan book validated",
        actor=_ACTOR,
        rows=figures["valid"],
        premium=figures["premium"],
    )


def _mark_unusual(session: ScopedSession, book_id: UUID, lines: Sequence[int]) -> None:
    query = sa.select(LoanBookRow).where(col(LoanBookRow.book_id) == book_id, col(LoanBookRow.line).in_(lines))
    for row in session.execute(query).scalars():
        row.also = [*row.also, "UNUSUAL_AMOUNT"]
    session.flush()


def refuse(session: ScopedSession, job: Job, reason: str) -> None:
    """End the reading of a file that cannot be read; nothing of it stays but why."""
    found = hold(session, job)
    if found is None:
        return
    book = found[0]
    books.move(session, book, LoanBookState.REFUSED, refusal=reason[:1000], leased_until=None, rows=0)
    books.drop_file(session, book.id)
    books.drop_rows(session, book.id)
    books.note(session, book, "loan book refused", actor=_ACTOR, refusal=book.refusal)


def read(job: Job, content: bytes, take: Callable[[Heading, list[Judged]], bool]) -> None:
    """Read a file and hand over each chunk; stops where that returns False."""
    for heading, chunk in list_chunks(
        job.book.kind, job.book.date_order, table_reader.read_apart("loans", job.book.file_name, content)
    ):
        if not take(heading, chunk):
            return


def _compare(session: ScopedSession, book: LoanBook, tally: Tally) -> dict[str, Any]:
    """Compare with the live book, or with the additions of the month before; changes above a fifth are red."""
    if book.kind == row_values.SNAPSHOT:
        return judging.compare_snapshot(session, book, tally.outcomes[RowOutcome.UNINSURED])
    before = clock.add_months(book.month, -1)
    query = sa.select(sum_of(col(LoanBook.done_rows)), sum_of(col(LoanBook.done_minor))).where(
        *Owner.of(book).owns(LoanBook),
        col(LoanBook.kind) == book.kind,
        col(LoanBook.product_id) == book.product_id,
        col(LoanBook.month) == before,
    )
    rows, minor = session.execute(query).one()
    if not rows:
        return {"month": f"{before:%Y-%m}"}
    valid, now_minor = tally.outcomes[RowOutcome.VALID], sum(tally.premium.values())
    change = (valid - rows) / rows
    return {
        "month": f"{before:%Y-%m}",
        "rows": rows,
        "premium": money.to_wire(minor),
        "change_percent": round(change * 100, 1),
        "premium_change_percent": round((now_minor - minor) / minor * 100, 1) if minor else None,
        "is_unusual": abs(change) > _RED,
    }
