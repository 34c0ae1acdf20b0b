"""Credit notes as PDF: one copy for the customer, and one for the insurer that says how each party bears it."""

from decimal import Decimal
from typing import TYPE_CHECKING, Final

from core import clock, money
from core.services.files import printing
from core.services.files.printing import INK, LEFT
from core.services.finance.credit_notes.reading import CreditNoteRow
from core.states.finance import UNPAID, CreditNoteState

if TYPE_CHECKING:
    from fpdf import FPDF

# Commissions are no business of the customer's.
COPIES: Final = ("customer", "insurer")
_UNAPPROVED: Final = (CreditNoteState.COMPUTED, CreditNoteState.SECOND_PERSON)
_LABEL, _WORKING, _AMOUNT = 46.0, 80.0, printing.AMOUNT


def render(note: CreditNoteRow, copy: str) -> bytes:
    """Return the PDF of a credit note; `copy` is one of `COPIES`."""
    page = printing.create(f"Credit note {note.number}", created_at=note.created_at)
    issued = f"{clock.to_lagos_day(note.created_at):%-d %B %Y}"
    printing.head(page, title="Credit note", number=note.number, left=note.provider, right=issued)
    _lines(page, _parties(note))
    _total(page, note)
    _arithmetic(page, note)
    if copy == "insurer":
        _shares(page, note)
    printing.heading(page, "Payment")
    _lines(page, _payment(note))
    if text := _find_stamp(note):
        printing.stamp(page, text)
    return printing.finish(page, f"Credit note {note.number} · {note.id} · {note.provider}")


def _parties(note: CreditNoteRow) -> list[tuple[str, str]]:
    term = "Cover never began"
    if note.term_start_at and note.term_end_at:
        days = (clock.to_lagos_day(note.term_start_at), clock.to_lagos_day(note.term_end_at))
        term = " to ".join(f"{day:%-d %B %Y}" for day in days)
    return [
        ("To", note.customer),
        ("Policy", note.policy_number or "without a number"),
        ("Product", note.product),
        ("Insurer", note.provider),
        ("Sold by", note.distributor),
        ("Term", term),
        ("Ended on", f"{clock.to_lagos_day(note.created_at):%-d %B %Y}"),
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
    value = f"{note.value_on:%-d %B %Y}" if note.value_on else ""
    return [("Paid to", note.payee or ""), ("Bank reference", note.reference or ""), ("Value date", value)]


def _lines(page: "FPDF", lines: list[tuple[str, str]]) -> None:
    page.set_font("Roboto", "", 9.5)
    for label, value in lines:
        printing.fact(page, [(label, _LABEL), (value, printing.width_of(page) - _LABEL)], height=6)
    page.set_y(page.get_y() + 4)


def _total(page: "FPDF", note: CreditNoteRow) -> None:
    printing.require_height(page, 19)
    top, width = page.get_y(), printing.width_of(page)
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
    printing.heading(page, "How it was computed")
    page.set_font("Roboto", "", 9.5)
    for step in note.explained:
        texts = [(step["working"], _WORKING), (step["step"], printing.width_of(page) - _WORKING - _AMOUNT)]
        _amount(page, texts[::-1], f"₦{Decimal(step['amount']):,.2f}")
    _end_amounts(page)


def _shares(page: "FPDF", note: CreditNoteRow) -> None:
    printing.heading(page, "Borne by")
    shares = (
        (f"{note.provider}, insurer", note.parts.provider_share_minor),
        ("Platform, commission", note.parts.mca_profit_minor),
        (f"{note.distributor}, commission", note.parts.distributor_profit_minor),
        ("Together", note.parts.total_minor),
    )
    for label, minor in shares:
        page.set_font("Roboto", "B" if label == "Together" else "", 9.5)
        _amount(page, [(label, printing.width_of(page) - _AMOUNT)], money.format_naira(minor))
    _end_amounts(page)


def _amount(page: "FPDF", texts: list[tuple[str, float]], amount: str) -> None:
    printing.fact(page, texts, height=6, amount=amount, quiet=False, ruled=True)


def _end_amounts(page: "FPDF") -> None:
    printing.rule(page, printing.width_of(page))
    page.set_y(page.get_y() + 5)


def _find_stamp(note: CreditNoteRow) -> str | None:
    if not note.is_live:
        return "Test mode"
    return "Not approved" if note.state in _UNAPPROVED else None
