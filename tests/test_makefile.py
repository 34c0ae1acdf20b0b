"""The make targets: setup reports its progress and failures, help names every target, check leaves nothing out."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.every_case import every_case

MAKEFILE = (ROOT / "Makefile").read_text()
TARGETS = re.findall(r"^([a-z0-9-]+):", MAKEFILE, re.MULTILINE)


def make(*words: str) -> str:
    """Return the output of make; with `-n` the commands that it would run."""
    command = ["make", "--no-print-directory", *words]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def test_help_names_every_target_with_a_line_on_it() -> None:
    lines = dict(re.findall(r"^make ([a-z0-9-]+) +(\S.*)$", make("help"), re.MULTILINE))
    assert list(lines) == TARGETS
    assert len(set(lines.values())) == len(TARGETS) > 10


def test_every_target_is_run_whatever_files_there_are() -> None:
    (phony,) = re.findall(r"^\.PHONY: (.*)$", MAKEFILE, re.MULTILINE)
    assert sorted(phony.split()) == sorted(TARGETS)


@every_case("step", ["ruff format --check", "ruff check", "lint-imports", "bin/mypy", "pytest -n "])
def test_the_one_gate_leaves_nothing_out(step: str) -> None:
    assert step in make("-n", "check")


def test_the_tests_of_one_folder_are_run_alone() -> None:
    folder = f'pytest -q -n {os.cpu_count()} --dist worksteal -m "not long" tests/api'
    assert make("-n", "quick", "T=tests/api").strip().endswith(folder)
    assert make("-n", "quick", "T=tests/api/test_fuzz.py").strip().endswith("pytest -q -n 0 tests/api/test_fuzz.py")


@pytest.mark.exhaustive
def test_setting_up_says_what_it_does_and_without_a_network_ends_in_one_sentence(tmp_path: Path) -> None:
    for name in ("Makefile", "pyproject.toml", "requirements.lock"):
        shutil.copy(ROOT / name, tmp_path)
    nowhere = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(tmp_path),
        "PIP_CONFIG_FILE": os.devnull,
        "PIP_INDEX_URL": "http://127.0.0.1:9/simple",
        "PIP_RETRIES": "0",
        "UV_INDEX_URL": "http://127.0.0.1:9/simple",
        "UV_CACHE_DIR": str(tmp_path / "cache"),
        "UV_HTTP_RETRIES": "0",
    }
    words = ["make", "--no-print-directory", "setup", f"PY={sys.executable}"]
    done = subprocess.run(words, cwd=tmp_path, env=nowhere, capture_output=True, text=True, check=False)
    lines = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert done.returncode != 0
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("Setting up needs a network: the package index cannot be reached")
    assert done.stdout.splitlines()[:2] == [
        "Setting up Coverdesk in .venv; packages that this machine does not have yet are downloaded:",
        "  1. an environment of its own for Python",
    ]
    assert not (tmp_path / ".venv" / ".done").exists()
