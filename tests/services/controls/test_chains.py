"""Chains over refunds, corrections, statements and payouts, each act of which is allowed alone (contract, Controls)."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, money, reference
from core.covers.insurers import insurer_a
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.catalogue import share_changes
from core.services.finance import adjustments, ageing, agreements, bank_accounts
from core.services.finance.credit_notes import deciding
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.finance.parties import Party
from core.services.finance.payments import payouts
from core.services.finance.payments import reading as payment_reading
from core.services.finance.statements import statements
from core.services.people import accounts, staff
from core.services.policies import changes
from core.services.selling import endorsing
from core.store.access import Scope
from core.store.schema.tables import CreditNote, Policy, Refund, Staff, StatementLine
from tests.conftest import Partner
from tests.portfolio import NOW
from tests.services.finance_office import ACCOUNT, BANK, LIVE, Finance
from tests.services.races import run_while_open
from tests.services.selling import sell
from tests.services.sign_in_links import choose_by_link

pytestmark = pytest.mark.frozen_at(NOW)

# Rules of the check.
TO_BOTH = "No refund goes to the customer and to the parties"
WITHIN = "Adjustments stay within what they correct"
OTHER_PAYEE = "No refund goes to another payee or account by one person"
SPLIT = "No limit on refunds is split over several"
OWN_ACCOUNT = "Who proposed an account has no part in its payouts"
GIVEN_TWICE = "No refund is given back by us and by the distributor"

PAID = {"bank_reference": "TRF 1/a", "value_on": "2026-11-20"}
BACK = {"returned_on": "2026-11-20", "reason": "The account is closed"}
OTHER = {**ACCOUNT, "payee_account": "0987654321"}
WHY = "The insurer charged another rate than agreed"


def sold(finance: Finance, partner: Partner, *, at: Any = NOW - timedelta(days=30), **answers: Any) -> UUID:
    with clock.freeze(at):
        return sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True, **answers).policy_id


def cancel(finance: Finance, policy_id: UUID, *, version: int = 1, actor: str = "tests") -> UUID:
    """End a policy and return the id of its credit note."""
    given = {"reason": "Sold the car", "by_insurer": True, "actor": actor, "expected_version": version}
    finance.do(changes.cancel, policy_id, **given)
    with finance.reading() as session:
        notes = sa.select(col(CreditNote.id)).join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        return session.execute(notes.where(col(Refund.policy_id) == policy_id)).scalar_one()


def movement(finance: Finance, policy_id: UUID, kind: str) -> Any:
    return next(row for row in finance.rows(kind=kind) if row.policy_id == policy_id)


def typed(premium: int = 0, platform: int = 0, distributor: int = 0) -> dict[str, str]:
    """Amounts in kobo as somebody types them."""
    amounts = {"premium": premium, "platform_commission": platform, "distributor_commission": distributor}
    return {name: money.to_wire(minor) for name, minor in amounts.items()} | {"reason": WHY}


def whole(row: Any) -> dict[str, str]:
    """The correction that takes a movement back as if it had never been."""
    return typed(-row.total_minor, -row.mca_profit_minor, -row.distributor_profit_minor)


def refused_acts(finance: Finance, subject: str) -> list[str]:
    with finance.store.reading(Scope.system()) as session:
        return [entry.action for entry in audit.list_history(session, subject) if entry.action.endswith("refused")]


@pytest.mark.both_databases
def test_a_refund_is_paid_to_the_customer_or_corrected_for_the_parties_and_never_both(
    finance: Finance, partner: Partner
) -> None:
    policy = sold(finance, partner)
    note, refund = cancel(finance, policy), movement(finance, policy, "refund")
    proposal = finance.do(adjustments.propose, refund.id, whole(refund), by="wale")
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    finance.do(deciding.pay, note, PAID, by="funmi")
    paid = rf"The customer was paid {money.format_naira(-refund.total_minor)} by CN-0001 of [^:]+: the premium"
    with pytest.raises(StateForbids, match=paid):
        finance.do(adjustments.confirm, proposal, by="root")
    with pytest.raises(StateForbids, match=paid):
        finance.do(adjustments.propose, refund.id, whole(refund), by="wale")
    finance.do(adjustments.propose, refund.id, typed(distributor=1), by="wale")  # the commissions alone
    assert refused_acts(finance, f"movement {refund.id}") == [
        "adjustment confirmation refused",
        "adjustment proposal refused",
    ]
    finance.do(deciding.return_payment, note, BACK, by="second")
    # Whoever noted a return that there was not would have the premium moved twice, by one who believes it.
    own = "You noted a payment of this refund, or that it came back: others of finance correct it"
    for by, act, given in (
        ("second", adjustments.confirm, (proposal,)),
        ("second", adjustments.propose, (refund.id, whole(refund))),
        ("funmi", adjustments.propose, (refund.id, whole(refund))),
    ):
        with pytest.raises(NotAllowed, match=own):
            finance.do(act, *given, by=by)
    finance.do(adjustments.confirm, proposal, by="root")
    gone = r"Its refund was corrected by .*: it does not go back to the customer any more as it is\. Two people"
    with pytest.raises(StateForbids, match="Returned cannot become Paid"):
        finance.do(deciding.pay, note, {**PAID, "bank_reference": "TRF 2"}, by="funmi")
    with pytest.raises(StateForbids, match=gone):
        finance.do(deciding.approve, note, {"payee": "Her brother"}, by="wale")
    assert refused_acts(finance, f"credit_note {note}") == [
        "credit note payment refused",
        "credit note approval refused",
    ]
    back = finance.do(adjustments.propose, refund.id, whole(movement(finance, policy, "adjustment")), by="wale")
    finance.do(adjustments.confirm, back, by="root")
    finance.do(deciding.approve, note, ACCOUNT, by="wale")
    finance.do(deciding.pay, note, {**PAID, "bank_reference": "TRF 2"}, by="funmi")
    assert finance.money_faults() == []


@pytest.mark.parametrize("other", ["corrected", "given back"])
@pytest.mark.parametrize("is_paid_first", [True, False], ids=["paid first", "paid second"])
def test_a_refund_that_is_paid_at_one_instant_is_not_given_to_the_parties_as_well(
    finance: Finance, partner: Partner, other: str, *, is_paid_first: bool
) -> None:
    party = Party("distributor", partner.id)
    policy = sold(finance, partner)
    note, refund = cancel(finance, policy), movement(finance, policy, "refund")
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    proposal = finance.do(adjustments.propose, refund.id, whole(refund), by="wale")
    terms = {"number": "AG/9", "starts_on": "2026-11-01", "collects": "distributor"}
    agreed = finance.do(agreements.add, party, terms, by="root")
    acts: dict[str, Any] = {
        "paid": (lambda session: deciding.pay(session, note, PAID, by=finance.person("funmi"))),
        "corrected": (lambda session: adjustments.confirm(session, proposal, by=finance.person("root"))),
        "given back": (lambda session: agreements.confirm(session, agreed, by=finance.person("second"))),
    }
    first, second = ("paid", other) if is_paid_first else (other, "paid")
    refusal = run_while_open(finance.store, LIVE, acts[first], lambda: finance.do(acts[second]))
    assert refusal is not None
    words = {
        ("corrected", True): "The customer was paid",
        ("corrected", False): "Its refund was corrected by",
        ("given back", True): "we paid refunds to customers",
        ("given back", False): "it pays the customer",
    }
    assert words[other, is_paid_first] in str(refusal)
    assert finance.money_faults() == []


def test_the_check_names_a_refund_that_was_paid_and_corrected_with_its_sum(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    policy = sold(finance, partner)
    note, refund = cancel(finance, policy), movement(finance, policy, "refund")
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    finance.do(deciding.pay, note, PAID, by="funmi")
    # As a version without the rule did it.
    monkeypatch.setattr(adjustments, "_refuse_paid_back", lambda *_: None)
    proposal = finance.do(adjustments.propose, refund.id, whole(refund), by="wale")
    finance.do(adjustments.confirm, proposal, by="root")
    amount = money.format_naira(-refund.total_minor)
    (found,) = [each for each in finance.faults(TO_BOTH) if "and its refund was corrected by" in each]
    assert found.startswith("credit note CN-0001 of ")
    assert found.endswith(f"was paid {amount}, and its refund was corrected by {amount}")


def test_a_limit_is_not_split_over_several_corrections_of_a_policy_or_a_distributor(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    bounds = {"tolerance_row": 100, "tolerance_file": 100}
    limits = {"finance": {"adjustment": 1_000}, "admin": {**bounds, "adjustment": 2_500}}
    monkeypatch.setattr(reference, "_load_finance_limits", lambda: limits)
    first = movement(finance, sold(finance, partner), "purchase")
    car = {"registration_number": "ABC-123XY", "chassis_number": "CHASSIS0000000099"}
    second = movement(finance, sold(finance, partner, email="b@x.example", **car), "purchase")

    def correct(row: Any, minor: int, *, by: str) -> None:
        made = finance.do(adjustments.propose, row.id, typed(distributor=minor), by="funmi")
        finance.do(adjustments.confirm, made, by=by)

    correct(first, 600, by="femi")
    for row, minor in ((first, -600), (second, 401)):
        with pytest.raises(NotAllowed, match=r"above ₦10\.00, with the ₦6\.00 corrected before of .*: an admin"):
            correct(row, minor, by="wale")
    correct(second, 400, by="wale")
    correct(first, 1_900, by="root")
    with pytest.raises(NotAllowed, match=r"with the ₦25\.00 corrected before of this policy: nobody confirms"):
        correct(first, 1, by="root")
    assert refused_acts(finance, f"movement {first.id}") == ["adjustment confirmation refused"] * 2
    # What an admin confirmed is no part of what finance does alone, and neither is what is older than a month.
    with clock.freeze(NOW + timedelta(days=31)):
        correct(second, 500, by="femi")
    monkeypatch.setattr(reference, "_load_finance_limits", lambda: {**limits, "admin": {**bounds, "adjustment": 2_499}})
    (found,) = [each for each in finance.faults(WITHIN) if "more than anybody confirms" in each]
    assert "come to ₦25.00" in found


def test_nobody_corrects_the_money_or_sets_the_terms_of_a_party_of_their_own(
    finance: Finance, partner: Partner
) -> None:
    """Whoever is the distributor would raise its commission, which others then state and pay."""
    row, party = movement(finance, sold(finance, partner), "purchase"), Party("distributor", partner.id)
    account = finance.do(bank_accounts.propose, party, BANK, by="root")
    proposal = finance.do(adjustments.propose, row.id, typed(distributor=100), by="wale")
    own = {"phone_number": None, "account_number": BANK["account_number"], "actor": "tests"}
    for name in ("femi", "second"):
        finance.do(staff.set_own_details, finance.people[name].id, **own)
    femi, second = finance.person("femi"), finance.person("second")
    share = {"commission": "5", "starts_on": (NOW + timedelta(days=10)).date().isoformat()}
    shared = finance.do(share_changes.propose, partner.id, share, by="root")
    for by, verb, *given in (
        (second, share_changes.confirm, shared),
        (second, share_changes.propose, partner.id, share),
        (femi, adjustments.propose, row.id, typed(distributor=100)),
        (femi, adjustments.confirm, proposal),
        (second, agreements.add, party, {"number": "AG/1", "starts_on": "2026-01-01", "charges_vat": "true"}),
        (second, bank_accounts.confirm, account),
    ):
        with pytest.raises(NotAllowed, match="your own e-mail, phone or account: somebody else works on it"):
            finance.do(verb, *given, by=by)
    assert "agreement refused" in refused_acts(finance, f"distributor {partner.id}")
    finance.do(adjustments.confirm, proposal, by="funmi")
    # Nor of one whose papers come to their own e-mail, by the terms that hold.
    finance.agree(party, {"number": "AG/1", "starts_on": "2026-01-01", "contact_email": "Root@f.example"})
    with pytest.raises(NotAllowed, match="your own e-mail, phone or account: somebody else works on it"):
        finance.do(agreements.add, party, {"number": "AG/2", "starts_on": "2026-11-01"}, by="root")


def test_what_is_proposed_in_the_name_of_somebody_whose_password_was_just_reset_waits(
    finance: Finance, partner: Partner
) -> None:
    """Whoever reset it would propose as that one, and confirm as themselves."""
    row = movement(finance, sold(finance, partner), "purchase")
    before = finance.do(adjustments.propose, row.id, typed(distributor=100), by="wale")
    with clock.freeze(NOW + timedelta(hours=1)):
        wale = finance.rest("wale", clock.now() + timedelta(hours=24))
        since = finance.do(adjustments.propose, row.id, typed(distributor=600), by=wale)
        with pytest.raises(StateForbids, match="made by Wale, who had just been given a password by somebody else"):
            finance.do(adjustments.confirm, since, by="femi")
        assert refused_acts(finance, f"movement {row.id}") == ["adjustment confirmation refused"]
        finance.do(adjustments.confirm, before, by="femi")
    with clock.freeze(NOW + timedelta(hours=26)):
        finance.do(adjustments.confirm, since, by="femi")


def test_another_payee_than_the_customer_takes_two_who_approve(finance: Finance, partner: Partner) -> None:
    note = cancel(finance, sold(finance, partner))
    assert finance.do(deciding.approve, note, {"payee": "A Friend", **ACCOUNT}, by="femi") == "Awaits second person"
    with pytest.raises(NotAllowed, match="You approved it first: somebody else of finance approves it as well"):
        finance.do(deciding.approve, note, ACCOUNT, by="femi")
    with pytest.raises(StateForbids, match="cannot become"):
        finance.do(deciding.pay, note, PAID, by="funmi")
    assert finance.do(deciding.approve, note, {}, by="wale") == "Approved"
    for by in ("femi", "wale"):
        with pytest.raises(NotAllowed, match="You approved it: somebody else of finance notes its payment"):
            finance.do(deciding.pay, note, PAID, by=by)
    finance.do(deciding.pay, note, PAID, by="funmi")
    assert finance.money_faults() == []


def test_the_account_of_another_customer_takes_two_who_approve(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second, third = (
        cancel(finance, sold(finance, partner, email=f"{name}@x.example", registration_number=f"LSR{name}AA"))
        for name in ("101", "102", "103")
    )
    assert finance.do(deciding.approve, first, ACCOUNT, by="femi") == "Approved"
    # The name stays that of the customer, so nobody who reads the payment would see it.
    assert finance.do(deciding.approve, second, ACCOUNT, by="femi") == "Awaits second person"
    assert finance.do(deciding.approve, second, {}, by="wale") == "Approved"
    other = {**ACCOUNT, "payee_account": "9876543210"}
    assert finance.do(deciding.approve, third, other, by="femi") == "Approved"
    assert finance.money_faults() == []
    finance.do(deciding.approve, third, ACCOUNT, by="wale")
    monkeypatch.setattr(deciding, "_is_of_another", lambda *_: False)
    fourth = cancel(finance, sold(finance, partner, email="104@x.example", registration_number="LSR104AA"))
    with clock.freeze(NOW + timedelta(minutes=1)):
        finance.do(deciding.approve, fourth, ACCOUNT, by="femi")
    monkeypatch.undo()
    (found,) = [each for each in finance.faults(OTHER_PAYEE) if "another customer's" in each]
    total = money.format_naira(finance.read(credit_note_reading.get_note, fourth).total_minor)
    assert f"{total}, was approved by Femi alone for" in found


@pytest.mark.parametrize(("days", "becomes"), [(29, "Awaits second person"), (31, "Approved")])
def test_what_one_person_approved_for_a_customer_counts_for_thirty_days(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch, days: int, becomes: str
) -> None:
    first = cancel(finance, sold(finance, partner))
    second = cancel(finance, sold(finance, partner, registration_number="ABC-123XY"))
    monkeypatch.setattr(deciding, "LIMIT", finance.read(credit_note_reading.get_note, first).total_minor + 100)
    assert finance.do(deciding.approve, first, ACCOUNT, by="femi") == "Approved"
    with clock.freeze(NOW + timedelta(days=days)):
        assert finance.do(deciding.approve, second, ACCOUNT, by="wale") == becomes


def test_who_made_the_link_of_who_ended_a_policy_does_not_approve_its_refund_alone(
    finance: Finance, partner: Partner
) -> None:
    """An admin opens the link of somebody of operations, ends a policy as that one, and would approve as admin."""
    note = cancel(finance, sold(finance, partner), actor=finance.people["oye"].actor)
    finance.do(accounts.create_password_link, finance.people["oye"].id, by="root")
    assert finance.do(deciding.approve, note, ACCOUNT, by="root") == "Awaits second person"
    assert finance.do(deciding.approve, note, {}, by="femi") == "Approved"
    other = cancel(finance, sold(finance, partner, registration_number="ABC-123XY"), actor=finance.people["oye"].actor)
    assert finance.do(deciding.approve, other, OTHER, by="second") == "Approved"


def test_the_check_names_another_payee_that_one_person_approved_with_the_sum(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    note = cancel(finance, sold(finance, partner))
    monkeypatch.setattr(deciding, "is_customer", lambda *_: True)
    finance.do(deciding.approve, note, {"payee": "A Friend", **ACCOUNT}, by="femi")
    monkeypatch.undo()
    (found,) = [each for each in finance.faults(OTHER_PAYEE) if "A Friend" in each]
    total = money.format_naira(finance.read(credit_note_reading.get_note, note).total_minor)
    assert found.endswith(f"{total}, was approved by Femi alone for A Friend, who is not the customer")


@pytest.mark.both_databases
def test_a_limit_is_not_split_over_several_refunds_of_a_customer(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor over two e-mails of one phone, which are two customers."""
    car = {"registration_number": "ABC-123XY", "chassis_number": "CHASSIS0000000099"}
    car |= {"email": "second@x.example", "phone_number": "+234 806 123 4567"}
    first, second = (cancel(finance, sold(finance, partner, **given)) for given in ({}, car))
    each = finance.read(credit_note_reading.get_note, first).total_minor
    monkeypatch.setattr(deciding, "LIMIT", each + 100)
    assert finance.do(deciding.approve, first, ACCOUNT, by="femi") == "Approved"
    assert finance.do(deciding.approve, second, OTHER, by="wale") == "Awaits second person"
    assert finance.do(deciding.approve, second, {}, by="funmi") == "Approved"
    assert finance.money_faults() == []
    with clock.freeze(NOW + timedelta(days=1)):
        third = cancel(
            finance, sold(finance, partner, registration_number="ABC-124XY", chassis_number="CHASSIS0000000098")
        )
        with monkeypatch.context() as before:
            # As a version without the rule did it.
            before.setattr(deciding, "sum_alone", lambda *_, **__: 0)
            assert finance.do(deciding.approve, third, ACCOUNT, by="wale") == "Approved"
    (found,) = [each for each in finance.faults(SPLIT) if "is the limit" in each]
    assert "was approved by Wale alone, with ₦" in found
    assert found.endswith(f"of the customer within 30 days: {money.format_naira(each + 100)} is the limit")


@pytest.mark.both_databases
def test_what_is_approved_alone_is_bounded_over_all_customers_of_a_person_and_of_a_distributor(
    finance: Finance, partner: Partner, stranger: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An account of another friend for each customer; or sales of a distributor that nobody paid, one by one."""
    sellers = (partner, stranger, partner, partner, partner)
    cars = [{"registration_number": f"LSR10{place}AA", "email": f"10{place}@x.example"} for place in range(5)]
    people = [{**car, "phone_number": f"0803222000{place}"} for place, car in enumerate(cars)]
    notes = [cancel(finance, sold(finance, seller, **given)) for seller, given in zip(sellers, people, strict=True)]
    friends = [{**ACCOUNT, "payee_account": f"777777777{place}"} for place in range(5)]
    known = reference._load_finance_limits()
    most = finance.read(credit_note_reading.get_note, notes[0]).total_minor + 100
    small = {role: {**limits, "refunds_alone": most} for role, limits in known.items()}
    with monkeypatch.context() as bounded:
        bounded.setattr(reference, "_load_finance_limits", lambda: small)
        assert finance.do(deciding.approve, notes[0], friends[0], by="femi") == "Approved"
        assert finance.do(deciding.approve, notes[1], friends[1], by="femi") == "Awaits second person"
        assert finance.do(deciding.approve, notes[2], friends[2], by="wale") == "Awaits second person"
        assert finance.do(deciding.approve, notes[1], {}, by="wale") == "Approved"
        assert finance.faults(SPLIT) == []
        with clock.freeze(NOW + timedelta(days=31)):
            assert finance.do(deciding.approve, notes[3], friends[3], by="femi") == "Approved"
    with clock.freeze(NOW + timedelta(minutes=1)):
        finance.do(deciding.approve, notes[4], friends[4], by="femi")
    monkeypatch.setattr(reference, "_load_finance_limits", lambda: small)
    (found,) = finance.faults(SPLIT)
    assert "was approved by Femi alone, with ₦" in found
    assert found.endswith(f"of one distributor within 30 days: {money.format_naira(most)} is the limit")


@pytest.mark.both_databases
@pytest.mark.parametrize("are_of_one", [True, False], ids=["one customer", "one account"])
def test_two_refunds_that_are_approved_at_one_instant_are_judged_with_each_other(
    finance: Finance, partner: Partner, stranger: Partner, monkeypatch: pytest.MonkeyPatch, *, are_of_one: bool
) -> None:
    """Both of one customer of two distributors are above the limit of one person; two customers have one account."""
    car = {"registration_number": "ABC-123XY", "chassis_number": "CHASSIS0000000099"}
    first = cancel(finance, sold(finance, partner))
    person, account = ({}, OTHER) if are_of_one else ({"email": "other@x.example"}, ACCOUNT)
    second = cancel(finance, sold(finance, stranger, **car, **person))
    monkeypatch.setattr(deciding, "LIMIT", finance.read(credit_note_reading.get_note, first).total_minor + 100)
    refusal = run_while_open(
        finance.store,
        LIVE,
        lambda session: deciding.approve(session, first, ACCOUNT, by=finance.people["femi"]),
        lambda: finance.do(deciding.approve, second, account, by="wale"),
    )
    assert refusal is None
    states_of = [finance.read(credit_note_reading.get_note, note).state for note in (first, second)]
    assert states_of == ["Approved", "Awaits second person"]
    assert finance.money_faults() == []


@pytest.mark.both_databases
def test_a_customer_who_was_given_another_name_before_the_refund_takes_two_who_approve(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A friend is no other payee once the policy has the friend's name."""
    policy = sold(finance, partner)
    with finance.store.writing(Scope.system()) as session:
        session.get_one(Staff, finance.people["wale"].id).roles = ["finance", "operations"]
    given: dict[str, Any] = {"effective_on": clock.today(), "reason": "Married", "requested_by": "The customer"}
    changed = {"first_name": "Another", "last_name": "Person"}
    finance.do(endorsing.endorse, policy, changed, **given, expected_version=1, by=finance.person("wale"))
    note = cancel(finance, policy, version=2)
    for verb, typed, does in ((deciding.approve, ACCOUNT, "approves its"), (deciding.pay, PAID, "cannot become Paid")):
        with pytest.raises((NotAllowed, StateForbids), match=does):
            finance.do(verb, note, typed, by="wale")
    assert refused_acts(finance, f"credit_note {note}") == [
        "credit note approval refused",
        "credit note payment refused",
    ]
    with monkeypatch.context() as before:
        # As a version without the rule did it.
        before.setattr(deciding, "list_renamed_by", lambda *_: [])
        other = cancel(finance, sold(finance, partner, email="b@x.example", registration_number="ABC-123XY"))
        assert finance.do(deciding.approve, other, {**ACCOUNT, "payee_account": "0987654321"}, by="femi") == "Approved"
        assert finance.money_faults() == []
    assert finance.do(deciding.approve, note, ACCOUNT, by="femi") == "Awaits second person"
    assert finance.do(deciding.approve, note, {}, by="root") == "Approved"
    finance.do(deciding.pay, note, PAID, by="funmi")
    monkeypatch.setattr(deciding, "list_renamed_by", lambda *_: [finance.people["wale"].id])
    (found,) = [each for each in finance.faults(OTHER_PAYEE) if "by which name the customer did not buy" in each]
    assert "was approved by Femi alone for Amaka Eze" in found


def test_who_gave_the_holder_another_phone_has_no_part_in_the_refund(finance: Finance, partner: Partner) -> None:
    """A friend answers the call for the account; a phone alone takes no two, as customers change it."""
    policy, wale = sold(finance, partner), finance.people["wale"]
    given: dict[str, Any] = {"effective_on": clock.today(), "reason": "A new one", "requested_by": "The customer"}
    changed, endorser = {"phone_number": "08035550302"}, replace(wale, roles=("finance", "operations"))
    finance.do(endorsing.endorse, policy, changed, **given, expected_version=1, by=endorser)
    note = cancel(finance, policy, version=2)
    with pytest.raises(NotAllowed, match="You gave the holder of this policy another name or phone"):
        finance.do(deciding.approve, note, ACCOUNT, by="wale")
    assert finance.do(deciding.approve, note, ACCOUNT, by="femi") == "Approved"
    assert finance.money_faults() == []


def test_who_set_the_terms_or_the_account_has_no_second_part_in_the_payout(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    sold(finance, partner, at=NOW - timedelta(days=90))
    party, last = Party("distributor", partner.id), date(2026, 8, 1)
    with clock.freeze(NOW - timedelta(days=90)):
        account = finance.do(bank_accounts.propose, party, BANK, by="root")
        finance.do(bank_accounts.confirm, account, by="second")
    terms = {"number": "AG/1", "starts_on": "2026-01-01"}
    finance.agree(party, {**terms, "charges_vat": True})
    made = finance.do(statements.prepare, party, last, by="second")
    with pytest.raises(NotAllowed, match="You changed the terms by agreement AG/1, by which it is calculated"):
        finance.do(statements.move, made, "Approved", by="root")
    for to in ("Approved", "Sent"):
        finance.do(statements.move, made, to, by="femi")
    own = "You proposed the account that is paid to: others of finance prepare and approve its payouts"
    with pytest.raises(NotAllowed, match=own):
        finance.do(payouts.prepare, {party: None}, by="root")
    batch = finance.do(payouts.prepare, {party: None}, by="second")
    with pytest.raises(NotAllowed, match=own):
        finance.do(payouts.approve, batch, by="root")
    assert refused_acts(finance, f"distributor {partner.id}") == ["payout preparation refused"]
    assert refused_acts(finance, f"payout {batch}") == ["payout approval refused"]
    assert refused_acts(finance, f"statement {made}") == ["statement Approved refused"]
    # As a version without the rule did it, for who prepared it is another person.
    monkeypatch.setattr(payouts, "refuse_same", lambda *_: None)
    finance.do(payouts.approve, batch, by="root")
    (found,) = [each for each in finance.faults(OWN_ACCOUNT) if "proposed the account" in each]
    paid = money.format_naira(finance.read(payment_reading.list_of_batch, batch)[0].net_minor)
    assert found == f"payment of {paid} in payout PB-0001: Root proposed the account, and prepared or approved it"


def test_who_first_proposed_an_account_has_no_part_in_its_payouts_once_another_proposed_it_again(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A colleague who corrects the name of the bank has not chosen the account."""
    sold(finance, partner, at=NOW - timedelta(days=90))
    party = Party("distributor", partner.id)
    finance.agree(party, {"number": "AG/1", "starts_on": "2026-01-01"})
    with clock.freeze(NOW - timedelta(days=90)):
        for bank, by, other in ((BANK, "root", "second"), ({**BANK, "bank_name": "First Bank PLC"}, "second", "root")):
            finance.do(bank_accounts.confirm, finance.do(bank_accounts.propose, party, bank, by=by), by=other)
    made = finance.do(statements.prepare, party, date(2026, 8, 1), by="funmi")
    for to in ("Approved", "Sent"):
        finance.do(statements.move, made, to, by="femi")
    batch = finance.do(payouts.prepare, {party: None}, by="funmi")
    with pytest.raises(NotAllowed, match="You proposed the account that is paid to"):
        finance.do(payouts.approve, batch, by="root")
    monkeypatch.setattr(payouts, "refuse_same", lambda *_: None)
    finance.do(payouts.approve, batch, by="root")
    (found,) = finance.faults("Who proposed an account has no part in its payouts")
    assert found.endswith(": Root had proposed an account of it, and prepared or approved it")


def test_terms_that_one_statement_was_approved_by_are_no_change_of_the_next(finance: Finance, partner: Partner) -> None:
    sold(finance, partner, at=NOW - timedelta(days=90))
    party = Party("distributor", partner.id)
    finance.agree(party, {"number": "AG/1", "starts_on": "2026-01-01", "charges_vat": True})
    with clock.freeze(NOW + timedelta(seconds=1)):
        finance.do(
            statements.move,
            finance.do(statements.prepare, party, date(2026, 8, 1), by="funmi"),
            "Approved",
            by="femi",
        )
        following = finance.do(statements.prepare, party, date(2026, 9, 1), by="funmi")
    with clock.freeze(NOW + timedelta(seconds=2)):
        # Another address for papers changes no calculation.
        terms = {"number": "AG/2", "starts_on": "2026-01-01", "charges_vat": True, "email": "new@lender.example"}
        finance.agree(party, terms)
        finance.do(statements.move, following, "Approved", by="root")


def test_who_proposed_a_commission_share_approves_no_statement_that_it_counts_in(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A share that is raised for a few days and put back does not show in the terms of today."""
    party = Party("distributor", partner.id)
    for month in (8, 9):
        for day, commission, maker, other in (("10", "5", "root", "second"), ("25", None, "second", "root")):
            with clock.freeze(NOW.replace(month=month, day=int(day) - 2)):
                raised = {"commission": commission, "starts_on": f"2026-{month:02}-{day}"}
                share = finance.do(share_changes.propose, partner.id, raised, by=maker)
                finance.do(share_changes.confirm, share, by=other)
    sold(finance, partner, at=NOW - timedelta(days=90))
    choose_by_link(finance.store, finance.people["wale"], by=finance.people["root"])
    for month in (8, 9):
        with clock.freeze(NOW + timedelta(seconds=month)):
            of_month = date(2026, month, 1)
            made = finance.do(statements.prepare, party, of_month, by="funmi", without_withholding=True)
            for by in ("root", "second"):
                with pytest.raises(NotAllowed, match="You proposed a commission share of this distributor"):
                    finance.do(statements.move, made, "Approved", by=by)
            with pytest.raises(
                NotAllowed, match=r"One of you and \w+, who proposed a commission share of it, has a pass"
            ):
                finance.do(statements.move, made, "Approved", by="wale")
            finance.do(statements.move, made, "Approved", by="femi")
    with clock.freeze(NOW + timedelta(seconds=10)):
        following = finance.do(statements.prepare, party, date(2026, 10, 1), by="funmi", without_withholding=True)
        finance.do(statements.move, following, "Approved", by="root")


@pytest.mark.parametrize(
    ("lost", "words"),
    [
        ({"disabled_at": NOW}, "is disabled"),
        ({"roles": ["operations"]}, "does not have the role (admin|finance) any more"),
    ],
    ids=["disabled", "demoted"],
)
def test_what_somebody_proposed_who_has_left_since_is_not_confirmed(
    finance: Finance, partner: Partner, lost: dict[str, Any], words: str
) -> None:
    """One person alone would stand behind it, and the role given back makes it two again."""
    party = Party("distributor", partner.id)
    corrected = movement(finance, sold(finance, partner), "purchase")
    share = {"commission": "5", "starts_on": "2026-11-21"}
    waiting = (
        (bank_accounts, finance.do(bank_accounts.propose, party, BANK, by="root")),
        (share_changes, finance.do(share_changes.propose, partner.id, share, by="root")),
        (adjustments, finance.do(adjustments.propose, corrected.id, typed(distributor=-100), by="root")),
    )
    mine = sa.update(Staff).where(col(Staff.email) == "root@f.example")
    with finance.store.writing(Scope.system()) as session:
        session.execute(mine.values(lost))
    for service, made in waiting:
        with pytest.raises(StateForbids, match=f"Root, who proposed this .*, {words}: refuse it, and make it anew"):
            finance.do(service.confirm, made, by="second")
    with finance.store.writing(Scope.system()) as session:
        session.execute(mine.values(disabled_at=None, roles=["admin"]))
    for service, made in waiting:
        finance.do(service.confirm, made, by="second")


def test_commission_is_taken_back_once_whenever_the_sale_was_stated_and_paid(
    finance: Finance, partner: Partner
) -> None:
    policy = sold(finance, partner, at=NOW - timedelta(days=90))
    party = Party("distributor", partner.id)
    sale = movement(finance, policy, "purchase")
    finance.agree(party, {"number": "AG/1", "starts_on": "2026-01-01"})
    for month in (date(2026, 8, 1), date(2026, 9, 1), date(2026, 10, 1)):
        made = finance.do(statements.prepare, party, month, by="funmi")
        for to in ("Approved", "Sent"):
            finance.do(statements.move, made, to, by="femi")
    cancel(finance, policy, version=1)
    refund = movement(finance, policy, "refund")
    assert 0 < -refund.distributor_profit_minor <= sale.distributor_profit_minor
    with clock.freeze(NOW + timedelta(days=15)):
        made = finance.do(statements.prepare, party, date(2026, 11, 1), by="funmi")
        finance.do(statements.move, made, "Approved", by="femi")
        reversal = finance.do(statements.reverse, made, reason="It was of the wrong month", by="funmi")
        finance.do(statements.move, reversal, "Approved", by="femi")
        again = finance.do(statements.prepare, party, date(2026, 11, 1), by="funmi")
        for to in ("Approved", "Sent"):
            finance.do(statements.move, again, to, by="femi")
    query = sa.select(col(StatementLine.commission_minor), col(StatementLine.statement_id)).where(
        col(StatementLine.movement_id) == refund.id,
        col(StatementLine.account) == "distributor",
        col(StatementLine.released_by).is_(None),
    )
    with finance.reading() as session:
        assert session.execute(query).all() == [(refund.distributor_profit_minor, again)]
        version = session.get_one(Policy, policy).version
    with pytest.raises(StateForbids, match="cannot be cancelled"):
        cancel(finance, policy, version=version)
    assert finance.money_faults() == []


def agree(finance: Finance, partner: Partner, number: int, starts_on: str, collects: str) -> None:
    terms = {"number": f"AG/{number}", "starts_on": starts_on, "collects": collects}
    with clock.freeze(NOW + timedelta(seconds=number)):
        finance.agree(Party("distributor", partner.id), terms)


def test_a_refund_goes_back_by_a_credit_note_or_by_the_statement_of_who_holds_the_premium(
    finance: Finance, partner: Partner
) -> None:
    note = cancel(finance, sold(finance, partner))
    agree(finance, partner, 1, "2026-11-01", "distributor")
    its = r"The distributor holds the premium of its sales and has this refund back \(.*, by its next statement\)"
    with pytest.raises(StateForbids, match=its):
        finance.do(deciding.approve, note, ACCOUNT, by="femi")
    assert refused_acts(finance, f"credit_note {note}") == ["credit note approval refused"]
    assert finance.read(credit_note_reading.list_unpaid, clock.now() + timedelta(days=1)) == []
    assert [each for each in finance.read(ageing.list_aged) if each.kind == "refunds"] == []
    # The terms are changed back, so that we pay it, and then changed again, so that the distributor has it as well.
    agree(finance, partner, 2, "2026-11-02", "platform")
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    agree(finance, partner, 3, "2026-11-03", "distributor")
    with pytest.raises(StateForbids, match=its):
        finance.do(deciding.pay, note, PAID, by="funmi")
    agree(finance, partner, 4, "2026-11-04", "platform")
    finance.do(deciding.pay, note, PAID, by="funmi")
    with pytest.raises(InvalidInput, match="starts_on must be 2026-12-01 or later: we paid refunds to customers"):
        agree(finance, partner, 5, "2026-11-05", "distributor")
    agree(finance, partner, 5, "2026-12-01", "distributor")
    assert finance.money_faults() == []


@pytest.mark.both_databases
def test_the_check_names_a_refund_that_we_paid_and_the_distributor_has_back(
    finance: Finance, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    agree(finance, partner, 1, "2026-01-01", "distributor")
    note = cancel(finance, sold(finance, partner))
    with clock.freeze(NOW + timedelta(days=15)):
        for month in (date(2026, 10, 1), date(2026, 11, 1)):
            party = Party("distributor", partner.id)
            finance.do(statements.prepare, party, month, by="funmi", without_withholding=True)
        with pytest.raises(StateForbids, match=r"has this refund back \(.*, by CS-0002\): it pays the customer"):
            finance.do(deciding.approve, note, ACCOUNT, by="femi")
        assert finance.money_faults() == []
        # As a version without the rule did it.
        monkeypatch.setattr(deciding, "_refuse_given_back", lambda *_: None)
        finance.do(deciding.approve, note, ACCOUNT, by="femi")
        finance.do(deciding.pay, note, {**PAID, "value_on": "2026-12-05"}, by="funmi")
        (found,) = [each for each in finance.faults(GIVEN_TWICE) if "has it back as well" in each]
    total = money.format_naira(finance.read(credit_note_reading.get_note, note).total_minor)
    assert f", {total}, was paid, and the distributor has it back as well: " in found
    assert found.endswith(", by CS-0002")


def test_who_changed_terms_ahead_of_the_statement_before_approves_none_that_they_hold_for(
    finance: Finance, partner: Partner
) -> None:
    """Terms that begin later are made before the statement of another month, and would seem to be older than it."""
    sold(finance, partner, at=NOW - timedelta(days=90))
    party = Party("distributor", partner.id)
    terms = {"number": "AG/1", "starts_on": "2026-09-01", "charges_vat": True}
    # Whoever had the password of who proposed them is as much of it, whatever it was when they were confirmed.
    choose_by_link(finance.store, finance.people["root"], by=finance.people["wale"])
    proposed = finance.do(agreements.add, party, terms, by="root")
    choose_by_link(finance.store, finance.people["root"], by=finance.people["sade"], days_ago=-1)
    with clock.freeze(NOW + timedelta(days=2)):
        finance.do(agreements.confirm, proposed, by="second")
        first = finance.do(statements.prepare, party, date(2026, 8, 1), by="funmi", without_withholding=True)
        finance.do(statements.move, first, "Approved", by="root")
        following = finance.do(statements.prepare, party, date(2026, 9, 1), by="funmi", without_withholding=True)
        with pytest.raises(NotAllowed, match="You changed the terms by agreement AG/1, by which it is calculated"):
            finance.do(statements.move, following, "Approved", by="root")
        with pytest.raises(NotAllowed, match="One of you and Root, who changed the terms"):
            finance.do(statements.move, following, "Approved", by="wale")
        finance.do(statements.move, following, "Approved", by="femi")
