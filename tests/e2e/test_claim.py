"""Two claims in a browser: one lodged over the API, decided by two people and read back; one declined and appealed."""

from collections.abc import Iterator
from datetime import timedelta
from itertools import count
from typing import Any
from uuid import UUID

import httpx
import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect
from sqlmodel import col

from core import clock
from core.covers.credit_life import CREDIT_LIFE
from core.services.catalogue import keys
from core.services.selling import buying
from core.services.selling.buying import Seller
from core.store.access import Scope
from core.store.schema.tables import Claim
from tests import papers
from tests.covers import shipped
from tests.e2e.conftest import Desk, Visit, settled, twice

BORROWERS = count(1)


class Lender:
    """The distributor's program: it sells a policy, lodges claims with their papers, and reads them."""

    def __init__(self, desk: Desk) -> None:
        today = clock.today()
        started = today - timedelta(days=60)
        # Claims that other tests of this desk lodge are not this borrower's.
        borrower = {"phone_number": f"0805555{next(BORROWERS):04d}", "email": f"borrower.{next(BORROWERS)}@x.example"}
        loan = {"loan_start_date": started.isoformat(), "loan_tenure": 12, "loan_amount": "100000"}
        request = shipped.request(CREDIT_LIFE, **loan, **borrower)
        seller = Seller(distributor_id=desk.seller, is_live=False, actor="tests")
        # Sold when the loan began: what is bought after a loss is not insured for it.
        sold = clock.freeze(clock.now() - timedelta(days=60))
        with sold, desk.store.writing(Scope.of(desk.seller, is_live=False)) as session:
            self.number = str(
                buying.sell(session, CREDIT_LIFE, request, seller).policy["meta"]["policy_number"],
            )
        with desk.store.writing(Scope.system()) as session:
            key = keys.issue_key(session, distributor_id=desk.seller, is_live=False, name="lender", actor="tests")
        self.http = httpx.Client(base_url=f"{desk.url}/v1", headers={"Authorization": f"Bearer {key}"}, timeout=20)
        self.fields = {
            "policy_number": self.number,
            "incident_type": "Loss of job",
            "accidental": "false",
            "loan_offer_date": started.isoformat(),
            "loan_repayment_date": (today + timedelta(days=300)).isoformat(),
            "loan_amount": "100000",
            "pending_repayment_amount": "75000",
        }

    def lodge(self, *, days_ago: int) -> str:
        day = (clock.today() - timedelta(days=days_ago)).isoformat()
        sent = {
            name: (f"{name}.pdf", papers.pdf(text=f"{name} {days_ago}"))
            for name in ("loan_offer_letter", "employment_termination_letter")
        }
        answer = self.http.post("/claims/credit-life", data={**self.fields, "incident_date": day}, files=sent)
        assert answer.status_code == 201, answer.text
        return str(answer.json()["data"]["claim"]["id"])

    def claim(self, claim_id: str) -> dict[str, Any]:
        found: dict[str, Any] = self.http.get(f"/claims/{claim_id}").json()["data"]["claim"]
        return found


@pytest.fixture
def lender(desk: Desk) -> Iterator[Lender]:
    started = Lender(desk)
    yield started
    started.http.close()


def move(page: Page, name: str, *, to: str) -> None:
    """Confirm a move by two hasty clicks."""
    twice(page.get_by_role("button", name=f"Confirm: {name.lower()}"))
    expect(page.get_by_role("heading", name="Credit life claim")).to_contain_text(to)
    settled(page)


def choose(page: Page, name: str) -> None:
    page.get_by_role("button", name=name, exact=True).click()
    settled(page)


@pytest.mark.exhaustive
def test_claim_is_decided_by_two_people_and_read_back_over_the_api(visit: Visit, lender: Lender) -> None:
    claim_id = lender.lodge(days_ago=3)
    page = visit("claims", f"/claim?id={claim_id}&mode=test")
    expect(page.get_by_role("heading", name="Credit life claim")).to_contain_text("Viewed")
    letter = page.frame_locator('iframe[title="Loan offer letter"]').owner
    opened = page.request.get(str(letter.get_attribute("src")))
    assert (opened.status, opened.headers["content-type"]) == (200, "application/pdf")
    for name, to in (("Approve", "Approved"), ("Send an offer", "Offer sent"), ("Offer accepted", "Offer accepted")):
        choose(page, name)
        if to == "Offer accepted":
            page.get_by_label("Note", exact=True).fill("Accepted on the phone")
        move(page, name, to=to)
    expect(page.get_by_role("button", name="Pay", exact=True)).to_be_disabled()
    # The pointer may rest on the button, which says it too then.
    expect(page.get_by_text("needs a payer other than the approver").first).to_be_visible()
    page = visit("supervisor", f"/claim?id={claim_id}&mode=test")
    choose(page, "Pay")
    page.get_by_label("Payment reference").fill("TRF-2026-0001")
    move(page, "Pay", to="Paid")
    twice(page.get_by_role("button", name="Settle", exact=True))
    expect(page.get_by_role("heading", name="Credit life claim")).to_contain_text("Settled")
    claim = lender.claim(claim_id)
    line = ["Pending", "Viewed", "Approved", "Offer sent", "Offer accepted", "Paid", "Settled"]
    assert [step["name"] for step in claim["status_time_line"]] == line
    assert (claim["claim_status"], claim["offer_amount"]) == ("Settled", "75000.00")


@pytest.mark.exhaustive
def test_declined_claim_is_appealed_by_a_supervisor(visit: Visit, lender: Lender) -> None:
    claim_id = lender.lodge(days_ago=5)
    page = visit("claims", f"/claim?id={claim_id}&mode=test")
    choose(page, "Decline")
    page.get_by_label("Note", exact=True).fill("The letter is not signed")
    page.get_by_role("button", name="Confirm: decline").click()
    expect(page.get_by_text("Give the reason code: a claim that is declined has one")).to_be_visible()
    expect(page.get_by_label("Note", exact=True)).to_have_value("The letter is not signed")
    page.get_by_label("Reason code").click()
    page.get_by_role("option", name="Documents missing").click()
    settled(page)
    move(page, "Decline", to="Declined")
    expect(page.get_by_role("button", name="Take up an appeal")).to_be_disabled()
    page = visit("supervisor", f"/claim?id={claim_id}&mode=test")
    choose(page, "Take up an appeal")
    page.get_by_label("Note (optional)", exact=True).fill("A signed letter came")
    move(page, "Take up an appeal", to="Reviewing")
    page.get_by_role("tab", name="History").click()
    expect(
        page.get_by_text("Reviewing · Claim amount ₦75,000.00 · to Supervisor · Note A signed letter came")
    ).to_be_visible()
    claim = lender.claim(claim_id)
    assert [step["name"] for step in claim["status_time_line"]] == ["Pending", "Viewed", "Declined", "Reviewing"]
    assert (claim["decline_reason"], claim["comments"]) == ("None", [])


_ROOM_BELOW = """head => {
    let below = head.parentElement.nextElementSibling;
    while (!below.getBoundingClientRect().height) below = below.nextElementSibling;
    return below.getBoundingClientRect().top - head.parentElement.getBoundingClientRect().bottom;
}"""


@pytest.mark.exhaustive
def test_a_long_name_leaves_the_actions_at_the_right_of_the_head(visit: Visit, desk: Desk, lender: Lender) -> None:
    claim_id = lender.lodge(days_ago=4)
    with desk.store.writing(Scope.system()) as session:
        name = "Funmilayo Oluwaseun Adebisi-Ogunlesi of the Northern Provinces and Lagos Mainland East"
        session.execute(sa.update(Claim).where(col(Claim.id) == UUID(claim_id)).values(claim_owner_first_name=name))
    page = visit("claims", f"/claim?mode=test&id={claim_id}")
    head = page.get_by_role("heading", level=1).bounding_box()
    button = page.get_by_role("button", name="Next claim").bounding_box()
    assert head
    assert button
    assert button["x"] >= head["x"] + head["width"]
    assert head["y"] <= button["y"] <= head["y"] + head["height"]
    settled(page)
    assert page.locator(".st-key-claim_head").evaluate(_ROOM_BELOW) < 20, "no room is kept for what is not said"
