"""A letter as PDF: one text on A4, byte-identical for the same facts."""

from datetime import datetime
from typing import Final

from core import clock
from core.services import printing

_LEFT: Final = 20.0


def render(*, subject: str, body: str, addressee: str, at: datetime, is_live: bool) -> bytes:
    """Return the PDF of a letter of this moment; a letter of test mode says so."""
    page = printing.create(subject, created_at=at, left=_LEFT, top=22)
    page.set_auto_page_break(auto=True, margin=24)
    day = clock.to_lagos_day(at)
    test = "" if is_live else "Test mode - not a letter\n\n"
    texts = (
        ("", 11, 6, f"{test}{addressee}\n\n{day.day} {day:%B %Y}\n\n"),
        ("B", 13, 7, f"{subject}\n\n"),
        ("", 11, 6, body),
    )
    for style, size, height, text in texts:
        page.set_font("Roboto", style, size)
        page.multi_cell(0, height, text, new_x="LMARGIN", new_y="NEXT", align="L")
    return printing.finish(page, subject)
