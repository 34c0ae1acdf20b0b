"""`coverdesk bordereaux`: issues what is next, as a person of finance."""

import pytest
from typer.testing import CliRunner, Result

from core import cli
from core.errors import InvalidInput, NotAllowed
from core.store.access import Store
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio
from tests.services.finance_office import Finance

pytestmark = pytest.mark.frozen_at(NOW)


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    Portfolio(seed=21, size=40, sellers=(partner.id,)).write(store)
    return Finance(store)


def run(*arguments: str) -> Result:
    return CliRunner().invoke(cli.app, ["bordereaux", *arguments])


def test_a_month_is_issued_once_and_listed(finance: Finance) -> None:
    done = run("issue", "--month", "2026-08", "--by", "funmi@f.example")
    assert done.exit_code == 0
    assert "bordereaux of August 2026 are issued" in done.stdout
    assert "BP-0001\tIssued\tpremium" in run("list", "--month", "2026-08").stdout
    assert "0 bordereaux" in run("issue", "--month", "2026-08", "--by", "funmi@f.example").stdout
    assert isinstance(run("issue", "--month", "2026-09", "--by", "oye@f.example").exception, NotAllowed)
    assert isinstance(run("list", "--month", "August").exception, InvalidInput)
