"""Every decision names a check that exists: a test, an import contract, a rule of the linter, a target, a command."""

import ast
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from core.cli import COMMANDS
from core.settings import ROOT
from tests.every_case import every_case

DECISIONS = sorted((ROOT / "docs" / "decisions").glob("*.md"))
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
CONTRACTS = {each["name"] for each in PROJECT["tool"]["importlinter"]["contracts"]}
MAKEFILE = (ROOT / "Makefile").read_text()
# Words in backticks that name no check.
WORDS = {"--require-hashes"}


@cache
def functions_in(path: str) -> set[str]:
    """The names of the test functions of a file; none when there is no such file."""
    if not (ROOT / path).is_file():
        return set()
    nodes = ast.parse((ROOT / path).read_text()).body
    return {node.name for node in nodes if isinstance(node, ast.FunctionDef) and node.name.startswith("test_")}


def exists(check: str) -> bool:
    """Return True if the repository has a check of that name."""
    path, _, function = check.partition("::")
    if path.startswith("tests/"):
        return function in functions_in(path)
    if check.startswith("make "):
        return bool(re.search(rf"^{re.escape(check[5:])}:", MAKEFILE, re.MULTILINE))
    if check.startswith("coverdesk "):
        return check.split()[1] in COMMANDS
    if re.fullmatch(r"[A-Z]{1,4}\d{3,4}", check):
        lint = PROJECT["tool"]["ruff"]["lint"]
        return check.startswith(tuple(lint["select"])) and check not in lint["ignore"]
    return check in CONTRACTS


def named(text: str) -> list[str]:
    """The checks that a decision names, in backticks below its heading "Check"."""
    _, _, section = text.partition("\n## Check\n")
    return [name for name in re.findall(r"`([^`]+)`", section) if name not in WORDS]


def missing(text: str) -> Iterator[str]:
    """Yield the faults of the checks of a decision, in words."""
    checks = named(text)
    if not any(check.startswith("tests/") or check in CONTRACTS for check in checks):
        yield "it names neither a test nor an import contract"
    yield from (f"there is no {check}" for check in checks if not exists(check))


@every_case("path", DECISIONS, ids=lambda path: path.stem)
def test_a_decision_names_checks_that_exist(path: Path) -> None:
    assert list(missing(path.read_text())) == []


@every_case(
    "check",
    [
        "tests/test_money.py",
        "tests/test_money.py::test_that_nobody_wrote",
        "tests/test_lock.py::test_lock",
        "The doors are kept apart",
        "make peace",
        "coverdesk dance",
        "S999999",
        "ZZ100",
    ],
)
def test_a_planted_name_of_no_check_is_found(check: str) -> None:
    text = f"# 9. Planted\n\n## Check\n\n`tests/test_money.py::test_halves_round_up` and `{check}`.\n"
    assert list(missing(text)) == [f"there is no {check}"]


def test_a_decision_without_a_check_is_found() -> None:
    assert list(missing("# 9. Planted\n\n## Check\n\nSomebody looks at it. `make check`.\n"))
    assert list(missing("# 9. Planted\n\n## Consequences\n"))
