"""The report of a book in the lender's own columns, and the template of one (contract B4, B7)."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.services.lists import spreadsheets
from core.services.lists.spreadsheets import TEXT, Column, csv_field
from core.services.selling.loan_books import books, columns, exits, records
from core.states.loan_books import RowOutcome
from core.store.access import ScopedSession
from core.store.schema.tables import LoanBook, LoanBookRow, Policy

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
    is_exit = book.kind == columns.EXITS
    for rows in session.execute(query).partitions(_BATCH):
        yield b"".join(_row(row.LoanBookRow, row.policy_number, width, is_exit=is_exit) for row in rows)
        session.expunge_all()
    if book.kind == columns.SNAPSHOT:
        yield from _missing(session, book, width)


def _row(row: LoanBookRow, number: str | None, width: int, *, is_exit: bool) -> bytes:
    cells = [*row.cells, *[""] * width][:width]
    words = _WORDS[RowOutcome(row.outcome)]
    if is_exit and row.outcome in {RowOutcome.VALID, RowOutcome.REJECTED}:
        words = "not ended" if row.outcome == RowOutcome.REJECTED else "not ended yet"
    amount = "" if row.premium_minor is None else money.to_wire(row.premium_minor)
    told = (words, number or "", amount, row.code or "", row.reason or "", " ".join(row.also), str(row.line))
    return _line([*cells, *told])


def _missing(session: ScopedSession, book: LoanBook, width: int) -> Iterator[bytes]:
    query = exits.select_missing(book).order_by(col(Policy.created_at), col(Policy.id))
    known = columns.names_of(columns.SNAPSHOT)
    place = next((place for place, name in enumerate(book.heading) if columns.fold(name) in known), 0)
    for policy in session.execute(query.execution_options(yield_per=_BATCH)).scalars():
        cells = [""] * width
        if width:
            cells[place] = str(policy.submitted.get("loan_account_number", ""))
        amount, words = money.to_wire(policy.genius_price_minor), "in force, and not in the file"
        yield _line([*cells, records.MISSING, policy.policy_number or "", amount, "", words, "", ""])


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
    shown = [Column(name, TEXT) for name in (*_distinct(book.heading), *_ADDED)]
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
    sheet, told = book.add_worksheet("Loans"), book.add_worksheet("Explanation")
    bold, text, wrapped = (
        book.add_format({"bold": True, "bottom": 1}),
        book.add_format({"num_format": "@"}),
        book.add_format({"text_wrap": True, "valign": "top"}),
    )
    sheet.freeze_panes(1, 0)
    asked = [column for column in columns.COLUMNS[kind] if column.name != "full_name"]
    # As text, so that a spreadsheet takes no zeros away and makes no number of an account.
    sheet.set_column(0, len(asked) - 1, 20, text)
    for place, column in enumerate(asked):
        sheet.write_string(0, place, column.name, bold)
    told.set_column(0, 1, 22)
    told.set_column(2, 3, 56)
    for place, name in enumerate(("Column", "Needed", "What it is", "Example, or other headings that are taken")):
        told.write_string(0, place, name, bold)
    for row, column in enumerate(columns.COLUMNS[kind], 1):
        cells = (column.name, column.need, column.says, column.example or ", ".join(column.also))
        for place, cell in enumerate(cells):
            told.write_string(row, place, cell, wrapped)
    book.close()
    return file.getvalue()
