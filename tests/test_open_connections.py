"""No connection stays open behind a test: a session ends with its block, and a test that leaves one is named."""

import pytest
import sqlalchemy as sa

from core.store.access import Scope, Store
from tests.open_connections import every_connection_closed


def test_a_session_is_over_with_its_block(store: Store) -> None:
    for block in (store.reading, store.writing, store.reading_replica):
        with block(Scope.system()) as session:
            session.execute(sa.text("SELECT 1"))
        with pytest.raises(sa.exc.InvalidRequestError, match="closed"):
            session.execute(sa.text("SELECT 1"))


@pytest.mark.postgres
def test_a_test_that_leaves_a_connection_open_fails(postgres: sa.URL) -> None:
    engine = sa.create_engine(postgres, poolclass=sa.NullPool)
    with pytest.raises(pytest.fail.Exception, match="left a connection open"), every_connection_closed():
        connection = engine.connect()
    assert connection.connection.dbapi_connection.closed


@pytest.mark.postgres
def test_a_closed_store_leaves_none(postgres: sa.URL) -> None:
    with every_connection_closed():
        store = Store(postgres.render_as_string(hide_password=False))
        with store.reading(Scope.system()) as session:
            session.execute(sa.text("SELECT 1"))
        store.close()
