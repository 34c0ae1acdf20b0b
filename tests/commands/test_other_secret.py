"""No command writes to a store that was made under another secret."""

import json
import os
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from core.settings import ROOT
from core.store.access import Store
from tests.commands.command_line import coverdesk
from tests.conftest import Partner
from tests.every_case import every_case

pytestmark = pytest.mark.both_databases

OTHER = "another-0123456789-abcdefghijklmnopqrstuvwx"
SOMEBODY = "01900000-0000-7000-8000-0000000000ff"
COMMANDS = [
    "init",
    "demo --purchases 20",
    "serve --port 0",
    "api --port 0",
    "worker",
    "check",
    "reseal",
    "keys issue --distributor Shop --mode test",
    "keys list",
    f"keys revoke {SOMEBODY}",
    "staff add ada@example.com --role admin",
    "staff disable ada@example.com",
    "staff set-up-link",
    f"claims move {SOMEBODY} --to Approved --by ada@example.com --version 1",
    "export purchases",
    "backup {folder}/night.tar",
]


def content(file: Path) -> list[str]:
    with sqlite3.connect(file) as connection:
        lines = list(connection.iterdump())
    connection.close()
    return lines


@pytest.fixture
def before(store: Store, partner: Partner, tmp_path: Path) -> list[str]:
    """The content of a store that nobody is to write to."""
    store.close()
    return content(tmp_path / "store.db")


@pytest.mark.parametrize("database", ["sqlite"])
@every_case("words", COMMANDS)
def test_a_store_of_another_secret_is_refused_before_anything_is_written(
    before: list[str], tmp_path: Path, words: str
) -> None:
    answer = coverdesk(
        *words.format(folder=tmp_path).split(),
        stdin="a long enough password\n",
        COVERDESK_SECRET_KEY=OTHER,
        COVERDESK_INSURER_A_URL="https://insurer.example",
    )
    assert answer.returncode == 1, answer.stdout
    assert "made under another COVERDESK_SECRET_KEY" in answer.stderr
    assert content(tmp_path / "store.db") == before
    assert not (tmp_path / "night.tar").exists()


@pytest.mark.parametrize("database", ["postgres"])
@pytest.mark.postgres
def test_a_database_of_another_secret_is_refused_as_a_file_is(store: Store, partner: Partner) -> None:
    store.close()
    for words in (("init",), ("keys", "issue", "--distributor", "Shop", "--mode", "test"), ("api", "--port", "0")):
        answer = coverdesk(*words, COVERDESK_SECRET_KEY=OTHER)
        assert answer.returncode == 1, words
        assert "made under another COVERDESK_SECRET_KEY" in answer.stderr


@pytest.mark.exhaustive
@pytest.mark.parametrize("database", ["sqlite"])
def test_the_log_of_a_server_says_why_it_does_not_open_the_store(store: Store) -> None:
    """`streamlit run app.py` checks nothing before; what uvicorn says of a failed start has no words of ours."""
    store.close()
    opening = "import app; app.telemetry.configure_logs()\nwith app._logging_refusals(): app.store()"
    environment = {**os.environ, "COVERDESK_SECRET_KEY": OTHER}
    answer = subprocess.run(
        [sys.executable, "-c", opening], cwd=ROOT, env=environment, check=False, capture_output=True, text=True
    )
    assert answer.returncode == 1
    line = json.loads(answer.stderr.splitlines()[-1])
    assert line["event"] == "the store cannot be opened"
    assert line["reason"].startswith("This store was made under another COVERDESK_SECRET_KEY: open it under that one")


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_backup_of_ours_may_replace_a_store_of_another_secret(store: Store, partner: Partner, tmp_path: Path) -> None:
    store.close()
    assert coverdesk("backup", str(tmp_path / "night.tar")).returncode == 0
    place = {"COVERDESK_DATABASE_URL": f"sqlite:///{tmp_path / 'machine.db'}"}
    assert coverdesk("init", COVERDESK_SECRET_KEY=OTHER, **place).returncode == 0
    restored = coverdesk("restore", str(tmp_path / "night.tar"), **place)
    assert restored.returncode == 0, restored.stderr
    assert coverdesk("check", **place).returncode == 0
