"""The money of a claim on its review: payment, payee, amounts, deductions and reserve (contract C8, C10)."""

from collections.abc import Mapping
from typing import Any, Final

import streamlit as st

from core import clock, money
from core.covers.cover import Step
from core.services.claims.review.review import ClaimReview
from core.services.claims.workflow import corrections as claim_corrections
from core.services.claims.workflow import moves as claim_moves
from core.services.claims.workflow import paying as claim_paying
from core.services.claims.workflow import reserves
from core.services.claims.workflow.limits import list_offer_steps
from core.services.claims.workflow.payments import PAYMENT_METHODS
from core.services.claims.workflow.transitions import parse_amount
from core.services.people.staff import Person
from core.states.claims import ClaimStatus
from core.ui.buying import prices
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Naira, Text
from core.ui.lists.claims import describe_payee, draw_chain
from pages.claims._actions import MOVE, changing, deciding, draw_form, get_typed, key, moving, propose, read_open_form

_AMOUNT: Final = f"amount {ClaimStatus.PAID}"
FIELDS: Final = ("amount", "method", "value_on")
_PAYEE_FIELDS: Final = {
    "payee": "Name",
    "payee_bank": "Bank",
    "payee_account": "Account number",
    "payee_reason": "Why it changes",
}


def draw_payment(review: ClaimReview) -> None:
    """Draw what a payment says: to whom, how much, how and when; less than all of it is a part."""
    propose(review.id, _AMOUNT, words.as_typed(money.to_wire(review.balance_minor)))
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
    actions.blame(key(review.id, MOVE), "amount")
    st.selectbox("Method", PAYMENT_METHODS, key=key(review.id, "method"), persist_state="page", on_change="ignore")
    actions.blame(key(review.id, MOVE), "method")
    day = key(review.id, "value_on")
    st.session_state.setdefault(day, clock.today())
    st.date_input("Value date", key=day, max_value=clock.today(), format="DD/MM/YYYY", on_change="ignore")
    actions.blame(key(review.id, MOVE), "value_on")


def paying(review: ClaimReview, given: Mapping[str, Any], clears: Mapping[str, Any]) -> Action:
    """Return the action that pays the rest of the offer, which makes the claim Paid, or a part of it."""
    typed = words.read_naira(get_typed(review.id, _AMOUNT))
    how = {name: get_typed(review.id, name) for name in ("method", "value_on")}
    payment = {name: value for name, value in how.items() if value}
    amount = parse_amount(typed)
    if amount is None or money.to_minor(amount) >= review.balance_minor:
        return moving(review, ClaimStatus.PAID, given={**given, "amount": typed}, payment=payment, clears=clears)
    open_, reference = read_open_form(review.id), given.get("payment_reference") or ""
    version = open_.version if open_ else review.version
    return deciding(
        review,
        "part",
        lambda session, _, by: claim_paying.pay_part(
            session, review.id, amount=typed, payment_reference=reference, payment=payment, person=by, version=version
        ),
        "A part is paid; the rest of the offer is still to pay.",
        version=version,
        given=(typed, reference, sorted(payment.items())),
        clears=clears,
    )


def draw_payments(review: ClaimReview) -> None:
    """Draw the payee, every payment, and the payees so far."""
    st.text(f"Payee: {describe_payee(review)}")
    for payment in review.payments:
        who = words.plain(payment.by or "somebody who left")
        kind = "Came back: " if payment.amount_minor < 0 else ""
        line = f"{kind}{words.naira(payment.amount_minor)} on {words.moment(payment.at)} by {who}"
        to = f" to {words.plain(payment.payee)}" if payment.payee else ""
        account = f", account ending in {payment.hint}" if payment.hint else ""
        how = f", {words.plain(payment.method).lower()}" if payment.method else ""
        value = f", value {words.day(payment.value_on)}" if payment.value_on else ""
        st.caption(f"{line}{to}{account}{how}{value}, reference {words.plain(payment.reference)}")
    for payee in review.payees:
        if payee.at and payee.by:
            st.caption(
                f"Payee {words.plain(payee.name)} from {words.moment(payee.at)} by {words.plain(payee.by)}:"
                f" {words.plain(payee.reason)}"
            )


def _change_payee(review: ClaimReview) -> None:
    save = changing(
        review,
        "Save the payee",
        lambda session, typed, by: claim_corrections.set_payee(
            session,
            review.id,
            name=typed["payee"],
            bank_name=typed["payee_bank"],
            account_number=typed["payee_account"],
            reason=typed["payee_reason"],
            person=by,
            version=review.version,
        ),
        "The payee is saved: somebody else makes the payment.",
        fields=[Text(name, label, longest=500) for name, label in _PAYEE_FIELDS.items()],
    )
    with st.popover("Change the payee", icon=":material/account_balance:", type="tertiary"):
        st.caption("Whoever changes the payee cannot pay it.")
        draw_form(review, save, "keep payee")


def _take_back(review: ClaimReview, person: Person) -> None:
    if not person.has_role("supervisor"):
        st.caption("A part that came back is taken back by a supervisor.")
        return
    take_back = changing(
        review,
        "Take the last part back",
        lambda session, typed, by: claim_paying.take_back_part(
            session,
            review.id,
            payment_reference=typed["part_reference"],
            note=typed["part_note"],
            person=by,
            version=review.version,
        ),
        "The part is taken back: somebody else approves the claim again before it is paid.",
        fields=[
            Text("part_reference", "Reference of the return", longest=500),
            Text("part_note", "What happened", longest=500),
        ],
    )
    with st.popover("A part came back", icon=":material/undo:", type="tertiary"):
        draw_form(review, take_back, "take part back")


def draw(review: ClaimReview, person: Person) -> None:
    """Draw the amounts, what was paid, the reserve, and the steps to the offer with its deductions."""
    kept = review.amounts
    values = {
        "Owed by the records": words.naira_of(kept.owed),
        "Claimed": words.naira(kept.claimed_minor) if kept.claimed_minor else "",
        "Repair estimate": words.naira(kept.estimate_minor) if kept.estimate_minor else "",
        ClaimStatus.APPROVED: words.naira(kept.approved_minor),
        "Approved by": review.approved_name or "",
        "Excess": words.naira(kept.excess_minor),
        "Betterment": words.naira(kept.betterment_minor),
        "Offer": words.naira(kept.offer_minor or None),
        ClaimStatus.PAID: words.naira(kept.limits.paid_minor) if review.payments else "",
        **_describe_reserve(review),
    }
    facts.grid({label: value for label, value in values.items() if value}, columns=3)
    with st.container(horizontal=True, gap="small"):
        if not review.is_decided:
            _change_payee(review)
            _change_reserve(review)
        if kept.limits.offer_paid_minor and review.status == ClaimStatus.OFFER_ACCEPTED:
            _take_back(review, person)
    draw_payments(review)
    for change in review.reserves:
        who = words.plain(change.by or "the store")
        st.caption(
            f"Reserve {words.naira(change.reserve_minor)} from {words.moment(change.at)} by {who}:"
            f" {words.plain(change.reason)}"
        )
    st.markdown("**How the offer is worked out**")
    if kept.approved_minor:
        prices.show_steps(_list_steps(review))
    else:
        st.caption("Nothing is approved: the steps follow with the approved amount.")
    if review.status == ClaimStatus.OFFER_ACCEPTED:
        st.caption("The deductions stand with the offer that was accepted; a supervisor can take it back.")
    elif not review.is_fixed:
        _deductions(review)


def _list_steps(review: ClaimReview) -> list[Step]:
    sent = [step.note for step in review.status_steps if step.status == ClaimStatus.OFFER_SENT]
    return list_offer_steps(
        review.offer,
        status=review.status,
        offer_minor=review.amounts.offer_minor,
        note=sent[-1] if sent else None,
    )


def _describe_reserve(review: ClaimReview) -> dict[str, str]:
    """Return the reserve with what was incurred, or before there is one what the claim can come to."""
    limits = review.amounts.limits
    if review.reserves:
        return {
            "Outstanding (reserve)": words.naira(review.reserve_minor),
            "Incurred": words.naira(limits.paid_minor + review.reserve_minor),
        }
    if limits.most_minor is not None and not review.is_decided:
        return {f"Exposure: {limits.source}": words.naira(max(0, limits.most_minor - limits.paid_minor))}
    return {}


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
        lambda session, typed, by: claim_moves.set_deductions(
            session, review.id, person=by, version=review.version, **typed
        ),
        "The deductions are saved.",
        fields=[Naira(name, f"{words.title(name)} (₦)") for name in kept],
        keeps_typed=True,
    )
    draw_form(review, save, "deduct", is_primary=False)
