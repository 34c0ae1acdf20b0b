"""The decision panel of a claim: allowed transitions, requirements, the form of the chosen one (contract C5)."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final
from uuid import UUID

import streamlit as st

from core import money
from core.services.claims.intake import submitted
from core.services.claims.review import related
from core.services.claims.review.coverage_checks import CoverageCheck, describe_unmet
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import limits as claim_limits
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow import tasks as claim_tasks
from core.services.claims.workflow import transitions as claim_transitions
from core.services.claims.workflow.tasks import Referral
from core.services.people.staff import Person
from core.states.claims import (
    APPROVED_AMOUNT,
    AUTHORITY,
    CLOSED,
    DOCUMENTS,
    ESTIMATE,
    EVIDENCE,
    NEW,
    OFFER,
    RULES,
    TRANSITIONS,
    ClaimStatus,
    ClaimTransition,
    Effect,
)
from core.store.access import ScopedSession
from core.ui.buying import prices
from core.ui.kit import actions, facts, form_keeper, words
from core.ui.kit.actions import Action, Choice, Naira, Text, Values
from pages.claims import _money, _papers, _shared
from pages.claims._actions import (
    MOVE,
    OpenForm,
    changing,
    close_form,
    deciding,
    draw_form,
    find_possible,
    get_open_form,
    get_typed,
    key,
    moving,
    open_form,
    propose,
    read_open_form,
    submit_form,
)

_FIELDS: Final = ("amount", "reason", "note", "payment_reference", "estimate_document")
_EMPTY: Final[Mapping[str, Any]] = {"reason": None, "note": "", "payment_reference": "", "estimate_document": None}


def find_main(review: ClaimReview) -> ClaimTransition | None:
    """Return the transition that usually comes next, possible or not; None where there is none.

    That is the approval, or else what the status leads to first; a new claim is approved at once only where nothing is
    missing.
    """
    if review.status in CLOSED:
        return None
    allowed = {move.to: move for move in review.transitions_allowed}
    leads_to = RULES[ClaimStatus(review.status)].leads_to
    if review.status in NEW:
        approval = allowed.get(ClaimStatus.APPROVED)
        return approval if approval and not approval.missing else allowed.get(ClaimStatus.REVIEWING)
    return allowed.get(ClaimStatus.APPROVED if ClaimStatus.APPROVED in leads_to else leads_to[0])


def draw_main(review: ClaimReview) -> None:
    """Draw the button of the main action, for the head of the review."""
    if move := find_main(review):
        _button(review, move, is_main=True)


def draw(review: ClaimReview, person: Person) -> None:
    """Draw the other transitions as buttons, the reasons why some are blocked, and the open form."""
    attempt, main = get_open_form(review), find_main(review)
    with st.container(border=True, gap="xsmall"):
        draw_referral(review, person)
        if review.approval_fault and not review.is_decided:
            _draw_lapsed(review)
        with st.container(horizontal=True, gap="xsmall", vertical_alignment="center"):
            for move in review.transitions_allowed:
                if move is not main:
                    _button(review, move, is_main=attempt is not None and attempt.to == move.to)
            if not review.is_decided and not review.amounts.approved_minor:
                _draw_second_submission(review)
            _draw_passing_on(review, person)
        for move in review.transitions_allowed:
            if move.missing:
                label = words.plain(move.label)
                st.caption(
                    f":material/lock: **{label}** needs {words.plain(' and '.join(map(_shorten, move.missing)))}."
                )
        _papers.draw_missing(review)
        _papers.draw_decided(review)
        if attempt is not None:
            _form(review, attempt, person)


def _shorten(need: str) -> str:
    """Return a need without the names of the papers that it waits for, which stand below it."""
    return DOCUMENTS.words if need.startswith(DOCUMENTS.words) else need


def _draw_lapsed(review: ClaimReview) -> None:
    """Say why the approval lapsed, with the form by which somebody else approves the claim again as it is now."""
    facts.lapsed_approval(review.approval_fault)
    again = changing(
        review,
        "Confirm: approve again",
        lambda session, typed, by: claim_moves.approve_anew(
            session,
            review.id,
            reasons={name.removeprefix("reasons."): text for name, text in typed.items() if text},
            person=by,
            version=review.version,
        ),
        "The claim is approved as it is now.",
        fields=[Text(f"reasons.{check.key}", _ask_reason_of(check), longest=500) for check in review.unmet_checks],
    )
    with st.popover("Approve again", icon=":material/check_circle:"):
        approved = words.naira(review.amounts.approved_minor)
        st.caption(f"By the same amount, {approved}, on the claim as it is now. Its status does not change.")
        draw_form(review, again, "approve again", prefix="again ")


def _draw_second_submission(review: ClaimReview) -> None:
    """Offer to close the claim as the second submission of another one of its policy, where there is one."""
    firsts = [
        line.reference
        for line in review.related_claims
        if related.POLICY in line.relations and line.status != ClaimStatus.DECLINED
    ]
    if not firsts:
        return

    def close(session: ScopedSession, typed: Values, by: Person) -> str:
        first: str = typed["first"]
        claim_moves.link_second_submission(session, review.id, first=first, person=by, version=review.version)
        return f"The claim is closed as the second submission of {first}."

    link = changing(
        review,
        "Close this one",
        close,
        str,
        fields=[Choice("first", "The claim that continues", options={each: each for each in firsts}, value=firsts[0])],
    )
    with st.popover("Second submission", icon=":material/link:", type="tertiary"):
        st.caption("The claimant sent the same claim twice: this one is closed, and the other one is worked and paid.")
        draw_form(review, link, "link second")


def _button(review: ClaimReview, move: ClaimTransition, *, is_main: bool) -> None:
    st.button(
        move.label,
        key=key(review.id, f"to {move.to}"),
        icon=f":material/{move.icon}:",
        type="primary" if is_main else "secondary",
        disabled=bool(move.missing),
        help=f"Needs {' and '.join(map(_shorten, move.missing))}" if move.missing else None,
        on_click=_begin,
        args=(review, move),
    )


def _begin(review: ClaimReview, move: ClaimTransition) -> None:
    """Open the form of a transition; what asks for nothing and touches no money is made at once: start and settle."""
    open_form(review, move.to)
    if move.to == ClaimStatus.SETTLED or move.begins:
        submit_form(review, move.to, lambda: moving(review, move.to))


def _form(review: ClaimReview, attempt: OpenForm, person: Person) -> None:
    move = find_possible(review, attempt.to)
    if move is None:
        _impossible(review, attempt)
        return
    needed = {need.field for need in move.inputs_needed if need.field}
    st.markdown(f"**{words.plain(move.label)}**")
    _focus(review, attempt, needed)
    above = _ask_needed(review, move, person, needed)
    asked_too = _money.FIELDS if Effect.PAYS in move.effects else ()
    actions.complain(
        key(review.id, MOVE),
        *(*needed, *asked_too, "note", "referral_note"),
        *(f"reasons.{check.key}" for check in review.unmet_checks),
    )
    if above:
        st.caption(f":material/supervisor_account: This needs {words.plain(above)}. The note says why it should be so.")
    with st.container(horizontal=True, gap="xsmall"):
        st.button(
            "Refer to a supervisor" if above else f"Confirm: {move.label.lower()}",
            type="primary",
            # A hasty second click on the form before does not reach one that has opened by itself.
            key=key(review.id, f"confirm {attempt.to}" if attempt.is_proposed else "confirm"),
            on_click=submit_form,
            args=(review, move.to, lambda: (_referring if above else _deciding)(review, move, needed)),
        )
        put_away = key(review.id, "put away")
        st.button("Cancel", key=put_away, on_click=close_form, args=(review.id,), type="tertiary")


def _ask_needed(review: ClaimReview, move: ClaimTransition, person: Person, needed: set[str]) -> str | None:
    """Ask for what a transition needs, the note last; return why the amount is above this person's limit, if it is."""
    if Effect.PAYS in move.effects:
        _money.draw_payment(review)
    if "amount" in needed:
        _ask_amount(review, move, person)
    if "estimate_document" in needed:
        _ask_document(review)
    if "reason" in needed:
        _ask_choice(review, "reason", "Reason code", submitted.DECLINE_REASONS, words.title)
    if "payment_reference" in needed:
        _ask_text(review, "payment_reference", "Payment reference", longest=60)
    if "reasons" in needed:
        _ask_reasons(review)
    is_signed = any(document.name == submitted.SIGNED_DISCHARGE and document.link for document in review.documents)
    if EVIDENCE in move.needs:
        st.caption(
            "The signed discharge form is among the documents."
            if is_signed
            else "The note says how the claimant accepted, unless the signed discharge form is among the documents."
        )
    above = _describe_above(review, move, person)
    _ask_note(review, required=above is not None or ("note" in needed and not (EVIDENCE in move.needs and is_signed)))
    return above


def _focus(review: ClaimReview, attempt: OpenForm, needed: set[str]) -> None:
    """Put the cursor where something has to be typed."""
    reasons = [f"reasons {check.key}" for check in review.unmet_checks] if "reasons" in needed else []
    field = next((name for name in (*reasons, "payment_reference", "note") if name in {*needed, *reasons}), None)
    if field:
        form_keeper.focus(key(review.id, f"focus {attempt.to}"), key(review.id, field), token=attempt.version)


def _describe_above(review: ClaimReview, move: ClaimTransition, person: Person) -> str | None:
    """Describe why the typed amount is above this person's limit; None when it is not."""
    if AUTHORITY not in move.needs or not move.column:
        return None
    typed = claim_transitions.parse_amount(words.read_naira(get_typed(review.id, f"amount {move.to}")))
    # Above what the rule gives no supervisor approves it either.
    if typed is None or _is_above_rule(review, move):
        return None
    return claim_transitions.describe_limit_exceeded(person, money.to_minor(typed), review.related)


def _is_above_rule(review: ClaimReview, move: ClaimTransition) -> bool:
    """True where the amount that is typed for an approval is above what the rule gives."""
    most_minor = review.amounts.limits.most_minor if APPROVED_AMOUNT in move.needs else None
    typed = claim_transitions.parse_amount(words.read_naira(get_typed(review.id, f"amount {move.to}")))
    return typed is not None and most_minor is not None and money.to_minor(typed) > most_minor


def _referring(review: ClaimReview, move: ClaimTransition, needed: set[str]) -> Action:
    """Return the action that refers the decision as it is typed instead of making it."""
    open_ = read_open_form(review.id)
    version = open_.version if open_ else review.version
    amount, note = _typed(review, move, "amount"), _typed(review, move, "note")
    # Whoever decides reads why it should be so although a check is not met.
    reasons = _list_reasons(review, needed) if note else ()
    note = "\n".join((note, *(f"{check.question}: {text}" for check, text in reasons)))
    return deciding(
        review,
        "refer",
        lambda session, _, by: claim_tasks.refer_claim(
            session, review.id, to=move.to, amount=amount or None, note=note, person=by, version=version
        ),
        REFERRED,
        version=version,
        given=(str(move.to), amount, note),
        clears=_cleared(review, move),
    )


def _cleared(review: ClaimReview, move: ClaimTransition) -> Mapping[str, Any]:
    return {**_EMPTY, f"amount {move.to}": None, **{f"reasons {check.key}": "" for check in review.unmet_checks}}


def _deciding(review: ClaimReview, move: ClaimTransition, needed: set[str]) -> Action:
    given: dict[str, str] = {name: _typed(review, move, name) for name in _FIELDS if name in needed or name == "note"}
    if Effect.PAYS in move.effects:
        return _money.paying(review, given, _cleared(review, move))
    return moving(
        review,
        move.to,
        given=given,
        reasons={check.key: text for check, text in _list_reasons(review, needed)},
        clears=_cleared(review, move),
    )


def _list_reasons(review: ClaimReview, needed: set[str]) -> Sequence[tuple[CoverageCheck, str]]:
    """Return the checks that are not met, each with the reason that is typed, where an approval asks for them."""
    typed = [(check, get_typed(review.id, f"reasons {check.key}")) for check in review.unmet_checks]
    return [(check, text) for check, text in typed if text and "reasons" in needed]


def _typed(review: ClaimReview, move: ClaimTransition, name: str) -> str:
    if name == "amount":
        return words.read_naira(get_typed(review.id, f"amount {move.to}"))
    return get_typed(review.id, name) or ""


def _impossible(review: ClaimReview, attempt: OpenForm) -> None:
    """Explain that the claim has changed and the transition is no longer possible; the input can still be copied."""
    label = words.plain(attempt.to)
    st.warning(f"This claim is {words.badge(review.status)} and cannot become {label} now.", icon=":material/block:")
    if reason := get_typed(review.id, "reason"):
        st.caption(f"Reason code: {words.title(reason)}.")
    note = get_typed(review.id, "note")
    if note:
        st.text_area("What you typed", note, disabled=True, key=key(review.id, "typed"))
    st.button("Close", key=key(review.id, "put away"), on_click=close_form, args=(review.id,))


def _ask_amount(review: ClaimReview, move: ClaimTransition, person: Person) -> None:
    name = f"amount {move.to}"
    propose(review.id, name, words.as_typed(_suggested(review, move)))
    st.text_input(
        move.amount_label,
        key=key(review.id, name),
        autocomplete="off",
        placeholder="0.00",
        persist_state="page",
        on_change=partial(_forget_amount, review.id) if AUTHORITY in move.needs else "ignore",
    )
    actions.blame(key(review.id, MOVE), "amount", move.amount_label)
    if ESTIMATE in move.needs and review.amounts.owed:
        st.caption(f"By the records {words.naira_of(review.amounts.owed)}: {_source(review)}.")
    if APPROVED_AMOUNT in move.needs and review.amounts.limits.most_minor is not None:
        paid, most = review.amounts.limits.paid_minor, words.plain(review.amounts.limits.describe)
        most = f"At most {most}: {_source(review)}." + (f" Of it {words.naira(paid)} was paid before." if paid else "")
        st.caption(f":red[:material/error: {most}]" if _is_above_rule(review, move) else most)
    if person.claim_limit_minor is not None and not person.has_role("supervisor") and AUTHORITY in move.needs:
        st.caption(f"You may decide up to {words.naira(person.claim_limit_minor)}; above it a supervisor does.")
    if APPROVED_AMOUNT in move.needs and review.backdated_minor is not None and "admin" not in person.roles:
        most = words.naira(review.backdated_minor)
        st.caption(f"The cover was bought after the loss: a supervisor approves up to {most}, above it an admin does.")
    if OFFER in move.needs:
        most = words.naira_of(review.offer.total)
        st.caption(f"The offer is at most {most}; for one below it, the note has to say why.")
        prices.show_steps(review.offer.steps)
    if APPROVED_AMOUNT in move.needs:
        _show_offer(review, words.read_naira(get_typed(review.id, name)))


def _forget_amount(claim_id: UUID) -> None:
    """Forget why an amount was refused, once another one is typed; where others were refused too, all of it stands."""
    if set(actions.get_refusal(key(claim_id, MOVE)).faults) == {"amount"}:
        actions.forget(key(claim_id, MOVE))


def _suggested(review: ClaimReview, move: ClaimTransition) -> str:
    """Return the amount suggested by the records for a transition, as text; empty if there is none."""
    amounts = review.amounts
    if OFFER in move.needs:
        return str(review.offer.total) if review.offer.total else ""
    approves = APPROVED_AMOUNT in move.needs
    if standing := amounts.approved_minor if approves else amounts.estimate_minor:
        return money.to_wire(standing)
    if approves and amounts.limits.most_minor is not None:
        return money.to_wire(amounts.limits.most_minor)
    return str(amounts.owed) if amounts.owed else ""


def _source(review: ClaimReview) -> str:
    """Return the source of the amount owed, or that the sum insured is lower."""
    limits = review.amounts.limits
    if limits.insured_minor is not None and limits.most_minor != limits.owed_minor:
        return "less than the claim names, as no more is insured"
    loan = "pending_repayment_amount" in review.facts
    return "the lower of pending repayment and loan" if loan else "the loss, as estimated or claimed"


def _show_offer(review: ClaimReview, typed: str) -> None:
    amounts = review.amounts
    approved = claim_transitions.parse_amount(typed)
    if approved is None:
        return
    excess, betterment = amounts.excess_minor, amounts.betterment_minor
    price = claim_limits.compute_offer_within(
        amounts.limits, approved=approved, excess_minor=excess, betterment_minor=betterment
    )
    st.caption(f"The offer would be {words.naira_of(price.total)}, before anybody changes it.")
    if price.total != approved:
        prices.show_steps(price.steps)


def _ask_document(review: ClaimReview) -> None:
    """Ask for the paper that an estimate stands in; the one that is named so is proposed."""
    present = [document.name for document in review.documents if document.link]
    proposed = next((name for name in present if "estimate" in name or "repair" in name), None)
    st.session_state.setdefault(key(review.id, "estimate_document"), proposed)
    hint = "An estimate above what was claimed corrects it: a supervisor does that, with a note."
    _ask_choice(review, "estimate_document", "Document with the estimate", present, _shared.document, hint=hint)


def _ask_choice(
    review: ClaimReview,
    name: str,
    label: str,
    options: Sequence[str],
    format_option: Callable[[str], str],
    *,
    hint: str | None = None,
) -> None:
    st.selectbox(
        label,
        options,
        index=None,
        key=key(review.id, name),
        format_func=format_option,
        placeholder="Choose",
        persist_state="page",
        on_change="ignore",
        help=hint,
    )
    actions.blame(key(review.id, MOVE), name, label)


def _ask_reason_of(check: CoverageCheck) -> str:
    return f"Reason for approving although “{words.plain(check.question)}” is {describe_unmet(check)}"


def _ask_reasons(review: ClaimReview) -> None:
    for check in review.unmet_checks:
        label, hint = _ask_reason_of(check), words.plain(check.detail)
        _ask_text(review, f"reasons.{check.key}", label, longest=500, hint=hint)


def _ask_text(review: ClaimReview, name: str, label: str, *, longest: int, hint: str | None = None) -> None:
    st.text_input(
        label,
        key=key(review.id, name.replace(".", " ")),
        max_chars=longest,
        autocomplete="off",
        persist_state="page",
        on_change="ignore",
        help=hint,
    )
    # The label of a check's reason is as long as the error, and says the same.
    actions.blame(key(review.id, MOVE), name, "Reason" if name.startswith("reasons.") else label)


def _ask_note(review: ClaimReview, *, required: bool) -> None:
    st.text_area(
        "Note" if required else "Note (optional)",
        key=key(review.id, "note"),
        height=90,
        max_chars=2000,
        persist_state="page",
        on_change="ignore",
        help="Kept with the move, for the desk alone.",
    )
    for name in ("note", "referral_note"):
        actions.blame(key(review.id, MOVE), name, "Note")


REFERRED = "The claim is referred: supervisors find it under Referred."


def draw_referral(review: ClaimReview, person: Person) -> None:
    """Draw what is referred: to a supervisor, who opens the prepared decision or gives it back, or to finance."""
    referral = review.referral
    if referral is None:
        return
    if referral.is_for_finance:
        _with_finance(review, referral, person)
        return
    move = TRANSITIONS.find(review.status, referral.to)
    amount = f" {words.naira(referral.amount_minor)}" if referral.amount_minor is not None else ""
    st.markdown(
        f":material/escalator_warning: **Referred by {words.plain(referral.by)}**, {words.moment(referral.at)}:"
        f" {words.plain(move.label if move else referral.to)}{amount}"
    )
    st.text(referral.note)
    if person.has_role("supervisor"):
        with st.container(horizontal=True, gap="xsmall"):
            if move is not None and find_possible(review, referral.to):
                st.button(
                    "Open the prepared decision",
                    key=key(review.id, "prepared"),
                    type="primary",
                    on_click=_open_prepared,
                    args=(review, move, referral.amount_minor),
                )
            _give_back(review, referral)


def _give_back(review: ClaimReview, referral: Referral) -> None:
    back = changing(
        review,
        "Give it back",
        lambda session, typed, by: claim_tasks.give_back_referral(
            session, review.id, question=typed["task"], person=by, version=review.version
        ),
        f"The referral is back with {referral.by}, who has your question as a task.",
        fields=[Text("task", "What is still to be cleared", longest=500, is_long=True, height=90)],
    )
    with st.popover("Give back with a question", icon=":material/undo:"):
        draw_form(review, back, "give back", prefix="back ")


def _draw_passing_on(review: ClaimReview, person: Person) -> None:
    """Offer an officer to refer the claim, unless it is referred, and a supervisor to hand its payment to finance."""
    referral = review.referral
    if referral is not None and referral.is_for_finance:
        return
    if not person.has_role("supervisor"):
        if review.transitions_allowed and referral is None:
            _ask_referral(review)
    elif review.status == ClaimStatus.OFFER_ACCEPTED:
        _hand_over(review)


def _with_finance(review: ClaimReview, referral: Referral, person: Person) -> None:
    """Draw the payment that waits for finance, and for a supervisor the way to take it back."""
    with st.container(border=True, gap="xsmall"):
        st.markdown(
            f":material/account_balance: **With finance**: {words.naira(referral.amount_minor)}, handed over by"
            f" {words.plain(referral.by)}, {words.moment(referral.at)}"
        )
        if referral.note:
            st.text(referral.note)
        if person.has_role("supervisor"):
            take = changing(
                review,
                "Take it back from finance",
                lambda session, _, by: claim_paying.take_back(session, review.id, person=by, version=review.version),
                "The payment is with the claims desk again.",
            )
            st.button(
                take.title,
                key=key(review.id, "take from finance"),
                type="tertiary",
                icon=":material/undo:",
                on_click=take.do,
                args=(key(review.id, "take from finance"),),
            )
    actions.complain(key(review.id, "take from finance"))


def _hand_over(review: ClaimReview) -> None:
    over = changing(
        review,
        "Hand it over",
        lambda session, typed, by: claim_paying.hand_over(
            session, review.id, note=typed["hand_over_note"] or None, person=by, version=review.version
        ),
        "The payment is with finance, under Claims to pay.",
        fields=[Text("hand_over_note", "Note for finance (optional)", longest=2000, is_long=True, height=90)],
    )
    with st.popover("Hand the payment to finance", icon=":material/account_balance:"):
        st.caption(f"Finance pays {words.naira(review.balance_minor)} to {words.plain(review.payee.name)}.")
        draw_form(review, over, "hand over")


def _open_prepared(review: ClaimReview, move: ClaimTransition, amount_minor: int | None) -> None:
    open_form(review, move.to)
    if amount_minor is not None:
        st.session_state[key(review.id, f"amount {move.to}")] = words.as_typed(money.to_wire(amount_minor))


def _ask_referral(review: ClaimReview) -> None:
    labels = {str(move.to): move.label for move in review.transitions_allowed}
    refer = changing(
        review,
        "Refer",
        lambda session, typed, by: claim_tasks.refer_claim(
            session,
            review.id,
            to=typed["referred_to"],
            amount=typed["referral_amount"] or None,
            note=typed["referral_note"],
            person=by,
            version=review.version,
        ),
        REFERRED,
        fields=[
            Choice("referred_to", "Decision", options=labels),
            Naira("referral_amount", "Amount (₦), if it has one"),
            Text("referral_note", "Why a supervisor should decide", longest=2000, is_long=True, height=90),
        ],
    )
    with st.popover("Refer to a supervisor", icon=":material/supervisor_account:", type="tertiary"):
        draw_form(review, refer, "refer")
