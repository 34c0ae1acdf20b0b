"""Referral on the review of a claim: an officer's form, and the prepared decision for a supervisor (contract C15)."""

import streamlit as st

from core import money
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow.referrals import Referral
from core.services.people.staff import Person
from core.states.claims import TRANSITIONS, ClaimStatus, ClaimTransition
from core.ui.claims import attempts as claim_attempts
from core.ui.claims import money_actions, review_actions
from core.ui.claims.attempts import HAND_OVER, REFERRAL, key
from core.ui.claims.review_actions import Hand
from core.ui.kit import attempts, words


def draw(review: ClaimReview, person: Person) -> None:
    """Draw the open referral, and for an officer without a supervisor's authority the form of a new one."""
    referral = review.referral
    if referral is not None and referral.is_for_finance:
        _with_finance(review, referral, person)
    elif referral is not None:
        move = TRANSITIONS.find(review.status, referral.to)
        amount = f" {words.naira(referral.amount_minor)}" if referral.amount_minor is not None else ""
        with st.container(border=True, gap="xsmall"):
            st.markdown(
                f":material/escalator_warning: **Referred by {words.plain(referral.by)}**, {words.moment(referral.at)}:"
                f" {words.plain(move.label if move else referral.to)}{amount}"
            )
            st.text(referral.note)
            if move is not None and person.has_role("supervisor"):
                st.button(
                    "Open the prepared decision",
                    key=key(review.id, "prepared"),
                    type="primary",
                    on_click=_open_prepared,
                    args=(review, move, referral.amount_minor),
                )
    if referral is not None and referral.is_for_finance:
        return
    if not person.has_role("supervisor") and review.transitions_allowed:
        _ask(review)
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
            st.button(
                "Take it back from finance",
                key=key(review.id, "take from finance"),
                type="tertiary",
                icon=":material/undo:",
                on_click=claim_attempts.carry_out,
                args=(HAND_OVER, review, money_actions.take_from_finance),
            )
    attempts.complain(key(review.id, HAND_OVER))


def _hand_over(review: ClaimReview) -> None:
    place = key(review.id, HAND_OVER)
    with st.popover("Hand the payment to finance", icon=":material/account_balance:", type="tertiary"):
        st.caption(f"Finance pays {words.naira(review.balance_minor)} to {words.plain(review.payee.name)}.")
        st.text_area(
            "Note for finance (optional)",
            key=key(review.id, "hand_over_note"),
            height=90,
            max_chars=2000,
            on_change="ignore",
        )
        attempts.blame(place, "hand_over_note")
        attempts.complain(place, "hand_over_note")
        st.button(
            "Hand it over",
            key=key(review.id, "hand over"),
            type="primary",
            on_click=claim_attempts.carry_out,
            args=(HAND_OVER, review, _hand_to_finance, {"hand_over_note": ""}),
        )


def _hand_to_finance(hand: Hand) -> str:
    return money_actions.hand_to_finance(hand, note=claim_attempts.get_typed(hand.claim_id, "hand_over_note") or "")


def _open_prepared(review: ClaimReview, move: ClaimTransition, amount_minor: int | None) -> None:
    claim_attempts.begin(review, move.to)
    if amount_minor is not None:
        st.session_state[key(review.id, f"amount {move.to}")] = words.as_typed(money.to_wire(amount_minor))


def _ask(review: ClaimReview) -> None:
    place = key(review.id, REFERRAL)
    labels = {move.to: move.label for move in review.transitions_allowed}
    with st.popover("Refer to a supervisor", icon=":material/supervisor_account:", type="tertiary"):
        st.selectbox("Decision", list(labels), format_func=labels.__getitem__, key=key(review.id, "referred to"))
        st.text_input(
            "Amount (₦), if it has one", key=key(review.id, "referral_amount"), autocomplete="off", on_change="ignore"
        )
        attempts.blame(place, "referral_amount")
        st.text_area(
            "Why a supervisor should decide",
            key=key(review.id, "referral_note"),
            height=90,
            max_chars=2000,
            on_change="ignore",
        )
        attempts.blame(place, "referral_note")
        attempts.complain(place, "referral_amount", "referral_note")
        st.button(
            "Refer",
            key=key(review.id, "refer"),
            type="primary",
            on_click=claim_attempts.carry_out,
            args=(REFERRAL, review, _refer, {"referral_amount": "", "referral_note": ""}),
        )


def _refer(hand: Hand) -> str:
    typed = {name: claim_attempts.get_typed(hand.claim_id, name) for name in ("referred to", "referral_amount")}
    return review_actions.refer(
        hand,
        to=typed["referred to"] or "",
        amount=words.read_naira(typed["referral_amount"]),
        note=claim_attempts.get_typed(hand.claim_id, "referral_note") or "",
    )
