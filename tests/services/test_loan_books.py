"""Loan books: a lender's file is read, previewed, confirmed by another person and sold, once (contract B1 to B6)."""

import csv
import io
from collections import Counter
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
import sqlalchemy as sa
from sqlmodel import col

from core import clock
from core.covers.credit_life import CREDIT_LIFE
from core.demo import accounts
from core.demo.papers import selling
from core.desk import store_check
from core.desk.queues import list_queues
from core.dispatch import loan_books as worker
from core.errors import InvalidInput, NotAllowed, StateForbids
from core.services.audit import log as audit
from core.services.finance import agreements
from core.services.finance.credit_notes import deciding
from core.services.finance.parties import Party
from core.services.people.staff import Person
from core.services.policies import certificates, changes, policies
from core.services.selling.loan_books import books, carrying_out, judging, reading, records
from core.store.access import Scope, Store
from core.store.schema.tables import (
    Agreement,
    AuditEntry,
    Certificate,
    CreditNote,
    Customer,
    LoanBook,
    LoanBookFile,
    LoanBookRow,
    Policy,
    Purchase,
    Refund,
    Staff,
    Submission,
)
from tests.conftest import Partner
from tests.covers import shipped
from tests.services.loan_books import HEADING, Lender, as_csv, exits_csv, loan, person
from tests.services.races import run_while_open
from tests.services.selling import sell

pytestmark = pytest.mark.frozen_at(shipped.STILL)
REDUCING = "01900000-0000-7000-8000-000000080103"
REFUSED = "loan book confirmation refused"
_SAME = ("purchase_id", "customer_id", "certificate_code", "policy_number", "number_key", "buyer_id")
_OF_DOOR = ("payment_channel", "request_source", "submitted", "payload", "risk_hash", "email", "phone")


def count(store: Store, entity: Any, *conditions: Any) -> int:
    with store.reading(Scope.system()) as session:
        return int(session.execute(sa.select(sa.func.count()).select_from(entity).where(*conditions)).scalar_one())


def faults(store: Store) -> list[str]:
    with store.reading(Scope.system()) as session:
        return store_check.list_faults(session)


@pytest.mark.both_databases
def test_a_book_is_sold_as_single_sales_are(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    given = shipped.body(CREDIT_LIFE)
    single = sell(store, partner, CREDIT_LIFE)
    borrower = loan(1, loan_amount=given["loan_amount"], loan_start_date=given["loan_start_date"], nin="12345678901")
    book = lender.read(as_csv([borrower, *(loan(number) for number in range(2, 100))], (*HEADING, "nin")))
    assert book.state == "validated", book.refusal
    assert (book.preview["valid"], book.preview["premium"]) == (99, "56925.00")
    assert len(book.preview["largest"]) == 10
    done = lender.carry_out(book)
    assert (done.state, done.done_rows, done.done_minor) == ("done", 99, 5_692_500)
    for entity in (Purchase, Policy, Certificate, Submission):
        assert count(store, entity) == 100
    assert count(store, AuditEntry, col(AuditEntry.action) == "policy sold") == 100
    with store.reading(partner.scope()) as session:
        line = lender.rows(book)[0]
        one, other = (session.get_one(Policy, each) for each in (single.policy_id, line.policy_id))
        names = set(Policy.model_fields) - {"id", "created_at", "updated_at", *_SAME, *_OF_DOOR}
        # What a book does not ask is left out; whatever else a sale writes is the same.
        differs = {name for name in names if getattr(one, name) != getattr(other, name)}
        assert differs <= {"first_name", "last_name", "dob", "sealed"}
        assert other.submitted["nin"] == "*******8901"
        assert "12345678901" not in f"{other.submitted} {line.cells} {line.facts}"
        assert records.find_line(session, other.id) == records.BookLine(
            book_id=book.id, file_name="loans.csv", month=book.month, line=2
        )
        batches = sa.select(col(Purchase.batch_id)).where(col(Purchase.id) != one.purchase_id).distinct()
        assert session.execute(batches).scalars().all() == [book.batch_id]
        assert policies.get_policy(session, other.id)["status"] == "active"
    assert count(store, LoanBookFile) == 0
    assert faults(store) == []


def test_one_code_decides_each_row_and_others_stand_beside_it(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    sell(store, partner, CREDIT_LIFE, loan_account_number="LN-000050", email="known@example.com")
    by = person(store, "admin", "ada").id
    with store.writing(Scope.system()) as session:
        terms = {"number": "A1", "starts_on": clock.add_days(clock.today(), -300), "account": "distributor"}
        session.insert(Agreement(id=by, distributor_id=partner.id, made_by=by, created_at=clock.now(), **terms))
    cases: dict[str, tuple[dict[str, Any], str | None, list[str]]] = {
        "valid": ({}, None, []),
        "missing": ({"last_name": ""}, "MISSING_REQUIRED", []),
        "malformed beside another": (
            {"loan_amount": "12,50", "date_of_birth": "2015-01-01"},
            "MALFORMED_VALUE",
            ["AGE_OUT_OF_BOUNDS"],
        ),
        "three decimals": ({"loan_amount": "1000.505"}, "MALFORMED_VALUE", []),
        "beyond exact numbers": ({"loan_account_number": "1.2346E+15"}, "MALFORMED_VALUE", []),
        "another order of dates": ({"loan_start_date": "10/11/2026"}, "MALFORMED_VALUE", []),
        "a day that is none": ({"loan_start_date": "2026-02-30"}, "MALFORMED_VALUE", []),
        "a tenure beyond": ({"loan_tenure_months": "121"}, "MALFORMED_VALUE", []),
        "a formula": ({"first_name": "=HYPERLINK(1)"}, "MALFORMED_VALUE", []),
        "a cell of 32,767 characters": ({"first_name": "a" * 32_767}, "MALFORMED_VALUE", []),
        "covered": (
            {"loan_account_number": "ln-0000 50", "email": "known@example.com"},
            "ALREADY_COVERED",
            ["BORROWER_HAS_OTHER_LOAN"],
        ),
        "in the future": ({"loan_start_date": "2026-11-21"}, "START_IN_FUTURE", []),
        "before the agreement": (
            {"loan_start_date": "2025-12-01", "loan_tenure_months": "24"},
            "BEFORE_AGREEMENT",
            [],
        ),
        "over": ({"loan_start_date": "2026-02-01", "loan_tenure_months": "3"}, "TERM_OVER", []),
        "too young": ({"date_of_birth": "2010-01-01"}, "AGE_OUT_OF_BOUNDS", []),
        "nothing": ({"loan_amount": "0.50"}, "AMOUNT_OUT_OF_BOUNDS", []),
        "zero": ({"loan_amount": "0"}, "AMOUNT_OUT_OF_BOUNDS", []),
        "above free cover": ({"loan_amount": "6000000"}, "ABOVE_FREE_COVER_LIMIT", []),
        "no contact": ({"email": "", "phone_number": ""}, None, ["CONTACT_MISSING"]),
        "a phone without its zero": ({"phone_number": "8031234567"}, None, ["LEADING_ZEROS_LOST"]),
        "a book's usual signs": ({"loan_amount": "₦ 1,200,000.00", "gender": "F"}, None, []),
        "far above the others": ({"loan_amount": "4000000"}, None, ["UNUSUAL_AMOUNT"]),
    }
    rows = [
        loan(number, **{"email": f"b{number}@example.com", **values})
        for number, (values, *_) in enumerate(cases.values())
    ]
    again = loan(0, email="again@example.com")
    usual = [loan(900 + number) for number in range(20)]
    book = lender.read(as_csv([*rows, again, *usual]), free_cover_limit="5000000")
    assert book.state == "validated", book.refusal
    found = lender.rows(book)
    codes = {case: (row.code, row.also) for case, row in zip(cases, found, strict=False)}
    assert codes == {case: (code, also) for case, (_, code, also) in cases.items()}
    assert (found[len(cases)].code, found[len(cases)].reason) == ("DUPLICATE_IN_FILE", "the same loan stands in line 2")
    reasons = {case: row.reason for case, row in zip(cases, found, strict=False)}
    assert reasons["zero"] == "loan_amount must be above zero for this product"
    assert book.preview["outcomes"] == {"referred": 1, "rejected": 17, "valid": 25}
    assert book.preview["codes"] == Counter(row.code for row in found if row.code)
    assert book.preview["warnings"] == Counter(code for row in found for code in row.also if code in judging.WARNINGS)


def test_somebody_else_confirms_within_their_limit_what_was_seen(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    maker, small = person(store, "supervisor", "maker"), person(store, "operations", "small", claim_limit="100")
    head = person(store, "supervisor", "head")
    book = lender.read(as_csv([loan(1), loan(2, loan_amount="0.01")]), by=maker)
    refused: list[tuple[Any, dict[str, Any], type[Exception], str]] = [
        (maker, {}, NotAllowed, "You uploaded this loan book"),
        (small, {}, NotAllowed, "takes a supervisor"),
        (None, {}, NotAllowed, "The desk uploaded"),
        (head, {"rows": 2}, StateForbids, "another one than was seen"),
        (head, {"premium": Decimal(1)}, StateForbids, "another one than was seen"),
        (head, {"preview_hash": "0" * 64}, StateForbids, "another one than was seen"),
        (head, {"accept": "all_or_nothing"}, StateForbids, "1 row cannot be carried out"),
    ]
    for by, seen, kind, words in refused:
        with pytest.raises(kind, match=words):
            lender.confirm(book, by, **seen)
    with store.reading(Scope.system()) as session:
        logged = [entry for entry in audit.list_history(session, f"loan_book {book.id}") if entry.action == REFUSED]
    assert [entry.actor for entry in logged][:2] == [maker.actor, small.actor]
    assert "You uploaded this loan book" in (logged[0].after or {})["refused"]
    assert len(logged) == len(refused)
    assert lender.carry_out(book, head).state == "done"
    with pytest.raises(StateForbids, match="that is done cannot become confirmed"):
        lender.confirm(book, head)


def test_a_lenders_key_confirms_up_to_what_its_agreement_allows(store: Store, partner: Partner) -> None:
    lender, by = Lender(store, partner, is_live=True), person(store, "admin", "ada")
    first = lender.read(as_csv([loan(1)]))
    with pytest.raises(NotAllowed, match=r"lets you confirm ₦0\.00"):
        lender.confirm(first)
    with store.writing(Scope.system()) as session:
        terms: dict[str, Any] = {"number": "A1", "starts_on": clock.add_days(clock.today(), -300)}
        terms |= {"account": "distributor", "distributor_id": partner.id, "made_by": by.id, "created_at": clock.now()}
        session.insert(Agreement(id=by.id, book_premium_minor=100_000, **terms))
    lender.carry_out(first)
    second = lender.read(as_csv([loan(2)]))
    with pytest.raises(NotAllowed, match=r"is ₦1,150\.00, of which your agreement lets you confirm ₦1,000\.00"):
        lender.confirm(second)
    assert lender.get(second.id).state == "validated"
    assert lender.carry_out(second, person(store, "supervisor", "head")).state == "done"


def test_a_book_is_compared_with_that_of_the_month_before(store: Store, partner: Partner) -> None:
    lender, head = Lender(store, partner), person(store, "supervisor", "head")
    first = lender.carry_out(lender.read(as_csv([loan(1), loan(2)]), month="2026-10"), head)
    assert first.state == "done"
    second = lender.read(as_csv([loan(number) for number in (3, 4, 5)]))
    assert second.preview["compared"] == {
        "month": "2026-10",
        "rows": 2,
        "premium": first.preview["premium"],
        "change_percent": 50.0,
        "premium_change_percent": 50.0,
        "is_unusual": True,
    }


@pytest.mark.both_databases
def test_what_moved_since_the_preview_is_read_again(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    book = lender.read(as_csv([loan(1), loan(2)]))
    sell(
        store,
        partner,
        CREDIT_LIFE,
        loan_account_number="ln-000002",
        email="z@example.com",
        loan_start_date="2026-11-10",
    )
    with pytest.raises(StateForbids, match="1 loan was covered since the preview"):
        lender.confirm(book)
    worker.work(store)
    again = lender.get(book.id)
    assert (again.state, again.preview["valid"]) == ("validated", 1)
    assert again.preview_hash != book.preview_hash
    assert lender.carry_out(again).done_rows == 1
    assert faults(store) == []


@pytest.mark.both_databases
def test_a_loan_in_two_books_at_once_is_covered_once(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    both = [lender.read(as_csv([loan(1), loan(number)])) for number in (2, 3)]
    for book in both:
        lender.confirm(book)
    worker.work(store)
    assert [lender.get(book.id).done_rows for book in both] == [2, 1]
    assert lender.codes(both[1]) == {"LN-000001": "ALREADY_COVERED", "LN-000003": None}
    assert count(store, Policy) == 3
    assert faults(store) == []


def test_the_same_file_again_names_the_first_book_until_it_is_given_up(store: Store, partner: Partner) -> None:
    lender, content = Lender(store, partner), as_csv([loan(1)])
    book = lender.read(content)
    with pytest.raises(StateForbids) as refused:
        lender.upload(content, "another name.csv")
    assert refused.value.detail == {"loan_book_id": str(book.id)}
    with store.writing(partner.scope()) as session:
        books.cancel(session, book.id, actor="tests")
    assert (count(store, LoanBookRow), count(store, LoanBookFile)) == (0, 0)
    later = lender.read(content)
    with clock.freeze(shipped.STILL + timedelta(days=7, seconds=1)):
        with pytest.raises(StateForbids, match="expired"):
            lender.confirm(later)
        worker.work(store)
        assert lender.get(later.id).state == "expired"
    assert count(store, LoanBookRow) == 0


@pytest.mark.both_databases
def test_a_worker_goes_on_behind_the_last_chunk_and_a_second_one_changes_nothing(
    store: Store, partner: Partner, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(carrying_out, "CHUNKS", {"sqlite": 3, "postgresql": 3})
    lender = Lender(store, partner)
    book = lender.read(as_csv([loan(number) for number in range(10)]))
    lender.confirm(book)
    lookups = iter([False] * 4)
    worker.work(store, lambda: next(lookups, True))
    assert (lender.get(book.id).state, count(store, Policy)) == ("selling", 6)
    system, states = Scope.system(), (worker.LoanBookState.SELLING,)
    job = store.transact(system, lambda session: reading.lease(session, states))
    assert job is not None
    assert store.transact(system, lambda session: reading.lease(session, states)) is None
    with store.reading(partner.scope()) as session:
        chunk = carrying_out.prepare(session, job.book, 3, after=job.book.done_to)
    scope = partner.scope()
    assert store.transact(scope, lambda session: carrying_out.carry_out(session, job, chunk)) is not None
    # Whoever prepared the same rows, or has lost the book, writes nothing.
    assert store.transact(scope, lambda session: carrying_out.carry_out(session, job, chunk)) is None
    assert count(store, Policy) == 9
    with store.writing(partner.scope()) as session:
        books.pause(session, book.id, actor="tests", reason="to be looked at")
    worker.work(store)
    assert count(store, Policy) == 9
    with store.writing(partner.scope()) as session:
        books.resume(session, book.id, actor="tests")
    worker.work(store)
    done = lender.get(book.id)
    assert (done.state, done.done_rows, count(store, Policy)) == ("done", 10, 10)
    assert faults(store) == []


@pytest.mark.both_databases
def test_exits_give_back_what_the_worked_figures_say(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    started = {"loan_start_date": "2026-05-20", "loan_amount": "100000"}
    lender.carry_out(lender.read(as_csv([loan(number, **started) for number in range(4)])))
    content = exits_csv(
        [
            ("ln-000000", "2026-11-20", "Settled early"),
            ("LN-000001", "2026-08-21", "refinanced"),
            ("LN-000002", "2026-11-20", "moved house"),
            ("LN-000003", "2026-05-19", "cancelled"),
            ("LN-000099", "2026-11-20", "cancelled"),
            ("LN-000000", "2026-11-20", "cancelled"),
            ("LN-000003", "", ""),
        ]
    )
    book = lender.read(content, "exits.csv", kind="exits")
    assert [row.code for row in lender.rows(book)] == [
        *(None, None, "UNKNOWN_REASON", "EXIT_OUTSIDE_COVER", "UNKNOWN_LOAN", "DUPLICATE_IN_FILE", "MISSING_REQUIRED")
    ]
    # 575.00 over 12 months, level: with 6 months left 287.50, with 8 whole ones left 383.33.
    assert (book.preview["valid"], book.preview["premium"]) == (2, "670.83")
    done = lender.carry_out(book)
    assert (done.done_rows, done.done_minor) == (2, 67_083)
    assert (count(store, Refund), count(store, CreditNote)) == (2, 2)
    assert count(store, Policy, col(Policy.cancelled_at).is_not(None)) == 2
    again = lender.read(content + b"\n", "exits.csv", kind="exits")
    assert [row.code for row in lender.rows(again)][:2] == ["ALREADY_ENDED"] * 2
    assert faults(store) == []


@pytest.mark.both_databases
def test_a_policy_that_is_cancelled_while_its_exit_waits_is_refunded_once(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    started = {"loan_start_date": "2026-05-20", "loan_amount": "100000"}
    lender.carry_out(lender.read(as_csv([loan(number, **started) for number in range(2)])))
    content = exits_csv([(f"ln-00000{number}", "2026-11-20", "Settled early") for number in range(2)])
    book = lender.read(content, "exits.csv", kind="exits")
    lender.confirm(book)
    first = lender.rows(book)[0].policy_id
    given: dict[str, Any] = {"reason": "Sold the car", "by_insurer": True, "actor": "staff femi@desk.example"}
    with store.writing(lender.scope) as session:
        changes.cancel(session, first, **given, expected_version=1)
    worker.work(store)
    (row, other), done = lender.rows(book), lender.get(book.id)
    assert ((row.outcome, row.code), other.outcome) == (("rejected", "ALREADY_ENDED"), "ended")
    assert (done.done_rows, done.done_minor) == (1, 28_750)
    assert (count(store, Refund, col(Refund.policy_id) == first), count(store, CreditNote)) == (1, 2)
    assert faults(store) == []


@pytest.mark.both_databases
def test_two_books_that_a_key_confirms_at_one_instant_are_within_the_month_together(
    store: Store, partner: Partner
) -> None:
    lender, by = Lender(store, partner, is_live=True), person(store, "admin", "ada")
    with store.writing(Scope.system()) as session:
        terms: dict[str, Any] = {"number": "A1", "starts_on": clock.add_days(clock.today(), -300)}
        terms |= {"account": "distributor", "distributor_id": partner.id, "made_by": by.id, "created_at": clock.now()}
        session.insert(Agreement(id=by.id, book_premium_minor=100_000, **terms))
    first, second = (lender.read(as_csv([loan(number)]), f"{number}.csv") for number in range(2))
    assert first.preview["premium"] == second.preview["premium"] == "575.00"
    given: dict[str, Any] = {"accept": "valid", "actor": "key tests"}
    refusal = run_while_open(
        store,
        lender.scope,
        lambda session: books.confirm_by_key(session, first.id, expected=lender.expected(first), **given),
        lambda: lender.confirm(second),
    )
    assert "With this book the premium of" in str(refusal)


def test_an_agreement_that_has_ended_lets_a_key_confirm_nothing(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner, is_live=True)
    by, second = (person(store, "admin", name) for name in ("ada", "eze"))
    with store.writing(Scope.system()) as session:
        session.execute(sa.update(Staff).values(confirms_from=None))
        terms = {"number": "A1", "starts_on": "2026-01-01", "ends_on": str(clock.today()), "book_premium": "5000"}
        made = agreements.add(session, Party("distributor", partner.id), terms, by=by)
        agreements.confirm(session, made, by=second)
    first, late = (lender.read(as_csv([loan(number)]), f"{number}.csv") for number in range(2))
    lender.confirm(first)
    with clock.freeze(clock.now() + timedelta(days=1)), pytest.raises(NotAllowed) as refusal:
        lender.confirm(late)
    assert "of which your agreement lets you confirm ₦0.00: the desk confirms it" in str(refusal.value)


def test_who_uploaded_the_book_that_ended_a_policy_has_no_part_in_its_refund(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    lender.carry_out(lender.read(as_csv([loan(0, loan_start_date="2026-05-20")])))
    limit = {"claim_limit": "1000000"}
    uploader, confirmer, first, second = (
        person(store, role, name, **limit)
        for role, name in (("operations", "Una"), ("operations", "Cole"), ("finance", "Femi"), ("finance", "Sola"))
    )
    uploader = replace(uploader, roles=("finance", "operations"))
    content = exits_csv([("LN-000000", "2026-11-20", "Settled early")])
    lender.carry_out(lender.read(content, "exits.csv", by=uploader, kind="exits"), by=confirmer)
    account = {"payee_bank": "First Bank", "payee_account": "0123456789"}
    paid = {"bank_reference": "TRF 1", "value_on": str(clock.today())}
    with store.reading(Scope.system()) as session:
        note_id = session.execute(sa.select(col(CreditNote.id))).scalar_one()

    def refuse(act: Any, typed: Any, by: Person, match: str) -> None:
        with pytest.raises(NotAllowed, match=match), store.writing(Scope.staff(is_live=False)) as session:
            act(session, note_id, typed, by=by)

    book = "You uploaded the loan book that ended this policy: somebody else of finance"
    refuse(deciding.approve, account, uploader, book)
    refuse(deciding.approve, account, confirmer, "Only finance works on credit notes")
    with store.writing(Scope.staff(is_live=False)) as session:
        deciding.approve(session, note_id, account, by=first)
    refuse(deciding.pay, paid, uploader, book)
    with store.writing(Scope.staff(is_live=False)) as session:
        deciding.pay(session, note_id, paid, by=second)
    with store.reading(Scope.system()) as session:
        log = [entry.action for entry in audit.list_history(session, f"credit_note {note_id}")]
    assert log.count("credit note payment refused") == 1
    assert faults(store) == []


def test_exits_on_the_reducing_basis_give_back_by_the_sum_of_digits(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    started = {"loan_start_date": "2026-05-20", "loan_amount": "100000"}
    sold = lender.read(as_csv([loan(number, **started) for number in range(2)]), product_id=REDUCING)
    assert sold.preview["premium"] == "7475.00"
    lender.carry_out(sold)
    exits = exits_csv([("LN-000000", "2026-11-20", "settled_early"), ("LN-000001", "2026-08-21", "written_off")])
    book = lender.read(exits, "exits.csv", kind="exits", product_id=REDUCING)
    # Of 3,737.50 over 12 months k(k + 1) / (n(n + 1)): with 6 months left 1,006.25, with 8 whole ones 1,725.00.
    assert [row.premium_minor for row in lender.rows(book)] == [100_625, 172_500]
    done = lender.carry_out(book)
    assert (done.done_rows, done.done_minor, count(store, CreditNote)) == (2, 273_125, 2)
    assert faults(store) == []


@pytest.mark.both_databases
def test_rows_without_a_policy_are_forgotten_when_the_report_was_kept_long_enough(
    store: Store, partner: Partner
) -> None:
    lender = Lender(store, partner)
    book = lender.carry_out(lender.read(as_csv([loan(1), loan(2, loan_tenure_months="2")])))
    last = clock.now() + books.ROWS_KEPT_FOR
    for at, rows in ((last, [2, 3]), (last + timedelta(seconds=1), [2]), (last + timedelta(days=1), [2])):
        with clock.freeze(at):
            store.transact(Scope.system(), books.forget_rows)
        assert [row.line for row in lender.rows(book)] == rows
    assert lender.get(book.id).preview["outcomes"] == {"rejected": 1, "valid": 1}
    assert count(store, AuditEntry, col(AuditEntry.action) == "loan book rows forgotten") == 1
    assert faults(store) == []


@pytest.mark.both_databases
@pytest.mark.parametrize("database", ["postgresql"])
def test_the_tables_of_a_book_are_measured_while_it_is_worked_at(store: Store, partner: Partner) -> None:
    """Measured by nobody, PostgreSQL reads all policies of the product for each chunk of the next one."""
    lender = Lender(store, partner)
    lender.carry_out(lender.read(as_csv([loan(number) for number in range(600)])))
    lender.carry_out(lender.read(as_csv([loan(number) for number in range(600, 630)])))
    with store.engine.connect() as connection:
        measured = connection.exec_driver_sql("SELECT reltuples FROM pg_class WHERE oid = 'policy'::regclass")
        # How many were committed when it was measured depends on how the chunks met.
        assert measured.scalar_one() > 0


def test_a_borrower_without_an_email_is_sent_none(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner, is_live=True)
    maker, head = person(store, "operations", "maker"), person(store, "supervisor", "head")
    book = lender.carry_out(lender.read(as_csv([loan(1, email="")])), head)
    policy_id = lender.rows(book)[0].policy_id
    assert policy_id
    with pytest.raises(InvalidInput, match="an address that takes e-mail"), store.writing(lender.scope) as session:
        certificates.send_certificate(session, policy_id, by=maker)
    with store.reading(Scope.system()) as session:
        assert {queue.name: (queue.queued, queue.dead) for queue in list_queues(session)}["E-mail"] == (0, 0)


def test_each_fault_of_a_sample_is_found(store: Store, partner: Partner) -> None:
    names = list(selling.FAULTS)
    book = Lender(store, partner).read(selling.build_sample(12 * len(names), names))
    faulty = [row for row in Lender(store, partner).rows(book) if row.code or row.also]
    assert [(row.line - 1) % 12 for row in faulty] == [0] * len(names)
    assert [row.code or row.also[0] for row in faulty] == [
        *(
            "MISSING_REQUIRED",
            "MALFORMED_VALUE",
            "MALFORMED_VALUE",
            "AGE_OUT_OF_BOUNDS",
            "START_IN_FUTURE",
            "TERM_OVER",
        ),
        *("DUPLICATE_IN_FILE", "LEADING_ZEROS_LOST", "CONTACT_MISSING"),
    ]


def test_the_demonstration_has_a_book_in_each_state_that_lasts(store: Store, partner: Partner) -> None:
    sell(store, partner, CREDIT_LIFE, is_live=True)
    with store.writing(Scope.system()) as session:
        accounts.add_accounts(session)
    live = Scope.staff(is_live=True)
    assert store.transact(live, selling.write_books) == 8
    assert store.transact(live, selling.write_books) == 0
    with store.reading(live) as session:
        states = [book.state for book in session.execute(sa.select(LoanBook).order_by(col(LoanBook.id))).scalars()]
    assert sorted(states) == sorted(["refused", "done", "done", "done", "paused", "cancelled", "expired", "validated"])
    assert faults(store) == []


@pytest.mark.both_databases
def test_a_snapshot_lists_what_is_missing_and_ends_nothing(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    lender.carry_out(lender.read(as_csv([loan(number) for number in range(3)])))
    book = lender.read(b"Loan Number\nLN-000000\nLN-000001\nLN-000077\n", "live.csv", kind="snapshot")
    assert book.state == "done"
    assert [row.outcome for row in lender.rows(book)] == ["insured", "insured", "uninsured"]
    assert book.preview["compared"] == {"uninsured": 1, "missing": 1, "missing_premium": "575.00"}
    with store.reading(partner.scope()) as session:
        missing = records.list_rows(session, book.id, records.Paging(1, 10), "missing")
        text = b"".join(records.csv_chunks(session, books.get(session, book.id))).decode()
    assert [row["loan_account_number"] for row in missing.items] == ["LN-000002"]
    assert text.splitlines()[-1].startswith("LN-000002,missing,")
    assert count(store, Policy, col(Policy.cancelled_at).is_(None)) == 3


def test_the_report_has_the_lenders_columns_and_runs_no_formula(store: Store, partner: Partner) -> None:
    lender, heading = Lender(store, partner), (*HEADING, "My remark", "code")
    rows = [loan(1, **{"My remark": "@SUM(A1)", "code": "x"}), loan(2, loan_tenure_months="2")]
    book = lender.carry_out(lender.read(as_csv(rows, heading)))
    assert book.unknown == ["My remark", "code"]
    with store.reading(partner.scope()) as session:
        text = b"".join(records.csv_chunks(session, books.get(session, book.id))).decode()
    first, second, third = text.splitlines()
    assert first == ",".join(
        [
            *HEADING,
            "My remark",
            "code (file)",
            *("outcome", "policy_number", "premium", "code", "reason", "also", "line"),
        ]
    )
    assert ",'@SUM(A1),x,covered," in second
    assert ",NOT COVERED,,,MALFORMED_VALUE,loan_tenure_months must be 3 to 120 months,,3" in third


@pytest.mark.parametrize("is_done", [False, True])
def test_the_amounts_of_a_report_add_up_to_the_book(store: Store, partner: Partner, *, is_done: bool) -> None:
    lender = Lender(store, partner)
    rows = [loan(1), loan(1), loan(2, email="no address"), loan(3, loan_amount="200000"), loan(4, loan_amount="900000")]
    book = lender.read(as_csv(rows), free_cover_limit="800000")
    book = lender.carry_out(book) if is_done else book
    with store.reading(partner.scope()) as session:
        text = b"".join(records.csv_chunks(session, book)).decode()
        page = records.list_rows(session, book.id, records.Paging(1, 10))
    amounts = [row["premium"] for row in csv.DictReader(io.StringIO(text))]
    assert amounts == ["575.00", "", "", "1150.00", ""] == [row["amount"] or "" for row in page.items]
    assert sum(Decimal(each or 0) for each in amounts) == Decimal(book.preview["premium"])


def test_the_amounts_of_exits_add_up_and_a_loan_twice_in_a_snapshot_is_not_called_uncovered(
    store: Store, partner: Partner
) -> None:
    lender = Lender(store, partner)
    lender.carry_out(lender.read(as_csv([loan(1), loan(2)])))
    ends = [["LN-000001", "2026-11-20", "settled_early"], ["LN-000002", "2026-11-20", "paid off"]]
    exits = lender.read(exits_csv(ends), "exits.csv", kind="exits")
    snapshot = lender.read(b"Loan Number\nLN-000001\nLN-000001\n", "live.csv", kind="snapshot")
    with store.reading(partner.scope()) as session:
        listed = records.list_rows(session, exits.id, records.Paging(1, 10)).items
        text = b"".join(records.csv_chunks(session, snapshot)).decode()
    assert [row["amount"] for row in listed] == [exits.preview["premium"], None]
    assert [line.split(",")[1] for line in text.splitlines()[1:3]] == ["covered", "not compared"]


def test_a_file_that_comes_again_is_told_which_book_has_it(store: Store, partner: Partner) -> None:
    lender, content = Lender(store, partner), as_csv([loan(1, loan_start_date="10/11/2026")])
    book = lender.read(content, "november.csv")
    day = clock.format_day(clock.today())
    with pytest.raises(StateForbids) as refusal:
        lender.upload(content, "other name.csv", date_format="DD/MM/YYYY")
    assert str(refusal.value) == (
        f"This very file was uploaded already, as november.csv on {day}; give that book up to have the file read in"
        " another way"
    )
    assert refusal.value.detail == {"loan_book_id": str(book.id)}
    done = as_csv([loan(2)])
    lender.carry_out(lender.read(done, "done.csv"))
    with pytest.raises(StateForbids, match=f"as done.csv on {day}$"):
        lender.upload(done)


def test_a_book_without_an_attestation_or_of_another_product_is_refused(store: Store, partner: Partner) -> None:
    lender = Lender(store, partner)
    cases: list[tuple[dict[str, Any], str]] = [
        ({"attested_by": None, "attestation_url": None}, "attested_by is required"),
        ({"product_id": "01900000-0000-7000-8000-000000010201"}, "product_id must be an active product"),
        ({"month": "2027-01"}, "month must be a month"),
        ({"benefit_coverage": "death,fire"}, "benefit_coverage"),
        ({"attested_on": "2026-12-01"}, "attested_on must not be in the future"),
        ({"attestation_url": "http://127.0.0.1:8501/v1/files/" + "a" * 26}, "attestation_url"),
    ]
    for details, words in cases:
        with pytest.raises(InvalidInput, match=words):
            lender.upload(as_csv([loan(1)]), **details)
    assert count(store, Customer) == 0
