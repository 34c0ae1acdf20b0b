"""The form of an endorsement: what may be changed with its present values, from which day, why, and who asked."""

from collections.abc import Mapping
from datetime import date

import streamlit as st

from core import clock
from core.services.selling import endorsing
from core.store.access import reading
from core.ui.forms import questions, widgets
from core.ui.kit import attempts
from core.ui.policies import page_actions
from core.ui.policies.attempts import PLACE, confirm
from core.ui.policies.page_actions import EndorsementForm, Hand

_FIELD, _SHOWN_FOR = "policy.endorse.", "policy.endorse for"
_DAY, _REASON, _ASKED = "policy.effective_on", "policy.reason", "policy.requested_by"
_FARTHEST_MONTHS = 24


def draw_fields(hand: Hand) -> None:
    """Draw a field for each value that may be changed, filled with the present one, then day, reason and asker."""
    with reading(hand.scope) as session:
        model, present = endorsing.list_values(session, hand.policy_id)
    _fill(hand, present)
    st.caption("Change what is different now. Cover, days, sums and price stay as they were sold.")
    grid = st.grid(2, min_column_width=190, gap="small")
    for question in questions.of(model):
        with grid.container(gap="xxsmall"):
            widgets.draw(question, key=_FIELD + question.name, typed={}, reruns=False)
            attempts.blame(PLACE, question.name)
    st.date_input(
        "It holds from",
        key=_DAY,
        min_value=clock.add_months(clock.today(), -_FARTHEST_MONTHS),
        max_value=clock.today(),
        format="DD/MM/YYYY",
        on_change="ignore",
    )
    attempts.blame(PLACE, "effective_on")
    _text("Who asked, and how", _ASKED, "requested_by")
    _text("Why", _REASON, "reason")
    attempts.blame(PLACE, "changes")
    st.caption(
        "It costs nothing: the premium stays as it is. The certificate shows it at once;"
        " the insurer is still to be told."
    )
    confirm("Endorse the policy", lambda hand: page_actions.endorse(hand, _form(list(present))))


def _text(label: str, key: str, name: str) -> None:
    longest = endorsing.LONGEST[name]
    st.text_input(label, key=key, max_chars=longest, autocomplete="off", on_change="ignore")
    attempts.blame(PLACE, name)


def _fill(hand: Hand, present: Mapping[str, str]) -> None:
    """Fill the fields when the dialog opens; what was typed since then stays."""
    if st.session_state.get(_SHOWN_FOR) == hand.token:
        return
    st.session_state[_SHOWN_FOR] = hand.token
    st.session_state[_DAY] = clock.today()
    for name, value in present.items():
        st.session_state[_FIELD + name] = value or None


def _form(names: list[str]) -> EndorsementForm:
    state = st.session_state
    day = state.get(_DAY)
    return EndorsementForm(
        values={name: str(state.get(_FIELD + name) or "") for name in names},
        effective_on=day if isinstance(day, date) else None,
        reason=state.get(_REASON) or "",
        requested_by=state.get(_ASKED) or "",
    )
