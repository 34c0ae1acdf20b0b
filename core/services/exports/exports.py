"""Export kinds, and their rows as CSV chunks that are counted and hashed as they pass.

A kind consists of parts. A part is a group of neighbouring columns that the database returns as one value, because
fewer values per row are faster. Lines are CSV (RFC 4180, UTF-8); other formats are made from them.
"""

import csv
import hashlib
import io
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple

from core.errors import NotAllowed
from core.services.dimensions import Choices, load_choices
from core.services.filters.declaration import F
from core.services.filters.field import Parameter
from core.services.filters.parsing import Address
from core.services.people.staff import Person
from core.services.records import format_mode
from core.services.spreadsheets.columns import Column
from core.store.access import AnySelect, ScopedSession, read_batches

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


class ExportContext(NamedTuple):
    """Context that columns may need beside their row."""

    names: Choices
    mode: str


FieldWriter = Callable[[Any], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class ColumnPart:
    """Neighbouring columns: the SQL value, and the writer that makes CSV of it, None when it is CSV already."""

    columns: tuple[Column, ...]
    value: Any
    make_writer: Callable[[ExportContext], FieldWriter | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportKind(Generic[F]):
    """One kind of export; `summed` is the column, in kobo, that the receipt adds up, and `sum_title` its label.

    `orders` are the orders of its list, and `usual_order` that of a file which names none; without any, `rows` sorts by
    itself. `listed` names the columns of the file for each column of the list's table. `chosen` and `chosen_order` are
    what one file has of both: see `arrangement`.
    """

    name: str
    title: str
    noun: tuple[str, str]
    roles: tuple[str, ...]
    filter: type[F]
    parts: tuple[ColumnPart, ...]
    rows: Callable[[Sequence[Any], F, Choices], AnySelect]
    count: Callable[[ScopedSession, F], int]
    summed: Any = None
    sum_title: str | None = None
    orders: Mapping[Any, Sequence[Any]] = field(default_factory=dict)
    listed: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    usual_order: str = "newest"
    chosen: tuple[str, ...] = ()
    chosen_order: str | None = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters of its selection."""
        return self.filter.parameters()

    def read(self, address: Address) -> F:
        """Return the selection of an address; InvalidInput names every invalid parameter."""
        return self.filter.read(address)

    @property
    def order(self) -> str:
        """The order of the file: the chosen one, or the usual one of its kind."""
        return self.chosen_order or self.usual_order

    @property
    def columns(self) -> tuple[Column, ...]:
        """The columns of the file, in order: the chosen ones, or every one."""
        every = {column.name: column for part in self.parts for column in part.columns}
        return tuple(every[name] for name in self.chosen or every)

    @property
    def read_parts(self) -> tuple[ColumnPart, ...]:
        """The parts that have to be read for the columns of the file."""
        names = {column.name for column in self.columns}
        return tuple(part for part in self.parts if any(column.name in names for column in part.columns))

    def build_query(self, columns: Sequence[Any], selection: F, names: Choices) -> AnySelect:
        """Build the query of a selection's rows, in the order of the file."""
        query = self.rows(columns, selection, names)
        return query.order_by(*self.orders[self.order]) if self.orders else query

    def format_count(self, rows: int) -> str:
        """Format a number of rows in words: "1,204 purchases"."""
        return f"{rows:,} {self.noun[rows != 1]}"

    def require_role(self, person: Person) -> None:
        """Raise NotAllowed unless the person's role may export this kind."""
        if not person.has_role(*self.roles):
            raise NotAllowed


def stream_lines(session: ScopedSession, kind: ExportKind[F], selection: F, tally: Tally) -> Generator[bytes]:
    """Yield the rows of a selection as CSV chunks of up to 2,000 lines, heading first.

    The rows come from one statement; memory does not grow with their number. Amounts are naira with two decimals,
    columns in `_at` are UTC and those in `_on` days in Lagos.
    """
    context = ExportContext(load_choices(session), format_mode(bool(session.scope.is_live)))
    writers = [part.make_writer(context) for part in kind.read_parts]
    pick = _build_picker(kind)
    yield tally.add(f"{','.join(column.name for column in kind.columns)}\r\n".encode())
    values = [*(part.value for part in kind.read_parts), *_summed(kind)]
    query = kind.build_query(values, selection, context.names)
    with closing(read_batches(session, query, size=CHUNK)) as batches:
        for rows in batches:
            # Column by column, so that map() and zip() loop in C.
            columns = list(zip(*rows, strict=True))
            tally.rows += len(rows)
            if kind.summed is not None:
                # PostgreSQL adds up to a Decimal what is a sum already.
                tally.sum_minor += int(sum(columns.pop()))
            parts = [map(write, column) if write else column for write, column in zip(writers, columns, strict=True)]
            yield tally.add(pick("\r\n".join(map(",".join, zip(*parts, strict=True))) + "\r\n").encode())


def _build_picker(kind: ExportKind[Any]) -> Callable[[str], str]:
    """Return what makes the lines of the file of the lines of the parts that are read."""
    read = [column.name for part in kind.read_parts for column in part.columns]
    columns = [column.name for column in kind.columns]
    # An empty field that is alone in its line has to be quoted, or the line would be blank.
    if read == columns and len(columns) > 1:
        return str
    places = [read.index(name) for name in columns]

    def pick(lines: str) -> str:
        out = io.StringIO(newline="")
        rows = csv.reader(io.StringIO(lines, newline=""))
        csv.writer(out, lineterminator="\r\n").writerows([(row or [""])[place] for place in places] for row in rows)
        return out.getvalue()

    return pick


def _summed(kind: ExportKind[Any]) -> list[Any]:
    return [] if kind.summed is None else [kind.summed]
