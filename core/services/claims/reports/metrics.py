"""Definitions of the claims metrics, in the same form as the sales metrics."""

from dataclasses import dataclass
from typing import Final

from core.services.sales.figures import Metric, average, share
from core.states.claims import ClaimStatus


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimFacts:
    """Facts of a period that the claims metrics are computed from; amounts in kobo, times in milliseconds.

    A claim counts as decided when it stands Paid, Settled or Declined, at the instant of that decision. The times
    are the median and the 90th percentile of the claims that were paid (or viewed).
    """

    lodged: int = 0
    paid: int = 0
    declined: int = 0
    in_time: int = 0
    paid_minor: int = 0
    median_ms: int | None = None
    p90_ms: int | None = None
    median_net_ms: int | None = None
    p90_net_ms: int | None = None
    median_viewed_ms: int | None = None
    median_decided_ms: int | None = None
    accepted: int = 0
    rejected: int = 0
    overridden: int = 0
    reserved_minor: int = 0
    outstanding_minor: int = 0

    @property
    def decided(self) -> int:
        """Number of claims with a decision that stands."""
        return self.paid + self.declined


_PAID = "The instant a claim was marked Paid, as days in Lagos; the claims that still stand Paid or Settled."
_REVERSED = "decisions that an appeal or a reopening took back"
_NET = "Days that waited for the claimant are taken off: an offer was out, or something was asked."
# Those that are asked every day come first.
FIRST_METRICS: Final = 8
CLAIM_METRICS: tuple[Metric[ClaimFacts], ...] = (
    Metric(
        key="lodged",
        label="Claims lodged",
        unit="count",
        counts="claims that came in, by whatever door.",
        leaves_out="deleted records; the other mode.",
        basis="The instant of lodging, as days in Lagos.",
        better="neither",
        compute=lambda facts: facts.lodged,
    ),
    Metric(
        key="decided",
        label="Decided",
        unit="count",
        counts="claims that were paid or declined.",
        leaves_out=f"{_REVERSED}; approvals that are not paid yet.",
        basis="The instant of the decision, as days in Lagos.",
        compute=lambda facts: facts.decided,
    ),
    Metric(
        key="paid_amount",
        label=ClaimStatus.PAID,
        unit="naira",
        counts="every payment on a claim, whatever became of it; the same as in the dashboard's claims to premium.",
        leaves_out="offers that are not paid yet, costs of handling.",
        basis="The day of each payment, in Lagos.",
        better="neither",
        compute=lambda facts: facts.paid_minor,
    ),
    Metric(
        key="outstanding",
        label="Outstanding",
        unit="naira",
        counts="the reserves of claims: what is expected to be paid still.",
        leaves_out="exposure of claims that have no reserve yet.",
        basis="The end of the period, by the changes of reserves until then.",
        better="neither",
        compute=lambda facts: facts.outstanding_minor,
    ),
    Metric(
        key="turnaround_half",
        label="Lodged to paid, median",
        unit="time",
        counts="the time within which half of the paid claims were paid, by the calendar.",
        leaves_out="declined claims.",
        basis=_PAID,
        better="less",
        compute=lambda facts: facts.median_ms,
    ),
    Metric(
        key="turnaround_most",
        label="Lodged to paid, 9 in 10",
        unit="time",
        counts="the time within which nine in ten of the paid claims were paid, by the calendar (the 90th percentile).",
        leaves_out="declined claims.",
        basis=_PAID,
        better="less",
        compute=lambda facts: facts.p90_ms,
    ),
    Metric(
        key="in_time",
        label="Decided within 60 days",
        unit="share",
        counts=f"claims paid or declined within the statutory 60 days, of all decided. {_NET}",
        leaves_out=f"{_REVERSED}; open claims, even overdue ones.",
        basis="The instant of the decision, as days in Lagos.",
        compute=lambda facts: share(facts.in_time, facts.decided),
    ),
    Metric(
        key="decline_rate",
        label="Decline rate",
        unit="share",
        counts="declined claims, of all that were paid or declined.",
        leaves_out=f"{_REVERSED}.",
        basis="The instant of the decision, as days in Lagos.",
        better="less",
        compute=lambda facts: share(facts.declined, facts.decided),
    ),
    Metric(
        key="incurred",
        label="Incurred",
        unit="naira",
        counts="what was paid, and by how much the reserves of claims rose or fell.",
        leaves_out="costs of handling.",
        basis="The day of each payment and of each change of a reserve, in Lagos.",
        better="neither",
        compute=lambda facts: facts.paid_minor + facts.reserved_minor,
    ),
    Metric(
        key="severity",
        label="Average paid claim",
        unit="naira",
        counts="what was paid divided by the number of claims that stand paid: the severity.",
        leaves_out="offers that are not paid yet, costs of handling.",
        basis="The day of each payment, and the day a claim was last marked Paid, in Lagos.",
        better="neither",
        compute=lambda facts: average(facts.paid_minor, facts.paid),
    ),
    Metric(
        key="net_half",
        label="Our own time, median",
        unit="time",
        counts=f"the time within which half of the paid claims were paid. {_NET}",
        leaves_out="declined claims.",
        basis=_PAID,
        better="less",
        compute=lambda facts: facts.median_net_ms,
    ),
    Metric(
        key="net_most",
        label="Our own time, 9 in 10",
        unit="time",
        counts=f"the time within which nine in ten of the paid claims were paid. {_NET}",
        leaves_out="declined claims.",
        basis=_PAID,
        better="less",
        compute=lambda facts: facts.p90_net_ms,
    ),
    Metric(
        key="acknowledged",
        label="Lodged to viewed, median",
        unit="time",
        counts="the time within which half of the claims were opened by an officer, by the calendar.",
        leaves_out="claims that nobody has opened yet, or that were moved without being opened.",
        basis="The instant a claim was first viewed, as days in Lagos.",
        better="less",
        compute=lambda facts: facts.median_viewed_ms,
    ),
    Metric(
        key="first_decided",
        label="Lodged to decided, median",
        unit="time",
        counts="the time within which half of the claims were first approved or declined, by the calendar.",
        leaves_out="claims without a decision, and every decision after the first.",
        basis="The instant a claim was first Approved or Declined, as days in Lagos.",
        better="less",
        compute=lambda facts: facts.median_decided_ms,
    ),
    Metric(
        key="acceptance",
        label="Offers accepted",
        unit="share",
        counts="offers that claimants accepted, of those that they answered; each answer counts.",
        leaves_out="offers that are out.",
        basis="The instant of the answer, as days in Lagos.",
        compute=lambda facts: share(facts.accepted, facts.accepted + facts.rejected),
    ),
    Metric(
        key="overridden",
        label="Approved against a check",
        unit="count",
        counts="claims that were approved although a check of their cover was failed or unknown, with a reason.",
        leaves_out="approvals whose checks were all met.",
        basis="The instant of the approval, as days in Lagos; also where it was taken back later.",
        better="less",
        compute=lambda facts: facts.overridden,
    ),
)
OPEN_NOW: Metric[int] = Metric(
    key="open",
    label="Open now",
    unit="count",
    counts="claims that are neither paid nor declined.",
    leaves_out="deleted records; the other mode.",
    basis="This moment, whatever the period.",
    better="less",
    compute=lambda number: number,
)
