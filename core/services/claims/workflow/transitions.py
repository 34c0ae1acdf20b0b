"""Transitions of a claim: who may make which now, and what each lacks (contract C5)."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field

from core import money
from core.covers import fields, request
from core.covers.request import Request, refuse_unless
from core.errors import CoverdeskError, InvalidInput, NotAllowed, StateForbids
from core.services.claims.intake import submitted
from core.services.claims.review import related
from core.services.claims.review.coverage_checks import CHECK_KEYS, CoverageCheck, describe_unmet
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow.changes import Reason
from core.services.claims.workflow.judgement import NAMES_PAYEE, Act, Judgement, Link, list_payee_setters
from core.services.claims.workflow.limits import Limits, RelatedApprovals
from core.services.people.staff import Person
from core.services.people.transfers import Reference
from core.states import claims as claim_states
from core.states.claims import CLAIMS_ROLES, TRANSITIONS, ClaimStatus, ClaimTransition, Effect, Need
from core.store.access import ScopedSession
from core.store.schema.tables import Claim

# Nobody inspects a death, or estimates what its repair costs.
OF_WHAT_IS_SEEN: Final = (ClaimStatus.INSPECTION_SUBMITTED, ClaimStatus.ESTIMATE_SUBMITTED)
# Who set a figure or the payee of a claim, or noted that its payment came back, does not pay it.
_SETS: Final = (Act.LODGED, Act.ESTIMATED, Act.CORRECTED, Act.DEDUCTED, Act.RETURNED, *NAMES_PAYEE)
_PARTS: Final[Mapping[str, str]] = {
    Act.LODGED: "lodged it",
    Act.ESTIMATED: "set its estimate",
    Act.CORRECTED: "corrected its amounts",
    Act.DEDUCTED: "set its deductions",
    Act.PAYEE_SET: "set its payee",
    Act.CLAIMANT_SET: "set the claimant, who is paid",
    Act.RETURNED: "noted that its payment came back",
    Act.KEY_ISSUED: "issued the key by which it named who is paid",
    Act.LINK_MADE: "made the password link of who named the payee",
    Act.APPROVED: "approved it before",
    Act.HANDED_OVER: "handed it to finance",
    Act.DECLINED: "declined it",
    Act.PAID: "paid it before",
}
# Who did one of these, or counts as who did, does not pay it.
_NOT_PAYERS: Final = (*_SETS, Act.APPROVED, Act.HANDED_OVER)


def _normalise_reason(value: Any) -> Any:
    """Accept a reason in command-line spelling: documents-missing is documents missing."""
    return value.replace("-", " ").replace("_", " ") if isinstance(value, str) else value


DeclineReason = Annotated[str, fields.one_of(*submitted.DECLINE_REASONS), BeforeValidator(_normalise_reason)]


class TransitionInput(Request):
    """Inputs of a transition; the transition table says which of them are required."""

    multiline_fields: ClassVar[frozenset[str]] = frozenset({"note"})

    amount: fields.Naira | None = None
    reason: DeclineReason | None = None
    note: fields.LongText | None = None
    payment_reference: Reference | None = None
    estimate_document: Annotated[str, Field(max_length=60)] | None = None
    reasons: dict[str, Reason] = Field(default_factory=dict)


def parse_amount(typed: str) -> Decimal | None:
    """Parse a typed amount in naira; None while it is not an amount that could be approved."""
    try:
        inputs: TransitionInput = request.validate(TransitionInput, {"amount": typed})
    except InvalidInput:
        return None
    return inputs.amount or None


@dataclass(frozen=True, slots=True)
class Case:
    """A transition that a person wants to make, and its claim with the judgement of now."""

    transition: ClaimTransition
    claim: Claim
    person: Person
    judgement: Judgement

    @property
    def needs(self) -> tuple[Need, ...]:
        """The needs of the transition."""
        return self.transition.needs

    @property
    def limits(self) -> Limits:
        """The limits of the claim."""
        return self.judgement.limits

    @property
    def acts(self) -> list[tuple[str, str]]:
        """The acts on the claim, each with its actor, oldest first."""
        return [(link.act, link.actor) for link in self.judgement.links]


def list_allowed(claim: Claim, person: Person, judgement: Judgement) -> tuple[ClaimTransition, ...]:
    """Every move from where a claim stands, each with what is missing for this person; none for who works no claims.

    An inspection and an estimate are offered where somebody looks at the loss.
    """
    if not person.has_role(*CLAIMS_ROLES):
        return ()
    return tuple(
        replace(move, missing=tuple(list_unmet(move.needs, Case(move, claim, person, judgement))))
        for move in TRANSITIONS.list_from(claim.claim_status)
        if move.to not in OF_WHAT_IS_SEEN or submitted.is_inspected(claim)
    )


def list_unmet(needs: Iterable[Need], case: Case) -> list[str]:
    """List in words which of these needs neither claim nor person meets and no input could."""
    found = ((need, _UNMET[need](case)) for need in needs if need in _UNMET)
    return [need.words if missing is True else missing for need, missing in found if missing]


def _join(words: str, found: Iterable[str], between: str = ", ") -> str | None:
    joined = between.join(found)
    return words + joined if joined else None


def _name_checks(words: str, checks: Iterable[CoverageCheck]) -> str | None:
    return _join(words, (check.question for check in checks))


def _describe_owed(case: Case) -> str | None:
    if 0 < claim_limits.get_balance(case.claim, case.limits) <= claim_limits.get_max_offer(case.claim, case.limits):
        return None
    return f"{claim_states.STILL_OWED.words}, {claim_limits.describe_max_offer(case.claim, case.limits)}"


def _describe_own(case: Case) -> str | None:
    if not case.judgement.parties.is_own(case.person):
        return None
    return "somebody else: the customer, claimant, payee or third party of this claim has your e-mail, phone or account"


def _describe_payer(case: Case) -> str | None:
    """Say what forbids this person to pay; None where nothing does.

    Who gave the approval that stands is another need; who gave an earlier one does not pay by it either.
    """
    found, person = case.judgement.links, case.person
    standing = max((link.at for link in found if link.act == Act.APPROVED), default=None)
    parts = (link for link in found if link.act in _SETS or (link.act == Act.APPROVED and link.at != standing))
    done = next((link for link in parts if link.actor == person.actor), None)
    if done is not None:
        return f"a payer who has not {_PARTS[done.act]}"
    another = next((link for link in found if link.act in _NOT_PAYERS and person.actor in link.as_one), None)
    return None if another is None else _describe_as_one("a payer", another)


def _describe_as_one(who: str, link: Link) -> str:
    """Say that somebody counts as who did a part: "a payer other than Ada, who approved it, ..."."""
    return f"{who} who neither has a password by a link of {link.by}, who {_PARTS[link.act]}, nor made theirs"


def _describe_approver(case: Case) -> str | None:
    """Say what forbids this person to approve: they made the cover, set the payee of now, or declined or paid it."""
    if second := _describe_second_loss(case):
        return second
    links, person = case.judgement.links, case.person
    set_last = next((link for link in list_payee_setters(links) if link.actor == person.actor), None)
    if set_last is not None:
        if set_last.act != Act.PAYEE_SET:
            return f"an approver other than who {_PARTS[set_last.act]}"
        is_lodger = any(link.act == Act.LODGED and link.at == set_last.at for link in links)
        return f"an approver other than who {'lodged it and typed its account' if is_lodger else 'set the payee'}"
    if case.person.actor in case.judgement.changers:
        return "an approver other than who changed its figures or claimant since it was approved"
    if case.person.actor in case.judgement.cover_makers:
        return (
            "an approver other than who sold, renewed or endorsed its cover, or put it in force, also by a key or a"
            " password link that they made"
        )
    return _describe_decider(case)


def _describe_decider(case: Case) -> str | None:
    """Say that this person declined or paid the claim, noted a return of it, or approved it before there was one."""
    links, person = case.judgement.links, case.person
    done = next((act for act in (Act.DECLINED, Act.RETURNED, Act.PAID) if (act, person.actor) in case.acts), None)
    if done is not None:
        return f"an approver other than who {_PARTS[done]}"
    decided = (link for link in links if link.act in (Act.DECLINED, Act.RETURNED, Act.PAID))
    another = next((link for link in decided if person.actor in link.as_one), None)
    if another is not None:
        return _describe_as_one("an approver", another)
    is_returned = any(link.act == Act.RETURNED for link in links)
    if is_returned and any(link.act == Act.APPROVED and link.is_of(person) for link in links):
        return "an approver who did not approve it before a payment of it came back"
    return None


def _describe_returner(case: Case) -> str | bool:
    """Say what forbids this person to note a return; who paid is refused by the payment itself."""
    found, actor = case.judgement.links, case.person.actor
    another = next((link for link in found if link.act in (Act.APPROVED, Act.PAID) and actor in link.as_one), None)
    return _describe_as_one("somebody", another) if another else (Act.APPROVED, actor) in case.acts


def _describe_second_loss(case: Case) -> str | None:
    """Say what forbids this person to approve: they ever approved a claim that may be for the same loss."""
    mine = next((each for each in case.judgement.duplicates if case.person.id in each.approvers), None)
    if mine is None:
        return None
    what = " and ".join(mine.matches)
    return f"an approver other than who approved {mine.reference}, or noted a return of it, which has {what}"


def _describe_authority(case: Case) -> str | None:
    """Judge what is paid by the offer as it stands; an amount that is typed is judged with the inputs."""
    if Effect.PAYS not in case.transition.effects:
        return None
    return describe_limit_exceeded(case.person, case.claim.offer_amount_minor, case.judgement.related)


# How each need that no input meets is unmet: in words, or True where its own words say it.
_UNMET: Final[Mapping[Need, Callable[[Case], str | bool | None]]] = {
    claim_states.KNOWN: lambda case: related.is_gone(case.claim),
    claim_states.DOCUMENTS: lambda case: _join(
        f"{claim_states.DOCUMENTS.words}: ",
        (name.replace("_", " ") for name in submitted.list_missing_documents(case.claim)),
    ),
    claim_states.APPROVAL: lambda case: (
        _join("a new approval: ", [case.judgement.approval_fault or ""]) or case.claim.approved_by is None
    ),
    claim_states.STILL_OWED: _describe_owed,
    claim_states.NOT_PAID_ELSEWHERE: lambda case: _join(
        f"{claim_states.NOT_PAID_ELSEWHERE.words}: ", (each.text for each in case.judgement.new_duplicates), "; "
    ),
    claim_states.CHECKS_HOLD: lambda case: _name_checks(
        f"{claim_states.CHECKS_HOLD.words}; failed now: ", case.judgement.broken_checks
    ),
    claim_states.CHECK_AUTHORITY: lambda case: (
        not case.person.has_role("supervisor")
        and _name_checks("a supervisor, as a check has failed: ", case.judgement.failed_checks)
    ),
    claim_states.NOT_OWN: _describe_own,
    claim_states.OTHER_APPROVER: _describe_approver,
    claim_states.OTHER_PAYER: _describe_payer,
    # Whoever approved it would have it paid again by that approval.
    claim_states.OTHER_THAN_APPROVER: _describe_returner,
    claim_states.OTHER_THAN_DECLINER: lambda case: (
        [actor for act, actor in case.acts if act == Act.DECLINED][-1:] == [case.person.actor]
    ),
    claim_states.SECOND_PERSON: lambda case: case.claim.approved_by in {None, case.person.id},
    claim_states.SUPERVISOR: lambda case: not case.person.has_role("supervisor"),
    claim_states.OWN_PASSWORD: lambda case: not case.person.may_approve,
    claim_states.AUTHORITY: _describe_authority,
}


def is_met_by_documents(need: Need, claim: Claim) -> bool:
    """Return True where a document of the claim stands in for an input: the signed form for the note of a call."""
    return need is claim_states.EVIDENCE and bool(submitted.get_meta(claim).get(submitted.SIGNED_DISCHARGE))


def describe_limit_exceeded(person: Person, minor: int, related: RelatedApprovals | None = None) -> str | None:
    """Describe why an amount in kobo exceeds this person's authority, with what was approved besides; None if not."""
    limit, besides = person.claim_limit_minor, related.amount_minor if related else 0
    if limit is None or minor + besides <= limit or person.has_role("supervisor"):
        return None
    added = f" with the {money.format_naira(besides)} approved {related.text}" if related and besides else ""
    return f"a supervisor: {money.format_naira(minor)}{added} is above the limit of {money.format_naira(limit)}"


def describe_above_claimed(claim: Claim, person: Person, minor: int) -> str | None:
    """Describe why an estimate in kobo takes a supervisor: it corrects what was claimed (contract K6)."""
    claimed = claim_limits.get_amount_claimed(claim)
    if claimed is None or minor <= money.to_minor(claimed):
        return None
    if person.has_role("supervisor"):
        return None if person.may_approve else claim_states.OWN_PASSWORD.words
    return (
        f"a supervisor: {money.format_naira(minor)} is above the {money.format_naira(money.to_minor(claimed))} claimed"
    )


def describe_backdated(person: Person, minor: int, most_minor: int | None) -> str | None:
    """Describe why an amount in kobo is too much for a loss from before the sale; an admin decides above the limit."""
    if most_minor is None or minor <= most_minor or "admin" in person.roles:
        return None
    most = money.format_naira(most_minor)
    return f"an admin: the cover was bought after the loss, of which a supervisor approves up to {most}"


def wait_for_authority(session: ScopedSession, transition: ClaimTransition, person: Person) -> None:
    """Wait for whoever approves, or decides under a limit, at this instant (contract K5).

    What both approve counts together, and neither approves the second of two claims for one loss unseen.
    """
    is_limited = person.claim_limit_minor is not None and not person.has_role("supervisor")
    if (is_limited and claim_states.AUTHORITY in transition.needs) or claim_states.OTHER_APPROVER in transition.needs:
        session.next_in_transaction("claims decided under a limit")


def require_transition(claim: Claim, to: str) -> ClaimTransition:
    """Return the transition from the claim's status; StateForbids, listing the allowed ones, when there is none."""
    move = TRANSITIONS.find(claim.claim_status, to)
    if move is None:
        targets = [each.to for each in TRANSITIONS.list_from(claim.claim_status)]
        raise StateForbids(
            f"A claim that is {claim.claim_status} cannot become {to}; it can become {' or '.join(targets)}",
            detail={"claim_status": claim.claim_status, "allowed": targets},
        )
    return move


def check_amount(case: Case, inputs: TransitionInput) -> int:
    """The amount in kobo that a move is about, once nothing stands against it; 0 where it is about none.

    StateForbids names what the claim lacks and NotAllowed what the person lacks; InvalidInput names every input
    that is missing, wrong or not part of the transition.
    """
    for kind, of_person in ((StateForbids, False), (NotAllowed, True)):
        if missing := list_unmet((need for need in case.needs if need.of_person is of_person), case):
            raise _refusal(kind, case, missing)
    minor = _amount(case, inputs)
    refuse_unless(
        [
            *_check_amount_input(case, inputs, minor),
            *_check_offer(case, inputs, minor),
            *_check_text_inputs(case, inputs),
            *_check_estimate(case, inputs, minor),
            *_check_appeal(case, minor),
            *_check_reasons(case, inputs),
        ]
    )
    if limit_exceeded := _describe_exceeded(case, minor):
        raise _refusal(NotAllowed, case, [limit_exceeded], field="amount" if inputs.amount is not None else None)
    refuse_unless(_check_approved(case, minor))
    return minor


def _describe_exceeded(case: Case, minor: int) -> str | None:
    """Describe which limit of this person the amount of a move exceeds."""
    above = None
    if claim_states.ESTIMATE in case.needs:
        above = describe_above_claimed(case.claim, case.person, minor)
    if claim_states.APPROVED_AMOUNT in case.needs:
        above = describe_backdated(case.person, minor, case.judgement.backdated_minor)
    if above or claim_states.AUTHORITY not in case.needs:
        return above
    return describe_limit_exceeded(case.person, minor, case.judgement.related)


def _refusal(kind: type[CoverdeskError], case: Case, missing: list[str], *, field: str | None = None) -> CoverdeskError:
    """Build a refusal in words; `field` is the input that it concerns, if any."""
    about = {"field": field} if field else {}
    return kind(f"{case.transition.to} needs {' and '.join(missing)}", detail={"missing": missing, **about})


def _amount(case: Case, inputs: TransitionInput) -> int:
    """Return the given amount, else the amount stored on the claim, else the computed offer (contract C8)."""
    if inputs.amount is not None:
        return money.to_minor(inputs.amount)
    if claim_states.OFFER in case.needs:
        return claim_limits.get_max_offer(case.claim, case.limits)
    if Effect.PAYS in case.transition.effects:
        return claim_limits.get_balance(case.claim, case.limits)
    return getattr(case.claim, case.transition.column) if case.transition.column else 0


_Checks = list[tuple[bool, str, str]]


def _check_amount_input(case: Case, inputs: TransitionInput, minor: int) -> _Checks:
    need = next((need for need in case.needs if need.field == "amount"), None)
    if Effect.PAYS in case.transition.effects:
        left = claim_limits.get_balance(case.claim, case.limits)
        words = "what is left of the offer" if case.limits.offer_paid_minor else "the offer that was accepted"
        return [(minor == left, "amount", f"must be {words}, {money.format_naira(left)}")]
    if need is None:
        return [(inputs.amount is None, "amount", f"is no part of the move to {case.transition.to}")]
    return [(minor > 0, "amount", need.left_out)]


def _check_approved(case: Case, minor: int) -> _Checks:
    """Nobody approves more than is owed or insured, and nothing that neither bounds."""
    if claim_states.APPROVED_AMOUNT not in case.needs or minor <= 0:
        return []
    if case.limits.most_minor is None:
        return [(False, "amount", "cannot be judged: the records name neither a debt, a repair nor a sum insured")]
    return [(minor <= case.limits.most_minor, "amount", f"must not be above {case.limits.describe}")]


def find_rule_exceeded(case: Case, minor: int) -> str | None:
    """Say which rule an amount in kobo of an approval or an offer is above, so that no supervisor decides it either."""
    limits = case.limits
    if claim_states.APPROVED_AMOUNT in case.needs and limits.most_minor is not None and minor > limits.most_minor:
        return limits.describe
    if claim_states.OFFER in case.needs and minor > claim_limits.get_max_offer(case.claim, limits):
        return claim_limits.describe_max_offer(case.claim, limits)
    return None


def _check_offer(case: Case, inputs: TransitionInput, minor: int) -> _Checks:
    """An offer is what the rule gives: never more, and less only with the reason (contract C8)."""
    if claim_states.OFFER not in case.needs or minor <= 0:
        return []
    max_minor = claim_limits.get_max_offer(case.claim, case.limits)
    reason = f"must be given: an offer below {money.format_naira(max_minor)} needs one that says why"
    most = claim_limits.describe_max_offer(case.claim, case.limits)
    return [
        (minor <= max_minor, "amount", f"must not be above {most}"),
        (minor >= max_minor or inputs.note is not None, "note", reason),
    ]


def _check_text_inputs(case: Case, inputs: TransitionInput) -> _Checks:
    needs = {need.field: need for need in case.needs if not is_met_by_documents(need, case.claim)}
    checks: _Checks = []
    for name in ("reason", "note", "payment_reference", "estimate_document"):
        is_given = getattr(inputs, name) is not None
        if name in needs:
            checks.append((is_given, name, needs[name].left_out))
        elif name != "note":
            checks.append((not is_given, name, f"is no part of the move to {case.transition.to}"))
    return checks


def _check_estimate(case: Case, inputs: TransitionInput, minor: int) -> _Checks:
    """An estimate stands in a paper of the claim, and one above what is claimed corrects it with a reason."""
    if claim_states.ESTIMATE not in case.needs:
        return []
    names = submitted.list_present_documents(case.claim)
    claimed = claim_limits.get_amount_claimed(case.claim)
    is_above = claimed is not None and minor > money.to_minor(claimed)
    known = inputs.estimate_document is None or inputs.estimate_document in names
    document = f"must be one of the papers of this claim: {', '.join(names) or 'there is none yet, add it first'}"
    bound = money.format_naira(money.to_minor(claimed or money.ZERO))
    reason = f"must be given: the estimate is above the {bound} claimed, and a supervisor says why"
    return [(known, "estimate_document", document), (not is_above or inputs.note is not None, "note", reason)]


def _check_appeal(case: Case, minor: int) -> _Checks:
    """On appeal, more than was approved before the decline needs a paper that arrived after it (contract K13)."""
    if claim_states.APPROVED_AMOUNT not in case.needs or (first := case.judgement.appeal_minor) is None:
        return []
    words = f"must not be above {money.format_naira(first)}, as before the decline: add a paper that arrived since"
    return [(minor <= first, "amount", words)]


def _check_reasons(case: Case, inputs: TransitionInput) -> _Checks:
    """Every check that is not met needs a reason of its own (contract C13)."""
    if claim_states.CHECKS not in case.needs:
        return [(not inputs.reasons, "reasons", f"is no part of the move to {case.transition.to}")]
    return [
        (inputs.reasons.keys() <= set(CHECK_KEYS), "reasons", f"must be by check: {', '.join(CHECK_KEYS)}"),
        *(
            (
                bool(inputs.reasons.get(check.key, "").strip()),
                f"reasons.{check.key}",
                f"must be given, as “{check.question}” is {describe_unmet(check)}",
            )
            for check in case.judgement.unmet
        ),
    ]
