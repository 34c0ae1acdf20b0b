"""A record's page without its record: a title, the reason, and the way back to the list."""

import re
from collections.abc import Sequence
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import demo, ids
from core.store.access import Store
from core.store.access import statements as slow_statements
from core.store.operations import statistics
from core.ui.frame import menu
from tests.every_case import every_case
from tests.portfolio import NOW
from tests.ui.conftest import ROOT, Screen, texts

RECORD = re.compile(r"page_links\.(load_record|require_id)\(|= record\(")
# Pages that stand below a list and are opened by the id of one record.
RECORD_PAGES = {
    screen.path
    for screen in menu.SCREENS
    if screen.hidden and RECORD.search((ROOT / "pages" / screen.path.partition("#")[0]).read_text())
}


@pytest.mark.usefixtures("store")
def test_every_kind_of_record_is_loaded_in_one_way() -> None:
    assert len(RECORD_PAGES) > 15


@every_case("path", sorted(RECORD_PAGES))
def test_an_address_without_a_record_says_why(store: Store, screen: Screen, path: str) -> None:
    roles = next(each.roles for each in menu.SCREENS if each.path == path)
    at = screen(*roles, path=path, id="nonsense")
    assert at.title[0].value
    assert "open it from its list" in at.error[0].value
    at = screen(*roles, path=path, id=str(ids.new()))
    assert at.title[0].value
    assert at.error[0].value
    assert "Traceback" not in texts(at)


# The table whose rows a page shows one of, for the pages of what a demonstration has.
TABLES = {
    "admin/audit_log.py#audit_entry": "audit_entry",
    "admin/partners.py#distributor": "distributor",
    "admin/partners.py#insurer": "provider",
    "admin/keys.py#key": "api_key",
    "admin/staff.py#person": "staff",
    "admin/product.py": "product",
    "claims/claim.py": "claim",
    "finance/credit_notes.py#credit_note": "credit_note",
    "finance/movements.py#movement": "purchase",
    "policies/policy.py": "policy",
    "sales/customers.py#customer": "customer",
    "sales/purchases.py#purchase": "purchase",
}
GROWING = {
    *("adjustment", "adjustment_proposal", "audit_entry", "bordereau_line", "certificate", "claim", "claim_event"),
    *("credit_note", "customer", "insured_risk", "mail", "payment", "policy", "purchase", "refund", "renewal"),
    *("renewal_call", "statement_line", "submission", "uploaded_file", "webhook_delivery"),
}
# The share of a distributor or of a mode is no key: it grows with the store.
WALK = re.compile(r"SCAN (?P<all>\w+)|SEARCH (?P<part>\w+) .*(AUTOMATIC|\((distributor_id=\? AND )?is_live=\?\)$)")


def walks(store: Store, sql: str) -> list[str]:
    """The steps of SQLite's plan that look at every row, or at every one of a mode, of a table that grows."""
    with store.engine.connect() as connection:
        steps = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {sql}", (None,) * sql.count("?")).all()
    found = [(WALK.match(step.detail), step.detail) for step in steps]
    return [
        detail for match, detail in found if match and re.sub(r"_\d+$", "", match["all"] or match["part"]) in GROWING
    ]


@pytest.mark.parametrize("database", ["sqlite"])  # its plans are asked for
def test_no_record_page_walks_a_table_that_grows(store: Store, screen: Screen, monkeypatch: pytest.MonkeyPatch) -> None:
    # The business of a fixed day: one that ends now has no credit note of this size at some hours.
    demo.write(store, purchases=300, seed=5, until=NOW)
    statistics.refresh(store)
    sent: list[str] = []

    def note(statements: Sequence[str], _: float) -> None:
        sent.extend(statements)

    monkeypatch.setattr(slow_statements, "note_all", note)
    offenders = []
    for path, table in TABLES.items():
        with store.engine.connect() as connection:
            columns = {column["name"] for column in sa.inspect(connection).get_columns(table)}
            where = "WHERE is_live" if "is_live" in columns else ""
            if "claim_status" in columns:
                # Opening a new claim marks it as viewed, by a person who is no row of this store.
                where += " AND claim_status <> 'Pending'"
            key = connection.exec_driver_sql(f"SELECT id FROM {table} {where} LIMIT 1").scalar()
        assert key, table
        at = screen("admin", path=path, id=str(UUID(str(key))))
        assert not at.error, path
        sent.clear()
        at.run()
        queries = sorted({sql for sql in sent if sql.startswith(("SELECT", "WITH"))})
        assert queries, path
        offenders += [(path, steps, sql) for sql in queries if (steps := walks(store, sql)) and not is_bounded(sql)]
    assert not offenders


def is_bounded(sql: str) -> bool:
    """A list of the newest of a kind stops after a few rows; customers and open claims are counted in an index."""
    counted = ("SELECT customer.distributor_id, count(*)", "SELECT claim.assigned_to, count(*)")
    return ("LIMIT" in sql and "ORDER BY" in sql) or sql.startswith(counted)
