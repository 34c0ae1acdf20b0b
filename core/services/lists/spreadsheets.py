"""Cells of spreadsheets: how SQL prints a value, how a workbook holds it, and text that would run as a formula."""

import csv
import hashlib
import io
import re
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any, Literal

import sqlalchemy as sa
from sqlmodel import AutoString

from core import clock
from core.errors import TooLarge
from core.store.expressions import (
    print_address,
    print_day,
    print_id,
    print_instant,
    print_moment,
    print_naira,
    print_signed_naira,
)

_STARTS_FORMULA = frozenset("=+-@\t\r\n\0")
# What a spreadsheet would make a number or a day of: "08031234567", "+234...", "12E5", "11/26".
_LIKE_A_NUMBER = re.compile(r"\+?[0-9][0-9 .,:/-]*([eE][0-9]+)?")
_PHONE = re.compile(r"\+[1-9][0-9]{6,14}")


def build_plain_pattern(separator: str = "") -> str:
    """Return a pattern of texts that need no escaping: empty, a phone number, or alphanumeric first without CSV syntax.

    Nearly every cell matches. With a separator, which no text may contain, several joined cells match as one text.
    """
    return rf'(?:[A-Za-z0-9][^,"\r\n{separator}]*|{_PHONE.pattern})?'


_is_plain = re.compile(build_plain_pattern()).fullmatch


def escape_formula(text: str) -> str:
    """Prefix the text with an apostrophe where a spreadsheet would read a formula.

    Decided by the first visible character, or a control character that shifts what follows into a new cell;
    full-width and other forms of = + - @ count too. A plain E.164 phone number is left as it is.
    """
    if text[:1].isalnum() or _PHONE.fullmatch(text):
        return text
    first_visible = next((character for character in text if not _is_invisible(character)), "")
    return f"'{text}" if unicodedata.normalize("NFKC", first_visible)[:1] in _STARTS_FORMULA and first_visible else text


def undefused(text: str) -> str:
    """The text that was defused, for a cell that is text whatever stands in it."""
    return text[1:] if text.startswith("'") and escape_formula(text[1:]) == text else text


def kept_as_text(text: str) -> str:
    """A text of figures as a spreadsheet keeps it when it opens a CSV file: with every digit, zero and plus sign."""
    return f'="{text}"' if _LIKE_A_NUMBER.fullmatch(text) else text


def _is_invisible(character: str) -> bool:
    if character in _STARTS_FORMULA:
        return False
    # Separators and control or format characters, such as a zero-width space or a byte order mark.
    return unicodedata.category(character)[0] in "ZC"


def csv_field(text: str | None) -> str:
    """Return a text as a field of a CSV line (RFC 4180), escaped against formulas; None is an empty field."""
    if not text:
        return ""
    if _is_plain(text):
        return text
    escaped = escape_formula(text)
    return '"' + escaped.replace('"', '""') + '"' if any(sign in escaped for sign in ',"\r\n') else escaped


def csv_line(*fields: str) -> bytes:
    """Return fields, escaped where they have to be, as a line of a CSV file."""
    return (",".join(fields) + "\r\n").encode()


def hash_chunks(chunks: Iterable[bytes]) -> str:
    """Return the SHA-256 of a file that comes in chunks."""
    digest = hashlib.sha256()
    for chunk in chunks:
        digest.update(chunk)
    return digest.hexdigest()


Cell = str | int | float | bool | date | datetime
# The first day that a workbook can store reliably as a date.
_FIRST_WORKBOOK_DAY = date(1900, 3, 1)


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnType:
    """A column type: how the database prints a value, and how the printed text becomes a workbook cell.

    `group` says how a line of CSV is made of it: "printed" by the database as it stands there, "text" that somebody
    wrote and that may have to be escaped, "word" of few different texts, "masked". `unit` stands in a heading for
    people, `shown` is the type that their files have instead.
    """

    name: str
    print_sql: Callable[[Any], Any]
    parse_cell: Callable[[str], Cell]
    group: Literal["printed", "text", "word", "masked"] = "printed"
    format: str | None = None
    width: int = 14
    unit: str = ""
    shown: "ColumnType | None" = None

    @property
    def is_figure(self) -> bool:
        """True for numbers, days and times, which stand at the right and begin with the largest or latest."""
        return self.name in {"money", "count", "instant", "day", "date"}


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """One column, named as in the heading; `width` is in characters, 0 for the type's default."""

    name: str
    column_type: ColumnType
    width: int = 0

    @property
    def display_width(self) -> int:
        """Width in a workbook, at least that of the heading."""
        return max(self.width or self.column_type.width, len(self.name) + 2)


def _print_flag(yes: str, no: str) -> Callable[[Any], Any]:
    return lambda sql: sa.case((sql, sa.literal_column(f"'{yes}'")), else_=sa.literal_column(f"'{no}'"))


def _unchanged(value: Any) -> Any:
    return value


def _cast_to_text(value: Any) -> Any:
    return value if isinstance(value.type, sa.String | AutoString) else sa.cast(value, sa.String)


def _keep_text(printed: str) -> str:
    # A cell of text runs nothing: what keeps a line of CSV from being a formula would only be read here.
    return undefused(printed)


def _parse_day(printed: str) -> Cell:
    try:
        found = date.fromisoformat(printed[:10])
    except ValueError:
        return _keep_text(printed)
    return found if found >= _FIRST_WORKBOOK_DAY else printed


def _parse_instant(printed: str) -> datetime:
    # Cells know no time zones: the format of the column says which it is.
    return datetime.fromisoformat(printed).astimezone(UTC).replace(tzinfo=None)


TEXT = ColumnType(name="text", print_sql=_unchanged, parse_cell=_keep_text, group="text", width=18)
PHONE = replace(TEXT, name="phone")
"""A phone number, which screens write as it is dialled."""
_GIVEN_EMAIL = replace(TEXT, name="email", print_sql=print_address)
EMAIL = replace(TEXT, name="email", shown=_GIVEN_EMAIL)
"""An e-mail address; for people there is none where one stands that nobody has given."""
MASKED = replace(TEXT, name="masked", group="masked")
"""A personal number, of which the last four characters are shown."""
WORD = ColumnType(name="word", print_sql=_cast_to_text, parse_cell=_keep_text, group="word")
STATE = replace(WORD, name="state", group="printed")
"""A word of ours, which has its colour on the screen."""
ID = ColumnType(name="id", print_sql=print_id, parse_cell=_keep_text, width=38)
MONEY = ColumnType(name="money", print_sql=print_naira, parse_cell=float, format="#,##0.00", width=18, unit="NGN")
SIGNED_MONEY = replace(MONEY, print_sql=print_signed_naira)
COUNT = ColumnType(name="count", print_sql=_cast_to_text, parse_cell=int, format="0")
_YES_OR_NO = ColumnType(name="flag", print_sql=_print_flag("Yes", "No"), parse_cell=_keep_text, width=10)
FLAG = ColumnType(
    name="flag", print_sql=_print_flag("true", "false"), parse_cell="true".__eq__, width=10, shown=_YES_OR_NO
)
_LAGOS_MOMENT = ColumnType(
    name="instant",
    print_sql=print_moment,
    parse_cell=datetime.fromisoformat,
    format="yyyy-mm-dd hh:mm",
    width=18,
    unit="Lagos time",
)
INSTANT = ColumnType(
    name="instant",
    print_sql=print_instant,
    parse_cell=_parse_instant,
    format='yyyy-mm-dd hh:mm:ss "UTC"',
    width=24,
    shown=_LAGOS_MOMENT,
)
DAY = ColumnType(name="day", print_sql=print_day, parse_cell=_parse_day, format="yyyy-mm-dd", width=12)
"""The Lagos day of an instant."""
DATE = replace(DAY, name="date", print_sql=_unchanged, group="text")
"""A day that is kept as text."""
TEXTS = (TEXT, PHONE, EMAIL, _GIVEN_EMAIL, MASKED, WORD, STATE, ID)


# XLSX limits: rows below the heading, and characters in a cell.
MAX_ROWS = 1_048_575
_MAX_CELL_CHARACTERS = 32_767
_MAX_COLUMN_WIDTH = 60
# Characters for the arrow of a filter, and for the commas of an amount.
_ROOM_OF_FILTER, _ROOM_OF_COMMAS = 3, 4


def write_workbook(
    path: Path,
    lines: Iterator[bytes],
    columns: Sequence[SheetColumn],
    *,
    title: str,
    facts: Callable[[], Any],
    created_at: datetime | None = None,
    is_for_people: bool = False,
) -> Iterator[int]:
    """Write a workbook of two sheets: the rows, and the receipt facts (label, value), read after the last row.

    For people, its columns are as wide as what is in them, their headings filter the rows, and the amounts that the
    filter leaves are added up below the last one. Yields the number of rows so far after each chunk; memory does not
    grow with it. TooLarge past the row limit. Equal content with the same `created_at`, which is now unless it is
    given, makes equal bytes.
    """
    # Imported lazily, so that it does not slow the start.
    import xlsxwriter  # noqa: PLC0415

    book = xlsxwriter.Workbook(str(path), {"constant_memory": True, "tmpdir": str(path.parent)})
    book.set_properties({"title": title, "created": (created_at or clock.now()).astimezone(UTC).replace(tzinfo=None)})
    sheet = _sheet(book, columns, title)
    measures = [_Measure(column) for column in columns] if is_for_people else []
    # xlsxwriter closes its temporary row file only on success.
    with closing(sheet.row_data_fh):
        rows = 0
        for rows in _rows(lines, [_make_cell_writer(sheet, book, column) for column in columns], measures):
            yield rows
        if is_for_people:
            _finish(sheet, book, measures, rows)
        _facts(book, facts())
        book.close()


class _Measure:
    """Width of a column, and the sum of its amounts in kobo, as its texts pass."""

    def __init__(self, column: SheetColumn) -> None:
        self.column, self.width = column, len(column.name) + _ROOM_OF_FILTER
        self.is_amount, self.sum_minor = column.column_type.name == "money", 0

    def add(self, text: str) -> None:
        self.width = max(self.width, len(text))
        if self.is_amount:
            self.sum_minor += int(text.replace(".", ""))


def _rows(
    lines: Iterator[bytes], writers: Sequence[Callable[[int, int, str], Any]], measures: Sequence[_Measure]
) -> Iterator[int]:
    rows = -1
    for chunk in lines:
        for cells in csv.reader(io.StringIO(chunk.decode(), newline="")):
            rows += 1
            if rows > MAX_ROWS:
                raise TooLarge("There are more rows than a workbook holds: take it as CSV")
            # The first line is the heading, which the sheet already has.
            for place, text in enumerate(cells if rows else ()):
                if text:
                    writers[place](rows, place, text)
                    if measures:
                        measures[place].add(text)
        yield max(rows, 0)


def _finish(sheet: Any, book: Any, measures: Sequence[_Measure], rows: int) -> None:
    """Write the totals below the rows, and set filter and widths."""
    from xlsxwriter.utility import xl_col_to_name  # noqa: PLC0415

    amounts = [(place, measure) for place, measure in enumerate(measures) if measure.is_amount]
    if amounts and 0 < rows < MAX_ROWS:
        bold = {"bold": True, "top": 1}
        if amounts[0][0]:
            sheet.write_string(rows + 1, 0, "Total", book.add_format(bold))
        for place, measure in amounts:
            letter = xl_col_to_name(place)
            cell_format = book.add_format(bold | {"num_format": measure.column.column_type.format})
            # 109: the sum of the rows that a filter leaves.
            formula = f"=SUBTOTAL(109,{letter}2:{letter}{rows + 1})"
            sheet.write_formula(rows + 1, place, formula, cell_format, measure.sum_minor / 100)
    sheet.autofilter(0, 0, rows, len(measures) - 1)
    for place, measure in enumerate(measures):
        room = _ROOM_OF_COMMAS if measure.is_amount else 1
        sheet.set_column(place, place, min(measure.width + room, _MAX_COLUMN_WIDTH))


def _sheet(book: Any, columns: Sequence[SheetColumn], title: str) -> Any:
    sheet = book.add_worksheet(title)
    sheet.freeze_panes(1, 0)
    for place, column in enumerate(columns):
        sheet.set_column(place, place, min(column.display_width, _MAX_COLUMN_WIDTH))
    bold = book.add_format({"bold": True, "bottom": 1})
    for place, column in enumerate(columns):
        sheet.write_string(0, place, column.name, bold)
    return sheet


def _make_cell_writer(sheet: object, book: object, column: SheetColumn) -> Callable[[int, int, str], Any]:
    """Return the cell writer of a column; the column type decides the cell type, never the look of the text."""
    cell, cell_format = column.column_type.parse_cell, _format(book, column.column_type.format)
    return lambda row, place, text: _write_cell(sheet, row, place, cell(text), cell_format)


def _write_cell(sheet: Any, row: int, place: int, value: Cell, cell_format: object = None) -> None:
    if isinstance(value, str):
        sheet.write_string(row, place, value[:_MAX_CELL_CHARACTERS])
    elif isinstance(value, bool):
        sheet.write_boolean(row, place, value)
    elif isinstance(value, date | datetime):
        sheet.write_datetime(row, place, value, cell_format)
    else:
        sheet.write_number(row, place, value, cell_format)


def _format(book: Any, pattern: str | None) -> Any:
    return book.add_format({"num_format": pattern}) if pattern else None


def _facts(book: Any, facts: Sequence[tuple[str, Cell]]) -> None:
    sheet = book.add_worksheet("Receipt")
    sheet.set_column(0, 0, 24)
    sheet.set_column(1, 1, _MAX_COLUMN_WIDTH)
    bold, money = book.add_format({"bold": True}), _format(book, "#,##0.00")
    for row, (label, value) in enumerate(facts):
        sheet.write_string(row, 0, label, bold)
        _write_cell(sheet, row, 1, value, money if isinstance(value, float) else None)
