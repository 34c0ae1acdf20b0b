"""Files that a crash left without a row: named by `coverdesk check`, and no fault."""

import os
from pathlib import Path

import pytest

from core import clock, ids
from core.store.access import Store
from core.store.operations import blob_storage
from tests.commands.command_line import coverdesk
from tests.conftest import Partner
from tests.services.uploads import upload


@pytest.mark.parametrize("database", ["sqlite"])
def test_old_files_without_a_row_are_named_and_left_alone(store: Store, partner: Partner) -> None:
    kept = blob_storage.path_of(upload(store, partner))
    stray, draft, young = (_put(suffix) for suffix in ("", ".arriving", ""))
    store.close()
    for path in (kept, stray, draft):
        _age(path)
    check = coverdesk("check")
    assert (check.returncode, check.stdout.strip()) == (0, "✓ Everything holds.")
    assert "2 files that no record names: harmless" in check.stderr
    assert all(path.exists() for path in (kept, stray, draft, young))


def _put(suffix: str) -> Path:
    code = ids.new_code()
    blob_storage.put(code, b"half a letter")
    path = blob_storage.path_of(code)
    return path.rename(path.with_name(path.name + suffix))


def _age(path: Path) -> None:
    before = clock.now().timestamp() - 2 * 60 * 60
    os.utime(path, (before, before))
