"""SQL that SQLite and PostgreSQL write differently: days in Lagos, letters in any case, values as they are printed."""

from typing import Any

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

# Lagos is one hour ahead of UTC all year; SQLite knows no time zones, so the hour is written out there.
_SQLITE_LAGOS = "'+1 hour'"


class lagos_day(FunctionElement[Any]):  # noqa: N801 - reads as a function in a query
    """The Lagos day of an instant."""

    type = sa.Date()
    inherit_cache = True


class first_of_week(FunctionElement[Any]):  # noqa: N801
    """The Monday of a day's week."""

    type = sa.Date()
    inherit_cache = True


class first_of_month(FunctionElement[Any]):  # noqa: N801
    """The first day of a day's month."""

    type = sa.Date()
    inherit_cache = True


class printed_moment(FunctionElement[Any]):  # noqa: N801
    """An instant as the API writes it: 2026-11-20T07:08:00.000Z (contract P9)."""

    type = sa.String()
    inherit_cache = True


class printed_day(FunctionElement[Any]):  # noqa: N801
    """The Lagos day of an instant as text: 2026-11-20."""

    type = sa.String()
    inherit_cache = True


class printed_naira(FunctionElement[Any]):  # noqa: N801
    """Kobo, never negative, as text in naira with two places: 57500 -> 575.00."""

    type = sa.String()
    inherit_cache = True


class printed_id(FunctionElement[Any]):  # noqa: N801
    """An id as its 36 characters."""

    type = sa.String()
    inherit_cache = True


class holds_text(FunctionElement[Any]):  # noqa: N801
    """Whether a text matches a LIKE pattern (escaped with a backslash), whatever the case of ASCII letters.

    For long scans: the `lower` of every alphabet that names are compared by costs a call for each row on SQLite.
    """

    type = sa.Boolean()
    inherit_cache = True


class milliseconds_between(FunctionElement[Any]):  # noqa: N801
    """How long it is from the first of two instants to the second, in whole milliseconds."""

    type = sa.BigInteger()
    inherit_cache = True


class matches(FunctionElement[Any]):  # noqa: N801
    """Whether a text fits a LIKE pattern (escaped with a backslash) without regard to the case of ASCII letters."""

    type = sa.Boolean()
    inherit_cache = True


@compiles(matches, "sqlite")
def _(element: Any, compiler: Any, **kw: Any) -> str:
    # Its own LIKE folds ASCII; our lower(), which knows all letters, would be called for every row.
    text, pattern = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"({text} LIKE {pattern} ESCAPE '\\')"


@compiles(matches)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    text, pattern = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"({text} ILIKE {pattern} ESCAPE '\\')"


@compiles(holds_text, "sqlite")
def _(element: Any, compiler: Any, **kw: Any) -> str:
    text, pattern = (compiler.process(part, **kw) for part in element.clauses)
    return f"({text} LIKE {pattern} ESCAPE '\\')"


@compiles(holds_text)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    text, pattern = (compiler.process(part, **kw) for part in element.clauses)
    return f"({text} ILIKE {pattern} ESCAPE '\\')"


class ascii_folded(FunctionElement[Any]):  # noqa: N801
    """A text to be compared by LIKE with an ASCII pattern in lower case.

    SQLite's LIKE folds ASCII by itself, twenty times as fast as the `lower` that knows every letter.
    """

    type = sa.String()
    inherit_cache = True


@compiles(lagos_day, "sqlite")
def _(element: Any, compiler: Any, **kw: Any) -> str:
    return f"date({compiler.process(element.clauses, **kw)}, {_SQLITE_LAGOS})"


@compiles(lagos_day)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    return f"CAST(timezone('Africa/Lagos', {compiler.process(element.clauses, **kw)}) AS DATE)"


@compiles(first_of_week, "sqlite")
def _(element: Any, compiler: Any, **kw: Any) -> str:
    return f"date({compiler.process(element.clauses, **kw)}, 'weekday 0', '-6 days')"


@compiles(first_of_week)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    return f"CAST(date_trunc('week', {compiler.process(element.clauses, **kw)}) AS DATE)"


@compiles(first_of_month, "sqlite")
def _(element: Any, compiler: Any, **kw: Any) -> str:
    return f"date({compiler.process(element.clauses, **kw)}, 'start of month')"


@compiles(first_of_month)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    return f"CAST(date_trunc('month', {compiler.process(element.clauses, **kw)}) AS DATE)"


@compiles(printed_moment, "sqlite")
def _(element: Any, compiler: Any, **kw: Any) -> str:
    # As text it is kept in UTC with six decimals; cutting it is three times as fast as strftime.
    kept = compiler.process(element.clauses, **kw)
    return f"substr({kept}, 1, 10) || 'T' || substr({kept}, 12, 12) || 'Z'"


@compiles(printed_moment)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    instant = compiler.process(element.clauses, **kw)
    return f"""to_char(timezone('UTC', {instant}), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""


@compiles(printed_day, "sqlite")
def _(element: Any, compiler: Any, **kw: Any) -> str:
    return f"date({compiler.process(element.clauses, **kw)}, {_SQLITE_LAGOS})"


@compiles(printed_day)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    return f"to_char(timezone('Africa/Lagos', {compiler.process(element.clauses, **kw)}), 'YYYY-MM-DD')"


@compiles(printed_naira, "sqlite")
def _(element: Any, compiler: Any, **kw: Any) -> str:
    minor = compiler.process(element.clauses, **kw)
    return f"printf('%d.%02d', ({minor}) / 100, ({minor}) % 100)"


@compiles(printed_naira)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    minor = compiler.process(element.clauses, **kw)
    return f"concat(({minor}) / 100, '.', lpad(CAST(mod({minor}, 100) AS TEXT), 2, '0'))"


@compiles(printed_id, "sqlite")
def _(element: Any, compiler: Any, **kw: Any) -> str:
    key = compiler.process(element.clauses, **kw)
    return " || '-' || ".join(f"substr({key}, {start}, {size})" for start, size in _GROUPS)


@compiles(printed_id)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    return f"CAST({compiler.process(element.clauses, **kw)} AS TEXT)"


@compiles(ascii_folded, "sqlite")
def _(element: Any, compiler: Any, **kw: Any) -> str:
    return f"({compiler.process(element.clauses, **kw)})"


@compiles(ascii_folded)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    return f"lower({compiler.process(element.clauses, **kw)})"


@compiles(milliseconds_between, "sqlite")
def _(element: Any, compiler: Any, **kw: Any) -> str:
    first, second = (compiler.process(clause, **kw) for clause in element.clauses)
    # A Julian day is a float of milliseconds: their difference is off by less than a tenth of one.
    return f"CAST(ROUND((julianday({second}) - julianday({first})) * 86400000) AS INTEGER)"


@compiles(milliseconds_between)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    first, second = (compiler.process(clause, **kw) for clause in element.clauses)
    return f"CAST(ROUND(EXTRACT(EPOCH FROM ({second} - {first})) * 1000) AS BIGINT)"


_GROUPS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
