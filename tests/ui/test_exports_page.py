"""The receipts of exports: the list, one of them, running it again, and the ways to a file from a screen."""

import io
from typing import Any
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core import clock, ids
from core.desk import export_runs
from core.desk.export_runs import ExportOrder
from core.desk.exported_lists import get_kind
from core.services.lists.exports import CSV, XLSX, Format
from core.services.policies.policies import PolicyFilter
from core.store.access import Scope, Store
from core.store.schema.tables import Policy
from core.ui.kit import words
from core.ui.lists import export_panel
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio
from tests.ui.conftest import Screen, address, lists, press, sent, texts

pytestmark = pytest.mark.frozen_at(NOW)

LIST, ONE = "finance/exports.py", "finance/exports.py#export"


@pytest.fixture
def sold(store: Store, partner: Partner) -> Store:
    Portfolio(seed=41, size=30, sellers=(partner.id,)).write(store)
    return store


def exported(
    name: str, format_: Format = CSV, address: dict[str, list[str]] | None = None, **changes: Any
) -> ExportOrder:
    kind = get_kind(name)
    export = {"kind": kind, "format": format_, "selection": kind.read(address or {}), "is_live": True}
    order = ExportOrder(**{"id": ids.new(), "actor": "tests", **export, **changes})
    export_runs.write_file(order, io.BytesIO())
    return order


def open_page(screen: Screen, who: str, path: str, **query: str) -> AppTest:
    return screen(who, path=path, **query)


def test_no_export_yet_says_how_one_is_made(store: Store, screen: Screen) -> None:
    at = open_page(screen, "finance", LIST)
    assert "Nothing was exported in this mode yet" in at.info[0].value


def test_receipts_are_listed_in_words_newest_first_and_narrowed(sold: Store, screen: Screen, partner: Partner) -> None:
    exported("purchases", address={"distributor": [str(partner.id)], "from": ["2026-11-01"]})
    exported("claims", XLSX, address={"status": ["Paid"]})
    exported("purchases", is_live=False)
    at = open_page(screen, "finance", LIST)
    table = lists(at)[0]
    (heads,) = (payload["columns"] for payload in sent(at) if "rows" in payload)
    assert [head["label"] for head in heads if "spare" in head["classes"].split()] == ["SHA-256"], "at 1280 pixels"
    assert list(table["Export"]) == ["Claims", "Purchases"]
    assert list(table["Format"]) == ["XLSX", "CSV"]
    assert list(table["Filters"]) == ["Status Paid", "From 1 Nov 2026 · Distributor Swift Lenders"]
    assert set(table["By"]) == {"command line"}
    at.multiselect(key="kind").select("claims").run()
    assert address(at)["kind"] == ["claims"]
    assert list(lists(at)[0]["Export"]) == ["Claims"]
    at.selectbox(key="person").select("command").run()
    assert len(lists(at)[0]) == 1
    at.date_input(key="day_to").set_value(clock.add_days(clock.today(), -1)).run()
    assert "No export matches" in at.info[0].value
    press(at, "Show all exports")
    assert len(lists(at)[0]) == 2


def test_a_wrong_address_says_what_is_wrong_and_leads_back(sold: Store, screen: Screen) -> None:
    exported("purchases")
    at = open_page(screen, "finance", LIST, kind="secrets", person="1")
    assert "**Export** must be one of purchases" in at.error[0].value
    assert "**By** names nothing" in at.error[0].value
    press(at, "Start again without filters")
    assert len(lists(at)[0]) == 1
    for wrong, message in ({"id": "1"}, "names no receipt"), ({"id": str(ids.new())}, "no such receipt"):
        assert message in open_page(screen, "finance", ONE, **wrong).error[0].value


def test_run_again_says_that_it_is_the_same_and_later_what_changed(
    sold: Store, screen: Screen, partner: Partner
) -> None:
    first = exported("purchases", XLSX, address={"source": ["api"]})
    at = open_page(screen, "finance", ONE, id=str(first.id))
    link = urlsplit(at.get("link_button")[0].proto.url)
    query = parse_qs(link.query)
    assert link.path == "/exports/purchases.xlsx"
    assert (query["again"], query["source"]) == ([str(first.id)], ["api"])
    same = exported("purchases", XLSX, address={"source": ["api"]}, again_of=first.id)
    watched(at, same.id, first.id)
    assert "The same again" in at.success[0].value
    Portfolio(seed=42, size=20, sellers=(partner.id,)).write(sold)
    changed = exported("purchases", XLSX, address={"source": ["api"]}, again_of=first.id)
    watched(at, changed.id, first.id)
    assert "more" in at.warning[0].value
    again = open_page(screen, "finance", ONE, id=str(changed.id))
    assert "Repeats an earlier export" in [heading.value for heading in again.subheader]
    assert "Changed since" in again.warning[0].value


def test_a_file_as_shown_says_so_on_its_receipt_and_is_repeated_as_it_was(sold: Store, screen: Screen) -> None:
    arranged = {"columns": ["total", "policy_number"], "order": ["largest"]}
    order = export_runs.create_order("purchases", "csv", arranged, by="tests")
    export_runs.write_file(order, io.BytesIO())
    at = open_page(screen, "finance", LIST)
    assert list(lists(at)[0]["Filters"]) == ["Columns total, policy_number · Order Largest premium first"]
    at = open_page(screen, "finance", ONE, id=str(order.id))
    assert {"total, policy_number", "Largest premium first"} <= {text.value for text in at.text}
    query = parse_qs(urlsplit(at.get("link_button")[0].proto.url).query)
    assert {name: query[name] for name in arranged} == arranged
    again = export_runs.create_order("purchases", "csv", {**arranged, "again": query["again"]}, by="tests")
    export_runs.write_file(again, io.BytesIO())
    at.session_state["export_last"] = export_panel.Started(
        again.id, f"purchases {order.id} columns=total&columns=policy_number&order=largest", 30, NOW, "CSV"
    )
    at.run()
    assert "The same again" in at.success[0].value


def test_the_receipt_of_a_file_as_shown_names_its_columns_as_the_file_does(sold: Store, screen: Screen) -> None:
    arranged = {"columns": ["total", "policy_number"], "form": ["people"]}
    order = export_runs.create_order("purchases", "csv", arranged, by="tests")
    export_runs.write_file(order, io.BytesIO())
    at = open_page(screen, "finance", ONE, id=str(order.id))
    assert {"Premium, Policy number", "As shown"} <= {text.value for text in at.text}


def watched(at: AppTest, export_id: UUID, again: UUID) -> None:
    """The page once the browser has got this export."""
    link = f"purchases {again} source=api"
    at.session_state["export_last"] = export_panel.Started(export_id, link, 10, NOW, "XLSX")
    at.run()


def test_a_receipt_shows_its_hashes_and_is_run_again_only_by_who_has_its_role(sold: Store, screen: Screen) -> None:
    order = exported("claims", XLSX)
    at = open_page(screen, "finance", ONE, id=str(order.id))
    assert not at.get("link_button")
    assert "needs the role claims or supervisor" in at.info[0].value
    assert len(at.code) == 2
    assert str(order.id) in [text.value for text in at.text]


def test_claims_officers_have_no_receipts(sold: Store, screen: Screen) -> None:
    with pytest.raises(ValueError, match="finance"):
        screen("claims", path=LIST)


def test_the_policies_on_the_screen_are_the_policies_of_the_file(sold: Store, screen: Screen) -> None:
    with sold.reading(Scope.staff(is_live=True)) as session:
        email = session.execute(sa.select(Policy.email)).scalars().first()
    at = open_page(screen, "operations", "policies/search.py", find=email, role="principal", period="6m")
    csv, *others = (urlsplit(button.proto.url) for button in at.get("link_button")[:3])
    paths = ["/exports/policies.csv", "/exports/policies.excel-csv", "/exports/policies.xlsx"]
    assert [link.path for link in (csv, *others)] == paths
    found = PolicyFilter.read(parse_qs(csv.query))
    assert (found.find, found.customer_type) == (email, "principal")
    assert found.days()[0] == clock.add_months(clock.add_days(clock.today(), 1), -6)
    order = exported("policies", address=found.address())
    at.session_state["export_last"] = export_panel.Started(
        order.id, f"policies  {csv.query.partition('&')[2]}", 1, NOW, "CSV"
    )
    at.run()
    assert "Equals the number above" in texts(at)
    assert words.count(len(lists(at)[0])) in texts(at)
