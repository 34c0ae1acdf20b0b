"""`coverdesk statements`: prepares what is due, as a person of finance; approving stays on the screen."""

from collections.abc import Iterator

import pytest
import sqlalchemy as sa
from typer.testing import CliRunner, Result

from core import cli, clock
from core.errors import InvalidInput, NotAllowed
from core.store.access import Store
from core.store.schema.tables import Statement
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio
from tests.services.finance_office import Finance


@pytest.fixture(autouse=True)
def now() -> Iterator[None]:
    with clock.freeze(NOW):
        yield


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    Portfolio(seed=21, size=40, sellers=(partner.id,)).write(store)
    return Finance(store)


def run(*told: str) -> Result:
    return CliRunner().invoke(cli.app, ["statements", *told])


def test_a_month_is_prepared_and_listed(finance: Finance) -> None:
    done = run("prepare", "--month", "2026-08", "--by", "funmi@f.example")
    assert done.exit_code == 0
    assert "Swift Lenders: prepared" in done.stdout
    with finance.reading() as session:
        made = session.execute(sa.select(Statement)).scalars().all()
    assert {row.prepared_by for row in made} == {finance.people["funmi"].id}
    listed = run("list", "--month", "2026-08").stdout
    assert f"CS-0001\tPrepared\tSwift Lenders\t{next(row.lines for row in made if row.distributor_id)}" in listed
    assert "0 statements" in run("prepare", "--month", "2026-08", "--by", "funmi@f.example").stdout


def test_a_month_that_is_not_next_is_refused_with_the_one_that_is(finance: Finance) -> None:
    done = run("prepare", "--month", "2026-09", "--by", "funmi@f.example")
    assert done.exit_code == 1
    assert "August 2026 comes first" in done.stderr


def test_only_finance_prepares_and_a_month_is_a_month(finance: Finance) -> None:
    assert isinstance(run("prepare", "--month", "2026-08", "--by", "oye@f.example").exception, NotAllowed)
    assert isinstance(run("prepare", "--month", "August", "--by", "funmi@f.example").exception, InvalidInput)
