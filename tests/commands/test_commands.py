"""The commands of an operator: answers, refusals and exit codes."""

import csv
import errno
import io
import os
import subprocess
import sys
from datetime import UTC, datetime
from decimal import Decimal
from importlib.metadata import entry_points
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import sqlalchemy as sa

from core import demo
from core.cli import COMMANDS, LazyCommand, main
from core.commands import export
from core.demo import accounts
from core.desk import export_runs
from core.errors import InvalidInput
from core.services.catalogue import keys
from core.services.people import staff
from core.settings import ROOT
from core.store.access import Scope, Store
from core.store.operations import backups, local_files
from core.store.schema import versions
from core.store.schema.tables import AuditEntry, Staff
from tests.commands.command_line import coverdesk
from tests.conftest import Partner
from tests.every_case import every_case
from tests.ports import free_port
from tests.postgres_database import administer
from tests.process_state import changes, state

UNTIL = datetime(2026, 11, 20, 12, tzinfo=UTC)
PASSWORD = "word-of-the-database"


def test_line_of_help_of_each_command_is_what_the_command_says_itself() -> None:
    for word, (module, says) in COMMANDS.items():
        first_line, *_ = (LazyCommand(word, module, says).load().help or "").strip().split("\n\n")
        assert first_line == says, word


def test_help_of_each_command_needs_no_store_and_no_setting(tmp_path: Path) -> None:
    nothing = {"COVERDESK_DATABASE_URL": f"sqlite:///{tmp_path / 'none.db'}", "COVERDESK_RATE_LIMIT": "many"}
    for word, (module, says) in COMMANDS.items():
        parts = getattr(LazyCommand(word, module, says).load(), "commands", {})
        for command in ([word], *([word, part] for part in parts)):
            help_run = coverdesk(*command, "--help", **nothing)
            assert (help_run.returncode, help_run.stderr) == (0, ""), command
            assert f"{' '.join(command)} [OPTIONS]" in help_run.stdout
    assert not list(tmp_path.iterdir())


def run_slowly(*words: str) -> "subprocess.CompletedProcess[str]":
    """A command to which every statement is a slow one."""
    script = "from core.store.access import statements; statements.SLOW_SECONDS = 0; from core.cli import main; main()"
    return subprocess.run([sys.executable, "-c", script, *words], cwd=ROOT, capture_output=True, text=True, check=True)


def test_a_slow_statement_is_told_beside_what_a_command_prints(store: Store) -> None:
    """Its standard output is the file that somebody keeps."""
    ended = run_slowly("close", "journal", "--month", "2026-10")
    assert ended.stdout == "date,number,code,account,party,debit,credit,reference\n"
    assert all('"event":"slow statement"' in line for line in ended.stderr.splitlines()), ended.stderr
    assert ended.stderr
    # One that works at everything has nothing else to tell between its lines.
    assert run_slowly("init").stderr == ""


def test_init_makes_a_store_from_nothing_and_can_be_repeated(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path / 'new' / 'store.db'}"
    first, second = (coverdesk("init", COVERDESK_DATABASE_URL=url) for _ in range(2))
    assert (first.returncode, second.returncode) == (0, 0), first.stderr
    assert "0 catalogue records are new" in second.stdout
    assert coverdesk("check", COVERDESK_DATABASE_URL=url).stdout.strip() == "✓ Everything holds."


@every_case(
    ("name", "value"),
    [
        ("METRICS_TOKEN", "short"),
        ("OIDC_CLIENT_ID", "coverdesk"),
        ("BASE_URL", "http://desk.example.com"),
    ],
)
def test_init_refuses_what_the_server_would_refuse_and_makes_no_store(tmp_path: Path, name: str, value: str) -> None:
    file = tmp_path / "store.db"
    refusal = coverdesk("init", **{"COVERDESK_DATABASE_URL": f"sqlite:///{file}", f"COVERDESK_{name}": value})
    assert refusal.returncode == 2, refusal.stdout
    assert refusal.stderr.startswith("Cannot start. COVERDESK_")
    assert not file.exists()


def test_a_new_store_says_how_it_gets_its_first_admin_and_has_no_account_with_a_password(tmp_path: Path) -> None:
    here = {
        "COVERDESK_DATABASE_URL": f"sqlite:///{tmp_path / 'store.db'}",
        "COVERDESK_FILES_URL": str(tmp_path / "files"),
        "COVERDESK_BASE_URL": "https://desk.example.com",
    }
    for words in (("init",), ("staff", "set-up-link"), ("demo", "--purchases", "20")):
        output = coverdesk(*words, **here).stdout
        assert "\nhttps://desk.example.com/set-up?t=" in f"\n{output}", words
    with Store(here["COVERDESK_DATABASE_URL"]).reading(Scope.system()) as session:
        hashes = session.execute(sa.select(Staff.password_hash)).scalars().all()
    assert set(hashes) <= {None}
    words = ("staff", "add", "ada@example.com", "--role", "admin")
    assert coverdesk(*words, stdin="a long enough password\n", **here).returncode == 0
    assert coverdesk("staff", "set-up-link", **here).returncode == 1
    assert "set-up" not in coverdesk("init", **here).stdout
    assert coverdesk("staff", "disable", "ada@example.com", **here).returncode == 1


def test_issued_key_is_the_only_line_and_works(store: Store) -> None:
    name = "Corner Shop [/b] & Daughters"
    answer = coverdesk("keys", "issue", "--distributor", name, "--mode", "live")
    assert answer.returncode == 0, answer.stderr
    (key,) = answer.stdout.splitlines()
    with store.reading(Scope.system()) as session:
        assert keys.authenticate(session, key).is_live
        (kept,) = keys.list_keys(session)
    listed = coverdesk("keys", "list").stdout
    assert key not in listed
    # Whole, as it was written, though standard output is no terminal and a line has 80 letters.
    assert all(text in listed for text in (str(kept.id), name, kept.hint))
    assert "Revoked " in coverdesk("keys", "revoke", key, "--with-endpoints").stdout
    assert coverdesk("keys", "revoke", "cd_live_unknown").returncode == 1


def test_a_live_key_says_what_its_refunds_take(store: Store) -> None:
    issue = ("keys", "issue", "--distributor", "Corner Shop", "--mode")
    assert "takes two who approve" in coverdesk(*issue, "live").stderr
    assert "takes two" not in coverdesk(*issue, "test").stderr


def test_a_distributor_is_named_and_in_any_case_the_same_one(store: Store) -> None:
    issue = ("keys", "issue", "--mode", "test", "--distributor")
    for blank in ("", "  ", "x" * 101):
        refused = coverdesk(*issue, blank)
        assert (refused.returncode, refused.stdout) == (1, ""), blank
        assert "distributor" in refused.stderr
    first = coverdesk(*issue, "Ṣọlá's Shop")
    assert first.stderr == "Ṣọlá's Shop is a new distributor.\n"
    for same in ("ṢỌLÁ'S SHOP", " ṣọlá's  shop"):
        assert coverdesk(*issue, same).stderr == ""
    with store.reading(Scope.system()) as session:
        assert [key.distributor for key in keys.list_keys(session)] == ["Ṣọlá's Shop"] * 3
        actions = session.execute(sa.select(AuditEntry.action)).scalars().all()
    assert (actions.count("distributor added"), actions.count("key issued")) == (1, 3)


def test_staff_is_added_with_a_password_from_standard_input(store: Store) -> None:
    words = ("staff", "add", "ada@example.com", "--role", "finance", "--role", "claims", "--claim-limit", "250000.50")
    assert coverdesk(*words, stdin="too short\n").returncode == 1
    assert coverdesk(*words, stdin="a long enough password\n").returncode == 0
    with store.reading(Scope.system()) as session:
        person = staff.get_by_email(session, "ada@example.com")
    assert (person.roles, person.claim_limit_minor) == (("claims", "finance"), 25_000_050)
    assert coverdesk("staff", "disable", "ada@example.com").returncode == 0
    assert coverdesk("staff", "disable", "nobody@example.com").returncode == 1


def test_export_is_whole_and_sums_to_its_last_line(store: Store, tmp_path: Path) -> None:
    demo.write(store, purchases=300, seed=5, until=UNTIL)
    target = tmp_path / "march.csv"
    answer = coverdesk("export", "purchases", "--from", "2026-03-01", "--to", "2026-10-31", "--out", str(target))
    assert answer.returncode == 0, answer.stderr
    rows = list(csv.DictReader(io.StringIO(target.read_text())))
    assert rows
    total = sum(Decimal(row["total"]) for row in rows)
    parts = sum(Decimal(row[n]) for row in rows for n in ("provider_share", "mca_profit", "distributor_profit"))
    assert total == parts
    assert f"{len(rows):,} purchases, ₦{total:,.2f};" in answer.stderr
    assert [path.name for path in tmp_path.glob("*march*")] == ["march.csv"]
    window = ("--from", "2026-03-01", "--to", "2026-10-31")
    arranged = ("--columns", "total", "--columns", "created_at", "--order", "largest", "--out", str(target))
    few = coverdesk("export", "purchases", *window, *arranged)
    assert target.read_text().startswith("total,created_at")
    amounts = [Decimal(row["total"]) for row in csv.DictReader(io.StringIO(target.read_text()))]
    assert amounts == sorted((Decimal(row["total"]) for row in rows), reverse=True)
    assert f"{len(rows):,} purchases, ₦{total:,.2f};" in few.stderr


def test_an_export_goes_into_a_pipe_and_to_where_a_link_leads_and_into_no_folder(store: Store, tmp_path: Path) -> None:
    pipe, link, linked = tmp_path / "pipe", tmp_path / "link.csv", tmp_path / "linked.csv"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    try:
        assert coverdesk("export", "purchases", "--out", str(pipe)).returncode == 0
        assert os.read(reader, 1 << 16).startswith(b"id,")
    finally:
        os.close(reader)
    assert pipe.is_fifo()
    link.symlink_to(linked)
    assert coverdesk("export", "purchases", "--out", str(link)).returncode == 0
    assert link.is_symlink()
    assert linked.read_text().startswith("id,")
    for wrong, why in ((tmp_path, "is a folder"), (tmp_path / "none" / "x.csv", "cannot be written: No such file")):
        refused = coverdesk("export", "purchases", "--out", str(wrong))
        assert (refused.returncode, refused.stdout) == (1, "")
        assert f"--out {why}" in refused.stderr
    backup = coverdesk("backup", str(pipe), "--overwrite")
    assert (backup.returncode, pipe.is_fifo()) == (1, True)
    assert "FILE must be a file" in backup.stderr
    for words, why in ((("backup",), "must lie in a folder that exists"), (("demo", "--loan-book"), "No such file")):
        refused = coverdesk(*words, str(tmp_path / "none" / "x"))
        assert refused.returncode == 1
        assert "Refused." in refused.stderr
        assert why in refused.stderr


def test_only_what_the_target_raises_is_a_fault_of_out(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order = export_runs.create_order("purchases", "csv", {"mode": ["live"]}, by="tests")
    with pytest.raises(InvalidInput, match="--out cannot be written: No space left on device"):
        export._write(order, "/dev/full")

    def fail(*_: object) -> None:
        raise OSError(errno.EIO, "Input/output error", "a file of the store")

    monkeypatch.setattr(export_runs, "stream", fail)
    for target in (tmp_path / "x.csv", Path("/dev/null")):
        with pytest.raises(OSError, match="a file of the store"):
            export._write(order, str(target))
    assert not [path.name for path in tmp_path.iterdir() if "x.csv" in path.name]


def test_every_kind_is_exported_by_its_own_filters_and_as_a_workbook(store: Store, tmp_path: Path) -> None:
    target = tmp_path / "paid.xlsx"
    words = ("--status", "Paid", "--incident-from", "2026-01-01", "--format", "xlsx", "--out", str(target))
    answer = coverdesk("export", "claims", *words)
    assert answer.returncode == 0, answer.stderr
    assert "0 claims, ₦0.00;" in answer.stderr
    assert target.read_bytes().startswith(b"PK")
    assert coverdesk("export", "customers", "--active", "perhaps").returncode == 1


def test_export_refuses_a_selection_that_cannot_be_meant(store: Store) -> None:
    for words in (("--from", "2026-02-30"), ("--provider", "nobody")):
        answer = coverdesk("export", "purchases", *words)
        assert (answer.returncode, answer.stdout) == (1, "")
        assert "must be" in answer.stderr
    answer = coverdesk("export", "purchases", "--columns", "total,premum_frequency")
    assert (answer.returncode, answer.stdout) == (1, "")
    assert "did you mean premium_frequency?" in " ".join(answer.stderr.split())


def test_check_names_a_fault_and_fails(store: Store, partner: Partner) -> None:
    with store.writers.begin() as connection:
        connection.exec_driver_sql("UPDATE audit_head SET position = position + 1 WHERE position > 0")
    answer = coverdesk("check")
    assert answer.returncode == 1
    assert "audit chain" in answer.stderr
    assert answer.stderr.endswith("Stop selling, keep a backup of this state, and ask.\n")


@every_case(
    ("environment", "words"),
    [
        ({"COVERDESK_RATE_LIMIT": "many"}, "COVERDESK_RATE_LIMIT"),
        ({"COVERDESK_SECRET_KEY": "short"}, "COVERDESK_SECRET_KEY: must be at least 32 random characters"),
        ({"COVERDESK_SECRET_KEY": ""}, "COVERDESK_SECRET_KEY: must be set"),
        (
            {"COVERDESK_SECRET_KEY": "change-me-0123456789-abcdefghijklmnop"},
            "must be random, this one stands in a manual",
        ),
        ({"COVERDESK_SEALING_KEYS": "short"}, "COVERDESK_SEALING_KEYS: each must be at least 32"),
        ({"COVERDESK_BASE_URL": "http://desk.example.com"}, "COVERDESK_BASE_URL: must be the https address"),
        ({"COVERDESK_SMTP_URL": "mail.example.com"}, "COVERDESK_SMTP_URL: must be smtp://user:password@host:587"),
        ({"COVERDESK_PROXIES": "the proxy"}, "COVERDESK_PROXIES: must be addresses or networks"),
    ],
)
@every_case("command", ["serve", "api"])
def test_server_refuses_an_unsafe_or_unreadable_setting_by_name(
    store: Store, command: str, environment: dict[str, str], words: str
) -> None:
    answer = coverdesk(command, **environment)
    assert answer.returncode == 2
    assert words in answer.stderr
    assert "Traceback" not in answer.stderr


@pytest.mark.parametrize("command", ["serve", "api"])
def test_server_refuses_an_account_whose_password_everybody_knows(store: Store, command: str) -> None:
    with store.writing(Scope.system()) as session:
        accounts.add_accounts(session)
    answer = coverdesk(command)
    assert answer.returncode == 2
    assert "admin@coverdesk.example" in answer.stderr
    assert "the password of the demonstration" in answer.stderr


def test_what_a_process_of_ours_writes_is_for_its_own_account(tmp_path: Path) -> None:
    made = tmp_path / "new" / "store.db"
    subprocess.run(
        [sys.executable, "-c", "from core.cli import main; main()", "init"],
        cwd=ROOT,
        env={**os.environ, "COVERDESK_DATABASE_URL": f"sqlite:///{made}", "COVERDESK_FILES_URL": str(tmp_path)},
        umask=0o022,
        stdout=subprocess.DEVNULL,
        check=True,
    )
    assert made.stat().st_mode & 0o777 == 0o600
    assert made.parent.stat().st_mode & 0o777 == 0o700


def test_the_command_that_is_installed_starts_where_files_become_private() -> None:
    (script,) = entry_points(group="console_scripts", name="coverdesk")
    assert script.load() is main


def test_a_command_inside_another_process_leaves_that_process_alone(tmp_path: Path) -> None:
    before = state()
    coverdesk("init", COVERDESK_DATABASE_URL=f"sqlite:///{tmp_path / 'store.db'}")
    assert changes(before, state()) == {}


def test_a_store_that_others_could_read_is_closed_to_them(tmp_path: Path) -> None:
    made = tmp_path / "store.db"
    made.touch(mode=0o644)
    made.chmod(0o644)
    local_files.restrict(Store(f"sqlite:///{made}"))
    assert made.stat().st_mode & 0o777 == 0o640


def test_server_refuses_a_store_of_another_version(tmp_path: Path) -> None:
    answer = coverdesk("api", COVERDESK_DATABASE_URL=f"sqlite:///{tmp_path / 'empty.db'}")
    assert answer.returncode == 2
    assert "run `coverdesk init`" in answer.stderr


@pytest.mark.parametrize("words", [["status"], ["init"], ["keys", "list"], ["worker"]])
def test_a_command_says_why_the_database_is_not_available(words: list[str], tmp_path: Path) -> None:
    url = f"postgresql://coverdesk:{PASSWORD}@127.0.0.1:{free_port()}/coverdesk"
    answer = coverdesk(*words, COVERDESK_DATABASE_URL=url, COVERDESK_FILES_URL=str(tmp_path))
    assert answer.returncode == 1
    assert "The store of COVERDESK_DATABASE_URL is not available: " in answer.stderr
    assert "Connection refused" in answer.stderr
    assert PASSWORD not in answer.stderr


@pytest.mark.parametrize("database", ["postgresql"])
def test_a_database_that_cannot_be_written_is_not_available(store: Store, postgres: sa.URL) -> None:
    """As after a failover that left the address with the standby."""
    store.close()
    name = "of_a_standby"
    administer(postgres, f"CREATE DATABASE {name}")
    for each in (store.url.database, name):
        administer(postgres, f"ALTER DATABASE {each} SET default_transaction_read_only = on")
    try:
        key = "keys", "issue", "--distributor", "Swift Lenders", "--mode", "test"
        output, answers = coverdesk("status").stdout, [coverdesk(*key)]
        url = postgres.set(database=name).render_as_string(hide_password=False)
        answers.append(coverdesk("init", COVERDESK_DATABASE_URL=url))
    finally:
        administer(postgres, f"ALTER DATABASE {store.url.database} RESET default_transaction_read_only")
        administer(postgres, f"DROP DATABASE {name}")
    assert "The database takes no writes" in output
    for answer in answers:
        assert answer.returncode == 1
        assert "is not available: cannot execute " in answer.stderr
        assert " in a read-only transaction" in answer.stderr


@pytest.mark.postgres
def test_a_command_names_the_database_that_does_not_exist(postgres: sa.URL) -> None:
    url = postgres.set(database="none_of_this_name").render_as_string(hide_password=False)
    answer = coverdesk("status", COVERDESK_DATABASE_URL=url)
    assert answer.returncode == 1
    assert 'database "none_of_this_name" does not exist' in answer.stderr


def test_what_is_no_database_and_an_option_that_none_knows_are_refused_in_a_line(tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("Not a database, and long enough that its beginning is read. " * 9)
    for url, words in (
        (f"sqlite:///{tmp_path / 'notes.db'}", "file is not a database"),
        ("postgresql://coverdesk:word@127.0.0.1:9/coverdesk?sslmod=require", 'invalid connection option "sslmod"'),
    ):
        answer = coverdesk("check", COVERDESK_DATABASE_URL=url)
        assert answer.returncode == 1
        assert answer.stderr.strip() == f"Refused. The store of COVERDESK_DATABASE_URL is not available: {words}"


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_backup_on_a_full_disk_is_refused_in_a_line(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = backups._driver(store)

    def connect(path: str) -> Any:
        copy = driver.connect(path)
        copy.execute("PRAGMA max_page_count = 5")  # no room for more, as SQLite itself says on a full disk
        return copy

    monkeypatch.setattr(backups, "_driver", lambda _: SimpleNamespace(**{**vars(driver), "connect": connect}))
    answer = coverdesk("backup", str(tmp_path / "night.tar"))
    assert (answer.returncode, answer.stderr.strip()) == (1, "Refused. No space left on device")
    assert not list(tmp_path.glob("*.tar"))


@pytest.mark.both_databases
@every_case("words", [["check"], ["keys", "list"], ["staff", "set-up-link"], ["export", "purchases"], ["reseal"]])
def test_a_command_refuses_a_store_of_another_version(store: Store, words: list[str]) -> None:
    with store.writers.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '0057'"))
    try:
        answer = coverdesk(*words)
    finally:
        with store.writers.begin() as connection:
            connection.execute(sa.text("UPDATE alembic_version SET version_num = :one"), {"one": versions.newest()})
    assert answer.returncode == 2
    assert "this store has another version, run `coverdesk init`" in answer.stderr
    assert not answer.stdout


@pytest.mark.both_databases
def test_a_command_names_a_store_of_a_newer_release(store: Store) -> None:
    with store.writers.begin() as connection:
        connection.execute(sa.text("UPDATE alembic_version SET version_num = '9999'"))
    try:
        answer = coverdesk("check")
    finally:
        with store.writers.begin() as connection:
            connection.execute(sa.text("UPDATE alembic_version SET version_num = :one"), {"one": versions.newest()})
    assert answer.returncode == 1
    assert "made by a newer release (version 9999): use that one" in answer.stderr


@every_case("command", ["serve", "api"])
def test_a_port_that_there_is_not_is_refused_by_name(store: Store, command: str) -> None:
    answer = coverdesk(command, "--port", "99999")
    assert answer.returncode == 2
    assert "Invalid value for '--port'" in answer.stderr
