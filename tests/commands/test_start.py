"""A command loads what it needs and asks the store few questions before it answers."""

import json
import subprocess
import sys

import pytest

from core.store.access import Store

# Run as the console script does; at the end the libraries that were loaded and what SQLite was asked.
_RUN = """
import json, sys
from core.cli import main

asked = []

def note(connection, _record):
    connection.set_trace_callback(asked.append)

if sys.argv[1] != "--help":
    import sqlalchemy
    sqlalchemy.event.listen(sqlalchemy.Engine, "connect", note)
try:
    main()
except SystemExit as done:
    assert done.code in {None, 0, 1}, done.code  # 1 is a status that needs a person
print(json.dumps([sorted({name.partition(".")[0] for name in sys.modules}), asked]))
"""
# Screens, files and the server: what a command that reads a list does without.
_HEAVY = {
    "streamlit",
    "pandas",
    "plotly",
    "numpy",
    "pyarrow",
    "fastapi",
    "starlette",
    "uvicorn",
    "fpdf",
    "PIL",
    "alembic",
}


def start(*words: str) -> tuple[set[str], list[str]]:
    """The libraries that a command loads, and the statements that it sends."""
    done = subprocess.run([sys.executable, "-c", _RUN, *words], check=True, capture_output=True, text=True)
    libraries, asked = json.loads(done.stdout.splitlines()[-1])
    return set(libraries), [each for each in asked if not each.startswith(("PRAGMA", "BEGIN", "COMMIT", "ROLLBACK"))]


def test_help_loads_neither_the_store_nor_the_settings() -> None:
    libraries, asked = start("--help")
    assert libraries.isdisjoint(_HEAVY | {"sqlalchemy", "sqlmodel", "pydantic", "rich"})
    assert asked == []


@pytest.mark.parametrize("store", ["sqlite"], indirect=True)
@pytest.mark.parametrize(("words", "most"), [(("keys", "list"), 2), (("status",), 14)])
def test_a_command_loads_no_library_of_the_screens_and_asks_little(
    store: Store, words: tuple[str, ...], most: int
) -> None:
    libraries, asked = start(*words)
    assert libraries.isdisjoint(_HEAVY)
    assert 0 < len(asked) <= most, asked


def test_init_and_the_servers_load_nothing_that_invents_a_business() -> None:
    loaded = "import json, sys, core.commands.init, core.commands.serve; print(json.dumps(list(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", loaded], check=True, capture_output=True, text=True)
    inventing = ("core.demo.portfolio", "core.demo.chunks", "core.services.finance.past", "core.services.closing")
    assert [name for name in json.loads(done.stdout) if name.startswith(inventing)] == []
