"""`coverdesk check` finds what should never be, and finds nothing where all is well."""

from datetime import UTC, datetime

import pytest
import sqlalchemy as sa

from core.desk import store_check
from core.store.access import Scope, Store
from core.store.operations import blob_storage
from tests.every_case import every_case
from tests.planting import assert_named, planted
from tests.prefilled import demonstration_copy

UNTIL = datetime(2026, 11, 20, 12, tzinfo=UTC)


def faults(store: Store) -> list[str]:
    with store.reading(Scope.system()) as session:
        return store_check.list_faults(session)


@pytest.fixture
def portfolio(store: Store) -> Store:
    """A store with some months of everything."""
    demonstration_copy(store, purchases=250, seed=3, until=UNTIL)
    return store


def test_empty_store_and_demonstration_hold(store: Store) -> None:
    assert faults(store) == []
    demonstration_copy(store, purchases=250, seed=3, until=UNTIL)
    assert faults(store) == []


@pytest.mark.both_databases
@every_case(
    ("triggers", "sabotage", "words"),
    [
        (
            {},
            "UPDATE policy SET genius_price_minor = genius_price_minor + 1 WHERE id = (SELECT min({text}) FROM policy)",
            "1 policies that differ from their purchase",
        ),
        ({}, "UPDATE policy SET certificate_code = NULL WHERE activated", "policies whose certificate is missing"),
        ({}, "UPDATE policy SET expiration_at = NULL WHERE activated", "without a number or dates"),
        ({}, "DELETE FROM submission", "policies that no submission accounts for"),
        ({}, "UPDATE submission SET state = 'declined'", "submissions settled otherwise than their policy"),
        ({}, "UPDATE renewal SET expiration_at = start_at", "renewals whose dates run backwards"),
        ({}, "UPDATE claim SET claim_status = 'Viewed' WHERE claim_status <> 'Viewed'", "its history at"),
        (
            {"claim_event_update": "claim_event"},
            "UPDATE claim_event SET status = 'Settled' WHERE status = 'Pending'",
            "which no move allows",
        ),
        (
            {"refund_update": "refund"},
            "UPDATE refund SET total_minor = 100000000000",
            "policies refunded by more than was paid",
        ),
        (
            {"audit_entry_update": "audit_entry"},
            "UPDATE audit_entry SET actor = 'nobody' WHERE position = 1",
            "audit chain",
        ),
        ({}, "UPDATE daybook_line SET sold_minor = sold_minor + 1", "daybook"),
        (
            {"purchase_amounts": "purchase"},
            "UPDATE purchase SET mca_profit_minor = mca_profit_minor - 1 WHERE mca_profit_minor > 0",
            "purchases whose parts are not those of their total",
        ),
        (
            {"renewal_amounts": "renewal"},
            "UPDATE renewal SET distributor_profit_minor = distributor_profit_minor - 1",
            "renewals whose parts are not those of their total",
        ),
        (
            {},
            "UPDATE policy SET expiration_at = activation_at WHERE id IN (SELECT policy_id FROM renewal)",
            "policies that do not end with their last term",
        ),
        (
            {},
            "UPDATE renewal SET previous_expiration_at = '2020-01-01 00:00:00.000000' WHERE start_at ="
            " (SELECT max(start_at) FROM renewal WHERE policy_id = (SELECT policy_id FROM renewal"
            " GROUP BY policy_id ORDER BY count(*) DESC LIMIT 1))",
            "renewals that do not follow the term before them",
        ),
        (
            {},
            "UPDATE renewal SET customer_id = (SELECT customer_id FROM policy WHERE policy.id <> renewal.policy_id"
            " AND policy.customer_id <> renewal.customer_id LIMIT 1)",
            "renewals that differ from their policy",
        ),
        ({}, "UPDATE claim SET is_live = NOT is_live", "claims that differ from their policy"),
        ({}, "UPDATE customer SET is_live = NOT is_live", "policies of another distributor's customer"),
        (
            {},
            "UPDATE policy SET cancelled_at = NULL, declined_at = NULL",
            "refunds of policies that never ended",
        ),
    ],
)
def test_each_fault_is_named(portfolio: Store, triggers: dict[str, str], sabotage: str, words: str) -> None:
    text = "id" if portfolio.is_sqlite else "id::text"
    statement = sabotage.replace("(SELECT min({text}) FROM policy)", f"(SELECT id FROM policy ORDER BY {text} LIMIT 1)")
    with planted(portfolio, statement, without=triggers) as session:
        assert_named(session, words)


def test_missing_and_changed_files_are_named(portfolio: Store) -> None:
    with portfolio.reading(Scope.system()) as session:
        codes = session.execute(sa.text("SELECT code FROM uploaded_file ORDER BY code LIMIT 2")).scalars().all()
    blob_storage.remove(codes[0])
    blob_storage.path_of(codes[1]).write_bytes(b"something else")
    assert {f"file {codes[0]} is missing", f"file {codes[1]} was changed"} <= set(faults(portfolio))


def test_store_of_another_version_is_named(store: Store) -> None:
    with store.writers.begin() as connection:
        connection.exec_driver_sql("UPDATE alembic_version SET version_num = '0001'")
    assert any("stands at version 0001" in fault for fault in faults(store))


def test_row_that_points_to_nothing_is_named(portfolio: Store) -> None:
    """On PostgreSQL the database itself keeps such rows from coming to be."""
    if not portfolio.is_sqlite:
        return
    connection = portfolio.engine.raw_connection()
    cursor = connection.cursor()
    cursor.execute("PRAGMA foreign_keys=OFF")
    cursor.execute("DELETE FROM certificate")
    cursor.execute("DELETE FROM policy WHERE id IN (SELECT id FROM policy ORDER BY id LIMIT 1)")
    cursor.execute("PRAGMA foreign_keys=ON")
    connection.close()
    found = faults(portfolio)
    assert any("1 purchases without a policy" in fault for fault in found)
    assert any("points to nothing in policy" in fault for fault in found)
