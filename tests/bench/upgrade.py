"""`python -m tests.bench.upgrade [sqlite|postgres]`: from the release before to this one with business in the store.

The old release, taken from the repository by its tag, makes a demonstration and a backup of it. This release migrates
the store and checks it; every count and sum that the old release knew has to be the same. Then the way back: the old
release restores its backup into an empty store. A difference ends with 1.
"""

import argparse
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import sqlalchemy as sa
from rich.console import Console

from core.settings import ROOT
from tests.bench.sales import SECRET, database

_OUT = Console(highlight=False)
_RUN = (sys.executable, "-c", "from core.cli import main; main()")


class Release:
    """One release of ours, run as a process in its own tree; the libraries are those of this checkout."""

    def __init__(self, name: str, tree: Path, folder: Path) -> None:
        self.name, self.tree, self.folder = name, tree, folder

    def run(self, url: str, *words: str) -> float:
        """Run a command on a store and print how long it took; CalledProcessError if it fails."""
        ours = {"DATABASE_URL": url, "FILES_URL": str(self.folder / "files"), "SECRET_KEY": SECRET, "DEMO": "true"}
        environment = {**os.environ, **{f"COVERDESK_{name}": value for name, value in ours.items()}}
        began = time.monotonic()
        log = self.folder / "commands.log"
        with log.open("ab") as out:
            done = subprocess.run([*_RUN, *words], cwd=self.tree, env=environment, check=False, stdout=out, stderr=out)
        seconds = time.monotonic() - began
        _OUT.print(f"{self.name:>9}  coverdesk {' '.join(words)}: {seconds:,.0f} s")
        if done.returncode:
            _OUT.print(log.read_text()[-2_000:])
            raise SystemExit(1)
        return seconds


def figures(url: str) -> dict[str, int]:
    """The rows of every table, and the sum of every column of money."""
    engine = sa.create_engine(url, poolclass=sa.NullPool)
    try:
        tables = sa.MetaData()
        tables.reflect(engine)
        with engine.connect() as connection:
            return {
                f"{table.name}.{name}": int(connection.execute(query).scalar_one() or 0)
                for table in tables.sorted_tables
                for name, query in _list_queries(table)
            }
    finally:
        engine.dispose()


def _list_queries(table: sa.Table) -> Iterator[tuple[str, sa.Select[tuple[int]]]]:
    yield "rows", sa.select(sa.func.count()).select_from(table)
    for column in table.c:
        if column.name.endswith("_minor"):
            yield column.name, sa.select(sa.func.coalesce(sa.func.sum(column), 0))


def find_differences(before: Mapping[str, int], after: Mapping[str, int]) -> list[str]:
    """Return the figures that changed or are gone; what the new release added is none of them."""
    # Migrations write of themselves into these alone.
    moved = {"alembic_version.rows", "audit_entry.rows"}
    return [
        f"{name}: {value:,} became {after.get(name)}"
        for name, value in before.items()
        if after.get(name) != value and name not in moved
    ]


@contextmanager
def taken_out(tag: str, folder: Path) -> Iterator[Path]:
    """The tree of a tag."""
    tree = folder / "before"
    tree.mkdir()
    archive = subprocess.run(["git", "archive", tag], cwd=ROOT, check=True, capture_output=True).stdout
    subprocess.run(["tar", "-x", "-C", str(tree)], input=archive, check=True)
    yield tree


def measure(kind: str, tag: str, purchases: int, folder: Path) -> list[str]:
    """Upgrade and return; the differences that were found."""
    with database(kind, folder) as url, taken_out(tag, folder) as tree:
        old, new = Release(tag, tree, folder), Release("this", ROOT, folder)
        old.run(url, "demo", "--purchases", str(purchases))
        old.run(url, "backup", str(folder / "before.tar"))
        before = figures(url)
        new.run(url, "init")
        new.run(url, "check")
        found = find_differences(before, figures(url))
        back = _empty_beside(url)
        old.run(back, "restore", str(folder / "before.tar"))
        old.run(back, "check")
        found += [f"restored: {each}" for each in find_differences(before, figures(back))]
        _OUT.print(f"{before['purchase.rows']:,} purchases, {len(before):,} counts and sums, {len(found)} differences")
        return found


def _empty_beside(url: str) -> str:
    """The address of an empty database beside a store."""
    if url.startswith("sqlite"):
        return url.replace("bench.db", "back.db")
    admin = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with admin.connect() as connection:
        connection.exec_driver_sql("CREATE DATABASE back")
    return sa.make_url(url).set(database="back").render_as_string(hide_password=False)


def main() -> None:
    """Upgrade, print, and end with 1 for a difference."""
    read = argparse.ArgumentParser(description=__doc__)
    read.add_argument("kind", nargs="?", choices=("sqlite", "postgres"), default="sqlite")
    read.add_argument("--from", dest="tag", default="0.2.0")
    read.add_argument("--purchases", type=int, default=100_000)
    options = read.parse_args()
    with tempfile.TemporaryDirectory(prefix="cd-") as folder:
        found = measure(options.kind, options.tag, options.purchases, Path(folder))
    for each in found:
        _OUT.print(each)
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
