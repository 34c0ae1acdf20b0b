"""Metric definitions: what each figure counts, leaves out and is dated by, and how it is computed.

Tiles, help texts and tests read this one list, so a figure means the same everywhere.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Generic, Literal, NamedTuple, TypeVar

from core.services.sales.sales_totals import ZERO_TOTALS, SalesTotals, add_totals

Value = int | Decimal | None
Unit = Literal["naira", "count", "share", "time"]
Source = TypeVar("Source")
WRITTEN_BASIS = "The moment a purchase or renewal is recorded, as days in Lagos."
MOVED = "The moment a purchase, renewal, refund or adjustment is recorded, as days in Lagos."


class PeriodFacts(NamedTuple):
    """Facts of a period that the metrics are computed from; amounts in kobo."""

    totals: SalesTotals = ZERO_TOTALS
    in_force: int = 0
    ended: int = 0
    renewed: int = 0
    claims_paid_minor: int = 0


def combine_days(days: Sequence[PeriodFacts]) -> PeriodFacts:
    """Combine several days into one period: amounts add up, policies in force are those of the last day."""
    if not days:
        return PeriodFacts()
    return PeriodFacts(
        add_totals([day.totals for day in days]),
        days[-1].in_force,
        sum(day.ended for day in days),
        sum(day.renewed for day in days),
        sum(day.claims_paid_minor for day in days),
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Metric(Generic[Source]):
    """One figure, computed from the facts of a period.

    `better` says which direction is good, if either; times are in milliseconds.
    """

    key: str
    label: str
    unit: Unit
    counts: str
    leaves_out: str
    basis: str
    better: Literal["more", "less", "neither"] = "more"
    compute: Callable[[Source], Value]

    @property
    def definition(self) -> str:
        """Definition of the figure as Markdown, for its help text."""
        return f"**Counts** {self.counts}\n\n**Leaves out** {self.leaves_out}\n\n**Timed by** {self.basis}"


def compute_change(unit: Unit, now: Value, then: Value) -> Decimal | None:
    """Return the change of a figure: relative, or in points for a share; None without a base."""
    if now is None or then is None:
        return None
    if unit == "share":
        return Decimal(now) - Decimal(then)
    return (Decimal(now) - then) / then if then else None


def average(minor: int, number: int) -> int | None:
    """Return the average amount in kobo, halves rounded up; None for no items."""
    return (2 * minor + number) // (2 * number) if number else None


def share(part: int, whole: int) -> Decimal | None:
    """Return the ratio of a part to a whole, None when the whole is zero."""
    return Decimal(part) / whole if whole else None


METRICS: tuple[Metric[PeriodFacts], ...] = (
    Metric(
        key="premium",
        label="Gross written premium",
        unit="naira",
        counts="the totals of purchases and of renewals that took effect, before commission.",
        leaves_out="refunds, which are shown apart; deleted records; the other mode.",
        basis=WRITTEN_BASIS,
        compute=lambda facts: facts.totals.premium_minor,
    ),
    Metric(
        key="policies_sold",
        label="Policies sold",
        unit="count",
        counts="purchases; each is one policy, the ones that await their insurer too.",
        leaves_out="renewals, deleted records.",
        basis="The moment a purchase is recorded, as days in Lagos.",
        compute=lambda facts: facts.totals.sold,
    ),
    Metric(
        key="average_premium",
        label="Average premium",
        unit="naira",
        counts="gross written premium divided by the policies it was written for, sold or renewed.",
        leaves_out="refunds, deleted records.",
        basis=WRITTEN_BASIS,
        compute=lambda facts: average(facts.totals.premium_minor, facts.totals.written),
    ),
    Metric(
        key="platform_commission",
        label="Platform commission",
        unit="naira",
        counts="our own share of the gross written premium, at the rates each sale was made at, less our share of what "
        "refunds gave back, with adjustments.",
        leaves_out="the distributors' share.",
        basis=MOVED,
        compute=lambda facts: facts.totals.mca_minor,
    ),
    Metric(
        key="distributor_commission",
        label="Distributor commission",
        unit="naira",
        counts="the distributors' share of the gross written premium, at the rates each sale was made at, less their "
        "share of what refunds gave back, with adjustments.",
        leaves_out="our own share.",
        basis=MOVED,
        compute=lambda facts: facts.totals.distributor_minor,
    ),
    Metric(
        key="in_force",
        label="Policies in force",
        unit="count",
        counts="policies that are activated, neither cancelled nor declined, and not past their expiration.",
        leaves_out="policies that await their insurer, and the days between two terms of one renewed late.",
        basis="The end of the last day of the period.",
        compute=lambda facts: facts.in_force,
    ),
    Metric(
        key="renewal_rate",
        label="Renewal rate",
        unit="share",
        counts="terms that were renewed, of the terms that came to their end; by number, not by premium.",
        leaves_out="products that cannot be renewed, terms cancelled before their end, terms still to end. "
        "A term can be renewed for some weeks after its end, so recent days still rise.",
        basis="The day a term ended in Lagos, whenever it was renewed.",
        compute=lambda facts: share(facts.renewed, facts.ended),
    ),
    Metric(
        key="claims_to_premium",
        label="Claims paid to premium",
        unit="share",
        counts="what was paid on claims, divided by the gross written premium of the same days. "
        "A simple proxy: the loss ratio proper weighs earned premium and open claims.",
        leaves_out="offers that are not paid yet, costs of handling.",
        basis="The day of each payment, and the day premium was written, in Lagos.",
        better="less",
        compute=lambda facts: share(facts.claims_paid_minor, facts.totals.premium_minor),
    ),
)
REFUNDS: Metric[PeriodFacts] = Metric(
    key="refunds",
    label="Given back",
    unit="naira",
    counts="what was given back when cover ended early, the shares of insurers, platform and distributors together.",
    leaves_out="nothing; the gross written premium is not lowered by it, the commissions are.",
    basis="The moment a refund is recorded, as days in Lagos.",
    better="less",
    compute=lambda facts: facts.totals.refunded_minor,
)
NET_PREMIUM: Metric[PeriodFacts] = Metric(
    key="net_premium",
    label="Net premium",
    unit="naira",
    counts="gross written premium, less what was given back, with adjustments.",
    leaves_out="commissions, which are part of it.",
    basis=MOVED,
    compute=lambda facts: facts.totals.net.total_minor,
)
NET_TO_INSURERS: Metric[PeriodFacts] = Metric(
    key="net_to_insurers",
    label="Net due to insurers",
    unit="naira",
    counts="the net premium less both net commissions: the insurers' share, less its part of what was given back.",
    leaves_out="what was paid to insurers already.",
    basis=MOVED,
    better="neither",
    compute=lambda facts: facts.totals.net.provider_share_minor,
)
MONEY_METRICS = (REFUNDS, NET_PREMIUM, NET_TO_INSURERS)
METRICS_BY_KEY = {metric.key: metric for metric in (*METRICS, *MONEY_METRICS)}
