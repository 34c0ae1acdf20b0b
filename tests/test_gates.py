"""Each gate refuses what it is there for: offenders are planted in a copy of the source, and found in what it says."""

import ast
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.every_case import every_case

PROJECT = ROOT / "pyproject.toml"
CONTRACTS = [each["name"] for each in tomllib.loads(PROJECT.read_text())["tool"]["importlinter"]["contracts"]]
BIN = Path(sys.executable).parent
DOORS = [
    "core.api.planted",
    "core.ui.planted",
    "core.commands.planted",
    "core.worker",
    "core.cli",
    "pages.sales.planted",
]
INSIDE = ["core.services.planted", "core.desk.planted"]
ROOMS = sorted(f"core.store.access.{path.stem}" for path in (ROOT / "core/store/access").glob("[a-z]*.py"))
NO_DOORS = [
    "core.store.schema.tables",
    "core.store.schema.claims",
    "core.store.schema.sales",
    "core.store.expressions",
    *ROOMS,
    "sqlalchemy",
    "sqlmodel",
]
AT_DOORS = "Doors import no table and write no SQL"
AT_STORE = "Database access is imported through its door only"
IN_SERVICES = "Services import services of lower layers only"
IN_DESK = "Modules of the desk import modules of lower layers only"
IN_LISTS = "Lists stand on filters and columns, and these on windows and pages"
# A folder of the services, and one of a layer above it or beside it.
UPWARDS = [
    ("audit", "people"),
    ("people", "customers"),
    ("customers", "files"),
    ("files", "catalogue"),
    ("catalogue", "sales"),
    ("sales", "policies"),
    ("policies", "claims"),
    ("claims", "selling"),
    ("selling", "insurers"),
    ("insurers", "renewals"),
    ("events", "compliance"),
    ("events", "renewals"),
    ("renewals", "events"),
]
# A module of the desk, and one of a layer above it or beside it.
UPWARDS_IN_DESK = [
    ("exported_lists", "saved_view_mail"),
    ("finder", "backlog"),
    ("status", "system"),
    ("customer", "sale"),
    ("store_check", "closing"),
]
# The contract, who imports, and what: each of them alone has to be refused.
OFFENDERS = [
    *((AT_DOORS, door, room) for door in DOORS for room in NO_DOORS),
    ("Doors over services over store over covers over kernel", "core.services.planted", "core.api.app"),
    ("Doors over services over store over covers over kernel", "core.services.planted", "core.desk.examples"),
    ("Doors over services over store over covers over kernel", "core.desk.planted", "core.demo.accounts"),
    ("Doors over services over store over covers over kernel", "core.desk.planted", "core.dispatch.lines"),
    *((IN_SERVICES, f"core.services.{low}.planted", f"core.services.{high}") for low, high in UPWARDS),
    *((AT_STORE, inside, room) for inside in INSIDE for room in ROOMS),
    *((AT_STORE, door, "core.store.access.engine") for door in [*DOORS, "core.demo.planted"]),
    (IN_SERVICES, "core.services.lists.paging", "core.services.customers"),
    (IN_LISTS, "core.services.lists.windows", "core.services.lists.listing"),
    *((IN_DESK, f"core.desk.{low}", f"core.desk.{high}") for low, high in UPWARDS_IN_DESK),
    ("Only the menu knows the screens", "core.ui.planted", "pages.sales.purchases"),
    ("Insurers are independent of each other", "core.covers.insurers.insurer_z", "core.covers.insurers.insurer_a"),
    ("Insurers are independent of each other", "core.covers.insurers.insurer_a", "core.covers.insurers.insurer_g"),
    ("Covers and kernel know no framework", "core.covers.planted", "sqlmodel"),
    *(("Only the API knows FastAPI", inside, "fastapi") for inside in INSIDE),
    *(("Only screens know Streamlit", inside, "streamlit") for inside in INSIDE),
    *(("Only the insurers' room and the API's replay know httpx", inside, "httpx") for inside in INSIDE),
]


@pytest.fixture(scope="session")
def refusals(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """Return the message of each broken contract about a copy of the source with every offender in it."""
    copy = tmp_path_factory.mktemp("planted")
    for name in ("core", "pages"):
        shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    for _, importer, imported in OFFENDERS:
        path = copy / f"{importer.replace('.', '/')}.py"
        with path.open("a") as file:
            file.write(f"\nimport {imported}\n")
    words = ["--config", str(PROJECT), "--no-cache", "--no-logo"]
    completed = subprocess.run([BIN / "lint-imports", *words], cwd=copy, capture_output=True, text=True, check=False)
    assert completed.returncode == 1, completed.stdout + completed.stderr
    _, *parts = re.split(r"^(.+)\n-+\n", completed.stdout.split("Broken contracts", 1)[1], flags=re.MULTILINE)
    return dict(zip(parts[::2], parts[1::2], strict=True))


@every_case(("contract", "importer", "imported"), OFFENDERS)
def test_a_planted_import_is_refused(refusals: dict[str, str], contract: str, importer: str, imported: str) -> None:
    assert re.search(rf"{re.escape(importer)} -> {re.escape(imported)} \(l\.", refusals[contract])


def test_every_contract_has_an_offender_that_it_refuses() -> None:
    assert {contract for contract, _, _ in OFFENDERS} == set(CONTRACTS)


def test_the_composition_of_the_one_process_imports_no_table_and_no_sql() -> None:
    # The linter of imports reads packages only.
    imported = [
        name
        for node in ast.walk(ast.parse((ROOT / "app.py").read_text()))
        for name in (
            [each.name for each in node.names]
            if isinstance(node, ast.Import)
            else [f"{node.module}.{each.name}" for each in node.names]
            if isinstance(node, ast.ImportFrom)
            else []
        )
    ]
    assert [name for name in imported if name.startswith(("sqlalchemy", "sqlmodel"))] == []
    assert {name for name in imported if name.startswith("core.store")} <= {"core.store.access.store"}


def test_types_are_checked_in_the_core_the_screens_and_the_one_process(tmp_path: Path) -> None:
    for name in ("core/planted.py", "pages/claims/queue.py", "app.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(
            "def wrong(number: int) -> str:\n    return number\n\n\ndef untyped(x):\n    ...\n"
        )
    (tmp_path / "core" / "__init__.py").touch()
    completed = subprocess.run(
        [BIN / "mypy", "--config-file", PROJECT, "--cache-dir", tmp_path / "cache"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    for name in ("core/planted.py", "pages/claims/queue.py", "app.py"):
        assert f"{name}:2: error: Incompatible return value" in completed.stdout, completed.stdout + completed.stderr
        assert f"{name}:5: error: Function is missing a type annotation" in completed.stdout


@every_case(
    "where",
    ["core/store/planted.py", "core/services/planted.py", "core/desk/planted.py", "pages/sales/planted.py", "app.py"],
)
def test_sql_that_is_built_of_text_is_refused(where: str) -> None:
    completed = subprocess.run(
        [BIN / "ruff", "check", "--config", PROJECT, "--stdin-filename", ROOT / where, "-"],
        input='def found(name: str) -> str:\n    return f"SELECT id FROM purchase WHERE name = {name}"\n',
        capture_output=True,
        text=True,
        check=False,
    )
    assert "S608" in completed.stdout, completed.stdout + completed.stderr


def test_a_test_that_wants_to_be_tried_again_is_refused(tmp_path: Path) -> None:
    (tmp_path / "test_planted.py").write_text(
        "import pytest\n@pytest.mark.flaky(reruns=1)\ndef test_planted() -> None: ...\n"
    )
    words = ["-c", str(PROJECT), "--rootdir", str(tmp_path), "-p", "no:rerunfailures", "-p", "no:cacheprovider"]
    completed = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "-n", "0", "test_planted.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert "'flaky' not found in `markers`" in completed.stdout + completed.stderr
    tools = tomllib.loads(PROJECT.read_text())["dependency-groups"]["dev"]
    assert [tool for tool in tools if re.match(r"pytest-(rerun|retry)|flaky", tool)] == []


@every_case(
    ("code", "text"),
    [
        ("ANN401", "from typing import Any\n\n\ndef read(value: Any) -> str:\n    return str(value)\n"),
        ("SLF001", "def read(page: object) -> object:\n    return page._rows\n"),
    ],
)
def test_an_untyped_value_and_a_private_name_of_another_class_are_refused(code: str, text: str) -> None:
    completed = subprocess.run(
        [BIN / "ruff", "check", "--config", PROJECT, "--stdin-filename", ROOT / "core/ui/kit/planted.py", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    assert code in completed.stdout, completed.stdout + completed.stderr
