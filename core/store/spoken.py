"""Statements in the driver's own words; what goes wrong has SQLAlchemy's names.

A statement that is executed through SQLAlchemy, and a result that can be asked by name, cost several times what the
database takes for one small row. Hot reads, every write and the savepoints of a group go this way.
"""

from typing import Any, NamedTuple

import sqlalchemy as sa

Row = tuple[Any, ...]


class Said(NamedTuple):
    """The rows that a statement returned, as the driver gives them, and how many it touched."""

    rows: list[Row]
    touched: int


def say(connection: sa.Connection, sql: str, given: Any = ()) -> Said:
    """Execute a statement for one set of values, or for each of a list, in the transaction that is open."""
    cursor = connection.connection.cursor()
    driver: Any = connection.dialect.loaded_dbapi
    try:
        if isinstance(given, list):
            cursor.executemany(sql, given)
        else:
            cursor.execute(sql, given)
        return Said(list(cursor.fetchall()) if cursor.description else [], cursor.rowcount)
    except driver.Error as error:
        raise _named(connection, cursor, sql, error) from error
    finally:
        cursor.close()


def _named(connection: sa.Connection, cursor: Any, sql: str, error: Any) -> BaseException:
    driver: Any = connection.dialect.loaded_dbapi
    gone = connection.dialect.is_disconnect(error, connection.connection.dbapi_connection, cursor)
    if gone:
        connection.invalidate(error)
    told: BaseException = sa.exc.DBAPIError.instance(
        sql, None, error, driver.Error, hide_parameters=True, connection_invalidated=gone, dialect=connection.dialect
    )
    return told
