"""The preview of a book: what it holds and comes to, summed while its rows are read, with a hash (contract B5)."""

import hashlib
import heapq
import json
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from statistics import median_low
from typing import Any, Final

from core import clock, money
from core.covers import ages
from core.services.catalogue.products import ProductForSale
from core.services.selling.loan_books.judging import WARNINGS, Judged
from core.states.loan_books import RowOutcome

_LARGEST: Final = 10
# A loan above so many times the usual one of its book is looked at.
UNUSUAL_TIMES: Final = 20
_AGE_BANDS: Final = ((0, 25), (26, 35), (36, 45), (46, 55), (56, 65), (66, 200))


@dataclass(slots=True)
class Tally:
    """The sums of the rows so far; amounts in kobo."""

    outcomes: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)
    warnings: Counter[str] = field(default_factory=Counter)
    premium: Counter[tuple[str, ...]] = field(default_factory=Counter)
    mca_minor: int = 0
    distributor_minor: int = 0
    insured_minor: int = 0
    bands: Counter[str] = field(default_factory=Counter)
    amounts: "array[int]" = field(default_factory=lambda: array("q"))
    lines: "array[int]" = field(default_factory=lambda: array("q"))
    largest: list[tuple[int, int, str, int]] = field(default_factory=list)
    _digest: Any = field(default_factory=hashlib.sha256)

    @property
    def rows(self) -> int:
        """The number of rows so far."""
        return sum(self.outcomes.values())

    def add(self, row: Judged, product: ProductForSale, benefits: Sequence[str]) -> None:
        """Count one row."""
        outcome, code = row.outcome, row.code
        self.outcomes[outcome] += 1
        if code:
            self.codes[code] += 1
        self.warnings.update(each for each in row.also if each in WARNINGS)
        minor = row.premium_minor or 0
        account = str(row.facts.get("loan_account_number", ""))
        self._digest.update(f"{row.line} {account} {outcome} {minor}\n".encode())
        if outcome is RowOutcome.VALID and row.price is not None:
            self._add_sale(row, product, tuple(row.facts.get("benefit_coverage") or benefits), minor)
        elif outcome is RowOutcome.VALID:
            self.premium[()] += minor

    def _add_sale(self, row: Judged, product: ProductForSale, benefits: tuple[str, ...], minor: int) -> None:
        split = money.split(minor, mca_bp=product.mca_commission_bp, distributor_bp=product.distributor_commission_bp)
        self.premium[benefits] += minor
        self.mca_minor += split.mca_profit_minor
        self.distributor_minor += split.distributor_profit_minor
        amount = money.to_minor(row.price.sum_insured) if row.price and row.price.sum_insured else 0
        self.insured_minor += amount
        self.amounts.append(amount)
        self.lines.append(row.line)
        account = str(row.facts["loan_account_number"])
        heapq.heappush(self.largest, (amount, row.line, account, minor))
        if len(self.largest) > _LARGEST:
            heapq.heappop(self.largest)
        born, start = (date.fromisoformat(row.facts[name]) for name in ("date_of_birth", "loan_start_date"))
        self.bands[_band(ages.age_on(start, born))] += 1

    def find_unusual(self) -> list[int]:
        """Return the lines whose loan is far above what is usual in the book."""
        if not self.amounts:
            return []
        most = UNUSUAL_TIMES * median_low(self.amounts)
        return [line for line, amount in zip(self.lines, self.amounts, strict=True) if amount > most]

    def build(self, product: ProductForSale, compared: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
        """Return the preview as plain data, amounts as decimal text, and its hash."""
        total = sum(self.premium.values())
        commissions = self.mca_minor + self.distributor_minor
        figures: dict[str, Any] = {
            "rows": self.rows,
            "valid": self.outcomes[RowOutcome.VALID],
            "outcomes": dict(sorted(self.outcomes.items())),
            "codes": dict(self.codes.most_common()),
            "warnings": dict(self.warnings.most_common()),
            "premium": money.to_wire(total),
            "premium_by_benefit": _by_benefit(self.premium, product),
            "insured": money.to_wire(self.insured_minor),
            "mca_profit": money.to_wire(self.mca_minor),
            "distributor_profit": money.to_wire(self.distributor_minor),
            "net_due": money.to_wire(total - commissions),
            "ages": {_name(band): self.bands[_name(band)] for band in _AGE_BANDS},
            "largest": [
                {"line": line, "loan_account_number": account, "loan_amount": _wire(amount), "premium": _wire(minor)}
                for amount, line, account, minor in sorted(self.largest, reverse=True)
            ],
            "compared": dict(compared),
            "rates": [str(product.version_id), str(product.share_id or "")],
        }
        share = str(product.share_id or "")
        told = [figures["outcomes"], figures["premium"], str(product.version_id), share, self._digest.hexdigest()]
        return figures, hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


_wire = money.to_wire


def _by_benefit(premium: Mapping[tuple[str, ...], int], product: ProductForSale) -> dict[str, str]:
    """Divide the premium of each choice of benefits by their shares; the last benefit of a choice has what is left."""
    sums: Counter[str] = Counter()
    for benefits, minor in premium.items():
        if not benefits:
            continue
        shares = {name: float(product.rates.meta["shares"][name]) for name in benefits}
        left, whole = minor, sum(shares.values())
        for name in benefits[:-1]:
            part = round(minor * shares[name] / whole) if whole else 0
            sums[name] += part
            left -= part
        sums[benefits[-1]] += left
    return {name: money.to_wire(minor) for name, minor in sums.items()}


def _band(age: int) -> str:
    return next(_name(band) for band in _AGE_BANDS if band[0] <= age <= band[1])


def _name(band: tuple[int, int]) -> str:
    least, most = band
    return f"to {most}" if not least else f"from {least}" if most > 120 else f"{least} to {most}"


def month_before(month: date) -> date:
    """Return the first day of the month before."""
    return clock.add_months(month, -1)
