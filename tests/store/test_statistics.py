"""The right index from the first row on: a store that grows from empty does not slow down."""

import json
from pathlib import Path

import pytest
import sqlalchemy as sa
from sqlmodel import SQLModel

from core.store.access import Store
from core.store.operations import statistics
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import Portfolio

pytestmark = pytest.mark.both_databases

ONE_OF_MINE = "distributor_id = 'd' AND is_live = 1"


@every_case(
    ("question", "index"),
    [
        (f"SELECT id FROM policy WHERE {ONE_OF_MINE} AND number_key = 'N'", "ix_policy_number_key"),
        (
            f"SELECT id FROM policy WHERE {ONE_OF_MINE} AND product_id = 'p' AND risk_hash = 'r'"
            " AND (expiration_at IS NULL OR expiration_at > 'x') ORDER BY created_at, id LIMIT 1",
            "ix_policy_product_id_risk_hash",
        ),
        (f"SELECT id FROM policy WHERE {ONE_OF_MINE} AND customer_id = 'c'", "ix_policy_of_customer"),
        (f"SELECT id FROM purchase WHERE {ONE_OF_MINE} AND id = 'x'", "sqlite_autoindex_purchase_1"),
        (f"SELECT id FROM purchase WHERE {ONE_OF_MINE} ORDER BY created_at DESC, id DESC LIMIT 10", "ix_purchase_dist"),
        (f"SELECT id FROM claim_event WHERE {ONE_OF_MINE} AND claim_id = 'c'", "ix_claim_event_claim_id"),
    ],
)
@pytest.mark.parametrize("database", ["sqlite"])
def test_sqlite_finds_one_row_by_its_own_index_in_an_empty_store(store: Store, question: str, index: str) -> None:
    statistics.refresh(store)
    with store.engine.connect() as connection:
        plan = " ".join(row.detail for row in connection.execute(sa.text(f"EXPLAIN QUERY PLAN {question}")))
    assert index in plan


def test_refreshing_again_changes_nothing(store: Store) -> None:
    statistics.refresh(store)
    statistics.refresh(store)


@pytest.mark.parametrize("database", ["sqlite"])
def test_figures_of_a_small_store_are_all_lent(store: Store, partner: Partner) -> None:
    statistics.refresh(store)
    Portfolio(seed=1, size=40, sellers=(partner.id,)).write(store)
    statistics.refresh(store)
    with store.engine.connect() as connection:
        figures = connection.exec_driver_sql(
            "SELECT tbl, stat FROM sqlite_stat1 WHERE tbl IN ('policy', 'purchase')"
        ).all()
    wholes = {(table, int(figure.split()[0])) for table, figure in figures}
    assert {("policy", 20_000), ("purchase", 20_000)} <= wholes
    assert not {("policy", 40), ("purchase", 40)} & wholes


@pytest.mark.parametrize("database", ["sqlite"])
def test_figures_of_a_large_store_are_measured(store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(statistics, "_TELLING", 39)
    Portfolio(seed=1, size=40, sellers=(partner.id,)).write(store)
    statistics.refresh(store)
    with store.engine.connect() as connection:
        figures = dict(connection.exec_driver_sql("SELECT idx, stat FROM sqlite_stat1").all())  # type: ignore[arg-type]
    assert figures["sqlite_autoindex_purchase_1"] == "40 1"
    assert figures["sqlite_autoindex_claim_1"] != "0 0"


def test_figures_that_are_lent_are_of_tables_that_exist() -> None:
    measured = json.loads(Path(statistics.__file__).with_suffix(".json").read_text())
    assert {table for table, *_ in measured} - SQLModel.metadata.tables.keys() == set()


@pytest.mark.parametrize("database", ["postgresql"])
def test_a_table_that_was_measured_before_its_rows_were_committed_is_measured_again(store: Store) -> None:
    with store.writers.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE grown AS SELECT repeat('x', 1000) AS filler WHERE false")
    with store.writers.begin() as connection:
        connection.exec_driver_sql("INSERT INTO grown SELECT repeat('x', 1000) FROM generate_series(1, 200)")
        statistics.refresh_grown(store)
        assert _count_measured(store, "grown") == 0
    statistics.refresh_grown(store)
    assert _count_measured(store, "grown") == 200


def _count_measured(store: Store, table: str) -> int:
    question = sa.text("SELECT reltuples FROM pg_class WHERE oid = CAST(:table AS regclass)")
    with store.engine.connect() as connection:
        return int(connection.execute(question, {"table": table}).scalar_one())
