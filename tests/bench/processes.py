"""A server of a measurement as a process of its own."""

import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress

from core.settings import ROOT
from tests.ports import free_port

_PATIENCE = 240


@contextmanager
def running(command: Sequence[str], environment: Mapping[str, str]) -> Iterator[tuple[int, "subprocess.Popen[bytes]"]]:
    """The port on which a command listens, once it does, and its process; what it says is not kept."""
    port = free_port()
    process = subprocess.Popen(
        [*command, "--port", str(port)],
        cwd=ROOT,
        env=dict(environment),
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,  # one line a request
    )
    try:
        _wait_for(port, process)
        yield port, process
    finally:
        process.kill()
        process.wait()


def _wait_for(port: int, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + _PATIENCE
    while process.poll() is None and time.monotonic() < until:
        with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.05)
    raise RuntimeError("a server did not start")
