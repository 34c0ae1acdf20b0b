"""Statements as PDF: the account on the first page, then every line; byte-identical for the same statement."""

import unicodedata
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from core import clock, money
from core.services.finance.statements.files import Paper

if TYPE_CHECKING:
    from fpdf import FPDF

_TEAL, _AMBER, _INK, _QUIET, _LINE, _TINT = "#0B6B6B", "#F2B04A", "#0C1A1D", "#4A5F62", "#C3D1CF", "#F2F6F5"
_RED = "#A33A10"
_LEFT, _WIDTH, _FOOT = 14.0, 269.0, 198.0
_ROW = 4.6
# Heading, width in millimetres, and whether it is a number.
_COLUMNS: tuple[tuple[str, float, bool], ...] = (
    ("No.", 11, True),
    ("Date", 17, False),
    ("Transaction", 20, False),
    ("Policy number", 32, False),
    ("Customer", 32, False),
    ("Product", 32, False),
    ("Cover", 26, False),
    ("Premium", 24, True),
    ("Rate", 11, True),
    ("Commission", 22, True),
    ("Tax", 18, True),
    ("Net", 24, True),
)


def render(paper: Paper, batches: Iterable[Iterable[Any]]) -> bytes:
    """Return the PDF of a statement with all its lines."""
    page = _create(paper)
    _heading(page, paper)
    _trailer(page, paper)
    _said(page, paper)
    if paper.lines:
        _lines(page, paper, batches)
    if paper.state in {"Prepared", "Void"}:
        _stamp(page, "Not approved" if paper.state == "Prepared" else "Void")
    return bytes(page.output())


def _create(paper: Paper) -> "FPDF":
    # Imported on first use: the PDF library is slow to load.
    import font_roboto  # noqa: PLC0415
    from fpdf import FPDF  # noqa: PLC0415

    class Page(FPDF):
        def footer(self) -> None:
            self.set_xy(_LEFT, _FOOT)
            self.set_font("Roboto", "", 7)
            self.set_text_color(_QUIET)
            self.cell(_WIDTH - 30, 4, _nfc(f"{paper.title} {paper.number} · {paper.party} · SHA-256 {paper.sha256}"))
            self.cell(30, 4, f"Page {self.page_no()}", align="R")

    page = Page(orientation="landscape", format="A4")
    for style, face in (("", "Roboto-Regular"), ("B", "Roboto-Medium")):
        page.add_font("Roboto", style, f"{font_roboto.font_directory}/{face}.ttf")
    page.set_title(_nfc(f"{paper.title} {paper.number}"))
    page.set_author("Coverdesk")
    page.set_creator("Coverdesk")
    page.set_producer("Coverdesk")
    page.set_lang("en-NG")
    page.set_creation_date(clock.midnight(clock.add_months(paper.month, 1)))
    page.set_margins(_LEFT, 14, _LEFT)
    page.c_margin = 0.6
    page.set_auto_page_break(False)
    page.add_page()
    return page


def _nfc(text: str) -> str:
    return unicodedata.normalize("NFC", text)


def _heading(page: "FPDF", paper: Paper) -> None:
    page.set_fill_color(_TEAL)
    page.rect(0, 0, page.w, 28, style="F")
    page.set_fill_color(_AMBER)
    page.rect(0, 28, page.w, 1.2, style="F")
    page.set_text_color("#FFFFFF")
    page.set_font("Roboto", "B", 19)
    page.set_xy(_LEFT, 8)
    page.cell(_WIDTH / 2, 8, paper.title)
    page.set_font("Roboto", "B", 15)
    page.cell(_WIDTH / 2, 8, paper.number, align="R", new_x="LMARGIN", new_y="NEXT")
    page.set_font("Roboto", "", 10.5)
    page.cell(_WIDTH / 2, 6, _fit(page.get_string_width, paper.party, _WIDTH / 2))
    page.cell(_WIDTH / 2, 6, f"{paper.month:%B %Y}", align="R")
    page.set_y(36)


def _trailer(page: "FPDF", paper: Paper) -> None:
    page.set_font("Roboto", "B", 11)
    page.set_text_color(_TEAL)
    page.cell(_WIDTH, 7, "Account", new_x="LMARGIN", new_y="NEXT")
    for label, minor in paper.trailer:
        is_balance = label.endswith("balance")
        _rule(page)
        page.set_text_color(_INK if is_balance else _QUIET)
        page.set_font("Roboto", "B" if is_balance else "", 10)
        page.cell(70, 6.4, label)
        page.set_text_color(_INK)
        page.cell(50, 6.4, money.format_naira(minor), align="R", new_x="LMARGIN", new_y="NEXT")
    _rule(page)
    page.set_font("Roboto", "", 9)
    page.set_text_color(_QUIET)
    page.cell(_WIDTH, 7, _meaning(paper), new_x="LMARGIN", new_y="NEXT")
    page.set_y(page.get_y() + 2)


def _meaning(paper: Paper) -> str:
    if paper.reverses:
        return f"This statement reverses {paper.reverses} as a whole; its movements are stated again."
    if paper.closing_minor < 0:
        return "A negative balance is owed to the platform; it is carried to the next statement."
    return "The closing balance is owed by the platform, and opens the next statement."


def _rule(page: "FPDF") -> None:
    page.set_draw_color(_LINE)
    page.set_line_width(0.2)
    page.line(_LEFT, page.get_y(), _LEFT + 120, page.get_y())


def _said(page: "FPDF", paper: Paper) -> None:
    for label, value in paper.facts.get("said", {}).items():
        page.set_font("Roboto", "", 8.5)
        page.set_text_color(_QUIET)
        page.cell(40, 5, label)
        page.set_text_color(_INK)
        page.multi_cell(_WIDTH - 40, 5, _nfc(str(value)), align="L", new_x="LMARGIN", new_y="NEXT")
    page.set_font("Roboto", "", 8.5)
    page.set_text_color(_QUIET)
    page.cell(_WIDTH, 6, f"{paper.lines:,} lines. The hash at the foot is that of the CSV file of this statement.")


def _lines(page: "FPDF", paper: Paper, batches: Iterable[Iterable[Any]]) -> None:
    _new_page(page, paper)
    names, widths = paper.facts.get("names", {}), _Widths(page)
    for position, line in enumerate(_flat(batches), 1):
        if page.get_y() > _FOOT - _ROW - 2:
            _new_page(page, paper)
        _row(page, _cells(position, line, names), widths)


def _flat(batches: Iterable[Iterable[Any]]) -> Iterator[Any]:
    for batch in batches:
        yield from batch


def _new_page(page: "FPDF", paper: Paper) -> None:
    page.add_page()
    page.set_xy(_LEFT, 10)
    page.set_font("Roboto", "B", 7.5)
    page.set_text_color(_TEAL)
    for heading, width, is_number in _COLUMNS:
        page.cell(width, 6, heading, align="R" if is_number else "L")
    page.set_draw_color(_TEAL)
    page.line(_LEFT, 16, _LEFT + _WIDTH, 16)
    page.set_xy(_LEFT, 17)
    page.set_font("Roboto", "", 7)
    page.set_text_color(_INK)
    # The same as that of the text: else each text is wrapped in a change of colours.
    page.set_fill_color(_INK)


def _cells(position: int, line: Any, names: Any) -> Sequence[str]:
    days = (line.effective_at, line.expires_at)
    cover = " – ".join(f"{clock.to_lagos_day(at):%d.%m.%y}" for at in days if at)
    return (
        str(position),
        f"{clock.to_lagos_day(line.occurred_at):%d.%m.%Y}",
        line.kind,
        line.policy_number or "",
        line.customer,
        names.get(str(line.product_id), ""),
        cover,
        _amount(line.premium_minor),
        f"{line.rate_bp / 100:.2f}",
        _amount(line.commission_minor),
        _amount(line.vat_minor - line.withheld_minor),
        _amount(line.net_minor),
    )


def _amount(minor: int) -> str:
    sign, absolute = ("-", -minor) if minor < 0 else ("", minor)
    return f"{sign}{absolute // 100:,}.{absolute % 100:02d}"


class _Widths(dict[str, float]):
    """The width of each character in the font of the lines: asking the page for every text takes most of the time."""

    def __init__(self, page: "FPDF") -> None:
        super().__init__()
        self._page = page

    def __missing__(self, character: str) -> float:
        width = self[character] = self._page.get_string_width(character)
        return width

    def of(self, text: str) -> float:
        """Return the width of a text in millimetres."""
        return sum(map(self.__getitem__, text))


def _row(page: "FPDF", cells: Sequence[str], widths: _Widths) -> None:
    # `text` and not `cell`: a statement may have a hundred thousand lines.
    left, base = _LEFT, page.get_y() + 3.2
    for text, (_, width, is_number) in zip(cells, _COLUMNS, strict=True):
        if shown := _fit(widths.of, text, width - 1.2):
            page.text(left + (width - widths.of(shown) - 0.6 if is_number else 0.6), base, shown)
        left += width
    page.set_y(page.get_y() + _ROW)


def _fit(measure: Callable[[str], float], text: str, width: float) -> str:
    """Cut a text that is too long for its column."""
    shown = text if text.isascii() else _nfc(text)
    while shown and measure(shown) > width:
        shown = shown[: max(1, int(len(shown) * 0.92) - 1)].rstrip() + "…" if len(shown) > 2 else ""
    return shown


def _stamp(page: "FPDF", text: str) -> None:
    """Print large text across the first page, light enough to read through."""
    page.page = 1
    with page.local_context(fill_opacity=0.12), page.rotation(30, page.w / 2, page.h / 2):
        page.set_text_color(_RED)
        page.set_font("Roboto", "B", 70)
        page.text((page.w - page.get_string_width(text)) / 2, page.h / 2, text)
    page.page = page.pages_count
