"""Claims, credit notes and payouts are paid under references of one register (contract K9)."""

from collections.abc import Callable
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids
from core.covers.insurers import insurer_a
from core.errors import InvalidInput
from core.services.claims.review.coverage_checks import CHECK_KEYS
from core.services.claims.workflow import moves as claim_moves
from core.services.finance.credit_notes import deciding
from core.services.finance.parties import Party
from core.services.finance.payments import reading as payment_reading
from core.services.finance.payments import settlement
from core.services.policies import changes
from core.store.access import Store
from core.store.schema.tables import Claim, Refund
from tests.conftest import Partner
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.claim_desk import Desk
from tests.services.finance_office import ACCOUNT, Finance, pay_out
from tests.services.selling import sell

pytestmark = [pytest.mark.frozen_at(NOW), pytest.mark.both_databases]

ON = {"value_on": "2026-11-20"}
# A dash, a letter of another alphabet and a mark that nobody sees.
ODD = ("R\u20111", "\u0420-1", "R\ufe0f-1", "--")
Pay = Callable[[str], None]


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    return Finance(store)


def move(finance: Finance, claim_id: UUID, to: str, by: str, **inputs: Any) -> None:
    person, seen = finance.people[by], version(finance, claim_id)
    finance.do(claim_moves.move_claim, claim_id, to=to, person=person, version=seen, **inputs)


def version(finance: Finance, claim_id: UUID) -> int:
    with finance.reading() as session:
        return session.get_one(Claim, claim_id).version


def lodge(finance: Finance, partner: Partner) -> UUID:
    """An accepted offer, which Sade approved."""
    record, _ = Desk(finance.store, partner, is_live=True).lodge(incident_type="Loss of job", at=NOW)
    claim_id = ids.parse(record["id"])
    move(finance, claim_id, "Approved", "sade", amount="75000", reasons=dict.fromkeys(CHECK_KEYS, "Seen, and accepted"))
    move(finance, claim_id, "Offer sent", "sade")
    move(finance, claim_id, "Offer accepted", "sade", note="Accepted on the phone")
    return claim_id


def approve_refund(finance: Finance, partner: Partner) -> UUID:
    """An approved credit note."""
    with clock.freeze(NOW - timedelta(days=30)):
        sale = sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True)
    given = {"reason": "Sold the car", "by_insurer": True, "actor": "tests", "expected_version": 1}
    finance.do(changes.cancel, sale.policy_id, **given)
    with finance.reading() as session:
        # A refund and its credit note have one id.
        note: UUID = session.execute(
            sa.select(col(Refund.id)).where(col(Refund.policy_id) == sale.policy_id)
        ).scalar_one()
    finance.do(deciding.approve, note, ACCOUNT, by="wale")
    return note


def refuse(match: str, typed: str, *pay: Pay) -> None:
    """Each of these refuses the reference, by the same sentence."""
    words = set()
    for each in pay:
        with pytest.raises(InvalidInput, match=match) as refused:
            each(typed)
        words.add(refused.value.faults[0].message)
    assert len(words) == 1


def test_a_reference_that_one_of_the_three_used_is_refused_by_all(finance: Finance, partner: Partner) -> None:
    (payout,) = finance.read(payment_reading.list_of_batch, pay_out(finance, Party("distributor", partner.id)))
    claim_id, note = lodge(finance, partner), approve_refund(finance, partner)

    def pay_claim(typed: str) -> None:
        move(finance, claim_id, "Paid", "chi", payment_reference=typed)

    def pay_note(typed: str) -> None:
        finance.do(deciding.pay, note, {"bank_reference": typed, **ON}, by="femi")

    def pay_party(typed: str) -> None:
        finance.do(settlement.confirm, payout.id, {"bank_reference": typed, **ON}, by="femi")

    for odd in ODD[:-1]:
        refuse("has a character that a reference cannot have", odd, pay_claim, pay_note, pay_party)
    refuse("must have a letter or a digit", ODD[-1], pay_claim, pay_note, pay_party)
    used = "was used for another payment already"
    pay_claim("CL/1")
    refuse(used, "cl / 1", pay_note, pay_party)
    pay_note("CN/1")
    refuse(used, "cn / 1", pay_party)
    pay_party("PO/1")
    back = {"returned_on": str(date(2026, 11, 20)), "reason": "The account is closed"}
    move(finance, claim_id, "Offer accepted", "root", payment_reference="BACK", note="The bank returned it")
    finance.do(deciding.return_payment, note, back, by="root")
    finance.do(deciding.approve, note, ACCOUNT, by="second")
    given = {"version": version(finance, claim_id), "reasons": dict.fromkeys(CHECK_KEYS, "Seen, and accepted")}
    finance.do(claim_moves.approve_anew, claim_id, person=finance.people["second"], **given)
    # What came back left its reference behind, and so did each of the others.
    for typed in ("CL/1", "cn/1", "PO / 1", "Back"):
        refuse(used, typed, pay_claim, pay_note)
    pay_claim("CL/2")
    pay_note("CN/2")
    assert finance.money_faults() == []
