"""SQL that SQLite and PostgreSQL write differently: days in Lagos, and values as they are printed."""

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


class printed_naira(FunctionElement[Any]):  # noqa: N801
    """Kobo, never negative, as text in naira with two places: 57500 -> 575.00."""

    type = sa.String()
    inherit_cache = True


class printed_id(FunctionElement[Any]):  # noqa: N801
    """An id as its 36 characters."""

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
    return f"strftime('%Y-%m-%dT%H:%M:%fZ', {compiler.process(element.clauses, **kw)})"


@compiles(printed_moment)
def _(element: Any, compiler: Any, **kw: Any) -> str:
    instant = compiler.process(element.clauses, **kw)
    return f"""to_char(timezone('UTC', {instant}), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""


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


_GROUPS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))
