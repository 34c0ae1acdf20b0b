"""`coverdesk close`: the check list, beginning to close, and the journal; closing stays on the screen."""

import pytest
from typer.testing import CliRunner, Result

from core import cli, demo
from core.errors import NotAllowed
from core.store.access import Store
from tests.portfolio import NOW
from tests.services.finance_office import Finance

pytestmark = pytest.mark.frozen_at(NOW)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["close", *arguments, "--month", "2026-10"])


def test_the_list_says_what_stands_against_it_and_a_person_of_finance_begins(store: Store) -> None:
    demo.write(store, purchases=40, seed=5, until=NOW)
    Finance(store)
    found = run("checks")
    assert found.exit_code == 1
    assert "ok\t0\tThe check of the whole store is clean" in found.stdout
    assert "Every statement is approved" in found.stdout
    assert isinstance(run("begin", "--by", "oye@f.example").exception, NotAllowed)
    assert "is being closed" in run("begin", "--by", "funmi@f.example").stdout
    assert run("journal").stdout.startswith("date,number,code,account,party,debit,credit,reference")
