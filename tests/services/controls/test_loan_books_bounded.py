"""Chains over loan books: a limit in parts, and loans that are said to have ended long ago (contract B3, B5)."""

from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from sqlmodel import col

from core import clock, money
from core.covers.credit_life import CREDIT_LIFE
from core.dispatch import loan_books as worker
from core.errors import NotAllowed, StateForbids
from core.services.catalogue import key_admin, keys
from core.services.finance.credit_notes import deciding, sellers
from core.services.finance.credit_notes import reading as credit_note_reading
from core.services.people.staff import Person
from core.services.selling import buying
from core.services.selling.loan_books import books
from core.store.access import Scope, Store
from core.store.schema.tables import Distributor, Staff
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.finance_office import ACCOUNT, Finance
from tests.services.loan_books import Lender, as_csv, exits_csv, loan, person
from tests.services.sign_in_links import choose_by_link

pytestmark = pytest.mark.frozen_at(shipped.STILL)

SOLD_AND_ENDED = "What one person sold and ended, two approve to give back"


def test_a_limit_is_not_split_over_several_books_of_a_lender(store: Store, partner: Partner, stranger: Partner) -> None:
    lender, head = Lender(store, partner), person(store, "supervisor", "head")
    one, two = (person(store, "operations", name, claim_limit="600") for name in ("one", "two"))
    lender.carry_out(lender.read(as_csv([loan(1)]), by=head), one)
    second = lender.read(as_csv([loan(2)]), by=head)
    premium = money.format_naira(money.to_minor(Decimal(second.preview["premium"])))
    for by in (one, two):
        with pytest.raises(
            NotAllowed, match=f"{premium} with the ₦.* confirmed for this lender within 30 days takes a"
        ):
            lender.confirm(second, by)
    Lender(store, stranger).carry_out(Lender(store, stranger).read(as_csv([loan(1)]), by=head), one)
    other = person(store, "supervisor", "other")
    choose_by_link(store, head, by=other, days_ago=0)
    with pytest.raises(NotAllowed, match="One of you and Head, who uploaded this loan book, has a password by a link"):
        lender.confirm(second, other)
    lender.carry_out(second, person(store, "supervisor", "third"))
    # What somebody confirmed under a limit counts as such, also once they are a supervisor.
    with store.writing(Scope.system()) as session:
        session.change(Staff, col(Staff.id) == one.id, roles=["supervisor"])
    fourth = lender.read(as_csv([loan(4)]), by=head)
    with pytest.raises(NotAllowed, match="confirmed for this lender within 30 days takes a"):
        lender.confirm(fourth, two)
    with clock.freeze(clock.now() + timedelta(days=31)):
        lender.confirm(lender.read(as_csv([loan(3)]), by=head), two)


def test_a_lenders_key_ends_no_loans_of_long_ago(store: Store, partner: Partner) -> None:
    """Covered for months without a loss, a lender would say that the loans had ended at their beginning."""
    lender, by = Lender(store, partner, is_live=True), person(store, "admin", "ada")
    started = {"loan_start_date": "2026-05-20", "loan_amount": "100000"}
    lender.carry_out(lender.read(as_csv([loan(number, **started) for number in range(2)])), by)
    late, soon = (
        lender.read(exits_csv([(account, day, "refinanced")]), "exits.csv", kind="exits")
        for account, day in (("LN-000000", "2026-08-21"), ("LN-000001", "2026-11-01"))
    )
    with pytest.raises(NotAllowed, match="ended on 21 Aug 2026, more than 60 days ago: the desk confirms it"):
        lender.confirm(late)
    lender.confirm(late, by)
    lender.confirm(soon)


def test_nothing_is_sold_of_a_book_or_at_the_desk_for_a_lender_that_was_switched_off(
    store: Store, partner: Partner
) -> None:
    """Its keys are refused; a book that was confirmed before went on."""
    lender, by = Lender(store, partner), person(store, "supervisor", "head")
    book = lender.read(as_csv([loan(1)]), by=person(store, "operations", "ada"))
    lender.confirm(book, by)
    switch(store, partner, active=False)
    worker.work(store)
    held = lender.get(book.id)
    assert (held.state, held.done_rows) == ("paused", 0)
    assert str(held.refusal).startswith("This distributor is switched off")
    at_desk = replace(partner.seller(), actor=by.actor, source="desk")
    with store.writing(partner.scope()) as session, pytest.raises(StateForbids, match="is switched off"):
        buying.sell(session, CREDIT_LIFE, shipped.request(CREDIT_LIFE), at_desk)
    switch(store, partner, active=True)
    with store.writing(partner.scope()) as session:
        books.resume(session, book.id, actor=by.actor)
    worker.work(store)
    assert (lender.get(book.id).state, lender.get(book.id).done_rows) == ("done", 1)


def test_nobody_confirms_what_was_uploaded_in_the_name_of_a_resting_colleague(store: Store, partner: Partner) -> None:
    lender, head = Lender(store, partner), person(store, "supervisor", "head")
    ada = person(store, "operations", "ada")
    with store.writing(Scope.system()) as session:
        session.get_one(Staff, ada.id).approves_from = clock.now() + timedelta(hours=24)
    book = lender.read(as_csv([loan(1)]), by=ada)
    with pytest.raises(StateForbids, match="It was made by Ada, who had just been given a password by somebody else"):
        lender.confirm(book, head)
    with clock.freeze(clock.now() + timedelta(hours=25)):
        lender.confirm(book, head)


@pytest.mark.parametrize("lost", [{"disabled_at": shipped.STILL}, {"roles": ["finance"]}], ids=["disabled", "no role"])
def test_nobody_confirms_what_somebody_uploaded_who_could_not_upload_it_today(
    store: Store, partner: Partner, lost: dict[str, Any]
) -> None:
    """One person alone would stand behind what is sold, or what goes back."""
    lender, head = Lender(store, partner), person(store, "supervisor", "head")
    ada = person(store, "operations", "ada")
    book, other = (lender.read(as_csv([loan(number)]), by=by) for number, by in ((1, ada), (2, head)))
    with store.writing(Scope.system()) as session:
        session.change(Staff, col(Staff.id) == ada.id, **lost)
    with pytest.raises(StateForbids, match=r"Ada, who uploaded this loan book, .*: give it up, and upload it anew"):
        lender.confirm(book, head)
    lender.confirm(other, person(store, "supervisor", "other"))


@pytest.mark.both_databases
def test_who_issued_the_key_that_ended_a_loan_does_not_alone_approve_its_refund(store: Store, partner: Partner) -> None:
    """An admin ends the loans of a lender in its name, and would approve what goes back, to an account of a friend."""
    lender, finance = Lender(store, partner, is_live=True), Finance(store)
    root, second = finance.people["root"], finance.people["second"]
    started = {"loan_start_date": "2026-05-20", "loan_amount": "100000"}
    lender.carry_out(lender.read(as_csv([loan(number, **started) for number in range(3)])), second)
    lender.key = issue(store, root)
    by_key = lender.carry_out(lender.read(exits_csv([("LN-000000", "2026-11-01", "refinanced")]), kind="exits"))
    assert by_key.done_rows == 1
    at_desk = lender.read(exits_csv([("LN-000001", "2026-11-02", "refinanced")]), kind="exits")
    with pytest.raises(NotAllowed, match="You issued the key that uploaded this loan book: somebody else confirms it"):
        lender.confirm(at_desk, root)
    lender.carry_out(at_desk, second)
    lender.key = issue(store, "command line, eve at desk-1")
    lender.carry_out(lender.read(exits_csv([("LN-000002", "2026-11-02", "refinanced")]), kind="exits"))
    for note in finance.read(credit_note_reading.list_unpaid, clock.now() + timedelta(days=1)):
        account = {**ACCOUNT, "payee_account": f"012345678{note.number[-1]}"}
        assert finance.do(deciding.approve, note.id, account, by="root") == "Awaits second person", note.number
        assert finance.do(deciding.approve, note.id, account, by="femi") == "Approved"


def test_who_uploaded_the_loans_of_a_book_does_not_alone_approve_what_goes_back_of_them(
    store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Borrowers that there are not are covered by the word of another, ended by a third, and come back to their maker.

    By the desk, and by a key that an admin issued.
    """
    lender, finance = Lender(store, partner, is_live=True), Finance(store)
    root, oye, second, sade = (finance.people[name] for name in ("root", "oye", "second", "sade"))
    started = {"loan_start_date": "2026-05-20", "loan_amount": "100000"}
    lender.key = issue(store, root)
    for number, (seller, ender) in enumerate(
        ((root, oye), (None, oye), (oye, oye), (oye, root), (None, oye), (oye, oye)),
    ):
        lender.carry_out(lender.read(as_csv([loan(number, **started)]), by=seller), second)
        exits = exits_csv([(f"LN-00000{number}", "2026-11-01", "refinanced")])
        lender.carry_out(lender.read(exits, by=ender, kind="exits"), sade)
    notes = finance.read(credit_note_reading.list_unpaid, clock.now() + timedelta(days=1))
    keys = [note.id for note in sorted(notes, key=lambda note: note.number)]

    def approve(number: int, by: str) -> str:
        state: str = finance.do(
            deciding.approve, keys[number], {**ACCOUNT, "payee_account": f"012345678{number}"}, by=by
        )
        return state

    # Root made the first two; Oye the third, which she ended too.
    assert {approve(0, "root"), approve(1, "root"), approve(2, "femi")} == {"Awaits second person"}
    assert {approve(0, "femi"), approve(3, "femi")} == {"Approved"}
    assert finance.faults(SOLD_AND_ENDED) == []
    # As a version without the rule did it.
    monkeypatch.setattr(sellers, "has_part", lambda *_: False)
    assert {approve(4, "root"), approve(5, "femi")} == {"Approved"}
    sold, ended = (fault.partition("was approved by ")[2] for fault in finance.faults(SOLD_AND_ENDED))
    assert sold == "Root alone, who had sold the policy, or issued the key or made the link of who did"
    assert ended == "Femi alone, of a policy that oye@f.example had sold and ended"


def issue(store: Store, by: Person | str) -> str:
    """A key of the lender, as the log names it."""
    fields = {"distributor": "Swift Lenders", "mode": "live", "name": "Counter"}
    actor = by if isinstance(by, str) else by.actor
    with store.writing(Scope.system()) as session:
        return keys.authenticate(session, key_admin.issue_unasked(session, fields, actor=actor).key).actor


def switch(store: Store, partner: Partner, *, active: bool) -> None:
    with store.writing(Scope.system()) as session:
        session.get_one(Distributor, partner.id).active = active
