"""Buy in a browser: a cover is sold by the form of its endpoint, typed as a person types it.

The ordinary suite sells one, with its make and model; `COVERDESK_SELL_EVERY_COVER=yes pytest tests/e2e/test_buy.py`
sells every one.
"""

import os
import re
from datetime import date
from typing import Any
from urllib.parse import urlencode

import pytest
import sqlalchemy as sa
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Locator, Page, expect

from core.covers import fields
from core.covers.cover import Cover
from core.covers.credit_life import CREDIT_LIFE
from core.covers.insurers.insurer_a import THIRD_PARTY
from core.covers.registry import COVERS
from core.services.catalogue import for_sale
from core.store.access import Scope
from core.store.schema.tables import SaleDraft
from core.ui.forms import questions
from core.ui.forms.questions import Kind, Question
from tests.covers import shipped
from tests.e2e.conftest import Desk, Visit, settled, twice

_EVERY = [cover for cover in COVERS if cover is not CREDIT_LIFE]
_USUAL = [THIRD_PARTY]
SOLD = _EVERY if os.environ.get("COVERDESK_SELL_EVERY_COVER") else _USUAL


def address(desk: Desk, cover: Cover[Any]) -> str:
    with desk.store.reading(Scope.of(desk.seller, is_live=False)) as session:
        insurer = for_sale.list_products(session, cover, desk.seller)[0].provider_name
    name = shipped.products()[fields.build_example(cover.request)["product_id"]]["name"]
    return f"/buy?{urlencode({'mode': 'test', 'cover': f'{cover.title}, {insurer}', 'sold': name})}"


def box(page: Page, cover: Cover[Any], name: str) -> Locator:
    return page.locator(".st-key-" + re.sub(r"[^A-Za-z0-9_-]", "-", f"buy {cover.key}.{name}"))


def list_items(page: Page, cover: Cover[Any], question: Question, rows: list[dict[str, Any]]) -> None:
    """By keyboard alone: from the amount of one item, past what removes it, to the name of the next."""
    box(page, cover, f"{question.name}.0.name").locator("input").focus()
    for place, row in enumerate(rows):
        page.keyboard.type(str(row["name"]))
        page.keyboard.press("Tab")
        expect(page.get_by_role("button", name="Remove")).to_have_count(place + 1)
        page.keyboard.type(str(row["amount"]))
        page.keyboard.press("Tab")
        page.keyboard.press("Tab")
    expect(page.get_by_text(f"{len(rows)} items, together")).to_be_visible()


def answer(page: Page, place: Locator, question: Question, value: Any, typed: dict[str, Any]) -> None:
    if question.kind is Kind.PICK and question.options:
        place.locator("input").click()
        labels = {word.casefold(): label for key, label in question.options(typed) for word in (key, label)}
        page.keyboard.type(labels[str(value).casefold()])
        page.keyboard.press("Enter")
    elif question.kind in {Kind.DAY, Kind.BIRTH_DAY}:
        place.get_by_role("spinbutton").first.click()
        page.keyboard.type(f"{date.fromisoformat(value):%d%m%Y}")
        page.keyboard.press("Escape")
    elif question.kind is Kind.FLAG:
        place.get_by_text("Yes" if value else "No", exact=True).click()
    else:
        place.locator("input, textarea").first.fill(str(value))
        page.keyboard.press("Tab")


@pytest.mark.exhaustive
@pytest.mark.parametrize("cover", SOLD, ids=lambda cover: cover.key)
def test_a_cover_is_sold_by_its_form(visit: Visit, desk: Desk, cover: Cover[Any]) -> None:
    page, typed = visit("operations", address(desk, cover)), fields.build_example(cover.request)
    # Also where a field waits for another.
    contrast = Axe().run(page, options={"resultTypes": ["violations"], "runOnly": ["color-contrast"]}).response
    assert contrast["violations"] == []
    for question in questions.of(cover.request, given=frozenset({"product_id"})):
        value = typed.get(question.name)
        if question.kind is Kind.ITEMS:
            list_items(page, cover, question, value)
        elif value is not None:
            answer(page, box(page, cover, question.name), question, value, typed)
            settled(page)
    page.get_by_role("button", name="Review").click()
    twice(page.get_by_role("button", name=re.compile("^Confirm and buy for ₦")))
    expect(page.get_by_text(re.compile("^Sold to "))).to_be_visible()
    page.reload()
    expect(page.get_by_text(re.compile("^Sold to "))).to_be_visible()
    page.get_by_role("link", name="Open the policy").click()
    expect(page.get_by_role("link", name="Back to")).to_be_visible()


@pytest.mark.exhaustive
def test_drafts_of_two_customers_outlive_a_reload_and_another_tab_and_go_when_discarded(
    visit: Visit, desk: Desk
) -> None:
    with desk.store.writing(Scope.system()) as session:
        # Other tests of this desk leave drafts of the same person.
        session.execute(sa.delete(SaleDraft))
    page, name = visit("operations", address(desk, THIRD_PARTY)), "last_name"
    field = box(page, THIRD_PARTY, name).locator("input")
    field.fill("Okafor-Draft")
    page.keyboard.press("Tab")
    expect(page.get_by_text("Kept as your draft")).to_be_visible()
    expect(page).to_have_url(re.compile("draft="))
    page.reload()
    expect(field).to_have_value("Okafor-Draft")
    page.get_by_role("button", name="New sale").click()
    expect(field).to_have_value("")
    settled(page)
    field.fill("Bello-Draft")
    page.keyboard.press("Tab")
    expect(page.get_by_text("1 unfinished sale", exact=True)).to_be_visible()
    other = page.context.new_page()
    other.goto("/buy?mode=test")
    expect(other.get_by_text("· Okafor-Draft")).to_be_visible()
    # Its button is drawn after its line: until then the last one is another draft's.
    settled(other)
    other.get_by_role("button", name="Continue", exact=True).last.click()
    field = box(other, THIRD_PARTY, name).locator("input")
    expect(field).to_have_value("Okafor-Draft")
    settled(other)
    other.get_by_role("button", name="Discard the draft").click()
    expect(field).to_have_value("")
    expect(other.get_by_text("1 unfinished sale", exact=True)).to_be_visible()
    other.get_by_text("1 unfinished sale", exact=True).click()
    other.get_by_role("button", name="Discard", exact=True).click()
    expect(other.get_by_text("unfinished sale")).to_be_hidden()


@pytest.mark.exhaustive
def test_the_bar_of_a_form_stands_in_its_columns_and_leaves_it_its_room(visit: Visit, desk: Desk, page: Page) -> None:
    place = """() => {
      const box = (id) => document.querySelector(`[data-testid="${id}"]`).getBoundingClientRect();
      const [bar, edges] = [box("stBottom"), (id) => {
        const style = getComputedStyle(document.querySelector(`[data-testid="${id}"]`));
        return [box(id).x + parseFloat(style.paddingLeft), box(id).right - parseFloat(style.paddingRight)];
      }];
      return [bar.height, edges("stBottomBlockContainer"), edges("stMainBlockContainer")];
    }"""
    visit("operations", address(desk, THIRD_PARTY))
    height, bar, form = page.evaluate(place)
    assert bar == form
    assert height < 110
    page.set_viewport_size({"width": 390, "height": 844})
    height, bar, form = page.evaluate(place)
    assert bar == form
    assert height < 844 / 4
