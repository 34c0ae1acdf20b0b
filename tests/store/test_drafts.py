"""Drafts of a killed command are cleared away; a draft that somebody works on never is."""

from pathlib import Path

import pytest

from core.store.operations import local_files

pytestmark = pytest.mark.both_databases


def test_only_drafts_that_nobody_holds_are_cleared(tmp_path: Path) -> None:
    left, working, beginning = (tmp_path / f".draft-{name}" for name in ("left", "working", "beginning"))
    for folder in (left, working, beginning):
        folder.mkdir()
    for folder in (left, working):
        (folder / "half").write_text("half")
    file = tmp_path / ".draft-file"
    file.write_text("half")
    other = tmp_path / "draft"
    other.write_text("whole")
    with local_files.locked(working):
        local_files.clear(tmp_path, ".draft-*")
        assert sorted(tmp_path.iterdir()) == sorted([working, beginning, other])
    local_files.clear(tmp_path, ".draft-*")
    assert sorted(tmp_path.iterdir()) == sorted([beginning, other])
