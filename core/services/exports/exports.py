"""What an export is: a kind declared once, and its rows as CSV in chunks, counted and hashed as they pass.

A kind is made of parts. A part is some neighbouring columns that arrive from the database as one value: the fewer
values cross over, the faster it is. Its lines are CSV (RFC 4180, UTF-8); every other format is made from those.
"""

import hashlib
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, NamedTuple, Protocol, TypeVar

from core.errors import NotAllowed
from core.services.address_reader import Address
from core.services.exports.columns import Column
from core.services.people.staff import Person
from core.services.records import mode
from core.services.sales.choices import Choices, Dimension, choices
from core.store.access import streaming
from core.store.access.scope import AnySelect, ScopedSession

CHUNK = 2_000


class Selected(Protocol):
    """A selection that an address carries."""

    def address(self) -> dict[str, list[str]]:
        """The parameters that say it again."""
        ...


S = TypeVar("S", bound=Selected)


@dataclass(slots=True)
class Tally:
    """What has passed so far: rows, their sum in kobo, and the hash of the lines; `file` where that is another."""

    rows: int = 0
    sum_minor: int = 0
    digest: Any = field(default_factory=hashlib.sha256)
    file: Any = None

    @property
    def sha256(self) -> str:
        """The hash of all lines that have passed, whatever format they end in."""
        found: str = self.digest.hexdigest()
        return found

    @property
    def file_sha256(self) -> str:
        """The hash of the bytes of the file."""
        found: str = (self.file or self.digest).hexdigest()
        return found

    def passed(self, chunk: bytes) -> bytes:
        """The chunk, once it is in the hash."""
        self.digest.update(chunk)
        return chunk


class Told(NamedTuple):
    """What the columns of an export may need beside their row."""

    names: Choices
    mode: str


Written = Callable[[Any], str]


@dataclass(frozen=True, kw_only=True, slots=True)
class Part:
    """Neighbouring columns: the value that they arrive as, and what makes CSV of it, if it is not CSV already."""

    columns: tuple[Column, ...]
    value: Any
    written: Callable[[Told], Written | None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Parameter:
    """One parameter of a selection: its name in the address, what it is called, and what its values name.

    `words` are what some values mean to people: "true" -> "took effect".
    """

    name: str
    title: str
    says: str = ""
    many: bool = False
    names: Dimension | Literal["staff"] | None = None
    words: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True, slots=True)
class ExportKind(Generic[S]):
    """One kind of export. `summed` is what the receipt adds up, in kobo, and `sum_title` what that is called."""

    name: str
    title: str
    noun: tuple[str, str]
    roles: tuple[str, ...]
    parameters: tuple[Parameter, ...]
    read: Callable[[Address], S]
    parts: tuple[Part, ...]
    rows: Callable[[Sequence[Any], S, Choices], AnySelect]
    count: Callable[[ScopedSession, S], int]
    summed: Any = None
    sum_title: str | None = None

    @property
    def columns(self) -> tuple[Column, ...]:
        """Every column, in order."""
        return tuple(column for part in self.parts for column in part.columns)

    def counted(self, rows: int) -> str:
        """So many rows in words: "1,204 purchases"."""
        return f"{rows:,} {self.noun[rows != 1]}"

    def refuse_stranger(self, person: Person) -> None:
        """NotAllowed for who may not see what this exports."""
        if not person.may(*self.roles):
            raise NotAllowed


def lines(session: ScopedSession, kind: ExportKind[S], wanted: S, tally: Tally) -> Generator[bytes]:
    """The rows of a selection as CSV, in chunks of some thousand lines, the heading first.

    The rows come from one statement; memory does not grow with their number. Amounts are naira with two places,
    columns in `_at` are UTC and those in `_on` days in Lagos.
    """
    told = Told(choices(session), mode(bool(session.scope.is_live)))
    writers = [part.written(told) for part in kind.parts]
    yield tally.passed(f"{','.join(column.name for column in kind.columns)}\r\n".encode())
    query = kind.rows([*(part.value for part in kind.parts), *_summed(kind)], wanted, told.names)
    with closing(streaming.batches(session, query, size=CHUNK)) as batches:
        for rows in batches:
            # Column by column, so that the interpreter's own loops do the work.
            columns = list(zip(*rows, strict=True))
            tally.rows += len(rows)
            if kind.summed is not None:
                tally.sum_minor += sum(columns.pop())
            parts = [map(write, column) if write else column for write, column in zip(writers, columns, strict=True)]
            yield tally.passed(("\r\n".join(map(",".join, zip(*parts, strict=True))) + "\r\n").encode())


def _summed(kind: ExportKind[Any]) -> list[Any]:
    return [] if kind.summed is None else [kind.summed]
