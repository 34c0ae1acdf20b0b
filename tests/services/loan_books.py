"""Loan books for tests: files of loans, uploaded, read and confirmed by the people and the worker that do it."""

import csv
import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core.covers.credit_life import CREDIT_LIFE
from core.dispatch import loan_books as worker
from core.services.people import staff
from core.services.people.staff import Person
from core.services.selling.loan_books import books
from core.services.selling.loan_books.books import Expected, Uploader
from core.store.access import Owner, Scope, Store
from core.store.schema.tables import LoanBook, LoanBookRow, Staff
from tests.conftest import Partner
from tests.covers import shipped

PRODUCT = shipped.body(CREDIT_LIFE)["product_id"]
HEADING = (
    *("loan_account_number", "first_name", "last_name", "date_of_birth", "loan_amount", "loan_tenure_months"),
    *("loan_start_date", "gender", "phone_number", "email"),
)
FORM = {
    "kind": "additions",
    "product_id": PRODUCT,
    "month": "2026-11",
    "attested_by": "Ngozi Okafor",
    "attested_on": "2026-11-02",
    "attestation_url": "https://lender.example/attestation.pdf",
}


def loan(number: int, **changed: Any) -> dict[str, Any]:
    """One row of a book by column."""
    return {
        "loan_account_number": f"LN-{number:06d}",
        "first_name": "Ngozi",
        "last_name": "Okafor",
        "date_of_birth": "1990-04-12",
        "loan_amount": "100000",
        "loan_tenure_months": "12",
        "loan_start_date": "2026-11-10",
        "gender": "Female",
        "phone_number": "08031234567",
        "email": f"borrower{number}@example.com",
        **changed,
    }


def as_csv(rows: Sequence[Mapping[str, Any]], heading: Sequence[str] = HEADING) -> bytes:
    """Rows as a CSV file."""
    file = io.StringIO()
    writer = csv.DictWriter(file, heading, extrasaction="raise", restval="")
    writer.writeheader()
    writer.writerows(rows)
    return file.getvalue().encode()


def exits_csv(rows: Sequence[Sequence[str]]) -> bytes:
    return "\n".join(",".join(row) for row in [("loan_account_number", "exit_date", "exit_reason"), *rows]).encode()


@dataclass
class Lender:
    """A lender that sends books, and the desk that confirms them."""

    store: Store
    partner: Partner
    is_live: bool = False
    key: str = "key tests"

    @property
    def scope(self) -> Scope:
        return self.partner.scope(is_live=self.is_live)

    def upload(self, content: bytes, name: str = "loans.csv", by: Person | None = None, **details: Any) -> UUID:
        owner = Owner(distributor_id=self.partner.id, is_live=self.is_live)
        uploader = Uploader(owner=owner, actor=by.actor if by else self.key, staff_id=by.id if by else None)
        with self.store.writing(self.scope) as session:
            return books.upload(session, {**FORM, **details}, name, content, uploader).id

    def read(self, content: bytes, name: str = "loans.csv", by: Person | None = None, **details: Any) -> LoanBook:
        book_id = self.upload(content, name, by, **details)
        worker.work(self.store)
        return self.get(book_id)

    def get(self, book_id: UUID) -> LoanBook:
        with self.store.reading(self.scope) as session:
            book = books.get(session, book_id)
            session.expunge(book)
            return book

    def expected(self, book: LoanBook) -> Expected:
        preview = book.preview
        return Expected(rows=preview["valid"], premium=Decimal(preview["premium"]), preview_hash=str(book.preview_hash))

    def confirm(self, book: LoanBook, by: Person | None = None, accept: str = "valid", **seen: Any) -> None:
        expected = replace(self.expected(book), **seen)
        with self.store.writing(self.scope) as session:
            if by:
                books.confirm_by_person(session, book.id, accept=accept, expected=expected, by=by)
            else:
                books.confirm_by_key(session, book.id, accept=accept, expected=expected, actor=self.key)

    def carry_out(self, book: LoanBook, by: Person | None = None, **seen: Any) -> LoanBook:
        self.confirm(book, by, **seen)
        worker.work(self.store)
        return self.get(book.id)

    def rows(self, book: LoanBook) -> list[LoanBookRow]:
        query = sa.select(LoanBookRow).where(col(LoanBookRow.book_id) == book.id).order_by(col(LoanBookRow.line))
        with self.store.reading(self.scope) as session:
            return list(session.execute(query).scalars())

    def codes(self, book: LoanBook) -> dict[str, str | None]:
        return {str(row.account): row.code for row in self.rows(book)}


def person(store: Store, role: str, name: str, **more: Any) -> Person:
    """Somebody of the desk with a role."""
    email = f"{name}@desk.example"
    with store.writing(Scope.system()) as session:
        staff_id = staff.add_or_update(
            session,
            email=email,
            name=name.title(),
            roles=[role],
            password="a long password",
            actor="tests",
            **more,
        )
        row = session.get_one(Staff, staff_id)
        return Person(
            id=row.id, email=email, name=row.name, roles=tuple(row.roles), claim_limit_minor=row.claim_limit_minor
        )
