"""A store is opened under the secret that it was made with, or not at all."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from alembic import command
from sqlmodel import SQLModel

from core import seal
from core import settings as settings_module
from core.errors import StateForbids
from core.services.audit import log as audit
from core.store.access import Scope, Store, engine
from core.store.operations import secret_mark
from core.store.schema import migrating
from tests.conftest import SECRET, Partner

pytestmark = pytest.mark.both_databases

OTHER = "another-0123456789-abcdefghijklmnopqrstuvwx"
ANOTHER = "made under another COVERDESK_SECRET_KEY"


def forget() -> None:
    for cached in (settings_module.settings, engine.store, seal._get_cipher, seal._hash_key):
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


def without_its_mark(store: Store) -> None:
    """As an earlier release left it."""
    with store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0005")


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


@pytest.mark.parametrize("holds", ["the catalogue alone", "an audit log"])
def test_a_store_of_an_earlier_release_is_judged_by_what_it_holds(
    store: Store, request: pytest.FixtureRequest, holds: str
) -> None:
    if holds == "an audit log":
        request.getfixturevalue("partner")
    without_its_mark(store)
    refuse_other(store)
    request.getfixturevalue("another_secret")
    with pytest.raises(StateForbids, match=ANOTHER):
        refuse_other(store)
    with pytest.raises(StateForbids, match=ANOTHER):
        migrating.migrate(store)


def test_a_store_of_an_earlier_release_gets_its_mark_when_it_is_migrated(store: Store, partner: Partner) -> None:
    without_its_mark(store)
    migrating.migrate(store)
    assert rows(store)["store_secret"] == [(1, secret_mark.mark())]


def test_a_write_under_a_wrong_secret_does_not_make_the_store_that_ones(
    store: Store, partner: Partner, request: pytest.FixtureRequest
) -> None:
    request.getfixturevalue("another_secret")
    with store.writing(Scope.system()) as session:
        for number in range(40):
            audit.write(session, actor="tests", action="tried", subject=f"thing {number}")
    without_its_mark(store)
    with pytest.raises(StateForbids, match=ANOTHER):
        refuse_other(store)


@pytest.mark.usefixtures("another_secret")
def test_an_empty_database_is_anybodys_until_the_first_has_made_it(tmp_path: Path) -> None:
    new = Store(f"sqlite:///{tmp_path / 'new.db'}")
    refuse_other(new)
    migrating.migrate(new)
    refuse_other(new)
    new.close()
