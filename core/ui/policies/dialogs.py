"""The dialogs that change a policy: each previews its effect before it is confirmed and keeps its input on refusal."""

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

import streamlit as st

from core.covers.cover import Price
from core.errors import CoverdeskError, InvalidInput, NotFound, StateForbids
from core.services.people.staff import Person
from core.services.policies import changes
from core.services.policies.policies import PolicyState
from core.services.views import policy as policy_view
from core.services.views.policy import PolicyDetail
from core.states.policies import PolicyAction
from core.store.access import reading
from core.ui.buying import prices
from core.ui.frame import frame
from core.ui.kit import attempts, words
from core.ui.policies import activation_form, endorsement_form, page_actions
from core.ui.policies import attempts as policy_attempts
from core.ui.policies.attempts import PLACE, Attempt, confirm
from core.ui.policies.page_actions import Hand

_REASON, _BY = "policy.reason", "policy.by"
_CUSTOMER, _INSURER = "The customer", "The insurer"


@dataclass(frozen=True, kw_only=True, slots=True)
class _Face:
    """Presentation of an action: its button, icon and dialog fields."""

    label: str
    icon: str
    ask: Callable[[Hand], None]


def buttons(policy: PolicyDetail, person: Person) -> None:
    """Draw a button for each action that is possible now; Renew explains why it is not."""
    refused = {action: _find_obstacle(action, policy) for action in policy.state.actions}
    with st.container(horizontal=True, gap="xsmall", width="content"):
        for action in policy.state.actions:
            st.button(
                _FACES[action].label,
                icon=f":material/{_FACES[action].icon}:",
                type="primary" if action is PolicyAction.ACTIVATE else "secondary",
                key=f"policy.{action}",
                disabled=bool(refused.get(action)),
                help=words.plain(words.format_dates(refused.get(action) or "")) or None,
                on_click=policy_attempts.begin,
                args=(action, policy, person),
            )


def _find_obstacle(action: PolicyAction, policy: PolicyDetail) -> str | None:
    """Return why an action that the state allows would be refused, so that it is said before its dialog is opened."""
    if action not in policy.state.actions:
        return "Its state does not allow this"
    if action is PolicyAction.RENEW:
        return policy.not_renewable
    if action is PolicyAction.ACTIVATE:
        try:
            with reading(frame.scope()) as session:
                changes.preview_activation(session, policy.id)
        except InvalidInput:
            return None  # Other days can be chosen in the dialog, which says so.
        except CoverdeskError as error:
            return str(error)
    return None


def run(policy: PolicyDetail, person: Person) -> None:
    """Show the success message, and draw the open dialog of this policy; an address may open the activation."""
    if st.query_params.get("do") == PolicyAction.ACTIVATE and not _find_obstacle(PolicyAction.ACTIVATE, policy):
        del st.query_params["do"]
        policy_attempts.begin(PolicyAction.ACTIVATE, policy, person)
    if done := attempts.take_message(PLACE):
        st.success(words.plain(done), icon=":material/check_circle:")
    attempt = policy_attempts.current()
    if attempt is None:
        return
    if attempt.hand.policy_id != policy.id or attempt.hand.is_live != frame.mode():
        policy_attempts.close()
        return
    _open(attempt)


def run_any() -> None:
    """Like `run`, on a screen of many policies, for the one opened by `begin_renewal`."""
    if done := attempts.take_message(PLACE):
        st.success(words.plain(done), icon=":material/check_circle:")
    attempt = policy_attempts.current()
    if attempt is not None and attempt.about and attempt.hand.is_live == frame.mode():
        _open(attempt)
    else:
        policy_attempts.close()


def begin_renewal(policy_id: UUID, person: Person) -> None:
    """Open the dialog that renews a policy, from a screen of many; does nothing if the policy no longer exists."""
    try:
        with reading(frame.scope()) as session:
            policy = policy_view.get_policy(session, policy_id)
    except NotFound:
        return
    sale = policy.sale
    about = f"{sale.policy_number or 'Policy'} · {sale.customer} · {sale.product}"
    policy_attempts.begin(PolicyAction.RENEW, policy, person, about=about)


def _open(attempt: Attempt) -> None:
    face = _FACES[attempt.action]
    st.dialog(face.label, icon=f":material/{face.icon}:", on_dismiss=policy_attempts.close)(_draw)()


def _draw() -> None:
    frame.require("operations")
    attempt = policy_attempts.current()
    if attempt is None:
        st.rerun()
    if attempt.about:
        st.markdown(f"**{words.plain(attempt.about)}**")
    if attempt.now is not None:
        _say_stale(attempt.action, attempt.now)
    if attempt.now is None or attempt.action in attempt.now.actions:
        _ask(attempt)
    if refusal := attempts.get_refusal(PLACE).text:
        st.error(words.plain(words.format_dates(refusal)), icon=":material/error:")


def _ask(attempt: Attempt) -> None:
    try:
        _FACES[attempt.action].ask(attempt.hand)
    except StateForbids as error:
        st.info(f"{words.plain(words.format_dates(str(error)))}.", icon=":material/event_busy:")


def _say_stale(action: PolicyAction, now: PolicyState) -> None:
    """Explain that the policy has changed; the input is kept and has to be confirmed again on the new version."""
    st.warning(
        f"Somebody else changed this policy while you had it open: it is now {words.badge(now.stage)}."
        " Nothing of yours was written.",
        icon=":material/sync_problem:",
    )
    if action not in now.actions:
        if reason := st.session_state.get(_REASON):
            st.text_area("What you typed", reason, disabled=True, key="policy.typed")
        st.button("Close and look at it", type="primary", on_click=policy_attempts.close)


def _ask_decline(hand: Hand) -> None:
    st.caption("The insurer does not want this risk: the policy ends before it began, and the whole premium goes back.")
    _ask_reason("Why the insurer declines")
    price = page_actions.whole_refund(hand).price
    _goes_back(price)
    confirm(
        f"Decline and give back {words.naira_of(price.total)}",
        lambda hand: page_actions.decline(hand, reason=_reason(), expected=price.total),
    )


def _ask_cancel(hand: Hand) -> None:
    by = st.segmented_control("Who ends it", [_CUSTOMER, _INSURER], default=_CUSTOMER, required=True, key=_BY)
    by_insurer = by == _INSURER
    _ask_reason("Why it ends")
    price = page_actions.refund(hand, by_insurer=by_insurer).price
    _goes_back(price)
    confirm(
        f"Cancel and give back {words.naira_of(price.total)}",
        lambda hand: _cancel(hand, by_insurer, price.total),
    )
    st.caption("Cover ends today. This cannot be undone.")


def _cancel(hand: Hand, by_insurer: bool, expected: Decimal) -> str:  # noqa: FBT001 - what the dialog has just shown
    return page_actions.cancel(hand, reason=_reason(), by_insurer=by_insurer, expected=expected)


def _ask_renew(hand: Hand) -> None:
    after = page_actions.next_term(hand)
    st.caption(
        f"One more term, from {words.day(after.start_at)} to {words.day(after.term.expiration_at)}. The policy keeps"
        " its number and gets a new certificate."
    )
    with st.container(border=True):
        prices.show(after.price, label="To pay")
    total = after.price.total
    confirm(f"Renew for {words.naira_of(total)}", lambda hand: page_actions.renew(hand, expected=total))


def _ask_reason(label: str) -> None:
    st.text_area(label, key=_REASON, max_chars=500, height=90, on_change="ignore")
    attempts.blame(PLACE, "reason")


def _reason() -> str:
    return st.session_state.get(_REASON) or ""


def _goes_back(price: Price) -> None:
    with st.container(border=True):
        prices.show(price, label="Goes back")


_FACES: dict[PolicyAction, _Face] = {
    PolicyAction.ACTIVATE: _Face(label="Activate", icon="verified", ask=activation_form.draw_fields),
    PolicyAction.DECLINE: _Face(label="Decline", icon="thumb_down", ask=_ask_decline),
    PolicyAction.CANCEL: _Face(label="Cancel policy", icon="cancel", ask=_ask_cancel),
    PolicyAction.ENDORSE: _Face(label="Endorse", icon="edit_document", ask=endorsement_form.draw_fields),
    PolicyAction.RENEW: _Face(label="Renew", icon="autorenew", ask=_ask_renew),
}
