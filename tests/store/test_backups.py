"""A backup brings back every row and file as it was; a broken one is found before anything changes."""

import threading
from datetime import UTC, datetime
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel

from core import clock
from core.desk import store_check
from core.errors import InvalidInput, StateForbids
from core.services.catalogue import shipped
from core.settings import settings
from core.store.access import Scope, Store, engine
from core.store.operations import backups, statistics
from core.store.operations.backups import Manifest
from core.store.schema import migrating, versions
from tests.conftest import Partner, make_partner
from tests.prefilled import demonstration_copy
from tests.services.uploads import upload

pytestmark = [pytest.mark.both_databases, pytest.mark.usefixtures("unused_store")]

SYSTEM = Scope.system()
UNTIL = datetime(2026, 11, 20, 14, 30, tzinfo=UTC)


def nothing(_: int) -> None:
    """Nobody watches."""


def rows(store: Store) -> dict[str, int]:
    with store.engine.connect() as connection:
        count = sa.select(sa.func.count())
        return {t.name: connection.execute(count.select_from(t)).scalar_one() for t in SQLModel.metadata.sorted_tables}


def restore(store: Store, source: Path) -> str | None:
    return backups.put_back(store, source, backups.read(source, progress=nothing), progress=nothing)


def faults(store: Store) -> list[str]:
    with store.reading(SYSTEM) as session:
        return store_check.list_faults(session)


@pytest.fixture
def business(store: Store) -> Store:
    demonstration_copy(store, purchases=60, seed=3, until=UNTIL)
    return store


@pytest.fixture
def made(business: Store, partner: Partner, tmp_path: Path) -> tuple[Path, Manifest]:
    upload(business, partner)
    target = tmp_path / "backup.tar"
    return target, backups.make(business, target, progress=nothing)


def test_everything_is_as_it_was(business: Store, made: tuple[Path, Manifest]) -> None:
    source, manifest = made
    before = rows(business)
    make_partner(business, "Came later")
    kept = restore(business, source)
    assert rows(business) == before
    assert manifest.files >= 1
    assert kept is not None
    assert faults(business) == []


def contents(store: Store) -> dict[str, list[str]]:
    """Every row of every table, its values as our code has them."""
    with store.engine.connect() as connection:
        return {
            table.name: sorted(repr(tuple(row)) for row in connection.execute(sa.select(table)))
            for table in SQLModel.metadata.sorted_tables
        }


@pytest.mark.parametrize("database", [pytest.param("postgres", marks=pytest.mark.postgres)])
def test_a_business_moves_from_sqlite_to_postgresql_by_its_backup(store: Store, tmp_path: Path) -> None:
    before = Store(f"sqlite:///{tmp_path / 'before.db'}")
    migrating.migrate(before)
    with before.writing(SYSTEM) as session:
        shipped.load_catalogue(session)
    demonstration_copy(before, purchases=60, seed=3, until=UNTIL)
    manifest = backups.make(before, tmp_path / "backup.tar", progress=nothing)
    assert backups.is_move(store, manifest)
    restore(store, tmp_path / "backup.tar")
    assert contents(store) == contents(before)
    assert faults(store) == []
    before.close()


def test_what_stood_there_before_is_kept_of_each_of_two_restores_in_one_second(
    store: Store, partner: Partner, tmp_path: Path
) -> None:
    assert partner
    backups.make(store, tmp_path / "backup.tar", progress=nothing)
    with clock.freeze(UNTIL):
        kept = [restore(store, tmp_path / "backup.tar") for _ in range(2)]
    first = f"{'store.db' if store.is_sqlite else 'public'}_before_20261120_143000"
    assert kept == [first, f"{first}_2"]
    for name in kept:
        there = tmp_path / str(name) if store.is_sqlite else None
        assert there.is_file() if there else sa.inspect(store.engine).has_table("purchase", schema=name)


@pytest.mark.parametrize("database", [pytest.param("postgres", marks=pytest.mark.postgres)])
def test_a_store_in_a_schema_of_its_own_is_restored_there(store: Store, tmp_path: Path) -> None:
    """The address may set the search path (docs/operations.md)."""
    with store.writers.begin() as connection:
        connection.exec_driver_sql('CREATE SCHEMA "Desk 2"')
    url = store.url.update_query_dict({"options": r'-c search_path="Desk\ 2"'})
    store.close()
    own = Store(url.render_as_string(hide_password=False))
    migrating.migrate(own)
    with own.writing(SYSTEM) as session:
        shipped.load_catalogue(session)
    make_partner(own, "In the schema")
    before = rows(own)
    backups.make(own, tmp_path / "backup.tar", progress=nothing)
    make_partner(own, "Came later")
    kept = restore(own, tmp_path / "backup.tar")
    assert rows(own) == before
    assert kept is not None
    assert kept.startswith("Desk 2_before_")
    assert sa.inspect(own.engine).has_table("purchase", schema=kept)
    assert faults(own) == []
    with own.writers.begin() as connection:
        connection.exec_driver_sql("DROP TRIGGER audit_entry_update ON audit_entry")
    statistics.refresh_grown(own)
    # The triggers of what is kept aside guard nothing here.
    assert "its trigger for update is gone" in "".join(faults(own))
    own.close()


def test_a_lost_machine_is_made_again_from_the_backup_alone(
    business: Store, made: tuple[Path, Manifest], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = rows(business)
    monkeypatch.setenv("COVERDESK_FILES_URL", str(tmp_path / "elsewhere"))
    if business.is_sqlite:
        monkeypatch.setenv("COVERDESK_DATABASE_URL", f"sqlite:///{tmp_path / 'new' / 'machine.db'}")
    business.close()
    settings.cache_clear()
    engine.store.cache_clear()
    new = engine.store()
    restore(new, made[0])
    assert rows(new) == before
    assert faults(new) == []


def test_sales_go_on_and_what_was_there_before_it_began_is_in_it(business: Store, tmp_path: Path) -> None:
    before, over = rows(business)["distributor"], threading.Event()

    def sell() -> None:
        for number in range(40):
            make_partner(business, f"Shop {number}")
            if over.is_set():
                return

    selling = threading.Thread(target=sell)
    selling.start()
    backups.make(business, tmp_path / "b.tar", progress=nothing)
    over.set()
    selling.join()
    restore(business, tmp_path / "b.tar")
    assert before <= rows(business)["distributor"] <= before + 40
    assert faults(business) == []


@pytest.mark.parametrize("harm", ["cut short", "one byte changed", "no backup at all"])
def test_a_broken_backup_is_refused_before_anything_changes(
    business: Store, made: tuple[Path, Manifest], harm: str
) -> None:
    source, before = made[0], rows(business)
    content = source.read_bytes()
    middle = len(content) // 2
    harmed = {
        "cut short": content[:middle],
        "one byte changed": content[:middle] + bytes([content[middle] ^ 1]) + content[middle + 1 :],
        "no backup at all": b"nothing of the kind",
    }
    source.write_bytes(harmed[harm])
    with pytest.raises(InvalidInput, match="whole backup"):
        restore(business, source)
    assert rows(business) == before


def test_another_secret_or_a_release_too_new_or_too_old_is_refused(
    business: Store, made: tuple[Path, Manifest], monkeypatch: pytest.MonkeyPatch
) -> None:
    manifest, before = made[1], rows(business)
    for field, value, words in (
        ("secret", "another", "COVERDESK_SECRET_KEY"),
        ("version", "9999", "newer release"),
        ("version", "0056", "bring it to release 0.2.0"),
        ("format", backups.FORMAT + 1, "newer release"),
        ("kind", "oracle", "COVERDESK_DATABASE_URL"),
    ):
        other = Manifest(**{**_fields(manifest), field: value})
        with pytest.raises(StateForbids, match=words):
            backups.put_back(business, made[0], other, progress=nothing)
    assert rows(business) == before


def _fields(manifest: Manifest) -> dict[str, object]:
    return {name: getattr(manifest, name) for name in Manifest.__dataclass_fields__}


def test_a_store_that_somebody_has_open_is_left_alone(business: Store, made: tuple[Path, Manifest]) -> None:
    before = rows(business)
    url = business.url.render_as_string(hide_password=False)
    other = Store(url)
    try:
        with other.engine.connect() as connection:
            connection.exec_driver_sql("SELECT 1 FROM distributor").fetchall()
            with pytest.raises(StateForbids, match="in use"):
                restore(business, made[0])
    finally:
        other.close()
    assert rows(business) == before


def test_an_empty_store_and_a_missing_folder_are_said_so(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="folder"):
        backups.make(store, tmp_path / "nowhere" / "b.tar", progress=nothing)
    empty = Store(f"sqlite:///{tmp_path / 'empty.db'}")
    assert versions.version(empty) is None
    with pytest.raises(StateForbids, match="coverdesk init"):
        backups.make(empty, tmp_path / "b.tar", progress=nothing)
    empty.close()
    assert not (tmp_path / "b.tar").exists()
