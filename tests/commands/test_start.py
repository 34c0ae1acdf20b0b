"""A command loads what it needs and asks the store few questions before it answers."""

import json
import subprocess
import sys

import pytest
from sqlmodel import SQLModel

from core.settings import ROOT
from core.store.access import Store
from core.store.access.scope import owned_entities
from core.store.schema import tables
from tests.every_case import every_case

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
ours = sorted(name for name in sys.modules if name.startswith("core."))
print(json.dumps([sorted({name.partition(".")[0] for name in sys.modules}), asked, ours]))
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
    "pwdlib",
    "phonenumbers",
    "pycountry",
    "httpcore",
}


def start(*words: str) -> tuple[set[str], list[str], list[str]]:
    """The libraries that a command loads, the statements that it sends, and the modules of ours."""
    done = subprocess.run([sys.executable, "-c", _RUN, *words], check=True, capture_output=True, text=True)
    libraries, statements, ours = json.loads(done.stdout.splitlines()[-1])
    statements = [each for each in statements if not each.startswith(("PRAGMA", "BEGIN", "COMMIT", "ROLLBACK"))]
    return set(libraries), statements, ours


def test_help_loads_neither_the_store_nor_the_settings() -> None:
    libraries, statements, _ = start("--help")
    assert libraries.isdisjoint(_HEAVY | {"sqlalchemy", "sqlmodel", "pydantic", "rich"})
    assert statements == []


@pytest.mark.parametrize("database", ["sqlite"])
@every_case(
    ("words", "most", "declared"),
    [
        (("keys", "list"), 4, {"admin", "parties"}),
        (("status",), 15, {"admin", "parties", "compliance", "events", "sales"}),
    ],
)
def test_a_command_loads_no_library_of_the_screens_and_asks_little(
    store: Store, words: tuple[str, ...], most: int, declared: set[str]
) -> None:
    libraries, statements, ours = start(*words)
    assert libraries.isdisjoint(_HEAVY)
    assert 0 < len(statements) <= most, statements
    assert len(ours) <= 60, ours
    modules = {name.removeprefix("core.store.schema.") for name in ours if name.startswith("core.store.schema.")}
    assert modules - {"columns", "tables", "versions"} == declared


@pytest.mark.parametrize("database", ["sqlite"])
def test_an_export_loads_its_own_list_and_none_of_the_others(store: Store) -> None:
    libraries, statements, ours = start("export", "purchases", "--from", "2031-01-01", "--to", "2031-01-02")
    # Phone numbers and countries are what its filter validates.
    assert libraries.isdisjoint(_HEAVY - {"phonenumbers", "pycountry"})
    assert 0 < len(statements) <= 24, statements
    others = ("claims", "finance", "mail", "policies", "renewals", "files", "people.credentials", "people.staff")
    unneeded = ("core.covers.insurers", *(f"core.services.{name}" for name in others))
    assert [name for name in ours if name.startswith(unneeded)] == []


# Imported one after the other in one process, as each takes a second by itself: what one of them does without has not
# been loaded by those before it either.
_GROWING = {
    "a command": "core.cli, core.commands.keys",
    "a worker": "core.commands.insurers",
    "servers and exports": "core.commands.serve, core.api.app, core.commands.export",
    "init": "core.commands.init",
}


@pytest.fixture(scope="module")
def loaded() -> dict[str, list[str]]:
    """The modules that are loaded after each of these imports."""
    steps = "".join(f"import {modules}; told[{who!r}] = list(sys.modules)\n" for who, modules in _GROWING.items())
    script = f"import json, sys; told = {{}}\n{steps}print(json.dumps(told))"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, check=True, capture_output=True, text=True)
    found: dict[str, list[str]] = json.loads(done.stdout)
    return found


def test_commands_and_servers_start_without_what_they_do_not_need_yet(loaded: dict[str, list[str]]) -> None:
    later = {"fpdf", "numpy", "pandas", "plotly", "xlsxwriter", "alembic"}
    of_others = {"fastapi", "pikepdf", "httpx", "structlog", "email_validator"}
    assert (later | of_others).intersection(loaded["a command"]) == set()
    assert (later | {"streamlit"}).intersection(loaded["servers and exports"]) == set()


def test_init_and_the_servers_load_nothing_that_invents_a_business(loaded: dict[str, list[str]]) -> None:
    inventing = (
        "core.demo.portfolio",
        "core.demo.papers.finance",
        "core.desk.closing",
    )
    assert [name for name in loaded["init"] if name.startswith(inventing)] == []


def test_servers_worker_and_exports_load_no_parser_of_pdf_files_before_one_comes(loaded: dict[str, list[str]]) -> None:
    modules = loaded["servers and exports"]
    assert "core.services.files.files" in modules, "who inspects files was loaded"
    assert [name for name in modules if name.startswith(("pikepdf", "fpdf", "core.services.files.pdf_"))] == []


def test_a_worker_loads_neither_what_serves_http_nor_the_figures_of_claims(loaded: dict[str, list[str]]) -> None:
    unneeded = ("core.api", "core.services.claims.reports", "starlette", "fastapi", "pandas")
    assert [name for name in loaded["a worker"] if name.startswith(unneeded)] == []


# A session of one distributor, in a process that has declared one module of tables so far, writes a row by its entity.
_FRESH = """
import sys
from uuid import UUID
import sqlalchemy as sa
from core import clock
from core.store.access import Scope, writing
from core.store.access.scope import scope_filters
from core.store.schema.tables import ProductBlock

assert "core.store.schema.claims" not in sys.modules
with writing(Scope.system()) as session:
    session.add(ProductBlock(distributor_id=UUID(int=1), product_id=UUID(int=2), created_at=clock.now()))
    try:
        session.flush()
    except sa.exc.IntegrityError as error:
        print("FOREIGN KEY" in str(error))
    else:
        print("written")
    raise SystemExit(len(scope_filters(Scope.staff(is_live=True))[0].criteria))
"""


@pytest.mark.parametrize("database", ["sqlite"])
@pytest.mark.usefixtures("store")
def test_every_table_is_limited_and_referred_to_whatever_was_declared_before() -> None:
    done = subprocess.run([sys.executable, "-c", _FRESH], check=False, capture_output=True, text=True)
    assert (done.stdout, done.returncode) == ("True\n", len(owned_entities())), done.stderr


def test_every_table_has_its_name_in_the_list() -> None:
    declared = {mapper.class_ for mapper in SQLModel._sa_registry.mappers}
    assert [entity for entity in declared if getattr(tables, entity.__name__, None) is not entity] == []
