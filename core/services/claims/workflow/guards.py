"""Checks that refuse a transition; a refused claim stays unchanged (contract C5)."""

from core import money
from core.covers.request import refuse_unless
from core.errors import CoverdeskError, NotAllowed, StateForbids
from core.services.claims.intake import submitted
from core.services.claims.review.coverage_checks import CHECK_KEYS, describe_unmet
from core.services.claims.workflow import offers as claim_offers
from core.services.claims.workflow import payments as claim_payments
from core.services.claims.workflow import transitions
from core.services.claims.workflow.inputs import TransitionInput
from core.services.claims.workflow.judgement import Judgement
from core.services.claims.workflow.offers import Limits
from core.services.people.staff import Person
from core.states import claims as claim_states
from core.states.claims import APPROVED_AMOUNT, AUTHORITY, CHECKS, ESTIMATE, OFFER, ClaimTransition, Effect
from core.store.schema.tables import Claim


def require_transition(claim: Claim, to: str) -> ClaimTransition:
    """Return the transition from the claim's status; StateForbids, listing the allowed ones, when there is none."""
    move = claim_states.TRANSITIONS.find(claim.claim_status, to)
    if move is None:
        targets = [each.to for each in claim_states.TRANSITIONS.list_from(claim.claim_status)]
        raise StateForbids(
            f"A claim that is {claim.claim_status} cannot become {to}; it can become {' or '.join(targets)}",
            detail={"claim_status": claim.claim_status, "allowed": targets},
        )
    return move


def check_amount(
    transition: ClaimTransition, claim: Claim, person: Person, inputs: TransitionInput, judgement: Judgement
) -> int:
    """The amount in kobo that a move is about, once nothing stands against it; 0 where it is about none.

    StateForbids names what the claim lacks and NotAllowed what the person lacks; InvalidInput names every input
    that is missing, wrong or not part of the transition.
    """
    limits = judgement.limits
    _refuse_unmet_needs(transition, claim, person, judgement)
    minor = _amount(transition, claim, inputs, limits)
    refuse_unless(
        [
            *_check_amount_input(transition, claim, inputs, minor, limits),
            *_check_offer(transition, claim, inputs, minor, limits),
            *_check_text_inputs(transition, claim, inputs),
            *_check_estimate(transition, claim, inputs, minor),
            *_check_appeal(transition, minor, judgement),
            *_check_reasons(transition, inputs, judgement),
        ]
    )
    limit_exceeded = _describe_exceeded(transition, claim, person, minor, judgement)
    if limit_exceeded:
        raise _refusal(NotAllowed, transition, [limit_exceeded], field="amount" if inputs.amount is not None else None)
    refuse_unless(_of_approval(transition, limits, minor))
    return minor


def _describe_exceeded(
    transition: ClaimTransition, claim: Claim, person: Person, minor: int, judgement: Judgement
) -> str | None:
    """Describe which limit of this person the amount of a move exceeds."""
    above = None
    if ESTIMATE in transition.needs:
        above = transitions.describe_above_claimed(claim, person, minor)
    if APPROVED_AMOUNT in transition.needs:
        above = transitions.describe_backdated(person, minor, judgement.backdated_minor)
    if above or AUTHORITY not in transition.needs:
        return above
    return transitions.describe_limit_exceeded(person, minor, judgement.related)


def _refuse_unmet_needs(transition: ClaimTransition, claim: Claim, person: Person, judgement: Judgement) -> None:
    for kind, needs in (
        (StateForbids, [need for need in transition.needs if not need.of_person]),
        (NotAllowed, [need for need in transition.needs if need.of_person]),
    ):
        missing = [
            words
            for need in needs
            if (words := transitions.describe_unmet_need(need, transition, claim, person, judgement))
        ]
        if missing:
            raise _refusal(kind, transition, missing)


def _refusal(
    kind: type[CoverdeskError], transition: ClaimTransition, missing: list[str], *, field: str | None = None
) -> CoverdeskError:
    """Build a refusal in words; `field` is the input that it concerns, if any."""
    about = {"field": field} if field else {}
    return kind(f"{transition.to} needs {' and '.join(missing)}", detail={"missing": missing, **about})


def _amount(transition: ClaimTransition, claim: Claim, inputs: TransitionInput, limits: Limits) -> int:
    """Return the given amount, else the amount stored on the claim, else the computed offer (contract C8)."""
    if inputs.amount is not None:
        return money.to_minor(inputs.amount)
    if OFFER in transition.needs:
        return claim_offers.get_max_offer(claim, limits)
    if Effect.PAYS in transition.effects:
        return claim_payments.get_balance(claim, limits)
    return getattr(claim, transition.column) if transition.column else 0


def _check_amount_input(
    transition: ClaimTransition, claim: Claim, inputs: TransitionInput, minor: int, limits: Limits
) -> list[tuple[bool, str, str]]:
    need = next((need for need in transition.needs if need.field == "amount"), None)
    if Effect.PAYS in transition.effects:
        left = claim_payments.get_balance(claim, limits)
        words = "what is left of the offer" if limits.offer_paid_minor else "the offer that was accepted"
        return [(minor == left, "amount", f"must be {words}, {money.format_naira(left)}")]
    if need is None:
        return [(inputs.amount is None, "amount", f"is no part of the move to {transition.to}")]
    return [(minor > 0, "amount", f"must be given: {transition.to} needs {need.words}")]


def _of_approval(move: ClaimTransition, limits: Limits, minor: int) -> list[tuple[bool, str, str]]:
    """Nobody approves more than is owed or insured, and nothing that neither bounds."""
    if APPROVED_AMOUNT not in move.needs or minor <= 0:
        return []
    if limits.most_minor is None:
        return [(False, "amount", "cannot be judged: the records name neither a debt, a repair nor a sum insured")]
    return [(minor <= limits.most_minor, "amount", f"must not be above {limits.describe}")]


def _check_offer(
    transition: ClaimTransition, claim: Claim, inputs: TransitionInput, minor: int, limits: Limits
) -> list[tuple[bool, str, str]]:
    """An offer is what the rule gives: never more, and less only with the reason (contract C8)."""
    if OFFER not in transition.needs or minor <= 0:
        return []
    max_minor = claim_offers.get_max_offer(claim, limits)
    reason = f"must be given: an offer below {money.format_naira(max_minor)} needs a note that says why"
    return [
        (minor <= max_minor, "amount", f"must not be above {claim_offers.describe_max_offer(claim, limits)}"),
        (minor >= max_minor or inputs.note is not None, "note", reason),
    ]


def _check_text_inputs(
    transition: ClaimTransition, claim: Claim, inputs: TransitionInput
) -> list[tuple[bool, str, str]]:
    needs = {need.field: need for need in transition.needs if not transitions.is_met_by_documents(need, claim)}
    checks: list[tuple[bool, str, str]] = []
    for name in ("reason", "note", "payment_reference", "estimate_document"):
        is_given = getattr(inputs, name) is not None
        if name in needs:
            checks.append((is_given, name, f"must be given: {transition.to} needs {needs[name].words}"))
        elif name != "note":
            checks.append((not is_given, name, f"is no part of the move to {transition.to}"))
    return checks


def _check_estimate(
    transition: ClaimTransition, claim: Claim, inputs: TransitionInput, minor: int
) -> list[tuple[bool, str, str]]:
    """An estimate stands in a paper of the claim, and one above what is claimed corrects it with a reason."""
    if ESTIMATE not in transition.needs:
        return []
    names = submitted.list_present_documents(claim)
    claimed = claim_offers.get_amount_claimed(claim)
    is_above = claimed is not None and minor > money.to_minor(claimed)
    known = inputs.estimate_document is None or inputs.estimate_document in names
    document = f"must be one of the papers of this claim: {', '.join(names) or 'there is none yet, add it first'}"
    reason = (
        f"must be given: the estimate is above the {money.format_naira(money.to_minor(claimed or money.ZERO))} claimed"
    )
    return [(known, "estimate_document", document), (not is_above or inputs.note is not None, "note", reason)]


def _check_appeal(transition: ClaimTransition, minor: int, judgement: Judgement) -> list[tuple[bool, str, str]]:
    """On appeal, more than was approved before the decline needs a paper that arrived after it (contract K13)."""
    first = judgement.appeal_minor
    if APPROVED_AMOUNT not in transition.needs or first is None:
        return []
    words = f"must not be above {money.format_naira(first)}, as before the decline: add a paper that arrived since"
    return [(minor <= first, "amount", words)]


def _check_reasons(
    transition: ClaimTransition, inputs: TransitionInput, judgement: Judgement
) -> list[tuple[bool, str, str]]:
    """Every check that is not met needs a reason of its own (contract C13)."""
    if CHECKS not in transition.needs:
        return [(not inputs.reasons, "reasons", f"is no part of the move to {transition.to}")]
    return [
        (
            inputs.reasons.keys() <= set(CHECK_KEYS),
            "reasons",
            f"must be by check: {', '.join(CHECK_KEYS)}",
        ),
        *(
            (
                bool(inputs.reasons.get(check.key, "").strip()),
                f"reasons.{check.key}",
                f"must be given, as “{check.question}” is {describe_unmet(check)}",
            )
            for check in judgement.unmet
        ),
    ]
