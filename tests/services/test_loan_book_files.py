"""Hostile and awkward files of loans: each has a clear word, whatever it is called (contract B8)."""

import io
import zipfile
from collections.abc import Callable
from datetime import datetime
from typing import Any

import pytest
import xlsxwriter

from core.errors import InvalidInput
from core.services.files import table_reader
from core.services.selling.loan_books import reading
from tests.every_case import every_case
from tests.services.loan_books import HEADING, as_csv, loan

ROW = list(loan(1).values())
PLAIN = as_csv([loan(1)])


def workbook(write: Callable[[Any, Any], None], *sheets: str) -> bytes:
    """A workbook whose first sheets are named, written by a function of the book and its last sheet."""
    file = io.BytesIO()
    book = xlsxwriter.Workbook(file, {"in_memory": True})
    made = [book.add_worksheet(name) for name in sheets or ("Sheet1",)]
    write(book, made[-1])
    book.close()
    return file.getvalue()


def table(_: Any, sheet: Any) -> None:
    for place, (name, cell) in enumerate(zip(HEADING, ROW, strict=True)):
        sheet.write(0, place, name)
        sheet.write(1, place, cell)


def bomb() -> bytes:
    file = io.BytesIO(workbook(table))
    with zipfile.ZipFile(file, "a", zipfile.ZIP_DEFLATED, compresslevel=1) as book:
        for number in range(31):
            book.writestr(f"xl/media/{number}.bin", b"\0" * 10_000_000)
    return file.getvalue()


def read(name: str, content: bytes, kind: str = "additions", order: str = "YYYY-MM-DD") -> list[Any]:
    rows = table_reader.read_apart("loans", name, content)
    return [row for _, chunk in reading.list_chunks(kind, order, rows) for row in chunk]


REFUSED: dict[str, tuple[str, bytes | Callable[[], bytes], str]] = {
    "empty": ("a.csv", b"", "is empty"),
    "latin 1": ("a.csv", PLAIN.replace(b"Ngozi", "Ngözi".encode("latin-1")), "not in UTF-8, as line 2 shows"),
    "utf-16 cut short": ("a.csv", b"\xff\xfea", "is cut short"),
    "utf-16 without its mark": ("a.csv", PLAIN.decode().encode("utf-16-le"), "save it as “CSV UTF-8”"),
    "headings in another language": (
        "a.csv",
        b"Pret,Prenom\n1,2\n",
        "no heading: it needs the columns loan_account_number, ",
    ),
    "no text": ("a.csv", PLAIN + b"\0", "is no text"),
    "an open quote": ("a.csv", PLAIN + b'"LN', "a quote that does not end"),
    "old excel": ("a.xls", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\0" * 512, "old format of Excel"),
    "with a password": (
        "a.xlsx",
        b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + "EncryptedPackage".encode("utf-16-le"),
        "protected by a password",
    ),
    "a workbook called csv": ("a.csv", workbook(table), "is a workbook called .csv"),
    "a text called xlsx": ("a.xlsx", PLAIN, "is no workbook, though it is called .xlsx"),
    "a web page": ("a.xlsx", b"<html><table><tr><td>LN</td></tr></table>", "is a web page called a spreadsheet"),
    "a PDF": ("a.csv", b"%PDF-1.7", "is a PDF"),
    "another ending": ("a.txt", PLAIN, "must end in .xlsx or .csv"),
    "a damaged workbook": ("a.xlsx", workbook(table)[:900], "is damaged"),
    "a packed folder": ("a.xlsx", b"PK\x05\x06" + b"\0" * 18, "is no workbook"),
    "a bomb": ("a.xlsx", bomb, "unpacks to more than 300 MB"),
    "a sheet that is none": (
        "a.xlsx",
        workbook(table).replace(b"xl/worksheets/sheet1.xml", b"xl/worksheets/sheet9.xml"),
        "cannot be opened as a workbook",
    ),
    "61 columns": ("a.csv", ",".join([*HEADING, *(f"c{number}" for number in range(51))]).encode(), "60 columns"),
    "no account number": ("a.csv", PLAIN.replace(b"loan_account_number", b"x"), "no column loan_account_number"),
    "another name of a column": (
        "a.csv",
        PLAIN.replace(b"loan_amount", b"Facility size").replace(b"gender", b"Officer"),
        "no column loan_amount: take the headings of the template, perhaps in place of “",
    ),
    "two amounts": ("a.csv", PLAIN.replace(b"gender", b"Amount"), "has two columns for loan_amount"),
    "the heading alone": ("a.csv", PLAIN.splitlines()[0], "has no rows below its heading"),
    "two sheets of loans": (
        "a.xlsx",
        workbook(lambda book, _: [table(book, sheet) for sheet in book.worksheets()], "Lagos", "Abuja"),
        "has rows in several sheets (Lagos, Abuja): put them into one called Loans",
    ),
    "merged headings": (
        "a.xlsx",
        workbook(
            lambda _, sheet: [
                sheet.merge_range(0, 0, 0, 3, "Borrower"),
                sheet.merge_range(0, 4, 0, 6, "Loan"),
                sheet.write(1, 0, "LN-1"),
            ]
        ),
        "has no",
    ),
}


@every_case("case", list(REFUSED))
def test_what_cannot_be_read_is_refused_in_words(case: str) -> None:
    name, content, words = REFUSED[case]
    with pytest.raises(InvalidInput) as refused:
        read(name, content() if callable(content) else content)
    assert words in str(refused.value)


def book_of(rows: int) -> bytes:
    return b"Loans of November\n" + PLAIN.splitlines()[0] + b"\nLN1,a" * rows


def test_a_row_beyond_the_most_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    assert reading.MAX_ROWS == 100_000
    monkeypatch.setattr(reading, "MAX_ROWS", 100)
    assert len(read("a.csv", book_of(100))) == 100
    with pytest.raises(InvalidInput, match="has more than 100,000 rows"):
        read("a.csv", book_of(101))


@pytest.mark.exhaustive
@every_case("rows", [100_001, 100_030])
def test_a_book_of_more_than_100_000_rows_is_refused(rows: int) -> None:
    with pytest.raises(InvalidInput, match="has more than 100,000 rows"):
        read("a.csv", book_of(rows))


def _numbers(book: Any, sheet: Any) -> None:
    """The loan as a spreadsheet keeps it: numbers, days, and a formula with its value, below a title."""
    day = book.add_format({"num_format": "dd/mm/yyyy"})
    sheet.merge_range(0, 0, 0, 9, "Loans of November")
    for place, name in enumerate(HEADING):
        sheet.write(2, place, name.replace("_", " ").title())
    cells = [4711, "Ngozi", "Okafor", datetime(1990, 4, 12), 100_000.0, 12, datetime(2026, 11, 10), "F", 8031234567]  # noqa: DTZ001
    for place, cell in enumerate(cells):
        sheet.write(4, place, cell, day if isinstance(cell, datetime) else None)
    sheet.write_formula(4, 9, '="a"&"@example.com"', None, "a@example.com")
    for row in range(5, 205):
        sheet.write_blank(row, 3, None, day)


READ: dict[str, tuple[str, bytes, str]] = {
    "semicolons": ("a.csv", PLAIN.replace(b",", b";"), "YYYY-MM-DD"),
    "tabs, a mark and old line ends": ("a.csv", b"\xef\xbb\xbf" + PLAIN.replace(b",", b"\t"), "YYYY-MM-DD"),
    "a title with commas": (
        "a.csv",
        b"Swift Lenders, Lagos, all, of it\r\n\r\n" + PLAIN.replace(b",", b";"),
        "YYYY-MM-DD",
    ),
    "utf-16": ("a.csv", PLAIN.decode().encode("utf-16"), "YYYY-MM-DD"),
    "200 empty rows": ("a.csv", b"\r\n,,,\r\n" + PLAIN + b",,,,,,,,,\r\n" * 200, "YYYY-MM-DD"),
    "days first": (
        "a.csv",
        PLAIN.replace(b"1990-04-12", b"12/04/1990").replace(b"2026-11-10", b"10-11-2026"),
        "DD/MM/YYYY",
    ),
    "other names of columns": (
        "a.csv",
        PLAIN.replace(b"loan_account_number", b" Loan No. ").replace(b"loan_tenure_months", b"TENOR"),
        "YYYY-MM-DD",
    ),
    "one sheet with rows": ("a.xlsx", workbook(table, "Cover", "Sheet1"), "YYYY-MM-DD"),
    "the sheet called Loans": ("a.xlsx", workbook(table, "Cover", "loans"), "YYYY-MM-DD"),
    "numbers and days of a spreadsheet": ("a.xlsx", workbook(_numbers), "YYYY-MM-DD"),
}


@every_case("case", list(READ))
def test_what_lenders_send_is_read(case: str) -> None:
    name, content, order = READ[case]
    (row,) = read(name, content, order=order)
    is_number = case.startswith("numbers")
    assert (row.values.missing, row.values.malformed) == ([], {})
    assert row.values.warnings == (["LEADING_ZEROS_LOST"] if is_number else [])
    account, email = ("4711", "a@example.com") if is_number else ("LN-000001", "borrower1@example.com")
    expected = {
        "loan_account_number": account,
        "first_name": "Ngozi",
        "last_name": "Okafor",
        "date_of_birth": "1990-04-12",
        "loan_amount": "100000.00",
        "loan_tenure_months": 12,
        "loan_start_date": "2026-11-10",
        "gender": "Female",
        "phone_number": "08031234567",
        "email": email,
    }
    assert row.facts == expected


def test_days_in_another_order_than_was_said_refuse_a_file_of_more_than_a_few_rows_and_are_not_guessed() -> None:
    heading, row = PLAIN.replace(b"2026-11-10", b"10/11/2026").splitlines()

    def write(rows: int) -> bytes:
        return b"\r\n".join([heading, *(row.replace(b"LN-000001", b"LN-%06d" % place) for place in range(rows))])

    with pytest.raises(InvalidInput) as refused:
        read("a.csv", write(21))
    (fault,) = refused.value.faults
    assert "loan_start_date is 10/11/2026, not YYYY-MM-DD" in fault.message
    assert "DD/MM/YYYY where the day comes first" in fault.message
    # A few are faults of their rows, and so is one among many others.
    among_others = write(21) + b"\r\n" + PLAIN.splitlines()[1]
    for odd in (*read("a.csv", write(20)), *read("a.csv", among_others)[:21]):
        assert odd.values.malformed == {"loan_start_date": "must be a date as YYYY-MM-DD"}


def test_a_full_name_of_one_word_is_said_of_its_own_column() -> None:
    heading = (*HEADING[:1], "full_name", *HEADING[3:])
    rows = [
        {name: loan(number).get(name, whole) for name in heading}
        for number, whole in enumerate(("Ngozi", "Ngozi Ada Obi"))
    ]
    one, whole = read("a.csv", as_csv(rows, heading))
    assert (one.code, one.reason) == ("MALFORMED_VALUE", "full_name must hold a first and a last name")
    assert (whole.code, whole.also, whole.facts["last_name"]) == (None, ["NAME_SPLIT"], "Ada Obi")
