"""Loan books and their rows as screens and the API read them, and as a report in the lender's columns (B4, B7)."""

import io
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Annotated, Any, Final
from uuid import UUID

import sqlalchemy as sa
from pydantic import WithJsonSchema
from sqlmodel import col
from typing_extensions import TypedDict

from core import clock, money
from core.services.lists import spreadsheets
from core.services.lists.paging import Page, Paging
from core.services.lists.records import Id, Moment
from core.services.lists.spreadsheets import TEXT, SheetColumn, csv_field
from core.services.selling.loan_books import books, judging, row_values
from core.states.loan_books import LoanBookState, RowOutcome
from core.store.access import ScopedSession
from core.store.schema.tables import Distributor, LoanBook, LoanBookRow, Policy, Product

MISSING: Final = "missing"
OUTCOMES: Final = (*(str(outcome) for outcome in RowOutcome), MISSING)
_Status = Annotated[str, WithJsonSchema({"type": "string", "enum": [str(state) for state in LoanBookState]})]
_DOUBLE: Final = {"anyOf": [{"type": "number", "format": "double"}, {"type": "null"}]}
_Outcome = Annotated[str, WithJsonSchema({"type": "string", "enum": list(OUTCOMES)})]


class CodeCount(TypedDict):
    """A code, or a mark, and the number of rows that have it."""

    code: str
    rows: int


class OutcomeCount(TypedDict):
    """An outcome and the number of rows that came to it when the book was read."""

    outcome: _Outcome
    rows: int


class BenefitPremium(TypedDict):
    """A benefit and its part of the premium."""

    benefit: str
    premium: str


class AgeCount(TypedDict):
    """A band of ages at the start of the loan, and the number of borrowers in it."""

    ages: str
    borrowers: int


class LargeLoan(TypedDict):
    """One of the largest loans of a book."""

    line: int
    loan_account_number: str
    loan_amount: str
    premium: str


class Comparison(TypedDict):
    """The month before, or of a snapshot the policies in force; what does not apply is null."""

    month: str | None
    rows: int | None
    premium: str | None
    change_percent: Annotated[float | None, WithJsonSchema(_DOUBLE)]
    is_unusual: bool | None
    uninsured: int | None
    missing: int | None
    missing_premium: str | None


class PreviewRecord(TypedDict):
    """The preview of a book: its rows, what they come to, and what to look at."""

    rows: int
    valid: int
    premium: str
    insured: str
    mca_profit: str
    distributor_profit: str
    net_due: str
    outcomes: list[OutcomeCount]
    codes: list[CodeCount]
    marks: list[CodeCount]
    premium_by_benefit: list[BenefitPremium]
    ages: list[AgeCount]
    largest: list[LargeLoan]
    compared: Comparison


class LoanBookRecord(TypedDict):
    """A loan book: what was said of it, how far it is, and its preview once it was read."""

    id: Id
    kind: str
    status: _Status
    product_id: Id
    month: str
    date_format: str
    benefit_coverage: list[str]
    free_cover_limit: str | None
    attested_by: str | None
    attested_on: str | None
    attestation_url: str | None
    file_name: str
    sha256: str
    batch_id: Id
    rows: int
    unknown_columns: list[str]
    refusal: str | None
    preview: PreviewRecord | None
    preview_hash: str | None
    done_rows: int
    done_amount: str
    created_at: Moment
    confirmed_at: Moment | None
    expires_at: Moment | None
    done_at: Moment | None


class LoanBookRowRecord(TypedDict):
    """One row: its line in the file, the lender's own cells, what becomes of it and why."""

    line: int
    outcome: _Outcome
    code: str | None
    also: list[str]
    reason: str | None
    loan_account_number: str | None
    amount: str | None
    policy_id: Id | None
    policy_number: str | None
    cells: list[str]


@dataclass(frozen=True, kw_only=True, slots=True)
class LoanBookView:
    """A loan book with the names beside it, for the desk."""

    book: LoanBook
    product: str
    distributor: str

    @property
    def id(self) -> UUID:
        """The id of the book."""
        return self.book.id

    @property
    def made_at(self) -> datetime:
        """The instant of the upload."""
        return self.book.created_at


@dataclass(frozen=True, kw_only=True, slots=True)
class BookLine:
    """The origin of a policy: its book and the line of the file."""

    book_id: UUID
    file_name: str
    month: date
    line: int


def build(book: LoanBook) -> LoanBookRecord:
    """Return the record of a book."""
    return {
        "id": str(book.id),
        "kind": book.kind,
        "status": book.state,
        "product_id": str(book.product_id),
        "month": f"{book.month:%Y-%m}",
        "date_format": book.date_order,
        "benefit_coverage": list(book.benefits),
        "free_cover_limit": None if book.free_cover_minor is None else money.to_wire(book.free_cover_minor),
        "attested_by": book.attested_by,
        "attested_on": book.attested_on.isoformat() if book.attested_on else None,
        "attestation_url": book.attestation_url,
        "file_name": book.file_name,
        "sha256": book.sha256,
        "batch_id": str(book.batch_id),
        "rows": book.rows,
        "unknown_columns": list(book.unknown),
        "refusal": book.refusal,
        "preview": _build_preview(book.preview) if book.preview else None,
        "preview_hash": book.preview_hash,
        "done_rows": book.done_rows,
        "done_amount": money.to_wire(book.done_minor),
        "created_at": clock.to_wire(book.created_at) or "",
        "confirmed_at": clock.to_wire(book.confirmed_at),
        "expires_at": clock.to_wire(book.expires_at),
        "done_at": clock.to_wire(book.done_at),
    }


_AS_HELD = ("rows", "valid", "premium", "insured", "mca_profit", "distributor_profit", "net_due", "largest")


def _build_preview(held: Mapping[str, Any]) -> PreviewRecord:
    compared: Any = {name: held["compared"].get(name) for name in Comparison.__annotations__}
    plain: Any = {name: held[name] for name in _AS_HELD}
    record: PreviewRecord = plain | {
        "outcomes": [{"outcome": name, "rows": rows} for name, rows in held["outcomes"].items()],
        "codes": [{"code": name, "rows": rows} for name, rows in held["codes"].items()],
        "marks": [{"code": name, "rows": rows} for name, rows in held["warnings"].items()],
        "premium_by_benefit": [
            {"benefit": name, "premium": premium} for name, premium in held["premium_by_benefit"].items()
        ],
        "ages": [{"ages": band, "borrowers": number} for band, number in held["ages"].items()],
        "compared": compared,
    }
    return record


def build_example() -> LoanBookRecord:
    """Return a book for the documentation."""
    some = "01a1f7c0-3c00-7000-8000-0000000000c1"
    return {
        "id": some,
        "kind": row_values.ADDITIONS,
        "status": str(LoanBookState.UPLOADED),
        "product_id": "01900000-0000-7000-8000-000000080101",
        "month": "2026-11",
        "date_format": "YYYY-MM-DD",
        "benefit_coverage": ["death", "permanent_disability"],
        "free_cover_limit": "5000000.00",
        "attested_by": "Ngozi Okafor",
        "attested_on": "2026-11-02",
        "attestation_url": "https://files.example.com/attestation.pdf",
        "file_name": "november.xlsx",
        "sha256": "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "batch_id": "01a1f7c0-3c00-7000-8000-0000000000c2",
        "rows": 0,
        "unknown_columns": [],
        "refusal": None,
        "preview": None,
        "preview_hash": None,
        "done_rows": 0,
        "done_amount": "0.00",
        "created_at": "2026-11-20T08:00:00.000Z",
        "confirmed_at": None,
        "expires_at": None,
        "done_at": None,
    }


def build_row_example() -> LoanBookRowRecord:
    """Return a row for the documentation."""
    return {
        "line": 2,
        "outcome": "rejected",
        "code": "TERM_OVER",
        "also": ["CONTACT_MISSING"],
        "reason": "the loan is over already",
        "loan_account_number": "LN-2026-004711",
        "amount": None,
        "policy_id": None,
        "policy_number": None,
        "cells": ["LN-2026-004711", "Ngozi", "Okafor"],
    }


def list_records(session: ScopedSession, paging: Paging) -> Page[LoanBookRecord]:
    """Return a page of the books of the session's scope, newest first."""
    total = session.count_rows(LoanBook)
    newest = sa.select(LoanBook).order_by(col(LoanBook.created_at).desc(), col(LoanBook.id).desc())
    rows = session.execute(newest.limit(paging.limit).offset(paging.offset)).scalars()
    return Page([build(row) for row in rows], total)


def list_views(
    session: ScopedSession, paging: Paging, *, state: str | None = None, distributor_id: UUID | None = None
) -> Page[LoanBookView]:
    """Return a page of the books in the session's scope, newest first: of every distributor and state, or of one."""
    wanted = {col(LoanBook.state): state, col(LoanBook.distributor_id): distributor_id}
    given = [column == value for column, value in wanted.items() if value is not None]
    total = session.count_rows(LoanBook, *given)
    query = _select_views().where(*given).order_by(col(LoanBook.created_at).desc(), col(LoanBook.id).desc())
    rows = session.execute(query.limit(paging.limit).offset(paging.offset))
    return Page([_build_view(row) for row in rows], total)


def get_view(session: ScopedSession, book_id: UUID) -> LoanBookView:
    """Return one book with the names beside it; NotFound for none."""
    books.get(session, book_id)
    return _build_view(session.execute(_select_views().where(col(LoanBook.id) == book_id)).one())


def _select_views() -> Any:
    return (
        sa.select(LoanBook, col(Product.name), col(Distributor.business_name))
        .join(Product, col(Product.id) == col(LoanBook.product_id))
        .join(Distributor, col(Distributor.id) == col(LoanBook.distributor_id))
    )


def _build_view(row: Any) -> LoanBookView:
    return LoanBookView(book=row.LoanBook, product=row.name, distributor=row.business_name)


def list_rows(
    session: ScopedSession, book_id: UUID, paging: Paging, outcome: str | None = None, code: str | None = None
) -> Page[LoanBookRowRecord]:
    """Return a page of the rows of a book in the order of its file, of one outcome or code, or all.

    "missing" are the policies that a snapshot does not have.
    """
    book = books.get(session, book_id)
    if outcome == MISSING:
        absent = judging.select_missing(book).order_by(col(Policy.created_at), col(Policy.id))
        found = session.execute(absent.limit(paging.limit).offset(paging.offset)).scalars()
        total = int(book.preview.get("compared", {}).get("missing", 0))
        return Page([_build_missing(policy) for policy in found], total)
    conditions = [col(LoanBookRow.book_id) == book_id]
    conditions += [col(LoanBookRow.outcome) == outcome] if outcome else []
    conditions += [col(LoanBookRow.code) == code] if code else []
    total = session.count_rows(LoanBookRow, *conditions)
    query = sa.select(LoanBookRow).where(*conditions).order_by(col(LoanBookRow.line))
    rows = list(session.execute(query.limit(paging.limit).offset(paging.offset)).scalars())
    policies = _load_policies(session, [row.policy_id for row in rows if row.policy_id])
    return Page([_build_row(row, policies) for row in rows], total)


def _load_policies(session: ScopedSession, ids: list[UUID]) -> dict[UUID, Any]:
    columns_ = (Policy.id, Policy.policy_number, Policy.genius_price_minor, Policy.submitted)
    query = sa.select(*(col(each) for each in columns_)).where(col(Policy.id).in_(ids))
    return {row.id: row for row in session.execute(query)} if ids else {}


_CARRIED_OUT: Final = {RowOutcome.VALID, RowOutcome.COVERED, RowOutcome.ENDED}


def _amount_of(row: LoanBookRow) -> str | None:
    """Return what a row comes to; None where nothing is covered or ended by it, as all rows add up to their book."""
    return None if row.premium_minor is None or row.outcome not in _CARRIED_OUT else money.to_wire(row.premium_minor)


def _build_row(row: LoanBookRow, policies: Mapping[UUID, Any]) -> LoanBookRowRecord:
    policy = policies.get(row.policy_id) if row.policy_id else None
    return {
        "line": row.line,
        "outcome": row.outcome,
        "code": row.code,
        "also": list(row.also),
        "reason": row.reason,
        "loan_account_number": row.account,
        "amount": _amount_of(row),
        "policy_id": str(row.policy_id) if row.policy_id else None,
        "policy_number": policy.policy_number if policy else None,
        "cells": list(row.cells),
    }


def _build_missing(policy: Any) -> LoanBookRowRecord:
    return {
        "line": 0,
        "outcome": MISSING,
        "code": None,
        "also": [],
        "reason": "this policy is in force, and its loan is not in the file",
        "loan_account_number": policy.submitted.get("loan_account_number"),
        "amount": money.to_wire(policy.genius_price_minor),
        "policy_id": str(policy.id),
        "policy_number": policy.policy_number,
        "cells": [],
    }


def find_line(session: ScopedSession, policy_id: UUID) -> BookLine | None:
    """Return the book and line that a policy was sold from; None for a single sale."""
    query = (
        sa.select(col(LoanBook.id), col(LoanBook.file_name), col(LoanBook.month), col(LoanBookRow.line))
        .join(LoanBook, col(LoanBook.id) == col(LoanBookRow.book_id))
        .where(col(LoanBookRow.policy_id) == policy_id, col(LoanBookRow.outcome) == RowOutcome.COVERED)
    )
    row = session.execute(query).first()
    return None if row is None else BookLine(book_id=row.id, file_name=row.file_name, month=row.month, line=row.line)


FORMATS: Final = {
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
}
_ADDED: Final = ("outcome", "policy_number", "premium", "code", "reason", "also", "line")
_WORDS: Final = {
    RowOutcome.VALID: "not covered yet",
    RowOutcome.REFERRED: "NOT COVERED: referred",
    RowOutcome.REJECTED: "NOT COVERED",
    RowOutcome.COVERED: "covered",
    RowOutcome.ENDED: "ended",
    RowOutcome.INSURED: "covered",
    RowOutcome.UNINSURED: "NOT COVERED",
}
_WORDS_OF: Final[Mapping[str, Mapping[RowOutcome, str]]] = {
    row_values.EXITS: {RowOutcome.VALID: "not ended yet", RowOutcome.REJECTED: "not ended"},
    # Its loan may be covered all the same.
    row_values.SNAPSHOT: {RowOutcome.REJECTED: "not compared"},
}
_BATCH: Final = 1_000


def csv_chunks(session: ScopedSession, book: LoanBook) -> Iterator[bytes]:
    """Yield the rows as CSV: the lender's columns in their order, then what became of each, and who is not covered."""
    width = len(book.heading)
    yield _line([*(_distinct(book.heading)), *_ADDED])
    query = (
        sa.select(LoanBookRow, col(Policy.policy_number))
        .outerjoin(Policy, col(Policy.id) == col(LoanBookRow.policy_id))
        .where(col(LoanBookRow.book_id) == book.id)
        .order_by(col(LoanBookRow.line))
        .execution_options(yield_per=_BATCH)
    )
    words = {**_WORDS, **_WORDS_OF.get(book.kind, {})}
    for rows in session.execute(query).partitions(_BATCH):
        yield b"".join(_row(row.LoanBookRow, row.policy_number, width, words) for row in rows)
        session.expunge_all()
    if book.kind == row_values.SNAPSHOT:
        yield from _missing(session, book, width)


def _row(row: LoanBookRow, number: str | None, width: int, words: Mapping[RowOutcome, str]) -> bytes:
    cells = [*row.cells, *[""] * width][:width]
    outcome = (words[RowOutcome(row.outcome)], number, _amount_of(row), row.code, row.reason, " ".join(row.also))
    return _line([*cells, *(each or "" for each in outcome), str(row.line)])


def _missing(session: ScopedSession, book: LoanBook, width: int) -> Iterator[bytes]:
    query = judging.select_missing(book).order_by(col(Policy.created_at), col(Policy.id))
    known = row_values.names_of(row_values.SNAPSHOT)
    place = next((place for place, name in enumerate(book.heading) if row_values.fold(name) in known), 0)
    for policy in session.execute(query.execution_options(yield_per=_BATCH)).scalars():
        cells = [""] * width
        if width:
            cells[place] = str(policy.submitted.get("loan_account_number", ""))
        has_begun = policy.start_at is None or policy.start_at <= clock.now()
        words = f"{'in force' if has_begun else 'covered from a later day'}, and not in the file"
        amount = money.to_wire(policy.genius_price_minor)
        yield _line([*cells, MISSING, policy.policy_number or "", amount, "", words, "", ""])


def _distinct(names: list[str]) -> list[str]:
    """The headings, one of the lender's that is called as one of ours with a mark."""
    return [f"{name} (file)" if name in _ADDED else name for name in names]


def _line(cells: list[str]) -> bytes:
    return (",".join(csv_field(cell) for cell in cells) + "\r\n").encode()


def record_taken(session: ScopedSession, book_id: UUID, format_: str, *, actor: str) -> LoanBook:
    """Write into the log that somebody took the report, with its number of rows: it names people."""
    book = books.get(session, book_id)
    books.note(session, book, "loan book report taken", actor=actor, format=format_, rows=book.rows)
    return book


def write_workbook(session: ScopedSession, book: LoanBook, path: Path) -> None:
    """Write the report as a workbook."""
    shown = [SheetColumn(name, TEXT) for name in (*_distinct(book.heading), *_ADDED)]
    facts: list[tuple[str, Any]] = [
        ("Loan book", str(book.id)),
        ("File", book.file_name),
        ("SHA-256", book.sha256),
        ("Month", f"{book.month:%B %Y}"),
        ("Status", book.state),
        ("Rows", book.rows),
        ("Carried out", book.done_rows),
    ]
    for _ in spreadsheets.write_workbook(path, csv_chunks(session, book), shown, title="Report", facts=lambda: facts):
        pass


def build_template(kind: str) -> bytes:
    """Return an empty book as a workbook: a sheet to fill in, and one that explains each column."""
    # Imported on first use, as it is slow.
    import xlsxwriter  # noqa: PLC0415

    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    sheet, explanation = book.add_worksheet("Loans"), book.add_worksheet("Explanation")
    bold, text, wrapped = (
        book.add_format({"bold": True, "bottom": 1}),
        book.add_format({"num_format": "@"}),
        book.add_format({"text_wrap": True, "valign": "top"}),
    )
    sheet.freeze_panes(1, 0)
    columns = [column for column in row_values.COLUMNS[kind] if column.name != "full_name"]
    # As text, so that a spreadsheet takes no zeros away and makes no number of an account.
    sheet.set_column(0, len(columns) - 1, 20, text)
    for place, column in enumerate(columns):
        sheet.write_string(0, place, column.name, bold)
    explanation.set_column(0, 1, 22)
    explanation.set_column(2, 3, 56)
    for place, name in enumerate(("Column", "Needed", "What it is", "Example, or other headings that are taken")):
        explanation.write_string(0, place, name, bold)
    for row, column in enumerate(row_values.COLUMNS[kind], 1):
        cells = (column.name, column.need, column.says, column.example or ", ".join(column.also))
        for place, cell in enumerate(cells):
            explanation.write_string(row, place, cell, wrapped)
    book.close()
    return file.getvalue()
