"""The movements on the screen: rows, totals, filters, export, and adjustments by two people of finance."""

from datetime import date

import pytest

from core import reference
from core.services.finance import adjustments, movements, parties
from core.services.finance.statements import statements
from core.store.access import Store
from core.ui.kit import words
from tests.conftest import Partner
from tests.every_case import every_case
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import Finance, select
from tests.ui.conftest import Screen, labels, lists, press, texts
from tests.ui.finance_pages import open_page

pytestmark = pytest.mark.frozen_at(NOW)

LIST, ONE = "finance/movements.py", "finance/movements.py#movement"


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


def test_the_list_shows_signed_rows_and_the_net_of_the_whole(finance: Finance, screen: Screen) -> None:
    at = open_page(screen, finance, LIST)
    shown, rows = lists(at)[0], finance.rows(50)
    assert list(shown["Premium"]) == [words.naira(row.total_minor) for row in rows]
    assert list(shown["Kind"]) == [row.kind_label for row in rows]
    total = finance.read(movements.compute_totals, select())
    for minor in (total.premium_minor, -total.refunded_minor, total.net.total_minor):
        assert f"**{words.naira(minor)}**" in texts(at)
    assert f"| Net | {words.naira(total.net.total_minor)} |" in texts(at)
    premium = words.naira(total.net.total_minor)
    assert f"**{movements.count(total)}** movements · {premium} net · All time" in texts(at)


def test_the_kind_narrows_rows_total_and_export(finance: Finance, screen: Screen) -> None:
    at = open_page(screen, finance, LIST, kind="refund")
    refunds = finance.rows(kind="refund")
    assert list(lists(at)[0]["Premium"]) == [words.naira(row.total_minor) for row in refunds][:50]
    assert "kind=refund" in at.get("link_button")[0].proto.url
    assert f"**{len(refunds)}** movements" in texts(at)


def test_the_movements_of_a_policy_are_found_by_its_number_or_customer(finance: Finance, screen: Screen) -> None:
    rows = finance.rows()
    row = next(each for each in rows if each.kind == "refund" and each.policy_number)
    of_policy = [each for each in rows if each.policy_id == row.policy_id]
    assert len(of_policy) > 1
    net = words.naira(sum(each.total_minor for each in of_policy))
    for find in (row.policy_number or "", (row.policy_number or "").lower().replace("/", " / ")):
        at = open_page(screen, finance, LIST, find=find)
        assert list(lists(at)[0]["Premium"]) == [words.naira(each.total_minor) for each in of_policy]
        assert f"**{len(of_policy)}** movements · {net} net · All time" in texts(at)
        assert "find=" in at.get("link_button")[0].proto.url
    of_customer = {each.id for each in rows if each.email == row.email}
    assert {each.id for each in finance.rows(find=row.email)} == of_customer
    assert finance.rows(find=row.policy_number, kind="refund") == [each for each in of_policy if each.kind == "refund"]
    assert "Must have 2 to 100 characters" in texts(open_page(screen, finance, LIST, find="x"))
    assert "No movement matches" in open_page(screen, finance, LIST, find="ZZ/999/QQ").info[0].value


def test_an_empty_store_says_that_nothing_moved(store: Store, screen: Screen) -> None:
    assert "No money has moved" in screen("finance", path=LIST).info[0].value


def test_two_people_of_finance_make_an_adjustment_and_one_does_not(finance: Finance, screen: Screen) -> None:
    row = max(finance.rows(), key=lambda row: row.total_minor)
    at = open_page(screen, finance, ONE, id=str(row.id))
    press(at, "Propose an adjustment")
    at.text_input(key="decision.field.premium").set_value("-10.00")
    at.text_input(key="decision.field.reason").set_value("Paid to the insurer twice")
    press(at, "Propose it")
    assert "Take it back" in labels(at)
    assert "Confirm" not in labels(at)
    at = open_page(screen, finance, LIST, by="femi")
    assert "₦10.00 by Funmi" in "".join(link.proto.label for link in at.get("page_link"))
    at = open_page(screen, finance, ONE, by="femi", id=str(row.id))
    press(press(at, "Confirm"), "Confirm it")
    assert [made.total_minor for made in finance.rows(kind="adjustment")] == [-1_000]
    assert "Confirmed" in texts(at)


TYPED = {
    "premium": "-10.00",
    "platform_commission": "0.00",
    "distributor_commission": "0.00",
    "reason": "Paid to the insurer twice",
}


def test_a_movement_names_the_papers_that_hold_it(finance: Finance, screen: Screen) -> None:
    row = next(row for row in finance.rows(kind="refund") if row.created_at.month == 10)
    credit_note, statement = "Its credit note", f"of {row.provider}, October 2026"

    def links() -> list[str]:
        at = open_page(screen, finance, ONE, id=str(row.id))
        return [link.proto.label for link in at.get("page_link")]

    assert credit_note in links()
    assert not any(label.endswith(statement) for label in links())
    insurer = next(party for party, name in finance.read(parties.list_parties) if name == row.provider)
    for month in (8, 9, 10):
        finance.do(statements.prepare, insurer, date(2026, month, 1), by="funmi")
    assert any(label.endswith(statement) for label in links())
    assert "Papers of finance" in texts(open_page(screen, finance, ONE, by="oye", id=str(row.id)))


def test_an_adjustment_above_ones_limit_cannot_be_confirmed_and_says_who_can(
    finance: Finance, screen: Screen, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = max(finance.rows(), key=lambda row: row.total_minor)
    finance.do(adjustments.propose, row.id, TYPED, by="funmi")
    limits = {("admin",): 500_000_000, ("finance",): 900}
    monkeypatch.setattr(reference, "get_finance_limit", lambda _, roles: limits[tuple(roles)])
    for by, is_closed in (("femi", True), ("root", False)):
        at = open_page(screen, finance, ONE, by=by, id=str(row.id))
        assert [button.disabled for button in at.button if button.label == "Confirm"] == [is_closed]
        assert ("an admin confirms it" in texts(at)) is is_closed


def test_a_wrong_amount_is_said_beside_its_field(finance: Finance, screen: Screen) -> None:
    at = open_page(screen, finance, ONE, id=str(finance.rows()[0].id))
    press(at, "Propose an adjustment")
    at.text_input(key="decision.field.premium").set_value("a lot")
    at.text_input(key="decision.field.reason").set_value("Paid to the insurer twice")
    press(at, "Propose it")
    assert "ust be an amount in naira" in texts(at)
    assert finance.rows(kind="adjustment") == []


def test_operations_look_and_do_not_adjust_and_claims_do_not_look(finance: Finance, screen: Screen) -> None:
    at = open_page(screen, finance, ONE, by="oye", id=str(finance.rows()[0].id))
    assert "Propose an adjustment" not in labels(at)
    for path in (LIST, ONE):
        with pytest.raises(ValueError, match="movement"):
            screen("claims", path=path)


@every_case(
    ("query", "message"),
    [({"id": "1"}, "names no movement"), ({"id": "0" * 8 + "-0000-7000-8000-" + "0" * 12}, "no such")],
)
def test_a_wrong_movement_is_explained(finance: Finance, screen: Screen, query: dict[str, str], message: str) -> None:
    assert message in open_page(screen, finance, ONE, **query).error[0].value
