"""Statements as files: the CSV whose hash a statement carries, and the same lines as a workbook and a PDF."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from core import clock, money
from core.services.files import printing
from core.services.files.printing import TableColumn
from core.services.lists import spreadsheets
from core.services.lists.spreadsheets import DATE, ID, INSTANT, SIGNED_MONEY, TEXT, WORD, SheetColumn, csv_field
from core.states.finance import StatementState

COLUMNS = (
    SheetColumn("number", WORD, 8),
    SheetColumn("created_at", INSTANT),
    SheetColumn("created_on", DATE),
    SheetColumn("transaction", WORD, 16),
    SheetColumn("policy_number", TEXT, 26),
    SheetColumn("customer", TEXT, 26),
    SheetColumn("product", TEXT, 26),
    SheetColumn("other", TEXT, 26),
    SheetColumn("effective_on", DATE),
    SheetColumn("expiry_on", DATE),
    *(SheetColumn(name, SIGNED_MONEY) for name in ("premium", "commissionable_base", "rate_percent", "commission")),
    *(SheetColumn(name, SIGNED_MONEY) for name in ("clawback", "vat", "withholding_tax", "net")),
    SheetColumn("movement_id", ID),
)
_MOST_PAYMENTS = 8


@dataclass(frozen=True, kw_only=True, slots=True)
class PaidLine:
    """One payment as a statement prints it; the amount in kobo lowers what we owe the party."""

    payment_id: UUID
    entry: str
    amount_minor: int
    value_on: date
    reference: str

    @property
    def label(self) -> str:
        """The payment in words: "Payment 3 Oct 2026, TRF/1"."""
        day = f"{self.value_on.day} {self.value_on:%b %Y}"
        verb = "Returned" if self.entry == "returned" else "Payment" if self.amount_minor > 0 else "Received"
        return f"{verb} {day}, {self.reference}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Paper:
    """Header and totals printed on a statement; amounts in kobo, positive when we owe the party."""

    title: str
    number: str
    account: str
    party: str
    month: date
    opening_minor: int
    premium_minor: int
    earned_minor: int
    clawback_minor: int
    adjusted_minor: int
    vat_minor: int
    withheld_minor: int
    paid_minor: int
    closing_minor: int
    lines: int
    sha256: str
    state: str
    facts: Mapping[str, Any]
    reverses: str | None = None
    payments: tuple[PaidLine, ...] = ()

    @property
    def dated_at(self) -> datetime:
        """The moment that its files bear: the end of its month, so that they are the same whenever they are made."""
        return clock.midnight(clock.add_months(self.month, 1))

    @property
    def status(self) -> str | None:
        """The words printed on a statement that does not count; None from its approval on, whatever was paid since."""
        if self.state == StatementState.PREPARED:
            return "Not approved"
        return self.state if self.state == StatementState.VOID else None

    @property
    def other_heading(self) -> str:
        """The heading of the other side of each line."""
        return "insurer" if self.account == "distributor" else "distributor"

    @property
    def names(self) -> dict[str, str]:
        """The names of products and parties by id as they were when it was prepared."""
        return dict(self.facts.get("names", {}))

    @property
    def trailer(self) -> list[tuple[str, int]]:
        """The opening balance, everything that changed it, and the closing balance."""
        rows = [
            ("Opening balance", self.opening_minor),
            ("Premium", self.premium_minor),
            ("Commission earned" if self.account == "distributor" else "Commission kept", self.earned_minor),
            ("Clawbacks" if self.account == "distributor" else "Commission given back", self.clawback_minor),
            ("Adjustments of commission", self.adjusted_minor),
            ("VAT", self.vat_minor),
            ("Withholding tax", -self.withheld_minor),
            *self.payment_lines,
            ("Closing balance", self.closing_minor),
        ]
        return [row for row in rows if row[1] or row[0].endswith("balance")]

    @property
    def payment_lines(self) -> list[tuple[str, int]]:
        """Each payment in words with its effect on the balance; one sum where they are too many for a page."""
        if 0 < len(self.payments) <= _MOST_PAYMENTS:
            return [(line.label, -line.amount_minor) for line in self.payments]
        return [("Payments", -self.paid_minor)]


def csv_chunks(paper: Paper, batches: Iterable[Iterable[Any]]) -> Iterator[bytes]:
    """Yield the CSV of a statement: heading, opening balance, lines, payments and closing balance."""
    heading = ",".join(paper.other_heading if column.name == "other" else column.name for column in COLUMNS)
    yield f"{heading}\r\n{_balance('opening balance', paper.opening_minor)}".encode()
    names = {key: csv_field(name) for key, name in paper.names.items()}
    position = 0
    for batch in batches:
        rows = []
        for line in batch:
            position += 1
            rows.append(_line(position, line, names))
        if rows:
            yield "".join(rows).encode()
    paid = "".join(map(_payment, paper.payments))
    if paper.paid_minor and not paper.payments:
        paid = _balance("payments", -paper.paid_minor)
    yield (paid + _balance("closing balance", paper.closing_minor)).encode()


def _balance(what: str, minor: int) -> str:
    return _sparse({"transaction": what, "net": money.to_wire(minor)})


def _payment(line: PaidLine) -> str:
    what = "payment" if line.entry == "paid" else "payment returned"
    known = {"created_on": str(line.value_on), "transaction": what, "policy_number": csv_field(line.reference)}
    return _sparse({**known, "net": money.to_wire(-line.amount_minor), "movement_id": str(line.payment_id)})


def _sparse(known: Mapping[str, str]) -> str:
    """Return a line that has only some of the columns."""
    return ",".join(known.get(column.name, "") for column in COLUMNS) + "\r\n"


def _line(position: int, line: Any, names: Mapping[str, str]) -> str:
    is_back = line.kind in {"cancellation", "decline"}
    commission, premium = money.to_wire(line.commission_minor), money.to_wire(line.premium_minor)
    fields = (
        str(position),
        clock.to_wire(line.occurred_at) or "",
        str(clock.to_lagos_day(line.occurred_at)),
        line.kind,
        csv_field(line.policy_number or ""),
        csv_field(line.customer),
        names.get(line.product_id, ""),
        names.get(line.other_id, ""),
        str(clock.to_lagos_day(line.effective_at)) if line.effective_at else "",
        str(clock.to_lagos_day(line.expires_at)) if line.expires_at else "",
        premium,
        premium,
        money.to_wire(line.rate_bp),
        "0.00" if is_back else commission,
        commission if is_back else "0.00",
        money.to_wire(line.vat_minor),
        money.to_wire(line.withheld_minor),
        money.to_wire(line.net_minor),
        line.movement_id,
    )
    return ",".join(fields) + "\r\n"


def write_workbook(path: Path, paper: Paper, chunks: Iterator[bytes]) -> None:
    """Write the workbook of a statement: its lines typed, and a sheet with the selection, the trailer and the hash."""
    columns = [
        SheetColumn(paper.other_heading if each.name == "other" else each.name, each.column_type, each.width)
        for each in COLUMNS
    ]
    for _ in spreadsheets.write_workbook(
        path, chunks, columns, title="Statement", facts=lambda: facts_of(paper), created_at=paper.dated_at
    ):
        pass


def facts_of(paper: Paper) -> list[tuple[str, Any]]:
    """Return the selection of a statement, its trailer and its hash, as labels and values."""
    return [
        ("Statement", f"{paper.title} {paper.number}"),
        ("Party", paper.party),
        ("Month", f"{paper.month:%B %Y}, days in Africa/Lagos"),
        *([("State", paper.status)] if paper.status else []),
        *((label, float(money.to_naira(minor))) for label, minor in paper.trailer),
        ("Lines", paper.lines),
        *((label, str(value)) for label, value in paper.facts.get("said", {}).items()),
        ("SHA-256 of the CSV", paper.sha256),
    ]


def names_of(ids: Iterable[UUID], names: Mapping[UUID, str]) -> dict[str, str]:
    """Return the names of some products and parties as a statement keeps them."""
    return {str(key): names[key] for key in sorted(set(ids)) if key in names}


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
    page = printing.create(f"{paper.title} {paper.number}", created_at=paper.dated_at, orientation="landscape")
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
            _format_day(line.occurred_at, "%d/%m/%Y"),
            line.kind,
            line.policy_number or "",
            line.customer,
            names.get(line.product_id, ""),
            " – ".join(_format_day(at, "%d/%m/%y") for at in (line.effective_at, line.expires_at) if at),
            line.premium_minor,
            f"{line.rate_bp / 100:.2f}",
            line.commission_minor,
            line.vat_minor - line.withheld_minor,
            line.net_minor,
        )


@lru_cache(maxsize=4_096)
def _format_day(at: datetime, pattern: str) -> str:
    return f"{clock.to_lagos_day(at):{pattern}}"
