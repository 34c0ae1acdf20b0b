"""The purchases: pages, totals, columns and export of a selection, and the page of one of them."""

from datetime import timedelta
from decimal import Decimal
from urllib.parse import parse_qs, urlsplit

import pytest
from streamlit.testing.v1 import AppTest

from core import ids
from core.desk import export_runs
from core.desk.export_runs import ExportOrder
from core.services.lists.dimensions import load_choices
from core.services.lists.exports import CSV, Tally
from core.services.lists.listing import Row
from core.services.lists.paging import Paging
from core.services.sales import purchases
from core.services.sales.purchases import PURCHASES, PurchaseFilter
from core.store.access import Scope, Store
from core.ui.kit import words
from core.ui.lists import export_panel
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales
from tests.ui.conftest import Screen, address, follow, labels, lists, press, row_links, texts

pytestmark = pytest.mark.frozen_at(NOW)

LIST, ONE = "sales/purchases.py", "sales/purchases.py#purchase"


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="sold", of_both=(Portfolio(seed=21, size=110),))


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Store:
    return store


def rows_of(store: Store, page: int = 1, **address: str) -> list[Row]:
    selection = PurchaseFilter.read({name: [value] for name, value in address.items()})
    with store.reading(Scope.staff(is_live=True)) as session:
        return purchases.PURCHASES.read_page(session, selection, load_choices(session), paging=Paging(page, 50))


def on_screen(at: AppTest) -> list[str]:
    return list(lists(at)[0]["Policy number"])


def open_page(screen: Screen, path: str, **query: str | list[str]) -> AppTest:
    """A page opened by its address, as a link does."""
    return screen("operations", path=path, **query)


def test_the_table_shows_a_page_and_the_footer_the_whole(sold: Store, screen: Screen, partner: Partner) -> None:
    at = open_page(screen, LIST, distributor=str(partner.id))
    with sold.reading(Scope.staff(is_live=True)) as session:
        total = purchases.sum_purchases(session, PurchaseFilter(distributor_ids=(partner.id,)))
    rest = total.sold_minor - total.sold_mca_minor - total.sold_distributor_minor
    assert on_screen(at) == [row["policy"] or "–" for row in rows_of(sold, distributor=str(partner.id))]
    for minor in (total.sold_minor, total.sold_mca_minor, total.sold_distributor_minor, rest):
        assert f"**{words.naira(minor)}**" in texts(at)
    assert f"**{total.sold}** purchases · {words.naira(total.sold_minor)} · All time" in texts(at)


def test_pages_are_read_from_the_store_and_linked_to(sold: Store, screen: Screen) -> None:
    at = open_page(screen, LIST, page="3")
    assert on_screen(at) == [row["policy"] or "–" for row in rows_of(sold, page=3)]
    assert len(on_screen(at)) == 10
    at.get("pagination")[0].set_value(2).run()
    assert address(at)["page"] == ["2"]
    assert on_screen(at) == [row["policy"] or "–" for row in rows_of(sold, page=2)]


def test_a_new_selection_starts_on_its_first_page(sold: Store, screen: Screen, partner: Partner) -> None:
    at = open_page(screen, LIST, page="3")
    at.multiselect(key="distributor").select(str(partner.id)).run()
    assert "page" not in address(at)
    assert on_screen(at) == [row["policy"] or "–" for row in rows_of(sold, distributor=str(partner.id))]


@every_case("page", ["4", "0", "-1", "x", "99999999999999999999", "1.5", "²"])
def test_a_page_that_does_not_exist_says_so_and_leads_back(sold: Store, screen: Screen, page: str) -> None:
    at = open_page(screen, LIST, page=page)
    assert "this selection has 3" in at.warning[0].value
    assert not lists(at)
    press(at, "Go to the first page")
    assert len(on_screen(at)) == 50


def test_filters_of_customer_and_source_are_in_the_address(sold: Store, screen: Screen) -> None:
    at = open_page(screen, LIST)
    email = rows_of(sold)[0]["email"]
    at.text_input(key="email").set_value(f" {email.upper()} ").run()
    assert address(at)["email"] == [email.upper()]
    assert on_screen(at) == [row["policy"] or "–" for row in rows_of(sold, email=email)]
    at.text_input(key="email").set_value("").run()
    at.multiselect(key="source").select("desk").run()
    assert on_screen(at) == [row["policy"] or "–" for row in rows_of(sold, source="desk")][:50]
    press(at, "Reset")
    assert address(at) == {}


def test_one_box_finds_a_purchase_and_a_text_too_short_is_told_beside_it(sold: Store, screen: Screen) -> None:
    at = open_page(screen, LIST, show=["policy", "state", "payment"])
    row = rows_of(sold)[0]
    at.text_input(key="find").set_value(f" {row['email'].upper()} ").run()
    assert address(at)["find"] == [row["email"].upper()]
    assert on_screen(at) == [each["policy"] or "–" for each in rows_of(sold, find=row["email"])]
    assert {row["state"]} <= set(lists(at)[0]["Policy state"])
    assert "looked for as e-mail" in texts(at)
    at.text_input(key="find").set_value("x").run()
    assert "2 to 100 characters" in texts(at)
    assert not lists(at)
    at.text_input(key="find").set_value("").run()
    at.multiselect(key="policy").set_value(["Pending"]).run()
    assert "Policy state: Pending" in labels(at)
    assert (on_screen(at) if lists(at) else []) == [row["policy"] or "–" for row in rows_of(sold, policy="Pending")]


def test_columns_and_order_are_chosen_and_hidden_ones_are_not_sent(sold: Store, screen: Screen) -> None:
    at = open_page(screen, LIST, order="largest")
    assert "E-mail" not in lists(at)[0]
    premiums = [Decimal(words.read_naira(text)) for text in lists(at)[0]["Premium"]]
    assert premiums == sorted(premiums, reverse=True)
    at.pills(key="show").set_value(["policy", "email"]).run()
    assert list(lists(at)[0]) == ["Policy number", "E-mail"]
    assert address(at)["show"] == ["policy", "email"]
    at.pills(key="show").set_value(["email", "policy", "sold", "total"]).run()
    assert list(lists(at)[0]) == ["Policy number", "Premium", "Sold", "E-mail"]
    at.selectbox(key="moved_column").set_value("sold").run()
    at.button(key="move left").click().run()
    assert address(at)["show"] == ["policy", "sold", "total", "email"]
    assert list(lists(at)[0]) == ["Policy number", "Sold", "Premium", "E-mail"]
    at.button(key="move left").click().run()
    assert at.button(key="move left").disabled
    # A column that comes to a sequence of one's own is the last.
    at.pills(key="show").set_value(["total", "sold", "policy", "provider"]).run()
    assert address(at)["show"] == ["sold", "policy", "total", "provider"]
    shown = [urlsplit(button.proto.url) for button in at.get("link_button") if button.proto.label == "CSV as shown"]
    query = parse_qs(shown[0].query)
    assert query["columns"] == ["created_at", "policy_number", "total", "provider"]
    assert query["form"] == ["people"]
    assert query["order"] == ["largest"]
    assert "4 columns, largest premium first" in texts(at)


def test_export_leads_to_exactly_the_selection_on_the_screen(sold: Store, screen: Screen, partner: Partner) -> None:
    at = open_page(screen, LIST, distributor=str(partner.id), **{"from": "2026-10-01", "to": "2026-10-31"})
    link = urlsplit(at.get("link_button")[0].proto.url)
    query = parse_qs(link.query)
    assert link.path == "/exports/purchases.csv"
    assert PurchaseFilter.read(query) == PurchaseFilter.read(
        {"distributor": [str(partner.id)], "from": ["2026-10-01"], "to": ["2026-10-31"]}
    )
    assert ids.parse(query["receipt"][0])


def test_the_receipt_is_shown_and_equals_the_footer(sold: Store, screen: Screen, partner: Partner) -> None:
    at = open_page(screen, LIST, distributor=str(partner.id))
    export_id = ids.parse(parse_qs(urlsplit(at.get("link_button")[0].proto.url).query)["receipt"][0])
    export = {
        "kind": PURCHASES,
        "format": CSV,
        "selection": PurchaseFilter(distributor_ids=(partner.id,)),
        "is_live": True,
    }
    order = ExportOrder(id=export_id, actor="tests", **export)
    tally = Tally()
    list(export_runs.stream(order, tally))
    link = f"purchases  distributor={partner.id}"
    at.session_state["export_last"] = export_panel.Started(export_id, link, tally.rows, NOW)
    at.run()
    assert f"{tally.rows} purchases" in texts(at)
    assert words.naira(tally.sum_minor) in texts(at)
    assert "Equals the total above" in texts(at)
    assert any(tally.sha256 in code.value for code in at.code)


def test_an_export_that_was_broken_off_is_said_so(sold: Store, screen: Screen) -> None:
    at = open_page(screen, LIST)
    at.session_state["export_last"] = export_panel.Started(ids.new(), "purchases  ", 110, NOW - timedelta(minutes=1))
    at.run()
    assert "broken off" in at.warning[0].value


def test_an_empty_store_says_what_to_do_next(store: Store, screen: Screen) -> None:
    at = open_page(screen, LIST)
    assert "There is no purchase in this mode yet" in at.info[0].value
    assert at.get("link_button")[0].proto.disabled


def test_a_selection_without_purchases_leads_back(sold: Store, screen: Screen) -> None:
    at = open_page(screen, LIST, email="nobody@example.com")
    assert "No purchase matches" in at.info[0].value
    press(at, "Show all purchases")
    assert len(on_screen(at)) == 50


def test_one_purchase_shows_its_money_its_policy_and_its_customer(sold: Store, screen: Screen) -> None:
    row = next(row for row in rows_of(sold) if row["policy"])
    at = open_page(screen, ONE, id=str(row.id))
    page_text = texts(at) + "\n".join(str(text.value) for text in at.text)
    assert at.title[0].value.split(" :")[0] == row["policy"]
    assert page_text.count(at.title[0].value.split(" :")[1]) == 1, "its state is told once"
    for minor in (row["total"], row["share"], row["platform"], row["seller"]):
        assert words.naira(minor) in page_text + "".join(str(tile.value) for tile in at.metric)
    for fact in (row["customer"], row["email"], row["distributor"], row["provider"], row["product"]):
        assert fact in page_text


def test_an_opened_row_leads_to_its_page_and_back_to_the_same_list(sold: Store, screen: Screen) -> None:
    at = open_page(screen, LIST, page="2")
    row = rows_of(sold, page=2)[3]
    follow(at, row_links(at)[3])
    assert address(at)["id"] == [str(row.id)]
    assert f"{row.id}" in texts(at)
    assert at.session_state["purchases_address"] == {"page": ["2"]}


@every_case(
    ("query", "message"),
    [
        ({}, "names no purchase"),
        ({"id": "1"}, "names no purchase"),
        ({"id": "01900000-0000-7000-8000-00000000ffff"}, "no such purchase"),
    ],
)
def test_a_wrong_purchase_is_explained_and_leads_back(
    sold: Store, screen: Screen, query: dict[str, str], message: str
) -> None:
    at = open_page(screen, ONE, **query)
    assert message in at.error[0].value
    assert "Back to the purchases" in [link.proto.label for link in at.get("page_link")]


def test_a_purchase_of_the_other_mode_is_not_found(sold: Store, screen: Screen) -> None:
    at = open_page(screen, ONE, id=str(rows_of(sold)[0].id), mode="test")
    assert "no such purchase" in at.error[0].value


def test_who_lacks_the_role_is_refused(sold: Store, screen: Screen) -> None:
    for path in (LIST, ONE):
        with pytest.raises(ValueError, match="purchase"):
            screen("claims", path=path)
