"""Checks that refuse a transition; a refused claim stays unchanged (contract C5)."""

from typing import Final

from core import money
from core.covers.request import refuse_unless
from core.errors import CoverdeskError, NotAllowed, StateForbids
from core.services.claims.workflow import offers as claim_offers
from core.services.claims.workflow import transitions
from core.services.claims.workflow.inputs import TransitionInput
from core.services.claims.workflow.offers import Limits
from core.services.claims.workflow.transitions import AUTHORITY, OWN_PASSWORD, SECOND_PERSON, SUPERVISOR, Transition
from core.services.people.staff import Person
from core.store.schema.tables import Claim

_PERSON_NEEDS: Final = (SUPERVISOR, SECOND_PERSON, AUTHORITY, OWN_PASSWORD)
_DECLINED, _PAID = "Declined", "Paid"


def require_transition(claim: Claim, to: str) -> Transition:
    """Return the transition from the claim's status; StateForbids, listing the allowed ones, when there is none."""
    move = transitions.get_transition(claim.claim_status, to)
    if move is None:
        targets = transitions.list_targets(claim.claim_status)
        raise StateForbids(
            f"A claim that is {claim.claim_status} cannot become {to}; it can become {' or '.join(targets)}",
            detail={"claim_status": claim.claim_status, "allowed": list(targets)},
        )
    return move


def check_amount(transition: Transition, claim: Claim, person: Person, inputs: TransitionInput, limits: Limits) -> int:
    """The amount in kobo that a move is about, once nothing stands against it; 0 where it is about none.

    StateForbids names what the claim lacks and NotAllowed what the person lacks; InvalidInput names every input
    that is missing, wrong or not part of the transition.
    """
    _refuse_unmet_needs(transition, claim, person, limits)
    minor = _amount(transition, claim, inputs, limits)
    refuse_unless(
        [
            *_check_amount_input(transition, claim, inputs, minor),
            *_check_offer(transition, claim, inputs, minor, limits),
            *_check_text_inputs(transition, inputs),
        ]
    )
    limit_exceeded = transitions.describe_limit_exceeded(person, minor) if AUTHORITY in transition.needs else None
    if limit_exceeded:
        raise _refusal(NotAllowed, transition, [limit_exceeded], field="amount" if inputs.amount is not None else None)
    refuse_unless(_of_approval(transition, limits, minor))
    return minor


def _refuse_unmet_needs(transition: Transition, claim: Claim, person: Person, limits: Limits) -> None:
    for kind, needs in (
        (StateForbids, [need for need in transition.needs if need not in _PERSON_NEEDS]),
        (NotAllowed, [need for need in transition.needs if need in _PERSON_NEEDS]),
    ):
        missing = [
            words
            for need in needs
            if (words := transitions.describe_unmet_need(need, transition, claim, person, limits))
        ]
        if missing:
            raise _refusal(kind, transition, missing)


def _refusal(
    kind: type[CoverdeskError], transition: Transition, missing: list[str], *, field: str | None = None
) -> CoverdeskError:
    """Build a refusal in words; `field` is the input that it concerns, if any."""
    about = {"field": field} if field else {}
    return kind(f"{transition.to} needs {' and '.join(missing)}", detail={"missing": missing, **about})


def _amount(transition: Transition, claim: Claim, inputs: TransitionInput, limits: Limits) -> int:
    """What was given, else what the claim holds already, else the offer by the rule (contract C8)."""
    if inputs.amount is not None:
        return money.to_minor(inputs.amount)
    stored = {
        "Repair estimate submitted": claim.repair_estimate_minor,
        "Approved": claim.approved_amount_minor,
        _PAID: claim.offer_amount_minor,
    }
    if transition.to == "Offer sent":
        return claim_offers.get_max_offer(claim, limits)
    return stored.get(transition.to, 0)


def _check_amount_input(
    transition: Transition, claim: Claim, inputs: TransitionInput, minor: int
) -> list[tuple[bool, str, str]]:
    need = next((need for need in transition.needs if need.field == "amount"), None)
    if transition.to == _PAID:
        offered = money.format_naira(claim.offer_amount_minor)
        return [(minor == claim.offer_amount_minor, "amount", f"must be the offer that was accepted, {offered}")]
    if need is None:
        return [(inputs.amount is None, "amount", f"is no part of the move to {transition.to}")]
    return [(minor > 0, "amount", f"must be given: {transition.to} needs {need.words}")]


def _of_approval(move: Transition, limits: Limits, minor: int) -> list[tuple[bool, str, str]]:
    """Nobody approves more than is owed or insured, and nothing that neither bounds."""
    if move.to != "Approved" or minor <= 0:
        return []
    if limits.most_minor is None:
        return [(False, "amount", "cannot be judged: the records name neither a debt, a repair nor a sum insured")]
    return [(minor <= limits.most_minor, "amount", f"must not be above {limits.shown}")]


def _check_offer(
    transition: Transition, claim: Claim, inputs: TransitionInput, minor: int, limits: Limits
) -> list[tuple[bool, str, str]]:
    """An offer is what the rule gives: never more, and less only with the reason (contract C8)."""
    if transition.to != "Offer sent" or minor <= 0:
        return []
    max_minor = claim_offers.get_max_offer(claim, limits)
    reason = f"must be given: an offer below {money.format_naira(max_minor)} needs a note that says why"
    return [
        (minor <= max_minor, "amount", f"must not be above {claim_offers.describe_max_offer(claim, limits)}"),
        (minor >= max_minor or inputs.note is not None, "note", reason),
    ]


def _check_text_inputs(transition: Transition, inputs: TransitionInput) -> list[tuple[bool, str, str]]:
    declines, pays = transition.to == _DECLINED, transition.to == _PAID
    return [
        (not declines or inputs.reason is not None, "reason", "must be given: Declined needs a reason code"),
        (declines or inputs.reason is None, "reason", f"is no part of the move to {transition.to}"),
        (not declines or inputs.note is not None, "note", "must be given: Declined needs a note"),
        (
            not pays or inputs.payment_reference is not None,
            "payment_reference",
            "must be given: Paid needs a payment reference",
        ),
        (pays or inputs.payment_reference is None, "payment_reference", f"is no part of the move to {transition.to}"),
    ]
