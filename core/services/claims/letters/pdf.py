"""A letter as PDF: one text on A4, byte-identical for the same facts."""

import unicodedata
from datetime import datetime
from typing import Final

from core import clock

_LEFT: Final = 20.0


def render(*, subject: str, body: str, addressee: str, at: datetime, is_live: bool) -> bytes:
    """Return the PDF of a letter of this moment; a letter of test mode says so."""
    # Imported on first use: the PDF library is slow to load and would delay the start of the server.
    import font_roboto  # noqa: PLC0415
    from fpdf import FPDF  # noqa: PLC0415

    page = FPDF(format="A4")
    for style, face in (("", "Roboto-Regular"), ("B", "Roboto-Medium")):
        page.add_font("Roboto", style, f"{font_roboto.font_directory}/{face}.ttf")
    page.set_text_shaping(True)
    page.set_title(_normalise(subject))
    page.set_creator("Coverdesk")
    page.set_producer("Coverdesk")
    page.set_lang("en-NG")
    page.set_creation_date(at)
    page.set_margins(_LEFT, 22, _LEFT)
    page.add_page()
    day = clock.to_lagos_day(at)
    page.set_font("Roboto", size=11)
    test = "" if is_live else "Test mode - not a letter\n\n"
    page.multi_cell(0, 6, _normalise(f"{test}{addressee}\n\n{day.day} {day:%B %Y}\n\n"), new_x="LMARGIN", new_y="NEXT")
    page.set_font("Roboto", "B", 13)
    page.multi_cell(0, 7, _normalise(f"{subject}\n\n"), new_x="LMARGIN", new_y="NEXT")
    page.set_font("Roboto", size=11)
    page.multi_cell(0, 6, _normalise(body), new_x="LMARGIN", new_y="NEXT", align="L")
    return bytes(page.output())


def _normalise(value: str) -> str:
    """Return the text in NFC, as the font has combined letters."""
    return unicodedata.normalize("NFC", value)
