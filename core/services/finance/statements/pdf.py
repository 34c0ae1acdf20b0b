"""Statements as PDF: the account on the first page, then every line; byte-identical for the same statement."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING, Any, Final

from core import clock, money
from core.services.files import printing
from core.services.files.printing import TableColumn
from core.services.finance.statements.files import Paper

if TYPE_CHECKING:
    from fpdf import FPDF

_ACCOUNT: Final = 150.0
_COLUMNS: Final = (
    TableColumn("No.", 12, "number"),
    TableColumn("Date", 15),
    TableColumn("Transaction", 16),
    TableColumn("Policy number", 34, "code"),
    TableColumn("Customer", 28),
    TableColumn("Product", 38),
    TableColumn("Cover", 24),
    TableColumn("Premium", 26, "amount"),
    TableColumn("Rate", 10, "number"),
    TableColumn("Commission", 23, "amount"),
    TableColumn("Tax", 18, "amount"),
    TableColumn("Net", 25, "amount"),
)


def render(paper: Paper, batches: Iterable[Iterable[Any]]) -> bytes:
    """Return the PDF of a statement with all its lines."""
    page = printing.create(
        f"{paper.title} {paper.number}",
        created_at=paper.dated_at,
        orientation="landscape",
    )
    printing.head(page, title=paper.title, number=paper.number, left=paper.party, right=f"{paper.month:%B %Y}")
    _account(page, paper)
    _basis(page, paper)
    if paper.lines:
        printing.LongTable(page, _COLUMNS).draw(_rows(paper.names, chain.from_iterable(batches)))
    if paper.status:
        printing.stamp(page, paper.status)
    named = f"{paper.title} {paper.number}{f' · {paper.status}' if paper.status else ''}"
    return printing.finish(page, f"{named} · SHA-256 {paper.sha256} · {paper.party}")


def _account(page: "FPDF", paper: Paper) -> None:
    printing.heading(page, "Account")
    for label, minor in paper.trailer:
        is_balance = label.endswith("balance")
        page.set_font("Roboto", "B" if is_balance else "", 10)
        amount, width = money.format_naira(minor), _ACCOUNT - printing.AMOUNT
        printing.fact(page, [(label, width)], height=6.4, amount=amount, quiet=not is_balance, ruled=True)
    printing.rule(page, _ACCOUNT)
    page.set_font("Roboto", "", 9)
    printing.fact(page, [(_describe(paper), printing.width_of(page))], height=7)
    page.set_y(page.get_y() + 2)


def _describe(paper: Paper) -> str:
    if paper.reverses:
        return f"This statement reverses {paper.reverses} as a whole; its movements are stated again."
    if paper.closing_minor < 0:
        return "A negative balance is owed to the platform; it is carried to the next statement."
    return "The closing balance is owed by the platform, and opens the next statement."


def _basis(page: "FPDF", paper: Paper) -> None:
    page.set_font("Roboto", "", 8.5)
    for label, value in paper.facts.get("said", {}).items():
        printing.fact(page, [(label, 40), (str(value), printing.width_of(page) - 40)], height=5)
    lines = f"{paper.lines:,} lines. The hash at the foot is that of the CSV file of this statement."
    printing.fact(page, [(lines, printing.width_of(page))], height=6)


def _rows(names: Mapping[str, str], lines: Iterable[Any]) -> Iterator[tuple[str | int, ...]]:
    for position, line in enumerate(lines, 1):
        yield (
            str(position),
            _format_day(line.occurred_at, "%d.%m.%Y"),
            line.kind,
            line.policy_number or "",
            line.customer,
            names.get(line.product_id, ""),
            " – ".join(_format_day(at, "%d.%m.%y") for at in (line.effective_at, line.expires_at) if at),
            line.premium_minor,
            f"{line.rate_bp / 100:.2f}",
            line.commission_minor,
            line.vat_minor - line.withheld_minor,
            line.net_minor,
        )


@lru_cache(maxsize=4_096)
def _format_day(at: datetime, pattern: str) -> str:
    return f"{clock.to_lagos_day(at):{pattern}}"
