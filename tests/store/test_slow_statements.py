"""A statement that takes long is logged with its text and without its values, however it was sent."""

import pytest
import sqlalchemy as sa
from structlog.testing import capture_logs

from core.store.access import Scope, Store, slow_statements
from core.store.access.statements import execute

PERSONAL = "22334455667"


@pytest.fixture(autouse=True)
def _everything_is_slow(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_statements, "SLOW_SECONDS", 0.0)


def test_a_statement_of_sqlalchemy_is_logged_without_its_values(store: Store) -> None:
    with capture_logs() as told, store.reading(Scope.system()) as session:
        session.execute(sa.text("SELECT CAST(:number AS text)"), {"number": PERSONAL}).scalar_one()
    (line,) = [line for line in told if "CAST" in line["statement"]]
    assert (line["event"], line["log_level"]) == ("slow statement", "warning")
    assert PERSONAL not in str(told)


def test_a_statement_sent_through_the_driver_is_logged_without_its_values(store: Store) -> None:
    mark = "?" if store.is_sqlite else "%s"
    with capture_logs() as told, store.reading(Scope.system()) as session:
        sent = execute(session.connection(), f"SELECT 7 AS seven, CAST({mark} AS text)", (PERSONAL,))
        assert sent.rows == [(7, PERSONAL)]
    assert any("SELECT 7 AS seven" in line["statement"] for line in told)
    assert PERSONAL not in str(told)


def test_a_quick_statement_is_not_logged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(slow_statements, "SLOW_SECONDS", 60.0)
    with capture_logs() as told, store.reading(Scope.system()) as session:
        session.execute(sa.text("SELECT 1")).scalar_one()
    assert told == []
