"""Chains over several doors of the API, each act of which is allowed alone (contract, Controls)."""

from datetime import timedelta
from typing import Any

import pytest

from core import clock, ids
from core.covers.credit_life import CREDIT_LIFE
from core.dispatch import loan_books as worker
from core.errors import NotAllowed
from core.services.claims.review import review as claim_review
from core.services.claims.review.coverage_checks import CHECK_KEYS
from core.services.claims.workflow import moves as claim_moves
from core.store.access import Scope, Store
from tests.api.claiming import PAPER, Lodge, claim_of, faults_of, policy_number
from tests.api.conftest import Client
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.claim_desk import NOON
from tests.services.loan_books import PRODUCT, exits_csv, person

pytestmark = pytest.mark.frozen_at(NOON)
BOOKS = "/v1/loan-books"


def report_loan_over(client: Client, store: Store, partner: Partner, number: str, day: str) -> str:
    """Report with the lender's key that a loan was over on a day, and return the premium that goes back."""
    key, form = partner.test_key, {"kind": "exits", "product_id": PRODUCT, "month": "2026-11"}
    content = exits_csv([(number, day, "settled_early")]).replace(b"loan_account_number", b"policy_number")
    sent = client.post(BOOKS, key=key, data=form, files={"file": ("exits.csv", content, "text/csv")})
    address = f"{BOOKS}/{sent.json()['data']['loan_book']['id']}"
    worker.work(store)
    book = client.get(address, key=key).json()["data"]["loan_book"]
    seen = {"rows": 1, "premium": book["preview"]["premium"], "preview_hash": book["preview_hash"]}
    confirmed = client.post(f"{address}/confirm", key=key, json={"accept": "valid", "expected": seen})
    assert confirmed.status_code == 202, confirmed.text
    worker.work(store)
    done: dict[str, Any] = client.get(address, key=key).json()["data"]["loan_book"]
    assert done["done_rows"] == 1
    return str(done["done_amount"])


def test_a_lender_claims_no_loss_of_a_loan_from_after_the_day_on_which_it_said_that_it_was_over(
    client: Client, store: Store, partner: Partner
) -> None:
    """It has the premium of the months after that day back, and the policy ended only when it said so."""
    with clock.freeze(NOON - timedelta(days=90)):
        lodge = Lodge(client, partner, loan_start_date="2026-08-22")
    assert float(report_loan_over(client, store, partner, lodge.number, "2026-10-30")) > 0
    days = {"loan_offer_date": "2026-08-22", "loan_repayment_date": "2027-08-22"}
    claims = {
        day: ids.parse(claim_of(lodge(incident_date=day, incident_type=incident, medical_report=PAPER, **days))["id"])
        for day, incident in (("2026-10-29", "Loss of job"), ("2026-11-10", "Permanent disability"))
    }
    officer, head = person(store, "claims", "ada", claim_limit="1000000"), person(store, "supervisor", "sade")
    for day, is_covered in (("2026-10-29", True), ("2026-11-10", False)):
        with store.reading(Scope.staff(is_live=False)) as session:
            checks = claim_review.get_review(session, claims[day], person=head).checks
        (found,) = [each for each in checks if each.key == "in_force"]
        assert found.passed is is_covered, found.detail
        assert ("The loan was said to be over on 30 Oct 2026" in found.detail) is not is_covered
    approval = {"to": "Approved", "amount": "75000", "reasons": dict.fromkeys(CHECK_KEYS, "Seen, and accepted")}
    with store.writing(Scope.staff(is_live=False)) as session:
        version = claim_review.get_review(session, claims["2026-11-10"], person=head).version
        with pytest.raises(NotAllowed, match="a supervisor, as a check has failed: In force on the day"):
            claim_moves.move_claim(session, claims["2026-11-10"], person=officer, version=version, **approval)


def test_a_loan_is_not_insured_twice_by_letters_that_look_alike(client: Client, partner: Partner) -> None:
    """Each policy would name another loan, and its debt be owed twice."""
    policy_number(client, partner.test_key, loan_account_number="LA-1")
    for written in ("LA\u20111", "la \u2013 1", "\uff2c\uff21-1"):
        again = shipped.body(CREDIT_LIFE, loan_account_number=written)
        answer = client.post("/v1/products/buy-credit-life", key=partner.test_key, json=again)
        assert answer.status_code == 409, ascii(written)
    cyrillic = shipped.body(CREDIT_LIFE, loan_account_number="L\u0410-1")
    answer = client.post("/v1/products/buy-credit-life", key=partner.test_key, json=cyrillic)
    assert faults_of(answer) == {"loan_account_number": "must be written in Latin letters, digits and signs"}
