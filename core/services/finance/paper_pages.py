"""Look shared by the PDFs of finance: the page with its foot, the coloured head, and the stamp across it."""

import unicodedata
from collections.abc import Callable, Iterable
from datetime import datetime
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from fpdf import FPDF

TEAL, AMBER, INK, QUIET, LINE = "#0B6B6B", "#F2B04A", "#0C1A1D", "#4A5F62", "#C3D1CF"
_RED = "#A33A10"
LEFT = 14.0
# From the top of the foot to the end of the page.
_FOOT = 12.0


def create(
    title: str, *, foot: str, created_at: datetime, orientation: Literal["portrait", "landscape"] = "portrait"
) -> "FPDF":
    """Return a document with its first page; equal arguments and content make equal bytes."""
    # Imported on first use: the PDF library is slow to load.
    import font_roboto  # noqa: PLC0415
    from fpdf import FPDF  # noqa: PLC0415

    class Page(FPDF):
        def footer(self) -> None:
            self.set_xy(LEFT, self.h - _FOOT)
            self.set_font("Roboto", "", 7)
            self.set_text_color(QUIET)
            self.cell(width_of(self) - 30, 4, nfc(foot))
            self.cell(30, 4, f"Page {self.page_no()}", align="R")

    page = Page(orientation=orientation, format="A4")
    for style, face in (("", "Roboto-Regular"), ("B", "Roboto-Medium")):
        page.add_font("Roboto", style, f"{font_roboto.font_directory}/{face}.ttf")
    page.set_title(nfc(title))
    page.set_author("Coverdesk")
    page.set_creator("Coverdesk")
    page.set_producer("Coverdesk")
    page.set_lang("en-NG")
    page.set_creation_date(created_at)
    page.set_margins(LEFT, 14, LEFT)
    page.c_margin = 0.6
    page.set_auto_page_break(False)
    page.add_page()
    return page


def nfc(text: str) -> str:
    """Return a text with its accents composed, as the font has them."""
    return unicodedata.normalize("NFC", text)


def width_of(page: "FPDF") -> float:
    """Return the width between the margins in millimetres."""
    return page.w - 2 * LEFT


def head(page: "FPDF", *, title: str, number: str, left: str, right: str) -> None:
    """Draw the coloured head of the first page: title and number, and a line below them."""
    half = width_of(page) / 2
    page.set_fill_color(TEAL)
    page.rect(0, 0, page.w, 28, style="F")
    page.set_fill_color(AMBER)
    page.rect(0, 28, page.w, 1.2, style="F")
    page.set_text_color("#FFFFFF")
    page.set_font("Roboto", "B", 19)
    page.set_xy(LEFT, 8)
    page.cell(half, 8, title)
    page.set_font("Roboto", "B", 15)
    page.cell(half, 8, number, align="R", new_x="LMARGIN", new_y="NEXT")
    page.set_font("Roboto", "", 10.5)
    page.cell(half, 6, fit(page.get_string_width, left, half))
    page.cell(half, 6, right, align="R")
    page.set_y(36)


def heading(page: "FPDF", text: str) -> None:
    """Draw the heading of a part."""
    page.set_font("Roboto", "B", 11)
    page.set_text_color(TEAL)
    page.cell(width_of(page), 7, text, new_x="LMARGIN", new_y="NEXT")


def rule(page: "FPDF", width: float) -> None:
    """Draw a thin line at the current height."""
    page.set_draw_color(LINE)
    page.set_line_width(0.2)
    page.line(LEFT, page.get_y(), LEFT + width, page.get_y())


def fit(measure: Callable[[str], float], text: str, width: float) -> str:
    """Cut a text that is too long for its column."""
    shown = text if text.isascii() else nfc(text)
    while shown and measure(shown) > width:
        shown = shown[: max(1, int(len(shown) * 0.92) - 1)].rstrip() + "…" if len(shown) > 2 else ""
    return shown


def encode(page: "FPDF", text: str) -> str:
    """Return the operator that draws a text in the current font."""
    return page.current_font.encode_text(text) if page.current_font else ""


def draw_texts(page: "FPDF", texts: Iterable[tuple[float, str]], base: float) -> None:
    """Draw encoded texts of one colour on one base line, each with its left edge; in millimetres.

    `FPDF.text` for each takes twice the time of a long paper; the current colour to fill is that of the texts.
    """
    height = (page.h - base) * page.k
    drawn = " ".join(f"BT {left * page.k:.2f} {height:.2f} Td {encoded} ET" for left, encoded in texts)
    page._out(drawn)  # noqa: SLF001 fpdf2 has no public way to write content


def stamp(page: "FPDF", text: str) -> None:
    """Print large text across the first page, light enough to read through."""
    page.page = 1
    with page.local_context(fill_opacity=0.12), page.rotation(30, page.w / 2, page.h / 2):
        page.set_text_color(_RED)
        page.set_font("Roboto", "B", 70)
        page.text((page.w - page.get_string_width(text)) / 2, page.h / 2, text)
    page.page = page.pages_count
