"""The application as a process of its own, on the store of a folder."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from core.settings import ROOT
from tests.ports import free_port, get_status

_STARTS_WITHIN_SECONDS = 180


class Serving:
    """The process that serves a folder's store; its log stays beside the store."""

    def __init__(self, folder: Path) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.log = folder / "server.log"
        self.environment = {
            **os.environ,
            "COVERDESK_DATABASE_URL": f"sqlite:///{folder / 'store.db'}",
            "COVERDESK_FILES_URL": str(folder / "files"),
            "COVERDESK_BASE_URL": self.url,
        }

    def __enter__(self) -> str:
        command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(self.port)]
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [*command, "--server.address", "127.0.0.1"],
                cwd=ROOT,
                env=self.environment,
                stdout=log,
                stderr=subprocess.STDOUT,
            )
        until = time.monotonic() + _STARTS_WITHIN_SECONDS
        while not self._answers():
            if self.process.poll() is not None or time.monotonic() > until:
                self.__exit__()
                pytest.fail(f"the application did not start:\n{self.log.read_text()[-3000:]}")
            time.sleep(0.1)
        return self.url

    def _answers(self) -> bool:
        return get_status(f"{self.url}/_stcore/health") == 200

    def __exit__(self, *_: object) -> None:
        self.process.terminate()
        try:
            self.process.wait(15)
        except subprocess.TimeoutExpired:  # a test of stopping says what is wrong with that; this one is over
            self.process.kill()
            self.process.wait(15)
