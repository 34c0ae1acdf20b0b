"""Loan books in a browser: one person uploads a file and reads what it holds, another one carries it out."""

import re
from datetime import timedelta
from pathlib import Path

import pytest
import sqlalchemy as sa
from playwright.sync_api import Page, expect
from sqlmodel import col

from core import clock
from core.store.access import Scope
from core.store.schema.tables import CreditNote, LoanBook
from tests.e2e.conftest import PATIENCE, Desk, Visit, settled, twice
from tests.papers import pdf
from tests.services.loan_books import as_csv, exits_csv, loan

# The worker is a process of its own that stands behind all others on a busy machine.
WORKED_WITHIN = 4 * PATIENCE
OPENED = "/loan_books?mode=test&lender=Swift+Lenders&loan_product=Credit+life%2C+single+premium"


def _upload(page: Page, name: str, content: bytes) -> None:
    """Drop a file on the screen, and open its book once it is read."""
    page.locator('input[type="file"]').first.set_input_files({"name": name, "mimeType": "text/csv", "buffer": content})
    expect(page.get_by_text(name)).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Read the file").click()
    page.get_by_role("link", name="Open the book that is being read").click()
    expect(page.get_by_role("heading", name=re.compile(f"{re.escape(name)} Validated"))).to_be_visible(
        timeout=WORKED_WITHIN
    )
    settled(page)


def _press(page: Page, words: str) -> Page:
    """Press the one button of a book with a hasty hand, and wait until it is done."""
    button = page.get_by_role("button", name=re.compile(words))
    twice(button)
    expect(page.get_by_role("heading", name=re.compile(r"\.csv Done"))).to_be_visible(timeout=WORKED_WITHIN)
    settled(page)
    return page


def _require_whole_list(page: Page, name: str) -> None:
    """Every column of the list stands in sight."""
    expect(page.get_by_role("link", name=name)).to_be_visible()
    expect(page.locator(".scroller.wide")).to_have_count(0)


def test_where_the_file_goes_is_seen_before_a_lender_is_chosen(visit: Visit) -> None:
    page = visit("operations", "/loan_books?mode=test")
    expect(page.get_by_text("The file: CSV or XLSX, up to 100,000 loans")).to_be_visible()
    expect(page.locator('input[type="file"]')).to_be_disabled()


@pytest.mark.exhaustive
def test_one_person_uploads_a_lenders_file_and_another_covers_and_ends_its_loans(visit: Visit, desk: Desk) -> None:
    began = str(clock.today() - timedelta(days=61))
    rows = [loan(number, loan_account_number=f"TWO-{number}", loan_start_date=began) for number in range(3)]
    rows[2]["loan_amount"] = "12,5"
    page = visit("operations", OPENED)
    page.get_by_label("Who at the lender attests its borrowers").fill("Ngozi Okafor")
    paper = {"name": "attestation.pdf", "mimeType": "application/pdf", "buffer": pdf(text="We know our borrowers")}
    page.locator('input[type="file"]').nth(1).set_input_files(paper)  # type: ignore[arg-type]
    expect(page.get_by_text("attestation.pdf")).to_be_visible()
    _upload(page, "two people.csv", as_csv(rows))
    expect(page.get_by_text("A value cannot be read")).to_be_visible()
    cover = "Cover 2 loans for ₦1,150.00; 1 borrower stays without cover"
    expect(page.get_by_role("button", name=cover)).to_be_disabled()
    expect(page.get_by_text("You uploaded this loan book: somebody else confirms it.")).to_be_visible()

    page = _press(visit("supervisor", page.url), re.escape(cover))
    with page.expect_download() as begun:
        page.get_by_role("link", name="Report, CSV").click()
    report = Path(begun.value.path()).read_text(encoding="utf-8-sig")
    assert ("TWO-0" in report, report.count("NOT COVERED")) == (True, 1), report

    page = visit("operations", OPENED)
    _require_whole_list(page, "two people.csv")
    page.get_by_role("button", name="Loans that ended").or_(page.get_by_role("radio", name="Loans that ended")).click()
    expect(page.get_by_label("Who at the lender attests its borrowers")).to_have_count(0)
    settled(page)
    _upload(page, "over.csv", exits_csv([["TWO-0", str(clock.today()), "settled_early"]]))
    _press(visit("supervisor", page.url), r"End 1 policy; ₦[\d.,]+ goes back")
    with desk.store.reading(Scope.staff(is_live=False)) as session:
        done = sa.select(col(LoanBook.done_rows), col(LoanBook.done_minor)).order_by(col(LoanBook.kind))
        covered, ended = session.execute(done.where(col(LoanBook.file_name).in_(["two people.csv", "over.csv"]))).all()
        notes = session.execute(sa.select(col(CreditNote.total_minor))).scalars().all()
    assert (covered.done_rows, ended.done_rows, ended.done_minor in notes) == (2, 1, True)
