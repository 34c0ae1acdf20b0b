"""The form of a payment, the payee, and the payments so far (contract C10)."""

from collections.abc import Sequence
from typing import Any, Final

import streamlit as st

from core import clock, money
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow.chain import Link
from core.services.claims.workflow.inputs import PAYMENT_METHODS
from core.services.claims.workflow.offers import parse_amount
from core.services.people.staff import Person
from core.states.claims import ClaimStatus
from core.ui.claims import attempts as claim_attempts
from core.ui.claims import money_actions, review_actions
from core.ui.claims.attempts import MOVE, PART, PAYEE, key
from core.ui.claims.review_actions import Hand
from core.ui.kit import attempts, facts, words

_AMOUNT: Final = f"amount {ClaimStatus.PAID}"
FIELDS: Final = ("amount", "method", "value_on")
_PAYEE_FIELDS: Final = {
    "payee": "Name",
    "payee_bank": "Bank",
    "payee_account": "Account number",
    "payee_reason": "Why it changes",
}


def draw_form(review: ClaimReview) -> None:
    """Draw what a payment says: to whom, how much, how and when; less than all of it is a part."""
    claim_attempts.propose(review.id, _AMOUNT, words.as_typed(money.to_wire(review.balance_minor)))
    st.metric("To pay", words.naira(review.balance_minor))
    if paid := review.amounts.limits.paid_minor:
        st.caption(f"{words.naira(paid)} was paid on this claim before, and comes on top.")
    st.caption(f"To {words.plain(describe_payee(review))}.")
    draw_chain(review.links)
    st.text_input(
        "Amount (₦)",
        key=key(review.id, _AMOUNT),
        autocomplete="off",
        persist_state="page",
        on_change="ignore",
        help="Less than all of it pays a part: the claim stays Offer accepted until the rest is paid.",
    )
    attempts.blame(key(review.id, MOVE), "amount")
    st.selectbox("Method", PAYMENT_METHODS, key=key(review.id, "method"), persist_state="page", on_change="ignore")
    attempts.blame(key(review.id, MOVE), "method")
    day = key(review.id, "value_on")
    st.session_state.setdefault(day, clock.today())
    st.date_input("Value date", key=day, max_value=clock.today(), format="DD/MM/YYYY", on_change="ignore")
    attempts.blame(key(review.id, MOVE), "value_on")


def draw_chain(links: Sequence[Link]) -> None:
    """Show who did what before the payment: lodged, estimated, approved, payee set, handed over."""
    said = (f"{link.act} by {words.plain(link.by)}, {words.day(clock.to_lagos_day(link.at))}" for link in links)
    st.caption(" · ".join(said))


def describe_payee(review: ClaimReview) -> str:
    """Describe who is paid and on which account, by its last four digits."""
    payee = review.payee
    account = f", account ending in {payee.hint}" if payee.hint else ", account not named"
    bank = f" at {payee.bank_name}" if payee.bank_name else ""
    return f"{payee.name}{account}{bank}"


def carry_out(review: ClaimReview, hand: Hand, **said: Any) -> str:
    """Pay the rest of the offer, which makes the claim Paid, or a part of it."""
    typed = words.read_naira(claim_attempts.get_typed(review.id, _AMOUNT))
    how = {name: claim_attempts.get_typed(review.id, name) for name in ("method", "value_on")}
    payment = {name: value for name, value in how.items() if value}
    amount = parse_amount(typed)
    if amount is not None and money.to_minor(amount) < review.balance_minor:
        reference = said.get("payment_reference") or ""
        return money_actions.pay_part(hand, amount=typed, payment_reference=reference, payment=payment)
    return review_actions.move(hand, to=ClaimStatus.PAID, amount=typed, payment=payment, **said)


def draw(review: ClaimReview, person: Person) -> None:
    """Draw every payment with its total, the payee with the form that changes it, and the way to take a part back."""
    if review.payments:
        facts.line(ClaimStatus.PAID, words.naira(review.amounts.limits.paid_minor))
    for payment in review.payments:
        who = words.plain(payment.by or "somebody who left")
        kind = "Came back: " if payment.amount_minor < 0 else ""
        said = f"{kind}{words.naira(payment.amount_minor)} on {words.moment(payment.at)} by {who}"
        to = f" to {words.plain(payment.payee)}" if payment.payee else ""
        account = f", account ending in {payment.hint}" if payment.hint else ""
        how = f", {words.plain(payment.method).lower()}" if payment.method else ""
        value = f", value {words.day(payment.value_on)}" if payment.value_on else ""
        st.caption(f"{said}{to}{account}{how}{value}, reference {words.plain(payment.reference)}")
    facts.line("Payee", describe_payee(review))
    for payee in review.payees:
        if payee.at and payee.by:
            st.caption(
                f"Payee {words.plain(payee.name)} from {words.moment(payee.at)} by {words.plain(payee.by)}:"
                f" {words.plain(payee.reason)}"
            )
    if not review.is_decided:
        _change_payee(review)
    if review.amounts.limits.offer_paid_minor and review.status == ClaimStatus.OFFER_ACCEPTED:
        _take_back(review, person)


def _change_payee(review: ClaimReview) -> None:
    place = key(review.id, PAYEE)
    with st.popover("Change the payee", icon=":material/account_balance:", type="tertiary"):
        st.caption("Who changes the payee cannot pay it.")
        _ask_texts(review, place, _PAYEE_FIELDS)
        st.button(
            "Save the payee",
            key=key(review.id, "keep payee"),
            type="primary",
            on_click=claim_attempts.carry_out,
            args=(PAYEE, review, lambda hand: _set_payee(review, hand), dict.fromkeys(_PAYEE_FIELDS, "")),
        )


def _set_payee(review: ClaimReview, hand: Hand) -> str:
    name, bank, account, reason = (claim_attempts.get_typed(review.id, each) or "" for each in _PAYEE_FIELDS)
    return money_actions.set_payee(hand, name=name, bank_name=bank, account_number=account, reason=reason)


def _take_back(review: ClaimReview, person: Person) -> None:
    if not person.has_role("supervisor"):
        st.caption("A part that came back is taken back by a supervisor.")
        return
    names = {"part_reference": "Reference of the return", "part_note": "What happened"}
    with st.popover("A part came back", icon=":material/undo:", type="tertiary"):
        _ask_texts(review, key(review.id, PART), names)
        st.button(
            "Take the last part back",
            key=key(review.id, "take part back"),
            type="primary",
            on_click=claim_attempts.carry_out,
            args=(PART, review, lambda hand: _take_part(review, hand), dict.fromkeys(names, "")),
        )


def _take_part(review: ClaimReview, hand: Hand) -> str:
    reference, note = (claim_attempts.get_typed(review.id, name) or "" for name in ("part_reference", "part_note"))
    return money_actions.take_back_part(hand, payment_reference=reference, note=note)


def _ask_texts(review: ClaimReview, place: str, names: dict[str, str]) -> None:
    for name, label in names.items():
        st.text_input(label, key=key(review.id, name), max_chars=500, autocomplete="off", on_change="ignore")
        attempts.blame(place, name)
    attempts.complain(place, *names)
