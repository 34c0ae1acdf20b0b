"""Payments of a credit note are rows, to the payee that was approved, and never above it (contract K2)."""

from datetime import date, timedelta
from uuid import UUID

import pytest
import sqlalchemy as sa
from alembic import command
from sqlmodel import col

from core import clock, ids, money
from core.covers.insurers import insurer_a
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.compliance import remembering
from core.services.finance.credit_notes import deciding
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.people import staff
from core.services.policies import changes
from core.store.access import Scope
from core.store.schema import migrating
from core.store.schema.tables import (
    CreditNote,
    CreditNotePayment,
    Customer,
    PaymentPayee,
    Policy,
    Refund,
    Staff,
    Transfer,
)
from tests.conftest import Partner
from tests.portfolio import NOW
from tests.services.finance_office import ACCOUNT, Finance
from tests.services.selling import sell

pytestmark = pytest.mark.frozen_at(NOW)

# The rule of the check.
OWN_REFUNDS = "Nobody decided on a refund of their own"

PAID = {"bank_reference": "TRF 1/a", "value_on": "2026-11-20"}
BACK = {"returned_on": "2026-11-20", "reason": "The account is closed"}


@pytest.fixture
def note(finance: Finance, partner: Partner) -> UUID:
    return cancelled(finance, partner)


def cancelled(finance: Finance, partner: Partner, **answers: str) -> UUID:
    """A credit note for a policy that was cancelled today, computed."""
    with clock.freeze(NOW - timedelta(days=30)):
        sale = sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True, **answers)
    given = {"reason": "Sold the car", "by_insurer": True, "actor": "tests", "expected_version": 1}
    finance.do(changes.cancel, sale.policy_id, **given)
    (row,) = finance.read(credit_note_reading.list_unpaid, NOW + timedelta(days=1))
    return UUID(str(row.id))


def rows(finance: Finance, note: UUID) -> list[tuple[int, str, str]]:
    query = (
        sa.select(col(CreditNotePayment.amount_minor), col(PaymentPayee.name), col(Transfer.reference))
        .join(PaymentPayee, col(PaymentPayee.id) == col(CreditNotePayment.payee_id))
        .join(Transfer, col(Transfer.id) == col(CreditNotePayment.transfer_id))
        .where(col(CreditNotePayment.credit_note_id) == note)
        .order_by(col(CreditNotePayment.created_at), col(CreditNotePayment.id))
    )
    with finance.reading() as session:
        return [tuple(row) for row in session.execute(query)]


def state(finance: Finance, note: UUID) -> str:
    return str(finance.read(credit_note_reading.get_note, note).state)


def test_who_ended_the_policy_neither_approves_nor_pays_what_goes_back(finance: Finance, partner: Partner) -> None:
    with clock.freeze(NOW - timedelta(days=30)):
        sale = sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True)
    given = {"reason": "Sold the car", "by_insurer": True, "actor": finance.people["wale"].actor}
    finance.do(changes.cancel, sale.policy_id, **given, expected_version=1)
    (row,) = finance.read(credit_note_reading.list_unpaid, NOW + timedelta(days=1))
    for act, typed in ((deciding.approve, ACCOUNT), (deciding.pay, PAID)):
        with pytest.raises(NotAllowed, match="You ended this policy: somebody else of finance"):
            finance.do(act, row.id, typed, by="wale")
        finance.do(deciding.approve, row.id, ACCOUNT, by="femi") if act is deciding.approve else None
    finance.do(deciding.pay, row.id, PAID, by="funmi")


def test_one_person_does_not_pay_return_and_pay_somebody_else(finance: Finance, note: UUID) -> None:
    finance.do(deciding.approve, note, {"payee": "Amaka Eze", **ACCOUNT}, by="femi")
    with pytest.raises(InvalidInput, match="is not Amaka Eze, who was approved: another is approved anew"):
        finance.do(deciding.pay, note, {**PAID, "payee": "A Friend"}, by="funmi")
    finance.do(deciding.pay, note, PAID, by="funmi")
    with pytest.raises(NotAllowed, match="You noted this payment: somebody else notes that it came back"):
        finance.do(deciding.return_payment, note, BACK, by="funmi")
    with pytest.raises(NotAllowed, match="You approved it: somebody else of finance notes that its payment came back"):
        finance.do(deciding.return_payment, note, BACK, by="femi")
    finance.do(deciding.return_payment, note, BACK, by="wale")
    finance.do(deciding.approve, note, ACCOUNT, by="second")
    for again in ("TRF 1/a", "trf1/A"):
        with pytest.raises(InvalidInput, match="was used for another payment"):
            finance.do(deciding.pay, note, {**PAID, "bank_reference": again}, by="funmi")
    total = finance.read(credit_note_reading.get_note, note).total_minor
    assert [each[0] for each in rows(finance, note)] == [total, -total]
    with finance.store.reading(Scope.system()) as session:
        log = audit.list_history(session, f"credit_note {note}")
    refused = [entry.action for entry in log if entry.action.endswith("refused")]
    assert refused == [
        "credit note payment refused",
        *["credit note return refused"] * 2,
        *["credit note payment refused"] * 2,
    ]
    assert finance.faults() == []


def test_another_payee_is_another_approval_and_the_former_one_lapses(finance: Finance, note: UUID) -> None:
    finance.do(deciding.approve, note, {"payee": "Amaka Eze", **ACCOUNT}, by="femi")
    with pytest.raises(StateForbids, match="approved for Amaka Eze and this account already"):
        finance.do(deciding.approve, note, ACCOUNT, by="wale")
    finance.do(deciding.pay, note, PAID, by="funmi")
    finance.do(deciding.return_payment, note, BACK, by="second")
    with pytest.raises(NotAllowed, match="You noted a payment or a return"):
        finance.do(deciding.approve, note, {"payee": "Her brother", **ACCOUNT}, by="funmi")
    brother = {"payee": "Her brother", **ACCOUNT}
    assert finance.do(deciding.approve, note, brother, by="wale") == "Awaits second person"
    assert finance.do(deciding.approve, note, brother, by="root") == "Approved"
    with pytest.raises(NotAllowed, match="You approved it"):
        finance.do(deciding.pay, note, {**PAID, "bank_reference": "TRF 2"}, by="femi")
    finance.do(deciding.pay, note, {**PAID, "bank_reference": "TRF 2"}, by="funmi")
    assert [each[1] for each in rows(finance, note)] == ["Amaka Eze", "Amaka Eze", "Her brother"]
    with finance.store.reading(Scope.system()) as session:
        (reason,) = session.execute(sa.text("SELECT reason FROM approval_lapse")).scalars()
    assert reason == "the return of a payment was noted"
    assert finance.faults() == []


def test_who_approved_first_for_a_former_payee_does_not_pay(finance: Finance, note: UUID) -> None:
    friend = {"payee": "A Friend", **ACCOUNT}
    for by in ("femi", "wale"):
        finance.do(deciding.approve, note, friend, by=by)
    customer = {"payee": "Amaka Eze", **ACCOUNT}
    assert finance.do(deciding.approve, note, customer, by="wale") == "Approved"
    with pytest.raises(NotAllowed, match="You approved it: somebody else of finance notes its payment"):
        finance.do(deciding.pay, note, PAID, by="femi")
    finance.do(deciding.pay, note, PAID, by="funmi")


def test_nobody_says_in_the_name_of_a_resting_colleague_that_money_came_back(finance: Finance, note: UUID) -> None:
    """Whoever opened the link of a colleague would note the return as that one, and then pay as themselves."""
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    finance.do(deciding.pay, note, PAID, by="funmi")
    resting = finance.rest("wale", NOW + timedelta(hours=20))
    with pytest.raises(NotAllowed, match="you can approve from"):
        finance.do(deciding.return_payment, note, BACK, by=resting)
    assert finance.read(deciding.find_refusals, note, resting).keys() == {"return"}
    finance.do(deciding.return_payment, note, BACK, by="wale")


def test_a_return_has_evidence_and_the_reference_of_the_payment_once(finance: Finance, note: UUID) -> None:
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    finance.do(deciding.pay, note, PAID, by="funmi")
    for wrong, field in (({**BACK, "reason": ""}, "reason"), ({**BACK, "returned_on": "2026-11-19"}, "returned_on")):
        with pytest.raises(InvalidInput) as refused:
            finance.do(deciding.return_payment, note, wrong, by="wale")
        assert [fault.field for fault in refused.value.faults] == [field]
    finance.do(deciding.return_payment, note, {**BACK, "bank_reference": "trf 1/A"}, by="wale")
    finance.do(deciding.approve, note, ACCOUNT, by="second")
    finance.do(deciding.pay, note, {**PAID, "bank_reference": "TRF 2"}, by="funmi")
    with pytest.raises(InvalidInput, match="was used for another payment"):
        finance.do(deciding.return_payment, note, {**BACK, "bank_reference": "TRF 1/a"}, by="wale")
    finance.do(deciding.return_payment, note, {**BACK, "bank_reference": "RET 9"}, by="wale")
    finance.do(deciding.approve, note, ACCOUNT, by="root")
    assert [each[2] for each in rows(finance, note)] == ["TRF 1/a", "TRF 1/a", "TRF 2", "RET 9"]
    with pytest.raises(InvalidInput, match="was used for another payment"):
        finance.do(deciding.pay, note, {**PAID, "bank_reference": "RET 9"}, by="funmi")


def test_the_store_keeps_rows_and_no_payee_or_reference_changes_by_itself(finance: Finance, note: UUID) -> None:
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    finance.do(deciding.pay, note, PAID, by="funmi")
    for statement in (
        sa.update(CreditNotePayment).values(amount_minor=1),
        sa.update(CreditNotePayment).values(payee_id=ids.new()),
        sa.update(CreditNotePayment).values(transfer_id=ids.new()),
        sa.update(CreditNotePayment).values(value_on=date(2026, 1, 1)),
        sa.delete(CreditNotePayment),
        sa.update(Transfer).values(reference="other"),
        sa.update(Transfer).values(amount_minor=1),
        sa.delete(Transfer),
        sa.update(PaymentPayee).values(name="A friend"),
        sa.update(CreditNote).values(payee_id=ids.new()),
    ):
        with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
            session.execute(statement)
    (row,) = finance.read(deciding.payments_of, note)
    by_approver = row.model_dump() | {"id": ids.new(), "paid_by": finance.people["femi"].id}
    with pytest.raises(sa.exc.DBAPIError), finance.store.writing(Scope.system()) as session:
        session.execute(sa.insert(CreditNotePayment).values(**by_approver))


def test_the_check_names_a_second_payment_written_past_the_services_with_its_sum(finance: Finance, note: UUID) -> None:
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    finance.do(deciding.pay, note, PAID, by="funmi")
    assert finance.faults() == []
    with finance.store.writing(Scope.system()) as session:
        (row,) = deciding.payments_of(session, note)
        session.insert(CreditNotePayment(**{**row.model_dump(), "id": ids.new()}))
        total = row.amount_minor
    found = finance.faults()
    assert any("credit note CN-0001" in each and f"{2 * total / 100:,.2f}" in each for each in found)
    assert f"transfer TRF 1/a of {money.format_naira(total)} has 2 payments of {money.format_naira(2 * total)}" in found


def test_payments_of_before_are_carried_over_as_rows(finance: Finance, note: UUID) -> None:
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    finance.do(deciding.pay, note, PAID, by="funmi")
    finance.do(deciding.return_payment, note, BACK, by="root")
    before = rows(finance, note)
    with finance.store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0075")
    migrating.migrate(finance.store)
    assert rows(finance, note) == before
    finance.do(deciding.approve, note, ACCOUNT, by="wale")
    finance.do(deciding.pay, note, {**PAID, "bank_reference": "TRF 2"}, by="funmi")
    assert state(finance, note) == "Paid"
    assert finance.faults() == []


def test_nobody_approves_or_pays_a_refund_of_their_own(finance: Finance, note: UUID) -> None:
    with finance.store.writing(Scope.system()) as session:
        row = session.get_one(CreditNote, note)
        policy = session.get_one(Policy, session.get_one(Refund, row.refund_id).policy_id)
        policy.email, total = "Femi@f.example", row.total_minor
    with pytest.raises(NotAllowed, match="your own e-mail, phone or account: somebody else works on it"):
        finance.do(deciding.approve, note, ACCOUNT, by="femi")
    finance.do(deciding.approve, note, ACCOUNT, by="wale")
    with pytest.raises(NotAllowed, match="your own e-mail"):
        finance.do(deciding.pay, note, PAID, by="femi")
    finance.do(deciding.pay, note, PAID, by="funmi")
    with pytest.raises(NotAllowed, match="your own e-mail"):
        finance.do(deciding.return_payment, note, BACK, by="femi")
    assert not [each for each in finance.faults(OWN_REFUNDS) if "whose own it is" in each]
    with finance.store.writing(Scope.system()) as session:
        session.execute(sa.update(Policy).where(col(Policy.id) == policy.id).values(email="wale@f.example"))
    (fault,) = [each for each in finance.faults(OWN_REFUNDS) if "was decided on by Wale, whose own it is" in each]
    assert money.format_naira(total) in fault


def test_a_refund_is_approved_for_an_account_and_another_one_is_another_approval(finance: Finance, note: UUID) -> None:
    with pytest.raises(InvalidInput) as refused:
        finance.do(deciding.approve, note, {"payee": "Ngozi Okafor"}, by="femi")
    assert [fault.field for fault in refused.value.faults] == ["payee_bank", "payee_account"]
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    shown = finance.read(credit_note_reading.get_note, note)
    assert (shown.payee_bank, shown.payee_hint) == ("First Bank", "6780")
    finance.do(deciding.approve, note, {"payee_account": "0123456799"}, by="wale")
    with finance.store.reading(Scope.system()) as session:
        assert session.execute(sa.text("SELECT reason FROM approval_lapse")).scalars().all() == [
            "the account was changed"
        ]
        sealed = session.execute(sa.text("SELECT name, hint, sealed FROM payment_payee ORDER BY created_at, id")).all()
    assert [row.hint for row in sealed] == ["6780", "6799"]
    assert not any("01234567" in row.sealed for row in sealed)
    finance.do(deciding.pay, note, PAID, by="funmi")
    assert finance.faults() == []


def test_nobody_approves_or_pays_a_refund_to_their_own_account(finance: Finance, note: UUID) -> None:
    own = {"phone_number": None, "account_number": ACCOUNT["payee_account"], "actor": "tests"}
    finance.do(staff.set_own_details, finance.people["femi"].id, **own)
    with pytest.raises(NotAllowed, match="your own e-mail, phone or account"):
        finance.do(deciding.approve, note, ACCOUNT, by=finance.person("femi"))
    # To an account of the staff it takes two.
    finance.do(deciding.approve, note, ACCOUNT, by="wale")
    finance.do(deciding.approve, note, ACCOUNT, by="root")
    finance.do(staff.set_own_details, finance.people["femi"].id, **own | {"account_number": "0999999999"})
    assert finance.read(deciding.list_own_staff, note) == ["Femi"], "what was theirs counts as theirs"
    with pytest.raises(NotAllowed, match="your own e-mail, phone or account"):
        finance.do(deciding.pay, note, PAID, by=finance.person("femi"))
    finance.do(deciding.pay, note, PAID, by=finance.person("funmi"))
    assert finance.faults() == []
    finance.do(staff.set_own_details, finance.people["funmi"].id, **own)
    assert any("was decided on by Funmi, whose own it is" in fault for fault in finance.faults(OWN_REFUNDS))


@pytest.mark.parametrize("gone", ["femi", "wale"])
def test_a_refund_that_takes_two_is_not_paid_once_one_of_them_has_left(finance: Finance, note: UUID, gone: str) -> None:
    """One person alone would stand behind what went to a friend of theirs."""
    friend = {"payee": "A Friend", **ACCOUNT}
    for by in ("femi", "wale"):
        finance.do(deciding.approve, note, friend, by=by)
    with finance.store.writing(Scope.system()) as session:
        session.change(Staff, col(Staff.id) == finance.people[gone].id, disabled_at=NOW)
    with pytest.raises(StateForbids, match=f"the account of {gone.title()}, who approved, is disabled"):
        finance.do(deciding.pay, note, PAID, by="funmi")
    other = "wale" if gone == "femi" else "femi"
    # Each of two approves it again, one of whom may have done so before.
    assert finance.do(deciding.approve, note, {}, by=other) == "Awaits second person"
    assert finance.do(deciding.approve, note, {}, by="root") == "Approved"
    with pytest.raises(StateForbids, match="approved for A Friend and this account already"):
        finance.do(deciding.approve, note, {}, by="second")
    finance.do(deciding.pay, note, PAID, by="funmi")
    assert finance.faults() == []


def test_a_refund_that_came_back_of_a_customer_who_was_erased_takes_two_who_approve(
    finance: Finance, partner: Partner
) -> None:
    """Erased, a customer on the staff is nobody's own, and named an account of their own alone."""
    note = cancelled(finance, partner, email="oye@f.example")
    finance.change_person("oye", roles=["finance"])
    with pytest.raises(NotAllowed, match="It has your own e-mail"):
        finance.do(deciding.approve, note, ACCOUNT, by="oye")
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    finance.do(deciding.pay, note, PAID, by="funmi")
    with finance.store.writing(Scope.system()) as session:
        person = session.get_one(Refund, note).customer_id
        entry = {"id": str(ids.new()), "number": "ER-1", "record_class": "person", "customers": [str(person)]}
        remembering.apply_again(session, [entry | {"decided_at": clock.to_wire(clock.now()), "sha256": "a" * 64}])
    finance.do(deciding.return_payment, note, BACK, by="wale")
    with finance.reading() as session:
        customer = session.get_one(Customer, person)
        erased = {**ACCOUNT, "payee_account": "0987654321", "payee": f"{customer.first_name} {customer.last_name}"}
    assert finance.do(deciding.approve, note, erased, by="oye") == "Awaits second person"
    assert finance.do(deciding.approve, note, erased, by="second") == "Approved"
    # Another account, once it was approved, takes two as well.
    assert finance.do(deciding.approve, note, {**erased, **ACCOUNT}, by="root") == "Awaits second person"
