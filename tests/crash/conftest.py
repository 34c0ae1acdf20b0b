"""A place with a store, a distributor and a real server, one for each kind of database."""

import random
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from core import demo, settings
from core.services.catalogue import shipped
from core.store.access import Scope, Store, engine
from core.store.schema import migrating
from tests.conftest import BOTH, SECRET, Partner, make_partner
from tests.crash import books, sizes
from tests.crash.postgres import Postgres
from tests.crash.selling import Crowd
from tests.crash.serving import Server, executed

PURCHASES = 3_000 if sizes.IS_FULL else 300


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Every test of this folder crashes something; those at full size alone run only when they are asked for."""
    mine = [item for item in items if Path(__file__).parent in item.path.parents]
    for item in mine:
        item.add_marker(pytest.mark.crash)
    left_out = [item for item in mine if item.get_closest_marker("slow") and not sizes.IS_FULL]
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = [item for item in items if item not in left_out]


class Room:
    """A store of its own, what a process needs to find it, and the same store in this process."""

    def __init__(self, kind: str, folder: Path, postgres: Postgres | None, name: str) -> None:
        self.kind, self.folder, self.postgres, self._name = kind, folder, postgres, name
        self.random = random.Random()
        self.url = postgres.url_of(name) if postgres else f"sqlite:///{folder / name}.db"
        self.environment = {
            "COVERDESK_DATABASE_URL": self.url,
            "COVERDESK_FILES_URL": str(folder / "files"),
            "COVERDESK_SECRET_KEY": SECRET,
        }

    def empty(self) -> None:
        """Let there be a database without anything in it."""
        if self.postgres:
            self.postgres.administer(f"DROP DATABASE IF EXISTS {self._name} WITH (FORCE)")
            self.postgres.administer(f"CREATE DATABASE {self._name}")
        else:
            for file in self.folder.glob(f"{self._name}.db*"):
                file.unlink()

    def fill(self, template: Path) -> None:
        """Let there be a store with the catalogue."""
        self.empty()
        if not self.postgres:
            shutil.copy(template, self.folder / f"{self._name}.db")
            return
        with self.opened() as store:
            migrating.migrate(store)
            with store.writing(Scope.system()) as session:
                shipped.load_catalogue(session)

    def is_in_use(self) -> bool:
        """True once some process has come to the database."""
        if self.postgres:
            return (
                self.postgres.read_number(f"SELECT count(*) FROM pg_stat_activity WHERE datname = '{self._name}'") > 0
            )
        return (self.folder / f"{self._name}.db").exists()

    @contextmanager
    def opened(self) -> Iterator[Store]:
        """The same store in this process, as a command or a screen has it."""
        with pytest.MonkeyPatch.context() as patch:
            for name, value in self.environment.items():
                patch.setenv(name, value)
            settings.settings.cache_clear()
            engine.store.cache_clear()
            try:
                yield engine.store()
            finally:
                engine.store().close()
                engine.store.cache_clear()
                settings.settings.cache_clear()


class Place(Room):
    """A room with one distributor, and the server on it; the server is up when a test begins."""

    def __init__(self, kind: str, folder: Path, template: Path, postgres: Postgres | None = None) -> None:
        super().__init__(kind, folder, postgres or (Postgres() if kind == "postgres" else None), "sold")
        self.fill(template)
        with self.opened() as store:
            self.partner: Partner = make_partner(store, "Swift Lenders")
        self.server = Server(self.environment, folder)

    def sold(self) -> int:
        """Return the number of purchases."""
        with self.opened() as store:
            return books.count_of_purchases(store)

    def faults(self, crowd: Crowd, *, before: int) -> list[str]:
        """List the differences between the store and what was acknowledged."""
        with self.opened() as store:
            return books.faults(store, crowd, before=before)

    def unanswered(self, crowd: Crowd) -> set[str]:
        """Return the keys of what was done without its client being told."""
        with self.opened() as store:
            return books.list_unanswered(store, crowd)

    def crowd(self, **wanted: Any) -> Crowd:
        """Clients of the server."""
        return Crowd(self.server.url, self.partner.test_key, **wanted)

    @contextmanager
    def served_by(self, *words: str) -> Iterator[None]:
        """Another command serves meanwhile, started as an operator does."""
        usual, self.server = self.server, Server(self.environment, self.folder, *words)
        try:
            self.server.start(executed)
            yield
        finally:
            if self.server.is_running:
                self.server.kill()
            self.server = usual

    def close(self) -> None:
        """End what was started."""
        if self.server.is_running:
            self.server.kill()
        if self.postgres:
            self.postgres.remove()


@pytest.fixture(scope="session")
def places(tmp_path_factory: pytest.TempPathFactory, sqlite_template: Path) -> Iterator[dict[str, Place]]:
    """The places of this run, each made when it is first wanted."""

    class Made(dict[str, Place]):
        def __missing__(self, kind: str) -> Place:
            self[kind] = Place(kind, tmp_path_factory.mktemp(kind), sqlite_template)
            return self[kind]

    made = Made()
    yield made
    for place in made.values():
        place.close()


@pytest.fixture(params=BOTH)
def kind(request: pytest.FixtureRequest) -> str:
    """Each kind of database, unless a test names those that it takes."""
    return str(request.param)


@pytest.fixture
def place(kind: str, places: dict[str, Place]) -> Place:
    """A place on each kind of database, with its server running."""
    return _served(places[kind])


@pytest.fixture
def on_sqlite(places: dict[str, Place]) -> Place:
    """The place with a SQLite file."""
    return _served(places["sqlite"])


@pytest.fixture
def on_postgres(places: dict[str, Place]) -> Place:
    """The place with a PostgreSQL server."""
    return _served(places["postgres"])


@pytest.fixture
def room(kind: str, places: dict[str, Place], tmp_path: Path) -> Room:
    """A database of its own beside the place's, with nothing in it."""
    made = Room(kind, tmp_path, places[kind].postgres, "beside")
    made.empty()
    return made


@pytest.fixture
def business(room: Room, sqlite_template: Path) -> Room:
    """A room with some business."""
    room.fill(sqlite_template)
    with room.opened() as store:
        demo.write(store, purchases=PURCHASES, seed=3)
    return room


def _served(place: Place) -> Place:
    if not place.server.is_running:
        place.server.start()
    return place
