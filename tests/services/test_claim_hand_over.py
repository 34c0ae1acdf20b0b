"""A supervisor hands the payment of a claim to finance, which pays it and can do nothing else (contract C10, C15)."""

from collections.abc import Callable
from dataclasses import replace
from datetime import date
from decimal import Decimal
from functools import partial
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa

from core.desk import pii_reveal, store_check
from core.desk.pii_reveal import PAYEE_ACCOUNT, HiddenField
from core.errors import InvalidInput, NotAllowed, NotFound, StaleVersion, StateForbids
from core.services.claims.lists import totals as claim_totals
from core.services.claims.workflow import assignment as claim_assignment
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import letters, questions, reserves, tasks
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow import questions as claim_questions
from core.services.claims.workflow import tasks as claim_tasks
from core.services.claims.workflow.assignment import ChosenClaim
from core.services.claims.workflow.paying import HandOver
from core.store.access import Scope, ScopedSession
from tests.every_case import every_case
from tests.services.claim_desk import NOON
from tests.services.claim_office import DESK, Office
from tests.services.races import run_at_once

pytestmark = pytest.mark.frozen_at(NOON)

ACCEPTED = ("Approved", "Offer sent", "Offer accepted")
OTHER = {"name": "Bola Eze", "bank_name": "Access Bank", "account_number": "9876543210", "reason": "As he asked"}
PAYEE = {"name": "Ada Eze", "bank_name": "First Bank", "account_number": "0123456789", "reason": "As she asked"}


def accepted(office: Office, *, has_account: bool = True) -> UUID:
    """A claim that Sade has approved and offered, 70,000.00, and that is not paid."""
    claim_id = office.lodge(incident_date="2026-11-18")
    if has_account:
        office.name_account(claim_id)
    office.walk(claim_id, *ACCEPTED)
    return claim_id


def hand_over(office: Office, claim_id: UUID, *, by: str = "sade", **inputs: Any) -> None:
    inputs.setdefault("version", office.claim(claim_id).version)
    office.do(claim_paying.hand_over, claim_id, by=by, **inputs)


def pay(office: Office, claim_id: UUID, *, by: str = "funmi", **inputs: Any) -> None:
    inputs = {"payment_reference": "FIN-1", "version": office.claim(claim_id).version, **inputs}
    office.do(claim_paying.pay, claim_id, by=by, **inputs)


def waiting(office: Office) -> list[HandOver]:
    with office.store.reading(DESK) as session:
        rows = list(claim_paying.list_open(session))
        assert claim_paying.count_open(session) == len(rows)
    return rows


def test_finance_pays_what_was_handed_over(office: Office) -> None:
    claim_id, other = accepted(office), accepted(office)
    hand_over(office, claim_id, note="By noon, please")
    (row,) = waiting(office)
    assert (row.id, row.amount_minor, row.approved_name, row.by, row.note) == (
        claim_id,
        7_000_000,
        "sade",
        "sade",
        "By noon, please",
    )
    pay(office, claim_id, payment={"method": "Cheque"})
    claim = office.claim(claim_id)
    assert (claim.claim_status, claim.payment_reference) == ("Paid", "FIN-1")
    assert waiting(office) == []
    assert [entry.action for entry in office.log(claim_id)][-2:] == ["claim handed to finance", "claim moved"]
    assert office.log(claim_id)[-1].actor == "staff funmi@x.example"
    assert office.claim(other).claim_status == "Offer accepted"


def test_finance_does_nothing_else_on_a_claim(office: Office) -> None:
    claim_id = accepted(office)
    with pytest.raises(StateForbids, match="was not handed to finance"):
        pay(office, claim_id)
    hand_over(office, claim_id)
    for to, inputs in (("Paid", {"payment_reference": "FIN-1"}), ("Reviewing", {"note": "Again"})):
        with pytest.raises(NotAllowed, match="claims officers"):
            office.move(claim_id, to, by="funmi", **inputs)
    version = office.claim(claim_id).version
    with pytest.raises(NotAllowed, match="claims officers"):
        office.do(claim_paying.pay_part, claim_id, by="funmi", amount="1", payment_reference="F", version=version)
    with pytest.raises(NotAllowed, match="claims officers"):
        office.do(claim_corrections.set_payee, claim_id, by="funmi", version=version, **PAYEE)
    with pytest.raises(NotAllowed, match="claims officers"):
        hand_over(office, claim_id, by="funmi")
    with pytest.raises(NotAllowed, match="claims officers"):
        office.do(claim_paying.take_back, claim_id, by="funmi", version=version)
    assert len(waiting(office)) == 1


@pytest.mark.parametrize("database", ["sqlite"])
def test_no_other_door_of_a_claim_opens_to_finance_while_it_waits(office: Office) -> None:
    claim_id, funmi = accepted(office), office.people["funmi"]
    hand_over(office, claim_id)
    claim = office.claim(claim_id)
    on = {"claim_id": claim_id, "person": funmi}
    seen = {**on, "version": claim.version}
    chosen = [ChosenClaim(id=claim_id, version=claim.version, reference="C-1", assigned_to=None)]
    doors: dict[str, Callable[[ScopedSession], object]] = {
        "assign": lambda s: claim_moves.assign_claim(s, to=funmi.id, **seen),
        "assign several": lambda s: claim_assignment.assign_claims(s, chosen, to=funmi.id, person=funmi),
        "take next": lambda s: claim_assignment.assign_next(s, person=funmi),
        "comment": lambda s: claim_questions.add_comment(s, text="Pay", **on),
        "incident": lambda s: claim_corrections.set_incident_date(s, on=date(2026, 11, 1), **seen),
        "deductions": lambda s: claim_moves.set_deductions(s, excess=Decimal(0), betterment=Decimal(0), **seen),
        "reserve": lambda s: reserves.set_reserve(s, amount="1", reason="Why not", **seen),
        "amounts": lambda s: claim_corrections.correct_amounts(s, amounts={"loan_amount": "1"}, reason="Why", **seen),
        "part back": lambda s: claim_paying.take_back_part(s, payment_reference="R", note="Back", **seen),
        "question": lambda s: questions.ask_claimant(s, text="Who?", **on),
        "answer": lambda s: questions.record_answer(s, **on),
        "task": lambda s: tasks.add_task(s, text="Call", to=office.people["ada"].id, due_on=None, **on),
        "letter": lambda s: letters.compose(s, kind="advice", **on),
        "settle": lambda s: claim_assignment.settle_claims(s, chosen, person=funmi),
        "ask several": lambda s: claim_assignment.ask_claimants(s, chosen, text="Who?", person=funmi),
        "refer": lambda s: claim_tasks.refer_claim(s, to="Paid", note="Please", **seen),
        "hand over": lambda s: claim_paying.hand_over(s, **seen),
    }
    for name, door in doors.items():
        with pytest.raises(NotAllowed, match="claims officers"), office.store.writing(DESK) as session:
            door(session)
        assert office.claim(claim_id).version == claim.version, name
    assert [row.id for row in waiting(office)] == [claim_id]


def test_only_finance_pays_and_only_a_supervisor_hands_over(office: Office) -> None:
    claim_id = accepted(office)
    with pytest.raises(NotAllowed, match="A supervisor hands"):
        hand_over(office, claim_id, by="bola")
    hand_over(office, claim_id)
    for by in ("ada", "bola", "sade"):
        with pytest.raises(NotAllowed, match="Only finance pays"):
            pay(office, claim_id, by=by)
    with pytest.raises(NotAllowed, match="A supervisor takes"):
        office.do(claim_paying.take_back, claim_id, by="bola", version=office.claim(claim_id).version)


def test_approver_giver_and_who_set_the_payee_do_not_pay_though_they_are_of_finance(office: Office) -> None:
    claim_id = accepted(office)
    hand_over(office, claim_id)
    office.people["sade"] = replace(office.people["sade"], roles=("supervisor", "finance"))
    with pytest.raises(NotAllowed, match="cannot pay it"):
        pay(office, claim_id, by="sade")
    hand_over(office, claim_id, by="root")
    with pytest.raises(NotAllowed, match="a payer other than the approver"):
        pay(office, claim_id, by="sade")
    office.people["bola"] = replace(office.people["bola"], roles=("supervisor", "finance"))
    office.do(claim_corrections.set_payee, claim_id, by="bola", version=office.claim(claim_id).version, **PAYEE)
    office.approve_anew(claim_id, by="sade")
    hand_over(office, claim_id, by="root")
    with pytest.raises(NotAllowed, match="has not set its payee"):
        pay(office, claim_id, by="bola")
    pay(office, claim_id)


def test_no_bank_transfer_goes_to_a_payee_without_an_account(office: Office) -> None:
    claim_id, other = accepted(office, has_account=False), accepted(office)
    for each in (claim_id, other):
        hand_over(office, each)
    with pytest.raises(StateForbids, match=r"No account of .* is named for C-.*: a supervisor sets the payee"):
        pay(office, claim_id)
    with pytest.raises(StateForbids, match="No account of"):
        together(office, [claim_id, other])
    assert {office.claim(each).claim_status for each in (claim_id, other)} == {"Offer accepted"}
    pay(office, claim_id, payment={"method": "Credit to the loan"})
    assert office.claim(claim_id).claim_status == "Paid"
    pay(office, other, payment_reference="FIN-2")


def test_the_whole_account_is_shown_to_finance_for_a_reason_while_the_payment_waits(office: Office) -> None:
    claim_id, unnamed = accepted(office), accepted(office, has_account=False)
    hidden = HiddenField(kind="payee", record_id=claim_id, path=PAYEE_ACCOUNT)

    def reveal(of: HiddenField = hidden, *, by: str = "funmi", details: str = "The bank asks for it") -> str:
        why = {"reason": "Paying or giving back", "details": details}
        with office.store.writing(DESK) as session:
            return pii_reveal.reveal(session, of, **why, person=office.people[by])

    with pytest.raises(StateForbids, match="was not handed to finance"):
        reveal()
    for each in (claim_id, unnamed):
        hand_over(office, each)
    assert reveal() == "0123456789"
    entry = office.log(claim_id)[-1]
    assert (entry.action, entry.actor) == (pii_reveal.REVEALED_ACTION, "staff funmi@x.example")
    assert entry.after["field"] == PAYEE_ACCOUNT
    assert "0123456789" not in str(entry.after)
    with pytest.raises(InvalidInput):
        reveal(details="Pay")
    with pytest.raises(NotFound, match="No account is named"):
        reveal(replace(hidden, record_id=unnamed))
    for by in ("bola", "sade"):
        with pytest.raises(NotAllowed):
            reveal(by=by)
    office.do(claim_corrections.set_payee, claim_id, by="sade", version=office.claim(claim_id).version, **OTHER)
    office.approve_anew(claim_id)
    hand_over(office, claim_id)
    assert reveal() == OTHER["account_number"], "the payee of now"
    pay(office, claim_id)
    with pytest.raises(StateForbids, match="was not handed to finance"):
        reveal()


@every_case("written", ["0123456789", "0123 456-789", "0123.456.789", "0123/456/789", "\uff10123456789"])
def test_the_log_of_who_saw_an_account_holds_neither_the_account_nor_another_field(
    office: Office, written: str
) -> None:
    claim_id = accepted(office)
    hand_over(office, claim_id)
    hidden = HiddenField(kind="payee", record_id=claim_id, path=PAYEE_ACCOUNT)
    why: dict[str, Any] = {"reason": "Paying or giving back", "person": office.people["funmi"]}
    with office.store.writing(DESK) as session:
        with pytest.raises(NotFound, match="Nothing is hidden there"):
            pii_reveal.reveal(session, replace(hidden, path="submitted.bvn"), details="The bank asks for it", **why)
        with pytest.raises(InvalidInput, match="must not hold the value itself"):
            pii_reveal.reveal(session, hidden, details=f"The bank asks for {written}", **why)
    assert pii_reveal.REVEALED_ACTION not in [entry.action for entry in office.log(claim_id)]


def test_limit_of_an_officer_who_is_of_finance_too_does_not_bound_what_a_supervisor_handed_over(
    office: Office,
) -> None:
    claim_id = accepted(office)
    hand_over(office, claim_id)
    office.people["ada"] = replace(office.people["ada"], roles=("claims", "finance"), claim_limit_minor=0)
    with pytest.raises(NotAllowed, match="above the limit"):
        office.move(claim_id, "Paid", by="ada", payment_reference="FIN-1")
    pay(office, claim_id, by="ada")


@pytest.mark.parametrize("what", ["part", "payee", "move", "take back"])
def test_whatever_changes_the_payment_takes_it_back_from_finance(office: Office, what: str) -> None:
    claim_id = accepted(office)
    hand_over(office, claim_id)
    version = office.claim(claim_id).version
    if what == "part":
        office.do(claim_paying.pay_part, claim_id, by="ada", amount="1000", payment_reference="P", version=version)
    elif what == "payee":
        office.do(claim_corrections.set_payee, claim_id, by="sade", version=version, **PAYEE)
    elif what == "move":
        office.move(claim_id, "Reviewing", by="sade")
    else:
        office.do(claim_paying.take_back, claim_id, by="sade", version=version)
    assert waiting(office) == []
    with pytest.raises(StateForbids, match="was not handed to finance"):
        pay(office, claim_id)


def test_hand_over_is_no_referral_and_no_officer_replaces_it(office: Office) -> None:
    claim_id = accepted(office)
    hand_over(office, claim_id)
    with office.store.reading(DESK) as session:
        assert claim_totals.count_views(session, office.people["sade"]).views["referred"] == 0
    version = office.claim(claim_id).version
    with pytest.raises(StateForbids, match="is with finance"):
        office.do(claim_tasks.refer_claim, claim_id, by="ada", to="Paid", note="Please pay", version=version)


def test_bad_payments_of_finance_leave_nothing_behind(office: Office) -> None:
    first, second = accepted(office), accepted(office)
    hand_over(office, first)
    hand_over(office, second)
    pay(office, first)
    for inputs, kind, named in (
        ({"payment_reference": None}, InvalidInput, "payment_reference"),
        ({"payment_reference": "fin-1 "}, InvalidInput, "payment_reference"),
        ({"payment": {"value_on": "2026-11-21"}}, InvalidInput, "value_on"),
        ({"payment": {"method": "Cash"}}, InvalidInput, "method"),
        ({"version": 1}, StaleVersion, "changed by somebody else"),
    ):
        with pytest.raises(kind, match=named):
            pay(office, second, **inputs)
    assert [row.id for row in waiting(office)] == [second]
    assert office.claim(second).claim_status == "Offer accepted"


def test_claim_that_cannot_be_paid_is_not_handed_over(office: Office) -> None:
    claim_id = office.lodge(incident_date="2026-11-18")
    with pytest.raises(StateForbids, match="cannot become Paid"):
        hand_over(office, claim_id)
    office.walk(claim_id, *ACCEPTED)
    office.put(claim_id, offer_amount_minor=99_999_999_00)
    with pytest.raises(StateForbids, match="not above what the rule still gives"):
        hand_over(office, claim_id)


@pytest.mark.both_databases
def test_finance_and_the_desk_paying_at_once_have_one_winner(office: Office) -> None:
    claim_id = accepted(office)
    hand_over(office, claim_id)
    version = office.claim(claim_id).version
    works = (
        partial(pay, office, claim_id, version=version),
        partial(office.move, claim_id, "Paid", by="ada", version=version, payment_reference="DESK-1"),
    )
    assert sorted(type(each).__name__ for each in run_at_once(*works)) == ["NoneType", "StaleVersion"]


def together(office: Office, claims: list[UUID], *, by: str = "funmi", **typed: Any) -> UUID:
    given = {"payment_reference": "BULK-1", "total": str(70_000 * len(claims)), **typed}
    seen = {claim_id: office.claim(claim_id).version for claim_id in claims}
    with office.store.writing(DESK) as session:
        return claim_paying.pay_together(session, seen, given, person=office.people[by])


def test_one_transfer_pays_several_claims_of_an_insurer_or_none(office: Office) -> None:
    first, second, third, left = claims = [accepted(office) for _ in range(4)]
    for claim_id in claims:
        hand_over(office, claim_id)
    before = [office.claim(claim_id) for claim_id in claims]
    for wrong, message in (
        ({"total": "209999.99"}, "total must be what the 3 claims come to, ₦210,000.00"),
        ({"payment_reference": "R\u20111"}, "a character that a reference cannot have"),
        ({"value_on": "2026-10-01"}, "must not be before the claim was lodged"),
    ):
        with pytest.raises(InvalidInput, match=message):
            together(office, [first, second, third], **wrong)
    with pytest.raises(InvalidInput, match="claims must be two or more"):
        together(office, [first])
    with pytest.raises(NotAllowed, match="Only finance pays"):
        together(office, [first, second], by="ada")
    take_back(office, third)
    with pytest.raises(StateForbids, match="was not handed to finance"):
        together(office, [first, second, third])
    assert [office.claim(claim_id) for claim_id in (first, second, left)] == [before[0], before[1], before[3]]
    assert "claim transfer refused" in {entry.action for claim_id in claims for entry in office.log(claim_id)}
    hand_over(office, third)
    together(office, [first, second, third])
    assert [office.claim(claim_id).claim_status for claim_id in claims] == ["Paid", "Paid", "Paid", "Offer accepted"]
    assert {office.claim(claim_id).payment_reference for claim_id in claims[:3]} == {"BULK-1"}
    with pytest.raises(InvalidInput, match="was used for another payment already"):
        pay(office, left, payment_reference="bulk - 1")
    assert "claim pay refused" in {entry.action for entry in office.log(left)}
    # One of them came back under the reference of the transfer, another one under a reference of its own.
    office.move(second, "Offer accepted", by="root", payment_reference="BULK-1", note="The account is closed")
    office.move(third, "Offer accepted", by="root", payment_reference="RET-3", note="The account is closed")
    office.approve_anew(second, by="bola")
    with pytest.raises(InvalidInput, match="was used for another payment already"):
        office.move(second, "Paid", by="ada", payment_reference="BULK-1")
    with office.store.reading(Scope.system()) as session:
        sums = session.execute(sa.text("SELECT sum(amount_minor) FROM claim_payment GROUP BY claim_id")).scalars()
        assert sorted(map(int, sums)) == [0, 0, 7_000_000]
        assert store_check.list_faults(session) == []


def take_back(office: Office, claim_id: UUID) -> None:
    """The supervisor takes a payment back from finance, to hand it over later."""
    office.do(claim_paying.take_back, claim_id, by="sade", version=office.claim(claim_id).version)
