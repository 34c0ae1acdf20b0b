"""The form of an activation, with a preview of its effect before it is confirmed."""

import streamlit as st

from core import clock
from core.errors import InvalidInput
from core.services.policies.changes import LONGEST_WORD, Activation
from core.ui.kit import attempts, words
from core.ui.policies import page_actions
from core.ui.policies.attempts import PLACE, confirm
from core.ui.policies.page_actions import ActivationForm, Hand

_NUMBER, _START, _END = "policy.number", "policy.start_on", "policy.expiration_on"
_SAID, _WORD = "policy.insurer_said", "policy.insurer_word"
_NOTHING, _ACCEPTED = "Nothing yet", "It accepted the policy"
_FARTHEST_MONTHS = 120
_LABELS = {"policy_number": "Policy number", "start_on": "Cover starts", "expiration_on": "Cover ends"}


def draw_fields(hand: Hand) -> None:
    """Draw the fields for the insurer's answer, then the preview."""
    proposed = _propose(hand)
    answer = st.segmented_control(
        "What did the insurer say?", [_NOTHING, _ACCEPTED], default=_NOTHING, required=True, key=_SAID
    )
    if answer == _ACCEPTED:
        st.text_input(
            "How do you know?",
            key=_WORD,
            max_chars=LONGEST_WORD,
            placeholder="E-mail of the underwriter of 12 Nov",
            autocomplete="off",
        )
        attempts.blame(PLACE, "insurer_accepted")
    number = f"{proposed.policy_number}, unless you type another" if proposed else None
    st.text_input("Policy number", key=_NUMBER, autocomplete="off", placeholder=number)
    attempts.blame(PLACE, "policy_number")
    for label, key, name, day in (
        ("Cover starts", _START, "start_on", proposed and proposed.start_at),
        ("Cover ends", _END, "expiration_on", proposed and proposed.expiration_at),
    ):
        st.date_input(
            f"{label}: {words.day(day)}, unless you choose another day" if day else label,
            value=None,
            key=key,
            min_value=clock.add_months(clock.today(), -_FARTHEST_MONTHS),
            max_value=clock.add_months(clock.today(), _FARTHEST_MONTHS),
            format="DD/MM/YYYY",
        )
        attempts.blame(PLACE, name)
    would = _shown(hand)
    act = "Issue by hand" if answer == _NOTHING else "Activate the policy"
    confirm(
        f"{act}, {_back(would)}" if would and would.days_back else act,
        lambda hand: page_actions.activate(hand, _form(), expected=would),
    )


def _propose(hand: Hand) -> Activation | None:
    """Return what an activation without further input would set; None where the days have to be chosen."""
    nothing = ActivationForm(insurer_accepted=False, policy_number="", start_on=None, expiration_on=None)
    try:
        return page_actions.activation(hand, nothing)
    except InvalidInput:
        return None


def _form() -> ActivationForm:
    state = st.session_state
    accepted = state.get(_SAID) == _ACCEPTED
    return ActivationForm(
        insurer_accepted=state.get(_WORD) or "" if accepted else False,
        policy_number=state.get(_NUMBER) or "",
        start_on=state.get(_START),
        expiration_on=state.get(_END),
    )


def _shown(hand: Hand) -> Activation | None:
    """Show the preview in the dialog and return it; None for invalid input, which confirming then explains."""
    form = _form()
    try:
        would = page_actions.activation(hand, form)
    except InvalidInput as refused:
        said = "; ".join(f"“{_LABELS.get(fault.field, fault.field)}” {fault.message}" for fault in refused.faults)
        st.caption(f"This cannot be done: {words.plain(words.format_dates(said))}.")
        return None
    with st.container(border=True, gap="xsmall"):
        st.markdown("**What will happen**")
        st.markdown("\n".join(f"- {line}" for line in _lines(hand, form, would)))
        if would.days_back:
            st.warning(
                f"Cover is backdated: it begins {_back(would)}, and losses since then are covered.",
                icon=":material/history:",
            )
    return would


def _lines(hand: Hand, form: ActivationForm, would: Activation) -> list[str]:
    number = f"Policy number **{words.plain(would.policy_number)}**"
    drawn = ", the next of our series (a later one if another policy is issued first)" if would.is_drawn else ""
    days = f"**{words.day(would.start_at)}** to **{words.day(would.expiration_at)}**"
    if form.insurer_accepted is False:
        who = f"Issued by hand by **{words.plain(hand.person.name)}**. It stays under Awaiting insurer until its"
        last = f"{who} insurer has taken it"
    else:
        last = f"Recorded as accepted by the insurer, on the word of **{words.plain(hand.person.name)}**"
    return [f"{number}{drawn}.", f"Cover from {days}.", f"{last}."]


def _back(would: Activation) -> str:
    return f"{would.days_back} {'day' if would.days_back == 1 else 'days'} back"
