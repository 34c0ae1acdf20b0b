"""Monthly schedules of withholding tax and VAT: payee, base, rate and tax, from the statements (contract F4)."""

import re
from collections.abc import Iterator
from datetime import date
from typing import Any, Final, NamedTuple
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.services.finance.statements import reading as statement_reading
from core.services.lists.spreadsheets.columns import MONEY, SIGNED_MONEY, TEXT, WORD, Column
from core.services.lists.spreadsheets.formula_escaping import csv_field
from core.states.finance import StatementState
from core.store.access import ScopedSession
from core.store.schema.tables import Statement

KINDS: Final = {"withholding": "Withholding tax", "vat": "VAT"}
_TAX: Final = {
    "withholding": ("withheld_minor", "withheld_bp", "Withholding tax"),
    "vat": ("vat_minor", "vat_bp", "VAT"),
}
COLUMNS: Final = (
    Column("payee", TEXT, 30),
    Column("tax_number", WORD, 18),
    Column("statement", WORD),
    Column("state", WORD),
    Column("base", SIGNED_MONEY),
    Column("rate_percent", MONEY),
    Column("tax", SIGNED_MONEY),
    Column("source", TEXT, 60),
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
    query = sa.select(Statement).where(
        col(Statement.account) == "distributor",
        col(Statement.month) == month,
        col(Statement.state) != StatementState.VOID,
        col(Statement.reverses_id).is_(None),
    )
    lines = [_line(kind, row) for row in session.execute(query).scalars()]
    return sorted((line for line in lines if line.tax_minor), key=lambda line: (line.payee.lower(), line.statement))


def csv_chunks(lines: list[TaxLine]) -> Iterator[bytes]:
    """Yield the CSV of a schedule with its total."""
    yield (",".join(column.name for column in COLUMNS) + "\r\n").encode()
    for line in lines:
        fields = (
            *(csv_field(line.payee), csv_field(line.tax_number), line.statement, line.state),
            *(money.to_wire(line.base_minor), money.to_wire(line.rate_bp), money.to_wire(line.tax_minor)),
            csv_field(line.source),
        )
        yield (",".join(fields) + "\r\n").encode()
    base, tax = (sum(getattr(line, name) for line in lines) for name in ("base_minor", "tax_minor"))
    yield f"total,,,,{money.to_wire(base)},,{money.to_wire(tax)},\r\n".encode()


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
    amount, rate, label = _TAX[kind]
    particulars = row.facts.get("said", {})
    return TaxLine(
        statement_id=row.id,
        payee=str(row.facts.get("party", "")),
        tax_number=str(particulars.get("Tax number", "")),
        statement=statement_reading.number_of(row),
        state=row.state,
        base_minor=row.earned_minor + row.clawback_minor + row.adjusted_minor,
        rate_bp=_rate(row, rate, str(particulars.get(label, ""))),
        tax_minor=getattr(row, amount),
        source=re.sub(r"^[\d.]+ %\. ", "", str(particulars.get(label, ""))),
    )


def _rate(row: Statement, name: str, particulars: str) -> int:
    """Return the rate; a statement of an earlier release has it in words only: "5.00 %. Finance Act ..."."""
    kept = row.facts.get("rates", {}).get(name)
    if kept is not None:
        return int(kept)
    found = re.match(r"(\d+)\.(\d\d) %", particulars)
    return int(found[1]) * 100 + int(found[2]) if found else 0
