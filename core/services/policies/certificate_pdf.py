"""Certificates as PDF: one A4 page, byte-identical for the same facts."""

from datetime import datetime
from functools import lru_cache
from itertools import groupby
from typing import TYPE_CHECKING

from core import clock, money
from core.services import printing
from core.services.policies.certificate_lines import format_day
from core.services.policies.certificates import TEST_MODE, CertificateFacts
from core.services.printing import AMBER, INK, LINE, QUIET, RED, TEAL
from core.states.policies import PolicyStage

if TYPE_CHECKING:
    from fpdf import FPDF

_TINT = "#F2F6F5"
_LEFT, _WIDTH, _LABEL = 18.0, 174.0, 52.0
_FOOT = 255.0
_EVIDENCE = (
    "This certificate is evidence that the insurer named above covers what is described here, for the period stated "
    "and on the terms of its policy. It does not change those terms. Scan the code or open its address to see whether "
    "the cover is in force."
)


@lru_cache(maxsize=128)
def render(facts: CertificateFacts) -> bytes:
    """Return the PDF of a certificate; it depends on the facts only, never on the time of printing."""
    from fpdf import ViewerPreferences  # noqa: PLC0415 as slow to load as the rest of its library

    page = printing.create(f"{facts.title} {facts.policy_number}", created_at=facts.issued_at, left=_LEFT, top=18)
    page.set_author(facts.insurer)
    # Otherwise a viewer may show the last part of the address, which is the code.
    page.viewer_preferences = ViewerPreferences(display_doc_title=True)
    page.c_margin = 0
    _draw_heading(page, facts)
    _draw_number(page, facts)
    _draw_table(page, "Insured", [("Policyholder", facts.holder), ("Product", facts.product), *facts.covered])
    _draw_table(page, "Cover", _list_cover_lines(facts))
    _draw_verification(page, facts)
    if not facts.is_live or facts.cancelled_at:
        _draw_stamp(page, PolicyStage.CANCELLED if facts.is_live else TEST_MODE)
    return bytes(page.output())


def _draw_heading(page: "FPDF", facts: CertificateFacts) -> None:
    page.set_fill_color(TEAL)
    page.rect(0, 0, page.w, 36, style="F")
    page.set_fill_color(AMBER)
    page.rect(0, 36, page.w, 1.4, style="F")
    page.set_text_color("#FFFFFF")
    page.set_xy(_LEFT, 10)
    _draw_fitted(page, facts.insurer, _WIDTH, size=21, bold=True)
    page.set_x(_LEFT)
    page.set_font("Roboto", "", 11.5)
    page.cell(_WIDTH, 8, facts.title)
    if not facts.is_live:
        page.set_xy(_LEFT, 39.5)
        page.set_text_color(RED)
        page.set_font("Roboto", "B", 10)
        page.cell(_WIDTH, 6, TEST_MODE, align="R")


def _draw_fitted(page: "FPDF", value: str, width: float, *, size: float, bold: bool) -> None:
    """Print one line of text, in a smaller font if it would not fit, and move to the next line."""
    page.set_font("Roboto", "B" if bold else "", size)
    needed = page.get_string_width(value)
    if needed > width:
        page.set_font_size(max(7.0, size * width / needed))
    page.cell(width, size * 0.45, value, new_x="LMARGIN", new_y="NEXT")


def _draw_number(page: "FPDF", facts: CertificateFacts) -> None:
    page.set_xy(_LEFT, 47)
    page.set_text_color(QUIET)
    page.set_font("Roboto", "", 9)
    page.cell(_WIDTH, 5, "Policy number", new_x="LMARGIN", new_y="NEXT")
    page.set_text_color(INK)
    _draw_fitted(page, facts.policy_number, _WIDTH, size=19, bold=True)
    page.set_y(page.get_y() + 5)


def _list_cover_lines(facts: CertificateFacts) -> list[tuple[str, str]]:
    insured = facts.sum_insured_minor
    return [
        ("Period of insurance", f"{_format_day(facts.start_at)} to {_format_day(facts.expiration_at)}"),
        *([("Sum insured", money.format_naira(insured))] if insured is not None else []),
        ("Premium", money.format_naira(facts.premium_minor)),
        ("Date of issue", _format_day(facts.issued_at)),
        *([("Endorsement", f"No. {made[0]}, from {format_day(made[1])}")] if (made := facts.endorsement) else []),
        *([(PolicyStage.CANCELLED, _format_day(facts.cancelled_at))] if facts.cancelled_at else []),
    ]


def _format_day(instant: datetime) -> str:
    return format_day(clock.to_lagos_day(instant))


def _draw_table(page: "FPDF", heading: str, lines: list[tuple[str, str]]) -> None:
    page.set_text_color(TEAL)
    page.set_font("Roboto", "B", 11)
    page.cell(_WIDTH, 8, heading, new_x="LMARGIN", new_y="NEXT")
    for label, value in lines:
        _draw_line(page, label, value)
    page.set_y(page.get_y() + 5)


def _draw_line(page: "FPDF", label: str, value: str) -> None:
    page.set_draw_color(LINE)
    page.set_line_width(0.2)
    page.line(_LEFT, page.get_y(), _LEFT + _WIDTH, page.get_y())
    top = page.get_y() + 1.4
    page.set_xy(_LEFT, top)
    page.set_text_color(QUIET)
    page.set_font("Roboto", "", 9.5)
    page.cell(_LABEL, 5, label)
    page.set_text_color(INK)
    page.set_font("Roboto", "", 10.5)
    page.multi_cell(_WIDTH - _LABEL, 5, _shorten(page, value), align="L", new_x="LMARGIN", new_y="NEXT")
    page.set_y(page.get_y() + 1.4)


def _shorten(page: "FPDF", value: str) -> str:
    """Truncate a text to two lines, so that everything stays on one page."""
    max_width = 2 * (_WIDTH - _LABEL) * 0.92
    if page.get_string_width(value) <= max_width:
        return value
    while page.get_string_width(f"{value}…") > max_width:
        value = value[: int(len(value) * 0.95)]
    return f"{value.rstrip()}…"


def _draw_verification(page: "FPDF", facts: CertificateFacts) -> None:
    page.set_fill_color(_TINT)
    page.rect(0, _FOOT - 7, page.w, page.h - _FOOT + 7, style="F")
    _draw_qr_code(page, facts.verification_url, x=_LEFT, y=_FOOT, size=30)
    left = _LEFT + 36
    page.set_xy(left, _FOOT)
    page.set_text_color(INK)
    page.set_font("Roboto", "B", 10.5)
    page.cell(_WIDTH - 36, 5, "Check this certificate")
    page.set_xy(left, _FOOT + 6)
    page.set_font("Roboto", "", 8.5)
    page.set_text_color(TEAL)
    page.cell(_WIDTH - 36, 4.5, facts.verification_url, link=facts.verification_url)
    page.set_xy(left, _FOOT + 12)
    page.set_text_color(QUIET)
    page.multi_cell(_WIDTH - 36, 4.2, _EVIDENCE, align="L")
    page.set_x(left)
    page.cell(_WIDTH - 36, 6, f"Arranged by {facts.distributor} through Coverdesk")


def _draw_qr_code(page: "FPDF", address: str, *, x: float, y: float, size: float) -> None:
    """Draw a QR code as rectangles: sharp at every size, byte-identical every time."""
    import segno  # noqa: PLC0415 - as above

    rows = segno.make(address, error="m", micro=False, boost_error=False).matrix
    side = size / len(rows)
    page.set_fill_color("#FFFFFF")
    page.rect(x - 4 * side, y - 4 * side, size + 8 * side, size + 8 * side, style="F")
    page.set_fill_color(INK)
    for down, row in enumerate(rows):
        across = 0
        for dark, run in groupby(row):
            length = len(list(run))
            if dark:
                page.rect(x + across * side, y + down * side, length * side, side, style="F")
            across += length


def _draw_stamp(page: "FPDF", text: str) -> None:
    """Print large diagonal text across the page, light enough to read through."""
    with page.local_context(fill_opacity=0.14), page.rotation(54, page.w / 2, page.h / 2):
        page.set_text_color(RED)
        page.set_font("Roboto", "B", 40)
        page.set_font_size(min(90, 40 * 260 / page.get_string_width(text)))
        page.text((page.w - page.get_string_width(text)) / 2, page.h / 2, text)
