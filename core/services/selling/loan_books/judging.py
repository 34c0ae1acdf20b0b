"""Judgement of rows: additions, exits and snapshots, and the preview that sums them with a hash (contract B3-B5)."""

import hashlib
import heapq
import json
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from statistics import median_low
from typing import Any, Final
from uuid import UUID

import sqlalchemy as sa
from sqlmodel import col

from core import clock, money
from core.covers import ages, credit_life, request_parts
from core.covers.cover import Price, Term
from core.errors import InvalidInput, StateForbids
from core.services.catalogue.for_sale import ProductForSale
from core.services.policies import changes, refunds
from core.services.selling.duplicate_guard import EarlierPolicy, hash_risk
from core.services.selling.loan_books.row_values import EXIT_REASONS, RowValues
from core.states.loan_books import RowOutcome
from core.store import policy_numbers
from core.store.access import AnySelect, Owner, ScopedSession
from core.store.schema.tables import LoanBook, LoanBookRow, Policy

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
        reasons = [self.found[self.code]] if self.code else [self.found[code] for code in self.also]
        return "; ".join(words for words in reasons if words)[:500] or None

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


_WORDS: Final = {
    "settled_early": "Loan settled early",
    "refinanced": "Loan refinanced",
    "written_off": "Loan written off",
    "cancelled": "Cancelled by the lender",
}


def judge(session: ScopedSession, book: LoanBook, rows: Sequence[Judged]) -> None:
    """Find the policy of each row, judge whether it ends on that day, and what goes back."""
    by_hash, by_number = _load(session, book, rows)
    for row in rows:
        if (reason := row.facts.get("exit_reason")) and reason not in EXIT_REASONS:
            row.found["UNKNOWN_REASON"] = f"exit_reason must be one of {', '.join(EXIT_REASONS)}"
        number = row.facts.get("policy_number")
        policy = by_number.get(policy_numbers.key(number)) if number else by_hash.get(row.risk_hash or "")
        if "MISSING_REQUIRED" in row.found or "MALFORMED_VALUE" in row.found:
            continue
        if policy is None:
            row.found["UNKNOWN_LOAN"] = "no policy of yours has this number"
            continue
        _judge_end(session, row, policy)


def _load(
    session: ScopedSession, book: LoanBook, rows: Sequence[Judged]
) -> tuple[dict[str, Policy], dict[str, Policy]]:
    hashes = [row.risk_hash for row in rows if row.risk_hash]
    keys = [policy_numbers.key(row.facts["policy_number"]) for row in rows if "policy_number" in row.facts]
    query = (
        sa.select(Policy)
        .where(
            *Owner.of(book).owns(Policy),
            col(Policy.product_id) == book.product_id,
            sa.or_(col(Policy.risk_hash).in_(hashes), col(Policy.number_key).in_(keys)),
        )
        .order_by(col(Policy.cancelled_at).is_(None), col(Policy.created_at))
    )
    # Of several policies of one loan the newest that has not ended counts.
    found = list(session.execute(query).scalars())
    return (
        {policy.risk_hash: policy for policy in found if policy.risk_hash},
        {policy.number_key: policy for policy in found if policy.number_key},
    )


def _judge_end(session: ScopedSession, row: Judged, policy: Policy) -> None:
    on = date.fromisoformat(row.facts["exit_date"])
    if policy.cancelled_at is not None or policy.declined_at is not None:
        row.found["ALREADY_ENDED"] = "the policy has ended already"
        return
    starts, ends = policy.start_at, policy.expiration_at
    if (
        starts is None
        or ends is None
        or not clock.to_lagos_day(starts) <= on <= min(clock.today(), clock.to_lagos_day(ends))
    ):
        row.found["EXIT_OUTSIDE_COVER"] = "exit_date must be a day of the cover, today at the latest"
        return
    if ends <= clock.now():
        row.found["ALREADY_ENDED"] = "the cover is over already"
        return
    try:
        found = refunds.compute_cancellation_refunds(session, policy, by_insurer=False, ended_on=on)
    except StateForbids as error:
        row.found["CLAIM_OPEN"] = str(error)
        return
    row.policy_id, row.refund_minor = policy.id, refunds.add_refunds(found).amount_minor


def end(session: ScopedSession, row: LoanBookRow, *, actor: str) -> None:
    """End the policy of a row as of its day; a row that cannot end any more is rejected with why."""
    policy = session.get_one(Policy, row.policy_id)
    try:
        change = changes.cancel(
            session,
            policy.id,
            actor=actor,
            reason=_WORDS[row.facts["exit_reason"]],
            by_insurer=False,
            expected_version=policy.version,
            ended_on=date.fromisoformat(row.facts["exit_date"]),
        )
    except StateForbids as error:
        row.outcome, row.code, row.reason = str(RowOutcome.REJECTED), "ALREADY_ENDED", str(error)[:500]
        return
    row.outcome = str(RowOutcome.ENDED)
    row.premium_minor = change.refund.amount_minor if change.refund else 0


def select_missing(book: LoanBook) -> AnySelect:
    """Return the query of the policies in force whose loan the snapshot does not have."""
    there = sa.exists().where(col(LoanBookRow.book_id) == book.id, col(LoanBookRow.risk_hash) == col(Policy.risk_hash))
    return sa.select(Policy).where(
        *Owner.of(book).owns(Policy),
        col(Policy.product_id) == book.product_id,
        col(Policy.risk_hash).is_not(None),
        col(Policy.activated),
        col(Policy.cancelled_at).is_(None),
        col(Policy.declined_at).is_(None),
        col(Policy.expiration_at) > clock.now(),
        sa.not_(there),
    )


def compare_snapshot(session: ScopedSession, book: LoanBook, uninsured: int) -> dict[str, Any]:
    """Return how many loans of the snapshot have no cover, and how many covered ones it does not have."""
    missing = select_missing(book).subquery()
    query = sa.select(sa.func.count(), sa.func.sum(missing.c.genius_price_minor)).select_from(missing)
    count, minor = session.execute(query).one()
    return {"uninsured": uninsured, "missing": int(count), "missing_premium": money.to_wire(int(minor or 0))}


_LARGEST: Final = 10
# A loan above so many times the usual one of its book is looked at.
UNUSUAL_TIMES: Final = 20
# Bands of ages with the oldest of each.
_AGE_BANDS: Final = {"to 25": 25, "26 to 35": 35, "36 to 45": 45, "46 to 55": 55, "56 to 65": 65, "from 66": 200}


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
        age = ages.age_on(start, born)
        self.bands[next(band for band, oldest in _AGE_BANDS.items() if age <= oldest)] += 1

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
            "ages": {band: self.bands[band] for band in _AGE_BANDS},
            "largest": [
                {"line": line, "loan_account_number": account, "loan_amount": _wire(amount), "premium": _wire(minor)}
                for amount, line, account, minor in sorted(self.largest, reverse=True)
            ],
            "compared": dict(compared),
            "rates": [str(product.version_id), str(product.share_id or "")],
        }
        share = str(product.share_id or "")
        hashed = [figures["outcomes"], figures["premium"], str(product.version_id), share, self._digest.hexdigest()]
        return figures, hashlib.sha256(json.dumps(hashed, sort_keys=True).encode()).hexdigest()


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
