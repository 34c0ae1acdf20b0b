"""Whoever was erased stays erased after an older backup is restored, by the list beside it."""

import json
import shutil
from contextlib import closing
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.commands import backups
from core.covers.credit_life import CREDIT_LIFE
from core.errors import StateForbids
from core.services.compliance import erasures, remembering, requests
from core.services.people import staff
from core.settings import settings
from core.store.access import Scope, Store
from core.store.schema.tables import Customer, Policy, Staff
from tests.commands.command_line import coverdesk
from tests.conftest import Partner
from tests.services.selling import sell
from tests.ui import conftest as ui
from tests.ui.conftest import Screen, confirm, press, texts

screen = ui.screen

pytestmark = pytest.mark.usefixtures("unused_store")

SYSTEM = Scope.system()
LIST = "coverdesk-erasures.json"
EMAIL = "seyi.quist@people.example"


def prepare(store: Store) -> UUID:
    """Prepare the erasure of the person, for whom a request asked; dayo may carry it out."""
    with store.writing(SYSTEM) as session:
        session.add_all(Staff(email=f"{name}@d.example", name=name, roles=["compliance"]) for name in ("cora", "dayo"))
        session.flush()
        cora = staff.get_by_email(session, "cora@d.example")
        typed = {"kind": "erasure", "name": "Seyi Quist", "email": EMAIL, "details": "Please"}
        request_id = requests.register(session, typed, by=cora)
        requests.note_identity(session, request_id, method="Identity document seen", version=1, by=cora)
        session.execute(sa.update(Policy).values(cancelled_at=clock.now()))
        return erasures.prepare_for_request(session, request_id, reason="Asked for it in writing", early=True, by=cora)


def erase(store: Store) -> UUID:
    """Erase the person by a request and in two hands."""
    erasure = prepare(store)
    with store.writing(SYSTEM) as session:
        dayo = staff.get_by_email(session, "dayo@d.example")
        erasures.remove_files(erasures.carry_out(session, erasure, by=dayo))
    return erasure


def emails(store: Store) -> list[str]:
    with store.reading(SYSTEM) as session:
        return list(session.execute(sa.select(col(Customer.email))).scalars())


def test_a_restored_backup_is_erased_again_by_the_list_beside_it_and_by_the_store_that_stood_there(
    store: Store, partner: Partner, tmp_path: Path
) -> None:
    sell(store, partner, CREDIT_LIFE, email=EMAIL, last_name="Quist")
    store.close()
    old, new = tmp_path / "old.tar", tmp_path / "new.tar"
    assert coverdesk("backup", str(old)).returncode == 0
    listed = json.loads((tmp_path / LIST).read_text())
    assert listed["erasures"] == [], "nobody was erased yet"
    erasure = erase(store)
    store.close()
    restored = coverdesk("restore", str(old))
    assert "1 person who was erased after this backup is erased again" in restored.stdout, restored.stderr
    (email,) = emails(store)
    assert email.endswith("@erased.invalid")
    store.close()
    made = coverdesk("backup", str(new))
    beside = tmp_path / LIST
    assert "lists who was erased" in made.stdout, made.stderr
    (entry,) = json.loads(beside.read_text())["erasures"]
    assert (entry["id"], beside.stat().st_mode & 0o777) == (str(erasure), 0o600)
    assert EMAIL not in beside.read_text()
    assert b"quist" not in new.read_bytes().lower()


def test_a_restore_that_was_broken_off_before_it_erased_again_is_a_fault(
    store: Store, partner: Partner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sell(store, partner, CREDIT_LIFE, email=EMAIL, last_name="Quist")
    store.close()
    for name in ("older.tar", "old.tar"):
        assert coverdesk("backup", str(tmp_path / name)).returncode == 0
    erase(store)
    with store.reading(SYSTEM) as session:
        remembering.keep_list(session)
    store.close()
    fault = "Of the list of erasures 1 person is still in this store: run `coverdesk restore FILE` again"
    assert fault not in coverdesk("status").stdout

    def break_off(_: object) -> None:
        raise StateForbids("Broken off")

    with monkeypatch.context() as patch:
        patch.setattr(backups, "_erase_again", break_off)
        assert coverdesk("restore", str(tmp_path / "old.tar")).returncode == 1
    assert fault in coverdesk("status").stdout
    # What stands there is kept by the second.
    later = clock.now() + timedelta(seconds=1)
    with clock.freeze(later):
        assert "1 person who was erased" in coverdesk("restore", str(tmp_path / "old.tar")).stdout
    assert fault not in coverdesk("status").stdout


@pytest.mark.both_databases
def test_on_another_machine_the_list_is_read_that_lies_beside_the_backup_or_is_named(
    store: Store, partner: Partner, tmp_path: Path
) -> None:
    sell(store, partner, CREDIT_LIFE, email=EMAIL, last_name="Quist")
    store.close()
    old, listed = tmp_path / "old.tar", tmp_path / LIST
    assert coverdesk("backup", str(old)).returncode == 0
    with store.reading(SYSTEM) as session:
        (customer,) = session.execute(sa.select(col(Customer.id))).scalars()
    store.close()
    entry = {"id": str(UUID(int=7)), "number": "ER-2026-0001", "record_class": "person", "customers": [str(customer)]}
    listed.write_text(json.dumps([{**entry, "decided_at": "2026-11-01T10:00:00.000Z", "sha256": "a" * 64}]))
    again = coverdesk("restore", str(old))
    assert "1 person" in again.stdout, again.stderr
    assert [email.partition("@")[2] for email in emails(store)] == ["erased.invalid"]
    store.close()
    assert coverdesk("check").returncode == 0
    refused = coverdesk("restore", str(old), "--erasures", str(old))
    assert (refused.returncode, "list of erasures" in refused.stderr) == (1, True)


def erased_on_screen(store: Store, screen: Screen) -> str:
    """Erase the person by a request, carried out on the screen; what the screen says then."""
    erasure = prepare(store)
    with store.reading(SYSTEM) as session:
        dayo = staff.get_by_email(session, "dayo@d.example")
    at = screen(signed_in=dayo, path="compliance/retention.py#erasure", id=str(erasure))
    press(at, "Carry it out")
    confirm(at)
    return texts(at)


def lose_store(store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Restore on another machine: the store that stood there is gone."""
    store.close()
    monkeypatch.setenv("COVERDESK_DATABASE_URL", f"sqlite:///{tmp_path / 'another.db'}")
    monkeypatch.setenv("COVERDESK_FILES_URL", str(tmp_path / "another-files"))


def emails_of_other(tmp_path: Path) -> list[str]:
    with closing(Store(f"sqlite:///{tmp_path / 'another.db'}")) as other:
        return emails(other)


@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["sqlite"])
@pytest.mark.parametrize("has_folder", [False, True])
def test_who_is_erased_after_the_newest_backup_stays_erased_when_it_is_restored_elsewhere(
    store: Store,
    partner: Partner,
    screen: Screen,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    *,
    has_folder: bool,
) -> None:
    if has_folder:
        monkeypatch.setenv("COVERDESK_ERASURES_FOLDER", str(tmp_path / "erasures"))
        settings.cache_clear()
    sell(store, partner, CREDIT_LIFE, email=EMAIL, last_name="Quist")
    store.close()
    backup = tmp_path / "night.tar"
    assert coverdesk("backup", str(backup)).returncode == 0
    page_text = erased_on_screen(store, screen)
    kept = (tmp_path / "erasures" if has_folder else tmp_path) / LIST
    assert "has it for a backup that is restored" in page_text
    assert len(json.loads(kept.read_text())["erasures"]) == 1
    lose_store(store, tmp_path, monkeypatch)
    restored = coverdesk("restore", str(backup))
    assert "1 person who was erased after this backup is erased again" in restored.stdout, restored.stderr
    assert "comes back" not in restored.stderr
    assert [email.partition("@")[2] for email in emails_of_other(tmp_path)] == ["erased.invalid"]


@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["sqlite"])
def test_an_erasure_that_no_list_has_is_told_on_the_screen_by_status_and_by_the_restore(
    store: Store, partner: Partner, screen: Screen, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sell(store, partner, CREDIT_LIFE, email=EMAIL, last_name="Quist")
    store.close()
    folder = tmp_path / "moved away"
    folder.mkdir()
    assert coverdesk("backup", str(folder / "night.tar")).returncode == 0
    (folder / "night.tar").rename(tmp_path / "night.tar")
    shutil.rmtree(folder)
    page_text = erased_on_screen(store, screen)
    assert "until the next one is made, a backup that is restored brings the person back" in page_text
    store.close()
    assert "no list outside the store has 1 of 1 erasures" in coverdesk("status").stdout.lower()
    lose_store(store, tmp_path, monkeypatch)
    restored = coverdesk("restore", str(tmp_path / "night.tar"))
    assert (
        "Whoever was erased since this backup comes back, as no coverdesk-erasures.json is at hand" in restored.stderr
    )
    assert emails_of_other(tmp_path) == [EMAIL]


@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["sqlite"])
def test_a_restore_by_a_person_asks_for_the_list(
    store: Store, partner: Partner, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sell(store, partner, CREDIT_LIFE, email=EMAIL, last_name="Quist")
    store.close()
    backup, kept = tmp_path / "night.tar", tmp_path / "kept.json"
    assert coverdesk("backup", str(backup)).returncode == 0
    erase(store)
    store.close()
    assert coverdesk("backup", str(tmp_path / "next.tar")).returncode == 0
    (tmp_path / LIST).rename(kept)
    lose_store(store, tmp_path, monkeypatch)
    restored = coverdesk("restore", str(backup), typed=f"{kept}\n")
    assert "Where is the newest one" in restored.stdout
    assert "1 person who was erased after this backup is erased again" in restored.stdout


@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["sqlite"])
def test_a_list_that_is_older_than_the_backup_is_no_proof(store: Store, partner: Partner, tmp_path: Path) -> None:
    store.close()
    (tmp_path / LIST).write_text(json.dumps({"written_at": "2026-01-01T00:00:00.000Z", "erasures": []}))
    backup = tmp_path / "elsewhere" / "night.tar"
    backup.parent.mkdir()
    assert coverdesk("backup", str(backup)).returncode == 0
    (tmp_path / LIST).replace(backup.parent / LIST)
    restored = coverdesk("restore", str(backup))
    assert "every list of erasures at hand is older than this backup" in restored.stderr
