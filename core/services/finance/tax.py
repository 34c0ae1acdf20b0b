"""Withholding tax and VAT on commission, by dated rates of the store (contract F4)."""

from dataclasses import dataclass
from datetime import date
from typing import NamedTuple

import sqlalchemy as sa
from sqlmodel import col

from core import money
from core.store.access import ScopedSession
from core.store.schema.tables import Agreement, TaxRate


@dataclass(frozen=True, kw_only=True, slots=True)
class MonthTax:
    """The rates, in basis points, that hold for one payee and month, with the reason of each."""

    vat_bp: int = 0
    withheld_bp: int = 0
    vat_source: str = "No VAT: the payee does not charge it"
    withheld_source: str = "No rate of withholding tax is on file for this month: none was withheld"


NO_TAX = MonthTax(vat_source="None on this account", withheld_source="None on this account: premium is exempt")


def get_rate(session: ScopedSession, kind: str, on: date) -> TaxRate | None:
    """Return the rate that holds on a day, None before the first."""
    query = (
        sa.select(TaxRate)
        .where(col(TaxRate.kind) == kind, col(TaxRate.effective_on) <= on)
        .order_by(col(TaxRate.effective_on).desc())
        .limit(1)
    )
    found: TaxRate | None = session.execute(query).scalar_one_or_none()
    return found


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
    """Return the taxes on a distributor's commission of a month, which may be negative: then there are none."""
    if commission_minor <= 0:
        return MonthTax(withheld_source="Nothing was earned in this month", vat_source="Nothing was earned")
    vat = rates.vat if terms and terms.charges_vat else None
    bp, source = _withheld(rates.withholding, terms, commission_minor)
    return MonthTax(
        vat_bp=vat.resident_bp if vat else 0,
        withheld_bp=bp,
        vat_source=vat.source if vat else MonthTax().vat_source,
        withheld_source=source,
    )


def _withheld(rate: TaxRate | None, terms: Agreement | None, commission_minor: int) -> tuple[int, str]:
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
