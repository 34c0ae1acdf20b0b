"""One server process on a store of its own, and what can be seen of it from outside."""

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from core.settings import ROOT
from tests.ports import free_port

COVERDESK = Path(sys.executable).with_name("coverdesk")
SECRET = "load-0123456789-abcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Server:
    """A running server: its address, its folder, its process and a test key."""

    port: int
    folder: Path
    process: "subprocess.Popen[bytes]"
    key: str

    @property
    def memory_mib(self) -> float:
        """Resident memory of the process."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.split("VmRSS:")[1].split()[0]) / 1024

    @property
    def descriptors(self) -> int:
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    @property
    def wal_mib(self) -> float:
        wal = self.folder / "store.db-wal"
        return wal.stat().st_size / 2**20 if wal.exists() else 0.0


def environment(folder: Path, port: int, **settings: str) -> dict[str, str]:
    """Return the environment for the commands of a store in a folder."""
    return {
        **os.environ,
        "COVERDESK_DATABASE_URL": f"sqlite:///{folder / 'store.db'}",
        "COVERDESK_FILES_URL": str(folder / "files"),
        "COVERDESK_SECRET_KEY": SECRET,
        "COVERDESK_BASE_URL": f"http://127.0.0.1:{port}",
        **settings,
    }


def run(*words: str, variables: dict[str, str]) -> str:
    """One command in a process of its own; what it printed."""
    done = subprocess.run([COVERDESK, *words], check=False, env=variables, cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return done.stdout.strip()


@contextmanager
def started(command: str, folder: Path, port: int, variables: dict[str, str]) -> "Iterator[subprocess.Popen[bytes]]":
    """A server process on the store of a folder, which is made; its log lies beside the store."""
    with (folder / "server.log").open("wb") as log:
        process = subprocess.Popen(
            [COVERDESK, command, "--port", str(port)], env=variables, cwd=ROOT, stdout=log, stderr=log
        )
    try:
        _wait_for(port, process)
        yield process
    finally:
        process.terminate()
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


@contextmanager
def serving(command: str = "api", *, purchases: int = 0, **settings: str) -> Iterator[Server]:
    """`coverdesk api` or `coverdesk serve` on a fresh SQLite store; everything is gone afterwards."""
    folder, port = Path(tempfile.mkdtemp(prefix="coverdesk-load-")), free_port()
    variables = environment(folder, port, **settings)
    try:
        run(*(["demo", "--purchases", str(purchases)] if purchases else ["init"]), variables=variables)
        key = run("keys", "issue", "--distributor", "Swift Lenders", "--mode", "test", variables=variables)
        with started(command, folder, port, variables) as process:
            yield Server(port, folder, process, key)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    until, response = time.monotonic() + 90, b""
    while time.monotonic() < until and process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), 10) as connection:
            connection.sendall(b"GET /readyz HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
            response = connection.makefile("rb").read()
            if response.startswith(b"HTTP/1.1 200"):
                return
        time.sleep(0.1)
    raise RuntimeError(f"the server did not start: {response[-200:]!r}")
