"""A filter that is declared while the tests run is on every door, with the right rows and the right totals."""

import csv
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any
from urllib.parse import parse_qs, urlencode, urlsplit
from uuid import UUID

import pytest
import sqlalchemy as sa
import typer
from fastapi import APIRouter, FastAPI, Query, Request
from sqlmodel import col
from streamlit.testing.v1 import AppTest
from typer.testing import CliRunner

from core import ids
from core.api.http.auth import Signed
from core.api.http.queries import FilterQuery
from core.api.http.reads import ReadRoute
from core.commands import export
from core.desk import export_runs
from core.desk.export_runs import ReceiptFilter
from core.money import format_naira
from core.services.catalogue.keys import Caller
from core.services.lists.filters.declaration import of
from core.services.lists.filters.fields import Texts
from core.services.lists.listing import Listing
from core.services.lists.paging import Paging
from core.services.sales import api_purchases
from core.services.sales.purchases import PURCHASES, PurchaseFilter
from core.store.access import Scope, Store
from core.store.schema.tables import Purchase
from pages.finance.exports import receipt_rows
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio
from tests.ui.conftest import Screen, address, texts

pytestmark = pytest.mark.frozen_at(NOW)

LIST = "sales/purchases.py"
DESK = Scope.staff(is_live=True)


class PlantedFilter(PurchaseFilter, on=(Purchase,)):
    """The filter of purchases with one more line, under names that no filter of ours will have."""

    instalments: tuple[str, ...] = of(
        Texts,
        label="Instalment",
        column="premium_frequency",
        address="planted",
        api="planted_frequency",
        help="How often the premium is paid.",
        options={"monthly": "Monthly", "quarterly": "Quarterly"},
        anything="Any instalment",
    )


@pytest.fixture
def kind(monkeypatch: pytest.MonkeyPatch) -> Listing[Any]:
    """The export of purchases where the line stands in the declaration; the screens find it there too."""
    found: Listing[Any] = replace(PURCHASES, filter=PlantedFilter)
    monkeypatch.setattr("core.services.sales.purchases.PurchaseFilter", PlantedFilter)
    monkeypatch.setattr("pages.sales.purchases.PurchaseFilter", PlantedFilter)
    monkeypatch.setattr("core.services.sales.purchases.PURCHASES", found)
    return found


@pytest.fixture
def sold(store: Store, partner: Partner) -> Store:
    Portfolio(seed=71, size=60, sellers=(partner.id,)).write(store)
    return store


def paid(store: Store, instalment: str) -> dict[UUID, int]:
    """The purchases of an instalment with their premiums, by hand."""
    query = sa.select(col(Purchase.id), col(Purchase.total_minor)).where(
        col(Purchase.premium_frequency) == instalment, col(Purchase.deleted_at).is_(None)
    )
    with store.reading(DESK) as session:
        found = {row.id: row.total_minor for row in session.execute(query)}
    assert found
    return found


def open_page(screen: Screen, **query: str) -> AppTest:
    return screen("operations", path=LIST, **query)


def test_it_has_a_widget_and_an_address_and_the_total_is_that_of_its_rows(
    sold: Store, screen: Screen, kind: Listing[Any]
) -> None:
    at = open_page(screen, planted="monthly")
    assert at.multiselect(key="planted").label == "Instalment"
    assert at.multiselect(key="planted").value == ["monthly"]
    for instalment in ("monthly", "quarterly"):
        at.multiselect(key="planted").set_value([instalment]).run()
        found = paid(sold, instalment)
        assert address(at)["planted"] == [instalment]
        assert f"**{len(found)}** purchases · ₦" in texts(at)
        assert f"**{format_naira(sum(found.values()))}**" in texts(at)
        export_link = urlsplit(at.get("link_button")[0].proto.url)
        assert parse_qs(export_link.query)["planted"] == [instalment]


def test_it_is_an_option_of_the_command_whose_receipt_tells_it(sold: Store, kind: Listing[Any], tmp_path: Path) -> None:
    app, target = typer.Typer(), tmp_path / "purchases.csv"
    app.command("purchases")(export.build_command(kind))
    assert "--planted" in CliRunner().invoke(app, ["--help"], env={"COLUMNS": "200"}).stdout
    ended = CliRunner().invoke(app, ["--planted", "monthly", "--planted", "weekly", "--out", str(target)])
    assert ended.exception is None
    found = paid(sold, "monthly") | paid(sold, "weekly")
    with target.open(newline="") as file:
        assert {UUID(row["id"]) for row in csv.DictReader(file)} == found.keys()
    with sold.reading(Scope.system()) as session:
        (receipt,) = export_runs.list_receipts(session, ReceiptFilter()).items
        (row,) = receipt_rows(session, [receipt])
    assert (receipt.rows, receipt.sum_minor) == (len(found), sum(found.values()))
    assert row.filters == {"Instalment": "monthly, weekly"}


def test_it_is_a_parameter_of_the_api_and_shares_no_statement_with_another_filter(
    sold: Store, partner: Partner, kind: Listing[Any]
) -> None:
    router, path = APIRouter(route_class=ReadRoute), "/purchases"

    def search(caller: Signed, query: Annotated[FilterQuery[PlantedFilter], Query()]) -> Any:
        with sold.reading(caller.scope) as session:
            return api_purchases.list_purchases(session, query.criteria(), query.paging())

    router.get(path)(search)
    (route,) = router.routes
    assert isinstance(route, ReadRoute)
    caller = Caller(key_id=ids.new(), distributor_id=partner.id, is_live=True, last_used_at=None)

    def answered(**query: str) -> Any:
        scope = {"type": "http", "query_string": urlencode(query).encode(), "path_params": {}, "headers": []}
        return search(**route.parse_arguments(Request({**scope, "state": {"caller": caller}})))

    for instalment in ("monthly", "weekly", "quarterly"):
        page = answered(planted_frequency=instalment, limit="100")
        found = paid(sold, instalment)
        assert {UUID(record["id"]) for record in page.items} == found.keys()
        assert page.total_count == len(found)
    assert answered().total_count == 60
    api = FastAPI()
    api.include_router(router)
    offered = [parameter["name"] for parameter in api.openapi()["paths"][path]["get"]["parameters"]]
    assert "planted_frequency" in offered


def test_no_roll_up_answers_for_it(sold: Store, kind: Listing[Any]) -> None:
    criteria = PlantedFilter(instalments=("monthly",))
    assert (PlantedFilter().of_catalogue, criteria.of_catalogue) == (True, False)
    with sold.reading(DESK) as session:
        assert kind.count(session, criteria) == len(paid(sold, "monthly"))
        assert api_purchases.list_purchases(session, criteria, Paging(1, 1)).total_count == len(paid(sold, "monthly"))
