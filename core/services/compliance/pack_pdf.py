"""The pack of a person as PDF: what is held, table by table, and who looked at it."""

import json
import unicodedata
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from core import clock

if TYPE_CHECKING:
    from fpdf import FPDF

_TEAL: Final = "#0B6B6B"
_INK: Final = "#0C1A1D"
_QUIET: Final = "#4A5F62"
_LONGEST: Final = 1_500


def render(number: str, name: str, content: Mapping[str, Any]) -> bytes:
    """Return the PDF of a pack."""
    page = _create(number)
    page.set_font("Roboto", "B", 18)
    page.set_text_color(_TEAL)
    page.multi_cell(0, 9, _text("The data held about you"), new_x="LMARGIN", new_y="NEXT")
    _line(page, "Request", number)
    _line(page, "Name", name)
    _line(page, "Made", clock.format_lagos(clock.now()) + " (Lagos)")
    for table, rows in content["records"].items():
        _title(page, table.replace("_", " ").capitalize())
        for place, row in enumerate(rows, 1):
            page.ln(1.5)
            _line(page, f"{place}.", "")
            for key, value in row.items():
                _line(page, key, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
    _title(page, "Files")
    for file in content["files"]:
        _line(page, file["file_name"], f"{file['content_type']}, SHA-256 {file['sha256']}")
    _title(page, "E-mails to you")
    for mail in content["e-mails"]:
        _line(page, mail["created_at"], mail["subject"])
    _title(page, "Who looked at it or changed it")
    for entry in content["looked_at_by"]:
        _line(page, entry["at"], f"{entry['who']}: {entry['what']} ({entry['record']})")
    return bytes(page.output())


def _create(number: str) -> "FPDF":
    # Imported on first use: the PDF library is slow to load.
    import font_roboto  # noqa: PLC0415
    from fpdf import FPDF  # noqa: PLC0415

    page = FPDF(format="A4")
    for style, face in (("", "Roboto-Regular"), ("B", "Roboto-Medium")):
        page.add_font("Roboto", style, f"{font_roboto.font_directory}/{face}.ttf")
    page.set_title(number)
    page.set_author("Coverdesk")
    page.set_margins(16, 16, 16)
    page.set_auto_page_break(auto=True, margin=16)
    page.add_page()
    return page


def _title(page: "FPDF", text: str) -> None:
    page.ln(4)
    page.set_font("Roboto", "B", 12)
    page.set_text_color(_TEAL)
    page.multi_cell(0, 7, _text(text), new_x="LMARGIN", new_y="NEXT")


def _line(page: "FPDF", label: str, value: str) -> None:
    page.set_font("Roboto", "", 8.5)
    page.set_text_color(_QUIET)
    page.cell(48, 4.6, _text(label)[:34])
    page.set_text_color(_INK)
    page.multi_cell(0, 4.6, _text(value)[:_LONGEST] or " ", new_x="LMARGIN", new_y="NEXT")


def _text(text: str) -> str:
    return unicodedata.normalize("NFC", text)
