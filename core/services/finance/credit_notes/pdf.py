"""Credit notes as PDF: one copy for the customer, and one for the insurer that says how each party bears it."""

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from core import clock, money
from core.services.finance import paper_pages
from core.services.finance.credit_notes.reading import CreditNoteRow
from core.services.finance.paper_pages import INK, LEFT, QUIET
from core.states.credit_notes import UNPAID, CreditNoteState

if TYPE_CHECKING:
    from fpdf import FPDF

# Commissions are no business of the customer's.
COPIES: Final = ("customer", "insurer")
_UNAPPROVED: Final = (CreditNoteState.COMPUTED, CreditNoteState.SECOND_PERSON)
_LABEL, _AMOUNT = 46.0, 40.0


def render(note: CreditNoteRow, copy: str) -> bytes:
    """Return the PDF of a credit note; `copy` is one of `COPIES`."""
    page = paper_pages.create(
        f"Credit note {note.number}",
        foot=f"Credit note {note.number} of {note.provider} · {note.id}",
        created_at=note.created_at,
    )
    issued = f"{clock.to_lagos_day(note.created_at):%d %B %Y}"
    paper_pages.head(page, title="Credit note", number=note.number, left=note.provider, right=issued)
    _lines(page, _parties(note))
    _total(page, note)
    _arithmetic(page, note)
    if copy == "insurer":
        _shares(page, note)
    paper_pages.heading(page, "Payment")
    _lines(page, _payment(note))
    if text := _find_stamp(note):
        paper_pages.stamp(page, text)
    return bytes(page.output())


def _parties(note: CreditNoteRow) -> list[tuple[str, str]]:
    term = "Cover never began"
    if note.term_start_at and note.term_end_at:
        days = (clock.to_lagos_day(note.term_start_at), clock.to_lagos_day(note.term_end_at))
        term = " to ".join(f"{day:%d %B %Y}" for day in days)
    return [
        ("To", note.customer),
        ("Policy", note.policy_number or "without a number"),
        ("Product", note.product),
        ("Insurer", note.provider),
        ("Sold by", note.distributor),
        ("Term", term),
        ("Ended on", f"{clock.to_lagos_day(note.created_at):%d %B %Y}"),
        ("Reason", note.reason),
    ]


def _payment(note: CreditNoteRow) -> list[tuple[str, str]]:
    if not note.is_live:
        return [("State", "Test mode: no money moves")]
    if note.state in _UNAPPROVED:
        return [("State", "Not approved yet")]
    if note.state == CreditNoteState.NOT_RECORDED:
        return [("State", "Made before payments of credit notes were noted")]
    if note.state == CreditNoteState.RETURNED:
        return [("State", "The bank returned the payment; it is paid once more")]
    if note.state in UNPAID:
        return [("State", "Not paid yet")]
    value = f"{note.value_on:%d %B %Y}" if note.value_on else ""
    return [("Paid to", note.payee or ""), ("Bank reference", note.reference or ""), ("Value date", value)]


def _lines(page: "FPDF", lines: list[tuple[str, str]]) -> None:
    for label, value in lines:
        page.set_font("Roboto", "", 9.5)
        page.set_text_color(QUIET)
        page.cell(_LABEL, 6, label)
        page.set_text_color(INK)
        wide = paper_pages.width_of(page) - _LABEL
        page.multi_cell(wide, 6, paper_pages.nfc(value), align="L", new_x="LMARGIN", new_y="NEXT")
    page.set_y(page.get_y() + 4)


def _total(page: "FPDF", note: CreditNoteRow) -> None:
    top, width = page.get_y(), paper_pages.width_of(page)
    page.set_fill_color("#F2F6F5")
    page.rect(LEFT, top, width, 14, style="F")
    page.set_xy(LEFT + 3, top)
    page.set_text_color(INK)
    page.set_font("Roboto", "", 11)
    page.cell(width / 2 - 3, 14, "Premium given back")
    page.set_font("Roboto", "B", 15)
    page.cell(width / 2 - 3, 14, money.format_naira(note.total_minor), align="R")
    page.set_xy(LEFT, top + 19)


def _arithmetic(page: "FPDF", note: CreditNoteRow) -> None:
    if not note.explained:
        return
    paper_pages.heading(page, "How it was computed")
    width = paper_pages.width_of(page)
    for step in note.explained:
        paper_pages.rule(page, width)
        top = page.get_y()
        page.set_font("Roboto", "", 9.5)
        page.set_text_color(INK)
        page.multi_cell(58, 6, paper_pages.nfc(step["step"]), align="L", new_x="LMARGIN", new_y="NEXT")
        bottom = page.get_y()
        page.set_xy(LEFT + 58, top)
        page.set_text_color(QUIET)
        wide = width - 58 - _AMOUNT
        page.multi_cell(wide, 6, paper_pages.nfc(step["working"]), align="L", new_x="LMARGIN", new_y="NEXT")
        bottom = max(bottom, page.get_y())
        page.set_xy(LEFT + width - _AMOUNT, top)
        page.set_text_color(INK)
        page.cell(_AMOUNT, 6, f"₦{Decimal(step['amount']):,.2f}", align="R")
        page.set_xy(LEFT, bottom)
    paper_pages.rule(page, width)
    page.set_y(page.get_y() + 5)


def _shares(page: "FPDF", note: CreditNoteRow) -> None:
    paper_pages.heading(page, "Borne by")
    width = paper_pages.width_of(page)
    shares = (
        (f"{note.provider}, insurer", note.parts.provider_share_minor),
        ("Platform, commission", note.parts.mca_profit_minor),
        (f"{note.distributor}, commission", note.parts.distributor_profit_minor),
        ("Together", note.parts.total_minor),
    )
    for label, minor in shares:
        paper_pages.rule(page, width)
        page.set_font("Roboto", "B" if label == "Together" else "", 9.5)
        page.set_text_color(INK)
        shown = paper_pages.fit(page.get_string_width, label, width - _AMOUNT - 2)
        page.cell(width - _AMOUNT, 6, shown)
        page.cell(_AMOUNT, 6, money.format_naira(minor), align="R", new_x="LMARGIN", new_y="NEXT")
    paper_pages.rule(page, width)
    page.set_y(page.get_y() + 5)


def _find_stamp(note: CreditNoteRow) -> str | None:
    if not note.is_live:
        return "Test mode"
    return "Not approved" if note.state in _UNAPPROVED else None
