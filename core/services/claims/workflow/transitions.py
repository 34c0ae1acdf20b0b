"""Transitions of a claim: who may make which now, what each lacks (contract C5), and the tables of docs/claims.md."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import Annotated, Any, ClassVar, Final

from pydantic import BeforeValidator, Field

from core import money
from core.covers import fields, request
from core.covers.request import Request, refuse_unless
from core.errors import CoverdeskError, InvalidInput, NotAllowed, StateForbids
from core.services.claims.intake import submitted
from core.services.claims.review.coverage_checks import CHECK_KEYS, describe_unmet
from core.services.claims.workflow import judgement as claim_judgement
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import offers as claim_offers
from core.services.claims.workflow.changes import Reason
from core.services.claims.workflow.clock import STATUTORY_PERIOD
from core.services.claims.workflow.judgement import Judgement, Link
from core.services.claims.workflow.limits import Limits, RelatedApprovals
from core.services.people.staff import Person
from core.services.people.transfers import Reference
from core.settings import ROOT
from core.states import claims as claim_states
from core.states.claims import (
    APPROVED_AMOUNT,
    AUTHORITY,
    CHECKS,
    CLAIMS_ROLES,
    ESTIMATE,
    OFFER,
    RULES,
    SUPERVISOR,
    TRANSITIONS,
    ClaimStatus,
    ClaimTransition,
    Effect,
    Need,
)
from core.store.access import ScopedSession
from core.store.schema.tables import Claim

# Nobody inspects a death, or estimates what its repair costs.
OF_WHAT_IS_SEEN: Final = (ClaimStatus.INSPECTION_SUBMITTED, ClaimStatus.ESTIMATE_SUBMITTED)


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


def list_allowed(claim: Claim, person: Person, judgement: Judgement | None = None) -> tuple[ClaimTransition, ...]:
    """Every move from where a claim stands, each with what is missing for this person; none for who works no claims.

    An inspection and an estimate are offered where somebody looks at the loss. Without `judgement` nothing is held
    against what the claim can come to.
    """
    if not person.has_role(*CLAIMS_ROLES):
        return ()
    return tuple(
        replace(move, missing=tuple(list_unmet(move.needs, move, claim, person, judgement)))
        for move in claim_states.TRANSITIONS.list_from(claim.claim_status)
        if move.to not in OF_WHAT_IS_SEEN or submitted.is_inspected(claim)
    )


def list_unmet(
    needs: Iterable[Need], transition: ClaimTransition, claim: Claim, person: Person, judgement: Judgement | None
) -> list[str]:
    """List in words which of these needs of a transition neither claim nor person meets and no input could."""
    unmet = (_describe_unmet_need(need, transition, claim, person, judgement) for need in needs)
    return [words for words in unmet if words]


def _describe_unmet_need(
    need: Need, transition: ClaimTransition, claim: Claim, person: Person, judgement: Judgement | None
) -> str | None:
    """One need that is not met, in words; none when it is, or when only typing can meet it."""
    if need is claim_states.DOCUMENTS and (absent := submitted.list_missing_documents(claim)):
        return f"{need.words}: {', '.join(name.replace('_', ' ') for name in absent)}"
    if need is claim_states.AUTHORITY and Effect.PAYS in transition.effects:
        return describe_limit_exceeded(person, claim.offer_amount_minor, judgement.related if judgement else None)
    return (
        _describe_against(need, claim, person, judgement)
        or _describe_part(need, person, judgement)
        or _describe_unmet(need, claim, person)
    )


def _describe_against(need: Need, claim: Claim, person: Person, judgement: Judgement | None) -> str | None:
    """Describe what the limits, checks and duplicates have against a need."""
    if judgement is None:
        return None
    limits = judgement.limits
    left = claim.offer_amount_minor - limits.offer_paid_minor
    if need is claim_states.STILL_OWED and not 0 < left <= claim_offers.get_max_offer(claim, limits):
        return f"{need.words}, {claim_offers.describe_max_offer(claim, limits)}"
    if need is claim_states.NOT_PAID_ELSEWHERE and judgement.new_duplicates:
        return f"{need.words}: {'; '.join(each.text for each in judgement.new_duplicates)}"
    if need is claim_states.APPROVAL and judgement.approval_fault:
        return f"a new approval: {judgement.approval_fault}"
    return _describe_checks(need, person, judgement)


def _describe_checks(need: Need, person: Person, judgement: Judgement) -> str | None:
    if need is claim_states.CHECKS_HOLD and judgement.broken_checks:
        return f"{need.words}; failed now: {', '.join(check.question for check in judgement.broken_checks)}"
    if need is claim_states.CHECK_AUTHORITY and judgement.failed_checks and not person.has_role("supervisor"):
        return f"a supervisor, as a check is failed: {', '.join(check.question for check in judgement.failed_checks)}"
    return None


def _describe_part(need: Need, person: Person, judgement: Judgement | None) -> str | None:
    """Describe which part of the claim forbids this person another one."""
    if judgement is None:
        return None
    if need is claim_states.OTHER_APPROVER:
        second = claim_judgement.describe_second_loss(judgement.duplicates, person)
        return second or claim_judgement.describe_approver(judgement.links, person)
    if need is claim_states.NOT_OWN and judgement.parties and judgement.parties.is_own(person):
        return "somebody else: the customer, claimant or payee of this claim has your e-mail, phone or account"
    judge = _BY_LINKS.get(need)
    return judge(judgement.links, person) if judge else None


# What forbids a person a part by what was done on the claim before.
_BY_LINKS: Final[Mapping[Need, Callable[[Sequence[Link], Person], str | None]]] = {
    claim_states.OTHER_PAYER: claim_judgement.describe_payer,
    claim_states.OTHER_THAN_APPROVER: claim_judgement.describe_returner,
    claim_states.OTHER_THAN_DECLINER: claim_judgement.describe_appeal,
}


def _describe_unmet(need: Need, claim: Claim, person: Person) -> str | None:
    is_unmet = (
        (need is claim_states.APPROVAL and claim.approved_by is None)
        or (need is claim_states.SUPERVISOR and not person.has_role("supervisor"))
        or (need is claim_states.SECOND_PERSON and claim.approved_by in {None, person.id})
        or (need is claim_states.OWN_PASSWORD and not person.may_approve)
    )
    return need.words if is_unmet else None


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
    if (is_limited and AUTHORITY in transition.needs) or claim_states.OTHER_APPROVER in transition.needs:
        session.next_in_transaction("claims decided under a limit")


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
        above = describe_above_claimed(claim, person, minor)
    if APPROVED_AMOUNT in transition.needs:
        above = describe_backdated(person, minor, judgement.backdated_minor)
    if above or AUTHORITY not in transition.needs:
        return above
    return describe_limit_exceeded(person, minor, judgement.related)


def _refuse_unmet_needs(transition: ClaimTransition, claim: Claim, person: Person, judgement: Judgement) -> None:
    for kind, needs in (
        (StateForbids, [need for need in transition.needs if not need.of_person]),
        (NotAllowed, [need for need in transition.needs if need.of_person]),
    ):
        if missing := list_unmet(needs, transition, claim, person, judgement):
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
        return claim_limits.get_balance(claim, limits)
    return getattr(claim, transition.column) if transition.column else 0


def _check_amount_input(
    transition: ClaimTransition, claim: Claim, inputs: TransitionInput, minor: int, limits: Limits
) -> list[tuple[bool, str, str]]:
    need = next((need for need in transition.needs if need.field == "amount"), None)
    if Effect.PAYS in transition.effects:
        left = claim_limits.get_balance(claim, limits)
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
    needs = {need.field: need for need in transition.needs if not is_met_by_documents(need, claim)}
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
    claimed = claim_limits.get_amount_claimed(claim)
    is_above = claimed is not None and minor > money.to_minor(claimed)
    known = inputs.estimate_document is None or inputs.estimate_document in names
    document = f"must be one of the papers of this claim: {', '.join(names) or 'there is none yet, add it first'}"
    bound = money.format_naira(money.to_minor(claimed or money.ZERO))
    reason = f"must be given: the estimate is above the {bound} claimed, and the note of a supervisor says why"
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
        (inputs.reasons.keys() <= set(CHECK_KEYS), "reasons", f"must be by check: {', '.join(CHECK_KEYS)}"),
        *(
            (
                bool(inputs.reasons.get(check.key, "").strip()),
                f"reasons.{check.key}",
                f"must be given, as “{check.question}” is {describe_unmet(check)}",
            )
            for check in judgement.unmet
        ),
    ]


DOCS_PAGE: Final = ROOT / "docs" / "claims.md"


def fill_tables(page: str) -> str:
    """Return a page with the tables filled in between their markers, `<!-- moves -->` to `<!-- end of moves -->`."""
    for name, table in _TABLES.items():
        end = f"<!-- end of {name} -->"
        before, start, rest = page.partition(f"<!-- {name} -->\n")
        page = f"{before}{start}{table()}\n{end}{rest.partition(end)[2]}"
    return page


def _moves() -> str:
    rows = ([f"**{start}**", *(_cell(start, to) for to in ClaimStatus)] for start in ClaimStatus)
    return _table(["From \\ to", *ClaimStatus], rows)


def _cell(start: str, to: str) -> str:
    move = TRANSITIONS.find(start, to)
    if move is None:
        return ""
    return "supervisor" if SUPERVISOR in move.needs else "yes"


def _needs() -> str:
    fields_by_need = {
        (_describe_transition(move), need.words): need.field for move in TRANSITIONS for need in move.needs
    }
    rows = ([who, words, f"`{field}`" if field else ""] for (who, words), field in fields_by_need.items())
    return _table(["Move", "Needs", "Typed as"], rows)


def _describe_transition(move: ClaimTransition) -> str:
    return f"{move.start} to {move.to}" if SUPERVISOR in move.needs else f"to {move.to}"


def _clock() -> str:
    rows = ([status, RULES[status].clock.value] for status in ClaimStatus)
    return _table(["Status", f"The {STATUTORY_PERIOD.days} days"], rows)


def _table(heads: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(heads)
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


_TABLES: Final[Mapping[str, Callable[[], str]]] = {
    "moves": _moves,
    "needs": _needs,
    "reasons": lambda: "\n".join(f"- {reason}" for reason in submitted.DECLINE_REASONS),
    "clock": _clock,
}

if __name__ == "__main__":
    DOCS_PAGE.write_text(fill_tables(DOCS_PAGE.read_text()))
