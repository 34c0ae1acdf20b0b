"""Rewriting a store, so that its files hold nothing that was erased: freed space keeps old bytes otherwise."""

from contextlib import closing
from typing import Any

import sqlalchemy as sa

from core.store.access import Store


def rewrite(store: Store) -> None:
    """Rewrite every table: on SQLite the file and its log, on PostgreSQL each table under an exclusive lock.

    Connections of its own: neither works inside a transaction, and those of a store always are in one.
    """
    store.close()
    if store.is_sqlite:
        driver: Any = store.engine.dialect.loaded_dbapi
        with closing(driver.connect(str(store.url.database), isolation_level=None)) as connection:
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        return
    engine = sa.create_engine(store.url, poolclass=sa.NullPool, isolation_level="AUTOCOMMIT")
    with engine.connect() as postgres:
        postgres.exec_driver_sql("VACUUM FULL")
