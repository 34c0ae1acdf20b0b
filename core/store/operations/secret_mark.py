"""Check that a store was made under this server's secret, before anything is written to it.

A store keeps a keyed mark of its secret. One of an earlier release has none yet and is judged by what it holds:
the first entry of its audit log or, before there is any, what is sealed of an insurer.
"""

from typing import Final

import sqlalchemy as sa
from cryptography.fernet import InvalidToken

from core import seal
from core.errors import StateForbids
from core.store import audit_chain
from core.store.schema.admin import AuditEntry, StoreSecret
from core.store.schema.parties import Provider

_LINKED: Final = ("created_at", "chain", "position", "actor", "action", "subject", "before", "after")
_OTHER: Final = (
    "This store was made under another COVERDESK_SECRET_KEY: open it under that one,"
    " or name another store with COVERDESK_DATABASE_URL"
)


def mark() -> str:
    """Tells whether two servers have the same secret, and nothing of the secret."""
    return seal.keyed_hash("backup", "")


def refuse_other(connection: sa.Connection) -> None:
    """StateForbids when the store behind a connection was made under another secret; an empty store is anybody's."""
    tables = set(sa.inspect(connection).get_table_names())
    stored = _read_mark(connection) if StoreSecret.__tablename__ in tables else None
    is_unmarked = stored is None and AuditEntry.__tablename__ in tables
    if stored not in {None, mark()} or (is_unmarked and not _has_own_content(connection)):
        raise StateForbids(_OTHER)


def write_if_absent(connection: sa.Connection) -> None:
    """Give a store that `refuse_other` let pass its mark."""
    if _read_mark(connection) is None:
        connection.execute(sa.insert(StoreSecret).values(id=1, mark=mark()))


def _read_mark(connection: sa.Connection) -> str | None:
    return connection.execute(sa.select(sa.inspect(StoreSecret).local_table.c.mark)).scalar_one_or_none()


def _has_own_content(connection: sa.Connection) -> bool:
    table = sa.inspect(AuditEntry).local_table
    facts = (table.c.hash, *(table.c[name] for name in _LINKED))
    # The oldest decides: a write under a wrong secret comes after it.
    first = sa.select(*facts).where(table.c.position == 1).order_by(table.c.created_at, table.c.chain).limit(1)
    entry = connection.execute(first).first()
    if entry is not None:
        return bool(entry.hash == audit_chain.link("", *entry[1:]))
    return _can_unseal(connection)


def _can_unseal(connection: sa.Connection) -> bool:
    sealed = sa.inspect(Provider).local_table.c.sealed
    try:
        seal.unseal(connection.execute(sa.select(sealed).where(sealed.is_not(None)).limit(1)).scalar_one_or_none())
    except InvalidToken:
        return False
    return True
