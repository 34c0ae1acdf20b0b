"""Referral on the review of a claim: an officer's form, and the prepared decision for a supervisor (contract C15)."""

import streamlit as st

from core import money
from core.services.claims.paying import hand_overs
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import referrals
from core.services.claims.workflow.referrals import Referral
from core.services.people.staff import Person
from core.states.claims import TRANSITIONS, ClaimStatus, ClaimTransition
from core.ui.claims.claim_actions import begin, changing, draw_form, key
from core.ui.kit import actions, words
from core.ui.kit.actions import Choice, Naira, Text

REFERRED = "The claim is referred: supervisors find it under Referred."


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
            take = changing(
                review,
                "Take it back from finance",
                lambda session, _, by: hand_overs.take_back(session, review.id, person=by, version=review.version),
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
        lambda session, typed, by: hand_overs.hand_over(
            session, review.id, note=typed["hand_over_note"] or None, person=by, version=review.version
        ),
        "The payment is with finance, under Claims to pay.",
        fields=[Text("hand_over_note", "Note for finance (optional)", longest=2000, is_long=True, height=90)],
    )
    with st.popover("Hand the payment to finance", icon=":material/account_balance:", type="tertiary"):
        st.caption(f"Finance pays {words.naira(review.balance_minor)} to {words.plain(review.payee.name)}.")
        draw_form(review, over, "hand over")


def _open_prepared(review: ClaimReview, move: ClaimTransition, amount_minor: int | None) -> None:
    begin(review, move.to)
    if amount_minor is not None:
        st.session_state[key(review.id, f"amount {move.to}")] = words.as_typed(money.to_wire(amount_minor))


def _ask(review: ClaimReview) -> None:
    labels = {str(move.to): move.label for move in review.transitions_allowed}
    refer = changing(
        review,
        "Refer",
        lambda session, typed, by: referrals.refer_claim(
            session,
            review.id,
            to=typed["referred to"],
            amount=typed["referral_amount"] or None,
            note=typed["referral_note"],
            person=by,
            version=review.version,
        ),
        REFERRED,
        fields=[
            Choice("referred to", "Decision", options=labels, value=next(iter(labels))),
            Naira("referral_amount", "Amount (₦), if it has one"),
            Text("referral_note", "Why a supervisor should decide", longest=2000, is_long=True, height=90),
        ],
    )
    with st.popover("Refer to a supervisor", icon=":material/supervisor_account:", type="tertiary"):
        draw_form(review, refer, "refer")
