"""Claim statuses and their transitions: needs, stored column, effects, clock and authority (contract C5, C9)."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum
from typing import Final

from core.states.transitions import Transition, TransitionTable

CLAIMS_ROLES: Final = ("claims", "supervisor")


class AskedRole(StrEnum):
    """Role that an open referral asks: a supervisor for a decision, or finance for a payment."""

    SUPERVISOR = "supervisor"
    FINANCE = "finance"


class ClaimStatus(StrEnum):
    """The statuses of the specification, in its order."""

    VIEWED = "Viewed"
    PENDING = "Pending"
    INSPECTION_SUBMITTED = "Inspection submitted"
    APPROVED = "Approved"
    DECLINED = "Declined"
    REVIEWING = "Reviewing"
    ESTIMATE_SUBMITTED = "Repair estimate submitted"
    OFFER_SENT = "Offer sent"
    OFFER_ACCEPTED = "Offer accepted"
    OFFER_REJECTED = "Offer rejected"
    PAID = "Paid"
    SETTLED = "Settled"


class ClockEffect(Enum):
    """Effect of a status on the statutory clock; the value is how the documentation words it."""

    RUNS = "run"
    WAITS = "stand still: the claimant has to act"
    ENDS = "decided"


class Effect(Enum):
    """Side effects of a transition, beside the status and its amount column."""

    SETS_CLAIMED = "fills the claimed amount from what is owed, if it is still zero"
    SETS_RESERVE = "sets a reserve from the claimed amount, if there is none"
    RAISES_RESERVE = "raises a reserve that is below what is approved or offered and not paid yet"
    SETS_APPROVER = "records who approved"
    CLEARS_APPROVAL = "clears the approved amount and its approver"
    PAYS = "adds a payment of the accepted offer"
    REVERSES = "takes the last payment back"


@dataclass(frozen=True, slots=True)
class Need:
    """One need of a transition, in words.

    `field` is the form field that meets it, None when no input can, and `left_out` what is said of it while it is
    empty; `of_person` marks authority rather than facts.
    """

    words: str
    field: str | None = None
    left_out: str = ""
    of_person: bool = False


ESTIMATE: Final = Need("an estimate above 0", "amount", "must be given, above 0")
ESTIMATE_DOCUMENT: Final = Need(
    "the document with the estimate", "estimate_document", "must be given: the estimate stands in a paper of the claim"
)
CLAIMED: Final = Need("a supervisor, if the estimate is above what was claimed", of_person=True)
DOCUMENTS: Final = Need("the required documents")
APPROVED_AMOUNT: Final = Need(
    "an approved amount above 0 and not above what is owed or insured",
    "amount",
    "must be given, above 0 and not above what is owed or insured",
)
APPROVAL: Final = Need("an earlier approval")
OFFER: Final = Need(
    "an offer above 0 and not above what the rule gives",
    "amount",
    "must be given, above 0 and not above what the rule gives",
)
EVIDENCE: Final = Need(
    "the signed discharge form among the documents, or a note of the call",
    "note",
    "must be given: it says how the claimant accepted, as no signed discharge form is among the documents",
)
STILL_OWED: Final = Need("an offer that is not above what the rule still gives")
REASON: Final = Need("a reason code", "reason", "must be given: a claim that is declined has one")
NOTE: Final = Need("a note", "note", "must be given: it says why")
REFERENCE: Final = Need(
    "a payment reference that no other payment of the insurer has",
    "payment_reference",
    "must be given: each payment of the insurer has its own",
)
CHECKS: Final = Need("a reason for every check that is not met", "reasons")
NOT_PAID_ELSEWHERE: Final = Need("no other claim for this loss that the approval did not know of")
CHECK_AUTHORITY: Final = Need("a supervisor, where a check has failed", of_person=True)
CHECKS_HOLD: Final = Need("every check to hold as it did when the claim was approved")
KNOWN: Final = Need("a claim that was not erased with its customer: nobody can tell whose it is; it is lodged anew")
NOT_OWN: Final = Need("somebody whose own claim it is not", of_person=True)
OTHER_APPROVER: Final = Need(
    "an approver who has neither made the cover nor set the payee nor declined or paid the claim", of_person=True
)
OTHER_PAYER: Final = Need("a payer who has set neither a figure of the claim nor its payee", of_person=True)
OTHER_THAN_DECLINER: Final = Need("somebody other than who declined it", of_person=True)
OTHER_THAN_APPROVER: Final = Need("somebody who has not approved it", of_person=True)
SECOND_PERSON: Final = Need("a payer other than the approver", of_person=True)
SUPERVISOR: Final = Need("a supervisor", of_person=True)
AUTHORITY: Final = Need("a supervisor, if the amount is above the officer's limit", of_person=True)
OWN_PASSWORD: Final = Need("a password that nobody else gave or reset within 24 hours", of_person=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class StatusRule:
    """One status: where it leads to, and what every transition into it needs and does.

    `column` is the amount column that the transition sets and `amount_label` its form label; `label` is the button.
    """

    leads_to: tuple[ClaimStatus, ...]
    needs: tuple[Need, ...] = ()
    effects: frozenset[Effect] = frozenset()
    clock: ClockEffect = ClockEffect.RUNS
    column: str | None = None
    amount_label: str = ""
    label: str | None = None
    icon: str = "arrow_forward"
    colour: str = "blue"


@dataclass(frozen=True, kw_only=True, slots=True)
class PairRule:
    """Rule for one pair of statuses, added to the rule of its target; with `replaces` its needs stand alone."""

    label: str
    needs: tuple[Need, ...] = ()
    replaces: bool = False
    effects: frozenset[Effect] = frozenset()


_S = ClaimStatus
RULES: Final[Mapping[ClaimStatus, StatusRule]] = {
    _S.PENDING: StatusRule(
        leads_to=(_S.VIEWED, _S.REVIEWING, _S.INSPECTION_SUBMITTED, _S.APPROVED, _S.DECLINED),
        colour="orange",
    ),
    _S.VIEWED: StatusRule(
        leads_to=(_S.REVIEWING, _S.INSPECTION_SUBMITTED, _S.ESTIMATE_SUBMITTED, _S.APPROVED, _S.DECLINED),
        label="Mark as viewed",
    ),
    _S.REVIEWING: StatusRule(
        leads_to=(_S.INSPECTION_SUBMITTED, _S.ESTIMATE_SUBMITTED, _S.APPROVED, _S.DECLINED),
        effects=frozenset({Effect.SETS_CLAIMED, Effect.SETS_RESERVE}),
        label="Back to review",
        icon="manage_search",
    ),
    _S.INSPECTION_SUBMITTED: StatusRule(
        leads_to=(_S.REVIEWING, _S.ESTIMATE_SUBMITTED, _S.APPROVED, _S.DECLINED),
        label="Inspection is in",
        icon="home_repair_service",
    ),
    _S.ESTIMATE_SUBMITTED: StatusRule(
        leads_to=(_S.REVIEWING, _S.APPROVED, _S.OFFER_SENT, _S.DECLINED),
        needs=(ESTIMATE, ESTIMATE_DOCUMENT, CLAIMED, AUTHORITY),
        effects=frozenset({Effect.SETS_RESERVE}),
        column="repair_estimate_minor",
        amount_label="Estimate (₦)",
        label="Estimate is in",
        icon="request_quote",
    ),
    _S.APPROVED: StatusRule(
        leads_to=(_S.OFFER_SENT, _S.ESTIMATE_SUBMITTED, _S.REVIEWING),
        needs=(KNOWN, DOCUMENTS, APPROVED_AMOUNT, CHECKS, CHECK_AUTHORITY, OTHER_APPROVER, AUTHORITY, OWN_PASSWORD),
        effects=frozenset({Effect.SETS_CLAIMED, Effect.SETS_RESERVE, Effect.RAISES_RESERVE, Effect.SETS_APPROVER}),
        column="approved_amount_minor",
        amount_label="Approved amount (₦)",
        label="Approve",
        icon="check_circle",
        colour="green",
    ),
    _S.OFFER_SENT: StatusRule(
        leads_to=(_S.OFFER_ACCEPTED, _S.OFFER_REJECTED, _S.REVIEWING),
        needs=(APPROVAL, CHECKS_HOLD, OFFER, AUTHORITY),
        effects=frozenset({Effect.RAISES_RESERVE}),
        clock=ClockEffect.WAITS,
        column="offer_amount_minor",
        amount_label="Offer (₦)",
        label="Send an offer",
        icon="outgoing_mail",
        colour="violet",
    ),
    _S.OFFER_REJECTED: StatusRule(leads_to=(_S.OFFER_SENT, _S.REVIEWING, _S.DECLINED), icon="thumb_down", colour="red"),
    _S.OFFER_ACCEPTED: StatusRule(
        leads_to=(_S.PAID, _S.REVIEWING), needs=(STILL_OWED,), icon="thumb_up", colour="green"
    ),
    _S.PAID: StatusRule(
        leads_to=(_S.SETTLED, _S.OFFER_ACCEPTED),
        needs=(
            *(APPROVAL, CHECKS_HOLD, STILL_OWED, NOT_PAID_ELSEWHERE, REFERENCE),
            *(SECOND_PERSON, OTHER_PAYER, AUTHORITY, OWN_PASSWORD),
        ),
        effects=frozenset({Effect.PAYS}),
        clock=ClockEffect.ENDS,
        label="Pay",
        icon="payments",
        colour="green",
    ),
    _S.DECLINED: StatusRule(
        leads_to=(_S.REVIEWING,),
        needs=(REASON, NOTE),
        effects=frozenset({Effect.CLEARS_APPROVAL}),
        clock=ClockEffect.ENDS,
        label="Decline",
        icon="cancel",
        colour="red",
    ),
    _S.SETTLED: StatusRule(
        leads_to=(_S.REVIEWING,), clock=ClockEffect.ENDS, label="Settle", icon="task_alt", colour="green"
    ),
}
_BY_SUPERVISOR: Final = (SUPERVISOR, OWN_PASSWORD)
PAIR_RULES: Final[Mapping[tuple[ClaimStatus, ClaimStatus], PairRule]] = {
    (_S.OFFER_SENT, _S.OFFER_ACCEPTED): PairRule(label=_S.OFFER_ACCEPTED, needs=(EVIDENCE,)),
    (_S.PENDING, _S.REVIEWING): PairRule(label="Start the review"),
    (_S.VIEWED, _S.REVIEWING): PairRule(label="Start the review"),
    (_S.OFFER_ACCEPTED, _S.REVIEWING): PairRule(label="Take the accepted offer back", needs=_BY_SUPERVISOR),
    (_S.PAID, _S.OFFER_ACCEPTED): PairRule(
        label="Payment came back",
        needs=(REFERENCE, NOTE, *_BY_SUPERVISOR, OTHER_THAN_APPROVER),
        replaces=True,
        effects=frozenset({Effect.REVERSES, Effect.SETS_RESERVE}),
    ),
    (_S.DECLINED, _S.REVIEWING): PairRule(
        label="Take up an appeal", needs=(KNOWN, *_BY_SUPERVISOR, OTHER_THAN_DECLINER)
    ),
    (_S.SETTLED, _S.REVIEWING): PairRule(
        label="Reopen", needs=(KNOWN, *_BY_SUPERVISOR), effects=frozenset({Effect.CLEARS_APPROVAL})
    ),
}


# Nobody has begun to work on a claim with these.
NEW: Final = frozenset({_S.PENDING, _S.VIEWED})


@dataclass(frozen=True, kw_only=True, slots=True)
class ClaimTransition(Transition[ClaimStatus]):
    """One transition between two statuses; `missing` is in words what the claim or the person lacks for it."""

    icon: str
    needs: tuple[Need, ...]
    effects: frozenset[Effect]
    clock: ClockEffect
    column: str | None
    amount_label: str
    missing: tuple[str, ...] = ()

    @property
    def inputs_needed(self) -> tuple[Need, ...]:
        """The needs that are met by an input; a note is always accepted."""
        return tuple(need for need in self.needs if need.field)

    @property
    def begins(self) -> bool:
        """True where a new claim is only looked at, or its review is started: nothing is decided by it."""
        return self.start in NEW and self.to in (ClaimStatus.VIEWED, ClaimStatus.REVIEWING)


def _list_common_needs(to: ClaimStatus) -> tuple[Need, ...]:
    """Nobody decides on a claim of their own; to look at it is no decision."""
    return () if to is ClaimStatus.VIEWED else (NOT_OWN,)


def _build_transition(start: ClaimStatus, to: ClaimStatus) -> ClaimTransition:
    rule = RULES[to]
    pair = PAIR_RULES.get((start, to), PairRule(label=rule.label or to))
    return ClaimTransition(
        start=start,
        to=to,
        label=pair.label,
        icon=rule.icon,
        needs=(*(pair.needs if pair.replaces else rule.needs + pair.needs), *_list_common_needs(to)),
        effects=rule.effects | pair.effects,
        clock=rule.clock,
        column=rule.column,
        amount_label=rule.amount_label,
    )


TRANSITIONS: Final = TransitionTable(
    "A claim", [_build_transition(start, to) for start, rule in RULES.items() for to in rule.leads_to]
)


def _with_clock(effect: ClockEffect) -> frozenset[ClaimStatus]:
    return frozenset(status for status, rule in RULES.items() if rule.clock is effect)


# Statuses that stop the clock because the claimant has to act, statuses that end it, and those of them after which
# nothing is left to do: Paid still leads to Settled.
WAITING: Final = _with_clock(ClockEffect.WAITS)
DECIDED: Final = _with_clock(ClockEffect.ENDS)
CLOSED: Final = frozenset(status for status in DECIDED if DECIDED.isdisjoint(RULES[status].leads_to))
