"""Questions to PostgreSQL: no transaction where none is needed, and a ping only after a rest."""

import pytest
import sqlalchemy as sa
from psycopg.pq import TransactionStatus

from core.store import engine
from core.store.engine import Store
from core.store.scope import Scope, ScopedSession
from tests.conftest import administering

SYSTEM, PID = Scope.system(), "SELECT pg_backend_pid()"
on_postgres = pytest.mark.parametrize("store", [pytest.param("postgres", marks=pytest.mark.postgres)], indirect=True)


def asked(session: ScopedSession, question: str) -> object:
    return session.execute(sa.text(question)).scalar_one()


def status(session: ScopedSession) -> TransactionStatus:
    asked(session, "SELECT 1")
    return session.connection().connection.driver_connection.info.transaction_status


@on_postgres
def test_questions_that_are_answered_whole_open_no_transaction(store: Store) -> None:
    with store.asking(SYSTEM) as session:
        assert status(session) == TransactionStatus.IDLE
    # The same connection, as the pool gives the last one first.
    with store.reading(SYSTEM) as session:
        assert status(session) == TransactionStatus.INTRANS
    with store.writing(SYSTEM) as session:
        assert status(session) == TransactionStatus.INTRANS


@on_postgres
def test_a_connection_that_died_while_it_rested_is_noticed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.reading(SYSTEM) as session:
        died = asked(session, PID)
    with administering(store.url) as connection:
        assert connection.scalar(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": died})
    monkeypatch.setattr(engine, "_TRUSTED_SECONDS", 0.0)
    with store.asking(SYSTEM) as session:
        assert asked(session, PID) != died
