"""A disk that is full: sales are refused for the moment, nothing is half written, and it heals by itself."""

import resource
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.crash import disks
from tests.crash.conftest import Place
from tests.crash.postgres import Postgres
from tests.crash.sizes import CRASHES

pytestmark = pytest.mark.both_databases

# Less than the smallest file that anybody writes: whatever is written fails, as on a full disk.
NOTHING_MORE = 256
# Frames of the journal for the few pages of a row that is written and forgotten; a sale changes some thirty pages.
ENOUGH_FOR_A_PROBE = 40_000
HEALS_WITHIN = 60
ROUNDS = min(CRASHES, 20)


@pytest.fixture
def small_disk(tmp_path: Path, sqlite_template: Path) -> Iterator[Place]:
    """A place that lies with all its files and its log on a small disk."""
    folder = tmp_path / "disk"
    folder.mkdir()
    # Below 64 MiB of free space a server says that it is not ready.
    with disks.mounted(folder, mebibytes=96), closing(Place("sqlite", folder, sqlite_template)) as place:
        place.server.start()
        yield place


@pytest.fixture
def postgres_on_a_small_disk(tmp_path: Path, sqlite_template: Path) -> Iterator[Place]:
    """A place whose database lies on a small disk, with its journal and its log; our own files do not."""
    folder = Path(tempfile.mkdtemp(prefix="coverdesk-disk-"))  # short, as a socket's path must be
    with disks.mounted(folder, mebibytes=256):
        postgres = Postgres(folder, settings="-c min_wal_size=32MB -c max_wal_size=64MB")
        with closing(Place("postgres", tmp_path, sqlite_template, postgres)) as place:
            place.server.start()
            yield place
    folder.rmdir()


def test_writes_that_fail_refuse_sales_and_uploads_for_the_moment(on_sqlite: Place) -> None:
    server = on_sqlite.server
    refused_for_the_moment(
        on_sqlite,
        fill=lambda: server.limit_files(NOTHING_MORE),
        free=lambda: server.limit_files(resource.RLIM_INFINITY),
    )


def test_the_first_probe_after_a_refused_sale_says_so_though_it_would_fit(on_sqlite: Place) -> None:
    """A probe's own write is smaller than a sale, so that readiness cannot be judged by it alone."""
    server, journal = on_sqlite.server, on_sqlite.folder / "sold.db-wal"
    with on_sqlite.crowd() as crowd:
        crowd.wait_for(3)
    assert server.ready() == 200
    with on_sqlite.crowd() as crowd:
        server.limit_files(journal.stat().st_size + ENOUGH_FOR_A_PROBE)
        until = time.monotonic() + HEALS_WITHIN
        while not crowd.seen["503"] and time.monotonic() < until:
            time.sleep(0.005)
        status = server.ready()
        server.limit_files(resource.RLIM_INFINITY)
    assert (crowd.seen["503"] > 0, status) == (True, 503)
    server.healed(HEALS_WITHIN)


@pytest.mark.slow
def test_full_disk_refuses_sales_and_uploads_for_the_moment(small_disk: Place) -> None:
    filler = small_disk.folder / "filler"
    refused_for_the_moment(small_disk, fill=lambda: disks.fill(filler), free=filler.unlink)


@pytest.mark.slow
@pytest.mark.postgres
def test_full_disk_under_postgres_refuses_sales_for_the_moment(postgres_on_a_small_disk: Place) -> None:
    place, postgres = postgres_on_a_small_disk, postgres_on_a_small_disk.postgres
    assert postgres
    filler = postgres.folder / "filler"

    def free() -> None:
        filler.unlink()
        # It ends by itself when it cannot write its journal.
        postgres.start_again()

    refused_for_the_moment(place, fill=lambda: disks.fill(filler), free=free, told_within=HEALS_WITHIN)


def list_half_written(place: Place) -> list[Path]:
    return sorted((place.folder / "files").rglob("*.arriving"))


def refused_for_the_moment(
    place: Place, *, fill: Callable[[], object], free: Callable[[], object], told_within: float = 0
) -> None:
    # A server that was killed in another test may have left one.
    before, half_written, healed = place.sold(), list_half_written(place), list[float]()
    with place.crowd(connected=True) as crowd:
        for _ in range(ROUNDS):
            crowd.wait_for(10)
            fill()
            refused = crowd.seen["503"]
            while crowd.seen["503"] < refused + 40:
                time.sleep(0.01)
            until = time.monotonic() + told_within
            while (ready := place.server.ready()) != 503 and time.monotonic() < until:
                time.sleep(0.05)
            assert ready == 503
            free()
            healed.append(place.server.healed(HEALS_WITHIN))
        crowd.wait_for(20)
    assert place.faults(crowd, before=before) == []
    assert list_half_written(place) == half_written
    print(
        f"\n{place.kind}: {ROUNDS} times a full disk under {crowd.clients} clients: {len(crowd.sold):,} sales,"
        f" {len(crowd.uploaded):,} uploads, nothing half; healed in {max(healed):.2f} s at most; {dict(crowd.seen)}"
    )
