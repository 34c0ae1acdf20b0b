"""SQL expressions that SQLite and PostgreSQL spell differently: Lagos days, LIKE, printed values; and sums."""

from collections.abc import Iterable
from functools import reduce
from typing import Any, ClassVar, Final

import sqlalchemy as sa
from sqlalchemy.ext.compiler import compiles
from sqlalchemy.sql.functions import FunctionElement

# No mail server has a name that ends so (RFC 2606): borrowers of loan books without an address, and erased people.
NO_DOMAIN: Final = ".invalid"
_GROUPS = ((1, 8), (9, 4), (13, 4), (17, 4), (21, 12))


class _Spelled(FunctionElement[Any]):
    """An SQL expression with one template per database; `{0}` is its first argument."""

    sqlite: ClassVar[str]
    postgresql: ClassVar[str]

    def __init_subclass__(cls, **options: Any) -> None:
        # Each class has to say for itself that its name and arguments tell its statements apart.
        cls.inherit_cache = True
        super().__init_subclass__(**options)


@compiles(_Spelled)
def _spell(element: _Spelled, compiler: Any, **options: Any) -> str:
    spelling = element.sqlite if compiler.dialect.name == "sqlite" else element.postgresql
    return spelling.format(*(compiler.process(clause, **options) for clause in element.clauses))


class lagos_day(_Spelled):  # noqa: N801 - these read as functions in a query
    """The Lagos day of an instant."""

    type = sa.Date()
    # Lagos is one hour ahead of UTC all year; SQLite knows no time zones.
    sqlite = "date({0}, '+1 hour')"
    postgresql = "CAST(timezone('Africa/Lagos', {0}) AS DATE)"


class utc_day(_Spelled):  # noqa: N801
    """The UTC day of an instant."""

    type = sa.Date()
    sqlite = "date({0})"
    postgresql = "CAST(timezone('UTC', {0}) AS DATE)"


class first_of_week(_Spelled):  # noqa: N801
    """The Monday of a day's week."""

    type = sa.Date()
    sqlite = "date({0}, 'weekday 0', '-6 days')"
    postgresql = "CAST(date_trunc('week', {0}) AS DATE)"


class first_of_month(_Spelled):  # noqa: N801
    """The first day of a day's month."""

    type = sa.Date()
    sqlite = "date({0}, 'start of month')"
    postgresql = "CAST(date_trunc('month', {0}) AS DATE)"


class print_instant(_Spelled):  # noqa: N801
    """An instant as the API writes it: 2026-11-20T07:08:00.000Z (contract P9)."""

    type = sa.String()
    # As text it is kept in UTC with six decimals; cutting it is three times as fast as strftime.
    sqlite = "substr({0}, 1, 10) || 'T' || substr({0}, 12, 12) || 'Z'"
    postgresql = """to_char(timezone('UTC', {0}), 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')"""


class print_day(_Spelled):  # noqa: N801
    """The Lagos day of an instant as text: 2026-11-20."""

    type = sa.String()
    # Only in the last hour of a UTC day is it the next day in Lagos already; cutting text is much faster than counting.
    sqlite = "CASE WHEN substr({0}, 12, 2) = '23' THEN date({0}, '+1 hour') ELSE substr({0}, 1, 10) END"
    postgresql = "to_char(timezone('Africa/Lagos', {0}), 'YYYY-MM-DD')"


class print_moment(_Spelled):  # noqa: N801
    """An instant as the clock in Lagos showed it: 2026-11-20 08:08."""

    type = sa.String()
    sqlite = "strftime('%Y-%m-%d %H:%M', {0}, '+1 hour')"
    postgresql = "to_char(timezone('Africa/Lagos', {0}), 'YYYY-MM-DD HH24:MI')"


class print_naira(_Spelled):  # noqa: N801
    """Kobo, never negative, as text in naira with two places: 57500 -> 575.00."""

    type = sa.String()
    sqlite = "printf('%d.%02d', ({0}) / 100, ({0}) % 100)"
    # A sum of bigint is numeric there, whose division keeps decimals.
    postgresql = "concat(CAST({0} AS bigint) / 100, '.', lpad(CAST(mod(CAST({0} AS bigint), 100) AS TEXT), 2, '0'))"


class print_signed_naira(_Spelled):  # noqa: N801
    """Kobo of either sign as text in naira with two places: -57500 -> -575.00."""

    type = sa.String()
    sqlite = "CASE WHEN ({0}) < 0 THEN '-' ELSE '' END || printf('%d.%02d', abs({0}) / 100, abs({0}) % 100)"
    postgresql = (
        "concat(CASE WHEN ({0}) < 0 THEN '-' ELSE '' END, abs(CAST({0} AS bigint)) / 100, '.',"
        " lpad(CAST(mod(abs(CAST({0} AS bigint)), 100) AS TEXT), 2, '0'))"
    )


class print_id(_Spelled):  # noqa: N801
    """An id as its 36 characters."""

    type = sa.String()
    sqlite = " || '-' || ".join(f"substr({{0}}, {start}, {size})" for start, size in _GROUPS)
    postgresql = "CAST({0} AS TEXT)"


class last_digits(_Spelled):  # noqa: N801
    """The last eight digits of an id, by which people know a claim."""

    type = sa.String()
    sqlite = "substr({0}, -8)"
    postgresql = "right(CAST({0} AS TEXT), 8)"


class phone_key(_Spelled):  # noqa: N801
    """The digits of a phone number with its country code, whatever marks are between them (`fields.Phone`)."""

    type = sa.String()
    # A mark stands for the beginning, where alone a nought is that of a number as it is dialled at home.
    _DIGITS = reduce("replace({}, '{}', '')".format, " -().+", "{0}")
    sqlite = postgresql = f"replace(replace('^' || {_DIGITS}, '^0', '^234'), '^', '')"


class join_lines(_Spelled):  # noqa: N801
    """Three texts, each on a line of its own; the last one may be missing. The same words as in an index on them."""

    type = sa.String()
    sqlite = "({0} || char(10) || {1} || char(10) || coalesce({2}, ''))"
    postgresql = "({0} || chr(10) || {1} || chr(10) || coalesce({2}, ''))"


class milliseconds_between(_Spelled):  # noqa: N801
    """Whole milliseconds from the first of two instants to the second."""

    type = sa.BigInteger()
    # A Julian day is a float of milliseconds: their difference is off by less than a tenth of one.
    sqlite = "CAST(ROUND((julianday({1}) - julianday({0})) * 86400000) AS INTEGER)"
    postgresql = "CAST(ROUND(EXTRACT(EPOCH FROM ({1} - {0})) * 1000) AS BIGINT)"


class _among(_Spelled):  # noqa: N801
    type = sa.Boolean()
    sqlite = "{0} IN (SELECT value FROM json_each({1}))"
    # As an array, whose look-up in an index needs no estimate of its length.
    postgresql = "{0} = ANY (ARRAY(SELECT json_array_elements_text({1})))"

    def self_group(self, against: Any = None) -> Any:
        """Return it as it is: SQLAlchemy would compare a boolean of SQLite with 1, and no index be looked into."""
        return self


def is_among(column: Any, texts: Iterable[str]) -> sa.ColumnElement[bool]:
    """Return the condition that a column is one of many texts, which are sent as one."""
    return _among(column, sa.bindparam(None, list(texts), type_=sa.JSON(), unique=True))


class matches(_Spelled):  # noqa: N801
    """LIKE (escaped with a backslash), ignoring the case of ASCII letters."""

    type = sa.Boolean()
    # SQLite's own LIKE folds ASCII; our lower(), which knows all letters, would be called for every row.
    sqlite = r"({0} LIKE {1} ESCAPE '\')"
    postgresql = r"({0} ILIKE {1} ESCAPE '\')"


def sum_of(column: Any) -> Any:
    """Return the sum of a column, 0 where there is no row."""
    return sa.func.coalesce(sa.func.sum(column), 0)


def select_differences(kept: Any, counted: Any, *names: str) -> list[sa.Select[*tuple[Any, ...]]]:
    """Build the queries of these columns of the rows that only the first, and only the second of two queries has."""
    differing = (missing.subquery() for missing in (sa.except_(kept, counted), sa.except_(counted, kept)))
    return [sa.select(*(rows.c[name] for name in names)).distinct() for rows in differing]


def print_address(email: Any) -> Any:
    """Print an e-mail address; nothing where it stands for one that nobody has given."""
    return sa.case((email.like(f"%{NO_DOMAIN}"), sa.literal_column("''", sa.String)), else_=email)
