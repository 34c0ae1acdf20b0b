"""Approvals of statements, payouts, rates and shares are of what was approved, by who may (contract K3, K13)."""

from dataclasses import replace
from datetime import date, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

import pytest
import sqlalchemy as sa
from alembic import command
from sqlmodel import col

from core import clock, ids
from core.covers.insurers import insurer_a
from core.desk import closing
from core.errors import NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.catalogue import product_list, rate_changes, share_changes
from core.services.finance.parties import Party
from core.services.finance.payments import payouts, settlement
from core.services.finance.payments import reading as payment_reading
from core.services.finance.statements import statements
from core.services.people import staff
from core.services.selling import buying
from core.store.access import Scope
from core.store.schema import migrating
from core.store.schema.tables import Approval, CommissionShare, Distributor, Product, ProductVersion, Statement
from tests.conftest import Partner
from tests.covers import shipped
from tests.portfolio import NOW, Portfolio, Sales
from tests.services.finance_office import LIVE, Finance, change, pay_out, state
from tests.services.sign_in_links import choose_by_link

pytestmark = pytest.mark.frozen_at(NOW)

# Rules of the check.
AS_APPROVED = "Every statement and payout is what was approved"
RATES = "Every rate is what two admins confirmed"
SHARES = "Every share of a distributor is what two admins confirmed"
SEPTEMBER = date(2026, 9, 1)


@pytest.fixture
def sales() -> Sales:
    return Sales(fixture="finance", of_partner=(Portfolio(seed=24, size=60),))


@pytest.fixture
def finance(store: Any, partner: Partner) -> Finance:
    return Finance(store)


def disable(finance: Finance, name: str) -> None:
    finance.do(staff.disable, f"{name}@f.example", actor="tests")


def test_a_statement_whose_approver_left_is_not_sent_before_another_approves_it(finance: Finance, party: Party) -> None:
    pay_out(finance, party)
    stated = state(finance, party, SEPTEMBER, "Approved")
    with pytest.raises(StateForbids, match="The approval stands"):
        finance.do(statements.move, stated, "Approved", by="wale")
    disable(finance, "femi")
    lapsed = "The approval lapsed: the account of Femi, who approved, is disabled. It needs a new approval."
    with pytest.raises(StateForbids, match=lapsed):
        finance.do(statements.move, stated, "Sent", by="wale")
    wale, funmi = (finance.people[name] for name in ("wale", "funmi"))
    assert [each.label for each in finance.read(statements.list_allowed, stated, wale)] == ["Approve again"]
    assert finance.read(statements.list_allowed, stated, funmi) == []
    with pytest.raises(NotAllowed, match="You prepared this statement"):
        finance.do(statements.move, stated, "Approved", by="funmi")
    finance.do(statements.move, stated, "Approved", by="wale")
    finance.do(statements.move, stated, "Sent", by="wale")
    with finance.store.reading(Scope.system()) as session:
        log = audit.list_history(session, f"statement {stated}")
    assert {each.action for each in log} >= {"statement Sent refused", "statement Approved refused"}
    assert finance.money_faults() == []


def test_what_somebody_prepared_who_has_left_since_is_not_approved(finance: Finance, party: Party) -> None:
    """Payouts and receipts of somebody who was found out and disabled are approved together, unseen."""
    (paid,) = finance.read(payment_reading.list_of_batch, pay_out(finance, party))
    finance.do(settlement.return_payment, paid.id, {"returned_on": str(NOW.date()), "reason": "Refused"}, by="femi")
    again = finance.do(payouts.prepare, {party: None}, by="funmi")
    disable(finance, "funmi")
    gone = "Funmi, who prepared this payout, is disabled: give it up, and make it anew"
    assert finance.read(payouts.find_refusal_to_approve, again, finance.people["wale"]) == gone
    with pytest.raises(StateForbids, match=gone):
        finance.do(payouts.approve, again, by="wale")
    finance.do(payouts.withdraw, again, reason="Its preparer has left", by="wale")
    finance.do(payouts.approve, finance.do(payouts.prepare, {party: None}, by="wale"), by="second")


def test_nobody_approves_a_payout_to_a_party_of_their_own(finance: Finance, party: Party) -> None:
    """It became their own after the payout was prepared."""
    (paid,) = finance.read(payment_reading.list_of_batch, pay_out(finance, party))
    finance.do(settlement.return_payment, paid.id, {"returned_on": str(NOW.date()), "reason": "Refused"}, by="wale")
    again = finance.do(payouts.prepare, {party: None}, by="funmi")
    with finance.store.writing(Scope.system()) as session:
        session.get_one(Distributor, party.id).email = "Femi@F.example"
    with pytest.raises(NotAllowed, match="It has your own e-mail, phone or account"):
        finance.do(payouts.approve, again, by="femi")


def test_a_payout_of_which_a_payment_came_back_is_not_approved_anew(finance: Finance, party: Party) -> None:
    batch = pay_out(finance, party)
    (paid,) = finance.read(payment_reading.list_of_batch, batch)
    finance.do(settlement.return_payment, paid.id, {"returned_on": str(NOW.date()), "reason": "Refused"}, by="second")
    disable(finance, "femi")
    with pytest.raises(StateForbids, match="superseded: 1 payment of it came back"):
        finance.do(payouts.approve_anew, batch, by="wale")


def test_a_payout_that_was_prepared_in_the_name_of_a_resting_colleague_waits(finance: Finance, party: Party) -> None:
    (paid,) = finance.read(payment_reading.list_of_batch, pay_out(finance, party))
    finance.do(settlement.return_payment, paid.id, {"returned_on": str(NOW.date()), "reason": "Refused"}, by="femi")
    resting = finance.rest("funmi", NOW + timedelta(hours=24))
    again = finance.do(payouts.prepare, {party: None}, by=resting)
    with pytest.raises(StateForbids, match="It was made by Funmi, who had just been given a password by somebody else"):
        finance.do(payouts.approve, again, by="wale")


def test_nobody_approves_a_statement_or_closes_a_month_made_in_the_name_of_a_resting_colleague(
    finance: Finance, party: Party
) -> None:
    """Whoever opened the link of a colleague would make both steps, of a reversal too."""
    pay_out(finance, party)
    made = "It was made by Funmi, who had just been given a password by somebody else"
    with clock.freeze(NOW + timedelta(hours=1)):
        finance.rest("funmi", NOW + timedelta(hours=24))
        stated = state(finance, party, SEPTEMBER)
        finance.do(closing.begin, date(2026, 8, 1), by="funmi")
        with pytest.raises(StateForbids, match=made):
            finance.do(statements.move, stated, "Approved", by="wale")
        with pytest.raises(StateForbids, match=made):
            finance.do(closing.close, date(2026, 8, 1), by="wale", note="Looked at all of them")
    with clock.freeze(NOW + timedelta(hours=25)):
        finance.do(statements.move, stated, "Approved", by="wale")


def test_a_payout_whose_approver_left_has_no_bank_file_before_another_approves_it(
    finance: Finance, party: Party
) -> None:
    batch = pay_out(finance, party)
    with pytest.raises(StateForbids, match="The approval stands"):
        finance.do(payouts.approve_anew, batch, by="wale")
    disable(finance, "femi")
    with pytest.raises(StateForbids, match="the account of Femi, who approved, is disabled"):
        finance.do(payouts.open_bank_file, batch, by="wale")
    with pytest.raises(NotAllowed, match="You prepared this"):
        finance.do(payouts.approve_anew, batch, by="funmi")
    finance.do(payouts.approve_anew, batch, by="wale")
    finance.do(payouts.open_bank_file, batch, by="funmi")
    assert finance.money_faults() == []


@pytest.mark.both_databases
def test_a_statement_that_was_changed_past_the_desk_is_found_and_nothing_is_paid_on_it(
    finance: Finance, party: Party
) -> None:
    pay_out(finance, party)
    stated = state(finance, party, SEPTEMBER, "Approved")
    more = {"opening_minor": Statement.opening_minor + 5_000_000, "closing_minor": Statement.closing_minor + 5_000_000}
    change(finance, "statement", "statement_figures", sa.update(Statement).where(Statement.id == stated).values(more))
    with finance.reading() as session:
        closing = session.get_one(Statement, stated).closing_minor
    difference = "the approved amount and the calculation were changed past the desk"
    with pytest.raises(StateForbids, match=difference):
        finance.do(statements.move, stated, "Sent", by="femi")
    with pytest.raises(StateForbids, match=f"is not what was approved: {difference}"):
        finance.do(statements.refuse_unapproved, [stated])
    (found,) = [each for each in finance.faults(AS_APPROVED) if difference in each]
    assert f"₦{Decimal(closing) / 100:,.2f}" in found


@pytest.mark.both_databases
def test_rates_and_shares_that_two_admins_did_not_confirm_are_found(finance: Finance, party: Party) -> None:
    tomorrow = rate_changes.earliest()
    share = finance.do(share_changes.propose, party.id, {"commission": "5", "starts_on": "2026-11-21"}, by="root")
    with finance.reading() as session:
        product = product_list.get_product(
            session, session.execute(sa.select(col(Product.id)).order_by(col(Product.id))).scalars().first()
        )
    given = {"start": product.versions[0].id, "effective_at": tomorrow, "seen": product.version}
    made = finance.do(rate_changes.propose, product.id, {"distributor_commission": "4"}, **given, by="root")
    finance.do(rate_changes.confirm, product.id, made, seen=product.version + 1, by="second")
    finance.do(share_changes.confirm, share, by="second")
    assert not [each for each in finance.faults() if "rates of" in each or "own share" in each or "% of" in each]
    with finance.store.writing(Scope.system()) as session:
        row = session.execute(sa.select(ProductVersion).where(ProductVersion.effective_at == tomorrow)).scalar_one()
        planted = {"id": ids.new(), "effective_at": tomorrow + timedelta(days=1), "distributor_commission_bp": 0}
        session.insert(ProductVersion(**{**row.model_dump(), **planted}))
        price = row.price_minor
    more = {"mca_commission_bp": 1}
    mine = sa.update(ProductVersion).where(ProductVersion.effective_at == tomorrow)
    change(finance, "product_version", "product_version_amounts", mine.values(more))
    of_share = sa.update(CommissionShare).where(col(CommissionShare.id) == share).values(commission_bp=9_900)
    change(finance, "commission_share", "commission_share_figures", sa.select(sa.literal(1)))
    change(finance, "commission_share", "commission_share_decision", of_share)
    found = [each for each in finance.faults(RATES) if each.startswith(f"the rates of {product.name} from ")]
    assert [each.partition(": ")[2] for each in found] == [
        "the tariff was changed past the desk",
        "nobody confirmed them",
    ]
    assert all(f"₦{Decimal(price) / 100:,.2f}" in each for each in found)
    (found_share,) = [each for each in finance.faults(SHARES) if "the percentage was changed past the desk" in each]
    assert found_share.startswith("99.00 % of ")


@pytest.mark.both_databases
def test_approvals_of_before_are_carried_over(finance: Finance, party: Party) -> None:
    batch: UUID = pay_out(finance, party)
    share = finance.do(share_changes.propose, party.id, {"commission": "5", "starts_on": "2026-11-21"}, by="root")
    finance.do(share_changes.confirm, share, by="second")
    change(finance, "approval", "approval_delete", sa.delete(Approval))
    assert len([each for each in finance.faults() if "was not given on this desk" in each]) == 4
    with finance.store.writers.begin() as connection:
        command.downgrade(migrating._config(connection), "0080")
    migrating.migrate(finance.store)
    assert not [each for each in finance.faults() if "on this desk" in each or "past the desk" in each]
    finance.do(payouts.open_bank_file, batch, by="wale")


def test_who_sold_at_the_desk_does_not_approve_the_commission_of_it(finance: Finance, partner: Partner) -> None:
    """A friend's firm is paid commission on premium that nobody paid, and a colleague who sells nothing looks at it."""
    party, seller = Party("distributor", partner.id), finance.people["wale"]
    with clock.freeze(NOW - timedelta(days=90)), finance.store.writing(LIVE) as session:
        at_desk = replace(partner.seller(is_live=True), actor=seller.actor, source="desk")
        request = shipped.request(insurer_a.THIRD_PARTY)
        buying.sell(session, insurer_a.THIRD_PARTY, request, at_desk)
    made = state(finance, party, date(2026, 8, 1))
    with pytest.raises(NotAllowed, match="You sold or renewed at the desk what it states a commission of"):
        finance.do(statements.move, made, "Approved", by="wale")
    # Nor does who made the password link of the seller; what a key sold is the distributor's.
    choose_by_link(finance.store, seller, by=finance.people["root"], days_ago=100)
    with pytest.raises(NotAllowed, match="One of you and Wale, who sold or renewed"):
        finance.do(statements.move, made, "Approved", by="root")
    finance.do(statements.move, made, "Approved", by="femi")
