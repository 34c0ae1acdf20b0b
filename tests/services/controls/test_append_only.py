"""Rows that only grow do so in both databases: nothing of them changes or goes without a trace (contract K15)."""

from typing import Any

import pytest
import sqlalchemy as sa

from core import clock, seal
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow import questions as claim_questions
from core.store.access import Scope
from core.store.schema.tables import ClaimComment, ClaimReferral, PaymentPayee
from tests.every_case import every_case
from tests.services.claim_desk import NOON
from tests.services.claim_office import Office

pytestmark = pytest.mark.frozen_at(NOON)

PAYEE = {"name": "Ada Eze", "bank_name": "First Bank", "account_number": "0123456789", "reason": "As she asked"}


@pytest.fixture
def worked(office: Office) -> Office:
    """An office with a comment, a payee and a payment that was handed to finance."""
    claim_id = office.lodge(incident_date="2026-11-17")
    office.do(claim_questions.add_comment, claim_id, text="Spoke to the employer")
    office.do(claim_corrections.set_payee, claim_id, by="bola", version=office.claim(claim_id).version, **PAYEE)
    for status in ("Approved", "Offer sent", "Offer accepted"):
        office.walk(claim_id, status)
    office.do(claim_paying.hand_over, claim_id, by="sade", version=office.claim(claim_id).version)
    return office


@every_case(
    ("table", "values"),
    [
        (PaymentPayee, {"name": "A friend"}),
        (PaymentPayee, {"hint": "9999"}),
        (PaymentPayee, {"staff_id": None}),
        (ClaimComment, {"text": "Nothing was said"}),
        (ClaimComment, {"for_claimant": True}),
        (ClaimReferral, {"amount_minor": 1}),
        (ClaimReferral, {"note": "As agreed"}),
        (ClaimReferral, {"asks_role": "supervisor"}),
    ],
)
def test_payees_comments_and_referrals_do_not_change_and_do_not_go(
    worked: Office, table: Any, values: dict[str, Any]
) -> None:
    for statement in (sa.update(table).values(**values), sa.delete(table)):
        with pytest.raises(sa.exc.DBAPIError), worked.store.writing(Scope.system()) as session:
            session.execute(statement)
    with worked.store.reading(Scope.system()) as session:
        assert session.execute(sa.select(sa.func.count()).select_from(table)).scalar_one() > 0


def test_a_referral_is_closed_once_and_a_number_is_sealed_anew(worked: Office) -> None:
    with worked.store.writing(Scope.system()) as session:
        session.execute(sa.update(ClaimReferral).values(closed_at=clock.now()))
        session.execute(sa.update(PaymentPayee).values(sealed=seal.seal({"account_number": "0123456789"})))
    with pytest.raises(sa.exc.DBAPIError), worked.store.writing(Scope.system()) as session:
        session.execute(sa.update(ClaimReferral).values(closed_at=None))
