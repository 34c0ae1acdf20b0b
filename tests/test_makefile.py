"""The first command of a newcomer: what `make setup` says, also where it cannot do its work."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from core.settings import ROOT


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
    said = [line for line in done.stderr.splitlines() if not line.startswith("make: ***")]
    assert done.returncode != 0
    assert len(said) == 1, done.stderr
    assert said[0].startswith("Setting up needs a network: the package index cannot be reached")
    assert done.stdout.splitlines()[:2] == [
        "Setting up Coverdesk in .venv, which takes some minutes the first time:",
        "  1. an environment of its own for Python",
    ]
    assert not (tmp_path / ".venv" / ".done").exists()
