"""XLSX workbooks from CSV lines: numbers and dates are typed, and no text is run as a formula."""

import csv
import io
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from datetime import UTC, date, datetime
from pathlib import Path
from typing import Any

from core import clock
from core.errors import TooLarge
from core.services.lists.spreadsheets.columns import Cell, Column

# XLSX limits: rows below the heading, and characters in a cell.
MAX_ROWS = 1_048_575
_MAX_CELL_CHARACTERS = 32_767
_MAX_COLUMN_WIDTH = 60
# Characters for the arrow of a filter, and for the commas of an amount.
_ROOM_OF_FILTER, _ROOM_OF_COMMAS = 3, 4


def write_workbook(
    path: Path,
    lines: Iterator[bytes],
    columns: Sequence[Column],
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

    def __init__(self, column: Column) -> None:
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


def _sheet(book: Any, columns: Sequence[Column], title: str) -> Any:
    sheet = book.add_worksheet(title)
    sheet.freeze_panes(1, 0)
    for place, column in enumerate(columns):
        sheet.set_column(place, place, min(column.display_width, _MAX_COLUMN_WIDTH))
    bold = book.add_format({"bold": True, "bottom": 1})
    for place, column in enumerate(columns):
        sheet.write_string(0, place, column.name, bold)
    return sheet


def _make_cell_writer(sheet: object, book: object, column: Column) -> Callable[[int, int, str], Any]:
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
