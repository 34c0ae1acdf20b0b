"""The columns of a list as a CSV file has them: their values in SQL, and what writes them into a line.

Neighbours of one group are read as one value, because fewer values a row are faster: what the database prints stands
in the line as it is, texts are checked together, and words and names are remembered.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from typing import Any
from uuid import UUID

import sqlalchemy as sa
from sqlalchemy.sql.elements import Grouping
from sqlalchemy.sql.functions import coalesce

from core import seal
from core.services.lists.columns import EMPTY_TEXT, Column, Context, Derived, concatenate
from core.services.lists.spreadsheets import INSTANT, TEXT, WORD, ColumnType, build_plain_pattern, csv_field

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
