"""Check that a store was made under this server's secret, before anything is written to it.

A store keeps a keyed mark of its secret, which `migrate` writes when it makes the store.
"""

from typing import Final

import sqlalchemy as sa

from core import seal
from core.errors import StateForbids
from core.store.schema.admin import StoreSecret

_OTHER: Final = (
    "This store was made under another COVERDESK_SECRET_KEY: open it under that one,"
    " or name another store with COVERDESK_DATABASE_URL"
)


def mark() -> str:
    """Tells whether two servers have the same secret, and nothing of the secret."""
    return seal.keyed_hash("backup", "")


def refuse_other(connection: sa.Connection) -> None:
    """StateForbids when the store behind a connection was made under another secret; an empty store is anybody's."""
    has_mark = sa.inspect(connection).has_table(str(StoreSecret.__tablename__))
    if has_mark and _read_mark(connection) not in {None, mark()}:
        raise StateForbids(_OTHER)


def write_if_absent(connection: sa.Connection) -> None:
    """Give a store that `refuse_other` let pass its mark."""
    if _read_mark(connection) is None:
        connection.execute(sa.insert(StoreSecret).values(id=1, mark=mark()))


def _read_mark(connection: sa.Connection) -> str | None:
    return connection.execute(sa.select(sa.inspect(StoreSecret).local_table.c.mark)).scalar_one_or_none()
