"""The tools above a list: a chip for each filter in use, and saved views."""

from collections.abc import Callable
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy as sa
import streamlit as st
from sqlmodel import col
from streamlit.testing.v1 import AppTest

from core.desk import saved_view_mail
from core.services.people import saved_views
from core.services.people.staff import Person
from core.store.access import Scope, Store
from core.store.schema.tables import Purchase
from core.ui.frame import page_links
from core.ui.kit import words
from core.ui.lists import tables
from tests.conftest import Partner, add_colleague
from tests.portfolio import Portfolio, Sales
from tests.ui.conftest import Screen, address, labels, person_of, press, sent, texts

LIST = "sales/purchases.py"


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="sold", of_both=(Portfolio(seed=21, size=20),))


@pytest.fixture
def sold(store: Store, partner: Partner, stranger: Partner) -> Store:
    return store


def open_page(screen: Screen, person: Person, **query: str) -> AppTest:
    return screen(path=LIST, signed_in=person, **query)


def starts(at: AppTest) -> Any:
    return next(payload["starts"] for payload in sent(at) if "starts" in payload)


def test_a_filter_in_use_is_a_chip_that_takes_it_away(sold: Store, screen: Screen, partner: Partner) -> None:
    query = {"distributor": str(partner.id), "source": "desk", "order": "largest"}
    at = open_page(screen, person_of("operations"), **query, expires_from="2026-01-02")
    shown = labels(at)
    assert "Distributor: Swift Lenders" in shown
    assert "Request source: Desk" in shown
    press(at, "Distributor: Swift Lenders")
    assert address(at) == {"source": ["desk"], "order": ["largest"], "expires_from": ["2026-01-02"]}
    assert "Distributor: Swift Lenders" not in labels(at)


def test_a_range_of_premiums_holds_both_its_ends(sold: Store, screen: Screen) -> None:
    with sold.reading(Scope.staff(is_live=True)) as session:
        totals = sorted(session.execute(sa.select(col(Purchase.total_minor))).scalars())
    least, most = totals[2], totals[-3]
    at = open_page(screen, person_of("operations"), premium_from=f"{least / 100:.2f}", premium_to=f"{most / 100:.2f}")
    inside = [total for total in totals if least <= total <= most]
    assert f"**{len(inside)}** purchases · {words.naira(sum(inside))} · All time" in texts(at)
    assert f"Premium from: {words.naira(least)}" in [button.label.replace("\\", "") for button in at.button]


def test_a_view_is_saved_opened_by_the_menu_and_deleted(sold: Store, screen: Screen) -> None:
    person = person_of("operations")
    at = open_page(screen, person, source="desk", order="largest", page="1")
    press(at, "Save this view")
    assert "Give the view a name." in texts(at)
    at.text_input(key="view_name").set_value("From *the* desk").run()
    at.selectbox(key="view_role").set_value("operations").run()
    press(at, "Save this view")
    assert ":material/bookmark: From *the* desk" in texts(at)
    assert (at.text_input(key="view_name").value, starts(at)) == ("", {})
    press(at, "Start with it")
    assert starts(at) == {"/purchases": "order=largest&source=desk"}
    colleague = open_page(screen, person_of("operations"))
    assert [link.label for link in colleague.get("page_link") if "desk" in link.label] == ["From \\*the\\* desk"]
    assert "Delete" not in [button.label for button in colleague.button]
    at = open_page(screen, person, source="desk", order="largest")
    press(at, "Delete")
    assert starts(at) == {}
    assert "From *the* desk" not in texts(at)


def test_the_menu_opens_start_views_and_keeps_the_mode() -> None:
    script = Path(page_links.BROWSER, "page_links.js").read_text()
    assert "[desk.starts[path], desk.query]" in script


def test_the_view_that_is_open_is_mailed_as_the_person_wishes(sold: Store, screen: Screen) -> None:
    with sold.writing(Scope.system()) as session:
        bola = add_colleague(session)
        view = saved_views.save_view(session, LIST, {"source": ["desk"]}, {"name": "Desk"}, by=bola)
    key = f"view_mail {view}"
    assert not [box for box in open_page(screen, bola).selectbox if box.key == f"{key} every"]
    at = open_page(screen, bola, source="desk")
    at.selectbox(key=f"{key} every").set_value("week")
    at.selectbox(key=f"{key} warn").set_value("sum above")
    at.button(key=f"{key} save").click().run()
    assert "is needed for a warning" in texts(at)
    at.text_input(key=f"{key} bound").set_value("₦75,000.50")
    at.button(key=f"{key} save").click().run()
    assert "Saved." in [element.value for element in at.success]
    with sold.reading(Scope.system()) as session:
        found = saved_view_mail.get_watch(session, view, by=bola)
    assert found is not None
    assert (found.every, found.warn, found.bound) == ("week", "sum above", Decimal("75000.50"))


def test_a_rows_button_gives_the_key_as_the_table_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """A key may be a text, such as the name of an e-mail."""

    def click(*, key: str, on_acted_change: Callable[[], None], **_: object) -> None:
        for row in ("policy_sold", "not on the screen"):
            st.session_state[key] = {"acted": {"key": row, "act": "Reset"}}
            on_acted_change()

    def page() -> None:
        import streamlit as st

        from core.ui.lists import columns, tables

        rows = ["policy_sold", "renewal_due"]
        texts = tables.Table(
            name="texts",
            noun=("text", "texts"),
            columns={"name": columns.text("Name", str, 90)},
            key=str,
            act=lambda _: "Reset",
        )
        tables.draw_short(texts, rows)
        st.text(repr(tables.get_clicked(texts)))

    monkeypatch.setattr(tables, "draw_component", click)
    at = AppTest.from_function(page, default_timeout=30).run()
    assert not at.exception
    assert at.text[0].value == "('policy_sold', 'Reset')"
