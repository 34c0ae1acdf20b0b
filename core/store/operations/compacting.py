"""Rewriting a store, so that its files hold nothing that was erased: freed space keeps old bytes otherwise."""

import sqlalchemy as sa

from core.store.access import Store


def rewrite(store: Store) -> None:
    """Rewrite every table; on SQLite the file and its log, on PostgreSQL with an exclusive lock for each table."""
    store.engine.dispose()
    engine = sa.create_engine(store.writers.url, poolclass=sa.NullPool, module=store.engine.dialect.dbapi)
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        if store.is_sqlite:
            connection.exec_driver_sql("VACUUM")
            connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
        else:
            connection.exec_driver_sql("VACUUM FULL")
    engine.dispose()
