"""Bordereaux on the screens: issued, sent and answered; a policy names its own."""

from decimal import Decimal

import pytest
from streamlit.testing.v1 import AppTest

from core import money
from core.services.finance.bordereaux import bordereaux
from core.store.access import Store
from core.ui.kit import words
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import Finance
from tests.ui.conftest import Screen, confirm, follow, lists, press, row_links, texts
from tests.ui.finance_pages import open_page

pytestmark = pytest.mark.frozen_at(NOW)

LIST, ONE = "finance/bordereaux.py", "finance/bordereaux.py#bordereau"


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


def overdue(at: AppTest) -> str:
    return next(each.value for each in at.markdown if each.value.startswith("Bordereaux are overdue"))


def test_a_month_is_issued_sent_and_queried_and_policies_name_it(finance: Finance, screen: Screen) -> None:
    at = open_page(screen, finance, LIST, month="2026-08")
    assert "August 2026, due 10 Sep 2026: has to be issued and sent" in overdue(at)
    assert set(lists(at)[0]["State"]) == {"Draft"}
    label = next(button.label for button in at.button if button.label.startswith("Issue "))
    confirm(press(at, label))
    assert "bordereaux are issued" in texts(at)
    assert "August 2026, due 10 Sep 2026: issued, and has to be sent" in overdue(at)
    assert "has to be issued" not in overdue(at).partition("; and")[0]
    assert all(due.endswith("overdue: send it") for due in lists(at)[0]["Due"])
    place = list(lists(at)[0]["Kind"]).index("Premium")
    follow(at, row_links(at)[place])
    confirm(press(at, "Mark as sent"))
    confirm(press(at, "Queried by the insurer"))
    assert "Must say what the insurer said" in texts(at)
    assert not at.error, "what is wrong with a field stands below it"
    confirm(at, note="One policy is unknown")
    row = next(row for row in finance.read(bordereaux.list_bordereaux) if row.state == "Queried")
    links = [link.proto.url for link in at.get("link_button")]
    assert links == [f"/bordereaux/{row.id}.{name}" for name in ("xlsx", "csv")]
    policy = next(each for each in finance.rows(from_="2026-08-01", to="2026-08-31") if each.provider == row.party)
    policy_text = texts(
        open_page(screen, finance, "policies/policy.py", by="oye", id=str(policy.policy_id), tab="money")
    )
    assert f"Reported by bordereau {row.number} of August 2026 (queried)" in policy_text


def test_the_issued_bordereaux_of_a_month_are_marked_as_sent_at_once(finance: Finance, screen: Screen) -> None:
    at = open_page(screen, finance, LIST, month="2026-08")
    drafts = len(lists(at)[0]["State"])
    confirm(press(at, f"Issue {drafts} of August 2026"))
    confirm(press(at, f"Mark {drafts} as sent"))
    assert set(lists(at)[0]["State"]) == {"Sent"}
    assert "August 2026" not in (at.error[0].value if at.error else "")


def test_a_draft_shows_the_rows_that_are_issued(finance: Finance, screen: Screen) -> None:
    at = open_page(screen, finance, LIST, month="2026-08")
    follow(at, row_links(at)[list(lists(at)[0]["Kind"]).index("Premium")])
    (shown,), links = lists(at), row_links(at)
    assert list(shown) == [
        *("Policy number", "Insured", "Type of insurance", "Transaction", "Date", "Gross premium", "Commission", "Net"),
    ]
    assert all(amount.lstrip("-").startswith("₦") for amount in shown["Gross premium"])
    assert all(str(link).startswith("/movement?id=") for link in links)
    assert set(shown["Transaction"]) <= {"New", "Renewal", "Cancellation", "Adjustment", "Decline"}
    gross = sum(money.to_minor(Decimal(each.replace("₦", "").replace(",", ""))) for each in shown["Gross premium"])
    confirm(press(at, "Issue it"))
    (row,) = finance.read(bordereaux.list_bordereaux)
    final = words.naira(row.totals["final_net"])
    assert f"**{row.rows}** rows · gross premium {words.naira(gross)} · final net {final}" in texts(at)
    assert row.rows == len(shown)
    assert at.query_params["id"] in (str(row.id), [str(row.id)])
    assert "The bordereau is issued." in texts(at)
    assert lists(at)[0].equals(shown)


def test_a_draft_says_which_month_comes_first_and_wrong_addresses_are_explained(
    finance: Finance, screen: Screen
) -> None:
    at = open_page(screen, finance, LIST, month="2026-09")
    assert "August 2026 comes first" in [link.proto.label for link in at.get("page_link")]
    follow(at, row_links(at)[0])
    assert "comes first" in texts(at)
    for given in ("1", "premium.x.2026-08", "premium.1", "0" * 8 + "-0000-7000-8000-" + "0" * 12):
        assert open_page(screen, finance, ONE, id=given).error[0].value
    for role in ("operations", "claims", "supervisor"):
        for path in (LIST, ONE):
            with pytest.raises(ValueError, match="bordereau"):
                screen(role, path=path)


def test_every_row_of_a_long_bordereau_can_be_turned_to(
    store: Store, partner: Partner, finance: Finance, screen: Screen
) -> None:
    Portfolio(seed=25, size=400, sellers=(partner.id,)).write(store)
    at = open_page(screen, finance, LIST, month="2026-10")
    rows = [int(number.replace(",", "")) for number in lists(at)[0]["Rows"]]
    most = rows.index(max(rows))
    assert rows[most] > 100
    follow(at, row_links(at)[most])
    assert f"**{rows[most]}** rows" in texts(at)
    assert "are shown" not in texts(at)
    last = -(-rows[most] // 50)
    at.query_params["page"] = str(last)
    at.run()
    assert len(lists(at)[0]) == rows[most] - 50 * (last - 1)
