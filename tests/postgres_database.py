"""The PostgreSQL database of a process of tests, made once and emptied for each of them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
import sqlalchemy as sa

from core.store.access import Store


@contextmanager
def administering(url: sa.URL) -> Iterator[sa.Connection]:
    admin = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with admin.connect() as connection:
        yield connection


def administer(url: sa.URL, statement: str) -> None:
    with administering(url) as connection:
        connection.exec_driver_sql(statement)


class PostgresDatabase:
    """One database with the catalogue that every test of a worker finds as new.

    Making one takes 0.2 s, emptying one 0.01 s; only after a test that changed the schema a new one is made.
    """

    _NAME, _TEMPLATE = "coverdesk", "coverdesk_template"
    _SHAPE = (
        "SELECT (SELECT count(*) FROM pg_trigger WHERE NOT tgisinternal),"
        " (SELECT count(*) FROM pg_attribute JOIN pg_class ON pg_class.oid = attrelid"
        "  WHERE relnamespace = 'public'::regnamespace),"
        " (SELECT sum(oid::bigint) FROM pg_class WHERE relkind = 'i' AND relnamespace = 'public'::regnamespace),"
        " (SELECT md5(string_agg(definition, '' ORDER BY viewname)) FROM pg_views WHERE schemaname = 'public')"
    )

    def __init__(self, server: sa.URL, fill: Callable[[Store], None]) -> None:
        self._server = server
        self._kept: psycopg.Connection[Any] | None = None
        self.url = server.set(database=self._NAME)
        template = server.set(database=self._TEMPLATE)
        administer(server, f"CREATE DATABASE {self._TEMPLATE}")
        store = Store(template.render_as_string(hide_password=False))
        fill(store)
        store.close()
        with administering(template) as connection:
            tables = [name for (name,) in connection.exec_driver_sql(self._TABLES)]
            full = [t for t in tables if connection.exec_driver_sql(f"SELECT 1 FROM {t} LIMIT 1").first()]
            connection.exec_driver_sql("CREATE SCHEMA kept")
            for table in full:
                connection.exec_driver_sql(f"CREATE TABLE kept.{table} AS TABLE {table}")
            self._shape = tuple(connection.exec_driver_sql(self._SHAPE).one())
        self._as_new = "; ".join(
            [
                "SET session_replication_role = replica",  # past the append-only triggers
                *(f"DELETE FROM {table}" for table in tables),
                *(f"INSERT INTO {table} SELECT * FROM kept.{table}" for table in full),
            ]
        )
        administer(server, f"CREATE DATABASE {self._NAME} TEMPLATE {self._TEMPLATE}")

    _TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public'"
    _OTHERS = (
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid()"
    )

    def renew(self) -> None:
        """Make it as new, whatever the last test left."""
        try:
            same = self._renewed()
        except psycopg.OperationalError:  # the last test ended every connection
            self.release()
            same = self._renewed()
        if not same:
            self.release()
            administer(self._server, f"DROP DATABASE {self._NAME} WITH (FORCE)")
            administer(self._server, f"CREATE DATABASE {self._NAME} TEMPLATE {self._TEMPLATE}")

    def _renewed(self) -> bool:
        """Empty it; False when its schema is another than at first."""
        if self._kept is None:
            url = self.url.set(drivername="postgresql").render_as_string(hide_password=False)
            self._kept = psycopg.connect(url, autocommit=True)
        self._kept.execute(self._OTHERS)
        same = self._kept.execute(self._SHAPE).fetchone() == self._shape
        if same:
            self._kept.execute(self._as_new)
        return same

    def release(self) -> None:
        """Close the connection that is kept from test to test, as a new one takes five times as long to empty all."""
        if self._kept is not None:
            self._kept.close()
        self._kept = None
