"""Whoever made what a distributor is paid by a statement does not approve it: by loan books, and by ends (K3)."""

from datetime import date, timedelta
from typing import Any
from uuid import UUID

import pytest

from core import clock
from core.covers.insurers import insurer_a
from core.errors import NotAllowed
from core.services.finance.parties import Party
from core.services.finance.statements import statements
from core.services.policies import changes
from core.store.access import Store
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.finance_office import Finance
from tests.services.loan_books import Lender, as_csv, exits_csv, loan
from tests.services.selling import sell
from tests.services.sign_in_links import choose_by_link

pytestmark = pytest.mark.frozen_at(shipped.STILL)

NOVEMBER, DECEMBER = date(2026, 11, 1), date(2026, 12, 1)
LATER = timedelta(days=30)


@pytest.fixture
def finance(store: Store, partner: Partner) -> Finance:
    """A finance department of which two work at the desk too."""
    made = Finance(store)
    made.change_person("oye", roles=["operations", "finance"])
    made.change_person("sade", roles=["supervisor", "finance"])
    return made


def approve(finance: Finance, made: UUID, by: str) -> None:
    finance.do(statements.move, made, "Approved", by=by)


def state(finance: Finance, partner: Partner, month: date = NOVEMBER) -> UUID:
    party: dict[str, Any] = {"party": Party("distributor", partner.id), "month": month}
    made: UUID = finance.do(statements.prepare, **party, by="funmi", without_withholding=True)
    return made


def hold_premium(finance: Finance, partner: Partner) -> None:
    terms = {"number": "AG/1", "starts_on": "2026-01-01", "collects": "distributor"}
    finance.agree(Party("distributor", partner.id), terms)


def end(finance: Finance, policy_id: UUID, by: str) -> None:
    given = {"reason": "Sold the car", "by_insurer": True, "expected_version": 1}
    finance.do(changes.cancel, policy_id, **given, actor=finance.people[by].actor)


def test_who_uploaded_or_confirmed_a_loan_book_does_not_approve_the_commission_of_it(
    finance: Finance, store: Store, partner: Partner
) -> None:
    """A friend's firm is paid commission on loans that there are not."""
    lender = Lender(store, partner, is_live=True)
    book = lender.read(as_csv([loan(number) for number in range(3)]), by=finance.people["oye"])
    lender.carry_out(book, finance.people["sade"])
    with clock.freeze(clock.now() + LATER):
        made = state(finance, partner)
        for by in ("oye", "sade"):
            with pytest.raises(NotAllowed, match="You uploaded or confirmed a loan book that it states a commission"):
                approve(finance, made, by)
        # Nor does who made the password link of one of them.
        choose_by_link(store, finance.people["oye"], by=finance.people["root"], days_ago=100)
        with pytest.raises(NotAllowed, match="One of you and Oye, who uploaded or confirmed a loan book"):
            approve(finance, made, "root")
        approve(finance, made, "femi")


@pytest.mark.both_databases
def test_who_ended_a_policy_does_not_approve_that_its_distributor_has_the_premium_back(
    finance: Finance, store: Store, partner: Partner
) -> None:
    """A premium that it holds goes back by the statement alone: somebody else approves no credit note."""
    hold_premium(finance, partner)
    end(finance, sell(store, partner, insurer_a.THIRD_PARTY, is_live=True).policy_id, "oye")
    with clock.freeze(clock.now() + LATER):
        made = state(finance, partner)
        with pytest.raises(NotAllowed, match="You ended a policy of which it gives the distributor premium back"):
            approve(finance, made, "oye")
        choose_by_link(store, finance.people["oye"], by=finance.people["second"], days_ago=100)
        with pytest.raises(NotAllowed, match="One of you and Oye, who ended a policy"):
            approve(finance, made, "second")
        approve(finance, made, "femi")


def test_nor_does_who_uploaded_or_confirmed_the_loan_book_that_ended_it(
    finance: Finance, store: Store, partner: Partner
) -> None:
    hold_premium(finance, partner)
    lender, second = Lender(store, partner, is_live=True), finance.people["second"]
    started = {"loan_start_date": "2026-05-20", "loan_amount": "100000"}
    lender.carry_out(lender.read(as_csv([loan(0, **started)]), by=finance.people["root"]), second)
    exits = exits_csv([("LN-000000", "2026-11-01", "refinanced")])
    lender.carry_out(lender.read(exits, by=finance.people["oye"], kind="exits"), finance.people["sade"])
    with clock.freeze(clock.now() + LATER):
        made = state(finance, partner)
        for by in ("oye", "sade"):
            with pytest.raises(NotAllowed, match="You ended a policy of which it gives the distributor premium back"):
                approve(finance, made, by)
        approve(finance, made, "femi")


def test_who_ended_a_policy_of_which_only_commission_is_taken_back_approves_it(
    finance: Finance, store: Store, partner: Partner
) -> None:
    """The customer has it back by a credit note, which others approve: the platform holds the premium."""
    end(finance, sell(store, partner, insurer_a.THIRD_PARTY, is_live=True).policy_id, "oye")
    with clock.freeze(clock.now() + LATER):
        approve(finance, state(finance, partner), "oye")


def test_who_uploaded_the_loan_book_that_sold_it_approves_the_statement_of_a_month_in_which_another_ended_it(
    finance: Finance, store: Store, partner: Partner
) -> None:
    hold_premium(finance, partner)
    lender, second = Lender(store, partner, is_live=True), finance.people["second"]
    lender.carry_out(lender.read(as_csv([loan(0)]), by=finance.people["oye"]), finance.people["sade"])
    with clock.freeze(clock.now() + LATER):
        approve(finance, state(finance, partner), "femi")
        exits = exits_csv([("LN-000000", clock.today().isoformat(), "refinanced")])
        lender.carry_out(lender.read(exits, by=finance.people["root"], kind="exits"), second)
    with clock.freeze(clock.now() + 2 * LATER):
        made = state(finance, partner, DECEMBER)
        with pytest.raises(NotAllowed, match="You ended a policy"):
            approve(finance, made, "root")
        approve(finance, made, "oye")
