"""The plans of the hottest questions: each is answered from an index, and no question walks a distributor's sales."""

import re
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from core import ids
from core.services.claims.lists import queue
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.customers import customers
from core.services.customers.customers import CustomerFilter
from core.services.paging import Paging
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.services.renewals import records
from core.services.sales import page_locator, purchases
from core.services.sales.filter import SalesFilter
from core.services.windows import Span
from core.store.access import Query, Scope, ScopedSession, ScopeViolation, Store
from core.store.operations import statistics
from core.store.schema.tables import Purchase
from tests.conftest import Partner
from tests.portfolio import NOW, sales_at

pytestmark = pytest.mark.both_databases

OF_DISTRIBUTOR = "ix_purchase_distributor_id_is_live_created_at_id_deleted_at"
RECORDS = ["purchase_1 (id=", "customer_1 (id=", "policy_3 (purchase_id="]
QUARTER = Span(datetime(2026, 9, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))


def plan(session: ScopedSession, statement: Query) -> list[str]:
    """Return SQLite's plan for a statement."""
    sql = statement.sql(session)
    asked = sa.text(
        "EXPLAIN QUERY PLAN " + sql.replace("?", "NULL").replace("LIMIT NULL OFFSET NULL", "LIMIT 9 OFFSET 9")
    )
    return [row.detail for row in session.connection().execute(asked)]


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (SalesFilter(), [f"COVERING INDEX {OF_DISTRIBUTOR}", *RECORDS]),
        (SalesFilter(created=QUARTER, provider_ids=(ids.new(),)), [OF_DISTRIBUTOR, *RECORDS]),
        (SalesFilter(customer_id=ids.new()), ["ix_purchase_customer_id_created_at (customer_id=?)", *RECORDS]),
    ],
    ids=["list", "days and insurer", "customer, which an e-mail becomes"],
)
@pytest.mark.parametrize("database", ["sqlite"])
def test_a_page_of_purchases_is_found_in_an_index(
    store: Store, partner: Partner, wanted: SalesFilter, found: list[str]
) -> None:
    statistics.refresh(store)
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
    with store.reading(partner.scope(is_live=True)) as session:
        purchases.list_purchases(session, wanted, Paging())
        lines = "\n".join(plan(session, purchases.get_page_query(wanted)))
    assert all(part in lines for part in found), lines
    assert "SCAN purchase" not in lines


@pytest.mark.parametrize(
    "asked",
    [
        *({"view": [view]} for view in ("mine", "unassigned", "to_pay", "near", "waiting", "open", "all")),
        *({"view": ["all"], "q": [text]} for text in ("C-1744AB3E", "TRF-0", "0803 123 4567", "LAG-123-AB")),
    ],
    ids=str,
)
@pytest.mark.parametrize("database", ["sqlite"])
def test_no_view_of_the_claims_queue_and_no_reference_walks_the_claims(
    store: Store, partner: Partner, asked: dict[str, list[str]]
) -> None:
    statistics.refresh(store)
    criteria, found = ClaimFilter.read(asked, me=ids.new()), []
    sent: list[tuple[str, Any]] = []

    @event.listens_for(store.engine, "before_cursor_execute")
    def _(_connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        sent.append((statement, values))

    with store.reading(Scope.staff(is_live=True)) as session:
        claim_totals.get_totals(session, criteria)
        if criteria.search:
            queue.list_rows(session, criteria, paging=Paging(1, 50))
    for statement, values in list(sent):
        with store.engine.connect() as connection:
            plan = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {statement}", values)
            found += [row.detail for row in plan]
    assert found
    # With nothing but the mode to go by, every claim would be looked at.
    assert not [
        line for line in found if re.match(r"SCAN claim(_\d+)?( |$)|SEARCH claim USING.*\(is_live=\?\)", line)
    ], found


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_page_is_read_in_its_order_whatever_the_figures_say(store: Store, partner: Partner) -> None:
    statistics.refresh(store)
    with store.writers.begin() as connection:
        connection.exec_driver_sql("UPDATE sqlite_stat1 SET stat = '9 1 1 1 1 1 1 1 1 1 1' WHERE tbl = 'policy'")
        connection.exec_driver_sql("UPDATE sqlite_stat1 SET stat = '9 1 1 1 1 1 1 1 1 1 1' WHERE tbl = 'customer'")
    store.drop_idle_connections()
    with store.reading(partner.scope(is_live=True)) as session:
        lines = "\n".join(plan(session, purchases.get_page_query(SalesFilter())))
    assert all(part in lines for part in (f"COVERING INDEX {OF_DISTRIBUTOR}", *RECORDS)), lines


@pytest.mark.parametrize(
    ("read", "index"),
    [
        (policies.list_policies, "ix_policy_of_distributor"),
        (lambda s: policies.list_policies(s, PolicyFilter(status=True)), "ix_policy_of_distributor"),
        (lambda s: policies.list_policies(s, SalesFilter(expiring=QUARTER)), "ix_policy_in_force"),
        (records.list_renewals, "ix_renewal_of_distributor"),
        (customers.list_customers, "ix_customer_of_distributor"),
        (
            lambda s: customers.list_customers(s, CustomerFilter(search="okafor", active=True)),
            "ix_customer_of_distributor",
        ),
    ],
    ids=["policies", "policies in force", "policies that expire", "renewals", "customers", "customers by a name"],
)
@pytest.mark.parametrize("database", ["sqlite"])
def test_a_list_is_counted_and_paged_in_an_index_that_holds_all_it_reads(
    store: Store, partner: Partner, read: Callable[[ScopedSession], object], index: str
) -> None:
    statistics.refresh(store)
    asked: list[tuple[str, Any]] = []
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
    event.listen(store.engine, "before_cursor_execute", lambda *told: asked.append((told[2], told[3])))
    with store.reading(partner.scope(is_live=True)) as session:
        read(session)
    table = index.split("_")[1]
    walks = [
        told for told in asked if f"FROM {table} " in told[0] and " JOIN " not in told[0] and " IN (" not in told[0]
    ]
    with store.engine.connect() as connection:
        plans = [str(connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", given).all()) for sql, given in walks]
    assert plans
    assert all(f"COVERING INDEX {index} (" in each for each in plans), plans


@pytest.mark.parametrize("database", ["sqlite"])
def test_purchases_are_counted_in_the_daybook(store: Store, partner: Partner) -> None:
    statistics.refresh(store)
    with store.reading(partner.scope(is_live=True)) as session:
        (step,) = plan(session, page_locator.get_lines_query(SalesFilter()))
    assert "COVERING INDEX ix_daybook_line_of_distributor (distributor_id=? AND is_live=? AND grain=? AND day>" in step


def test_a_prepared_statement_sees_no_more_than_its_session(store: Store, partner: Partner, stranger: Partner) -> None:
    statement = Query(sa.select(Purchase.id))
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
    seen = {
        scope: len(store_rows(store, scope, statement))
        for scope in (
            partner.scope(is_live=True),
            partner.scope(),
            stranger.scope(is_live=True),
            Scope.staff(is_live=True),
            Scope.staff(is_live=False),
            Scope.system(),
        )
    }
    assert list(seen.values()) == [1, 0, 0, 1, 0, 1]
    with pytest.raises(ScopeViolation):
        Query(sa.select(sa.inspect(Purchase).local_table))


def store_rows(store: Store, scope: Scope, statement: Query) -> list[tuple[object, ...]]:
    """Return the rows that a scope sees."""
    with store.reading(scope) as session:
        return statement.rows(session)
