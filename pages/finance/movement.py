"""One movement: its money, the sale behind it, and its corrections."""

from collections.abc import Sequence
from uuid import UUID

import streamlit as st

from core.services.finance import adjustments, movements
from core.services.finance.adjustments import Proposal
from core.services.finance.movements import MovementRow
from core.services.lists.dimensions import load_choices
from core.services.people.staff import Person
from core.store.access import reading
from core.ui.frame import frame, page_links, record_pages
from core.ui.kit import actions, facts, words
from core.ui.kit.actions import Action, Text
from core.ui.lists import tables
from pages.finance._shared import ROLE, action

_AMOUNTS = {
    "premium": "Premium, in naira (minus takes away)",
    "platform_commission": "Of which platform commission",
    "distributor_commission": "Of which distributor commission",
}


def proposing(row: MovementRow) -> Action:
    """Return the dialog that proposes the correction of a movement."""
    return action(
        title="Propose an adjustment",
        icon="edit_note",
        says="What you type is **added** to the money of this policy, dated when somebody else confirms it. The"
        " insurer's share is what remains of the premium.",
        fields=[
            *(Text(name, label, value="0.00", longest=20) for name, label in _AMOUNTS.items()),
            Text("reason", "Reason", longest=500),
        ],
        confirm="Propose it",
        work=lambda session, typed, by: adjustments.propose(session, row.id, typed, by=by),
        done="The adjustment is proposed: somebody else of finance confirms it.",
    )


def confirming(proposal: Proposal) -> Action:
    """Return the dialog that confirms somebody else's proposal."""
    return action(
        title="Confirm the adjustment",
        icon="fact_check",
        says=f"**{words.plain(proposal.proposer)}** proposed {words.naira(proposal.parts.total_minor)}:"
        f" {words.plain(proposal.reason)}. It becomes a movement of today, and cannot be taken back.",
        confirm="Confirm it",
        work=lambda session, _, by: adjustments.confirm(session, proposal.id, by=by),
        done="The adjustment is confirmed.",
    )


def refusing(proposal: Proposal) -> Action:
    """Return the dialog that refuses somebody else's proposal, with a reason."""
    return action(
        title="Refuse the adjustment",
        icon="block",
        says=f"Proposed by **{words.plain(proposal.proposer)}**: {words.plain(proposal.reason)}.",
        fields=[Text("reason", "Reason", longest=500)],
        confirm="Refuse it",
        work=lambda session, typed, by: adjustments.refuse(session, proposal.id, reason=typed["reason"], by=by),
        done="The adjustment is refused.",
    )


def taking_back(proposal_id: UUID) -> Action:
    """Return the dialog that withdraws one's own proposal."""
    return action(
        title="Take the proposal back",
        icon="undo",
        says="Nobody can confirm it any more.",
        confirm="Take it back",
        work=lambda session, _, by: adjustments.take_back(session, proposal_id, by=by),
        done="The proposal is taken back.",
    )


_STATES = {"open": "Proposed", "confirmed": "Approved", "refused": "Declined", "withdrawn": "Off"}
_SAID = {"open": "Proposed", "confirmed": "Confirmed", "refused": "Refused", "withdrawn": "Taken back"}


def draw_proposals(proposals: Sequence[Proposal], person: Person) -> None:
    """Draw each proposal, newest last; nobody sees a button that the service would refuse."""
    for proposal in proposals:
        draw_proposal(proposal, person)


def draw_proposal(proposal: Proposal, person: Person) -> None:
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
            proposal_buttons(proposal, person)


def proposal_buttons(proposal: Proposal, person: Person) -> None:
    with st.container(horizontal=True, gap="xsmall"):
        if proposal.proposed_by == person.id:
            actions.button("Take it back", taking_back(proposal.id), key=f"take.{proposal.id}")
        else:
            actions.button("Confirm", confirming(proposal), key=f"confirm.{proposal.id}", type="primary")
            actions.button("Refuse", refusing(proposal), key=f"refuse.{proposal.id}")


def amounts(row: MovementRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Money**")
        facts.line("Premium", words.naira(row.total_minor))
        facts.line("Insurer's share", words.naira(row.provider_share_minor))
        facts.line("Platform commission", words.naira(row.mca_profit_minor))
        facts.line("Distributor commission", words.naira(row.distributor_profit_minor))


def sale(row: MovementRow) -> None:
    with st.container(border=True, height="stretch"):
        st.markdown("**Sale**")
        facts.line("Policy", row.policy_number or "Not given yet")
        facts.line("Customer", row.customer)
        facts.line("Product", row.product)
        facts.line("Insurer", row.provider)
        facts.line("Distributor", row.distributor)
        page_links.link(
            "sales/purchases.py#purchase",
            label="Open the purchase",
            icon=":material/receipt:",
            query_params={"id": str(row.purchase_id), **frame.mode_query()},
        )


def draw() -> None:
    person = frame.require("operations", "finance")
    tables.back_link("movements", "finance/movements.py", "Back to the movements")
    row = record_pages.load(
        "movement", lambda session, id_: movements.get_movement(session, id_, load_choices(session)), is_of_mode=True
    )
    with frame.header_with_buttons(
        f"{row.kind_name} of {words.moment(row.created_at)}",
        "One movement of money. It is never changed; an error is corrected by an adjustment.",
        tab=f"{row.kind_name} {row.policy_number or ''} · Movement",
    ):
        if person.has_role(ROLE) and row.kind != "adjustment":
            proposing(row).button()
    actions.run()
    with st.grid(2, min_column_width=320, gap="small"):
        amounts(row)
        sale(row)
    with reading(frame.scope()) as session:
        proposals = adjustments.list_of_movement(session, row.id)
    if proposals:
        st.subheader("Adjustments", anchor=False)
        draw_proposals(proposals, person)
    st.caption(f"Movement {row.id} · policy {row.policy_id}")
