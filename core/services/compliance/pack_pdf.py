"""The pack of a person as PDF: what is held, table by table, and who looked at it."""

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from core import clock
from core.services import printing
from core.services.printing import INK, QUIET, TEAL

if TYPE_CHECKING:
    from fpdf import FPDF

_LABEL: Final = 48.0


def render(number: str, name: str, content: Mapping[str, Any]) -> bytes:
    """Return the PDF of a pack."""
    page = printing.create(number, created_at=clock.now(), left=16, top=16)
    page.set_auto_page_break(auto=True, margin=18)
    page.set_font("Roboto", "B", 18)
    page.set_text_color(TEAL)
    page.multi_cell(0, 9, "The data held about you", new_x="LMARGIN", new_y="NEXT")
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
    return printing.finish(page, number)


def _title(page: "FPDF", text: str) -> None:
    page.ln(4)
    page.set_font("Roboto", "B", 12)
    page.set_text_color(TEAL)
    page.multi_cell(0, 7, text, new_x="LMARGIN", new_y="NEXT")


def _line(page: "FPDF", label: str, value: str) -> None:
    page.set_font("Roboto", "", 8.5)
    page.set_text_color(QUIET)
    page.cell(_LABEL, 4.6, printing.fit(page.get_string_width, label, _LABEL - 2))
    page.set_text_color(INK)
    page.multi_cell(0, 4.6, value or " ", new_x="LMARGIN", new_y="NEXT", align="L")
