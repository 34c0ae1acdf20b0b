"""The plans of the hottest questions: each is answered from an index, and no question walks a distributor's sales."""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

import pytest
import sqlalchemy as sa
from sqlalchemy import event

from core import ids
from core.desk import finder
from core.services.claims.intake import lodging
from core.services.claims.lists import queue
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.review import officers
from core.services.claims.workflow import tasks
from core.services.customers import customers
from core.services.customers import table as customer_table
from core.services.customers.customers import CustomerFilter
from core.services.finance.payments import bank_rows
from core.services.finance.payments import reading as payment_reading
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.lists.windows import Span
from core.services.people.staff import Person
from core.services.policies import policies
from core.services.policies.policies import PolicyFilter
from core.services.renewals import records
from core.services.sales import api_purchases, page_locator
from core.services.sales.filter import SalesFilter, resolve_customer
from core.services.sales.purchases import PurchaseFilter
from core.store.access import Query, Scope, ScopedSession, ScopeViolation, Store
from core.store.operations import statistics
from core.store.schema.tables import Purchase
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, sales_at

pytestmark = pytest.mark.both_databases

OF_DISTRIBUTOR = "ix_purchase_distributor_id_is_live_created_at_id_deleted_at"
RECORDS = ["purchase_1 (id=", "customer_1 (id=", "policy_3 (purchase_id="]
QUARTER = Span(datetime(2026, 9, 1, tzinfo=UTC), datetime(2026, 12, 1, tzinfo=UTC))


def plan(session: ScopedSession, statement: Query) -> list[str]:
    """Return SQLite's plan for a statement."""
    sql = statement.sql(session)
    explanation = sa.text(
        "EXPLAIN QUERY PLAN " + sql.replace("?", "NULL").replace("LIMIT NULL OFFSET NULL", "LIMIT 9 OFFSET 9")
    )
    return [row.detail for row in session.connection().execute(explanation)]


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
        api_purchases.list_purchases(session, wanted, Paging())
        lines = "\n".join(plan(session, api_purchases.get_page_query(wanted)))
    assert all(part in lines for part in found), lines
    assert "SCAN purchase" not in lines


@pytest.fixture
def measured(store: Store) -> Store:
    statistics.refresh(store)
    return store


@every_case(
    "parameters",
    [
        *({"view": [view]} for view in ("mine", "unassigned", "to_pay", "near", "waiting", "open", "all")),
        *({"view": ["all"], "q": [text]} for text in ("C-1744AB3E", "TRF-0", "0803 123 4567", "LAG-123-AB")),
    ],
    ids=str,
)
@pytest.mark.parametrize("database", ["sqlite"])
def test_no_view_of_the_claims_queue_and_no_reference_walks_the_claims(
    measured: Store, parameters: dict[str, list[str]]
) -> None:
    criteria, found = ClaimFilter.read(parameters, me=ids.new()), []
    sent: list[tuple[str, Any]] = []
    with noting(measured, sent), measured.reading(Scope.staff(is_live=True)) as session:
        claim_totals.get_totals(session, criteria)
        if criteria.search:
            queue.list_rows(session, criteria, paging=Paging(1, 50))
    for statement, values in sent:
        found += explain(measured, statement, values).splitlines()
    assert found
    # With nothing but the mode to go by, every claim would be looked at.
    assert not [
        line for line in found if re.match(r"SCAN claim(_\d+)?( |$)|SEARCH claim USING.*\(is_live=\?\)", line)
    ], found


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_claims_page_reads_the_open_claims_of_its_officers_and_none_that_is_settled(
    store: Store, partner: Partner
) -> None:
    statistics.refresh(store)
    sent: list[tuple[str, Any]] = []
    officer = Person(id=ids.new(), email="o@d.example", name="Ola", roles=("claims",), claim_limit_minor=None)
    with noting(store, sent), store.reading(Scope.staff(is_live=True)) as session:
        officers.list_active(session)
        tasks.list_mine(session, officer)
    plans = [explain(store, *each) for each in sent if "claim.claim_status NOT IN" in each[0]]
    assert len(plans) == 2
    assert all("ix_claim_unsettled" in found for found in plans), plans


PARTS = {
    "4967": ("number_key", "plate_key"),
    "HQ4967": ("number_key", "plate_key"),
    "80312345": ("number_key", "phone"),
    "ABC": ("plate_key",),
    "okafor ngozi": ("name_key",),
}


def test_parts_of_numbers_plates_and_phones_are_looked_for_along_their_indexes(store: Store, partner: Partner) -> None:
    """At 1,000,000 policies the rows would take seconds; each text is looked at once, in what holds little else."""
    statistics.refresh(store)
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
    multiply(store, 10_000)
    store.drop_idle_connections()
    for scope in (Scope.staff(is_live=True), partner.scope(is_live=True)):
        for text, columns in PARTS.items():
            for name, statement, values in searches(store, scope, text):
                lines = explain(store, statement, values)
                for column in columns:
                    # A claim has its claimant's phone and name.
                    if name != "claims" or column not in ("phone", "name_key"):
                        assert is_walked(store, scope, column, name, lines), (name, text, lines)


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_phone_as_it_is_dialled_reads_no_policy_but_its_own(store: Store, partner: Partner) -> None:
    statistics.refresh(store)
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
    with store.writers.begin() as connection:
        # As ANALYZE with a limit finds a million policies: far fewer of the mode than there are.
        for index, figures in (("phone", "1000000 6"), ("is_live_created_at_id", "1000000 2001 1 1")):
            connection.exec_driver_sql(
                "UPDATE sqlite_stat1 SET stat = ? WHERE idx = ?", (figures, f"ix_policy_{index}")
            )
    store.drop_idle_connections()
    for scope in (Scope.staff(is_live=True), partner.scope(is_live=True)):
        for text in ("0803 123 4567", "+234 803 123", "09999"):
            for name, statement, values in searches(store, scope, text):
                lines = explain(store, statement, values)
                if name != "claims":  # a claim has its claimant's phone
                    assert "INDEX ix_policy_phone (phone" in lines, (name, text, lines)
                assert not re.search(r"policy USING.*\((distributor_id=\? AND )?is_live=\?\)", lines), (
                    name,
                    text,
                    lines,
                )


def is_walked(store: Store, scope: Scope, column: str, door: str, lines: str) -> bool:
    """Return True if a plan walks the index of a column, and no rows."""
    table = "customer" if column == "name_key" else "policy"
    if store.is_sqlite:
        return f"INDEX ix_{table}_{column} ({column}>?)" in lines
    # PostgreSQL begins with a distributor's own or with claims where they are few.
    is_few = scope.distributor_id is not None or door == "claims"
    walk = f"Index Only Scan using ix_{table}_{column} on {table}"
    return f"Seq Scan on {table} " not in lines and (is_few or walk in lines)


_MULTIPLY = """
INSERT INTO {table} SELECT made.*
FROM (SELECT given FROM {table} AS given LIMIT 1) AS one, generate_series(1, {size}) AS n,
LATERAL jsonb_populate_record(one.given, jsonb_build_object('id', gen_random_uuid(), {values})) AS made
"""
# None of them is found by a text of `PARTS`: nothing that belongs to these rows is made.
_NUMBER = "replace(n::text, '4', 'X')"
_TEXTS = {
    "customer": f"'email_key', n || '@x.example', 'name_key', 'person ' || {_NUMBER}",
    "policy": "'purchase_id', gen_random_uuid(), 'customer_id', gen_random_uuid(),"
    f" 'number_key', 'AR/' || {_NUMBER}, 'plate_key', 'LSD' || {_NUMBER},"
    # As wide as a row of the demonstration is.
    f" 'phone', '080' || {_NUMBER}, 'submitted', jsonb_build_object('as', repeat('typed ', 160))",
}


def multiply(store: Store, size: int) -> None:
    """Fill PostgreSQL's tables, whose planner chooses by their sizes: a few rows are read whole, whatever the index."""
    if store.is_sqlite:
        return
    with store.writers.begin() as connection:
        # References are not looked at.
        connection.exec_driver_sql("SET LOCAL session_replication_role = replica")
        for table, values in _TEXTS.items():
            # The server's own measuring, at any moment after the rows, would count other pages as visible.
            connection.exec_driver_sql(f"ALTER TABLE {table} SET (autovacuum_enabled = false)")
            connection.exec_driver_sql(_MULTIPLY.format(table=table, values=values, size=size))
        connection.exec_driver_sql("ANALYZE policy, customer")
        # As VACUUM says it once nobody reads what was before; when that is would be left to chance.
        connection.exec_driver_sql(
            "UPDATE pg_class SET relallvisible = relpages WHERE oid IN ('policy'::regclass, 'customer'::regclass)"
        )


def searches(store: Store, scope: Scope, text: str) -> Iterator[tuple[str, str, Any]]:
    """Return the one statement that looks for a text at each door."""
    page = Paging(1, 50)
    with store.reading(Scope.system()) as session:
        names = load_choices(session)
    doors: dict[str, Callable[[ScopedSession], object]] = {
        "screen": lambda s: policies.search_policies(s, PolicyFilter(find=text), names, paging=page),
        "policies": lambda s: policies.list_policies(s, PolicyFilter(find=text), page),
        "purchases": lambda s: api_purchases.list_purchases(s, PurchaseFilter(find=text), page),
        "claims": lambda s: queue.list_rows(s, ClaimFilter(search=text), paging=page),
        "lodge": lambda s: lodging.find_policies(s, text),
    }
    for name, search in doors.items():
        sent: list[tuple[str, Any]] = []
        with noting(store, sent), store.reading(scope) as session:
            search(session)
        ((statement, values),) = ((text, values) for text, values in sent if "_key LIKE" in text)
        yield name, statement, values


@contextmanager
def noting(store: Store, sent: list[tuple[str, Any]]) -> Iterator[None]:
    """Note the statements that are sent through SQLAlchemy in the block, with their values."""

    def note(_connection: Any, _cursor: Any, statement: str, values: Any, *_: Any) -> None:
        sent.append((statement, values))

    event.listen(store.engine, "before_cursor_execute", note)
    yield
    event.remove(store.engine, "before_cursor_execute", note)


def explain(store: Store, statement: str, values: Any) -> str:
    """Return the plan of a statement, as the planner chooses it by itself."""
    with store.engine.connect() as connection:
        words = "EXPLAIN QUERY PLAN" if store.is_sqlite else "EXPLAIN"
        rows = connection.exec_driver_sql(f"{words} {statement}", values)
        return "\n".join(row[-1] for row in rows)


@pytest.mark.parametrize("database", ["sqlite"])
def test_the_desk_looks_for_customers_along_narrow_indexes(store: Store, partner: Partner) -> None:
    """The index in the order of the list is three times as wide, and its texts would be joined for each row."""
    statistics.refresh(store)
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
    with store.reading(Scope.system()) as session:
        names = load_choices(session)
    for text, index in {
        "4967": "ix_customer_text (<expr>>?)",
        "okafor": "ix_customer_text (<expr>>?)",
        "80312345": "ix_customer_text (<expr>>?)",
        "0803 123": "ix_customer_phone_number (phone_number>? AND phone_number<?)",
        "okafor ngozi": "ix_customer_name_key (name_key>?)",
    }.items():
        sent: list[tuple[str, Any]] = []
        with noting(store, sent), store.reading(Scope.staff(is_live=True)) as session:
            customer_table.list_customers(session, CustomerFilter(search=text), names, paging=Paging(1, 50))
        lines = explain(store, *next(each for each in sent if "LIKE" in each[0]))
        assert f"INDEX {index}" in lines, (text, lines)
        assert "ix_customer_search" not in lines, (text, lines)


@pytest.mark.parametrize("database", ["sqlite"])
def test_what_the_bank_did_with_payments_is_found_along_its_indexes(store: Store) -> None:
    sent: list[tuple[str, Any]] = []
    with noting(store, sent), store.reading(Scope.staff(is_live=True)) as session:
        payment_reading.list_payments(session, payment_reading.UNFILTERED, Paging(1, 50))
        bank_rows.list_rows(session, since=NOW.date())
    page, rows = (explain(store, *each) for each in sent if "FROM pay" in each[0] or "FROM party" in each[0])
    assert "SCAN payment USING INDEX ix_payment_prepared_at" in page
    for index in ("ix_party_payment_once (payment_id=?)", "(reverses=?)"):
        assert index in page, page
    assert "SEARCH party_payment USING INDEX ix_party_payment_value_on" in rows
    assert "SCAN party" not in page + rows


@pytest.mark.parametrize("database", ["sqlite"])
def test_the_finder_looks_for_the_numbers_and_plates_of_policies_once(store: Store, partner: Partner) -> None:
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
    everybody = Person(
        id=ids.new(), email="o@d.example", name="Ola", roles=("operations", "claims"), claim_limit_minor=None
    )
    sent: list[tuple[str, Any]] = []
    with noting(store, sent), store.reading(Scope.staff(is_live=True)) as session:
        finder.find_records(session, "4967", everybody)
    assert sum("INDEXED BY ix_policy_number_key" in statement for statement, _ in sent) == 1, sent


@pytest.mark.parametrize("database", ["sqlite"])
def test_an_e_mail_that_nobody_has_walks_no_sales(store: Store, partner: Partner) -> None:
    statistics.refresh(store)
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
    criteria = SalesFilter(customer_email="nobody@x.example")
    with store.reading(partner.scope(is_live=True)) as session:
        wanted = resolve_customer(session, criteria)
        assert api_purchases.list_purchases(session, criteria).total_count == 0
        assert policies.list_policies(session, criteria).total_count == 0
        assert records.list_renewals(session, criteria).total_count == 0
        lines = "\n".join(plan(session, api_purchases.get_page_query(wanted)))
    assert "ix_purchase_customer_id_created_at (customer_id=?)" in lines, lines


@pytest.mark.parametrize("database", ["sqlite"])
def test_a_page_is_read_in_its_order_whatever_the_figures_say(store: Store, partner: Partner) -> None:
    statistics.refresh(store)
    with store.writers.begin() as connection:
        connection.exec_driver_sql("UPDATE sqlite_stat1 SET stat = '9 1 1 1 1 1 1 1 1 1 1' WHERE tbl = 'policy'")
        connection.exec_driver_sql("UPDATE sqlite_stat1 SET stat = '9 1 1 1 1 1 1 1 1 1 1' WHERE tbl = 'customer'")
    store.drop_idle_connections()
    with store.reading(partner.scope(is_live=True)) as session:
        lines = "\n".join(plan(session, api_purchases.get_page_query(SalesFilter())))
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
    statements: list[tuple[str, Any]] = []
    with store.writing(Scope.system()) as session:
        sales_at(session, partner.id, NOW)
    event.listen(
        store.engine, "before_cursor_execute", lambda *arguments: statements.append((arguments[2], arguments[3]))
    )
    with store.reading(partner.scope(is_live=True)) as session:
        read(session)
    table = index.split("_")[1]
    walks = [
        entry
        for entry in statements
        if f"FROM {table} " in entry[0] and " JOIN " not in entry[0] and " IN (" not in entry[0]
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
