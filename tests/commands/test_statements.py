"""`coverdesk statements`: prepares what is due, as a person of finance; approving stays on the screen."""

import os
import pwd
import socket
from datetime import date, timedelta

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner, Result

from core import cli, clock, money
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.finance import bank_accounts
from core.services.finance.parties import Party
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.store.access import Scope, Store
from core.store.schema.tables import Distributor, Statement
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio
from tests.services.finance_office import Finance

pytestmark = pytest.mark.frozen_at(NOW)


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    Portfolio(seed=21, size=40, sellers=(partner.id,)).write(store)
    return Finance(store)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["statements", *arguments])


def test_a_month_is_prepared_and_listed(store: Store, finance: Finance, partner: Partner) -> None:
    name = "Swift Lenders [/b]"
    with store.writing(Scope.system()) as session:
        session.execute(sa.update(Distributor).where(Distributor.id == partner.id).values(business_name=name))
    done = run("prepare", "--month", "2026-08", "--by", "funmi@f.example")
    assert done.exit_code == 0
    assert f"{name}: prepared" in done.stdout
    with finance.reading() as session:
        made = session.execute(sa.select(Statement)).scalars().all()
    assert {row.prepared_by for row in made} == {finance.people["funmi"].id}
    listed = run("list", "--month", "2026-08").stdout
    assert f"CS-0001\tPrepared\t{name}\t{next(row.lines for row in made if row.distributor_id)}" in listed
    assert "0 statements" in run("prepare", "--month", "2026-08", "--by", "funmi@f.example").stdout


def test_a_month_that_is_not_next_is_refused_with_the_one_that_is(finance: Finance) -> None:
    done = run("prepare", "--month", "2026-09", "--by", "funmi@f.example")
    assert done.exit_code == 1
    assert "August 2026 comes first" in done.stderr


def test_a_payout_is_prepared_and_the_taxes_printed(finance: Finance, partner: Partner) -> None:
    party = Party("distributor", partner.id)
    with clock.freeze(NOW - timedelta(days=90)):
        account = {"bank_name": "Bank", "account_name": "Swift", "account_number": "0123456789"}
        finance.do(bank_accounts.confirm, finance.do(bank_accounts.propose, party, account, by="root"), by="second")
    assert isinstance(run("payout", "--by", "funmi@f.example").exception, StateForbids), "nothing is due yet"
    run("prepare", "--month", "2026-08", "--by", "funmi@f.example")
    made = finance.read(statement_reading.list_statements, month=date(2026, 8, 1))
    row = next(row for row in made if row.party == party)
    for state in ("Approved", "Sent"):
        finance.do(statements.move, row.id, state, by="femi")
    assert isinstance(run("payout", "--by", "oye@f.example").exception, NotAllowed)
    done = run("payout", "--by", "funmi@f.example")
    assert f"PB-0001: 1 payments, {money.format_naira(row.paper.closing_minor)}, wait" in done.stdout
    taxes = run("taxes", "withholding", "--month", "2026-08").stdout
    assert f",{money.to_wire(row.paper.withheld_minor)}," in taxes.splitlines()[-1]
    assert isinstance(run("taxes", "other").exception, InvalidInput)


def test_only_finance_prepares_and_a_month_is_a_month(finance: Finance) -> None:
    assert isinstance(run("prepare", "--month", "2026-08", "--by", "oye@f.example").exception, NotAllowed)
    assert isinstance(run("prepare", "--month", "August", "--by", "funmi@f.example").exception, InvalidInput)


def test_the_log_says_that_the_command_line_did_it_in_somebodys_name(finance: Finance) -> None:
    """Whoever may run it could prepare what they approve themselves afterwards, as themselves."""
    run("prepare", "--month", "2026-08", "--by", "funmi@f.example")
    run("payout", "--by", "oye@f.example")
    with finance.store.reading(Scope.system()) as session:
        made = audit.list_history(session, f"statement {session.execute(sa.select(Statement.id)).scalars().first()}")
        refused = audit.list_history(session, "payout")
    by_command = next(entry for entry in made if entry.action == "statement prepared by command")
    (payout,) = [entry for entry in refused if entry.action == "payout prepared by command refused"]
    for entry, officer in ((by_command, "funmi@f.example"), (payout, "oye@f.example")):
        assert entry.actor == f"command line, {pwd.getpwuid(os.getuid()).pw_name} at {socket.gethostname()}"
        assert (entry.after or {})["officer"] == officer
