"""The lower part of a claim's review: time line, conversation, amounts, other claims, log (contract C6, C8)."""

from collections.abc import Sequence
from typing import Final

import streamlit as st

from core import money
from core.services.claims.review.officers import Officer
from core.services.claims.review.related import ClaimLine
from core.services.claims.review.review import ClaimReview
from core.services.claims.review.timeline import Message
from core.services.claims.workflow import actions as claim_notes
from core.services.claims.workflow import questions, reserves
from core.services.people.staff import Person
from core.states.claims import ClaimStatus
from core.store.access import ScopedSession
from core.ui.buying import prices
from core.ui.claims import paying
from core.ui.claims import words as claim_words
from core.ui.claims.claim_actions import adding, changing, draw_form, fresh_token, get_token, key, propose
from core.ui.frame import frame
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Naira, Text, Values

_TALK: Final = "talk"
_NOTE, _COMMENT, _QUESTION = "Note for the desk", "Comment for the claimant", "Question to the claimant"
_ABOUT: Final = {
    _NOTE: "Only people who work claims read it.",
    _COMMENT: "It appears in the claim that the distributor reads.",
    _QUESTION: "It appears in the claim that the distributor reads; the 60 days stand still until the answer is in.",
}


def time_line(review: ClaimReview) -> None:
    """Draw every status with its time, author and note, oldest first."""
    lodged = next((event for event in review.history if event.action == "claim lodged"), None)
    lodger = claim_words.actor(lodged) if lodged else "the distributor"
    for step in review.status_steps:
        st.markdown(f"{words.badge(step.status)} {words.moment(step.at)} · {words.plain(step.by or lodger)}")
        if step.note:
            st.caption(words.plain(step.note))


def conversation(review: ClaimReview) -> None:
    """Draw the messages, newest first, below the field for a new one."""
    _write(review)
    for said in review.messages:
        with st.container(border=True, gap="xxsmall"):
            st.markdown(
                f"**{words.plain(said.by or 'Somebody who left')}** · {words.moment(said.at)} · {_to_whom(said)}"
            )
            st.text(said.text)
            if said.answer:
                st.text(f"Answer: {said.answer}")
    if not review.messages:
        st.caption("Nothing was said about this claim yet.")


def _to_whom(said: Message) -> str:
    if not said.is_question:
        return ":violet-badge[For the claimant]" if said.for_claimant else ":gray-badge[For the desk]"
    if said.is_open:
        due = f", due {words.day(said.due_on)}" if said.due_on else ""
        return f":orange-badge[Asked, no answer yet{due}]"
    if said.closed_at:
        return f":gray-badge[Asked, closed unanswered {words.moment(said.closed_at)}]"
    return f":green-badge[Asked, answered {words.moment(said.answered_at)}]"


def _write(review: ClaimReview) -> None:
    kinds = [_NOTE, _COMMENT] if review.is_decided or review.open_question else [_NOTE, _COMMENT, _QUESTION]
    chooser, box = key(review.id, "kind"), key(review.id, "text")
    with st.container(border=True, gap="xsmall"):
        kind = st.segmented_control("To whom", kinds, default=_NOTE, required=True, key=chooser) or _NOTE
        st.caption(_ABOUT[kind])
        st.text_area(
            "What to say",
            key=box,
            height=90,
            max_chars=2000,
            label_visibility="collapsed",
            persist_state="page",
            on_change="ignore",
        )
        actions.blame(key(review.id, _TALK), "text")
        actions.complain(key(review.id, _TALK), "text")
        st.button(
            "Ask" if kind == _QUESTION else "Save the note" if kind == _NOTE else "Send the comment",
            key=key(review.id, "say"),
            type="primary",
            on_click=_say,
            args=(review, kind, get_token(review.id)),
        )


def _say(review: ClaimReview, kind: str, token: str) -> None:
    if token != get_token(review.id):
        # Second click of a double click: the first one has sent it.
        return
    is_question, for_claimant = kind == _QUESTION, kind == _COMMENT
    done = "The comment can be read by the claimant." if for_claimant else "The note is kept, for the desk alone."

    def write(session: ScopedSession, typed: Values, by: Person) -> None:
        if is_question:
            questions.ask_claimant(session, review.id, text=typed["text"], person=by)
        else:
            claim_notes.add_comment(session, review.id, text=typed["text"], person=by, for_claimant=for_claimant)

    say = adding(
        review,
        kind,
        write,
        "The claimant is asked; the clock stands still until the answer is in." if is_question else done,
        token=token,
        clears={"text": "", "token": fresh_token()},
        fields=[Text("text", "What to say", longest=2000)],
    )
    say.do(key(review.id, _TALK), key(review.id, ""))


def amounts(review: ClaimReview, person: Person) -> None:
    """Draw the amounts, the deductions, and the steps to the offer."""
    kept = review.amounts
    with st.grid(2, min_column_width=320, gap="small"):
        with st.container(border=True, height="stretch"):
            st.markdown("**Amounts**")
            facts.line("Owed by the records", words.naira_of(kept.owed))
            facts.line("Claimed", words.naira(kept.claimed_minor))
            if kept.estimate_minor:
                facts.line("Repair estimate", words.naira(kept.estimate_minor))
            facts.line(ClaimStatus.APPROVED, words.naira(kept.approved_minor))
            if review.approved_name:
                facts.line("Approved by", review.approved_name)
            facts.line("Excess", words.naira(kept.excess_minor))
            facts.line("Betterment", words.naira(kept.betterment_minor))
            facts.line("Offer", words.naira(kept.offer_minor))
            paying.draw(review, person)
            _reserve(review)
        with st.container(border=True, height="stretch"):
            st.markdown("**How an offer comes about**")
            if kept.approved_minor:
                prices.show_steps(review.offer.steps)
            else:
                st.caption("Nothing is approved: the steps follow with the approved amount.")
            if review.status == ClaimStatus.OFFER_ACCEPTED:
                st.caption("The deductions stand with the offer that was accepted; a supervisor can take it back.")
            elif not review.is_fixed:
                _deductions(review)


def _reserve(review: ClaimReview) -> None:
    """Draw the reserve with its history, what was incurred, and the form that changes the reserve."""
    limits = review.amounts.limits
    if review.reserves:
        facts.line("Outstanding (reserve)", words.naira(review.reserve_minor))
        facts.line("Incurred", words.naira(limits.paid_minor + review.reserve_minor))
    elif limits.most_minor is not None and not review.is_decided:
        facts.line(f"Exposure: {limits.source}", words.naira(max(0, limits.most_minor - limits.paid_minor)))
    for change in review.reserves:
        who = words.plain(change.by or "the store")
        st.caption(
            f"Reserve {words.naira(change.reserve_minor)} from {words.moment(change.at)} by {who}:"
            f" {words.plain(change.reason)}"
        )
    if not review.is_decided:
        _change_reserve(review)


def _change_reserve(review: ClaimReview) -> None:
    save = changing(
        review,
        "Save the reserve",
        lambda session, typed, by: reserves.set_reserve(
            session,
            review.id,
            amount=typed["reserve"],
            reason=typed["reserve_reason"],
            person=by,
            version=review.version,
        ),
        "The reserve is changed.",
        fields=[Naira("reserve", "Reserve (₦)"), Text("reserve_reason", "Why it changes", longest=500)],
    )
    with st.popover("Change the reserve", icon=":material/savings:", type="tertiary"):
        draw_form(review, save, "keep reserve")


def _deductions(review: ClaimReview) -> None:
    kept = {"excess": review.amounts.excess_minor, "betterment": review.amounts.betterment_minor}
    for name, minor in kept.items():
        propose(review.id, name, words.as_typed(money.to_wire(minor)))
    save = changing(
        review,
        "Save the deductions",
        lambda session, typed, by: claim_notes.set_deductions(
            session, review.id, person=by, version=review.version, **typed
        ),
        "The deductions are kept.",
        fields=[Naira(name, f"{words.title(name)} (₦)") for name in kept],
        keeps_typed=True,
    )
    draw_form(review, save, "deduct", is_primary=False)


def draw_claims(lines: Sequence[ClaimLine], *, linked: bool, empty: str) -> None:
    """Draw claims as a table, each with its relation to the current one; `linked` ones can be opened."""
    if not lines:
        st.caption(empty)
        return
    heads = ["Claim", "Status", "About", "Incident", "Lodged", "Offer"]
    ties = any(line.relations for line in lines)
    rows = [_cells(line, linked=linked, ties=ties) for line in lines]
    head = [*heads, *(["Why"] if ties else [])]
    align = [":---"] * 5 + ["---:"] + [":---"] * (len(head) - 6)
    st.markdown("\n".join(f"| {' | '.join(row)} |" for row in (head, align, *rows)))


def _cells(line: ClaimLine, *, linked: bool, ties: bool) -> list[str]:
    name = words.plain(line.reference)
    return [
        f"[{name}]({frame.link('claim', id=str(line.id))})" if linked else name,
        words.badge(line.status),
        words.plain(line.description),
        words.day(line.incident_on),
        words.day(line.lodged_at),
        words.naira(line.offered_minor) if line.offered_minor else "–",
        *([words.plain(", ".join(line.relations))] if ties else []),
    ]


def log(review: ClaimReview, officers: list[Officer]) -> None:
    """Draw the log entries about the claim, oldest first."""
    names = claim_words.names(officers)
    for event in review.history:
        st.markdown(
            f"**{words.plain(claim_words.action(event))}** · {words.moment(event.at)} ·"
            f" {words.plain(claim_words.actor(event))}"
        )
        if said := claim_words.facts(event, names):
            st.caption(words.plain(said))
