"""Judgement of rows: one code decides each, others stand beside it (contract B4)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any, Final
from uuid import UUID

from core import clock, money
from core.covers import ages, credit_life, request_parts
from core.covers.cover import Price, Term
from core.errors import InvalidInput
from core.services.catalogue.products import ProductForSale
from core.services.selling.duplicate_guard import EarlierPolicy, hash_risk
from core.services.selling.loan_books.columns import EXIT_REASONS
from core.services.selling.loan_books.row_values import RowValues
from core.states.loan_books import RowOutcome

# Products may say more than the least age: the oldest at the start, and what a loan may come to, in naira.
MAXIMUM_AGE, LEAST_LOAN, MOST_LOAN = "maximum_age", "minimum_loan", "maximum_loan"
# In the order in which one of them decides; only the last refers the row, and warnings never decide.
_DECIDING: Final = (
    *("MISSING_REQUIRED", "MALFORMED_VALUE", "DUPLICATE_IN_FILE", "UNKNOWN_REASON", "UNKNOWN_LOAN", "ALREADY_ENDED"),
    *("EXIT_OUTSIDE_COVER", "CLAIM_OPEN", "ALREADY_COVERED", "START_IN_FUTURE", "BEFORE_AGREEMENT", "TERM_OVER"),
    *("AGE_OUT_OF_BOUNDS", "AMOUNT_OUT_OF_BOUNDS", "PRODUCT_CLOSED", "ABOVE_FREE_COVER_LIMIT"),
)
_RANK: Final = {code: place for place, code in enumerate(_DECIDING)}
WARNINGS: Final = (
    *("CONTACT_MISSING", "NAME_SPLIT", "LEADING_ZEROS_LOST", "BORROWER_HAS_OTHER_LOAN", "UNUSUAL_AMOUNT"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Rules:
    """The rules of a book: the product with its rates now, the lender's agreement, and what the book says."""

    product: ProductForSale
    is_open: bool
    agreed_from: date | None
    free_cover_minor: int | None
    benefits: Sequence[str]


@dataclass(slots=True)
class Judged:
    """One row as it stands now; `found` has each code with its words."""

    line: int
    cells: list[str]
    values: RowValues
    found: dict[str, str] = field(default_factory=dict)
    risk_hash: str | None = None
    price: Price | None = None
    policy_id: UUID | None = None
    refund_minor: int | None = None
    insured: RowOutcome | None = None

    @property
    def facts(self) -> dict[str, Any]:
        """The values of the row by column."""
        return self.values.facts

    @property
    def code(self) -> str | None:
        """The one code that decides the row."""
        return min((code for code in self.found if code in _RANK), key=_RANK.__getitem__, default=None)

    @property
    def outcome(self) -> RowOutcome:
        """The outcome of the row."""
        if self.code is None:
            return self.insured or RowOutcome.VALID
        return RowOutcome.REFERRED if self.code == "ABOVE_FREE_COVER_LIMIT" else RowOutcome.REJECTED

    @property
    def also(self) -> list[str]:
        """The other codes, warnings too."""
        return [code for code in (*_DECIDING, *WARNINGS) if code in self.found and code != self.code]

    @property
    def reason(self) -> str | None:
        """The words of the code that decides the row, or of its warnings."""
        told = [self.found[self.code]] if self.code else [self.found[code] for code in self.also]
        return "; ".join(words for words in told if words)[:500] or None

    @property
    def premium_minor(self) -> int | None:
        """The premium of a row that is priced, or what goes back of one that ends."""
        return self.refund_minor if self.price is None else money.to_minor(self.price.total)


def judge_values(line: int, cells: list[str], values: RowValues, seen: dict[str, int]) -> Judged:
    """Judge a row by itself, and by the lines before it."""
    row = Judged(line, cells, values)
    if values.missing:
        row.found["MISSING_REQUIRED"] = f"{', '.join(values.missing)} must be filled in"
    if values.malformed:
        row.found["MALFORMED_VALUE"] = "; ".join(f"{name} {words}" for name, words in values.malformed.items())
    row.found |= dict.fromkeys(values.warnings, "")
    key = values.facts.get("loan_account_number") or values.facts.get("policy_number")
    if key and (first := seen.setdefault(key, line)) != line:
        row.found["DUPLICATE_IN_FILE"] = f"the same loan stands in line {first:,}"
    if account := values.facts.get("loan_account_number"):
        row.risk_hash = hash_risk(account)
    return row


def term_of(facts: Mapping[str, Any]) -> Term | None:
    """Return the term of a loan; None where start or months could not be read."""
    if "loan_start_date" not in facts or "loan_tenure_months" not in facts:
        return None
    return Term.from_months(date.fromisoformat(facts["loan_start_date"]), facts["loan_tenure_months"])


def judge_addition(row: Judged, rules: Rules, insured: EarlierPolicy | None, *, has_other: bool) -> None:
    """Judge a loan to be covered by its product and agreement, and price it."""
    facts, term = row.facts, term_of(row.facts)
    if insured is not None:
        row.found["ALREADY_COVERED"] = f"this loan is covered by policy {insured.number or 'that waits for its number'}"
        row.policy_id = insured.id
    if has_other:
        row.found["BORROWER_HAS_OTHER_LOAN"] = "the borrower has cover for another loan"
    if term is not None and term.start_on is not None:
        _judge_term(row, rules, term, term.start_on)
    if not rules.is_open:
        row.found["PRODUCT_CLOSED"] = f"{rules.product.name} is not on sale any more"
    if "loan_amount" in facts and "loan_tenure_months" in facts:
        _judge_amount(row, rules, Decimal(facts["loan_amount"]))


def _judge_term(row: Judged, rules: Rules, term: Term, start_on: date) -> None:
    if start_on > clock.today():
        row.found["START_IN_FUTURE"] = "loan_start_date is in the future: cover it once the loan is paid out"
    if rules.agreed_from and start_on < rules.agreed_from:
        row.found["BEFORE_AGREEMENT"] = f"the loan began before the agreement of {clock.format_day(rules.agreed_from)}"
    if request_parts.is_over(term):
        row.found["TERM_OVER"] = "the loan is over already"
    if "date_of_birth" in row.facts:
        age, meta = ages.age_on(start_on, date.fromisoformat(row.facts["date_of_birth"])), rules.product.rates.meta
        least, most = ages.minimum_age(meta), int(meta.get(MAXIMUM_AGE, 200))
        if not least <= age <= most:
            bounds = f"at least {least}" if age < least else f"at most {most}"
            row.found["AGE_OUT_OF_BOUNDS"] = f"the borrower must be {bounds} years old when the loan begins"


def _judge_amount(row: Judged, rules: Rules, amount: Decimal) -> None:
    meta = rules.product.rates.meta
    least, most = Decimal(meta.get(LEAST_LOAN, 0)), Decimal(meta.get(MOST_LOAN, money.MAX_AMOUNT))
    if not amount or not least <= amount <= most:
        bound = "at most " + money.format_naira(money.to_minor(most)) if amount > most else "above zero"
        if amount and amount < least:
            bound = "at least " + money.format_naira(money.to_minor(least))
        row.found["AMOUNT_OUT_OF_BOUNDS"] = f"loan_amount must be {bound} for this product"
        return
    chosen = row.facts.get("benefit_coverage") or list(rules.benefits)
    try:
        row.price = credit_life.compute_price(amount, row.facts["loan_tenure_months"], chosen, rules.product.rates)
    except InvalidInput as error:
        row.found["MALFORMED_VALUE"] = str(error)
        return
    if not row.price.total:
        row.found["AMOUNT_OUT_OF_BOUNDS"] = "loan_amount must come to a premium: what costs nothing is not covered"
    if rules.free_cover_minor is not None and money.to_minor(amount) > rules.free_cover_minor:
        limit = money.format_naira(rules.free_cover_minor)
        row.found["ABOVE_FREE_COVER_LIMIT"] = f"the loan is above the free cover limit of {limit}: sell it by itself"


def judge_reason(row: Judged) -> None:
    """Judge why a loan ended."""
    if (reason := row.facts.get("exit_reason")) and reason not in EXIT_REASONS:
        row.found["UNKNOWN_REASON"] = f"exit_reason must be one of {', '.join(EXIT_REASONS)}"
