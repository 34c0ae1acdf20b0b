"""Files of a list: how one is arranged, its rows as CSV (RFC 4180, UTF-8), and its formats (contract A4).

An address names columns, their sequence, the order and the form (`columns`, `order`, `form`); left out, the file has
every column for machines, and the usual order of its list: for most, the newest row first. Workbooks are made of the
lines of CSV. In these, neighbours of one group are read as one value, because fewer values a row are faster: what the
database prints stands in the line as it is, texts are checked together, and words and names are remembered.
"""

import codecs
import csv
import hashlib
import io
import re
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from datetime import datetime
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final, Literal
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.sql.elements import Grouping
from sqlalchemy.sql.functions import coalesce

from core import seal
from core.covers.request import suggestion
from core.errors import FieldFault, InvalidInput, NotFound, TooLarge, raise_faults
from core.services.lists import spreadsheets
from core.services.lists.dimensions import load_choices
from core.services.lists.filters import fields
from core.services.lists.filters.declaration import F
from core.services.lists.filters.fields import Address
from core.services.lists.listing import EMPTY_TEXT, Column, Context, Derived, Listing, concatenate
from core.services.lists.records import format_mode
from core.services.lists.spreadsheets import (
    INSTANT,
    TEXT,
    TEXTS,
    WORD,
    Cell,
    ColumnType,
    SheetColumn,
    build_plain_pattern,
    csv_field,
)
from core.store.access import AnySelect, ScopedSession, read_batches

# Separates values that SQL concatenates and Python splits; stored texts cannot contain it (contract E6).
_SEPARATOR = "\x1f"
FieldWriter = Callable[[Any], str]


@dataclass(frozen=True, slots=True)
class FileColumn:
    """A column of one file: its heading, its type there, and what it was declared as; words are for people only."""

    heading: str
    type: ColumnType
    declared: Column
    is_for_people: bool = False

    @property
    def group(self) -> Any:
        """Key that it shares with the neighbours that are read with it."""
        derived = self.declared.sql
        if isinstance(derived, Derived) and not derived.is_cached:
            return "derived", *map(id, derived.sql)
        if isinstance(derived, Derived) or (self.is_for_people and self.declared.words):
            return "word"
        return self.type.group

    def to_words(self, text: str | None) -> str | None:
        """Return the text as this file has it."""
        return self.declared.words.get(text or "", text) if self.is_for_people else text


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnPart:
    """Neighbouring columns: the SQL value, and the writer that makes CSV of it, None when it is CSV already."""

    value: Any
    make_writer: Callable[[Context], FieldWriter | None]


def build_parts(columns: Sequence[FileColumn]) -> Iterator[ColumnPart]:
    """Yield the parts of the columns of a file, in their sequence."""
    for group, neighbours in groupby(columns, key=lambda column: column.group):
        build = _BUILDERS.get(group, _derived)
        yield build(list(neighbours))


def _printed(columns: Sequence[FileColumn]) -> ColumnPart:
    pieces = [_print_value(column.type, column.declared.sql) for column in columns]
    return ColumnPart(value=concatenate(",", *pieces), make_writer=lambda _: None)


def _texts(columns: Sequence[FileColumn]) -> ColumnPart:
    """One regular expression checks all of them at once, as nearly all texts need no escaping."""
    if len(columns) == 1:
        return ColumnPart(value=_print_text(columns[0]), make_writer=lambda _: csv_field)
    is_plain = re.compile(_SEPARATOR.join([build_plain_pattern(_SEPARATOR)] * len(columns))).fullmatch

    def write(given: str) -> str:
        return given.replace(_SEPARATOR, ",") if is_plain(given) else ",".join(map(csv_field, given.split(_SEPARATOR)))

    return ColumnPart(value=_join_texts(columns), make_writer=lambda _: write)


def _masked(columns: Sequence[FileColumn]) -> ColumnPart:
    """Personal numbers show their last four characters to everybody (contract A3)."""
    return ColumnPart(
        value=_join_texts(columns),
        make_writer=lambda _: lambda given: ",".join(csv_field(seal.mask(text)) for text in given.split(_SEPARATOR)),
    )


def _join_texts(columns: Sequence[FileColumn]) -> Any:
    # A text that every record of its table has is missing where that table is joined and has none.
    return concatenate(_SEPARATOR, *(sa.func.coalesce(_print_text(each), EMPTY_TEXT) for each in columns))


def _print_text(column: FileColumn) -> Any:
    return column.type.print_sql(column.declared.sql)


def _words(columns: Sequence[FileColumn]) -> ColumnPart:
    value, work_out = _worked_out(columns)
    return ColumnPart(value=value, make_writer=lambda context: _CachedTexts(work_out(context)).__getitem__)


def _derived(columns: Sequence[FileColumn]) -> ColumnPart:
    value, work_out = _worked_out(columns)
    return ColumnPart(value=value, make_writer=work_out)


_BUILDERS: dict[Any, Callable[[Sequence[FileColumn]], ColumnPart]] = {
    "printed": _printed,
    "text": _texts,
    "masked": _masked,
    "word": _words,
}


class _CachedTexts(dict[str, str]):
    def __init__(self, write: FieldWriter) -> None:
        super().__init__()
        self._write = write

    def __missing__(self, value: str) -> str:
        text = self[value] = self._write(value)
        return text


def _worked_out(columns: Sequence[FileColumn]) -> tuple[Any, Callable[[Context], FieldWriter]]:
    """Return the values that columns need, each once, and what makes their fields of them."""
    needed = [column.declared.sources for column in columns]
    distinct = list({id(sql): sql for each in needed for sql in each}.values())
    places = {id(sql): place for place, sql in enumerate(distinct)}
    reads = [[(places[id(sql)], _parser(sql)) for sql in each] for each in needed]

    def write_with(context: Context) -> FieldWriter:
        def write(given: str) -> str:
            texts = given.split(_SEPARATOR)
            fields = (
                column.to_words(_work_out(column.declared.sql, context, [parse(texts[at]) for at, parse in read]))
                for column, read in zip(columns, reads, strict=True)
            )
            return ",".join(map(csv_field, fields))

        return write

    return concatenate(_SEPARATOR, *map(_print_source, distinct)), write_with


def _work_out(sql: Any, context: Context, values: Sequence[Any]) -> str | None:
    if not isinstance(sql, Derived):
        return values[0]  # type: ignore[no-any-return]
    found = sql.work_out(context, *values)
    return None if found is None else str(found)


def _print_source(value: Any) -> Any:
    return _print_value(INSTANT if _is_instant(value) else WORD, value)


def _is_instant(value: Any) -> bool:
    return isinstance(getattr(value.type, "impl", value.type), sa.DateTime)


def _parser(value: Any) -> Callable[[str], Any]:
    """Return what reads a printed value as the type that it has on a page; an empty text is no value."""
    known: dict[type, Callable[[str], Any]] = {sa.Uuid: UUID, sa.Integer: int}
    parse = next((parse for type_, parse in known.items() if isinstance(value.type, type_)), str)
    if _is_instant(value):
        parse = datetime.fromisoformat
    return lambda text: parse(text) if text else None


def _print_value(column_type: ColumnType, value: Any) -> Any:
    printed_value = column_type.print_sql(value)
    if _is_never_null(value):
        return printed_value
    if column_type.print_sql in (TEXT.print_sql, WORD.print_sql):
        return sa.func.coalesce(printed_value, EMPTY_TEXT)
    # PostgreSQL prints a text for NULL too, so NULL must be tested before printing.
    return sa.case((value.is_(None), EMPTY_TEXT), else_=printed_value)


def _is_never_null(value: Any) -> bool:
    """Return True for non-null columns and sums of them; coalesce on every row is slow."""
    if isinstance(value, sa.BinaryExpression | Grouping):
        return all(map(_is_never_null, value.get_children()))
    filled = isinstance(value, coalesce)
    return filled or getattr(getattr(value, "expression", value), "nullable", True) is False


COLUMNS, ORDER, FORM = "columns", "order", "form"
Form = Literal["machines", "people"]
_FORMS: Final = ("machines", "people")
_MOST_COMPARED: Final = 10
_LONGEST: Final = 100


@dataclass(frozen=True, slots=True)
class Arrangement:
    """Arrangement of one file; columns by their names in files, every one for machines when none is named."""

    columns: tuple[str, ...] = ()
    order: str | None = None
    form: str = "machines"

    @property
    def is_for_people(self) -> bool:
        """True for a file as a screen shows it: its labels and words, and the time of Lagos."""
        return self.form == "people"

    def of(self, listing: Listing[Any]) -> list[FileColumn]:
        """Return the columns of the file of a list."""
        every = listing.in_files
        return [self._build(name, every[name]) for name in self.columns or listing.for_machines]

    def _build(self, name: str, column: Any) -> FileColumn:
        if not self.is_for_people:
            return FileColumn(name, column.type, column)
        type_ = column.type.shown or column.type
        heading = f"{column.label} ({type_.unit})" if type_.unit else column.label
        return FileColumn(heading, type_, column, is_for_people=True)

    def keys(self, listing: Listing[Any]) -> tuple[Any, ...]:
        """Return the sort keys of the file; none for a list that sorts by itself."""
        return listing.orders[self.order or listing.usual_order].keys if listing.orders else ()

    def address(self, listing: Listing[Any]) -> dict[str, list[str]]:
        """Return the parameters that arrange a file like this again; none for what is usual."""
        order = self.order if self.order != listing.usual_order else None
        return (
            ({COLUMNS: list(self.columns)} if self.columns else {})
            | ({ORDER: [order]} if order else {})
            | ({FORM: [self.form]} if self.is_for_people else {})
        )

    def describe(self, listing: Listing[Any]) -> Mapping[str, Any]:
        """Return columns, order and form as the audit log keeps them."""
        form = {FORM: self.form} if self.is_for_people else {}
        return {COLUMNS: list(self.columns) or "all", ORDER: self.order or listing.usual_order, **form}


USUAL: Final = Arrangement()


def list_parameters(listing: Listing[Any]) -> tuple[str, ...]:
    """Return the parameters that arrange files of this list; one with a single order takes none for it."""
    return (COLUMNS, ORDER, FORM) if listing.orders else (COLUMNS, FORM)


def read(listing: Listing[Any], address: Address) -> Arrangement:
    """Return the arrangement of an address; InvalidInput names each column and order that the list does not have."""
    faults: list[FieldFault] = []
    columns = fields.collect(faults, _parse_columns, listing, address)
    order = fields.collect(faults, lambda: fields.word(address, ORDER, tuple(listing.orders)))
    form = fields.collect(faults, lambda: fields.word(address, FORM, _FORMS))
    raise_faults(faults)
    return Arrangement(columns or (), order, form or "machines")


def follow_list(listing: Listing[Any], shown: Sequence[str], order: str | None) -> dict[str, list[str]]:
    """Return the parameters of a file that is as a list shows it: its columns in their sequence, its order and words.

    A name that the list no longer has, and a column that is only worked out on the screen, is left out.
    """
    declared = ((name, listing.columns.get(name)) for name in shown)
    columns = list(dict.fromkeys(column.machine or name for name, column in declared if column and column.is_in_files))
    return (
        ({COLUMNS: columns} if columns else {})
        | ({ORDER: [order]} if order and order in listing.orders else {})
        | {FORM: ["people"]}
    )


def _parse_columns(listing: Listing[Any], address: Address) -> tuple[str, ...]:
    given = [name.strip() for value in address.get(COLUMNS, ()) for name in value.split(",")]
    names = [name for name in given if name]
    known = list(listing.in_files)
    unknown = list(dict.fromkeys(name for name in names if name not in known))[:_MOST_COMPARED]
    if unknown:
        raise InvalidInput([FieldFault(COLUMNS, _refuse(name, known)) for name in unknown])
    twice = next((name for place, name in enumerate(names) if name in names[:place]), None)
    if twice:
        raise InvalidInput.for_field(COLUMNS, f"must name {twice} once")
    return tuple(names)


def _refuse(name: str, known: Sequence[str]) -> str:
    printed, meant = ascii(name[:_LONGEST])[1:-1], suggestion(name, known)
    return f"has no {printed}, did you mean {meant}?" if meant else f"has no {printed}, use {', '.join(known)}"


CHUNK = 2_000


@dataclass(slots=True)
class Tally:
    """Running totals of an export: rows, sum in kobo, and hash of the lines; `file` hashes a non-CSV file."""

    rows: int = 0
    sum_minor: int = 0
    digest: Any = field(default_factory=hashlib.sha256)
    file: Any = None

    @property
    def sha256(self) -> str:
        """Hash of all CSV lines so far, whatever the file format."""
        found: str = self.digest.hexdigest()
        return found

    @property
    def file_sha256(self) -> str:
        """Hash of the bytes of the file."""
        found: str = (self.file or self.digest).hexdigest()
        return found

    def add(self, chunk: bytes) -> bytes:
        """Add a chunk to the hash and return it."""
        self.digest.update(chunk)
        return chunk


def stream_lines(
    session: ScopedSession, listing: Listing[F], selection: F, tally: Tally, arrangement: Arrangement = USUAL
) -> Generator[bytes]:
    """Yield the rows of a selection as CSV chunks of up to 2,000 lines, heading first.

    The rows come from one statement; memory does not grow with their number. Amounts are naira with two decimals.
    For machines, columns in `_at` are UTC and those in `_on` days in Lagos; for people, times are those of Lagos.
    """
    context = Context(load_choices(session), format_mode(bool(session.scope.is_live)))
    file_columns = arrangement.of(listing)
    parts = list(build_parts(file_columns))
    writers = [part.make_writer(context) for part in parts]
    # An empty field that is alone in its line has to be quoted, or the line would be blank.
    quote = (lambda text: text or '""') if len(file_columns) == 1 else str
    yield tally.add(f"{','.join(csv_field(column.heading) for column in file_columns)}\r\n".encode())
    values = [*(part.value for part in parts), *([] if listing.summed is None else [listing.summed])]
    query = build_query(listing, values, selection, arrangement, context)
    with closing(read_batches(session, query, size=CHUNK)) as batches:
        for rows in batches:
            # Column by column, so that map() and zip() loop in C.
            columns: list[Any] = list(zip(*rows, strict=True))
            tally.rows += len(rows)
            if listing.summed is not None:
                # PostgreSQL adds up to a Decimal what is a sum already.
                tally.sum_minor += int(sum(columns.pop()))
            written = [map(write, column) if write else column for write, column in zip(writers, columns, strict=True)]
            yield tally.add(("\r\n".join(map(quote, map(",".join, zip(*written, strict=True)))) + "\r\n").encode())


def build_query(
    listing: Listing[F], values: Sequence[Any], selection: F, arrangement: Arrangement, context: Context
) -> AnySelect:
    """Build the query of a selection's rows, in the order of the file."""
    query = listing.rows(values, selection, context.names)
    keys = arrangement.keys(listing)
    return query.order_by(*keys) if keys else query


@dataclass(frozen=True, kw_only=True, slots=True)
class Sheet:
    """Title and columns of a file, and whether it is for people."""

    title: str
    columns: Sequence[SheetColumn]
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
                row[place] = spreadsheets.kept_as_text(row[place])
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
        for _ in spreadsheets.write_workbook(
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
    max_rows=spreadsheets.MAX_ROWS,
)
FORMATS = {format_.name: format_ for format_ in (CSV, EXCEL_CSV, XLSX)}


def get_format(name: str) -> Format:
    """Return the format of this name; NotFound for any other."""
    found = FORMATS.get(name)
    if found is None:
        raise NotFound(f"An export is made as {' or '.join(FORMATS)}")
    return found
