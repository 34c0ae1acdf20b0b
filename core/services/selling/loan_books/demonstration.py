"""Loan books for the demonstration, one in each state that lasts."""

from datetime import timedelta
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.errors import InvalidInput
from core.services.files.links import Owner
from core.services.people import staff
from core.services.people.staff import Person
from core.services.selling.loan_books import books, carrying_out, columns, file_reader, reading
from core.services.selling.loan_books.books import Expected, Uploader
from core.services.selling.loan_books.preview import Tally
from core.services.selling.loan_books.reading import Job
from core.services.selling.loan_books.sample import build_sample
from core.states.loan_books import LoanBookState, RowOutcome
from core.store.access import ScopedSession
from core.store.schema.tables import LoanBook, LoanBookRow, Policy

PRODUCT: Final = UUID("01900000-0000-7000-8000-000000080101")
_DESK, _SECOND = "operations@coverdesk.example", "supervisor@coverdesk.example"
_DAYS_AGO: Final = 6


def write_books(session: ScopedSession) -> int:
    """Write a book in each state that lasts, by the people who would; returns their number, 0 if there is one.

    NotFound when an account is disabled.
    """
    lender = _find_lender(session)
    if lender is None or session.execute(sa.select(col(LoanBook.id)).limit(1)).first():
        return 0
    desk = _Desk(session, lender, staff.get_by_email(session, _DESK), staff.get_by_email(session, _SECOND))
    desk.start(b"Name,Phone\nNgozi Okafor,08030000000\n")
    # Some days ago, so that lists do not begin with one lender's loans, and in this month, as the one before is stated.
    with clock.freeze(clock.now() - timedelta(days=min(_DAYS_AGO, clock.today().day - 1))):
        done = desk.carry_out(desk.start(build_sample(30, ["child", "zeros"], prefix="SL")))
    desk.start(_build_exits(session, done), kind=columns.EXITS, is_over=True)
    desk.start(_list_accounts(session, done), kind=columns.SNAPSHOT)
    with clock.freeze(clock.now() - timedelta(days=min(_DAYS_AGO - 2, clock.today().day - 1))):
        paused = desk.start(build_sample(36, ["missing"], seed=2, prefix="BR"))
        desk.carry_out(paused, size=15, chunks=1)
    books.pause(session, paused.id, actor=desk.second.actor, reason="The lender sends a corrected file on Monday")
    books.cancel(session, desk.start(build_sample(24, ["amount"], seed=3, prefix="WK")).id, actor=desk.maker.actor)
    with clock.freeze(clock.now() - books.EXPIRES_AFTER - timedelta(days=1)):
        desk.start(build_sample(20, seed=4, prefix="OK"))
    books.expire(session)
    desk.start(build_sample(48, ["child", "amount", "zeros", "contact"], seed=5, prefix="LG"))
    return desk.count


def _find_lender(session: ScopedSession) -> UUID | None:
    """Return the distributor that sold the newest loan's cover."""
    query = sa.select(col(Policy.distributor_id)).where(col(Policy.product_id) == PRODUCT, col(Policy.is_live))
    found: UUID | None = session.execute(query.order_by(col(Policy.created_at).desc()).limit(1)).scalar()
    return found


class _Desk:
    """Two people of the desk, and the work that a worker does between them, here in one transaction."""

    def __init__(self, session: ScopedSession, lender: UUID, maker: Person, second: Person) -> None:
        self._session, self.maker, self.second = session, maker, second
        self._owner = Owner(distributor_id=lender, is_live=True)
        self.count = 0

    def start(self, content: bytes, kind: str = columns.ADDITIONS, *, is_over: bool = False) -> LoanBook:
        """Upload and read a file; `is_over` carries it out as well."""
        self.count += 1
        uploader = Uploader(owner=self._owner, actor=self.maker.actor, staff_id=self.maker.id)
        name = f"{kind}-{clock.today():%B}-{self.count}.csv".lower()
        book_id = books.upload(self._session, self._build_upload(kind), name, content, uploader).id
        job = reading.lease(self._session, [LoanBookState.UPLOADED])
        assert job is not None, "it was uploaded a moment ago"  # noqa: S101 for the type checker
        self._read(job, name, content)
        book = books.get(self._session, book_id)
        return self.carry_out(book) if is_over else book

    def _build_upload(self, kind: str) -> dict[str, Any]:
        stated = {"kind": kind, "product_id": str(PRODUCT), "month": f"{clock.today():%Y-%m}"}
        attested = {
            "attested_by": "Ngozi Okafor",
            "attested_on": str(clock.today()),
            "attestation_url": "https://files.example.com/attestation.pdf",
        }
        return {**stated, **attested} if kind == columns.ADDITIONS else stated

    def _read(self, job: Job, name: str, content: bytes) -> None:
        rules, tally = reading.get_rules(self._session, job.book), Tally()
        try:
            # The file is our own: it is read here, without the process that strangers' files are read by.
            for heading, rows in reading.list_chunks(
                job.book.kind, job.book.date_order, file_reader.read(name, content)
            ):
                reading.judge(self._session, job.book, rules, rows)
                for row in rows:
                    tally.add(row, rules.product, rules.benefits)
                job = reading.keep(self._session, job, heading, rows) or job
        except InvalidInput as fault:
            reading.refuse(self._session, job, str(fault))
            return
        reading.finish(self._session, job, tally, rules)

    def carry_out(self, book: LoanBook, *, size: int = 500, chunks: int = 2) -> LoanBook:
        """Confirm a book by the second person and carry out so many chunks; the one after the last row ends it."""
        preview = book.preview
        seen = Expected(rows=preview["valid"], premium=Decimal(preview["premium"]), preview_hash=str(book.preview_hash))
        books.confirm_by_person(self._session, book.id, accept="valid", expected=seen, by=self.second)
        job = reading.lease(self._session, [LoanBookState.CONFIRMED])
        for _ in range(chunks):
            assert job is not None, "nobody else works at it"  # noqa: S101 for the type checker
            chunk = carrying_out.prepare(self._session, job.book, size, job.book.done_to)
            job = carrying_out.carry_out(self._session, job, chunk)
        return book


def _list_covered(session: ScopedSession, book: LoanBook) -> list[str]:
    query = sa.select(col(LoanBookRow.account)).where(
        col(LoanBookRow.book_id) == book.id, col(LoanBookRow.outcome) == RowOutcome.COVERED
    )
    return [str(account) for account in session.execute(query.order_by(col(LoanBookRow.line))).scalars()]


def _build_exits(session: ScopedSession, book: LoanBook) -> bytes:
    """Three loans that ended, and one that nobody knows."""
    reasons = (*columns.EXIT_REASONS[:3], "settled_early")
    accounts = (*_list_covered(session, book)[:3], "SL-0000-000001")
    lines = [f"{account},{clock.today()},{reason}" for account, reason in zip(accounts, reasons, strict=True)]
    return "\n".join(["Loan Number,End Date,Reason", *lines]).encode()


def _list_accounts(session: ScopedSession, book: LoanBook) -> bytes:
    """The live book of a lender that has forgotten two loans and has one without cover."""
    return "\n".join(["Loan Number", *_list_covered(session, book)[5:], "SL-0000-000002"]).encode()
