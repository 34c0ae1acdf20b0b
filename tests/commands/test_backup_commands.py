"""`coverdesk backup` and `coverdesk restore`, as an operator types them."""

from datetime import timedelta
from pathlib import Path

import pytest

from core import clock
from core.services.audit import log as audit
from core.services.audit import search
from core.services.catalogue import keys
from core.store.access import Scope, Store
from tests.commands.command_line import coverdesk

pytestmark = [pytest.mark.both_databases, pytest.mark.usefixtures("unused_store")]


def test_what_came_after_the_backup_is_gone_and_kept_aside(store: Store, tmp_path: Path) -> None:
    store.close()
    file = tmp_path / "night.tar"
    assert coverdesk("keys", "issue", "--distributor", "Swift Lenders", "--mode", "test").returncode == 0
    made = coverdesk("backup", str(file))
    assert (made.returncode, file.stat().st_mode & 0o777) == (0, 0o600), made.stderr
    assert "COVERDESK_SECRET_KEY" in made.stdout
    assert coverdesk("keys", "issue", "--distributor", "Came Later", "--mode", "test").returncode == 0
    restored = coverdesk("restore", str(file))
    assert restored.returncode == 0, restored.stderr
    assert "is kept as" in restored.stdout
    with store.reading(Scope.system()) as session:
        assert [key.distributor for key in keys.list_keys(session)] == ["Swift Lenders"]
        assert audit.find_broken_links(session) == []
        (notice,) = search.list_restores(session, since=clock.now() - timedelta(hours=1))
        assert notice.startswith(f"restored on {clock.format_day(clock.today())} by the command line, ")
    assert coverdesk("check").returncode == 0


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_restore_where_nothing_stood_keeps_nothing_aside(store: Store, tmp_path: Path) -> None:
    store.close()
    file, place = tmp_path / "night.tar", tmp_path / "elsewhere"
    assert coverdesk("backup", str(file)).returncode == 0
    place.mkdir()
    there = {"COVERDESK_DATABASE_URL": f"sqlite:///{place}/try.db", "COVERDESK_FILES_URL": str(place / "files")}
    restored = coverdesk("restore", str(file), **there)
    assert restored.returncode == 0, restored.stderr
    assert "is kept as" not in restored.stdout
    assert [path.name for path in place.iterdir() if "before" in path.name] == []


def test_what_is_no_backup_is_refused_in_words(store: Store, tmp_path: Path) -> None:
    store.close()
    file = tmp_path / "letter.txt"
    file.write_text("Dear all")
    refused = coverdesk("restore", str(file))
    assert refused.returncode == 1
    assert "FILE must be a whole backup" in refused.stderr


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_file_that_exists_is_overwritten_only_when_that_is_asked_for(store: Store, tmp_path: Path) -> None:
    store.close()
    file = tmp_path / "night.tar"
    file.write_text("the only good one")
    refused = coverdesk("backup", str(file))
    assert (refused.returncode, file.read_text()) == (1, "the only good one")
    assert "FILE exists already" in refused.stderr
    assert coverdesk("backup", str(file), "--overwrite").returncode == 0
    assert file.stat().st_size > 10_000
