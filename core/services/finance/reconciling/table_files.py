"""CSV and XLSX files of other parties as rows of text, refused by row where they cannot be trusted (contract F6)."""

import csv
import io
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any, Final

from core.errors import FieldFault, InvalidInput, TooLarge

MAX_ROWS: Final = 100_000
MAX_BYTES: Final = 30 * 1024 * 1024
_MAX_SHEET_BYTES: Final = 300_000_000
_MAX_COLUMNS: Final = 100
_PIECE: Final = 1 << 20
_FORMULA: Final = re.compile(rb"<f[ />]")
_NAMED: Final = 20


@dataclass(frozen=True, slots=True)
class TableFile:
    """The heading and the rows of a file; each row has its number in the file, as people count them.

    `repeats` are rows that are in it twice: the number of each with that of the first.
    """

    heading: tuple[str, ...]
    rows: Sequence[tuple[int, tuple[str, ...]]]
    repeats: Mapping[int, int] = field(default_factory=dict)

    def find_repeat(self, number: int) -> str | None:
        """Return the fault of a row that is in the file twice."""
        return f"is the same as row {self.repeats[number]}" if number in self.repeats else None


def read(name: str, content: bytes) -> TableFile:
    """Read a file by its ending; InvalidInput names what is wrong and in which rows, TooLarge one beyond the limits."""
    if len(content) > MAX_BYTES:
        raise TooLarge(f"A file has at most {MAX_BYTES // (1 << 20)} MB")
    ending = name.lower().rpartition(".")[2]
    if ending not in {"csv", "xlsx"}:
        raise InvalidInput.for_field("file", "must be a CSV or an XLSX file")
    lines = _csv_lines(content) if ending == "csv" else _xlsx_lines(content)
    return _build(lines)


def refuse(faults: Sequence[FieldFault]) -> None:
    """Raise the faults that were found, the first twenty by name."""
    if not faults:
        return
    more = len(faults) - _NAMED
    rest = [FieldFault("file", f"has {more:,} more such rows")] if more > 0 else []
    raise InvalidInput([*faults[:_NAMED], *rest])


def _build(lines: Iterator[tuple[int, list[str]]]) -> TableFile:
    _, heading = next(lines, (0, []))
    names = tuple(cell.strip() for cell in heading)
    while names and not names[-1]:
        names = names[:-1]
    _check_heading(names)
    rows: list[tuple[int, tuple[str, ...]]] = []
    faults: list[FieldFault] = []
    seen: dict[tuple[str, ...], int] = {}
    repeats: dict[int, int] = {}
    for number, cells in lines:
        row = tuple(cell.strip() for cell in cells)
        if not any(row):
            continue
        if len(rows) == MAX_ROWS:
            raise TooLarge(f"A file has at most {MAX_ROWS:,} rows: divide it by days")
        if (first := seen.setdefault(row, number)) != number:
            repeats[number] = first
        if fault := _row_fault(row, len(names)):
            faults.append(FieldFault(f"row {number}", fault))
        rows.append((number, (*row, *[""] * (len(names) - len(row)))[: len(names)]))
    refuse(faults)
    if not rows:
        raise InvalidInput.for_field("file", "has no rows below its heading")
    return TableFile(names, rows, repeats)


def _check_heading(names: tuple[str, ...]) -> None:
    if not names or not all(names):
        raise InvalidInput.for_field("file", "must begin with a heading that names every column")
    if len(names) > _MAX_COLUMNS:
        raise InvalidInput.for_field("file", f"must have at most {_MAX_COLUMNS} columns")
    if len({name.casefold() for name in names}) < len(names):
        raise InvalidInput.for_field("file", "has two columns of the same name: rename one of them")


def _row_fault(row: tuple[str, ...], columns: int) -> str | None:
    if any(row[columns:]):
        return "has more cells than the heading"
    if any(cell.startswith("=") for cell in row):
        return "has a formula: save the file with values only"
    return None


def _csv_lines(content: bytes) -> Iterator[tuple[int, list[str]]]:
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidInput.for_field("file", "must be in UTF-8: save it as “CSV UTF-8”") from None
    if "\0" in text:
        raise InvalidInput.for_field("file", "is no text: save it as CSV")
    first = text.partition("\n")[0]
    delimiter = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error:
            raise InvalidInput.for_field(f"row {reader.line_num}", "has quotes that do not end") from None
        if cells is None:
            return
        yield reader.line_num, cells


def _xlsx_lines(content: bytes) -> Iterator[tuple[int, list[str]]]:
    _check_workbook(content)
    # Imported on first use: few requests read a workbook.
    from python_calamine import CalamineError, CalamineWorkbook  # noqa: PLC0415

    try:
        book = CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheet = book.get_sheet_by_index(0)
        rows = sheet.to_python(skip_empty_area=False)
    except CalamineError:
        raise InvalidInput.for_field("file", "cannot be read as a workbook: save it again as XLSX") from None
    except BaseException as error:
        # A panic of the reader's own language is no Exception.
        if type(error).__name__ != "PanicException":
            raise
        raise InvalidInput.for_field("file", "cannot be read as a workbook: save it again as XLSX") from None
    for number, cells in enumerate(rows, 1):
        yield number, [_text(cell) for cell in cells]


def _check_workbook(content: bytes) -> None:
    """Refuse what is no workbook, what would fill the memory, and formulas, whose values are somebody's claim."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            sheets = [each for each in book.infolist() if each.filename.startswith("xl/worksheets/sheet")]
            if not sheets or sum(each.file_size for each in book.infolist()) > _MAX_SHEET_BYTES:
                raise InvalidInput.for_field("file", "is no workbook, or one that is far too large")
            with book.open(min(sheets, key=lambda each: (len(each.filename), each.filename))) as sheet:
                _refuse_formulas(sheet)
    except (zipfile.BadZipFile, EOFError, NotImplementedError, RuntimeError, OSError):
        raise InvalidInput.for_field("file", "cannot be read as a workbook: save it again as XLSX") from None


def _refuse_formulas(sheet: Any) -> None:
    tail, row, read = b"", b"?", 0
    while piece := sheet.read(_PIECE):
        read += len(piece)
        if read > _MAX_SHEET_BYTES:
            raise InvalidInput.for_field("file", "is no workbook, or one that is far too large")
        text = tail + piece
        if found := _FORMULA.search(text):
            rows = re.findall(rb'<row [^>]*?r="(\d+)"', text[: found.start()])
            place = (rows[-1] if rows else row).decode()
            raise InvalidInput.for_field(f"row {place}", "has a formula: save the file with values only")
        if rows := re.findall(rb'<row [^>]*?r="(\d+)"', text):
            row = rows[-1]
        tail = text[-200:]


def _text(cell: Any) -> str:
    if isinstance(cell, bool):
        return "true" if cell else "false"
    if isinstance(cell, datetime):
        return str(cell.date())
    if isinstance(cell, date):
        return str(cell)
    if isinstance(cell, float):
        return str(int(cell)) if cell.is_integer() else repr(round(cell, 6))
    return str(cell)
