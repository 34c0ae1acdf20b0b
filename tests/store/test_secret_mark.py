"""A store is opened under the secret that it was made with, or not at all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel

from core import seal, settings
from core.errors import StateForbids
from core.store.access import Store, engine
from core.store.operations import secret_mark
from core.store.schema import migrating
from tests.conftest import SECRET

pytestmark = pytest.mark.both_databases

OTHER = "another-0123456789-abcdefghijklmnopqrstuvwx"
ANOTHER = "made under another COVERDESK_SECRET_KEY"


def forget() -> None:
    for cached in (settings.settings, engine.store, seal._get_cipher, seal._hash_key):
        cached.cache_clear()


@pytest.fixture
def another_secret(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """From here on this process has another secret than the one that made the store."""
    monkeypatch.setenv("COVERDESK_SECRET_KEY", OTHER)
    forget()
    yield
    monkeypatch.setenv("COVERDESK_SECRET_KEY", SECRET)
    forget()


def rows(store: Store) -> dict[str, list[Any]]:
    with store.engine.connect() as connection:
        return {t.name: list(connection.execute(sa.select(t))) for t in SQLModel.metadata.sorted_tables}


def refuse_other(store: Store) -> None:
    with store.engine.connect() as connection:
        secret_mark.refuse_other(connection)


def test_a_new_store_keeps_the_mark_of_its_secret_and_not_the_secret(store: Store) -> None:
    ((_, mark),) = rows(store)["store_secret"]
    assert mark == secret_mark.mark()
    assert SECRET not in mark


@pytest.mark.usefixtures("another_secret")
def test_a_store_is_not_opened_under_another_secret(store: Store) -> None:
    before = rows(store)
    with pytest.raises(StateForbids, match=ANOTHER):
        engine.store()
    with pytest.raises(StateForbids, match=ANOTHER):
        migrating.migrate(store)
    assert rows(store) == before


@pytest.mark.usefixtures("another_secret")
def test_an_empty_database_is_anybodys_until_the_first_has_made_it(tmp_path: Path) -> None:
    new = Store(f"sqlite:///{tmp_path / 'new.db'}")
    refuse_other(new)
    migrating.migrate(new)
    refuse_other(new)
    new.close()
