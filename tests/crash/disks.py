"""Disks that can be full: small ones of their own, where this process may mount one."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest


@contextmanager
def mounted(folder: Path, *, mebibytes: int) -> Iterator[None]:
    """A folder is a disk of its own meanwhile; the test is skipped where nobody may mount one."""
    mount = ["mount", "-t", "tmpfs", "-o", f"size={mebibytes}m", "coverdesk", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("SKIPPED LOUDLY: no disk can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", folder], check=True)


def fill(filler: Path) -> None:
    """Write until nothing more fits."""
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
