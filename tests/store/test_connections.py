"""Statements sent to PostgreSQL: no transaction where none is needed, a ping only after a rest, and few round trips."""

from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

import psycopg
import pytest
import sqlalchemy as sa
from psycopg.pq import TransactionStatus

from core import clock
from core.services.catalogue import products
from core.services.lists.windows import Span
from core.services.sales import api_purchases
from core.services.sales.filter import SalesFilter
from core.store.access import Query, Scope, ScopedSession, Store, engine
from core.store.access.scope import connection_of
from core.store.access.statements import driver_connection, execute
from core.store.schema.tables import InsuredRisk, NumberCounter, Provider
from tests.conftest import Partner
from tests.every_case import every_case
from tests.postgres_database import administering

pytestmark = pytest.mark.both_databases

PROVIDERS = Query(sa.select(sa.func.count()).select_from(Provider))
SYSTEM, PID = Scope.system(), "SELECT pg_backend_pid()"
on_postgres = pytest.mark.parametrize("database", [pytest.param("postgres", marks=pytest.mark.postgres)])


def fetch_value(session: ScopedSession, question: str) -> object:
    return session.execute(sa.text(question)).scalar_one()


def status(session: ScopedSession) -> TransactionStatus:
    fetch_value(session, "SELECT 1")
    return session.connection().connection.driver_connection.info.transaction_status


@on_postgres
def test_questions_that_are_answered_whole_open_no_transaction(store: Store) -> None:
    with store.reading_autocommit(SYSTEM) as session:
        assert status(session) == TransactionStatus.IDLE
    # The same connection, as the pool gives the last one first.
    with store.reading(SYSTEM) as session:
        assert status(session) == TransactionStatus.INTRANS
    with store.writing(SYSTEM) as session:
        assert status(session) == TransactionStatus.INTRANS


@on_postgres
def test_options_of_the_address_hold_beside_ours(store: Store) -> None:
    wanted = "-c statement_timeout=7000 -c application_name=ours"
    other = Store(store.url.update_query_dict({"options": wanted}).render_as_string(hide_password=False))
    for open_ in (other.reading, other.writing):
        with open_(SYSTEM) as session:
            shown = [
                fetch_value(session, f"SHOW {name}")
                for name in ("statement_timeout", "application_name", "lock_timeout")
            ]
        assert shown == ["7s", "ours", "10s"]
    other.close()


@on_postgres
def test_a_connection_that_died_while_it_rested_is_noticed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.reading(SYSTEM) as session:
        died = fetch_value(session, PID)
    with administering(store.url) as connection:
        assert connection.scalar(sa.text("SELECT pg_terminate_backend(:pid, 5000)"), {"pid": died})
    monkeypatch.setattr(engine, "_TRUSTED_SECONDS", 0.0)
    with store.reading_autocommit(SYSTEM) as session:
        assert fetch_value(session, PID) != died


@contextmanager
def trips(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """Record the statements of a block, alone or sent together."""
    sent: list[str] = []
    alone, together = psycopg.Cursor.execute, psycopg.Connection.pipeline

    def execute(cursor: psycopg.Cursor[object], query: str, *rest: object, **options: object) -> object:
        if cursor.connection._pipeline is None:
            sent.append(query)
        return alone(cursor, query, *rest, **options)  # type: ignore[arg-type]

    def pipeline(connection: psycopg.Connection[object]) -> object:
        sent.append("together")
        return together(connection)

    with monkeypatch.context() as patch:
        patch.setattr(psycopg.Cursor, "execute", execute)
        patch.setattr(psycopg.Connection, "pipeline", pipeline)
        yield sent


@on_postgres
def test_what_nobody_waits_for_goes_together(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.writing(SYSTEM) as session:
        assert connection_of(session)  # opened, so that nothing of that is counted
        with trips(monkeypatch) as sent:
            session.insert(NumberCounter(series="one", last=1), NumberCounter(series="two", last=2))
            assert sent == []
            assert not session.insert_if_absent(NumberCounter(series="one", last=9))
            assert sent == ["together"]
            session.insert(NumberCounter(series="three", last=3))
            session.commit()
            assert sent == ["together", "together"]
    with store.reading(SYSTEM) as session:
        assert (
            fetch_value(session, "SELECT string_agg(series, ' ' ORDER BY last) FROM number_counter") == "one two three"
        )


@on_postgres
def test_questions_that_do_not_hang_on_each_other_go_together(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    with store.reading_autocommit(SYSTEM) as session, trips(monkeypatch) as sent:
        revision, providers = products.submit_revision(session), PROVIDERS.submit(session)
        assert sent == []
        assert providers.one == (7,)
        assert revision.one
        assert sent == ["together"]


@on_postgres
def test_a_list_of_purchases_is_one_trip_with_its_transaction(
    store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    for wanted, needed in ((SalesFilter(), 1), (SalesFilter(created=Span(clock.now())), 2)):
        with store.reading(partner.scope()) as session:
            products.get_catalogue(session)
        with trips(monkeypatch) as sent, store.reading(partner.scope()) as session:
            api_purchases.list_purchases(session, wanted, ends=True)
        assert sent == ["together"] * needed


@every_case("ends", [True, False])
def test_the_end_of_a_list_does_not_end_what_is_written(store: Store, partner: Partner, *, ends: bool) -> None:
    def fail(session: ScopedSession) -> None:
        assert session.insert_if_absent(NumberCounter(series="written", last=1))
        assert api_purchases.list_purchases(session, ends=ends).total_count == 0
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.transact(partner.scope(), fail)
    with store.reading(SYSTEM) as session:
        assert fetch_value(session, "SELECT count(*) FROM number_counter WHERE series = 'written'") == 0


def test_a_read_transaction_sees_one_moment(store: Store) -> None:
    counted = "SELECT count(*) FROM number_counter"
    with store.reading(SYSTEM) as session:
        before = fetch_value(session, counted)
        with store.writing(SYSTEM) as other:
            other.insert(NumberCounter(series="meanwhile", last=1))
        assert fetch_value(session, counted) == before
    with store.reading(SYSTEM) as session:
        assert fetch_value(session, counted) == 1


def test_what_is_said_is_done_in_its_order(store: Store) -> None:
    """Through entities, past them and in the driver's words, in turns."""
    with store.writing(SYSTEM) as session:
        session.insert(NumberCounter(series="a", last=1))
        session.execute(sa.update(NumberCounter).values(last=NumberCounter.last + 10))  # type: ignore[arg-type]
        execute(connection_of(session), "UPDATE number_counter SET last = last * 2")
        session.execute(sa.update(NumberCounter).values(last=NumberCounter.last + 3))  # type: ignore[arg-type]
        cursor = driver_connection(connection_of(session)).cursor()
        assert cursor.execute("SELECT last FROM number_counter").fetchone() == (25,)


def test_what_fails_late_leaves_nothing_and_is_named(store: Store) -> None:
    row = InsuredRisk(product_id=uuid4(), risk_hash="of no product", sold_at=clock.now())
    with pytest.raises(sa.exc.IntegrityError, match="insured_risk") as failed, store.writing(SYSTEM) as session:
        session.insert(NumberCounter(series="first", last=1), row, NumberCounter(series="last", last=1))
    assert "of no product" not in str(failed.value)
    with store.writing(SYSTEM) as session:
        assert fetch_value(session, "SELECT count(*) FROM number_counter WHERE series = 'written'") == 0
        session.insert(NumberCounter(series="first", last=1))


def test_an_error_before_the_end_leaves_what_was_put_off_unsent(store: Store) -> None:
    def fail(session: ScopedSession) -> None:
        session.insert(NumberCounter(series="first", last=1))
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        store.transact(SYSTEM, fail)
    with store.writing(SYSTEM) as session:
        assert session.insert_if_absent(NumberCounter(series="second", last=1))
    with store.reading(SYSTEM) as session:
        assert fetch_value(session, "SELECT string_agg(series, ' ') FROM number_counter") == "second"


@on_postgres
def test_a_read_cannot_write(store: Store) -> None:
    with pytest.raises(sa.exc.DBAPIError, match="read-only"), store.reading(SYSTEM) as session:
        fetch_value(session, "UPDATE number_counter SET last = 0 RETURNING last")


@on_postgres
def test_what_reads_have_prepared_is_not_forgotten_with_their_end(store: Store) -> None:
    for _ in range(10):
        with store.reading(SYSTEM) as session:
            pid = fetch_value(session, PID)
    with store.reading(SYSTEM) as session:
        assert fetch_value(session, PID) == pid
        assert fetch_value(session, "SELECT count(*) FROM pg_prepared_statements") != 0
