"""Commands that are killed in the middle of their work leave a whole store, a whole file, or none."""

import hashlib
import shutil
import time
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core.errors import InvalidInput
from core.store.access import Scope
from core.store.operations import backups
from core.store.schema.tables import ExportReceipt
from tests.crash.conftest import Room
from tests.crash.serving import Process, kill, loaded
from tests.crash.sizes import CRASHES, ON_POSTGRES, ON_SQLITE

pytestmark = pytest.mark.both_databases

ROUNDS = CRASHES
_PATIENCE = 60
Begun = Callable[[], bool]


def killed(room: Room, *words: str, begun: Begun, lasts: float) -> bool:
    """Kill a command at a random moment after it began its work; true when it came to its end before."""
    process = _working(room, words, begun)
    time.sleep(room.random.uniform(0, lasts))
    ended = process.poll() is not None
    kill(process)
    return ended


def whole(room: Room, *words: str, begun: Begun = lambda: True) -> float:
    """Run a command to its end; the seconds that its work took."""
    process = _working(room, words, begun)
    began = time.monotonic()
    assert process.wait(_PATIENCE) == 0, _log(room).read_text()[-2000:]
    return time.monotonic() - began


def _working(room: Room, words: Sequence[str], begun: Begun) -> Process:
    process = loaded(*words, environment=room.environment, log=_log(room))
    until = time.monotonic() + _PATIENCE
    while not begun() and process.poll() is None:
        assert time.monotonic() < until, "the command does not begin"
        time.sleep(0.001)
    return process


def _log(room: Room) -> Path:
    return room.folder / "command.log"


@ON_POSTGRES
def test_migration_that_was_killed_is_begun_again(room: Room) -> None:
    ended = 0
    room.empty()
    lasts = whole(room, "init", begun=room.is_in_use)
    for _ in range(ROUNDS):
        room.empty()
        ended += killed(room, "init", begun=room.is_in_use, lasts=lasts)
        whole(room, "init")
        whole(room, "check")
    print(
        f"\n{room.kind}: {ROUNDS} kills of `coverdesk init` ({ended} came too late): each time the next one finished it"
    )


@pytest.mark.slow
@ON_POSTGRES
def test_stores_that_are_made_by_two_at_once_are_made_once(room: Room) -> None:
    log = _log(room)
    for _ in range(ROUNDS):
        room.empty()
        both = [loaded("init", environment=room.environment, log=log) for _ in range(2)]
        assert [process.wait(_PATIENCE) for process in both] == [0, 0], log.read_text()[-2000:]
    whole(room, "check")


@pytest.mark.slow
@ON_SQLITE
def test_backup_that_was_killed_is_not_taken_for_one(business: Room) -> None:
    room, ended, half = business, 0, 0
    file = room.folder / "night.tar"

    def begun() -> bool:
        return bool(drafts(room, ".coverdesk-backup-*"))

    lasts = whole(room, "backup", str(file), "--overwrite", begun=begun)
    for _ in range(ROUNDS):
        remove(file, *drafts(room, ".coverdesk-backup-*"))
        ended += killed(room, "backup", str(file), "--overwrite", begun=begun, lasts=lasts)
        if file.exists():
            backups.read(file, progress=lambda _: None)
        for draft in drafts(room, ".coverdesk-backup-*/whole.tar"):
            half += not is_backup(draft)
    whole(room, "backup", str(file), "--overwrite")
    assert left(room, ".coverdesk-backup-*") == []
    backups.read(file, progress=lambda _: None)
    print(
        f"\n{room.kind}: {ROUNDS} kills of `coverdesk backup` ({ended} came too late, {half} half drafts),"
        " none under its name"
    )


@ON_SQLITE
def test_export_that_was_killed_has_neither_file_nor_receipt(business: Room) -> None:
    room, ended, files = business, 0, set[str]()
    file = room.folder / "purchases.csv"

    def begun() -> bool:
        return bool(drafts(room, f".{file.name}.*"))

    lasts = whole(room, "export", "purchases", "--out", str(file), begun=begun)
    for _ in range(ROUNDS):
        remove(file, *drafts(room, f".{file.name}.*"))
        ended += killed(room, "export", "purchases", "--out", str(file), begun=begun, lasts=lasts)
        if file.exists():
            files.add(hashlib.sha256(file.read_bytes()).hexdigest())
    whole(room, "export", "purchases", "--out", str(file))
    assert left(room, f".{file.name}.*") == []
    with room.opened() as store, store.reading(Scope.system()) as session:
        receipts = session.execute(sa.select(col(ExportReceipt.sha256), col(ExportReceipt.rows))).all()
    assert files <= {receipt.sha256 for receipt in receipts}
    assert len(set(receipts)) == 1
    print(
        f"\n{room.kind}: {ROUNDS} kills of `coverdesk export` ({ended} came too late):"
        " every file whole and with its receipt"
    )


def drafts(room: Room, pattern: str) -> list[Path]:
    return list(room.folder.glob(pattern))


def left(room: Room, pattern: str) -> list[Path]:
    """The drafts that hold anything."""
    return [path for path in drafts(room, pattern) if (any(path.iterdir()) if path.is_dir() else path.stat().st_size)]


def remove(*paths: Path) -> None:
    """So that the next to be seen is a new one; what the last round leaves is there for the next command."""
    for path in paths:
        shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)


def is_backup(path: Path) -> bool:
    try:
        backups.read(path, progress=lambda _: None)
    except (InvalidInput, FileNotFoundError):
        return False
    return True
