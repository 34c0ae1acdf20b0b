"""Chains over taxes, terms, returned payments and closed months, each act of which is allowed alone (Controls)."""

from dataclasses import replace
from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock, ids, money
from core.covers.insurers import insurer_a
from core.desk import closing
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.catalogue import changes as catalogue_changes
from core.services.catalogue import key_admin, keys, product_list, rate_changes, share_changes
from core.services.catalogue.product_list import ProductDetail
from core.services.compliance import remembering
from core.services.finance import adjustments, agreements, bank_accounts, journal
from core.services.finance.bordereaux import bordereaux
from core.services.finance.credit_notes import deciding
from core.services.finance.parties import Party
from core.services.finance.payments import payouts, settlement
from core.services.finance.payments import reading as payment_reading
from core.services.finance.statements import reading as statement_reading
from core.services.finance.statements import statements
from core.services.finance.statements.files import Paper
from core.services.people import accounts, credentials, staff
from core.services.policies import changes
from core.services.selling import buying, endorsing
from core.store.access import Scope, Store
from core.store.schema.tables import CreditNote, Customer, Distributor, Policy, Provider, Refund, Staff, Statement
from tests.conftest import Partner
from tests.covers import shipped
from tests.planting import find_faults, planted
from tests.portfolio import NOW
from tests.prefilled import demonstration_copy
from tests.services.finance_office import ACCOUNT, BANK, Finance, pay_out, state
from tests.services.selling import CAR, sell
from tests.services.sign_in_links import choose_by_link

pytestmark = pytest.mark.frozen_at(NOW)

JOURNAL = "The journal of every closed month is as it was, and balances"
SOLD_AND_ENDED = "What one person sold and ended, two approve to give back"
RETURNS = "Who noted a return has no part in paying it again"
OWN = "your own e-mail, phone or account: somebody else works on it"
PAID = {"bank_reference": "TRF/1", "value_on": "2026-11-20"}
BACK = {"returned_on": "2026-11-20", "reason": "The account is closed"}
TERMS = {"number": "AG/1", "starts_on": "2026-01-01", "tin": "12345678-0001"}
NOTE = "Looked at all of them, they are in order"


def sold(finance: Finance, partner: Partner, *, at: Any = NOW - timedelta(days=90)) -> UUID:
    with clock.freeze(at):
        return sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True).policy_id


def cancel(finance: Finance, policy_id: UUID, *, by: str = "oye", by_insurer: bool = True, version: int = 1) -> UUID:
    """End a policy and return the id of its credit note."""
    given = {"reason": "Sold the car", "by_insurer": by_insurer, "actor": finance.people[by].actor}
    finance.do(changes.cancel, policy_id, **given, expected_version=version)
    with finance.reading() as session:
        notes = sa.select(col(CreditNote.id)).join(Refund, col(Refund.id) == col(CreditNote.refund_id))
        return session.execute(notes.where(col(Refund.policy_id) == policy_id)).scalar_one()


def stated(finance: Finance, party: Party, month: int) -> Paper:
    made = finance.do(statements.prepare, party, date(2026, month, 1), by="funmi", without_withholding=True)
    return finance.read(statement_reading.get_statement, made).paper


def test_vat_on_commission_goes_back_with_the_commission(finance: Finance, partner: Partner, party: Party) -> None:
    """A distributor sells to itself until the last of a month, is paid VAT, and cancels on the first of the next."""
    finance.agree(party, {**TERMS, "charges_vat": True})
    policy = sold(finance, partner, at=NOW.replace(month=9, day=30))
    with clock.freeze(NOW.replace(month=10, day=1)):
        cancel(finance, policy)
    first, second = stated(finance, party, 9), stated(finance, party, 10)
    commission = first.earned_minor + second.clawback_minor
    assert second.clawback_minor < 0 < first.vat_minor
    assert abs(first.vat_minor + second.vat_minor - money.share(commission, 750)) <= 1
    assert second.withheld_minor == 0, "what was withheld was paid to the tax office"
    assert second.closing_minor == commission + first.vat_minor + second.vat_minor - first.withheld_minor
    assert finance.money_faults() == []


def test_who_noted_that_a_payout_came_back_does_not_have_it_paid_again(
    finance: Finance, partner: Partner, party: Party, monkeypatch: pytest.MonkeyPatch
) -> None:
    sold(finance, partner)
    batch = pay_out(finance, party)
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    finance.do(settlement.confirm, row.id, PAID, by="wale")
    finance.do(settlement.return_payment, row.id, BACK, by="wale")
    own = "You noted that a payment of this came back: others of finance prepare and approve that it is paid again"
    with pytest.raises(NotAllowed, match=own):
        finance.do(payouts.prepare, {party: None}, by="wale")
    again = finance.do(payouts.prepare, {party: None}, by="funmi")
    with pytest.raises(NotAllowed, match=own):
        finance.do(payouts.approve, again, by="wale")
    assert finance.faults(RETURNS) == []
    # As if a version without the rule had approved it.
    with monkeypatch.context() as patched:
        patched.setattr(settlement, "load_returners", lambda *_, **__: ())
        finance.do(payouts.approve, again, by="wale")
    (found,) = finance.faults(RETURNS)
    total = money.format_naira(finance.read(payment_reading.get_batch, again).net_minor)
    assert found == (f"payout PB-0002, {total}: Wale had noted that it came back before, and prepared or approved it")


def test_nor_once_the_statement_was_reversed_and_stated_anew(finance: Finance, partner: Partner, party: Party) -> None:
    sold(finance, partner)
    (row,) = finance.read(payment_reading.list_of_batch, pay_out(finance, party))
    finance.do(settlement.confirm, row.id, PAID, by="wale")
    finance.do(settlement.return_payment, row.id, BACK, by="wale")
    reversal = finance.do(statements.reverse, row.statement_id, reason="Another tax number", by="funmi")
    finance.do(statements.move, reversal, "Approved", by="femi")
    state(finance, party, row.month, "Approved", "Sent")
    own = "You noted that a payment of this came back: others of finance prepare and approve that it is paid again"
    with pytest.raises(NotAllowed, match=own):
        finance.do(payouts.prepare, {party: None}, by="wale")
    again = finance.do(payouts.prepare, {party: None}, by="funmi")
    with pytest.raises(NotAllowed, match=own):
        finance.do(payouts.approve, again, by="wale")
    finance.do(payouts.approve, again, by="femi")
    assert finance.faults(RETURNS) == []


def test_others_have_a_payout_that_came_back_paid_again(finance: Finance, partner: Partner, party: Party) -> None:
    sold(finance, partner)
    (row,) = finance.read(payment_reading.list_of_batch, pay_out(finance, party))
    finance.do(settlement.confirm, row.id, PAID, by="wale")
    finance.do(settlement.return_payment, row.id, BACK, by="wale")
    finance.do(payouts.approve, finance.do(payouts.prepare, {party: None}, by="funmi"), by="femi")
    assert finance.money_faults() == []
    assert finance.faults(RETURNS) == []


def test_a_return_that_is_noted_after_a_payout_was_prepared_is_not_paid_by_it(
    finance: Finance, partner: Partner, party: Party
) -> None:
    """Whoever prepared the rest of a statement notes that its first part came back: others pay that again."""
    sold(finance, partner)
    whole = pay_out(finance, party)
    (row,) = finance.read(payment_reading.list_of_batch, whole)
    finance.do(settlement.return_payment, row.id, BACK, by="femi")
    part = finance.do(payouts.prepare, {party: row.net_minor - 1}, by="funmi")
    finance.do(payouts.approve, part, by="second")
    (first,) = finance.read(payment_reading.list_of_batch, part)
    finance.do(settlement.confirm, first.id, {**PAID, "bank_reference": "TRF/7"}, by="femi")
    rest = finance.do(payouts.prepare, {party: None}, by="wale")
    with clock.freeze(NOW + timedelta(hours=1)):
        finance.do(settlement.return_payment, first.id, {**BACK, "bank_reference": "BACK/7"}, by="wale")
        finance.do(payouts.approve, rest, by="funmi")
    assert finance.faults(RETURNS) == []
    with clock.freeze(NOW + timedelta(hours=2)):
        (last,) = finance.read(payment_reading.list_of_batch, rest)
        finance.do(settlement.confirm, last.id, {**PAID, "bank_reference": "TRF/8"}, by="funmi")
        with pytest.raises(NotAllowed, match="You noted that a payment of this came back"):
            finance.do(payouts.prepare, {party: None}, by="wale")


def test_nor_does_who_noted_that_the_bank_refused_an_order(finance: Finance, partner: Partner, party: Party) -> None:
    sold(finance, partner)
    (row,) = finance.read(payment_reading.list_of_batch, pay_out(finance, party))
    finance.do(settlement.return_payment, row.id, BACK, by="wale")
    with pytest.raises(NotAllowed, match="You noted that a payment of this came back"):
        finance.do(payouts.prepare, {party: None}, by="wale")


def test_no_bank_file_is_served_for_an_account_that_was_replaced(
    finance: Finance, partner: Partner, party: Party
) -> None:
    """Two people saw that the account was a wrong one, and the payout to it was approved before."""
    sold(finance, partner)
    batch = pay_out(finance, party)
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    other = finance.do(bank_accounts.propose, party, {**BANK, "account_number": "0999999999"}, by="root")
    finance.do(bank_accounts.confirm, other, by="second")
    finance.do(payouts.open_bank_file, batch, by="wale")
    with clock.freeze(NOW + bank_accounts.RESTS + timedelta(minutes=1)):
        with pytest.raises(StateForbids, match="has another bank account now: note that the bank refused it"):
            finance.do(payouts.open_bank_file, batch, by="wale")
        finance.do(settlement.return_payment, row.id, {**BACK, "returned_on": "2026-11-22"}, by="femi")
        finance.do(payouts.prepare, {party: None}, by="funmi")


def test_who_noted_that_a_refund_came_back_does_not_note_that_it_was_paid_again(
    finance: Finance, partner: Partner
) -> None:
    note = cancel(finance, sold(finance, partner, at=NOW - timedelta(days=30)))
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    finance.do(deciding.pay, note, PAID, by="funmi")
    finance.do(deciding.return_payment, note, BACK, by="wale")
    again = {**PAID, "bank_reference": "TRF/2"}
    # Whoever paid it would be paid again by who noted a return that there was not, and by the approval of before.
    with pytest.raises(StateForbids, match="Returned cannot become Paid"):
        finance.do(deciding.pay, note, again, by="funmi")
    for by, words in (("femi", "You approved it"), ("funmi", "You noted a payment"), ("wale", "or a return of it")):
        with pytest.raises(NotAllowed, match=words):
            finance.do(deciding.approve, note, ACCOUNT, by=by)
    finance.do(deciding.approve, note, ACCOUNT, by="second")
    with pytest.raises(NotAllowed, match="You noted that its payment came back"):
        finance.do(deciding.pay, note, again, by="wale")
    finance.do(deciding.pay, note, {**PAID, "bank_reference": "TRF/2"}, by="funmi")
    assert finance.money_faults() == []


def test_a_distributor_owes_the_premium_that_it_holds_of_every_month_that_has_begun(
    finance: Finance, partner: Partner, party: Party
) -> None:
    """One admin lets it keep the premium of a month by terms from the last day of that."""
    with clock.freeze(NOW - timedelta(days=60)):
        finance.agree(party, {**TERMS, "collects": "distributor"})
    sold(finance, partner, at=NOW.replace(month=10, day=10))
    for number, starts_on in enumerate(("2026-10-31", "2026-11-20", "2026-11-30"), 2):
        # Terms of today that change nothing are no way around it.
        same = {**TERMS, "number": f"AG/{number}a", "starts_on": starts_on, "collects": "distributor"}
        finance.agree(party, same)
        with pytest.raises(InvalidInput, match=r"starts_on must be 2026-12-01 or later: until then the distributor"):
            finance.agree(party, {**TERMS, "number": f"AG/{number}", "starts_on": starts_on})
    finance.agree(party, {**TERMS, "number": "AG/9", "starts_on": "2026-12-01"})
    assert stated(finance, party, 10).closing_minor < 0


def test_terms_that_were_typed_today_are_corrected_today(finance: Finance, party: Party) -> None:
    finance.agree(party, {**TERMS, "collects": "distributor"})
    with clock.freeze(NOW + timedelta(hours=1)):
        finance.agree(party, {**TERMS, "collects": "platform"})
    with clock.freeze(NOW + timedelta(hours=2)):
        finance.agree(party, {**TERMS, "collects": "distributor"})
    with clock.freeze(NOW + timedelta(days=1)), pytest.raises(InvalidInput, match="starts_on must be 2026-12-01"):
        finance.agree(party, {**TERMS, "collects": "platform"})


def own_distributor(finance: Finance, partner: Partner, name: str) -> None:
    with finance.store.writing(Scope.system()) as session:
        session.get_one(Distributor, partner.id).email = f"{name.title()}@f.example"


def test_nobody_corrects_what_is_owed_to_a_party_of_their_own(finance: Finance, partner: Partner) -> None:
    policy = sold(finance, partner)
    movement = next(row for row in finance.rows(kind="purchase") if row.policy_id == policy)
    typed = {"premium": "0", "platform_commission": "-1", "distributor_commission": "1", "reason": "By the agreement"}
    own_distributor(finance, partner, "femi")
    with pytest.raises(NotAllowed, match=OWN):
        finance.do(adjustments.propose, movement.id, typed, by="femi")
    proposal = finance.do(adjustments.propose, movement.id, typed, by="funmi")
    with pytest.raises(NotAllowed, match=OWN):
        finance.do(adjustments.confirm, proposal, by="femi")
    finance.do(adjustments.confirm, proposal, by="wale")


def test_nobody_decides_on_the_terms_the_share_or_the_account_of_a_party_of_their_own(
    finance: Finance, partner: Partner, party: Party
) -> None:
    own_distributor(finance, partner, "root")
    share = {"commission": "5", "starts_on": "2026-11-25"}
    account = finance.do(bank_accounts.propose, party, BANK, by="second")
    agreed = finance.do(share_changes.propose, partner.id, share, by="second")
    for verb, *given in (
        (agreements.add, party, TERMS),
        (bank_accounts.propose, party, BANK),
        (bank_accounts.confirm, account),
        (share_changes.propose, partner.id, share),
        (share_changes.confirm, agreed),
    ):
        with pytest.raises(NotAllowed, match=OWN):
            finance.do(verb, *given, by="root")


def test_nobody_takes_their_own_e_mail_off_a_party(finance: Finance, partner: Partner, party: Party) -> None:
    """An admin would decide on its terms and money as a stranger the minute after."""
    own_distributor(finance, partner, "root")
    with finance.store.reading(Scope.system()) as session:
        row = session.get_one(Distributor, partner.id)
        name, seen_at = row.business_name, row.updated_at
    hidden = {"name": name, "email": "somebody@else.example"}
    with pytest.raises(NotAllowed, match="It has your own e-mail or phone: another admin changes it"):
        finance.do(catalogue_changes.change_distributor, partner.id, hidden, seen_at=seen_at, by="root")
    finance.do(catalogue_changes.change_distributor, partner.id, hidden, seen_at=seen_at, by="second")
    finance.agree(party, TERMS)


@pytest.mark.parametrize("name", ["email", "business_email", "claim_email", "support_email"])
def test_nobody_takes_any_e_mail_of_their_own_off_an_insurer(finance: Finance, name: str) -> None:
    with finance.store.writing(Scope.system()) as session:
        insurer = session.execute(sa.select(Provider).order_by(col(Provider.id)).limit(1)).scalar_one()
        setattr(insurer, name, "Root@F.example")
        given = {each: getattr(insurer, each) for each in catalogue_changes.InsurerInput.model_fields}
        key, seen_at = insurer.id, insurer.updated_at
    hidden = {**given, name: "somebody@else.example"}
    with pytest.raises(NotAllowed, match="It has your own e-mail or phone: another admin changes it"):
        finance.do(catalogue_changes.change_insurer, key, hidden, seen_at=seen_at, by="root")
    finance.do(catalogue_changes.change_insurer, key, hidden, seen_at=seen_at, by="second")


def test_nobody_gives_a_party_an_account_of_their_own(finance: Finance, party: Party) -> None:
    """Only they were barred from its payouts, and others made them."""
    own = {"phone_number": None, "account_number": BANK["account_number"], "actor": "tests"}
    finance.do(staff.set_own_details, finance.people["root"].id, **own)
    root = finance.person("root")
    with pytest.raises(NotAllowed, match=OWN):
        finance.do(bank_accounts.propose, party, BANK, by=root)
    account = finance.do(bank_accounts.propose, party, BANK, by="second")
    with pytest.raises(NotAllowed, match=OWN):
        finance.do(bank_accounts.confirm, account, by=root)


def test_a_refund_to_an_account_of_the_staff_or_of_a_party_takes_two(
    finance: Finance, partner: Partner, party: Party
) -> None:
    """In the customer's name, with a colleague's account, or that of a distributor in league."""
    theirs = {"payee_bank": "First Bank", "payee_account": BANK["account_number"]}
    with clock.freeze(NOW - timedelta(days=30)):
        numbers = ("AAA-111AA", "BBB-222BB")
        policies = [
            sell(finance.store, partner, insurer_a.THIRD_PARTY, is_live=True, registration_number=number).policy_id
            for number in numbers
        ]
    first, second = (cancel(finance, policy) for policy in policies)
    details = {"phone_number": None, "account_number": "0444444444", "actor": "tests"}
    finance.do(staff.set_own_details, finance.people["wale"].id, **details)
    of_staff = {**theirs, "payee_account": "0444444444"}
    assert finance.do(deciding.approve, first, of_staff, by="femi") == "Awaits second person"
    finance.do(bank_accounts.propose, party, BANK, by="root")
    assert finance.do(deciding.approve, second, theirs, by="femi") == "Awaits second person"
    assert finance.do(deciding.approve, second, theirs, by="funmi") == "Approved"


def test_nobody_says_that_the_insurer_ends_a_policy_of_their_own(finance: Finance, partner: Partner) -> None:
    """By the customer's wish a tenth less goes back, and no approver sees that it was one."""
    policy = sold(finance, partner, at=NOW - timedelta(days=30))
    with finance.store.writing(Scope.system()) as session:
        session.get_one(Policy, policy).email = "Oye@f.example"
    with pytest.raises(NotAllowed, match="It has your own e-mail or phone: somebody else notes that the insurer ends"):
        cancel(finance, policy, by="oye")
    with finance.store.reading(Scope.system()) as session:
        log = audit.list_history(session, f"policy {policy}")
    assert log[-1].action == "policy ended by its insurer refused"
    cancel(finance, policy, by="oye", by_insurer=False)


@pytest.mark.parametrize(
    "way", ["at the desk", "by a key of theirs", "by a key of the command line", "by an account that they opened"]
)
def test_who_sold_a_policy_does_not_alone_approve_that_its_premium_goes_back(
    finance: Finance, partner: Partner, way: str
) -> None:
    """A premium that nobody paid, of a customer that nobody is; others cancel, and pay, in good faith."""
    seller = partner.seller(is_live=True)
    root = finance.people["root"].actor
    if way == "by an account that they opened":
        finance.do(accounts.create_password_link, finance.people["oye"].id, by="root")
        seller = replace(seller, actor=finance.people["oye"].actor, source="desk")
    elif way != "at the desk":
        issuer = root if way == "by a key of theirs" else "command line, eve at desk-1"
        fields = {"distributor": "Swift Lenders", "mode": "live", "name": "Counter"}
        with finance.store.writing(Scope.system()) as session:
            key = key_admin.issue_unasked(session, fields, actor=issuer).key
            seller = replace(seller, actor=keys.authenticate(session, key).actor)
    else:
        seller = replace(seller, actor=root, source="desk")
    with clock.freeze(NOW - timedelta(days=30)), finance.store.writing(partner.scope(is_live=True)) as session:
        request = shipped.request(insurer_a.THIRD_PARTY)
        policy = buying.sell(session, insurer_a.THIRD_PARTY, request, seller).policy_id
    note = cancel(finance, policy, by="sade")
    assert finance.do(deciding.approve, note, ACCOUNT, by="root") == "Awaits second person"
    assert finance.do(deciding.approve, note, ACCOUNT, by="femi") == "Approved"


@pytest.mark.parametrize(
    "way",
    ["at the desk", "by a key of theirs", "by an account that they opened", "ended by one", "by two that they opened"],
)
def test_what_one_person_sold_and_ended_takes_two_who_approve_its_refund(
    finance: Finance, partner: Partner, way: str
) -> None:
    """Somebody sells to a friend, nobody pays, and ends it before it began: finance would give back in good faith."""
    ender = finance.people["root"]
    seller = replace(partner.seller(is_live=True), actor=ender.actor, source="desk")
    if way in ("by an account that they opened", "by two that they opened"):
        finance.do(accounts.create_password_link, finance.people["oye"].id, by="root")
        seller = replace(seller, actor=finance.people["oye"].actor)
    by_puppet = way in ("ended by one", "by two that they opened")
    if by_puppet:
        choose_by_link(finance.store, finance.people["sade"], by=ender)
    if way == "by a key of theirs":
        fields = {"distributor": "Swift Lenders", "mode": "live", "name": "Counter"}
        with finance.store.writing(Scope.system()) as session:
            key = key_admin.issue_unasked(session, fields, actor=ender.actor).key
            seller = replace(partner.seller(is_live=True), actor=keys.authenticate(session, key).actor)
    with finance.store.writing(partner.scope(is_live=True)) as session:
        request = shipped.request(insurer_a.THIRD_PARTY)
        policy = buying.sell(session, insurer_a.THIRD_PARTY, request, seller).policy_id
    note = cancel(finance, policy, by="sade" if by_puppet else "root")
    assert finance.do(deciding.approve, note, ACCOUNT, by="femi") == "Awaits second person"
    assert finance.do(deciding.approve, note, ACCOUNT, by="wale") == "Approved"
    assert finance.faults(SOLD_AND_ENDED) == []
    if by_puppet:
        return
    # As if a version without the rule had taken one approval.
    by_one = "UPDATE credit_note SET first_by = NULL, first_at = NULL WHERE first_by IS NOT NULL"
    with planted(finance.store, by_one, without={"credit_note_decision": "credit_note"}) as session:
        (found,) = find_faults(session, SOLD_AND_ENDED)
    assert found.endswith(", was approved by Wale alone, of a policy that root@f.example had sold and ended")


def test_who_made_a_password_counts_as_its_person_where_finance_needs_two(
    finance: Finance, partner: Partner, party: Party
) -> None:
    """An admin opens the link of somebody of finance, prepares or approves as that one, and does the rest as admin."""
    note = cancel(finance, sold(finance, partner))
    for puppet in ("femi", "funmi"):
        choose_by_link(finance.store, finance.people[puppet], by=finance.people["root"])
    finance.do(deciding.approve, note, ACCOUNT, by="femi")
    with pytest.raises(NotAllowed, match="You made the password link of somebody who approved, paid or returned it"):
        finance.do(deciding.pay, note, PAID, by="root")
    assert "pay" in finance.read(deciding.find_refusals, note, finance.people["root"])
    finance.do(deciding.pay, note, PAID, by="wale")
    with pytest.raises(NotAllowed, match="You made the password link of somebody who approved"):
        finance.do(deciding.return_payment, note, BACK, by="root")
    one = "One of you and Funmi, who prepared this {}, has a password by a link that the other made"
    made = state(finance, party, date(2026, 8, 1))
    with pytest.raises(NotAllowed, match=one.format("statement")):
        finance.do(statements.move, made, "Approved", by="root")
    finance.do(statements.move, made, "Approved", by="wale")
    finance.do(statements.move, made, "Sent", by="wale")
    with clock.freeze(NOW - timedelta(days=90)):
        account = finance.do(bank_accounts.propose, party, BANK, by="second")
        finance.do(bank_accounts.confirm, account, by="root")
    batch = finance.do(payouts.prepare, {party: None}, by="funmi")
    with pytest.raises(NotAllowed, match=one.format("payout")):
        finance.do(payouts.approve, batch, by="root")
    finance.do(payouts.approve, batch, by="wale")
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    for act, given in ((settlement.confirm, {**PAID, "bank_reference": "TRF/9"}), (settlement.return_payment, BACK)):
        with pytest.raises(NotAllowed, match=one.format("payment")):
            finance.do(act, row.id, given, by="root")
    finance.do(settlement.confirm, row.id, {**PAID, "bank_reference": "TRF/9"}, by="wale")
    assert finance.money_faults() == []


def test_who_made_a_password_does_not_confirm_what_its_person_proposed(finance: Finance, party: Party) -> None:
    """An admin opens the link of another one, and a day later confirms by it the account that they proposed."""
    choose_by_link(finance.store, finance.people["second"], by=finance.people["root"])
    for proposer, confirmer in (("root", "second"), ("second", "root")):
        account = finance.do(bank_accounts.propose, party, BANK, by=proposer)
        with pytest.raises(NotAllowed, match="has a password by a link that the other made: somebody else confirms it"):
            finance.do(bank_accounts.confirm, account, by=confirmer)
        finance.do(bank_accounts.take_back, account, by=proposer)
    # By the server's command the password is nobody's; a link that waited for its use meanwhile stays its maker's.
    second = finance.people["second"]
    with clock.freeze(NOW - timedelta(days=2)), finance.store.writing(Scope.system()) as session:
        audit.note(session, "staff", second.id, "password link made", actor=finance.people["root"].actor)
        known = {"roles": ["admin"], "password": "correct horse battery", "actor": "command line, eve at desk-1"}
        session.get_one(Staff, second.id).password_hash = credentials.hash_password("another one here")
        staff.add_or_update(session, email="second@f.example", name="Second", **known)
    account = finance.do(bank_accounts.propose, party, BANK, by="root")
    finance.do(bank_accounts.confirm, account, by="second")
    with clock.freeze(NOW - timedelta(days=1)), finance.store.writing(Scope.system()) as session:
        audit.note(session, "staff", second.id, "password chosen", actor=second.actor)
    account = finance.do(bank_accounts.propose, party, {**BANK, "account_number": "0123456780"}, by="root")
    with pytest.raises(NotAllowed, match="has a password by a link that the other made"):
        finance.do(bank_accounts.confirm, account, by="second")


def test_who_made_a_password_has_no_second_part_in_terms_returns_and_months(
    finance: Finance, partner: Partner, party: Party
) -> None:
    """An admin adds VAT to the terms, or notes a return that there was not, and goes on as somebody of finance."""
    choose_by_link(finance.store, finance.people["femi"], by=finance.people["root"])
    sold(finance, partner)
    finance.agree(party, {**TERMS, "charges_vat": True})
    with clock.freeze(NOW - timedelta(days=90)):
        account = finance.do(bank_accounts.propose, party, BANK, by="second")
        finance.do(bank_accounts.confirm, account, by="root")
    one = "One of you and {}, has a password by a link that the other made: somebody else"
    made = state(finance, party, date(2026, 8, 1))
    with pytest.raises(NotAllowed, match=one.format("Root, who changed the terms by which it is calculated")):
        finance.do(statements.move, made, "Approved", by="femi")
    for to in ("Approved", "Sent"):
        finance.do(statements.move, made, to, by="wale")
    batch = finance.do(payouts.prepare, {party: None}, by="funmi")
    finance.do(payouts.approve, batch, by="wale")
    (row,) = finance.read(payment_reading.list_of_batch, batch)
    finance.do(settlement.confirm, row.id, PAID, by="root")
    finance.do(settlement.return_payment, row.id, BACK, by="root")
    returned = one.format("Root, who noted that a payment of this came back")
    with pytest.raises(NotAllowed, match=returned):
        finance.do(payouts.prepare, {party: None}, by="femi")
    again = finance.do(payouts.prepare, {party: None}, by="funmi")
    with pytest.raises(NotAllowed, match=returned):
        finance.do(payouts.approve, again, by="femi")
    finance.do(payouts.approve, again, by="wale")
    month = date(2026, 8, 1)
    finance.do(closing.begin, month, by="root")
    with pytest.raises(NotAllowed, match=one.format("Root, who made the last step")):
        finance.do(closing.close, month, by="femi")
    with pytest.raises(StateForbids, match="It cannot be closed yet"):
        finance.do(closing.close, month, by="wale")


def test_an_order_that_the_bank_refused_is_known_by_the_password_of_its_moment(
    finance: Finance, partner: Partner, party: Party
) -> None:
    choose_by_link(finance.store, finance.people["wale"], by=finance.people["second"])
    sold(finance, partner)
    (row,) = finance.read(payment_reading.list_of_batch, pay_out(finance, party))
    finance.do(settlement.return_payment, row.id, BACK, by="wale")
    with clock.freeze(NOW + timedelta(days=2)):
        choose_by_link(finance.store, finance.people["wale"], by=finance.people["root"], days_ago=1)
        with pytest.raises(NotAllowed, match="One of you and Wale, who noted that a payment of this came back, has a"):
            finance.do(payouts.prepare, {party: None}, by="second")
        finance.do(payouts.prepare, {party: None}, by="funmi")


def test_what_another_person_ended_than_who_sold_it_takes_one(finance: Finance, partner: Partner) -> None:
    seller = replace(partner.seller(is_live=True), actor=finance.people["oye"].actor, source="desk")
    with finance.store.writing(partner.scope(is_live=True)) as session:
        request = shipped.request(insurer_a.THIRD_PARTY)
        policy = buying.sell(session, insurer_a.THIRD_PARTY, request, seller).policy_id
    assert finance.do(deciding.approve, cancel(finance, policy, by="sade"), ACCOUNT, by="femi") == "Approved"


def test_an_e_mail_that_was_endorsed_away_is_still_whose_refund_it_is(finance: Finance, partner: Partner) -> None:
    """The customer bought for somebody else, who works in finance."""
    policy = sold(finance, partner, at=NOW - timedelta(days=30))
    with finance.store.writing(Scope.system()) as session:
        row = session.get_one(Policy, policy)
        row.email = "femi@f.example"
        row.submitted = {**row.submitted, "email": "femi@f.example"}
    given: dict[str, Any] = {"effective_on": clock.today(), "reason": "Another address", "requested_by": "The customer"}
    changed = {"email": "another@else.example"}
    finance.do(endorsing.endorse, policy, changed, **given, expected_version=1, by="oye")
    note = cancel(finance, policy, version=2)
    with pytest.raises(NotAllowed, match=OWN):
        finance.do(deciding.approve, note, ACCOUNT, by="femi")
    finance.do(deciding.approve, note, ACCOUNT, by="wale")


def close(finance: Finance, month: date) -> None:
    """Close a month with all its papers."""
    for party, _ in finance.read(statements.list_due, month):
        made = finance.do(statements.prepare, party, month, by="funmi", without_withholding=True)
        for to in ("Approved", "Sent"):
            finance.do(statements.move, made, to, by="femi")
    for provider_id, _, kind in finance.read(bordereaux.list_due, month):
        finance.do(bordereaux.issue, provider_id, kind, month, by="funmi")
    with clock.freeze(clock.now() + timedelta(seconds=1)):
        finance.do(closing.begin, month, by="funmi")
        finance.do(closing.close, month, by="femi", note=NOTE)


@pytest.fixture
def closed(store: Store) -> tuple[Finance, date]:
    """A sound store, whose first month was closed."""
    demonstration_copy(store, purchases=60, seed=3, until=NOW)
    finance = Finance(store)
    first = finance.read(statement_reading.list_months)[-1]
    close(finance, first)
    return finance, first


def get_seller(finance: Finance, month: date) -> Distributor:
    """A distributor that sold in a month."""
    last = clock.add_days(clock.add_months(month, 1), -1)
    name = finance.rows(from_=str(month), to=str(last))[0].distributor
    with finance.store.reading(Scope.system()) as session:
        row = session.execute(sa.select(Distributor).where(col(Distributor.business_name) == name)).scalar_one()
        session.expunge(row)
    return row


def test_no_new_name_and_no_terms_of_before_change_a_month_that_was_closed(closed: tuple[Finance, date]) -> None:
    finance, first = closed
    seller = get_seller(finance, first)
    before = finance.read(journal.list_entries, first)
    with clock.freeze(NOW + timedelta(days=1)):
        renamed = {"name": "Another Name Ltd", "email": seller.email}
        finance.do(catalogue_changes.change_distributor, seller.id, renamed, seen_at=seller.updated_at, by="root")
        terms = {"number": "AG/9", "starts_on": str(first), "collects": "distributor"}
        with pytest.raises(InvalidInput, match="or the close of the month, is by the terms of before"):
            finance.agree(Party("distributor", seller.id), terms)
        assert finance.faults(JOURNAL) == []
        assert finance.read(journal.list_entries, first) == before
        # Two people who reopen it close it by what is known by then.
        finance.do(closing.ask_reopening, first, by="funmi", note="The distributor held the premium")
        assert finance.faults(JOURNAL) == []
        finance.do(closing.reopen, first, by="femi")
        with finance.reading() as session:
            stated = sa.select(Statement.id).where(Statement.distributor_id == seller.id)
            (statement,) = session.execute(stated).scalars()
        reversal = finance.do(statements.reverse, statement, reason="The distributor held the premium", by="funmi")
        finance.do(statements.move, reversal, "Approved", by="wale")
        finance.agree(Party("distributor", seller.id), terms)
        assert finance.read(journal.list_entries, first) != before


def test_what_is_noted_late_of_a_month_that_was_closed_is_in_the_journal_of_the_next(
    finance: Finance, partner: Partner, party: Party
) -> None:
    """A receipt is noted with any day of the past."""
    october, november = date(2026, 10, 1), date(2026, 11, 1)
    with clock.freeze(NOW - timedelta(days=60)):
        finance.agree(party, {**TERMS, "collects": "distributor"})
    sold(finance, partner, at=NOW.replace(month=10, day=10))
    close(finance, october)
    before = finance.read(journal.list_entries, october)
    with clock.freeze(NOW + timedelta(hours=1)):
        given = {"amount": "100", "bank_reference": "IN/1", "value_on": "2026-10-31"}
        finance.do(settlement.approve_receipt, finance.do(settlement.receive, party, given, by="funmi"), by="femi")
        assert finance.faults(JOURNAL) == []
        assert finance.read(journal.list_entries, october) == before
        late = [each for each in finance.read(journal.list_entries, november) if each.account == journal.BANK]
        assert [(each.on, each.amount_minor, each.reference) for each in late] == [
            (november, 10_000, "2026-10-31 payment IN/1")
        ]
        # Once the month is open again it has what is of its days.
        finance.do(closing.ask_reopening, october, by="funmi", note="A payment of it was noted late")
        finance.do(closing.reopen, october, by="femi")
        assert len(finance.read(journal.list_entries, october)) == len(before) + 2
        assert not [each for each in finance.read(journal.list_entries, november) if each.account == journal.BANK]


def test_an_erasure_seals_the_journal_that_has_a_late_payment_with_the_person_in_its_reference(
    finance: Finance, partner: Partner, party: Party
) -> None:
    with clock.freeze(NOW - timedelta(days=60)):
        finance.agree(party, {**TERMS, "collects": "distributor"})
    policy = sold(finance, partner, at=NOW.replace(month=10, day=10))
    close(finance, date(2026, 10, 1))
    with finance.store.writing(Scope.system()) as session:
        person = session.get_one(Policy, policy).customer_id
        session.change(Customer, col(Customer.id) == person, phone_number="+2348099887766")
    with clock.freeze(NOW + timedelta(hours=1)):
        given = {"amount": "100", "bank_reference": "FROM 08099887766", "value_on": "2026-10-31"}
        finance.do(settlement.approve_receipt, finance.do(settlement.receive, party, given, by="funmi"), by="femi")
    with clock.freeze(NOW + timedelta(days=20)):
        close(finance, date(2026, 11, 1))
        entry = {"id": str(ids.new()), "number": "ER-2", "record_class": "person", "customers": [str(person)]}
        with finance.store.writing(Scope.system()) as session:
            remembering.apply_again(session, [entry | {"decided_at": clock.to_wire(clock.now()), "sha256": "a" * 64}])
        printed = finance.read(journal.list_entries, date(2026, 11, 1))
        assert "2026-10-31 payment FROM [erased]" in {each.reference for each in printed}
        assert finance.faults(JOURNAL) == []


def test_no_month_is_open_before_one_that_is_closed(finance: Finance, partner: Partner) -> None:
    """The reopening of the later one is asked for and given up again, or its closing is begun before."""
    september, october = date(2026, 9, 1), date(2026, 10, 1)
    sold(finance, partner, at=NOW.replace(month=9, day=10))
    close(finance, september)
    with clock.freeze(NOW + timedelta(hours=1)):
        finance.do(closing.begin, october, by="funmi")
        finance.do(closing.ask_reopening, september, by="funmi", note="A payment of it was noted late")
        finance.do(closing.reopen, september, by="femi")
        with pytest.raises(StateForbids, match="September 2026 comes first"):
            finance.do(closing.close, october, by="femi", note=NOTE)
        finance.do(closing.give_up, october, by="femi")
    for month in (september, october):
        with clock.freeze(NOW + timedelta(hours=2)):
            close(finance, month)
    with clock.freeze(NOW + timedelta(hours=3)):
        finance.do(closing.ask_reopening, october, by="funmi", note="A payment of it was noted late")
        finance.do(closing.ask_reopening, september, by="funmi", note="A payment of it was noted late")
        with pytest.raises(StateForbids, match="A later month is closed: it is reopened first"):
            finance.do(closing.reopen, september, by="femi")
        finance.do(closing.give_up, october, by="funmi")
        assert finance.faults(JOURNAL) == []


def test_the_month_close_lists_planned_rates_that_one_admin_withdrew(finance: Finance) -> None:
    """Two admins end a campaign, and one of them lets it go on."""

    def look() -> ProductDetail:
        with finance.store.reading(Scope.system()) as session:
            return product_list.get_product(session, CAR)

    with clock.freeze(NOW.replace(month=9, day=20)):
        begun: dict[str, Any] = {"start": look().latest.id, "effective_at": clock.lagos_midnight(date(2026, 10, 10))}
        proposal = finance.do(rate_changes.propose, CAR, {"price": "16000"}, **begun, seen=look().version, by="root")
        version = finance.do(rate_changes.confirm, CAR, proposal, seen=look().version, by="second")
        finance.do(rate_changes.withdraw, CAR, version, seen=look().version, by="root")
    checks = {check.key: check for check in finance.read(closing.run, date(2026, 10, 1))}
    (row,) = checks["rates"].rows
    assert row.endswith(", from 2026-10-10: withdrawn on 2026-09-20")
