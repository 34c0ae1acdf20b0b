"""`make help` names every target, and the loop of a day's work does what the one gate does."""

import re
import subprocess

import pytest

from core.settings import ROOT

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE)


def make(*words: str) -> str:
    """What make prints; with `-n` the commands that it would run."""
    command = ["make", "--no-print-directory", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_help_names_every_target_with_a_line_on_it() -> None:
    lines = dict(re.findall(r"^make ([a-z0-9-]+) +(\S.*)$", make("help"), re.MULTILINE))
    assert list(lines) == TARGETS
    assert len(set(lines.values())) == len(TARGETS) > 10


def test_every_target_is_run_whatever_files_there_are() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert sorted(phony.split()) == sorted(TARGETS)


@pytest.mark.parametrize("step", ["ruff format --check", "ruff check", "lint-imports", "bin/mypy", "pytest -n auto"])
def test_the_one_gate_leaves_nothing_out(step: str) -> None:
    assert step in make("-n", "check")


def test_the_tests_of_one_folder_are_run_alone() -> None:
    assert make("-n", "quick", "T=tests/api").strip().endswith("pytest -n 0 -q tests/api")
