"""The adjustments of a movement: what was proposed, who decided it, and the buttons of who may."""

from collections.abc import Sequence

import streamlit as st

from core.services.finance.adjustments import Proposal
from core.services.people.staff import Person
from core.ui.finance import adjustment_actions
from core.ui.frame import frame, page_links
from core.ui.kit import dialogs, words

_STATES = {"open": "Proposed", "confirmed": "Approved", "refused": "Declined", "withdrawn": "Off"}
_SAID = {"open": "Proposed", "confirmed": "Confirmed", "refused": "Refused", "withdrawn": "Taken back"}


def draw(proposals: Sequence[Proposal], person: Person) -> None:
    """Draw each proposal, newest last; nobody sees a button that the service would refuse."""
    for proposal in proposals:
        _card(proposal, person)


def waiting(proposals: Sequence[Proposal]) -> None:
    """Draw the proposals that wait for a second person, each with the way to its movement."""
    if not proposals:
        return
    number = len(proposals)
    with st.expander(f"Adjustments that wait for a second person: {number}", icon=":material/pending_actions:"):
        for proposal in proposals:
            page_links.link(
                "finance/movement.py",
                label=f"{words.naira(proposal.parts.total_minor)} by {words.plain(proposal.proposer)},"
                f" {words.moment(proposal.proposed_at)}",
                icon=":material/edit_note:",
                query_params={"id": str(proposal.corrects_id), **frame.mode_query()},
            )


def _card(proposal: Proposal, person: Person) -> None:
    with st.container(border=True, gap="xsmall"):
        colour = words.colour(_STATES[proposal.state])
        parts = proposal.parts
        st.markdown(
            f":{colour}-badge[{_SAID[proposal.state]}] **{words.naira(parts.total_minor)}** premium, of it"
            f" {words.naira(parts.mca_profit_minor)} platform,"
            f" {words.naira(parts.distributor_profit_minor)} distributor,"
            f" {words.naira(parts.provider_share_minor)} insurer"
        )
        st.caption(words.plain(proposal.reason))
        verb, who = _SAID[proposal.state].lower(), words.plain(proposal.decider)
        decided = f" · {verb} by {who}, {words.moment(proposal.decided_at)}" if who else ""
        refusal = f": {words.plain(proposal.refusal)}" if proposal.refusal else ""
        st.caption(
            f"Proposed by {words.plain(proposal.proposer)}, {words.moment(proposal.proposed_at)}{decided}{refusal}"
        )
        if proposal.state == "open":
            _buttons(proposal, person)


def _buttons(proposal: Proposal, person: Person) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        if proposal.proposed_by == person.id:
            _button("Take it back", f"take.{proposal.id}", adjustment_actions.taking_back(proposal.id))
        else:
            _button("Confirm", f"confirm.{proposal.id}", adjustment_actions.confirming(proposal), primary=True)
            _button("Refuse", f"refuse.{proposal.id}", adjustment_actions.refusing(proposal))


def _button(label: str, key: str, decision: dialogs.Decision, *, primary: bool = False) -> None:
    dialogs.button(label, decision, key=key, is_primary=primary)
