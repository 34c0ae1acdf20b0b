"""Export formats: CSV is streamed as it is read; a workbook is made from the same lines, then sent."""

import codecs
import csv
import hashlib
import io
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from core.errors import NotFound, TooLarge
from core.services.exports.exports import Tally
from core.services.lists.spreadsheets import formula_escaping, workbooks
from core.services.lists.spreadsheets.columns import TEXTS, Cell, Column


@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """Title and columns of a file, and whether it is for people."""

    title: str
    columns: Sequence[Column]
    is_for_people: bool


ReceiptFacts = Callable[[], Sequence[tuple[str, Cell]]]
_PIECE_BYTES = 1 << 18


@dataclass(frozen=True, kw_only=True, slots=True)
class Format:
    """One format: its name, how its files end, how many rows they hold, and how lines of CSV become one.

    The conversion calls the receipt facts after all lines have passed. It may yield empty pieces while it works, so
    that a cancelled download can stop it.
    """

    name: str
    ending: str
    title: str
    media_type: str
    convert: Callable[[Iterator[bytes], Sheet, ReceiptFacts, Tally], Iterator[bytes]]
    max_rows: int | None = None

    def refuse_too_many(self, rows: int) -> None:
        """Raise TooLarge for more rows than a file of this format can hold."""
        if self.max_rows is not None and rows > self.max_rows:
            text = f"A workbook holds {self.max_rows:,} rows and this selection has {rows:,}: take it as CSV"
            raise TooLarge(text)


def _pass_csv(lines: Iterator[bytes], _sheet: Sheet, _facts: ReceiptFacts, _tally: Tally) -> Iterator[bytes]:
    return lines


def _as_lines_for_excel(lines: Iterator[bytes], sheet: Sheet, _facts: ReceiptFacts, tally: Tally) -> Iterator[bytes]:
    """The same lines with the mark by which Excel knows UTF-8, and with its digits left in what is text."""
    tally.file = hashlib.sha256()
    texts = [place for place, column in enumerate(sheet.columns) if column.column_type in TEXTS]
    mark = codecs.BOM_UTF8
    for chunk in lines:
        out = io.StringIO(newline="")
        writer = csv.writer(out, lineterminator="\r\n")
        for row in csv.reader(io.StringIO(chunk.decode(), newline="")):
            for place in texts:
                row[place] = formula_escaping.kept_as_text(row[place])
            writer.writerow(row)
        piece, mark = mark + out.getvalue().encode(), b""
        tally.file.update(piece)
        yield piece


def _make_workbook(lines: Iterator[bytes], sheet: Sheet, facts: ReceiptFacts, tally: Tally) -> Iterator[bytes]:
    tally.file = hashlib.sha256()
    # A private temporary folder, removed when the file has been sent or the download is cancelled.
    with TemporaryDirectory(prefix="coverdesk-export-") as folder:
        path = Path(folder, "export.xlsx")
        path.touch(mode=0o600)
        for _ in workbooks.write_workbook(
            path, lines, sheet.columns, title=sheet.title, facts=facts, is_for_people=sheet.is_for_people
        ):
            yield b""
        with path.open("rb") as file:
            while piece := file.read(_PIECE_BYTES):
                tally.file.update(piece)
                yield piece


CSV = Format(name="csv", ending="csv", title="CSV", media_type="text/csv; charset=utf-8", convert=_pass_csv)
EXCEL_CSV = Format(
    name="excel-csv",
    ending="csv",
    title="CSV for Excel",
    media_type="text/csv; charset=utf-8",
    convert=_as_lines_for_excel,
)
XLSX = Format(
    name="xlsx",
    ending="xlsx",
    title="XLSX",
    media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    convert=_make_workbook,
    max_rows=workbooks.MAX_ROWS,
)
FORMATS = {format_.name: format_ for format_ in (CSV, EXCEL_CSV, XLSX)}


def get_format(name: str) -> Format:
    """Return the format of this name; NotFound for any other."""
    found = FORMATS.get(name)
    if found is None:
        raise NotFound(f"An export is made as {' or '.join(FORMATS)}")
    return found
