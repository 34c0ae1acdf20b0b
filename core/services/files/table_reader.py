"""Reads CSV and XLSX files of other parties, in a process of its own with a bound on its memory (contract B8, F6).

`python -m core.services.files.table_reader FORM NAME` takes the bytes on standard input and prints one line of JSON for
each row: its number in the file and its cells as text. What is wrong with the file is one line too: the place, "file"
or a row, and a text. Macros and links are never run.
"""

import csv
import io
import itertools
import json
import re
import resource
import subprocess
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any, Final
from xml.etree import ElementTree

from core.errors import InvalidInput

MAX_ROWS: Final = 100_000
TOO_MANY: Final = f"has more than {MAX_ROWS:,} rows: divide it, by branch or by days"
# Longer cells are cut here, so that a file of them fills no memory; a row with one is refused.
LONGEST_CELL: Final = 500
MEMORY_BYTES: Final = 1_500_000_000
CPU_SECONDS: Final = 120
_UNPACKED_BYTES: Final = 300_000_000
_MOST_PARTS: Final = 5_000
# Whole numbers from here on have lost digits in a spreadsheet.
EXACT: Final = 10**15
_SEPARATORS: Final = ",;\t|"
# Titles above the heading are few; the heading itself is no row of the book.
_ABOVE: Final = 20
_OLE: Final = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ZIP: Final = b"PK\x03\x04"
# Marks of a sheet, with or without a prefix of their namespace.
_FORMULA: Final = re.compile(rb"<(?:\w+:)?f[\s/>]")
_ROW: Final = re.compile(rb"<(?:\w+:)?row\s[^>]*?\br=\"(\d+)\"")
_LOCKED: Final = "EncryptedPackage".encode("utf-16-le")
_OTHERS: Final = (
    (b"%PDF", "is a PDF: send the table that it was printed from, as XLSX or CSV"),
    (b"{\\rtf", "is a text document: save the table as XLSX or CSV"),
    (b"\x89PNG", "is a picture: send the table as XLSX or CSV"),
    (b"\xff\xd8\xff", "is a picture: send the table as XLSX or CSV"),
    (b"\x1f\x8b", "is packed: send the XLSX or CSV file in it"),
)


class Refused(Exception):
    """The file cannot be read; the text says what to do. `place` is "file" or one of its rows, "row 7"."""

    def __init__(self, text: str, place: str = "file") -> None:
        super().__init__(text)
        self.place = place


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """Rules for a workbook: the name of its sheet, if it has to be the only one with rows, and its formulas.

    A formula counts with the value that the file has for it, or its row is refused.
    """

    sheet: str | None
    max_columns: int
    formulas: bool


FORMS: Final[Mapping[str, Form]] = {
    "loans": Form(sheet="loans", max_columns=60, formulas=True),
    "figures": Form(sheet=None, max_columns=100, formulas=False),
}


def read_apart(form: str, name: str, content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows of a file as another process reads them; InvalidInput says what is wrong with the file.

    That process has a bound on its memory and time: what it cannot open harms nobody.
    """
    command = [sys.executable, "-m", "core.services.files.table_reader", form, name]
    with tempfile.TemporaryFile() as file:
        file.write(content)
        file.seek(0)
        reader = subprocess.Popen(command, stdin=file, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)  # noqa: S603 our own module
    try:
        assert reader.stdout is not None, "it is a pipe"  # noqa: S101 for the type checker
        for line in reader.stdout:
            first, second = json.loads(line)
            if isinstance(first, str):
                raise InvalidInput.for_field(first, second)
            yield first, second
        if reader.wait(CPU_SECONDS):
            raise InvalidInput.for_field("file", "takes too much memory or time to open: keep the rows that are needed")
    finally:
        reader.kill()
        reader.wait()
        if reader.stdout:
            reader.stdout.close()


def read(form: Form, name: str, content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield each row that has something in it: its number and its cells; Refused says what is wrong with the file."""
    count = 0
    for number, cells in _read_workbook(form, content) if is_workbook(name, content) else read_text(content):
        while cells and not cells[-1]:
            cells.pop()
        if not cells:
            continue
        if len(cells) > form.max_columns:
            raise Refused(f"has more than {form.max_columns} columns in row {number:,}: keep those that are needed")
        count += 1
        if count > MAX_ROWS + _ABOVE:
            raise Refused(TOO_MANY)
        yield number, cells


def is_workbook(name: str, content: bytes) -> bool:
    """Return True for a workbook, False for a CSV file; what the file is counts, and its ending has to say the same.

    Refused for any other file, with what to do.
    """
    ending = name.lower().rpartition(".")[2]
    if not content:
        raise Refused("is empty")
    if content.startswith(_OLE):
        if _LOCKED in content[: 1 << 20] or _LOCKED in content[-(1 << 20) :]:
            raise Refused("is protected by a password: save it without one")
        raise Refused("is in the old format of Excel (.xls): save it as XLSX")
    for start, words in _OTHERS:
        if content.startswith(start):
            raise Refused(words)
    if content[:512].lstrip(b"\xef\xbb\xbf \r\n\t").lower().startswith((b"<html", b"<!doctype", b"<table", b"<?xml")):
        raise Refused("is a web page called a spreadsheet: open it and save it as XLSX")
    is_packed = content.startswith(_ZIP)
    if ending not in {"csv", "xlsx"}:
        raise Refused("must end in .xlsx or .csv: save it as one of them")
    if is_packed != (ending == "xlsx"):
        found = "is a workbook called .csv" if is_packed else "is no workbook, though it is called .xlsx"
        raise Refused(f"{found}: save it again as XLSX or CSV")
    return is_packed


def read_text(content: bytes) -> Iterator[tuple[int, list[str]]]:
    """Yield each line of a CSV file with its number; Refused says what is wrong with it."""
    text = _decode(content)
    if "\0" in text:
        raise Refused("is no text in UTF-8: save it as “CSV UTF-8”")
    csv.field_size_limit(1 << 20)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_find_separator(text), strict=True)
    while True:
        try:
            cells = next(reader, None)
        except csv.Error:
            raise Refused(
                f"has a quote that does not end, or a cell beyond all bounds, near line {reader.line_num:,}"
            ) from None
        if cells is None:
            return
        yield reader.line_num, [cell.strip()[: LONGEST_CELL + 1] for cell in cells]


def _find_separator(text: str) -> str:
    """Return what divides the columns: the mark that most of the first lines have equally often.

    Titles above the heading have other marks, and amounts have commas.
    """
    lines = [re.sub(r'"[^"]*"', "", line) for line in itertools.islice(io.StringIO(text), _ABOVE)]

    def weigh(mark: str) -> int:
        return max(count * times for count, times in Counter(line.count(mark) for line in lines).items())

    return max(_SEPARATORS, key=weigh) if lines else _SEPARATORS[0]


def _decode(content: bytes) -> str:
    if content.startswith((b"\xff\xfe", b"\xfe\xff")):
        try:
            return content.decode("utf-16")
        except UnicodeDecodeError:
            raise Refused("is cut short: save it again as “CSV UTF-8”") from None
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise Refused(f"is not in UTF-8, as line {line:,} shows: save it as “CSV UTF-8”") from None


def _read_workbook(form: Form, content: bytes) -> Iterator[tuple[int, list[str]]]:
    _check_parts(content)
    # Imported here: a file of text does without.
    from python_calamine import CalamineWorkbook  # noqa: PLC0415

    book = CalamineWorkbook.from_filelike(io.BytesIO(content))
    sheet = _find_sheet(form, book)
    if sheet.width > form.max_columns * 20:
        raise Refused(f"has more than {form.max_columns} columns: delete what stands at their right")
    if not form.formulas:
        _refuse_formulas(content, sheet.name)
    # Rows above the first one in use are counted, columns before it are left out in each row alike.
    for number, cells in enumerate(sheet.iter_rows(), 1):
        yield number, [_text(cell) for cell in cells]


def _find_sheet(form: Form, book: Any) -> Any:
    """Return the sheet of this name, or the one that has rows: of several none is passed over unseen.

    Without a name it is the first one.
    """
    if not book.sheet_names:
        raise Refused("has no sheet")
    if form.sheet is None:
        return book.get_sheet_by_index(0)
    for name in book.sheet_names:
        if name.strip().lower() == form.sheet:
            return book.get_sheet_by_name(name)
    shown = [sheet.name for sheet in book.sheets_metadata if str(sheet.visible).endswith("Visible")]
    filled = [sheet for sheet in map(book.get_sheet_by_name, shown) if sheet.height]
    if len(filled) > 1:
        names = ", ".join(sheet.name[:31] for sheet in filled[:5])
        raise Refused(f"has rows in several sheets ({names}): put them into one called {form.sheet.title()}")
    return filled[0] if filled else book.get_sheet_by_index(0)


def _check_parts(content: bytes) -> None:
    """Refuse what is no workbook, and what would fill the memory when it is unpacked."""
    try:
        with zipfile.ZipFile(io.BytesIO(content)) as book:
            parts = book.infolist()
    except (zipfile.BadZipFile, EOFError, NotImplementedError, OSError, ValueError):
        raise Refused("is damaged: open it and save it again as XLSX") from None
    names = {part.filename for part in parts}
    if "xl/workbook.xml" not in names:
        kind = "an OpenDocument table" if "mimetype" in names else "a packed folder"
        raise Refused(f"is {kind} called .xlsx: save the table as XLSX or CSV")
    if any(part.flag_bits & 1 for part in parts):
        raise Refused("is protected by a password: save it without one")
    if sum(part.file_size for part in parts) > _UNPACKED_BYTES or len(parts) > _MOST_PARTS:
        raise Refused(
            f"unpacks to more than {_UNPACKED_BYTES // 1_000_000} MB: keep the rows and columns that are needed"
        )


def _refuse_formulas(content: bytes, sheet_name: str) -> None:
    """Refuse a sheet with a formula, whose value is somebody's claim and no figure of theirs."""
    tail, row = b"", b"?"
    with zipfile.ZipFile(io.BytesIO(content)) as book, book.open(_find_part(book, sheet_name)) as sheet:
        while piece := sheet.read(1 << 20):
            text = tail + piece
            found = _FORMULA.search(text)
            for each in _ROW.finditer(text, 0, found.start() if found else len(text)):
                row = each[1]
            if found:
                raise Refused("has a formula: save the file with values only", f"row {row.decode()}")
            tail = text[-200:]


def _find_part(book: zipfile.ZipFile, sheet_name: str) -> str:
    """Return the part of a workbook in which a sheet is stored: the order of parts need not be that of sheets."""
    sheets = ElementTree.fromstring(book.read("xl/workbook.xml")).iter()  # noqa: S314 in a process of its own
    ids = [
        value for each in sheets if each.get("name") == sheet_name for key, value in each.items() if key[-3:] == "}id"
    ]
    parts = ElementTree.fromstring(book.read("xl/_rels/workbook.xml.rels"))  # noqa: S314 in a process of its own
    target = next(each.get("Target", "") for each in parts if each.get("Id") == ids[0])
    return target.lstrip("/") if target.startswith("/") else f"xl/{target}"


def _text(cell: Any) -> str:
    """Return a cell as text: a number without exponent, a day as YYYY-MM-DD."""
    if isinstance(cell, str):
        return " ".join(cell.split())[: LONGEST_CELL + 1] if len(cell) <= 1 << 15 else cell[: LONGEST_CELL + 1]
    if isinstance(cell, bool):
        return str(cell).lower()
    if isinstance(cell, float):
        if cell.is_integer() and abs(cell) < EXACT:
            return str(int(cell))
        # A number beyond is left in the form in which it is seen to be one.
        # What a sum of kobo leaves behind the sixth place is the binary form's.
        return format(Decimal(repr(round(cell, 6))), "f") if abs(cell) < EXACT else f"{cell:E}"
    if isinstance(cell, datetime):
        return cell.date().isoformat()
    return cell.isoformat() if isinstance(cell, date | time) else str(cell)


def _print(lines: Iterable[Any]) -> None:
    for line in lines:
        sys.stdout.write(json.dumps(line) + "\n")


def main() -> None:
    """Read standard input and print its rows."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        _print(read(FORMS[sys.argv[1]], sys.argv[2], sys.stdin.buffer.read()))
    except Refused as refused:
        _print([(refused.place, str(refused))])
    except MemoryError:
        _print([("file", "takes too much memory to open: keep the rows and columns that are needed")])
    except BaseException as error:
        # A panic of the reader's own language is no Exception.
        if isinstance(error, KeyboardInterrupt | SystemExit):
            raise
        _print([("file", "cannot be opened as a workbook: save it again as XLSX")])


if __name__ == "__main__":
    main()
