"""A test that changes its process is refused by name, and the next one finds the process as it was."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.every_case import every_case

LEFT = {
    "umask": "os.umask(0o177)",
    "environment": "os.environ['COVERDESK_LEFT'] = 'behind'",
    "folder": "os.chdir('/')",
    "signals": "signal.signal(signal.SIGTERM, signal.SIG_IGN)",
    "locale": "locale.setlocale(locale.LC_ALL, 'C')",
    "logging": "logging.disable(logging.CRITICAL)",
    "structlog": "structlog.configure(wrapper_class=structlog.BoundLogger)",
    "writes_only_at": "statements.write_only_at('0057')",
}


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Return pytest's report of one test for each kind of change, and after each of one that changes nothing."""
    folder = tmp_path_factory.mktemp("changing")
    lines = ["import locale, logging, os, signal, structlog", "from core.store.access import statements"]
    for kind, change in LEFT.items():
        lines += [f"def test_{kind}(): {change}", f"def test_after_{kind}(): pass"]
    (folder / "test_changing.py").write_text("\n".join(lines))
    words = ["-p", "tests.process_state", "-p", "no:randomly", "-p", "no:cacheprovider", "-n", "0", "-rA"]
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", *words, "--rootdir", ".", "test_changing.py"],
        cwd=folder,
        env={
            "PATH": os.defpath,
            "COLUMNS": "999",
            "PYTHONPATH": str(ROOT),
            "LC_ALL": "C.UTF-8",
            "HOME": str(Path.home()),
        },
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.stdout + ended.stderr


@every_case("kind", LEFT)
def test_a_test_that_leaves_the_process_changed_fails_and_spares_the_next(report: str, kind: str) -> None:
    assert f"ERROR test_changing.py::test_{kind} - Failed: this test left the process changed: {{'{kind}'" in report
    assert f"PASSED test_changing.py::test_after_{kind}\n" in report
    assert f"ERROR test_changing.py::test_after_{kind}" not in report
