"""Checks that refuse a transition; a refused claim stays unchanged (contract C5)."""

from typing import Final

from core import money
from core.covers.request import refuse_unless
from core.errors import CoverdeskError, NotAllowed, StateForbids
from core.services.claims.workflow import offers as claim_offers
from core.services.claims.workflow import transitions
from core.services.claims.workflow.inputs import MoveInput
from core.services.claims.workflow.offers import Limits
from core.services.claims.workflow.transitions import AUTHORITY, OWN_PASSWORD, SECOND_PERSON, SUPERVISOR, Move
from core.services.people.staff import Person
from core.store.schema.tables import Claim

_OF_A_PERSON: Final = (SUPERVISOR, SECOND_PERSON, AUTHORITY, OWN_PASSWORD)
_DECLINED, _PAID = "Declined", "Paid"


def move_of(claim: Claim, to: str) -> Move:
    """Return the transition from the claim's status; StateForbids, listing the allowed ones, when there is none."""
    move = transitions.between(claim.claim_status, to)
    if move is None:
        ways = transitions.ways_from(claim.claim_status)
        raise StateForbids(
            f"A claim that is {claim.claim_status} cannot become {to}; it can become {' or '.join(ways)}",
            detail={"claim_status": claim.claim_status, "allowed": list(ways)},
        )
    return move


def amount_of(move: Move, claim: Claim, person: Person, given: MoveInput, limits: Limits) -> int:
    """The amount in kobo that a move is about, once nothing stands against it; 0 where it is about none.

    StateForbids names what the claim lacks and NotAllowed what the person lacks; InvalidInput names every input
    that is missing, wrong or not part of the transition.
    """
    _refuse_lacks(move, claim, person, limits)
    minor = _amount(move, claim, given, limits)
    refuse_unless(
        [
            *_of_amount(move, claim, given, minor),
            *_of_offer(move, claim, given, minor, limits),
            *_of_words(move, given),
        ]
    )
    beyond = transitions.above_limit(person, minor) if AUTHORITY in move.needs else None
    if beyond:
        raise _refusal(NotAllowed, move, [beyond], field="amount" if given.amount is not None else None)
    refuse_unless(_of_approval(move, limits, minor))
    return minor


def _refuse_lacks(move: Move, claim: Claim, person: Person, limits: Limits) -> None:
    for kind, needs in (
        (StateForbids, [need for need in move.needs if need not in _OF_A_PERSON]),
        (NotAllowed, [need for need in move.needs if need in _OF_A_PERSON]),
    ):
        lacks = [words for need in needs if (words := transitions.lack(need, move, claim, person, limits))]
        if lacks:
            raise _refusal(kind, move, lacks)


def _refusal(kind: type[CoverdeskError], move: Move, lacks: list[str], *, field: str | None = None) -> CoverdeskError:
    """Build a refusal in words; `field` is the input that it concerns, if any."""
    about = {"field": field} if field else {}
    return kind(f"{move.to} needs {' and '.join(lacks)}", detail={"missing": lacks, **about})


def _amount(move: Move, claim: Claim, given: MoveInput, limits: Limits) -> int:
    """What was given, else what the claim holds already, else the offer by the rule (contract C8)."""
    if given.amount is not None:
        return money.to_minor(given.amount)
    standing = {
        "Repair estimate submitted": claim.repair_estimate_minor,
        "Approved": claim.approved_amount_minor,
        _PAID: claim.offer_amount_minor,
    }
    if move.to == "Offer sent":
        return claim_offers.most(claim, limits)
    return standing.get(move.to, 0)


def _of_amount(move: Move, claim: Claim, given: MoveInput, minor: int) -> list[tuple[bool, str, str]]:
    need = next((need for need in move.needs if need.field == "amount"), None)
    if move.to == _PAID:
        offered = money.shown(claim.offer_amount_minor)
        return [(minor == claim.offer_amount_minor, "amount", f"must be the offer that was accepted, {offered}")]
    if need is None:
        return [(given.amount is None, "amount", f"is no part of the move to {move.to}")]
    return [(minor > 0, "amount", f"must be given: {move.to} needs {need.words}")]


def _of_approval(move: Move, limits: Limits, minor: int) -> list[tuple[bool, str, str]]:
    """Nobody approves more than is owed or insured, and nothing that neither bounds."""
    if move.to != "Approved" or minor <= 0:
        return []
    if limits.most_minor is None:
        return [(False, "amount", "cannot be judged: the records name neither a debt, a repair nor a sum insured")]
    return [(minor <= limits.most_minor, "amount", f"must not be above {limits.shown}")]


def _of_offer(move: Move, claim: Claim, given: MoveInput, minor: int, limits: Limits) -> list[tuple[bool, str, str]]:
    """An offer is what the rule gives: never more, and less only with the reason (contract C8)."""
    if move.to != "Offer sent" or minor <= 0:
        return []
    most = claim_offers.most(claim, limits)
    reason = f"must be given: an offer below {money.shown(most)} needs a note that says why"
    return [
        (minor <= most, "amount", f"must not be above {claim_offers.ceiling(claim, limits)}"),
        (minor >= most or given.note is not None, "note", reason),
    ]


def _of_words(move: Move, given: MoveInput) -> list[tuple[bool, str, str]]:
    declines, pays = move.to == _DECLINED, move.to == _PAID
    return [
        (not declines or given.reason is not None, "reason", "must be given: Declined needs a reason code"),
        (declines or given.reason is None, "reason", f"is no part of the move to {move.to}"),
        (not declines or given.note is not None, "note", "must be given: Declined needs a note"),
        (
            not pays or given.payment_reference is not None,
            "payment_reference",
            "must be given: Paid needs a payment reference",
        ),
        (pays or given.payment_reference is None, "payment_reference", f"is no part of the move to {move.to}"),
    ]
