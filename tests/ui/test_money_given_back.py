"""Refunds stand beside the premium on every screen with money, and add up there."""

import re
from datetime import timedelta

import pytest
from streamlit.testing.v1 import AppTest

from core import clock
from core.covers.insurers import insurer_a
from core.services.policies import changes
from core.services.renewals import renewals
from core.services.selling.buying import Sale
from core.store.access import Store
from core.ui.kit import words
from tests.conftest import Partner
from tests.covers import shipped
from tests.every_case import every_case
from tests.services.claim_office import Office
from tests.services.selling import sell
from tests.ui.conftest import Screen, sent, texts

NOW = shipped.STILL + timedelta(days=365 - 73)
pytestmark = pytest.mark.frozen_at(NOW)


@pytest.fixture
def declined(store: Store, partner: Partner) -> Sale:
    sale = sell(store, partner, insurer_a.COMPREHENSIVE, is_live=True, registration_number="KJA-777ZZ")
    with store.writing(partner.scope(is_live=True)) as session:
        changes.decline(session, sale.policy_id, actor="desk", reason="too old", expected_version=1)
    return sale


@pytest.fixture
def renewed_and_cancelled(store: Store, partner: Partner) -> Sale:
    with clock.freeze(shipped.STILL):
        sale = sell(store, partner, insurer_a.THIRD_PARTY, is_live=True)
    with store.writing(partner.scope(is_live=True)) as session:
        renewals.renew(session, sale.policy_id, partner.seller(is_live=True))
        given = {"actor": "desk", "reason": "sold it", "by_insurer": True, "expected_version": 2}
        changes.cancel(session, sale.policy_id, **given)
    return sale


def open_page(screen: Screen, page: str, **query: str) -> AppTest:
    return screen("operations", path=page, **query)


def table(at: AppTest, heading: str) -> dict[str, list[int]]:
    """The rows of the table of money with this heading, by their labels, in kobo."""
    (found,) = (str(each.value) for each in at.markdown if heading in str(each.value))
    lines = [[cell.strip() for cell in line.strip("|").split("|")] for line in found.splitlines()[2:]]
    return {label: [int(re.sub(r"[₦,.]", "", amount)) for amount in amounts] for label, *amounts in lines}


def adds_up(rows: dict[str, list[int]]) -> bool:
    """Premium is the three shares in every row; written less given back is net in every column."""
    across = all(premium == sum(shares) for premium, *shares in rows.values())
    columns = zip(rows["Written"], rows["Given back"], rows["Net"], strict=True)
    return across and all(written - back == net for written, back, net in columns)


def test_the_dashboard_adds_up_what_was_written_given_back_and_is_left(
    screen: Screen, declined: Sale, renewed_and_cancelled: Sale
) -> None:
    at = open_page(screen, "sales/dashboard.py", period="30d")
    rows = table(at, "| Premium |")
    assert adds_up(rows)
    assert [sum(pair) for pair in zip(rows["Purchases"], rows["Renewals"], strict=True)] == rows["Written"]
    (drawn,) = (payload["tiles"] for payload in sent(at) if "tiles" in payload)
    tiles = {tile["label"]: int(re.sub(r"[₦,.]", "", tile["value"])) for tile in drawn if "₦" in tile["value"]}
    assert tiles["Gross written premium"] == rows["Written"][0]
    assert tiles["Given back"] == rows["Given back"][0] > 0
    assert (tiles["Platform commission"], tiles["Distributor commission"]) == tuple(rows["Net"][2:])


@every_case("page", ["sales/purchases.py", "sales/renewals.py"])
def test_a_list_says_what_was_given_back_of_it(
    screen: Screen, declined: Sale, renewed_and_cancelled: Sale, page: str
) -> None:
    rows = table(open_page(screen, page), "| Premium |")
    assert adds_up(rows)
    assert rows["Given back"][0] > 0


def test_a_declined_sale_keeps_no_commission_and_says_what_it_is(screen: Screen, declined: Sale) -> None:
    at = open_page(screen, "sales/purchases.py#purchase", id=str(declined.purchase_id))
    rows = table(at, "| Written |")
    assert all(written == back and not kept for written, back, kept in rows.values())
    *parts, whole = rows.values()
    assert [sum(column) for column in zip(*parts, strict=True)] == whole
    text = texts(at)
    assert at.title[0].value == "Policy without a number :red-badge[Declined]"
    assert f"The insurer declined this sale on {words.day(clock.today())}" in text
    assert "nobody keeps a commission" in text
    assert "certificate follows" not in text


def test_a_purchase_counts_its_own_refund_and_the_policy_every_one(screen: Screen, renewed_and_cancelled: Sale) -> None:
    at = open_page(screen, "sales/purchases.py#purchase", id=str(renewed_and_cancelled.purchase_id))
    assert table(at, "| Written |")["Premium"] == [1_500_000, 300_000, 1_200_000]
    policy = open_page(screen, "policies/policy.py", id=str(renewed_and_cancelled.policy_id))
    given_back = {metric.label: metric.value for metric in policy.metric if metric.label.startswith("Given back")}
    assert given_back == {"Given back of the purchase": "₦3,000.00", "Given back of the renewal": "₦15,000.00"}
    assert "₦18,000.00" in [str(line.value) for line in policy.text]


def test_the_dialog_refuses_a_cancellation_while_a_claim_is_open(
    screen: Screen, store: Store, partner: Partner
) -> None:
    office = Office(store, partner)
    claim_id = office.lodge()
    with clock.freeze(shipped.STILL):
        at = open_page(screen, "policies/policy.py", id=str(office.desk.sale.policy_id), mode="test")
        next(button for button in at.button if button.label == "Cancel policy").click().run()
    assert f"Claim C-{claim_id.hex[-8:].upper()} (Pending) is still open" in texts(at)
    assert not [button for button in at.button if button.key == "decision.confirm"]
