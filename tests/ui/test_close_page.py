"""Month close on the screen: one person begins, the list says what stands against it, another closes."""

from dataclasses import replace
from datetime import date

import pytest
from streamlit.testing.v1 import AppTest

from core import demo
from core.desk import closing
from core.desk.closing import Check
from core.services.finance import journal
from core.services.finance.statements import reading
from core.states.finance import MonthState
from core.store.access import Store
from core.ui.kit import check_runs, words
from tests.portfolio import NOW
from tests.services.finance_office import Finance
from tests.ui.conftest import Screen, confirm, labels, press, texts

pytestmark = pytest.mark.frozen_at(NOW)

PAGE = "finance/close.py"


def open_page(screen: Screen, finance: Finance, by: str, month: str = "2026-10") -> AppTest:
    at = screen(path=PAGE, signed_in=finance.people[by], month=month)
    if run := check_runs.latest(finance.store):
        # It reads the store in a thread of its own, as long as the test has one.
        run.wait()
    return at


def test_a_closing_is_begun_by_one_and_refused_to_another_while_something_stands_against_it(
    store: Store, screen: Screen
) -> None:
    demo.write(store, purchases=40, seed=5, until=NOW)
    finance = Finance(store)
    at = confirm(press(open_page(screen, finance, "funmi"), "Start closing"))
    assert "October 2026 is being closed: somebody else of finance closes it." in texts(at)
    assert "Close the month" not in labels(at)
    assert any("Every statement is approved" in each.label for each in at.expander)
    shown = [str(getattr(node, "label", "") or getattr(node, "value", "")) for node in at.main]
    left = [place for place, text in enumerate(shown) if text.endswith("still open")]
    met = [
        place
        for place, text in enumerate(shown)
        if ":green[" in text and "**" not in text and "whole store" not in text
    ]
    assert max(left) < min(met), "what stands against it comes first"
    assert ":green[:material/check_circle:] Adjustments by hand: none" in [each.value for each in at.markdown]
    card = next(each for each in at.expander if each.label.startswith("Insurers and banks whose file"))
    assert {link.proto.label.partition(": ")[2] for link in card.get("page_link")} == {
        "no file of October 2026 was reconciled"
    }, "each row is a link itself"
    at = open_page(screen, finance, "femi")
    assert sum(button.proto.type == "primary" for button in at.button) == 1, "the stage that waits, while there is one"
    at = press(at, "Close the month")
    assert "It cannot be closed yet: " in texts(at), "before it is tried"
    assert "Look at these, and write what you found: Insurers and banks whose file was not reconciled" in texts(at)
    confirm(at)
    assert "It cannot be closed yet" in texts(at)
    assert finance.read(journal.list_steps)[-1].state == "Closing"
    links = [link.proto.url for link in at.get("link_button")]
    assert links == [f"/closes/2026-10/journal{format_}.csv" for format_ in ("", "-quickbooks", "-sage")]
    assert "is not over yet" in texts(open_page(screen, finance, "funmi", "2026-11"))
    finance.do(closing.begin, date(2026, 8, 1), by="funmi")
    at = open_page(screen, finance, "funmi", "2026-09")
    assert "August 2026 comes first: months are closed one after the other" in [
        link.proto.label for link in at.get("page_link")
    ]
    assert [button.disabled for button in at.button if button.label == "Start closing"] == [True]
    for role in ("operations", "claims", "supervisor"):
        with pytest.raises(ValueError, match="close"):
            screen(role, path=PAGE)


def test_the_stages_of_a_month_say_what_each_waits_for_and_lead_to_its_rows(store: Store, screen: Screen) -> None:
    demo.write(store, purchases=40, seed=5, until=NOW)
    finance = Finance(store)
    at = open_page(screen, finance, "funmi")
    month = date(2026, 10, 1)
    rows = [row for row in finance.read(reading.list_month, month) if row.state != "Void" and not row.is_reversal]
    drafts = sum(row.state == "Draft" for row in rows)
    assert drafts
    text = texts(at)
    assert f"0 of {len(rows)}" in text
    assert f"{drafts} to prepare" in text
    assert "waits for two people" in text
    links = {link.proto.label: link.proto for link in at.get("page_link")}
    assert links["Show"].page
    assert [button.label for button in at.button if button.key == "next"] == [f"Next: statements, {drafts} to prepare"]
    stages = {each.key: each for each in finance.read(closing.list_stages, month)}
    assert list(stages) == ["sales", "insurers", "statements", "bordereaux", "payments", "reconciled", "closed"]
    sold = sum(row.kind == "purchase" for row in finance.rows(**{"from": "2026-10-01", "to": "2026-10-31"}))
    assert stages["insurers"].figure.endswith(f" of {sold}")
    assert stages["sales"].is_done
    assert stages["payments"].waits == ("waits for the statements",), "0 of 0 is not done yet"
    assert finance.read(closing.list_stages, date(2026, 11, 1))[0].waits == ("runs until 30 Nov",)


def test_a_month_that_is_closed_has_nothing_that_comes_next(
    store: Store, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo.write(store, purchases=40, seed=5, until=NOW)
    finance = Finance(store)
    finance.do(closing.begin, date(2026, 10, 1), by="funmi")
    (begun,) = finance.read(journal.list_steps, date(2026, 10, 1))
    closed = [begun, replace(begun, state=MonthState.CLOSED, sha256="0" * 64)]
    monkeypatch.setattr(journal, "list_steps", lambda *_: closed)
    at = open_page(screen, finance, "femi")
    assert "0 of" in texts(at), "a stage still waits"
    assert "next" not in {button.key for button in at.button}
    assert "Ask to reopen it" in labels(at)


def test_a_sale_that_awaits_its_insurer_leads_to_its_money(
    store: Store, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    demo.write(store, purchases=40, seed=5, until=NOW)
    finance = Finance(store)
    policy_id = finance.rows()[0].policy_id
    row = f"₦357,500.00 sold on 2026-10-29: {policy_id}"
    name = "No sale awaits its insurer for more than 14 days"
    monkeypatch.setattr(closing, "run", lambda *_: [Check(key="insurers", name=name, rows=(row,), is_blocking=True)])
    at = open_page(screen, finance, "funmi")
    (link,) = (each.proto for each in at.get("page_link") if " sold on 29 Oct 2026" in each.proto.label)
    assert link.label == words.plain("₦357,500.00 sold on 29 Oct 2026")
    assert f"find={policy_id}" in link.query_string
    assert {each.policy_id for each in finance.rows(find=str(policy_id))} == {policy_id}


def test_the_month_that_comes_first_is_the_one_that_is_shown(store: Store, screen: Screen) -> None:
    demo.write(store, purchases=40, seed=5, until=NOW)
    finance = Finance(store)
    at = screen(path=PAGE, signed_in=finance.people["funmi"])
    assert at.selectbox(key="month").value == f"{finance.read(closing.find_next, date(2026, 10, 1)):%Y-%m}"
    if run := check_runs.latest(store):
        run.wait()
    assert "The check of the whole store is clean" in texts(at.run())
    month = str(at.selectbox(key="month").value)
    confirm(press(at, "Start closing"))
    assert month in at.query_params["month"], "a closed month stays under the sentence that it is closed"
