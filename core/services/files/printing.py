"""PDFs that people read: pages with a head and a foot, tables of many pages, and the stamp across the first one."""

import unicodedata
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Final, Literal

from core import clock

if TYPE_CHECKING:
    from fpdf import FPDF

TEAL, AMBER, INK, QUIET, LINE = "#0B6B6B", "#F2B04A", "#0C1A1D", "#4A5F62", "#C3D1CF"
RED = "#A33A10"
LEFT = 14.0
# From the top of the foot to the end of the page.
_FOOT = 12.0
_REPLACEMENT = "\N{REPLACEMENT CHARACTER}"
_REMEMBERED: Final = 8_192
# The width of an amount beside its label.
AMOUNT: Final = 46.0
# Between a text of a table and the edge of its column.
_GAP: Final = 0.6
# The height of a further line of a cell, of that of a row.
_LINE_SHARE: Final = 0.7
# The least share of its width to which a code or a name is narrowed before it goes on in the next line.
_NARROWEST: Final = {"code": 0.75, "name": 0.9}
# A name that takes more lines is cut in the last of them.
_MOST_LINES: Final = 4
# The operator that draws a text, whose codes go before it.
_END: Final = "> Tj"


def create(
    title: str,
    *,
    created_at: datetime,
    left: float = LEFT,
    top: float = 14.0,
    orientation: Literal["portrait", "landscape"] = "portrait",
) -> "FPDF":
    """Return a document with its first page; equal arguments and content make equal bytes.

    Accents are composed, and placed on their letters; what the font does not have is drawn as a replacement character.
    """
    # Imported on first use: the PDF library is slow to load.
    import font_roboto  # noqa: PLC0415
    from fpdf import FPDF  # noqa: PLC0415

    class Page(FPDF):
        def normalize_text(self, text: str) -> str:
            known = getattr(self.current_font, "glyph_ids", {})
            return str(super().normalize_text(_printable(text, known)))

    page = Page(orientation=orientation, format="A4")
    for style, face in (("", "Roboto-Regular"), ("B", "Roboto-Medium")):
        page.add_font("Roboto", style, f"{font_roboto.font_directory}/{face}.ttf")
    page.set_text_shaping(True)
    page.set_title(unicodedata.normalize("NFC", title))
    for name in (page.set_author, page.set_creator, page.set_producer):
        name("Coverdesk")
    page.set_lang("en-NG")
    page.set_creation_date(created_at)
    page.set_margins(left, top, left)
    page.c_margin = _GAP
    page.set_auto_page_break(False)
    page.add_page()
    return page


def _printable(text: str, known: "Iterable[int]") -> str:
    if text.isascii():
        return text
    composed = unicodedata.normalize("NFC", text)
    return "".join(each if each.isspace() or ord(each) in known else _REPLACEMENT for each in composed)


def width_of(page: "FPDF") -> float:
    """Return the width between the margins in millimetres."""
    return float(page.w - page.l_margin - page.r_margin)


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
    page.cell(half, 6, fit(page.get_string_width, left, half - 2))
    page.cell(half, 6, right, align="R")
    page.set_y(36)


def heading(page: "FPDF", text: str) -> None:
    """Draw the heading of a part."""
    require_height(page, 20)
    page.set_font("Roboto", "B", 11)
    page.set_text_color(TEAL)
    page.cell(width_of(page), 7, text, new_x="LMARGIN", new_y="NEXT")


def rule(page: "FPDF", width: float) -> None:
    """Draw a thin line at the current height."""
    page.set_draw_color(LINE)
    page.set_line_width(0.2)
    page.line(LEFT, page.get_y(), LEFT + width, page.get_y())


def require_height(page: "FPDF", height: float) -> None:
    """Go to a new page where the rest of this one is lower than some millimetres."""
    if page.get_y() + height > page.h - _FOOT - 4:
        page.add_page()


def fact(
    page: "FPDF",
    cells: Sequence[tuple[str, float]],
    *,
    height: float,
    amount: str = "",
    quiet: bool = True,
    ruled: bool = False,
) -> None:
    """Draw texts beside each other, each wrapped in its width, and an amount at the right; none is divided by a page.

    `cells` are texts with their widths in millimetres; the first is a label, in the colour of labels where it is quiet.
    """
    taken = max(_count_lines(page, text, width) for text, width in cells) * height
    require_height(page, taken)
    left, top = page.l_margin, page.get_y()
    if ruled:
        rule(page, sum(width for _, width in cells) + (AMOUNT if amount else 0))
    for place, (text, width) in enumerate(cells):
        page.set_xy(left, top)
        page.set_text_color(QUIET if quiet and place == 0 else INK)
        page.multi_cell(width, height, text, align="L")
        left += width
    if amount:
        page.set_text_color(INK)
        page.set_xy(left, top)
        page.cell(AMOUNT, height, amount, align="R")
    page.set_xy(page.l_margin, top + taken)


def _count_lines(page: "FPDF", text: str, width: float) -> int:
    lines: Any = page.multi_cell(width, 1, text, dry_run=True, output="LINES")
    return len(lines)


def fit(measure: Callable[[str], float], text: str, width: float) -> str:
    """Cut a text that is too long for its column."""
    shown = text
    while shown and measure(shown) > width:
        shown = shown[: max(1, int(len(shown) * 0.92) - 1)].rstrip() + "…" if len(shown) > 2 else ""
    return shown


def stamp(page: "FPDF", text: str) -> None:
    """Print large text across the first page, light enough to read through."""
    page.page = 1
    page.current_font_is_set_on_page = False
    with page.local_context(fill_opacity=0.12), page.rotation(30, page.w / 2, page.h / 2):
        page.set_text_color(RED)
        page.set_font("Roboto", "B", 70)
        page.text((page.w - page.get_string_width(text)) / 2, page.h / 2, text)
    page.page = page.pages_count
    page.current_font_is_set_on_page = False


def finish(page: "FPDF", foot: str) -> bytes:
    """Draw the foot of every page, with its number and that of the last, and return the document."""
    pen, last = Pen(page, "", 7, QUIET), page.pages_count
    width = width_of(page)
    text = pen.set(pen.cut(foot, width - 32), 0)
    for number in range(1, last + 1):
        page.page = number
        count = pen.set_right(f"Page {number:,} of {last:,}", width, 30)
        pen.write(page.l_margin, page.h - _FOOT + 3, [text, count])
    return bytes(page.output())


def render_letter(*, subject: str, body: str, addressee: str, at: datetime, is_live: bool) -> bytes:
    """Return the PDF of a letter of this moment; a letter of test mode says so."""
    page = create(subject, created_at=at, left=20, top=22)
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
    return finish(page, subject)


class Pen:
    """Writes texts of one font, size and colour, without the cost of a cell of the PDF library for each.

    What it writes names its font and colour itself, so nothing that was drawn before or after changes how it reads.
    """

    def __init__(self, page: "FPDF", style: Literal["", "B"], size: float, colour: str) -> None:
        self._page, self._size = page, size
        self._font = page.fonts[f"roboto{style}"]
        red, green, blue = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
        self._begin = f"BT /F{self._font.i} {size:.2f} Tf {red:.3f} {green:.3f} {blue:.3f} rg"
        self._codes, self._widths = _Codes(self._font), _Widths(self._font)
        self._width_of = self._widths.__getitem__
        self._scale = size * 0.001 / page.k
        self._pages: set[int] = set()

    def measure(self, text: str) -> float:
        """Return the width of a text in millimetres."""
        return sum(map(self._width_of, text)) * self._scale

    def cut(self, text: str, width: float) -> str:
        """Return a text composed, and cut to a width."""
        return fit(self.measure, unicodedata.normalize("NFC", text), width)

    def wrap(self, text: str, width: float) -> list[str]:
        """Divide a text into lines of a width between its words, and a word within itself where it is wider."""
        lines: list[str] = []
        for word in text.split():
            joined = f"{lines[-1]} {word}" if lines else word
            if self.measure(joined) <= width:
                lines[-1:] = [joined]
            else:
                lines += self.divide(word, width)
        last = _MOST_LINES - 1
        return lines if len(lines) <= _MOST_LINES else [*lines[:last], self.cut(" ".join(lines[last:]), width)]

    def divide(self, text: str, width: float) -> list[str]:
        """Divide a text into lines of a width, without regard to words."""
        lines, rest = [], text
        while len(rest) > 1 and self.measure(rest) > width:
            sizes = range(len(rest) - 1, 1, -1)
            size = next((size for size in sizes if self.measure(rest[:size]) <= width), 1)
            lines.append(rest[:size])
            rest = rest[size:]
        return [*lines, rest]

    def set(self, text: str, left: float, down: float = 0, *, narrowed: float = 1) -> str:
        """Return the operators of a text, at a place that counts from where `write` begins; narrowed to a share."""
        k = self._page.k
        return f"{narrowed:.3g} 0 0 1 {left * k:.2f} {-down * k:.2f} Tm <{text.translate(self._codes)}{_END}"

    def set_right(self, text: str, right: float, width: float) -> str:
        """Return the operators of a text that ends at a place; one that is wider than `width` is drawn narrower."""
        taken, k = sum(map(self._width_of, text)) * self._scale, self._page.k
        if taken <= width:
            return f"1 0 0 1 {(right - taken) * k:.2f} 0 Tm <{text.translate(self._codes)}{_END}"
        return self.set(text, right - width, narrowed=width / taken)

    def write(self, left: float, base: float, texts: Iterable[str]) -> None:
        """Write texts that were set, from a left edge and a base line of the current page on."""
        page = self._page
        if page.page not in self._pages:
            # That the page uses the font is written in its resources.
            self._pages.add(page.page)
            page._set_font_for_page(self._font, self._size)  # noqa: SLF001 fpdf2 has no public way
            page.current_font_is_set_on_page = False
        at = f"q 1 0 0 1 {left * page.k:.2f} {(page.h - base) * page.k:.2f} cm"
        page._out(f"{at} {self._begin} {' '.join(texts)} ET Q")  # noqa: SLF001 fpdf2 has no public way


class _Codes(dict[int, str]):
    """The code of each character in the font of a document, as the digits of its PDF; for `str.translate`."""

    def __init__(self, font: object) -> None:
        super().__init__()
        self._pick = font.subset.pick  # type: ignore[attr-defined]

    def __missing__(self, character: int) -> str:
        picked = self._pick(character)
        self[character] = f"{self._pick(ord(_REPLACEMENT)) if picked is None else picked:04x}"
        return self[character]


class _Widths(dict[str, float]):
    """The width of each character in thousandths of the size."""

    def __init__(self, font: object) -> None:
        super().__init__()
        self._font = font

    def __missing__(self, character: str) -> float:
        known = character if ord(character) in self._font.glyph_ids else _REPLACEMENT  # type: ignore[attr-defined]
        self[character] = float(self._font.cw[ord(known)])  # type: ignore[attr-defined]
        return self[character]


@dataclass(frozen=True, slots=True)
class TableColumn:
    """A column: heading, width in millimetres, and its kind.

    A `name` goes on in the next line between its words, a `code` anywhere, a `number` stands at the right, an `amount`
    is given in kobo and added up.
    """

    heading: str
    width: float
    kind: Literal["name", "code", "number", "amount"] = "name"


class LongTable:
    """Rows on as many pages as they need: each page has the heading, and the sums until its end."""

    def __init__(self, page: "FPDF", columns: Sequence[TableColumn], *, row: float = 4.6, size: float = 7) -> None:
        self._page, self._columns, self._row = page, columns, row
        self._plain, self._bold = Pen(page, "", size, INK), Pen(page, "B", size + 0.5, TEAL)
        self._rights = list(accumulate(column.width for column in columns))
        self._setters = [self._setter(column, right) for column, right in zip(columns, self._rights, strict=True)]
        self._wrapped = [place for place, column in enumerate(columns) if column.kind in _NARROWEST]
        self._sums = {place: 0 for place, column in enumerate(columns) if column.kind == "amount"}
        self._bottom = page.h - _FOOT - 2 * row

    def draw(self, rows: Iterable[Sequence[str | int]]) -> None:
        """Draw the rows from a new page on, and their total."""
        page, amounts = self._page, list(self._sums)
        self._begin_page()
        for row in rows:
            texts = [set_text(given) for set_text, given in zip(self._setters, row, strict=True)]
            lines = max((texts[place].count(_END) for place in self._wrapped), default=1)
            height = self._row * (1 + _LINE_SHARE * (lines - 1))
            if page.get_y() + height > self._bottom:
                self._write_sums("Carried forward")
                self._begin_page()
            self._plain.write(LEFT, page.get_y() + 3.2, texts)
            page.set_y(page.get_y() + height)
            for place in amounts:
                self._sums[place] += int(row[place])
        self._write_sums("Total")

    def _begin_page(self) -> None:
        page = self._page
        page.add_page()
        headings = [self._bold_text(column.heading, place) for place, column in enumerate(self._columns)]
        self._bold.write(LEFT, 14, headings)
        page.set_draw_color(TEAL)
        page.set_line_width(0.2)
        page.line(LEFT, 16, page.w - LEFT, 16)
        page.set_y(17)

    def _write_sums(self, label: str) -> None:
        page = self._page
        page.line(LEFT, page.get_y() + 0.4, page.w - LEFT, page.get_y() + 0.4)
        sums = [self._bold_text(_format(minor), place) for place, minor in self._sums.items()]
        self._bold.write(LEFT, page.get_y() + 4, [self._bold.set(label, _GAP), *sums])

    def _bold_text(self, text: str, place: int) -> str:
        column, right = self._columns[place], self._rights[place]
        if column.kind in {"number", "amount"}:
            return self._bold.set_right(text, right - _GAP, column.width - 2 * _GAP)
        return self._bold.set(text, right - column.width + _GAP)

    def _setter(self, column: TableColumn, right: float) -> "Callable[[Any], str]":
        """Return what makes the operators of a column's cells; names repeat, so they are remembered."""
        pen, left, end, width = self._plain, right - column.width + _GAP, right - _GAP, column.width - 2 * _GAP
        if column.kind == "amount":
            return lambda minor: pen.set_right(_format(minor), end, width)
        if column.kind == "number":
            return lambda text: pen.set_right(text, end, width)
        if column.kind == "name":
            return lru_cache(_REMEMBERED)(lambda text: self._set_lines(column, text, left))
        return lambda text: self._set_lines(column, text, left)

    def _set_lines(self, column: TableColumn, text: str, left: float) -> str:
        """Set a text on one line, a little narrower if need be, and on several lines if that is not enough."""
        pen, width, whole = self._plain, column.width - 2 * _GAP, unicodedata.normalize("NFC", text)
        narrowed = width / max(width, pen.measure(whole))
        if narrowed >= _NARROWEST[column.kind]:
            return pen.set(whole, left, narrowed=narrowed)
        lines = pen.wrap(whole, width) if column.kind == "name" else pen.divide(whole, width)
        return " ".join(pen.set(line, left, place * self._row * _LINE_SHARE) for place, line in enumerate(lines))


def _format(minor: int) -> str:
    sign, absolute = ("-", -minor) if minor < 0 else ("", minor)
    return f"{sign}{absolute // 100:,}.{absolute % 100:02d}"
