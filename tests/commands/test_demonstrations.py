"""A demonstration has a store of its own: it never enters a business, and a business never begins in one."""

import os
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel, col

from core import settings
from core.commands import serve
from core.demo import accounts
from core.services.catalogue import keys
from core.services.people import staff
from core.store.access import Scope, Store
from core.store.schema.tables import Purchase, Staff
from tests.commands.command_line import coverdesk
from tests.conftest import SECRET

DEMO = ("demo", "--purchases", "20")
PASSWORD = "a long enough password\n"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder in which nobody has set anything yet."""
    monkeypatch.setattr(settings, "VAR", tmp_path)
    for name in ("SECRET_KEY", "DATABASE_URL", "FILES_URL"):
        monkeypatch.delenv(f"COVERDESK_{name}", raising=False)
    return tmp_path


def rows(store: Store) -> dict[str, list[Any]]:
    with store.engine.connect() as connection:
        return {table.name: list(connection.execute(sa.select(table))) for table in SQLModel.metadata.sorted_tables}


def purchases(file: Path) -> int:
    store = Store(f"sqlite:///{file}")
    with store.reading(Scope.system()) as session:
        found = session.execute(sa.select(sa.func.count(col(Purchase.id)))).scalar_one()
    store.close()
    return int(found)


@pytest.mark.parametrize("holds", ["a person", "a distributor", "a key"])
def test_a_demonstration_never_enters_a_store_with_business_of_its_own(store: Store, holds: str) -> None:
    with store.writing(Scope.system()) as session:
        if holds == "a person":
            staff.add_or_update(
                session, email="a@x.example", name="A", roles=["admin"], password=PASSWORD, actor="tests"
            )
        else:
            shop = keys.get_or_create_distributor(session, "Shop")
        if holds == "a key":
            keys.issue_key(session, distributor_id=shop, is_live=True, name="tests", actor="tests")
    before = rows(store)
    refused = coverdesk(*DEMO, COVERDESK_DEMO="true")
    assert refused.returncode == 1
    assert "business of its own" in refused.stderr
    assert rows(store) == before


@pytest.mark.both_databases
def test_for_real_starts_clean_in_the_folder_of_a_demonstration(folder: Path) -> None:
    assert coverdesk(*DEMO, COVERDESK_DEMO="true").returncode == 0
    before = purchases(folder / "demonstration.db")
    real = {"COVERDESK_SECRET_KEY": SECRET, "COVERDESK_BASE_URL": "https://desk.example.com"}
    made = coverdesk("init", **real)
    assert made.returncode == 0, made.stderr
    assert "https://desk.example.com/set-up?t=" in made.stdout
    assert coverdesk("staff", "add", "ada@x.example", "--role", "admin", stdin=PASSWORD, **real).returncode == 0
    assert purchases(folder / "coverdesk.db") == 0
    again = coverdesk(*DEMO, COVERDESK_DEMO="true")
    assert again.returncode == 0, again.stderr
    assert purchases(folder / "demonstration.db") == before == 20
    assert purchases(folder / "coverdesk.db") == 0


@pytest.mark.both_databases
def test_a_bare_command_is_for_the_demonstration_and_says_so_until_there_is_another_store(folder: Path) -> None:
    issue = ("keys", "issue", "--distributor", "My shop", "--mode", "test")
    missing = coverdesk(*issue)
    assert missing.returncode == 2
    assert "there is no store yet" in missing.stderr
    assert list(folder.iterdir()) == [], "a command that was refused leaves nothing in the way"
    assert coverdesk(*DEMO, COVERDESK_DEMO="true").returncode == 0
    issued = coverdesk(*issue)
    assert (issued.returncode, issued.stdout.count("\n")) == (0, 1), issued.stderr
    assert "This is the demonstration" in issued.stderr
    assert coverdesk(*DEMO, COVERDESK_DEMO="true").returncode == 0, "a key that was tried does not end it"
    assert coverdesk("init", COVERDESK_SECRET_KEY=SECRET).returncode == 0
    refused = coverdesk(*issue)
    assert refused.returncode == 1
    assert "made under another COVERDESK_SECRET_KEY" in refused.stderr


@pytest.mark.both_databases
def test_no_store_of_ones_own_is_made_under_the_secret_of_the_demonstration(folder: Path) -> None:
    assert coverdesk(*DEMO, COVERDESK_DEMO="true").returncode == 0
    refused = coverdesk("init")
    assert refused.returncode == 2
    assert "COVERDESK_SECRET_KEY: must be set" in refused.stderr
    assert not (folder / "coverdesk.db").exists()


@pytest.mark.both_databases
def test_a_bare_demo_makes_the_demonstration_and_nothing_of_ones_own(folder: Path) -> None:
    made = coverdesk(*DEMO)
    assert made.returncode == 0, made.stderr
    assert purchases(folder / "demonstration.db") == 20
    assert not (folder / "coverdesk.db").exists()
    assert "COVERDESK_DEMO" not in os.environ


@pytest.mark.both_databases
def test_a_demonstration_that_nobody_named_is_not_served_beyond_this_machine(folder: Path) -> None:
    assert coverdesk(*DEMO).returncode == 0
    refused = coverdesk("serve", "--host", "0.0.0.0")
    assert (refused.returncode, "COVERDESK_DEMO: must be set to true" in refused.stderr) == (2, True)


@pytest.mark.both_databases
def test_a_bare_demo_is_refused_for_a_store_that_is_named(folder: Path) -> None:
    named = {"COVERDESK_DATABASE_URL": f"sqlite:///{folder / 'named.db'}"}
    refused = coverdesk(*DEMO, **named)
    assert (refused.returncode, "COVERDESK_SECRET_KEY: must be set" in refused.stderr) == (2, True)


@pytest.mark.both_databases
def test_init_of_a_demonstration_says_why_there_is_no_link(folder: Path) -> None:
    coverdesk(*DEMO, COVERDESK_DEMO="true")
    output = coverdesk("init", COVERDESK_DEMO="true").stdout
    assert "An admin can sign in already" in output
    assert "This store holds the demonstration" in output


@pytest.mark.both_databases
def test_an_account_that_somebody_disabled_is_not_opened_again(store: Store) -> None:
    with store.writing(Scope.system()) as session:
        accounts.add_accounts(session)
    with store.writing(Scope.system()) as session:
        staff.disable(session, "finance@coverdesk.example", actor="tests")
        accounts.add_accounts(session)
        disabled = sa.select(col(Staff.email)).where(col(Staff.disabled_at).is_not(None))
        assert session.execute(disabled).scalars().all() == ["finance@coverdesk.example"]


@pytest.mark.both_databases
def test_only_sign_ins_that_exist_are_printed(store: Store, capsys: pytest.CaptureFixture[str]) -> None:
    serve._print_sign_ins()
    assert capsys.readouterr().out == ""
    with store.writing(Scope.system()) as session:
        accounts.add_accounts(session)
        staff.disable(session, "finance@coverdesk.example", actor="tests")
    serve._print_sign_ins()
    output = capsys.readouterr().out
    assert "  admin@coverdesk.example" in output
    assert "  finance@coverdesk.example" not in output


def test_a_demonstration_that_is_to_be_kept_is_served_once_its_accounts_are_closed(store: Store) -> None:
    """The advice of the refusal leads somewhere."""
    with store.writing(Scope.system()) as session:
        accounts.add_accounts(session)
    assert "`coverdesk staff add`" in coverdesk("api").stderr
    assert coverdesk("staff", "add", "ada@x.example", "--role", "admin", stdin=PASSWORD).returncode == 0
    for account in accounts.DEMO_ACCOUNTS:
        assert coverdesk("staff", "disable", account.email).returncode == 0, account
    with store.reading(Scope.system()) as session:
        assert accounts.list_with_published_password(session) == []
