"""Reading workbooks the plain way: what stands in each cell of a sheet, without any library of ours."""

import re
import zipfile
from datetime import UTC, datetime, timedelta
from io import BytesIO
from xml.etree import ElementTree

_NS = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
_FIRST = datetime(1899, 12, 30, tzinfo=UTC)


def cells(content: bytes, sheet: int = 1) -> list[dict[int, str | float | bool]]:
    """The cells of each row by their column; a text as it stands, a number or a day as a number."""
    with zipfile.ZipFile(BytesIO(content)) as book:
        tree = ElementTree.fromstring(book.read(f"xl/worksheets/sheet{sheet}.xml"))
    formulas = [formula.text or "" for formula in tree.iter(f"{_NS}f")]
    assert all(text.startswith("SUBTOTAL(109,") for text in formulas), "no cell but a total of ours holds a formula"
    return [dict(_cell(cell) for cell in row) for row in tree.iter(f"{_NS}row")]


def _cell(cell: ElementTree.Element) -> tuple[int, str | float | bool]:
    if cell.get("t") == "inlineStr":
        value: str | float | bool = "".join(part.text or "" for part in cell.iter(f"{_NS}t"))
        value = re.sub(r"_x([0-9A-F]{4})_", lambda code: chr(int(code[1], 16)), value)
    else:
        value = float(cell.findtext(f"{_NS}v") or "")
        value = bool(value) if cell.get("t") == "b" else value
    return _place(cell.get("r") or ""), value


def _place(address: str) -> int:
    found = 0
    for letter in address.rstrip("0123456789"):
        found = found * 26 + ord(letter) - 64
    return found - 1


def moment(number: float) -> datetime:
    """The instant that a cell shows for a number, to the millisecond."""
    return (_FIRST + timedelta(milliseconds=round(number * 86_400_000))).replace(tzinfo=None)
