"""The policy search: one box that finds any policy, filters that stand in the address, and a way to open one."""

import re
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
import sqlalchemy as sa
from streamlit.testing.v1 import AppTest

from core.covers.insurers import insurer_a, insurer_f
from core.errors import InvalidInput
from core.services.lists.dimensions import load_choices
from core.services.lists.paging import Paging
from core.services.policies import changes, policies
from core.services.policies.policies import PolicyFilter
from core.services.sales import search as sales_search
from core.services.selling.buying import Sale
from core.store.access import Scope, Store
from core.store.schema.tables import Policy
from core.ui.lists import tables
from tests.conftest import Partner
from tests.every_case import every_case
from tests.pages import turn_to
from tests.services.selling import sell
from tests.ui.conftest import Screen, follow, lists, press, row_links, texts

PAGE = "policies/search.py"
NGOZI = {"first_name": "Ngozi", "last_name": "Okafor-Bello", "email": "ngozi@example.com"}
TUNDE = {"first_name": "Tunde", "last_name": "Ade_mola", "email": "Tunde@example.com", "phone_number": "08051112222"}


@pytest.fixture
def two_sales(store: Store, partner: Partner) -> tuple[Sale, Sale]:
    """Two policies of two people, live."""
    return (
        sell(store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number="ABC-123-XY", **NGOZI),
        sell(store, partner, insurer_f.COVERS[0], is_live=True, **TUNDE),
    )


def found(store: Store, text: str | None, wanted: PolicyFilter | None = None, *, is_live: bool = True) -> set[Any]:
    with store.reading(Scope.staff(is_live=is_live)) as session:
        page = policies.search_policies(
            session, replace(wanted or PolicyFilter(), find=text), load_choices(session), paging=Paging(1, 50)
        )
    assert page.total_count == len(page.items)
    return {row.id for row in page.items}


def open_page(screen: Screen, *roles: str, **query: str) -> AppTest:
    """The search with a query in its address."""
    return screen(*(roles or ("operations",)), path=PAGE, **query)


def rows(at: AppTest) -> list[str]:
    return list(lists(at)[0]["Customer"]) if lists(at) else []


@every_case(
    ("text", "kinds"),
    [
        ("ngozi@example.com", ("e-mail",)),
        ("0803 123 4567", ("phone", "policy number")),
        ("+234 (803) 123-4567", ("phone", "policy number")),
        ("ABC-123-XY", ("policy number", "plate")),
        ("ACC/AR/11/26/HQ/5300", ("policy number", "plate")),
        ("Ngozi", ("name", "plate")),
        ("ngozi okafor", ("name", "plate")),
        ("24 Hours Motors", ("name", "policy number", "plate")),
        ("0803", ("phone", "policy number")),
        ("4967", ("policy number", "plate")),
        ("GQA", ("name", "policy number", "plate")),
        ("acc/ar", ("name", "policy number", "plate")),
        ("01900000-0000-7000-8000-000000020301", ("id",)),
    ],
)
def test_what_was_typed_decides_where_to_look(text: str, kinds: tuple[str, ...]) -> None:
    assert sales_search.detect_kinds(text) == kinds


@every_case(
    "text",
    [
        "ABC-123-XY",
        "abc 123xy",
        "NGOZI@Example.com",
        "ngozi",
        "Okafor-B",
        "ngozi okafor",
        "okafor-bello ngozi",
        "Okafor-Bello, Ngozi",
    ],
)
def test_one_box_finds_a_policy_by_any_of_its_names(store: Store, two_sales: tuple[Sale, Sale], text: str) -> None:
    assert found(store, text) == {two_sales[0].policy_id}


def test_a_number_is_found_in_any_case_and_spacing(store: Store, two_sales: tuple[Sale, Sale]) -> None:
    number = str(two_sales[0].policy["meta"]["policy_number"])
    assert found(store, f" {number.lower()} ") == found(store, str(two_sales[0].policy_id)) == {two_sales[0].policy_id}
    assert found(store, number.lower()[-8:-1]) == {two_sales[0].policy_id}
    # The letters of a series alone.
    series = re.split(r"[\d/-]", number)[0]
    other = str(two_sales[1].policy["meta"]["policy_number"])
    both = {sale.policy_id for sale in two_sales if series in str(sale.policy["meta"]["policy_number"])}
    assert len(series) > 2, (number, other)
    assert found(store, series) == found(store, series.lower()) == both


@every_case("phone", ["08051112222", "+2348051112222", "0805 111 2222", "+234 805 111 2222", "0805", "+234 805"])
def test_a_phone_is_found_in_any_spelling(store: Store, two_sales: tuple[Sale, Sale], phone: str) -> None:
    assert found(store, phone) == {two_sales[1].policy_id}


@every_case(
    "text",
    ["%", "__", "Ade%", "nobody", "ABC-999-XY", "x@y.z", "07000000000", "01900000-0000-7000-8000-0000000000ff"],
)
def test_what_is_not_there_is_not_found(store: Store, two_sales: tuple[Sale, Sale], text: str) -> None:
    if len(text) < sales_search.MIN_LENGTH:
        with pytest.raises(InvalidInput):
            found(store, text)
    else:
        assert found(store, text) == set()


def test_signs_of_a_pattern_are_letters_here(store: Store, two_sales: tuple[Sale, Sale]) -> None:
    assert found(store, "ade_mo") == {two_sales[1].policy_id}


def test_the_other_mode_is_never_found(store: Store, two_sales: tuple[Sale, Sale]) -> None:
    assert found(store, "ABC-123-XY", is_live=False) == found(store, None, is_live=False) == set()


def test_filters_narrow_what_was_found(store: Store, partner: Partner, two_sales: tuple[Sale, Sale]) -> None:
    with store.writing(partner.scope(is_live=True)) as session:
        changes.cancel(
            session, two_sales[1].policy_id, actor="t", reason="moved away", by_insurer=False, expected_version=1
        )
        provider, product = session.execute(
            sa.select(Policy.provider_id, Policy.product_id).where(Policy.id == two_sales[0].policy_id)
        ).one()
    first, both = {two_sales[0].policy_id}, {sale.policy_id for sale in two_sales}
    assert found(store, None, PolicyFilter(status=True)) == first
    assert found(store, None, PolicyFilter(status=False)) == both - first
    assert found(store, None, PolicyFilter(provider_ids=(provider,))) == first
    assert found(store, None, PolicyFilter(provider_ids=(provider,), product_ids=(product,))) == first
    assert found(store, None, PolicyFilter(provider_ids=(provider,), product_ids=(uuid4(),))) == set()
    assert found(store, "tunde", PolicyFilter(provider_ids=(provider,))) == set()
    assert found(store, None, PolicyFilter(customer_type="principal")) == both
    assert found(store, None, PolicyFilter(customer_type="beneficiary")) == set()


def test_an_empty_store_says_what_to_do(screen: Screen) -> None:
    at = open_page(screen)
    assert "no policy in this mode yet" in texts(at)
    assert not lists(at)


def test_everything_is_listed_newest_first_with_its_total(screen: Screen, two_sales: tuple[Sale, Sale]) -> None:
    at = open_page(screen)
    assert "**2** policies" in texts(at)
    assert rows(at) == ["Tunde Ade_mola", "Ngozi Okafor-Bello"]
    assert list(lists(at)[0]["State"]) == ["In force", "In force"]


def test_the_box_writes_the_address_and_says_what_it_looked_for(screen: Screen, two_sales: tuple[Sale, Sale]) -> None:
    at = open_page(screen)
    at.text_input(key="find").set_value("abc 123 xy").run()
    assert at.query_params["find"] == "abc 123 xy"
    assert rows(at) == ["Ngozi Okafor-Bello"]
    assert "**1** policy" in texts(at)
    assert "policy number or plate" in texts(at)
    # Whoever calls is told by the phone, of which a part was typed.
    at.text_input(key="find").set_value("0805 111").run()
    assert list(lists(at)[0]["Phone"]) == ["0805 111 2222"]


def test_an_address_reproduces_the_view_and_reset_takes_it_back(screen: Screen, two_sales: tuple[Sale, Sale]) -> None:
    at = open_page(screen, find="okafor", force="yes", role="principal")
    assert at.text_input(key="find").value == "okafor"
    assert at.selectbox(key="force").value == "yes"
    assert rows(at) == ["Ngozi Okafor-Bello"]
    press(at, "Reset")
    assert len(rows(at)) == 2
    assert not {"find", "force", "role"} & set(at.query_params)


def test_nothing_found_offers_the_way_back(screen: Screen, two_sales: tuple[Sale, Sale]) -> None:
    at = open_page(screen, find="nobody at all")
    assert "No policy matches" in texts(at)
    assert len(rows(press(at, "Show all policies"))) == 2


def test_a_filter_changed_on_the_screen_goes_back_to_the_first_page(
    screen: Screen, two_sales: tuple[Sale, Sale], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tables, "PAGE_SIZE", 1)
    at = open_page(screen, page="2")
    assert rows(at) == ["Ngozi Okafor-Bello"]
    at.selectbox(key="force").set_value("yes").run()
    assert at.query_params["force"] == "yes"
    assert "page" not in at.query_params
    assert rows(at) == ["Tunde Ade_mola"]
    at.get("pagination")[0].set_value(2).run()
    assert rows(at) == ["Ngozi Okafor-Bello"]
    assert at.query_params["page"] == "2"


@every_case("page", ["2", "0", "-1", "x", "99999999999999"])
def test_a_page_that_does_not_exist_is_said(screen: Screen, two_sales: tuple[Sale, Sale], page: str) -> None:
    at = open_page(screen, page=page)
    assert "There is no page" in texts(at)
    assert len(rows(press(at, "Go to the first page"))) == 2


@every_case("find", ["x", "y" * 101])
def test_a_text_too_short_or_too_long_is_said(screen: Screen, two_sales: tuple[Sale, Sale], find: str) -> None:
    at = open_page(screen, find=find)
    assert "2 to 100 characters" in texts(at)
    assert not lists(at)


def test_wrong_filters_in_the_address_are_said_or_left_out(screen: Screen, two_sales: tuple[Sale, Sale]) -> None:
    assert len(rows(open_page(screen, force="maybe", role="king"))) == 2
    at = open_page(screen, provider="01900000-0000-7000-8000-0000000000ff")
    assert "which is not known here" in texts(at)
    assert len(rows(press(at, "Start again without filters"))) == 2


def test_a_row_opens_its_policy_and_leads_back(screen: Screen, two_sales: tuple[Sale, Sale]) -> None:
    at = open_page(screen, "claims", find="okafor")
    follow(at, row_links(at)[0])
    assert at.query_params["id"] == str(two_sales[0].policy_id)
    assert "Ngozi Okafor-Bello" in texts(at)


def test_finance_has_no_policy_search(screen: Screen) -> None:
    with pytest.raises(ValueError, match="search"):
        turn_to(screen("finance"), PAGE)
