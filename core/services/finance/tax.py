"""Withholding tax and VAT on commission: dated rates of the store, and the monthly schedules (contract F4)."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.services.finance.statements import reading as statement_reading
from core.services.lists.spreadsheets import MONEY, SIGNED_MONEY, TEXT, WORD, SheetColumn, csv_field, csv_line
from core.states.finance import StatementState
from core.store.access import ScopedSession
from core.store.schema.tables import Agreement, Statement, TaxRate


@dataclass(frozen=True, kw_only=True, slots=True)
class MonthTax:
    """The rates, in basis points, that hold for one payee and month, with the reason of each."""

    vat_bp: int = 0
    withheld_bp: int = 0
    vat_source: str = "No VAT: the payee does not charge it"
    withheld_source: str = "No rate of withholding tax is on file for this month: none was withheld"


_UNEARNED: Final = "Nothing was earned in this month"
NO_TAX = MonthTax(vat_source="None on this account", withheld_source="None on this account: premium is exempt")


def get_rate(session: ScopedSession, kind: str, on: date) -> TaxRate | None:
    """Return the rate that holds on a day, None before the first; of one day that which was confirmed last."""
    query = (
        sa.select(TaxRate)
        .where(col(TaxRate.kind) == kind, col(TaxRate.effective_on) <= on, col(TaxRate.state) == "confirmed")
        .order_by(col(TaxRate.effective_on).desc(), col(TaxRate.decided_at).is_(None), col(TaxRate.decided_at).desc())
        .limit(1)
    )
    found: TaxRate | None = session.execute(query).scalar_one_or_none()
    return found


def hold_rates(session: ScopedSession, *, is_changing: bool = False) -> None:
    """Wait for whoever changes the rates at this instant; who changes them, for whoever states a month by them."""
    rates = sa.select(col(TaxRate.id)).where(col(TaxRate.state) == "confirmed")
    session.execute(rates.with_for_update(read=not is_changing))


def lacks_withholding(session: ScopedSession, month: date) -> bool:
    """Return True for a month before the first rate of withholding tax, in which nothing can be withheld."""
    return get_rate(session, "withholding", month) is None


class MonthRates(NamedTuple):
    """The rates of both taxes that hold in a month; None before the first."""

    vat: TaxRate | None
    withholding: TaxRate | None


def load_rates(session: ScopedSession, month: date) -> MonthRates:
    """Return the rates of a month."""
    return MonthRates(get_rate(session, "vat", month), get_rate(session, "withholding", month))


def assess(rates: MonthRates, terms: Agreement | None, commission_minor: int) -> MonthTax:
    """Return the taxes on a distributor's commission of a month, which may be negative.

    Of clawbacks above what was earned nothing is withheld, and the VAT that was added to what they take back goes too.
    """
    if not commission_minor:
        return MonthTax(withheld_source=_UNEARNED, vat_source="Nothing was earned")
    vat = rates.vat if terms and terms.charges_vat else None
    bp, source = _withheld(rates.withholding, terms, commission_minor)
    return MonthTax(
        vat_bp=vat.resident_bp if vat else 0,
        withheld_bp=bp,
        vat_source=vat.source if vat else MonthTax().vat_source,
        withheld_source=source,
    )


def _withheld(rate: TaxRate | None, terms: Agreement | None, commission_minor: int) -> tuple[int, str]:
    if commission_minor <= 0:
        return 0, _UNEARNED
    if rate is None:
        return 0, MonthTax().withheld_source
    has_tin, is_small = bool(terms and terms.tin), bool(terms and terms.is_small)
    limit = rate.small_limit_minor
    if has_tin and is_small and limit is not None and commission_minor <= limit:
        return 0, f"A small company with a tax number: free up to {money.format_naira(limit)} a month. {rate.source}"
    bp = rate.resident_bp if terms is None or terms.is_resident else rate.non_resident_bp
    return (bp, rate.source) if has_tin else (bp * rate.without_tin_factor, f"Without a tax number. {rate.source}")


class Spread:
    """A tax on a running sum, divided over its lines so that the parts make the tax of the whole, to the kobo."""

    def __init__(self, basis_points: int) -> None:
        self._bp, self._base, self._taxed = basis_points, 0, 0

    def next(self, base_minor: int) -> int:
        """Return the part of the next line."""
        self._base += base_minor
        whole = money.share(self._base, self._bp)
        part, self._taxed = whole - self._taxed, whole
        return part


KINDS: Final = {"withholding": "Withholding tax", "vat": "VAT"}
# The same within a sentence.
IN_TEXT: Final = {"withholding": "withholding tax", "vat": "VAT"}
# The columns of a statement with the amount and the rate of each tax.
_COLUMNS_OF: Final = {"withholding": ("withheld_minor", "withheld_bp"), "vat": ("vat_minor", "vat_bp")}
COLUMNS: Final = (
    SheetColumn("payee", TEXT, 30),
    SheetColumn("tax_number", WORD, 18),
    SheetColumn("statement", WORD),
    SheetColumn("state", WORD),
    SheetColumn("base", SIGNED_MONEY),
    SheetColumn("rate_percent", MONEY),
    SheetColumn("tax", SIGNED_MONEY),
    SheetColumn("source", TEXT, 60),
)


class TaxLine(NamedTuple):
    """One payee of a month; amounts in kobo, the rate in basis points."""

    statement_id: UUID
    payee: str
    tax_number: str
    statement: str
    state: str
    base_minor: int
    rate_bp: int
    tax_minor: int
    source: str


def list_lines(session: ScopedSession, kind: str, month: date) -> list[TaxLine]:
    """List the payees of a month by name; those without any of this tax are left out."""
    lines = [_line(kind, row) for row in statement_reading.list_of_distributors(session, month)]
    return sorted((line for line in lines if line.tax_minor), key=lambda line: (line.payee.lower(), line.statement))


def csv_chunks(lines: list[TaxLine]) -> Iterator[bytes]:
    """Yield the CSV of a schedule with its total."""
    yield csv_line(*(column.name for column in COLUMNS))
    for line in lines:
        amounts = map(money.to_wire, (line.base_minor, line.rate_bp, line.tax_minor))
        words = (csv_field(line.payee), csv_field(line.tax_number), line.statement, line.state)
        yield csv_line(*words, *amounts, csv_field(line.source))
    base, tax = (sum(getattr(line, name) for line in lines) for name in ("base_minor", "tax_minor"))
    yield csv_line("total", "", "", "", money.to_wire(base), "", money.to_wire(tax), "")


def facts_of(kind: str, month: date, lines: list[TaxLine]) -> list[tuple[str, Any]]:
    """Return the selection of a schedule as labels and values."""
    return [
        ("Schedule", KINDS[kind]),
        ("Month", f"{month:%B %Y}, days in Africa/Lagos"),
        ("Basis", "The commission statements of the month that are not void"),
        ("Not approved yet", sum(line.state == StatementState.PREPARED for line in lines)),
        ("Tax", float(money.to_naira(sum(line.tax_minor for line in lines)))),
    ]


def _line(kind: str, row: Statement) -> TaxLine:
    amount, rate = _COLUMNS_OF[kind]
    particulars = row.facts.get("said", {})
    stated = str(particulars.get(KINDS[kind], ""))
    return TaxLine(
        statement_id=row.id,
        payee=str(row.facts.get("party", "")),
        tax_number=str(particulars.get("Tax number", "")),
        statement=statement_reading.number_of(row),
        state=row.state,
        base_minor=row.earned_minor + row.clawback_minor + row.adjusted_minor,
        rate_bp=_rate(row, rate, stated),
        tax_minor=getattr(row, amount),
        source=re.sub(r"^[\d.]+ %\. ", "", stated),
    )


def _rate(row: Statement, name: str, particulars: str) -> int:
    """Return the rate; a statement of an earlier release has it in words only: "5.00 %. Finance Act ..."."""
    kept = row.facts.get("rates", {}).get(name)
    if kept is not None:
        return int(kept)
    found = re.match(r"(\d+)\.(\d\d) %", particulars)
    return int(found[1]) * 100 + int(found[2]) if found else 0
