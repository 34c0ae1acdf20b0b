"""The clicks that a claim takes: three to a clean decision, eight to Settled and the payer's three (contract C19)."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
import pytest
from playwright.sync_api import Page, expect

from core import clock
from core.covers.credit_life import CREDIT_LIFE
from core.services.catalogue import keys
from core.services.selling import buying
from core.services.selling.buying import Seller
from core.store.access import Scope
from tests import papers
from tests.covers import shipped
from tests.e2e.conftest import Desk, Visit, settled
from tests.e2e.presses import Presses


class Clicks:
    """One person at the queue, who only clicks and types."""

    def __init__(self, page: Page, presses: Presses) -> None:
        self.page, self.presses = page, presses

    def number(self) -> int:
        return self.presses.clicks()

    def forget(self) -> None:
        self.presses.forget()

    def open(self, name: str) -> None:
        self.page.locator("tbody tr", has_text=name).locator("a.record").first.click()
        expect(self.page.get_by_role("heading", name="Credit life claim")).to_be_visible()
        settled(self.page)

    def press(self, name: str) -> None:
        self.page.get_by_role("button", name=name, exact=True).click()
        settled(self.page)

    def type(self, label: str, text: str) -> None:
        """Type where the cursor is, which the screen has put into this field."""
        field = self.page.get_by_label(label, exact=True)
        expect(field).to_be_focused()
        self.page.keyboard.type(text)
        expect(field).to_have_value(text)

    def has_document_beside(self, name: str) -> bool:
        """True where the opened document stands to the right of a button and at its height."""
        paper = self.page.locator('iframe[title="Loan offer letter"]').bounding_box()
        button = self.page.get_by_role("button", name=name, exact=True).bounding_box()
        if paper is None or button is None:
            return False
        is_right = paper["x"] >= button["x"] + button["width"]
        return is_right and paper["y"] < button["y"] < paper["y"] + paper["height"]

    def stands(self, status: str) -> None:
        """The toast says it too, for some seconds."""
        expect(self.page.get_by_role("heading", name="Credit life claim")).to_contain_text(status)
        settled(self.page)


@dataclass(frozen=True, slots=True)
class Lodged:
    """A claim that a distributor lodged: the borrower's last name, and the claim's address in the API."""

    name: str
    address: str
    headers: Mapping[str, str]

    def read(self) -> dict[str, Any]:
        answer = httpx.get(self.address, headers=self.headers, timeout=20)
        found: dict[str, Any] = answer.json()["data"]["claim"]
        return found


@pytest.fixture
def lodged(desk: Desk) -> Lodged:
    """A new claim with all its papers, on which every check is met."""
    today = clock.today()
    started = (today - timedelta(days=60)).isoformat()
    name = {"first_name": "Zainab", "last_name": "Counted", "email": "zainab.counted@x.example"}
    name["phone_number"] = "08035550011"
    request = shipped.request(CREDIT_LIFE, loan_start_date=started, loan_tenure=12, loan_amount="100000", **name)
    seller = Seller(distributor_id=desk.seller, is_live=False, actor="tests")
    # Sold when the loan began: what is bought after a loss is not insured for it.
    sold = clock.freeze(clock.now() - timedelta(days=60))
    with sold, desk.store.writing(Scope.of(desk.seller, is_live=False)) as session:
        number = buying.sell(session, CREDIT_LIFE, request, seller).policy["meta"]["policy_number"]
    with desk.store.writing(Scope.system()) as session:
        key = keys.issue_key(session, distributor_id=desk.seller, is_live=False, name="clicks", actor="tests")
    fields = {
        "policy_number": str(number),
        "incident_type": "Loss of job",
        "accidental": "false",
        "loan_offer_date": started,
        "loan_repayment_date": (today + timedelta(days=300)).isoformat(),
        "loan_amount": "100000",
        "pending_repayment_amount": "75000",
        "incident_date": (today - timedelta(days=3)).isoformat(),
    }
    sent = {
        field: (f"{field}.pdf", papers.pdf(text=f"{field} of {number}"))
        for field in ("loan_offer_letter", "employment_termination_letter")
    }
    headers = {"Authorization": f"Bearer {key}"}
    answer = httpx.post(f"{desk.url}/v1/claims/credit-life", data=fields, files=sent, headers=headers, timeout=20)
    assert answer.status_code == 201, answer.text
    claim_id = answer.json()["data"]["claim"]["id"]
    return Lodged(name["last_name"], f"{desk.url}/v1/claims/{claim_id}", headers)


@pytest.fixture
def counted(page: Page, presses: Presses) -> Clicks:
    return Clicks(page, presses)


@pytest.mark.exhaustive
def test_a_new_claim_is_decided_in_3_clicks_and_settled_in_8_and_3_of_the_payer(
    visit: Visit, counted: Clicks, lodged: Lodged
) -> None:
    visit("claims", "/queue?view=unassigned&mode=test")
    counted.forget()
    counted.open(lodged.name)
    counted.press("Approve")
    assert counted.has_document_beside("Confirm: approve")
    counted.press("Confirm: approve")
    counted.stands("Approved")
    assert counted.number() == 3
    counted.press("Confirm: send an offer")
    counted.stands("Offer sent")
    counted.press("Offer accepted")
    counted.type("Note", "Accepted on the phone")
    counted.press("Confirm: offer accepted")
    counted.stands("Offer accepted")
    officer = counted.number()
    assert payer_clicks(visit, counted, lodged) <= 3
    visit("claims", "/queue?view=mine&mode=test")
    counted.forget()
    counted.open(lodged.name)
    counted.press("Settle")
    counted.stands("Settled")
    assert officer + counted.number() <= 8
    claim = lodged.read()
    line = ["Pending", "Viewed", "Approved", "Offer sent", "Offer accepted", "Paid", "Settled"]
    assert [step["name"] for step in claim["status_time_line"]] == line
    assert (claim["claim_status"], claim["offer_amount"]) == ("Settled", "75000.00")


def payer_clicks(visit: Visit, counted: Clicks, lodged: Lodged) -> int:
    """Pay the claim as another person and return the clicks that it took."""
    visit("supervisor", "/queue?view=to_pay&mode=test")
    counted.forget()
    counted.open(lodged.name)
    counted.press("Pay")
    counted.type("Payment reference", "TRF-CLICKS-1")
    counted.press("Confirm: pay")
    counted.stands("Paid")
    return counted.number()
