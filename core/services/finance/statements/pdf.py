"""Statements as PDF: the account on the first page, then every line; byte-identical for the same statement."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Any

from core import clock, money
from core.services.finance import paper_pages
from core.services.finance.paper_pages import INK, LEFT, QUIET, TEAL
from core.services.finance.statements.files import Paper

if TYPE_CHECKING:
    from fpdf import FPDF

_WIDTH, _FOOT = 269.0, 198.0
_ROW = 4.6
_REMEMBERED = 4_096
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
    page = paper_pages.create(
        f"{paper.title} {paper.number}",
        foot=f"{paper.title} {paper.number} · {paper.party} · SHA-256 {paper.sha256}",
        created_at=clock.midnight(clock.add_months(paper.month, 1)),
        orientation="landscape",
    )
    paper_pages.head(page, title=paper.title, number=paper.number, left=paper.party, right=f"{paper.month:%B %Y}")
    _trailer(page, paper)
    _said(page, paper)
    if paper.lines:
        _lines(page, paper, batches)
    if paper.state in {"Prepared", "Void"}:
        paper_pages.stamp(page, "Not approved" if paper.state == "Prepared" else "Void")
    return bytes(page.output())


def _trailer(page: "FPDF", paper: Paper) -> None:
    paper_pages.heading(page, "Account")
    for label, minor in paper.trailer:
        is_balance = label.endswith("balance")
        paper_pages.rule(page, 120)
        page.set_text_color(INK if is_balance else QUIET)
        page.set_font("Roboto", "B" if is_balance else "", 10)
        page.cell(70, 6.4, label)
        page.set_text_color(INK)
        page.cell(50, 6.4, money.format_naira(minor), align="R", new_x="LMARGIN", new_y="NEXT")
    paper_pages.rule(page, 120)
    page.set_font("Roboto", "", 9)
    page.set_text_color(QUIET)
    page.cell(_WIDTH, 7, _meaning(paper), new_x="LMARGIN", new_y="NEXT")
    page.set_y(page.get_y() + 2)


def _meaning(paper: Paper) -> str:
    if paper.reverses:
        return f"This statement reverses {paper.reverses} as a whole; its movements are stated again."
    if paper.closing_minor < 0:
        return "A negative balance is owed to the platform; it is carried to the next statement."
    return "The closing balance is owed by the platform, and opens the next statement."


def _said(page: "FPDF", paper: Paper) -> None:
    for label, value in paper.facts.get("said", {}).items():
        page.set_font("Roboto", "", 8.5)
        page.set_text_color(QUIET)
        page.cell(40, 5, label)
        page.set_text_color(INK)
        page.multi_cell(_WIDTH - 40, 5, paper_pages.nfc(str(value)), align="L", new_x="LMARGIN", new_y="NEXT")
    page.set_font("Roboto", "", 8.5)
    page.set_text_color(QUIET)
    page.cell(_WIDTH, 6, f"{paper.lines:,} lines. The hash at the foot is that of the CSV file of this statement.")


def _lines(page: "FPDF", paper: Paper, batches: Iterable[Iterable[Any]]) -> None:
    _new_page(page, paper)
    names, typesetter = paper.names, _Typesetter(page)
    for position, line in enumerate(_flat(batches), 1):
        if page.get_y() > _FOOT - _ROW - 2:
            _new_page(page, paper)
        _row(page, _cells(position, line, names), typesetter)


def _flat(batches: Iterable[Iterable[Any]]) -> Iterator[Any]:
    for batch in batches:
        yield from batch


def _new_page(page: "FPDF", paper: Paper) -> None:
    page.add_page()
    page.set_xy(LEFT, 10)
    page.set_font("Roboto", "B", 7.5)
    page.set_text_color(TEAL)
    for heading, width, is_number in _COLUMNS:
        page.cell(width, 6, heading, align="R" if is_number else "L")
    page.set_draw_color(TEAL)
    page.line(LEFT, 16, LEFT + _WIDTH, 16)
    page.set_xy(LEFT, 17)
    page.set_font("Roboto", "", 7)
    page.set_text_color(INK)
    page.set_fill_color(INK)


def _cells(position: int, line: Any, names: Any) -> Sequence[str]:
    days = (line.effective_at, line.expires_at)
    cover = " – ".join(f"{clock.to_lagos_day(at):%d.%m.%y}" for at in days if at)
    return (
        str(position),
        f"{clock.to_lagos_day(line.occurred_at):%d.%m.%Y}",
        line.kind,
        line.policy_number or "",
        line.customer,
        names.get(line.product_id, ""),
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


class _Typesetter:
    """Cuts and encodes texts in the font of the lines.

    A statement may have a million texts: most are dates, products and rates that were encoded before.
    """

    def __init__(self, page: "FPDF") -> None:
        self._page = page
        self.set = lru_cache(_REMEMBERED)(self._set)
        self._width = cache(page.get_string_width)

    def _set(self, text: str, width: float) -> tuple[str, float]:
        """Return a text as it stands in the page's content, cut to a width, and the width that it has; in mm."""
        shown = paper_pages.fit(self._measure, text, width)
        return paper_pages.encode(self._page, shown), self._measure(shown)

    def _measure(self, text: str) -> float:
        return sum(map(self._width, text))


def _row(page: "FPDF", cells: Sequence[str], typesetter: _Typesetter) -> None:
    texts, left = [], LEFT
    for text, (_, width, is_number) in zip(cells, _COLUMNS, strict=True):
        if text:
            encoded, taken = typesetter.set(text, width - 1.2)
            texts.append((left + (width - taken - 0.6 if is_number else 0.6), encoded))
        left += width
    paper_pages.draw_texts(page, texts, page.get_y() + 3.2)
    page.set_y(page.get_y() + _ROW)
