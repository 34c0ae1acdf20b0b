"""Part payments, payees, value dates and their export: nobody gets around a control (contract C10)."""

import csv
import io
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core import clock, ids, seal
from core.desk import export_runs, store_check
from core.desk.export_runs import ExportOrder
from core.desk.exported_lists import get_kind
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.review import review as claim_review
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import paying as claim_paying
from core.services.lists.exports import CSV
from core.store.access import Scope
from core.store.schema.tables import ClaimPayment, PaymentPayee
from tests.every_case import every_case
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office

pytestmark = pytest.mark.frozen_at(NOON)

ACCOUNT = "0123456789"


def accepted(office: Office) -> UUID:
    claim_id = office.lodge()
    for status, inputs in (("Approved", {"amount": "75000"}), ("Offer sent", {}), ("Offer accepted", {})):
        office.move(claim_id, status, by="sade", **inputs)
    return claim_id


def part(office: Office, claim_id: UUID, amount: str, reference: str, *, by: str = "ada", **payment: Any) -> Any:
    seen = office.claim(claim_id).version
    inputs: dict[str, Any] = {"amount": amount, "payment_reference": reference, "payment": payment, "version": seen}
    return office.do(claim_paying.pay_part, claim_id, by=by, **inputs)


def payee(office: Office, claim_id: UUID, *, by: str = "bola", **changed: Any) -> Any:
    details = {"name": "Musa Bello", "bank_name": "Lagoon Bank", "account_number": ACCOUNT, "reason": "New account"}
    return office.do(
        claim_corrections.set_payee, claim_id, by=by, version=office.claim(claim_id).version, **{**details, **changed}
    )


def review(office: Office, claim_id: UUID) -> ClaimReview:
    with office.store.reading(DESK) as session:
        return claim_review.get_review(session, claim_id, person=office.people["sade"])


def test_an_offer_is_paid_in_parts_and_the_last_one_makes_it_paid(office: Office) -> None:
    claim_id = accepted(office)
    part(office, claim_id, "30000", "P1", method="cheque", value_on="2026-11-20")
    part(office, claim_id, "20000", "P2")
    found = review(office, claim_id)
    assert (found.status, found.balance_minor, found.reserve_minor) == ("Offer accepted", 2_500_000, 2_500_000)
    assert office.claim(claim_id).payment_reference == "P2"
    with pytest.raises(InvalidInput, match=r"amount must be what is left of the offer, ₦25,000.00"):
        office.move(claim_id, "Paid", by="ada", amount="75000", payment_reference="P3")
    office.move(claim_id, "Paid", by="ada", payment_reference="P3", payment={"method": "Bank transfer"})
    found = review(office, claim_id)
    assert [each.amount_minor for each in found.payments] == [3_000_000, 2_000_000, 2_500_000]
    assert [each.method for each in found.payments] == ["Cheque", "Bank transfer", "Bank transfer"]
    assert found.payments[0].value_on == NOON.date()
    assert (found.status, found.reserve_minor) == ("Paid", 0)
    with office.store.reading(DESK) as session:
        assert claim_totals.get_totals(session, ClaimFilter()).paid_minor == 7_500_000
    with office.store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []


@every_case("amount", ["0", "-1", "75000", "75000.01", "99999999"])
def test_a_part_is_above_nothing_and_below_what_is_left(office: Office, amount: str) -> None:
    claim_id = accepted(office)
    with pytest.raises(InvalidInput, match="amount"):
        part(office, claim_id, amount, "P1")
    assert review(office, claim_id).payments == []


def test_parts_do_not_get_around_authority_the_second_person_or_the_reference(office: Office) -> None:
    claim_id = accepted(office)
    with pytest.raises(NotAllowed, match="a payer other than the approver"):
        part(office, claim_id, "1", "P1", by="sade")
    with pytest.raises(NotAllowed, match="Claims are worked by"):
        part(office, claim_id, "1", "P1", by="funmi")
    part(office, claim_id, "1", "P1")
    with pytest.raises(InvalidInput, match="payment_reference was used"):
        part(office, claim_id, "1", "p 1")
    office.put(claim_id, approved_amount_minor=20_000_000, offer_amount_minor=7_500_001)
    with pytest.raises(StateForbids, match="an offer that is not above what the rule still gives"):
        part(office, claim_id, "1", "P2")
    office.put(claim_id, offer_amount_minor=7_500_000)
    office.put(office.lodge(), claim_status="Offer accepted")
    with pytest.raises(StateForbids, match="cannot become Paid"):
        part(office, office.lodge(), "1", "P4")


def test_an_offer_above_the_limit_is_not_paid_in_small_parts(office: Office) -> None:
    claim_id = office.lodge(loan_amount="200000", pending_repayment_amount="150000")
    office.put(claim_id, claim_status="Offer accepted", approved_by=office.people["sade"].id)
    office.put(claim_id, approved_amount_minor=15_000_000, offer_amount_minor=15_000_000)
    office.certify(claim_id)
    with office.store.writing(Scope.system()) as session:
        session.execute(sa.text("UPDATE policy SET sum_insured_minor = 20000000"))
    with pytest.raises(NotAllowed, match=r"₦150,000.00 is above the limit of ₦100,000.00"):
        part(office, claim_id, "1000", "P1")


def test_a_part_that_came_back_is_taken_back_by_a_supervisor_with_its_reference(office: Office) -> None:
    claim_id = accepted(office)
    inputs: dict[str, Any] = {"payment_reference": "BACK", "note": "The account was closed"}
    with pytest.raises(StateForbids, match="No part of this offer stands"):
        office.do(claim_paying.take_back_part, claim_id, by="root", version=office.claim(claim_id).version, **inputs)
    part(office, claim_id, "30000", "P1")
    version = office.claim(claim_id).version
    with pytest.raises(NotAllowed, match="a supervisor"):
        office.do(claim_paying.take_back_part, claim_id, by="bola", version=version, **inputs)
    with pytest.raises(InvalidInput) as refused:
        office.do(claim_paying.take_back_part, claim_id, by="root", version=version, payment_reference="", note="")
    assert {fault.field for fault in refused.value.faults} == {"payment_reference", "note"}
    office.do(claim_paying.take_back_part, claim_id, by="root", version=version, **inputs)
    found = review(office, claim_id)
    assert (found.balance_minor, found.reserve_minor, found.amounts.limits.paid_minor) == (7_500_000, 7_500_000, 0)
    office.approve_anew(claim_id, by="bola")
    office.move(claim_id, "Paid", by="ada", payment_reference="P2")
    with office.store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []


def test_a_new_offer_after_a_part_gives_only_what_was_not_paid(office: Office) -> None:
    claim_id = accepted(office)
    with clock.freeze(NOON + timedelta(hours=1)):
        part(office, claim_id, "30000", "P1")
        office.move(claim_id, "Reviewing", by="sade")
        office.move(claim_id, "Approved", by="sade", amount="75000")
        office.move(claim_id, "Offer sent", by="sade")
        office.move(claim_id, "Offer accepted", by="sade")
        assert office.claim(claim_id).offer_amount_minor == 4_500_000
        office.move(claim_id, "Paid", by="ada", payment_reference="P2")
    assert review(office, claim_id).amounts.limits.paid_minor == 7_500_000


def test_who_sets_the_payee_does_not_pay_it_and_the_account_is_sealed(office: Office) -> None:
    claim_id = accepted(office)
    with pytest.raises(NotAllowed, match="a supervisor changes the payee"):
        payee(office, claim_id, by="ada")
    with pytest.raises(InvalidInput) as refused:
        payee(office, claim_id, by="root", name=" ", account_number="12", reason="")
    assert {fault.field for fault in refused.value.faults} == {"payee", "payee_account", "payee_reason"}
    payee(office, claim_id, by="root")
    office.approve_anew(claim_id)
    with pytest.raises(NotAllowed, match="has not set its payee"):
        office.move(claim_id, "Paid", by="root", payment_reference="P1")
    office.move(claim_id, "Paid", by="ada", payment_reference="P1")
    (payment,) = review(office, claim_id).payments
    assert (payment.payee, payment.hint) == ("Musa Bello", "6789")
    with office.store.reading(Scope.system()) as session:
        row = session.execute(sa.select(PaymentPayee)).scalar_one()
        assert seal.unseal(row.sealed) == {"account_number": ACCOUNT}
    assert ACCOUNT not in str([entry.after for entry in office.log(claim_id)])
    with pytest.raises(StateForbids, match="keeps its payee"):
        payee(office, claim_id, by="sade")


def test_a_payment_without_a_payee_goes_to_the_account_that_the_claim_named(office: Office) -> None:
    claim_id = accepted(office)
    with pytest.raises(InvalidInput, match="value_on must not be in the future"):
        part(office, claim_id, "1", "P0", value_on="2026-11-21")
    with pytest.raises(InvalidInput, match="value_on must not be before the claim was lodged"):
        part(office, claim_id, "1", "P0", value_on="2026-11-01")
    with pytest.raises(InvalidInput, match="method must be one of"):
        part(office, claim_id, "1", "P0", method="cash")
    with pytest.raises(InvalidInput, match="payment is no part of the move to Reviewing"):
        office.move(claim_id, "Reviewing", by="sade", payment={"method": "Cheque"})
    part(office, claim_id, "1", "P1")
    part(office, claim_id, "2", "P2")
    assert {each.payee for each in review(office, claim_id).payments} == {review(office, claim_id).distributor}
    with office.store.reading(Scope.system()) as session:
        assert len(session.execute(sa.select(PaymentPayee)).all()) == 1


def test_the_export_of_payments_has_a_line_for_each_and_the_sum_of_every_figure(office: Office) -> None:
    claim_id = accepted(office)
    payee(office, claim_id, by="root", name="=1+1")
    office.approve_anew(claim_id)
    part(office, claim_id, "30000", "P1")
    inputs: dict[str, Any] = {"payment_reference": "BACK", "note": "It came back", "version": 7}
    office.do(claim_paying.take_back_part, claim_id, by="root", **inputs)
    office.approve_anew(claim_id, by=office.hire("uche", "supervisor"))
    office.move(claim_id, "Paid", by="ada", payment_reference="P2")
    kind, out = get_kind("claim-payments"), io.BytesIO()
    export_runs.write_file(
        ExportOrder(id=ids.new(), actor="tests", kind=kind, format=CSV, selection=kind.read({}), is_live=False),
        out,
    )
    rows = list(csv.DictReader(io.StringIO(out.getvalue().decode())))
    assert sorted((row["reference"], row["amount"]) for row in rows) == [
        ("BACK", "-30000.00"),
        ("P1", "30000.00"),
        ("P2", "75000.00"),
    ]
    assert {(row["payee"], row["payee_account"]) for row in rows if row["method"]} == {("'=1+1", "****6789")}
    assert ACCOUNT not in out.getvalue().decode()
    with office.store.reading(DESK) as session:
        assert claim_totals.get_totals(session, ClaimFilter()).payments == len(rows)
        total = session.execute(sa.select(sa.func.sum(ClaimPayment.amount_minor))).scalar_one()
        assert claim_totals.get_totals(session, ClaimFilter()).paid_minor == total == 7_500_000
