"""A statement that takes long is logged with its text and without its values, however it was sent."""

from collections.abc import Callable

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from core.store.access import Scope, ScopedSession, Store, statements
from core.store.access.statements import execute
from core.store.schema.tables import Policy
from tests.every_case import every_case

pytestmark = pytest.mark.both_databases

PERSONAL = "22334455667"


@pytest.fixture(autouse=True)
def _everything_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "SLOW_SECONDS", 0.0)


def test_a_statement_of_sqlalchemy_is_logged_without_its_values(store: Store) -> None:
    with capture_logs() as log, store.reading(Scope.system()) as session:
        session.execute(sa.text("SELECT CAST(:number AS text)"), {"number": PERSONAL}).scalar_one()
    (line,) = [line for line in log if "CAST" in line["statement"]]
    assert (line["event"], line["log_level"]) == ("slow statement", "warning")
    assert PERSONAL not in str(log)


def test_a_statement_sent_through_the_driver_is_logged_without_its_values(store: Store) -> None:
    mark = "?" if store.is_sqlite else "%s"
    with capture_logs() as log, store.reading(Scope.system()) as session:
        sent = execute(session.connection(), f"SELECT 7 AS seven, CAST({mark} AS text)", (PERSONAL,))
        assert sent.rows == [(7, PERSONAL)]
    assert any("SELECT 7 AS seven" in line["statement"] for line in log)
    assert PERSONAL not in str(log)


def test_a_long_list_of_columns_is_left_out_for_the_conditions(store: Store) -> None:
    with capture_logs() as log, store.reading(Scope.system()) as session:
        session.execute(sa.select(Policy).where(sa.column("policy_number") == "A/1")).all()
    (line,) = [line for line in log if "policy_number =" in line["statement"]]
    assert line["statement"].startswith("SELECT ... FROM policy")
    assert len(line["statement"]) < 300


def run_by_sqlalchemy(session: ScopedSession) -> None:
    session.execute(sa.text("SELECT :number FROM nowhere_at_all"), {"number": PERSONAL})


def run_through_driver(session: ScopedSession) -> None:
    mark = "?" if session.connection().dialect.name == "sqlite" else "%s"
    assert execute(session.connection(), f"SELECT {mark} FROM nowhere_at_all", (PERSONAL,)).rows


@every_case("run", [run_by_sqlalchemy, run_through_driver])
def test_a_statement_that_fails_is_logged_as_well_without_its_values(
    store: Store, run: Callable[[ScopedSession], None]
) -> None:
    with capture_logs() as log, store.reading(Scope.system()) as session, pytest.raises(sa.exc.DBAPIError):
        run(session)
    assert [line["event"] for line in log if "nowhere_at_all" in line["statement"]] == ["slow statement"]
    assert PERSONAL not in str(log)


def test_a_quick_statement_is_not_logged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statements, "SLOW_SECONDS", 60.0)
    with capture_logs() as log, store.reading(Scope.system()) as session:
        session.execute(sa.text("SELECT 1")).scalar_one()
    assert log == []
