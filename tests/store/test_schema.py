"""Migrations lead from an empty store to exactly the tables that the code declares."""

import pytest
import sqlalchemy as sa

from core.store.access import Store
from core.store.schema import migrating, versions

pytestmark = pytest.mark.both_databases


def test_migrated_store_and_models_agree(store: Store) -> None:
    assert versions.version(store) == versions.newest()
    assert migrating.differences(store) == []


def test_migrating_again_changes_nothing(store: Store) -> None:
    migrating.migrate(store)
    assert migrating.differences(store) == []


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE product_version SET price_minor = 1",
        "DELETE FROM product_version",
    ],
)
def test_rates_that_were_sold_cannot_be_rewritten(store: Store, statement: str) -> None:
    with store.writers.connect() as connection, pytest.raises(sa.exc.DBAPIError, match="keeps what it holds"):
        connection.execute(sa.text(statement))
