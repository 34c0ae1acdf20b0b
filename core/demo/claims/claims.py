"""Claims of the demonstration: on loans and devices, in every status, each with a history that may be."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import pairwise
from random import Random

from core import clock, money
from core.covers.claims.line import ClaimLine
from core.covers.claims.lines import GADGET, LINES, MOTOR, get_line_of, list_incidents
from core.covers.refunds import count_months_left
from core.demo.claims.paths import INSPECTED, REPAIRED, UNSEEN, Path, Reached, date_statuses, list_open, way
from core.demo.market.sellers import Officer
from core.demo.random_source import new_id
from core.demo.sales.sales import Sale
from core.states.claims import ClaimStatus

LOAN, DEVICE = "loan", GADGET.route
_RATES = {LOAN: 0.011, DEVICE: 0.05, "motor": 0.012, "travel": 0.03, "contents": 0.03, "personal-accident": 0.008}
_USUAL_RATE = 0.05
_VERIFIERS = {LOAN: "the lender", DEVICE: "the repair shop", MOTOR.route: "the workshop"}
_REPAIRED = {DEVICE, MOTOR.route}
_INSPECTED = {line.route for line in LINES if line.is_inspected}
# A small demonstration has more claims than its sales would bring, so that there is one of everything.
_ENOUGH_SALES = 2_000
_LOAN_OPEN, _LOAN_SPREAD, _OTHER_SPREAD = 3, 60, 2_000
_INCIDENTS = ("Loss of job", "Death", "Temporary disability", "Permanent disability", "Critical illness", "Burglary")
_HOW_OFTEN = (44, 22, 13, 10, 8, 3)
_PAPERS = {
    "Death": "medical_report",
    "Permanent disability": "medical_report",
    "Temporary disability": "medical_report",
    "Critical illness": "medical_report",
    "Loss of job": "employment_termination_letter",
}
_BODILY = ("Death", "Permanent disability", "Temporary disability")
BENEFITS = {
    "Loss of job": "loss_of_job",
    "Death": "death",
    "Temporary disability": "temporary_disability",
    "Permanent disability": "permanent_disability",
}
_WITHOUT_PAPERS = (ClaimStatus.PENDING, ClaimStatus.VIEWED)
_EARLY = timedelta(days=30)
_NAIRA = 100
# A sale whose price states no sum insured: third-party motor, travel, personal accident.
_UNKNOWN_SUM = 60_000_000
_LONG_FORGOTTEN = 0.15


def _ways(kind: str) -> Sequence[tuple[Path, int]]:
    """Return the ways of a kind of claim; where something is repaired, it is inspected first."""
    if kind in _REPAIRED:
        return REPAIRED
    return INSPECTED if kind in _INSPECTED else UNSEEN


@dataclass(frozen=True, slots=True)
class Loss:
    """A claim before it is written: on which sale, what happened, and how it went on."""

    id: str
    sale: Sale
    kind: str
    incident: str
    accidental: bool
    happened_on: date
    reached: list[Reached]
    officers: list[Officer | None]
    owed_minor: int
    is_worn: bool
    flags: list[str]
    is_undocumented: bool = False
    event_ids: dict[ClaimStatus, str] = field(default_factory=dict)

    @property
    def status(self) -> ClaimStatus:
        """The claim's current status."""
        return self.reached[-1].status

    @property
    def lodged_at(self) -> datetime:
        """The instant of its lodging."""
        return self.reached[0].at

    @property
    def line(self) -> ClaimLine | None:
        """The line of cover; None for credit life."""
        return get_line_of(self.sale.offer.endpoint)

    @property
    def verifier(self) -> str:
        """The people who can say whether its documents are true."""
        return _VERIFIERS.get(self.kind, "who issued them")

    @property
    def papers(self) -> list[str]:
        """The documents that prove the incident; a first notice has none yet."""
        if self.line is not None:
            required = list(self.line.list_required(self.incident))
            return [] if self.status in _WITHOUT_PAPERS else required[: -1 if self.is_undocumented else None]
        if self.is_undocumented:
            return []
        proof = _PAPERS.get(self.incident)
        certificate = ["death_certificate"] if self.incident == "Death" and self.status not in _WITHOUT_PAPERS else []
        return [*([proof] if proof else []), *(["police_report"] if self.accidental else []), *certificate]

    @property
    def is_approved(self) -> bool:
        """True once it was approved; a decline after that takes the approval back."""
        decisions = [
            step.status for step in self.reached if step.status in (ClaimStatus.APPROVED, ClaimStatus.DECLINED)
        ]
        return decisions[-1:] == [ClaimStatus.APPROVED]

    def came_to(self, status: ClaimStatus) -> bool:
        """True once it has been there."""
        return any(reached.status == status for reached in self.reached)


class Losses:
    """Decides which sales lead to a claim, and how it goes."""

    def __init__(self, dice: Random, desk: Sequence[Officer], *, purchases: int, until: datetime) -> None:
        self.dice, self.desk, self.until = dice, desk, until
        self.boost = max(1.0, _ENOUGH_SALES / purchases)
        kinds = (LOAN, *(line.route for line in LINES))
        self._open = {kind: list_open(_ways(kind)) * (_LOAN_OPEN if kind == LOAN else 1) for kind in kinds}
        spread = {kind: _LOAN_SPREAD if kind == LOAN else _OTHER_SPREAD for kind in kinds}
        self._open_chance = {kind: spread[kind] * len(deck) / purchases for kind, deck in self._open.items()}
        for deck in self._open.values():
            dice.shuffle(deck)

    def of(self, sale: Sale) -> Loss | None:
        """The claim on a sale, if there is one."""
        if not sale.life.stretches or not list_incidents(sale.offer.endpoint):
            return None
        line = get_line_of(sale.offer.endpoint)
        kind = line.route if line else LOAN
        reached = self._still_open(sale, kind) or self._natural(sale, kind)
        return self._loss(sale, kind, reached) if reached else None

    def _natural(self, sale: Sale, kind: str) -> list[Reached] | None:
        if self.dice.random() > _RATES.get(kind, _USUAL_RATE) * self.boost:
            return None
        start, end = sale.life.stretches[0]
        lodged_at = start + timedelta(days=2) + min(end - start, timedelta(300)) * self.dice.uniform(0.02, 1.04)
        lodged_at = lodged_at.replace(microsecond=0)
        reached = date_statuses(self.dice, way(self.dice, _ways(kind)), lodged_at)
        # A claim that is open or paid holds the refund of a cancellation back: these policies had none.
        if lodged_at >= self.until or (sale.life.ended and lodged_at <= sale.life.ended.at):
            return None
        return [step for step in reached if step.at <= self.until]

    def _still_open(self, sale: Sale, kind: str) -> list[Reached] | None:
        """The next of the statuses in which some claim has to stand today, on a cover that ran lately."""
        deck = self._open[kind]
        if not deck or self.dice.random() > self._open_chance[kind]:
            return None
        steps = way(self.dice, _ways(kind), to=deck[-1])
        forgotten = self.dice.uniform(55, 75) if self.dice.random() < _LONG_FORGOTTEN else 0
        lodged_at = self.until - timedelta(days=len(steps) * 2.2 + self.dice.triangular(0.2, 25, 3) + forgotten)
        lodged_at = lodged_at.replace(microsecond=0)
        start, end = sale.life.stretches[0]
        ran_lately = start + timedelta(days=3) < lodged_at < end + timedelta(days=12)
        reached = date_statuses(self.dice, steps, lodged_at)
        if not ran_lately or reached[-1].at > self.until or sale.life.ended:
            return None
        deck.pop()
        return reached

    def _loss(self, sale: Sale, kind: str, reached: list[Reached]) -> Loss:
        incident = self._incident(sale, kind, reached)
        lodged_on = clock.to_lagos_day(reached[0].at)
        happened_on = clock.add_days(lodged_on, -int(self.dice.triangular(1, 40, 6)))
        if any(step.status == ClaimStatus.APPROVED for step in reached):
            # Nobody approves a loss of a day after the cover.
            happened_on = min(happened_on, _last_day(sale))
        happened_on = max(happened_on, clock.to_lagos_day(sale.life.stretches[0][0]))
        owed_minor = self._owed(sale, kind, happened_on)
        loss = Loss(
            id=new_id(self.dice, reached[0].at),
            sale=sale,
            kind=kind,
            incident=incident,
            accidental=incident in _BODILY and self.dice.random() < 0.35,
            happened_on=happened_on,
            reached=reached,
            officers=self._officers(reached, owed_minor),
            owed_minor=owed_minor,
            is_worn=self.dice.random() < 0.4,
            flags=[],
        )
        loss.flags.extend(_flags(loss))
        return loss

    def _incident(self, sale: Sale, kind: str, reached: Sequence[Reached]) -> str:
        """Draw the incident; an insured one where the claim was approved."""
        went = {step.status for step in reached}
        line = get_line_of(sale.offer.endpoint)
        if line is not None:
            insured = line.covers[sale.offer.endpoint]
            return self.dice.choice([incident for incident in line.incidents if incident in insured])
        bought = sale.variant.body["benefit_coverage"]
        fitting = [
            (incident, weight)
            for incident, weight in zip(_INCIDENTS, _HOW_OFTEN, strict=True)
            if ClaimStatus.APPROVED not in went or BENEFITS.get(incident) in bought
        ]
        return self.dice.choices([incident for incident, _ in fitting], [weight for _, weight in fitting])[0]

    def _owed(self, sale: Sale, kind: str, happened_on: date) -> int:
        """Return the loss in kobo: the balance of the loan on the day of the loss, or the cost of the repair."""
        body = sale.variant.body
        if value := body.get("device_value"):
            # A number where no cover has read it, and the text of an amount where one has.
            return int(float(value) * self.dice.triangular(0.12, 0.4, 0.2)) * _NAIRA
        if kind != LOAN:
            insured_minor = sale.variant.sum_insured_minor or _UNKNOWN_SUM
            return int(insured_minor / _NAIRA * self.dice.triangular(0.02, 0.5, 0.08)) * _NAIRA
        loan, months = money.to_minor(Decimal(body["loan_amount"])), int(body["loan_tenure"])
        left = count_months_left(happened_on, clock.to_lagos_day(sale.life.stretches[0][1]), months)
        return loan * max(left, 1) // months // _NAIRA * _NAIRA

    def _officers(self, reached: Sequence[Reached], owed_minor: int) -> list[Officer | None]:
        """Draw the officer of each move: one of enough authority, another one to pay, and a third for an appeal."""
        able = [officer for officer in self.desk if officer.may_decide(owed_minor)]
        mine = self.dice.choice(able)
        payer = self.dice.choice([officer for officer in able if officer is not mine])
        appealed_at = next((b.at for a, b in pairwise(reached) if a.status == ClaimStatus.DECLINED), None)
        if appealed_at is not None:
            # Who declined neither takes up the appeal nor approves on it.
            mine = next(officer for officer in self.desk if officer.limit_minor is not None)
            above, payer, *_ = (officer for officer in self.desk if officer.limit_minor is None)
            return [None, *(_handle_appealed(step, appealed_at, mine, above, payer) for step in reached[1:])]
        by_status = {ClaimStatus.PENDING: None, ClaimStatus.PAID: payer}
        return [by_status.get(step.status, mine) for step in reached]


def _handle_appealed(step: Reached, appealed_at: datetime, mine: Officer, above: Officer, payer: Officer) -> Officer:
    if step.status == ClaimStatus.PAID:
        return payer
    return above if step.at >= appealed_at else mine


def _last_day(sale: Sale) -> date:
    """Return the last day of the cover as it was sold, or of a cancelled one, the last before that."""
    end = sale.life.stretches[0][1]
    ended = min(end, sale.life.ended.at) if sale.life.ended else end
    return clock.add_days(clock.to_lagos_day(ended), -1)


def _flags(loss: Loss) -> list[str]:
    """Return the fraud flags (contract C3)."""
    if loss.kind != LOAN:
        return []
    sale, (start, end) = loss.sale, loss.sale.life.stretches[0]
    bought = BENEFITS.get(loss.incident) in sale.variant.body["benefit_coverage"]
    raised = {
        "policy_expired": end <= loss.lodged_at,
        "policy_cancelled": bool(sale.life.ended and sale.life.ended.at <= loss.lodged_at),
        "benefit_not_bought": not bought,
        "outside_cover": not clock.to_lagos_day(start) <= loss.happened_on < clock.to_lagos_day(end),
        "early_loss": clock.midnight(loss.happened_on) - start < _EARLY,
    }
    return [name for name, is_raised in raised.items() if is_raised]
