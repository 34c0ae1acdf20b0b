"""A disk that is full: sales are refused for the moment, nothing is half written, and it heals by itself."""

import resource
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.crash.conftest import Place
from tests.crash.sizes import CRASHES

# Less than the smallest file that anybody writes: whatever is written fails, as on a full disk.
NOTHING_MORE = 256
HEALS_WITHIN = 60
ROUNDS = min(CRASHES, 20)


@pytest.fixture
def small_disk(tmp_path: Path, sqlite_template: Path) -> Iterator[Place]:
    """A place that lies with all its files and its log on a small disk, where this process may mount one."""
    folder = tmp_path / "disk"
    folder.mkdir()
    # Below 64 MiB of free space a server says that it is not ready.
    mount = ["mount", "-t", "tmpfs", "-o", "size=96m", "coverdesk", str(folder)]
    if subprocess.run(mount, check=False, capture_output=True).returncode:
        pytest.skip("SKIPPED LOUDLY: no disk can be mounted here")
    place = Place("sqlite", folder, sqlite_template)
    try:
        place.server.start()
        yield place
    finally:
        place.close()
        subprocess.run(["umount", folder], check=True)


def test_writes_that_fail_refuse_sales_and_uploads_for_the_moment(on_sqlite: Place) -> None:
    server = on_sqlite.server
    refused_for_the_moment(
        on_sqlite,
        fill=lambda: server.limit_files(NOTHING_MORE),
        free=lambda: server.limit_files(resource.RLIM_INFINITY),
    )


@pytest.mark.slow
def test_full_disk_refuses_sales_and_uploads_for_the_moment(small_disk: Place) -> None:
    filler = small_disk.folder / "filler"
    refused_for_the_moment(small_disk, fill=lambda: _fill(filler), free=filler.unlink)


def refused_for_the_moment(place: Place, *, fill: Callable[[], object], free: Callable[[], object]) -> None:
    before, healed = place.sold(), []
    with place.crowd(connected=True) as crowd:
        for _ in range(ROUNDS):
            crowd.wait_for(10)
            fill()
            refused = crowd.seen["503"]
            while crowd.seen["503"] < refused + 40:
                time.sleep(0.01)
            assert place.server.ready() == 503
            free()
            healed.append(place.server.healed(HEALS_WITHIN))
        crowd.wait_for(20)
    assert place.faults(crowd, before=before) == []
    assert list((place.folder / "files").rglob("*.arriving")) == []
    print(
        f"\n{place.kind}: {ROUNDS} times a full disk under {crowd.clients} clients: {len(crowd.sold):,} sales,"
        f" {len(crowd.uploaded):,} uploads, nothing half; healed in {max(healed):.2f} s at most; {dict(crowd.seen)}"
    )


def _fill(filler: Path) -> None:
    """Write until nothing more fits."""
    with filler.open("wb", buffering=0) as file:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    file.write(bytes(size))
            except OSError:
                continue
