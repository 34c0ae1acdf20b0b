"""Paying claims: never more than is owed, insured or left, one reference for one payment, and no figure forgets one."""

import os
from datetime import timedelta
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from alembic import command

from core import clock, ids
from core.desk import customer as customer_view
from core.desk import store_check
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.claims.lists import queue as claim_queue
from core.services.claims.lists import totals as claim_totals
from core.services.claims.lists.filter import ClaimFilter
from core.services.claims.reports import figures as claim_figures
from core.services.claims.review import review as claim_review
from core.services.claims.workflow import moves as claim_moves
from core.services.events import catalogue
from core.services.finance.payments import proofs as payment_proofs
from core.services.lists import dimensions
from core.services.lists.windows import Window
from core.services.people import transfers
from core.services.sales import figures
from core.store.access import Scope
from core.store.schema import migrating
from core.store.schema.tables import ClaimPayment, Policy, Staff, Transfer
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, PAID, Office
from tests.services.races import run_at_once

pytestmark = pytest.mark.frozen_at(NOON)

ROUNDS = int(os.environ.get("COVERDESK_RACES", "3"))
ACCEPTED = ("Approved", "Offer sent", "Offer accepted")


def payments(office: Office) -> list[tuple[UUID, int, str]]:
    with office.store.reading(DESK) as session:
        query = sa.select(ClaimPayment.claim_id, ClaimPayment.amount_minor, Transfer.reference)
        query = query.join(Transfer, Transfer.id == ClaimPayment.transfer_id)
        ordered = query.order_by(ClaimPayment.created_at, ClaimPayment.id)
        return [tuple(row) for row in session.execute(ordered)]


def accepted(office: Office, **lodged: Any) -> UUID:
    """A claim whose whole debt of 75,000 was approved, offered and accepted."""
    claim_id = office.lodge(**lodged)
    office.move(claim_id, "Approved", by="sade", amount="75000")
    office.move(claim_id, "Offer sent", by="sade")
    office.move(claim_id, "Offer accepted", by="sade")
    return claim_id


def paid_figures(office: Office, claim_id: UUID) -> dict[str, int]:
    """Return the paid amount by every figure on claims."""
    window = Window(clock.today() - timedelta(days=3), clock.today() + timedelta(days=1))
    with office.store.reading(DESK) as session:
        return {
            "queue": claim_totals.get_totals(session, ClaimFilter()).paid_minor,
            "performance": claim_figures.build_summary(session, window).current.paid_minor,
            "dashboard": figures.build_summary(session, window).current.claims_paid_minor,
            "customer": customer_view.get_customer(
                session, office.claim(claim_id).customer_id, dimensions.load_choices(session)
            ).claims_paid_minor,
            "review": claim_review.get_review(
                session, claim_id, person=office.people["sade"]
            ).amounts.limits.paid_minor,
        }


def test_a_reopened_claim_is_not_paid_the_same_money_twice(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, *PAID, "Settled", "Reviewing")
    office.move(claim_id, "Approved", by="sade", amount="75000")
    with pytest.raises(InvalidInput, match=r"amount must not be above ₦5,000.00, what remains after the ₦70,000.00"):
        office.move(claim_id, "Offer sent", by="sade", amount="70000")
    office.move(claim_id, "Offer sent", by="sade")
    office.move(claim_id, "Offer accepted", by="sade")
    office.move(claim_id, "Paid", by="ada", payment_reference="TRF-0002")
    assert [amount for _, amount, _ in payments(office)] == [7_000_000, 500_000]
    office.walk(claim_id, "Settled", "Reviewing", "Approved")
    with pytest.raises(InvalidInput, match="amount"):
        office.move(claim_id, "Offer sent", by="sade")


@pytest.mark.both_databases
def test_the_first_payment_stays_in_every_figure_while_a_claim_is_reopened_and_after(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, *PAID)
    assert set(paid_figures(office, claim_id).values()) == {7_000_000}
    office.walk(claim_id, "Settled", "Reviewing")
    assert set(paid_figures(office, claim_id).values()) == {7_000_000}
    office.move(claim_id, "Declined", reason="other", note="Nothing more is owed")
    assert set(paid_figures(office, claim_id).values()) == {7_000_000}
    with office.store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []


def test_an_offer_that_was_accepted_before_this_payment_rule_is_not_paid(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, *PAID)
    office.put(claim_id, claim_status="Offer accepted")
    with pytest.raises(StateForbids, match="Paid needs an offer that is not above what the rule still gives"):
        office.move(claim_id, "Paid", by="ada", payment_reference="TRF-0002")
    office.put(claim_id, claim_status="Offer sent")
    with pytest.raises(StateForbids, match="Offer accepted needs an offer"):
        office.move(claim_id, "Offer accepted")
    assert len(payments(office)) == 1


def test_one_reference_pays_one_claim(office: Office) -> None:
    first, second = office.lodge(), accepted(office)
    office.walk(first, *PAID)
    before = office.claim(second)
    for again in ("TRF-0001", "trf-0001", " T R F - 0 0 0 1 "):
        with pytest.raises(InvalidInput, match="was used for another payment already") as refusal:
            office.move(second, "Paid", by="ada", payment_reference=again)
        assert [fault.field for fault in refusal.value.faults] == ["payment_reference"]
        assert office.claim(second) == before
        assert len(payments(office)) == 1


def test_a_reference_that_nobody_can_see_is_none(office: Office) -> None:
    claim_id = accepted(office)
    with pytest.raises(InvalidInput, match="payment_reference"):
        office.move(claim_id, "Paid", by="ada", payment_reference="\u200b\u2060")


@pytest.mark.both_databases
def test_the_store_itself_refuses_a_second_payment_under_a_reference_and_keeps_the_first(office: Office) -> None:
    office.walk(office.lodge(), *PAID)
    with office.store.reading(DESK) as session:
        row = session.execute(sa.select(ClaimPayment)).scalar_one()
        values = row.model_dump() | {"id": ids.new()}
    for statement in (
        sa.insert(ClaimPayment).values(**values),
        sa.update(ClaimPayment).values(amount_minor=1),
        sa.delete(ClaimPayment),
    ):
        with office.store.writers.connect() as connection, pytest.raises(sa.exc.DBAPIError):
            connection.execute(statement)


def small(office: Office, reference: str) -> UUID:
    """A claim of ten naira, paid under a reference."""
    claim_id = office.lodge(loan_amount="100000", pending_repayment_amount="10")
    office.move(claim_id, "Approved", by="sade", amount="10")
    for status in ("Offer sent", "Offer accepted"):
        office.move(claim_id, status, by="sade")
    office.move(claim_id, "Paid", by="ada", payment_reference=reference)
    return claim_id


@pytest.mark.both_databases
def test_payments_of_before_are_transfers_of_their_own_and_a_shared_reference_stays_as_it_was(office: Office) -> None:
    _, second, third = (small(office, f"TRF-{number}") for number in range(3))
    office.move(second, "Offer accepted", by="root", payment_reference="TRF-1", note="The account is closed")
    office.move(third, "Offer accepted", by="root", payment_reference="RET-2", note="The account is closed")
    before = payments(office)
    on = "" if office.store.is_sqlite else " ON claim_payment"
    with office.store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0078")
        for name in ("update", "texts"):
            connection.exec_driver_sql(f"DROP TRIGGER claim_payment_{name}{on}")
        # Another insurer had the reference of the first one too.
        connection.exec_driver_sql(
            "UPDATE claim_payment SET reference = 'TRF-0', reference_key = 'trf-0', provider_id ="
            " (SELECT id FROM provider WHERE id <> claim_payment.provider_id ORDER BY id LIMIT 1)"
            " WHERE reference = 'TRF-2'"
        )
    migrating.migrate(office.store)
    assert migrating.differences(office.store) == []
    renamed = {"TRF-2": "TRF-0"}
    assert payments(office) == [(claim_id, minor, renamed.get(name, name)) for claim_id, minor, name in before]
    with office.store.reading(Scope.system()) as session:
        keys = session.execute(sa.text("SELECT reference_key, amount_minor FROM transfer ORDER BY reference_key"))
        assert [tuple(row) for row in keys] == [("ret-2", -1000), ("trf-0", 1000), ("trf-0~2", 1000), ("trf-1", 1000)]
        assert list(payment_proofs.find_transfer_faults(session)) == []
    office.approve_anew(second, by="bola")
    with pytest.raises(InvalidInput, match="was used for another payment already"):
        office.move(second, "Paid", by="ada", payment_reference="TRF-0")


@pytest.mark.both_databases
def test_two_claims_paid_at_once_under_one_reference_are_one_payment(office: Office) -> None:
    for number in range(ROUNDS):
        claims = [office.lodge(loan_amount="100000", pending_repayment_amount="10") for _ in range(2)]
        for claim_id in claims:
            office.move(claim_id, "Approved", by="sade", amount="10")
            office.move(claim_id, "Offer sent", by="sade")
            office.move(claim_id, "Offer accepted", by="sade")
        pay = partial(office.move, to="Paid", by="ada", payment_reference=f"RACE-{number}")
        refusals = run_at_once(*(partial(pay, claim_id) for claim_id in claims))
        assert sorted(type(each).__name__ for each in refusals) == ["InvalidInput", "NoneType"]
        assert sorted(office.claim(each).claim_status for each in claims) == ["Offer accepted", "Paid"]
    assert len(payments(office)) == ROUNDS


@pytest.mark.both_databases
def test_one_claim_paid_twice_at_once_is_paid_once(office: Office) -> None:
    claim_id = accepted(office)
    version = office.claim(claim_id).version
    pay = partial(office.move, claim_id, "Paid", version=version)
    refusals = run_at_once(*(partial(pay, by=by, payment_reference=f"TRF-{by}") for by in ("ada", "bola", "root")))
    assert sorted(type(each).__name__ for each in refusals) == ["NoneType", "StaleVersion", "StaleVersion"]
    assert [amount for _, amount, _ in payments(office)] == [7_500_000]


def test_an_accepted_offer_is_taken_back_by_a_supervisor_alone(office: Office) -> None:
    claim_id = accepted(office)
    with pytest.raises(NotAllowed, match="a supervisor"):
        office.move(claim_id, "Reviewing", by="bola")
    office.move(claim_id, "Reviewing", by="sade")
    assert office.claim(claim_id).claim_status == "Reviewing"


def test_nobody_approves_more_than_is_owed(office: Office) -> None:
    for by in ("bola", "sade", "root"):
        claim_id = office.lodge()
        for amount in ("75000.01", "99999999.00", "10000000000000"):
            with pytest.raises(InvalidInput, match=r"amount must not be above ₦75,000.00, what is still owed"):
                office.move(claim_id, "Approved", by=by, amount=amount)
        office.move(claim_id, "Approved", by=by, amount="75000")


def test_nobody_approves_more_than_is_insured(office: Office) -> None:
    claim_id = office.lodge(loan_amount="500000", pending_repayment_amount="400000")
    with pytest.raises(InvalidInput, match=r"amount must not be above ₦100,000.00, what is insured"):
        office.move(claim_id, "Approved", by="sade", amount="100000.01")
    office.move(claim_id, "Approved", by="sade", amount="100000")
    office.move(claim_id, "Offer sent")
    assert office.claim(claim_id).offer_amount_minor == 10_000_000


@pytest.mark.both_databases
def test_a_repair_that_an_officer_estimates_is_bounded_by_the_device(office: Office) -> None:
    claim_id = office.lodge()
    office.put(
        claim_id,
        credit_life_claim_meta=None,
        gadget_claim_meta={"cost_of_repair": "60000.00", "repair_receipt": "https://x.example/r"},
    )
    with office.store.writing(DESK) as session:
        session.execute(
            sa.update(Policy)
            .where(Policy.id == office.claim(claim_id).policy_id)
            .values(sum_insured_minor=None, submitted={"device_value": 80000})
        )
    office.move(claim_id, "Viewed")
    estimate = {"amount": "9000000", "estimate_document": "repair_receipt", "note": "By the workshop"}
    office.move(claim_id, "Repair estimate submitted", by="sade", **estimate)
    with pytest.raises(InvalidInput, match=r"amount must not be above ₦80,000.00, what is insured"):
        office.move(claim_id, "Approved", amount="9000000")
    with office.store.writing(DESK) as session:
        session.execute(sa.update(Policy).values(submitted={}))
    office.put(claim_id, repair_estimate_minor=0, gadget_claim_meta={})
    with pytest.raises(InvalidInput, match="cannot be judged"):
        office.move(claim_id, "Approved", amount="1")


def test_deductions_stand_once_an_offer_was_accepted(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, *ACCEPTED)
    with pytest.raises(StateForbids, match="The deductions stand with the offer that was accepted"):
        office.do(claim_moves.set_deductions, claim_id, excess=Decimal(1), betterment=Decimal(0), version=4)
    assert office.claim(claim_id).version == 4
    office.move(claim_id, "Reviewing", by="sade")
    office.do(claim_moves.set_deductions, claim_id, excess=Decimal(1), betterment=Decimal(0), version=5)


@pytest.mark.both_databases
def test_deductions_that_rise_while_an_offer_is_out_take_it_out_of_acceptance(office: Office) -> None:
    claim_id = office.lodge()
    office.walk(claim_id, "Approved", "Offer sent")
    office.do(claim_moves.set_deductions, claim_id, excess=Decimal(20000), betterment=Decimal(0), version=3)
    with pytest.raises(StateForbids, match=r"Offer accepted needs an offer .* ₦55,000.00"):
        office.move(claim_id, "Offer accepted")


def test_who_had_a_password_reset_approves_and_pays_nothing_for_a_day(office: Office) -> None:
    claim_id, other = office.lodge(), accepted(office)
    with office.store.writing(Scope.system()) as session:
        session.execute(sa.update(Staff).values(approves_from=NOON + timedelta(hours=24)))
    office.people = {name: office.person(name) for name in office.people}
    for refused_id, to, inputs in (
        (claim_id, "Approved", {"amount": "75000"}),
        (other, "Paid", {"payment_reference": "R"}),
        (other, "Reviewing", {}),
    ):
        with pytest.raises(NotAllowed, match="a password that nobody else gave or reset within 24 hours"):
            office.move(refused_id, to, by="root", **inputs)
    office.move(claim_id, "Viewed", by="root")
    with clock.freeze(NOON + timedelta(hours=24)):
        office.move(claim_id, "Approved", by="root", amount="75000")


def test_reference_keys_ignore_case_blanks_and_what_nobody_sees() -> None:
    assert transfers.reference_key(" Trf \t0\u00a001\u200b") == "trf001"


def test_a_payment_that_came_back_counts_no_more_and_can_be_made_again(office: Office) -> None:
    claim_id = accepted(office)
    office.move(claim_id, "Paid", by="ada", payment_reference="FIRST")
    with pytest.raises(NotAllowed, match="a supervisor"):
        office.move(claim_id, "Offer accepted", by="bola", payment_reference="RETURN", note="Account closed")
    with pytest.raises(InvalidInput) as refused:
        office.move(claim_id, "Offer accepted", by="root", note=None)
    assert {fault.field for fault in refused.value.faults} == {"payment_reference", "note"}
    office.move(claim_id, "Offer accepted", by="root", payment_reference="RETURN", note="Account closed")
    entry = office.log(claim_id)[-1]
    assert entry.after["reversed"] == "75000.00"
    made = [kind.name for kind in catalogue.by_action()["claim moved"] if kind.applies(entry.before, entry.after)]
    assert made == ["claim.status_changed"]
    assert set(paid_figures(office, claim_id).values()) == {0}
    office.approve_anew(claim_id, by="bola")
    office.move(claim_id, "Paid", by="ada", payment_reference="SECOND")
    assert set(paid_figures(office, claim_id).values()) == {7_500_000}
    assert [amount for _, amount, _ in payments(office)] == [7_500_000, -7_500_000, 7_500_000]
    with office.store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []


@pytest.mark.both_databases
def test_two_who_take_one_payment_back_take_it_back_once(office: Office) -> None:
    claim_id = accepted(office)
    office.move(claim_id, "Paid", by="ada", payment_reference="FIRST")
    back = [
        partial(
            office.move, claim_id, "Offer accepted", by=by, version=5, payment_reference=f"RET-{by}", note="It bounced"
        )
        for by in (office.hire("tunde", "supervisor"), "root")
    ]
    assert sorted(type(each).__name__ for each in run_at_once(*back)) == ["NoneType", "StaleVersion"]
    assert sum(amount for _, amount, _ in payments(office)) == 0


def test_a_reference_finds_the_claim_that_it_paid(office: Office) -> None:
    claim_id, _ = accepted(office), accepted(office)
    office.move(claim_id, "Paid", by="ada", payment_reference="TRF 77/A")
    with office.store.reading(DESK) as session:
        assert [row.id for row in claim_queue.list_rows(session, ClaimFilter(search="trf77/a"))] == [claim_id]


def test_a_return_has_the_reference_of_its_payment_once_and_of_no_other(office: Office) -> None:
    claim_id, other = accepted(office), accepted(office)
    office.move(other, "Paid", by="ada", payment_reference="OTHER")
    office.move(claim_id, "Paid", by="ada", payment_reference="FIRST")
    back = partial(office.move, claim_id, "Offer accepted", by="root", note="Account closed")
    with pytest.raises(InvalidInput, match="was used for another payment"):
        back(payment_reference="other")
    back(payment_reference="f i r s t")
    office.approve_anew(claim_id, by="bola")
    for again in ("FIRST", "OTHER"):
        with pytest.raises(InvalidInput, match="was used for another payment"):
            office.move(claim_id, "Paid", by="ada", payment_reference=again)
    office.move(claim_id, "Paid", by="ada", payment_reference="SECOND")
    with pytest.raises(InvalidInput, match="was used for another payment"):
        back(payment_reference="FIRST")
    back(payment_reference="RETURN")
    with pytest.raises(InvalidInput, match="was used for another payment"):
        office.move(accepted(office), "Paid", by="ada", payment_reference="return")
    assert [amount for each, amount, _ in payments(office) if each == claim_id] == [7_500_000, -7_500_000] * 2
    with office.store.reading(Scope.system()) as session:
        assert store_check.list_faults(session) == []
